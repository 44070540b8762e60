"""Answers as they were recorded, for a run that can be repeated to the byte without a model.

A recording holds a line of JSON for each answer, written by ``--record`` and read by ``--replay``. It names its request
by a digest of all that its answer depends on, and does not hold it: what was sent is the skill's text and this
program's own words. No key is in it.
"""
# ruff: noqa: PTH118

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.errors import UsageError
from skillgate.llm.answers import canonical, fields_of, reply_of
from skillgate.llm.port import ProviderError
from skillgate.model.exchange import Cause
from skillgate.model.skill import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skillgate.llm.port import Connection, Provider
    from skillgate.model.exchange import Answer, Reply, Request

POSITION = 5
MADE_UP = "replayed"
HOLDS_SESSIONS = True
FORMAT = 1
MOST_BYTES = 512 << 20  # of a recording that is read; 10,000 answers take about 30 MB
_OURS = (Cause.BUDGET, Cause.STOPPED, Cause.UNKNOWN)  # of no provider


class Failed(NamedTuple):
    """A recorded failure."""

    cause: Cause
    reason: str


def fingerprint(request: Request) -> str:
    """Name a request of any provider: its body to the byte, the versions of the questions, the sample.

    A temperature is no part of it: a recording is replayed without the options of the run that made it.
    """
    versions = (request.prompt_version, request.rubric_version, request.sample)
    return digest(repr(versions).encode("utf-8", "surrogatepass"), canonical(request.body))


def connect(connection: Connection) -> Replay:
    """Read the recording; raise UsageError where none is named, or it cannot be read."""
    if connection.file is None:
        raise UsageError("provider replay: name the recording with --replay FILE")
    return Replay(*read(connection.file, cwd=connection.cwd))


class Replay:
    """A recording as a provider; what it does not hold is unknown."""

    name = "replay"
    variant = ""
    live = False

    def __init__(self, recorded: Mapping[str, Reply | Failed], digest: str) -> None:
        """Take what was recorded, by fingerprint, and a digest of it."""
        self.endpoint = digest
        self._recorded = recorded

    def send(self, request: Request, *, timeout_s: float) -> Reply:  # noqa: ARG002 - nothing is waited for
        """Return the recorded reply; raise the recorded ProviderError, or ``UNKNOWN`` where there is none."""
        outcome = self._recorded.get(fingerprint(request))
        if outcome is None:
            why = f'the recording holds no answer to "{request.question}" of {request.subject}'
            raise ProviderError(Cause.UNKNOWN, why)
        if isinstance(outcome, Failed):
            raise ProviderError(outcome.cause, f"recorded: {outcome.reason}")
        return outcome

    def close(self) -> None:
        """Nothing is open."""


class Recorder:
    """Appends to a recording. Thread-safe, and a line is written as a whole."""

    def __init__(self, file: str, *, cwd: str, now: Callable[[], float]) -> None:
        """Open the file, which may exist, relative to ``cwd``; raise UsageError where it cannot be written."""
        self.failure: str | None = None  # why something could not be written; the run goes on
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
        """Write an answer down; one of no provider, as that the budget is used up, is left out."""
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
    """Read a recording; its path is relative to ``cwd``.

    Returns what each request was answered with, the last time, by its fingerprint; and a digest of all of it. Raises
    UsageError where it cannot be read, or a line is no record; the message names it.
    """
    try:
        with open(os.path.join(cwd, file), "rb") as handle:  # noqa: PTH123
            data = handle.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"--replay: {file} cannot be read: {error.strerror}") from error
    if len(data) > MOST_BYTES:
        raise UsageError(f"--replay: {file} is larger than {MOST_BYTES >> 20} MiB")
    recorded: dict[str, Reply | Failed] = {}
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.strip():
            name, outcome = _record(line, f"--replay: {file}:{number}")
            recorded[name] = outcome
    return recorded, digest(data)


def _outcome(answer: Answer) -> dict[str, Any]:
    if answer.reply is None:
        cause = answer.cause.value if answer.cause is not None else Cause.REPLY.value
        return {"error": {"cause": cause, "reason": answer.reason}}
    return {"status": answer.status.value, "reply": fields_of(answer.reply)}


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
        if "reply" not in record:
            error = record["error"]
            if isinstance(error["reason"], str):
                return record["request"], Failed(Cause(error["cause"]), error["reason"])
        elif (reply := reply_of(record["reply"])) is not None:
            return record["request"], reply
    except (ValueError, TypeError, KeyError):
        pass
    raise UsageError(f"{place}: neither a reply nor an error that can be read")


def _ends_a_line(file: int) -> bool:
    size = os.lseek(file, 0, os.SEEK_END)
    if size == 0:
        return True
    os.lseek(file, size - 1, os.SEEK_SET)
    return os.read(file, 1) == b"\n"
