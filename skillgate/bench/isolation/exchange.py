"""Talks to one foreign program over its pipes: within a time, with bounds, and whatever it does to them."""

from __future__ import annotations

import os
import selectors
import time
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.bench_result import ErrorKind

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from skillgate.bench.ports import Limits
    from skillgate.process import Child

GRACE_S = 0.5
"""How long the pipes of a program that has ended are listened to: something that it left behind may hold them."""
_TICK_S = 0.05
_BLOCK = 65_536
_WATCHED_AFTER_S = 0.25  # what ends sooner cannot use much
_WATCHED_EVERY_S = 0.25


class Heard(NamedTuple):
    """What came over the pipes, and why listening ended before the program did; ``kind`` None where it did not."""

    stdout: bytes
    stderr: bytes
    kind: ErrorKind | None


def exchange(
    child: Child,
    stdin: bytes,
    limits: Limits,
    stop: threading.Event,
    watch: Callable[[], ErrorKind | None] = lambda: None,
) -> Heard:
    """Write all of ``stdin``, as far as the program takes it, and read its streams until both end.

    Args:
        child: the program.
        stdin: all that it can read.
        limits: its time, and how much it may write.
        stop: ends it.
        watch: is asked a few times a second, once it has run for a while, whether it uses more than it may.

    Returns:
        At most ``limits.stdout_bytes`` of stdout and the last ``limits.stderr_bytes`` of stderr. ``kind`` is
        ``timeout``, ``output_limit``, ``stopped`` or what ``watch`` says where the caller has to end the program.
    """
    talk = _Talk(child, stdin, limits, watch)
    try:
        return Heard(*talk.run(stop))
    finally:
        talk.close()


class _Talk:
    def __init__(
        self,
        child: Child,
        stdin: bytes,
        limits: Limits,
        watch: Callable[[], ErrorKind | None],
    ) -> None:
        self._child = child
        self._limits = limits
        self._watch = watch
        self._look = time.monotonic() + _WATCHED_AFTER_S
        self._left = memoryview(stdin)
        self._out = bytearray()
        self._err = bytearray()
        self._selector = selectors.DefaultSelector()
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        self._stdin, self._stdout, self._stderr = child.stdin, child.stdout, child.stderr
        for stream in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(stream.fileno(), False)
        self._selector.register(self._stdout, selectors.EVENT_READ, self._read_out)
        self._selector.register(self._stderr, selectors.EVENT_READ, self._read_err)
        if self._left:
            self._selector.register(self._stdin, selectors.EVENT_WRITE, self._write)
        else:
            self._stdin.close()

    def run(self, stop: threading.Event) -> tuple[bytes, bytes, ErrorKind | None]:
        """Listen until the program has ended, or has to."""
        until = time.monotonic() + self._limits.timeout_s
        ended: float | None = None
        while self._stdout in self._open() or self._stderr in self._open():
            now = time.monotonic()
            if stop.is_set():
                return self._heard(ErrorKind.STOPPED)
            if now >= until:
                return self._heard(ErrorKind.TIMEOUT)
            if ended is None and self._child.poll() is not None:
                ended = now
            if ended is not None and now >= ended + GRACE_S:
                break
            if (kind := self._too_much(now)) is not None:
                return self._heard(kind)
            for key, _ in self._selector.select(min(_TICK_S, max(0.0, until - now))):
                key.data()
            if len(self._out) > self._limits.stdout_bytes:
                return self._heard(ErrorKind.OUTPUT_LIMIT)
        while self._child.poll() is None:
            now = time.monotonic()
            if stop.is_set() or now >= until:
                return self._heard(ErrorKind.STOPPED if stop.is_set() else ErrorKind.TIMEOUT)
            if (kind := self._too_much(now)) is not None:
                return self._heard(kind)
            time.sleep(min(0.002, until - now))
        return self._heard(None)

    def _too_much(self, now: float) -> ErrorKind | None:
        if now < self._look:
            return None
        self._look = now + _WATCHED_EVERY_S
        return self._watch()

    def close(self) -> None:
        """Close its pipes."""
        self._selector.close()
        for stream in (self._stdin, self._stdout, self._stderr):
            try:
                stream.close()
            except OSError:  # what was not taken is lost on purpose
                continue

    def _heard(self, kind: ErrorKind | None) -> tuple[bytes, bytes, ErrorKind | None]:
        return bytes(self._out[: self._limits.stdout_bytes]), bytes(self._err[-self._limits.stderr_bytes :]), kind

    def _open(self) -> set[object]:
        return {key.fileobj for key in self._selector.get_map().values()}

    def _write(self) -> None:
        try:
            written = os.write(self._stdin.fileno(), self._left[:_BLOCK])
            self._left = self._left[written:]
        except BlockingIOError:
            return
        except OSError:  # it reads no more, which is its own affair
            self._left = self._left[:0]
        if not self._left:
            self._selector.unregister(self._stdin)
            self._stdin.close()

    def _read_out(self) -> None:
        self._out += self._read(self._stdout)

    def _read_err(self) -> None:
        self._err += self._read(self._stderr)
        if len(self._err) > 2 * self._limits.stderr_bytes:
            del self._err[: -self._limits.stderr_bytes]

    def _read(self, stream: object) -> bytes:
        try:
            data = os.read(stream.fileno(), _BLOCK)  # type: ignore[attr-defined]
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            self._selector.unregister(stream)  # type: ignore[arg-type]
        return data
