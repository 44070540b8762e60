"""Talks to one foreign program for as long as it is needed: lines in, lines out, within its limits."""

from __future__ import annotations

import os
import selectors
import threading
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from skillgate.bench.isolation.ending import WORDS, ask_to_end, end_all, too_much
from skillgate.bench.isolation.exchange import GRACE_S
from skillgate.bench.ports import Said
from skillgate.model.bench_result import ErrorKind

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack
    from typing import IO

    from skillgate.bench.isolation.ending import Owned
    from skillgate.bench.ports import Limits
    from skillgate.process import Child

_TICK_S = 0.1
_BLOCK = 65_536
_WATCHED_EVERY_S = 0.5


class Pipes:
    """The conversation with one program; see :class:`skillgate.bench.ports.Conversation`.

    One thread of its own moves the bytes, so that neither side can block the other: a program that does not read, or
    writes without end, holds nobody up who only wants to send.
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
        """Take a program that was just started.

        Args:
            child: the program.
            program: its name, for messages.
            limits: what it may use.
            owned: what belongs to it.
            stop: ends it.
            made: gives back what was made for it, once it has ended.
            code_of: gives the exit code that the program itself had.
        """
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        self._child, self._program, self._limits, self._owned, self._stop = child, program, limits, owned, stop
        self._code_of = code_of
        self._made = made
        self._stdin, self._stdout, self._stderr = child.stdin, child.stdout, child.stderr
        self._changed = threading.Condition()
        self._lines: deque[bytes] = deque()
        self._unread = 0  # bytes in `_lines`
        self._begun = bytearray()  # of a line that has no end yet
        self._err = bytearray()
        self._out = bytearray()  # that the program has not taken yet
        self._end: Said | None = None
        self._closing = False
        self._wake_read, self._wake_write = os.pipe()
        for number in (self._stdin.fileno(), self._stdout.fileno(), self._stderr.fileno(), self._wake_read):
            os.set_blocking(number, False)
        os.set_blocking(self._wake_write, False)
        self._pump = threading.Thread(target=self._run, name="conversation", daemon=True)
        self._pump.start()

    def send(self, line: bytes) -> None:
        """Hand it a line."""
        with self._changed:
            self._out += line + b"\n"
            self._wake()

    def read(self, timeout_s: float) -> Said:
        """Give the next line, or why there is none."""
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
            self._unread -= len(line)
            return Said(line)

    def has_spoken(self) -> bool:
        """Tell whether something waits to be read, or its end."""
        with self._changed:
            return bool(self._lines or self._begun.strip() or self._end is not None)

    def stderr(self) -> bytes:
        """Give the end of its standard error."""
        with self._changed:
            return bytes(self._err[-self._limits.stderr_bytes :])

    def close(self) -> None:
        """End it, and give back what was made for it."""
        with self._changed:
            if self._closing:
                return
            self._closing = True
            self._wake()
        self._pump.join()

    def _wake(self) -> None:
        with suppress(OSError):  # it is full, and so wakes anyway; or it is closed, and nobody is left to wake
            os.write(self._wake_write, b"\0")

    def _run(self) -> None:
        """Move bytes until the program has ended or is to; then clear up."""
        kind: ErrorKind | None = ErrorKind.STOPPED
        try:
            with selectors.DefaultSelector() as selector:
                kind = self._moved(selector)
            if kind is not None:
                ask_to_end(self._child)
        finally:
            end_all(self._child, self._owned)
            self._ended(kind)
            for stream in (self._stdin, self._stdout, self._stderr):
                with suppress(OSError):  # what was not taken is lost on purpose
                    stream.close()
            os.close(self._wake_read)
            self._made.close()
            with self._changed:  # nobody wakes it any more
                os.close(self._wake_write)
                self._wake_write = -1

    def _moved(self, selector: selectors.BaseSelector) -> ErrorKind | None:
        """Listen until it ends by itself (None), or has to end."""
        selector.register(self._wake_read, selectors.EVENT_READ, self._woken)
        selector.register(self._stdout, selectors.EVENT_READ, self._heard_out)
        selector.register(self._stderr, selectors.EVENT_READ, self._heard_err)
        look = time.monotonic() + _WATCHED_EVERY_S
        gone: float | None = None
        writing = False
        while True:
            now = time.monotonic()
            if self._closing or self._stop.is_set():
                return ErrorKind.STOPPED
            if gone is None and self._child.poll() is not None:
                gone = now
            listening = self._listening(selector)
            if gone is not None and (not listening or now >= gone + GRACE_S):
                return None
            if now >= look:
                look = now + _WATCHED_EVERY_S
                if (found := too_much(self._child.pid, self._owned, self._limits)) is not None:
                    return found
            writing = self._writing(selector, writing=writing)
            tick = _TICK_S if gone is None and listening else 0.005
            for key, _ in selector.select(tick):
                key.data(selector)
            if self._unread + len(self._begun) > self._limits.stdout_bytes:
                return ErrorKind.OUTPUT_LIMIT

    def _listening(self, selector: selectors.BaseSelector) -> bool:
        registered = {key.fileobj for key in selector.get_map().values()}
        return self._stdout in registered or self._stderr in registered

    def _writing(self, selector: selectors.BaseSelector, *, writing: bool) -> bool:
        """Watch for room in its standard input while there is something to say."""
        wanted = bool(self._out) and not self._stdin.closed
        if wanted and not writing:
            selector.register(self._stdin, selectors.EVENT_WRITE, self._say)
        elif writing and not wanted and not self._stdin.closed:
            selector.unregister(self._stdin)
        return wanted

    def _say(self, selector: selectors.BaseSelector) -> None:
        with self._changed:
            piece = bytes(self._out[:_BLOCK])
        try:
            written = os.write(self._stdin.fileno(), piece)
        except BlockingIOError:
            return
        except OSError:  # it reads no more, which is its own affair
            selector.unregister(self._stdin)
            self._stdin.close()
            return
        with self._changed:
            del self._out[:written]

    def _woken(self, _selector: selectors.BaseSelector) -> None:
        with suppress(BlockingIOError):
            os.read(self._wake_read, _BLOCK)

    def _heard_out(self, selector: selectors.BaseSelector) -> None:
        data = self._taken(selector, self._stdout)
        if data is None:
            return
        with self._changed:
            head, *rest = (data or b"\n").split(b"\n")  # its last line may have no end
            self._begun += head
            for piece in rest:
                line = bytes(self._begun)
                self._begun = bytearray(piece)
                if line.strip():
                    self._lines.append(line)
                    self._unread += len(line)
            if rest:
                self._changed.notify_all()

    def _heard_err(self, selector: selectors.BaseSelector) -> None:
        data = self._taken(selector, self._stderr)
        with self._changed:
            self._err += data or b""
            if len(self._err) > 2 * self._limits.stderr_bytes:
                del self._err[: -self._limits.stderr_bytes]

    def _taken(self, selector: selectors.BaseSelector, stream: IO[bytes]) -> bytes | None:
        """Read what is there: None where nothing is yet, nothing at its end."""
        try:
            data = os.read(stream.fileno(), _BLOCK)
        except BlockingIOError:
            return None
        except OSError:
            data = b""
        if not data:
            selector.unregister(stream)
        return data

    def _ended(self, kind: ErrorKind | None) -> None:
        code = self._code_of(self._child.returncode)
        if kind is not None:
            words = WORDS[kind].format(limits=self._limits)
        elif code < 0:
            kind, words = ErrorKind.CRASH, f"was ended by signal {-code}"
        else:
            kind, words = ErrorKind.EXIT_CODE, f"ended with exit code {code}"
        with self._changed:
            self._end = Said(b"", kind, f"{self._program} {words}")
            self._changed.notify_all()
