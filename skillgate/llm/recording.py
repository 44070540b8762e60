"""What was asked and answered, a line of JSON each: written by ``--record``, read by ``--replay``.

A line names its request by a digest of all that its answer depends on, and holds the answer but not the request: what
was sent is the skill's text and this program's own words. No key is in it.
"""
# ruff: noqa: PTH118

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.errors import UsageError
from skillgate.llm import prices
from skillgate.llm.answers import canonical
from skillgate.model.digest import digest
from skillgate.model.exchange import Cause, Reply, Tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skillgate.llm.port import Provider
    from skillgate.model.exchange import Answer, Request

FORMAT = 1
MOST_BYTES = 512 << 20  # of a recording that is read; 10,000 answers take about 30 MB
_OURS = (Cause.BUDGET, Cause.STOPPED, Cause.UNKNOWN)  # what no provider said


class Failed(NamedTuple):
    """A recorded failure."""

    cause: Cause
    reason: str


def fingerprint(request: Request) -> str:
    """Name a request, whoever is asked and however: its body to the byte, the versions of the questions, the sample.

    A temperature is no part of it: a recording is replayed without the options of the run that made it.
    """
    asked = (request.prompt_version, request.rubric_version, request.sample)
    return digest(repr(asked).encode("utf-8", "surrogatepass"), canonical(request.body))


class Recorder:
    """Appends to a recording. Thread-safe, and a line is written as a whole.

    Attributes:
        failure: why something could not be written, None as long as all could; the run goes on.
    """

    def __init__(self, file: str, *, cwd: str, now: Callable[[], float]) -> None:
        """Open the file, which may exist.

        Args:
            file: relative to ``cwd``.
            cwd: the working directory.
            now: a clock that gives seconds since 1970.

        Raises:
            UsageError: it cannot be written.
        """
        self.failure: str | None = None
        self._lock = Lock()
        self._closed = False
        self._now = now
        self._path = os.path.join(cwd, file)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        try:
            self._file = os.open(self._path, flags, 0o600)  # it quotes skills that others may not read
            self._whole = _ends_a_line(self._file)
        except OSError as error:
            raise UsageError(f"--record: {file} cannot be written: {error.strerror}") from error

    def record(self, request: Request, answer: Answer, provider: Provider) -> None:
        """Write an answer down; what no provider said, as that the budget is used up, is left out."""
        if answer.reply is None and answer.cause in _OURS:
            return
        line = {
            "format": FORMAT,
            "request": fingerprint(request),
            "question": request.question,
            "subject": request.subject,
            "sample": request.sample,
            "provider": provider.name,
            "live": provider.live,
            "model": request.body.get("model"),
            "date": datetime.fromtimestamp(self._now(), UTC).isoformat(timespec="seconds"),
            "cached": answer.cached,
            **_outcome(answer),
        }
        self._append(json.dumps(line).encode() + b"\n")

    def close(self) -> None:
        """Close the file; what is answered after that, at the end of a run that was interrupted, is not written."""
        with self._lock:
            if not self._closed:
                self._closed = True
                os.close(self._file)

    def _append(self, line: bytes) -> None:
        with self._lock:
            if self._closed:
                return  # its number may be another file's by now
            data = line if self._whole else b"\n" + line  # after one that was cut off, or a run that was killed
            try:
                written = os.write(self._file, data)
                self._whole = data[:written].endswith(b"\n")
                if written < len(data):
                    self.failure = self.failure or f"the recording is not complete: {self._path}: no space left"
            except OSError as error:
                self._whole = False
                self.failure = self.failure or f"the recording cannot be written: {self._path}: {error.strerror}"


def read(file: str, *, cwd: str) -> tuple[Mapping[str, Reply | Failed], str]:
    """Read a recording.

    Args:
        file: relative to ``cwd``.
        cwd: the working directory.

    Returns:
        What each request was answered with, the last time, by its fingerprint; and a digest of all of it.

    Raises:
        UsageError: it cannot be read, or a line is no record; the message names it.
    """
    try:
        with open(os.path.join(cwd, file), "rb") as handle:  # noqa: PTH123
            data = handle.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"--replay: {file} cannot be read: {error.strerror}") from error
    if len(data) > MOST_BYTES:
        raise UsageError(f"--replay: {file} is larger than {MOST_BYTES >> 20} MiB")
    found: dict[str, Reply | Failed] = {}
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.strip():
            name, outcome = _record(line, f"--replay: {file}:{number}")
            found[name] = outcome
    return found, digest(data)


def _outcome(answer: Answer) -> dict[str, Any]:
    if answer.reply is None:
        cause = answer.cause.value if answer.cause is not None else Cause.REPLY.value
        return {"error": {"cause": cause, "reason": answer.reason}}
    content = [dict(block) for block in answer.reply.content]
    return {"status": answer.status.value, "reply": {**answer.reply._asdict(), "content": content}}


def _record(line: bytes, place: str) -> tuple[str, Reply | Failed]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise UsageError(f"{place}: not a line of JSON; was the recording cut off?") from None
    if not isinstance(record, dict) or not isinstance(record.get("request"), str):
        raise UsageError(f"{place}: not a record of a request")
    if record.get("format") != FORMAT:
        raise UsageError(
            f"{place}: format {record.get('format')!r} was written by another version; this one reads {FORMAT}"
        )
    try:
        return record["request"], _reply(record["reply"]) if "reply" in record else _failed(record["error"])
    except (ValueError, TypeError, KeyError):
        raise UsageError(f"{place}: neither a reply nor an error that can be read") from None


def _failed(error: Mapping[str, Any]) -> Failed:
    return Failed(Cause(error["cause"]), _text(error["reason"]))


def _reply(fields: Mapping[str, Any]) -> Reply:
    content, tokens = fields["content"], fields["tokens"]
    if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
        raise TypeError("content")
    counts = None if tokens is None else Tokens(*tokens)
    if not all(prices.is_count(count) for count in counts or ()):
        raise TypeError("tokens")
    names = (_text(fields[name]) for name in ("stop_reason", "model", "request_id", "category"))
    stop_reason, model, request_id, category = names
    return Reply(tuple(content), stop_reason, counts, model, request_id, category)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("text")
    return value


def _ends_a_line(file: int) -> bool:
    size = os.lseek(file, 0, os.SEEK_END)
    if size == 0:
        return True
    os.lseek(file, size - 1, os.SEEK_SET)
    return os.read(file, 1) == b"\n"
