"""Exchange bytes with a program over its pipes, within limits, whatever the program does."""

from __future__ import annotations

import math
import os
import selectors
import threading
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from skillgate.bench.isolation.processes import ENDED_BECAUSE, end_all, exceeded, request_end
from skillgate.bench.ports import Said
from skillgate.model.bench import ErrorKind

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack
    from typing import IO

    from skillgate.bench.isolation.processes import Owned
    from skillgate.bench.ports import Limits
    from skillgate.process import Child

_GRACE_S = 0.5  # for reading after the program exits: its children may hold the pipes open
_TICK_S = 0.05
_SHORT_TICK_S = 0.002
_BLOCK = 65_536


class Heard(NamedTuple):
    """The output of a program. ``kind`` is why reading stopped before the program exited, None if it did not."""

    stdout: bytes
    stderr: bytes
    kind: ErrorKind | None


class _Streams:
    """Moves bytes to and from a program until it exits or must be stopped."""

    def __init__(self, child: Child, limits: Limits, owned: Owned, stop: threading.Event, *, watch_s: float) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        self._child, self._limits, self._owned, self._stop, self._watch_s = child, limits, owned, stop, watch_s
        self._stdin, self._stdout, self._stderr = child.stdin, child.stdout, child.stderr
        for stream in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(stream.fileno(), False)
        self._changed = threading.Condition()
        self._to_write = bytearray()  # not yet read by the program
        self._errors = bytearray()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stdout, selectors.EVENT_READ, self._read_stdout)
        self._selector.register(self._stderr, selectors.EVENT_READ, self._read_stderr)

    def _take(self, data: bytes) -> None:
        """Handle bytes from stdout, ``b""`` at its end."""
        raise NotImplementedError

    def _unread(self) -> int:
        """Return the number of buffered bytes of stdout."""
        raise NotImplementedError

    def _is_stopped(self) -> bool:
        return self._stop.is_set()

    def _after_write(self) -> None:
        """Called when all input has been written."""

    def stderr(self) -> bytes:
        """Return the end of standard error."""
        with self._changed:
            return bytes(self._errors[-self._limits.stderr_bytes :])

    def _move(self, until: float) -> ErrorKind | None:
        """Move bytes until the program exits (None) or must be stopped; ``until`` is on the monotonic clock."""
        look = time.monotonic() + self._watch_s  # a program that exits sooner cannot use much
        ended: float | None = None
        writing = False
        while True:
            now = time.monotonic()
            if self._is_stopped():
                return ErrorKind.STOPPED
            if now >= until:
                return ErrorKind.TIMEOUT
            if ended is None and self._child.poll() is not None:
                ended = now
            registered = {key.fileobj for key in self._selector.get_map().values()}
            reading = self._stdout in registered or self._stderr in registered
            if ended is not None and (not reading or now >= ended + _GRACE_S):
                return None
            if now >= look:
                look = now + self._watch_s
                if (kind := exceeded(self._child.pid, self._owned, self._limits)) is not None:
                    return kind
            writing = self._watch_stdin(writing=writing)
            tick = _TICK_S if ended is None and reading else _SHORT_TICK_S
            for key, _ in self._selector.select(min(tick, until - now)):
                key.data()
            if self._unread() > self._limits.stdout_bytes:
                return ErrorKind.OUTPUT_LIMIT

    def _watch_stdin(self, *, writing: bool) -> bool:
        """Watch standard input for writing while there is something to write."""
        wanted = bool(self._to_write) and not self._stdin.closed
        if wanted and not writing:
            self._selector.register(self._stdin, selectors.EVENT_WRITE, self._write)
        elif writing and not wanted and not self._stdin.closed:
            self._selector.unregister(self._stdin)
            self._after_write()
        return wanted

    def _write(self) -> None:
        with self._changed:
            piece = bytes(self._to_write[:_BLOCK])
        try:
            written = os.write(self._stdin.fileno(), piece)
        except BlockingIOError:
            return
        except OSError:  # it closed its input, which is allowed
            self._selector.unregister(self._stdin)
            self._stdin.close()
            return
        with self._changed:
            del self._to_write[:written]

    def _read_stdout(self) -> None:
        if (data := self._read(self._stdout)) is not None:
            self._take(data)

    def _read_stderr(self) -> None:
        data = self._read(self._stderr)
        with self._changed:
            self._errors += data or b""
            if len(self._errors) > 2 * self._limits.stderr_bytes:
                del self._errors[: -self._limits.stderr_bytes]

    def _read(self, stream: IO[bytes]) -> bytes | None:
        """Read available bytes: None if there are none yet, ``b""`` at the end."""
        try:
            data = os.read(stream.fileno(), _BLOCK)
        except BlockingIOError:
            return None
        except OSError:
            data = b""
        if not data:
            self._selector.unregister(stream)
        return data

    def _close_streams(self) -> None:
        self._selector.close()
        for stream in (self._stdin, self._stdout, self._stderr):
            with suppress(OSError):  # unread input is dropped on purpose
                stream.close()


class _Exchange(_Streams):
    def __init__(self, child: Child, stdin: bytes, limits: Limits, owned: Owned, stop: threading.Event) -> None:
        super().__init__(child, limits, owned, stop, watch_s=0.25)
        self._output = bytearray()
        self._to_write += stdin
        if not stdin:
            self._stdin.close()

    def run(self) -> Heard:
        """Read until the program exits or must be stopped."""
        try:
            kind = self._move(time.monotonic() + self._limits.timeout_s)
            return Heard(bytes(self._output[: self._limits.stdout_bytes]), self.stderr(), kind)
        finally:
            self._close_streams()

    def _take(self, data: bytes) -> None:
        self._output += data

    def _unread(self) -> int:
        return len(self._output)

    def _after_write(self) -> None:
        self._stdin.close()


def exchange(child: Child, stdin: bytes, limits: Limits, owned: Owned, stop: threading.Event) -> Heard:
    """Write ``stdin`` as far as the program reads it, and read its output to the end.

    Returns:
        Up to ``limits.stdout_bytes`` of stdout and the last ``limits.stderr_bytes`` of stderr. ``kind`` is why the
        caller must stop the program: time, output, ``stop``, or resources, which are checked a few times a second.
    """
    return _Exchange(child, stdin, limits, owned, stop).run()


class Pipes(_Streams):
    """The conversation with one program; see :class:`skillgate.bench.ports.Conversation`.

    A separate thread moves the bytes, so that a program that does not read, or writes without end, cannot block the
    sender.
    """

    def __init__(
        self,
        child: Child,
        program: str,
        limits: Limits,
        owned: Owned,
        *,
        stop: threading.Event,
        made: ExitStack,
        code_of: Callable[[int], int],
    ) -> None:
        """Take over a program that was just started.

        ``made`` is closed once it has ended; ``code_of`` returns the program's own exit code.
        """
        super().__init__(child, limits, owned, stop, watch_s=0.5)
        self._program, self._made, self._code_of = program, made, code_of
        self._lines: deque[bytes] = deque()
        self._line_bytes = 0  # in `_lines`
        self._begun = bytearray()  # an unfinished line
        self._end: Said | None = None
        self._closing = False
        self._wake_read, self._wake_write = os.pipe()
        for number in (self._wake_read, self._wake_write):
            os.set_blocking(number, False)
        self._selector.register(self._wake_read, selectors.EVENT_READ, self._clear_wakes)
        self._pump = threading.Thread(target=self._run, name="conversation", daemon=True)
        self._pump.start()

    def send(self, line: bytes) -> None:
        """Send a line."""
        with self._changed:
            self._to_write += line + b"\n"
            self._wake()

    def read(self, timeout_s: float) -> Said:
        """Return the next line, or why there is none."""
        until = time.monotonic() + timeout_s
        with self._changed:
            while not self._lines:
                if self._end is not None:
                    return self._end
                left = until - time.monotonic()
                if left <= 0:
                    return Said(b"", ErrorKind.TIMEOUT, f"{self._program} gave no answer in time")
                self._changed.wait(min(left, 60.0))
            line = self._lines.popleft()
            self._line_bytes -= len(line)
            return Said(line)

    def has_spoken(self) -> bool:
        """Return whether there is unread output, or the program has ended."""
        with self._changed:
            return bool(self._lines or self._begun.strip() or self._end is not None)

    def close(self) -> None:
        """Stop the program and clean up."""
        with self._changed:
            if self._closing:
                return
            self._closing = True
            self._wake()
        self._pump.join()

    def _wake(self) -> None:
        with suppress(OSError):  # full, so it wakes anyway; or closed, and there is nothing to wake
            os.write(self._wake_write, b"\0")

    def _clear_wakes(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._wake_read, _BLOCK)

    def _run(self) -> None:
        """Move bytes until the program exits or must be stopped; then clean up."""
        kind: ErrorKind | None = ErrorKind.STOPPED
        try:
            kind = self._move(math.inf)
            if kind is not None:
                request_end(self._child)
        finally:
            end_all(self._child, self._owned)
            self._note_end(kind)
            self._close_streams()
            os.close(self._wake_read)
            self._made.close()
            with self._changed:  # no more wake-ups
                os.close(self._wake_write)
                self._wake_write = -1

    def _is_stopped(self) -> bool:
        return self._closing or self._stop.is_set()

    def _unread(self) -> int:
        return self._line_bytes + len(self._begun)

    def _take(self, data: bytes) -> None:
        with self._changed:
            head, *rest = (data or b"\n").split(b"\n")  # the last line may be unfinished
            self._begun += head
            for piece in rest:
                line = bytes(self._begun)
                self._begun = bytearray(piece)
                if line.strip():
                    self._lines.append(line)
                    self._line_bytes += len(line)
            if rest:
                self._changed.notify_all()

    def _note_end(self, kind: ErrorKind | None) -> None:
        code = self._code_of(self._child.returncode)
        if kind is not None:
            words = ENDED_BECAUSE[kind].format(limits=self._limits)
        elif code < 0:
            kind, words = ErrorKind.CRASH, f"was killed by signal {-code}"
        else:
            kind, words = ErrorKind.EXIT_CODE, f"exited with code {code}"
        with self._changed:
            self._end = Said(b"", kind, f"{self._program} {words}")
            self._changed.notify_all()
