"""Hold received telemetry on disk until the uses of skills in it are stored and over.

A spool is a folder of files of JSON Lines, each line an OTLP document with the spans of one trace, or the events of one
session: only what the reader needs, and no text. Appended lines are on the disk when :meth:`Spool.append` returns. The
spans of a use come over minutes, so all lines are read again at each import, and deleted only some time after the last
one of their trace or session.
"""

from __future__ import annotations

import json
import os
import re
import stat
import tempfile
import time
from contextlib import contextmanager, suppress
from errno import EINVAL
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from skillgate.errors import IncompleteError, UsageError
from skillgate.invocations.formats import FAULTS
from skillgate.invocations.formats._claude_logs import LOG_KEYS
from skillgate.invocations.formats._input import REPLACED, is_label, is_model, stored_id
from skillgate.invocations.formats._span import ARGUMENTS, KEYS, OURS, is_loader, named_skill
from skillgate.invocations.formats.otlp import SpanError, log_event, span_data, value_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from skillgate.invocations.formats import Lines

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

OPEN_S = 3_600
"""Seconds after which a silent trace or session is over."""
_SEGMENTS = 16  # maximum files before they are joined
_TAIL = re.compile(rb',"unit":"([^"]{1,200})","at":([0-9]{1,12})}\s*\Z')
_IDS = ("session.id", "gen_ai.conversation.id", "prompt.id")
_MODELS = ("gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "model", "query_source")
_LOGS_ONLY = (
    "uses of skills in spans of Claude Code are not stored, because its logs have them: set OTEL_LOGS_EXPORTER=otlp"
)
_CHOSEN = ("invocation_id", "id")  # a sender does not choose the id of a record, which it could replace
_LONGEST = 20_000  # maximum bytes of an attribute with a list or an object
_SLOW_S = 5.0  # how long to wait for other requests to be written


class FullError(Exception):
    """The spool cannot take more now; the message says why."""


class Spool:
    """An open spool; ``damaged`` is set if a line could not be read, which no spool writes."""

    def __init__(self, folder: str, *, most: int) -> None:
        """Open a spool of at most so many bytes. The folder may come from others, so no link in it is followed.

        Raises:
            UsageError: another process uses it, or other users can.
            IncompleteError: it cannot be created or read.
        """
        self._folder, self._most = Path(folder), most
        self._writing = Lock()
        self._file: Any = None
        self._size = 0
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _require_own(self._folder)
            self._lock = _opened(str(self._folder / "lock"), os.O_RDWR | os.O_CREAT)
            try:
                if fcntl is not None:
                    fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for path in self._folder.glob("joined-*.tmp"):
                    path.unlink()
                for path in self._paths():
                    _mend(path)
            except OSError:
                os.close(self._lock)
                raise
        except BlockingIOError:
            raise UsageError(
                f"{folder} is in use by another skillgate log serve; use --spool for another one"
            ) from None
        except OSError as error:
            raise IncompleteError(f"cannot use {folder}: {error.strerror}") from error
        self._size = sum(path.stat().st_size for path in self._paths())

    def append(self, lines: Sequence[bytes]) -> None:
        """Write lines, and return when they are on the disk. Raises FullError, and then nothing is written."""
        data = b"".join(line + b"\n" for line in lines)
        if not self._writing.acquire(timeout=_SLOW_S):
            raise FullError("the disk is slow")
        try:
            if self._size + len(data) > self._most:
                raise FullError("the spool is full")
            if data:
                self._write(data)
        finally:
            self._writing.release()

    def _write(self, data: bytes) -> None:
        try:
            file = self._file or self._begin()
            before = file.tell()
            try:
                file.write(data)
                os.fsync(file.fileno())
            except OSError:
                with suppress(OSError):
                    file.truncate(before)
                self._end()
                raise
        except OSError as error:
            raise FullError(f"cannot write: {error.strerror}") from error
        self._size += len(data)

    def _begin(self) -> Any:  # noqa: ANN401 - a raw file
        last = max((int(path.stem) for path in self._paths()), default=0)
        self._file = open(self._folder / f"{last + 1:012d}.jsonl", "xb", buffering=0, opener=_opened)  # noqa: SIM115
        self._sync_folder()
        return self._file

    def _end(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                file.close()

    def closed(self) -> list[Path]:
        """Begin a new file with the next lines; return the files that no more lines are added to, oldest first."""
        with self._writing:
            self._end()
            return self._paths()

    def close(self) -> None:
        """Release the spool."""
        with self._writing:
            self._end()
            os.close(self._lock)

    def compact(self, paths: Sequence[Path], *, now: float) -> None:
        """Delete what is over from closed files, after their import, and join the rest. Raises OSError."""
        over = {unit for unit, at in arrivals(paths).items() if at < now - OPEN_S}
        if not over and len(paths) < _SEGMENTS:
            return
        descriptor, name = tempfile.mkstemp(prefix="joined-", suffix=".tmp", dir=self._folder)
        joined = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(line for line, unit, _ in _units(paths) if unit not in over)
            file.flush()
            os.fsync(file.fileno())
        size = joined.stat().st_size
        before = sum(path.stat().st_size for path in paths)
        if size:
            joined.replace(paths[-1])
        else:
            joined.unlink()
            paths[-1].unlink()
        self._sync_folder()
        for path in paths[:-1]:
            path.unlink()
        with self._writing:
            self._size -= before - size

    def _paths(self) -> list[Path]:
        return sorted(path for path in self._folder.glob("*.jsonl") if path.stem.isdecimal())

    def _sync_folder(self) -> None:
        if os.name == "posix":
            descriptor = os.open(self._folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _require_own(folder: Path) -> None:
    """Raise UsageError unless a folder is the user's, and closed to others. A clone of a repository is not."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise UsageError(f"{folder} is a symbolic link; use --spool with the path that it points to")
    if os.name == "posix" and (status.st_uid != os.geteuid() or status.st_mode & 0o077):
        raise UsageError(f"{folder} is not only yours; use --spool for a new folder, or delete this one")


def _opened(path: str, flags: int) -> int:
    """Open a regular file that has no other name; a new one is the user's only. Raises OSError."""
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags, 0o600)
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
        return descriptor
    os.close(descriptor)
    raise OSError(EINVAL, "it has a file that is a link, or not a regular file")


def _mend(path: Path) -> None:
    """Cut off an incomplete last line, which was never acknowledged."""
    with open(path, "r+b", opener=_opened) as file:
        size = file.seek(0, os.SEEK_END)
        end, block = size, b""
        while end and b"\n" not in block:
            start = max(0, end - 65_536)
            file.seek(start)
            block = file.read(end - start)
            end = start
        whole = end + block.rfind(b"\n") + 1
        if whole < size:
            file.truncate(whole)
            os.fsync(file.fileno())


def arrivals(paths: Sequence[Path]) -> dict[bytes, int]:
    """Return for each trace and session in closed files when its last line arrived, in seconds since 1970."""
    last: dict[bytes, int] = {}
    for _, unit, at in _units(paths):
        last[unit] = max(at, last.get(unit, 0))
    return last


def lines(paths: Sequence[Path], *, without: Collection[bytes] = ()) -> Lines:
    """Yield the lines of closed files, numbered from 1, except those of some traces and sessions."""
    for number, (line, unit, _) in enumerate(_units(paths), 1):
        if unit not in without:
            yield number, line.rstrip(b"\n")


def _units(paths: Sequence[Path]) -> Iterator[tuple[bytes, bytes, int]]:
    """Yield each line with its trace or session, and the time of its arrival."""
    for path in paths:
        with open(path, "rb", opener=_opened) as file:
            for line in file:
                found = _TAIL.search(line[-300:])
                if found is not None:
                    yield line, found[1], int(found[2])


# What is held of a document


class Reduced:
    """The lines for a document's spans or log records, and how many could not be read, with the first reason.

    A use in a span of Claude Code is left out: its logs have the same use under another id. Either may come first, so
    the other would be stored too.
    """

    def __init__(self) -> None:
        self._parts: dict[tuple[str, str], list[Any]] = {}
        self.rejected = 0
        self.reason = ""

    def add(self, signal: str, item: object) -> None:
        """Add a span or a log record."""
        try:
            unit, part = _span(item) if signal == "traces" else _record(item)
        except SpanError as problem:
            self.rejected += 1
            self.reason = self.reason or str(problem)
            return
        except FAULTS as error:  # one item must not reject all others
            self.rejected += 1
            self.reason = self.reason or f"unexpected {type(error).__name__}"
            return
        if part is not None:
            if signal == "traces" and _leave_out(part):
                self.reason = self.reason or _LOGS_ONLY
            self._parts.setdefault((signal, unit), []).append(part)

    def lines(self) -> list[bytes]:
        """Return a line for each trace and session."""
        return [_line(signal, unit, items) for (signal, unit), items in self._parts.items()]


def _leave_out(span: dict[str, Any]) -> bool:
    """Remove what makes a span of Claude Code a use; return whether it was one."""
    attributes = [one for one in span["attributes"] if one["key"] not in ("tool_name", "skill_name")]
    found = span["name"] == "claude_code.tool" and {"stringValue": "Skill"} in [
        one["value"] for one in span["attributes"]
    ]
    if found:
        span["attributes"] = attributes
    return found


def reduced(signal: str, document: object) -> Reduced:
    """Reduce an OTLP document of ``traces`` or ``logs`` to what the reader needs."""
    found = Reduced()
    outer, scope, inner = _LEVELS[signal]
    for resource in _items(document, outer):
        for group in _items(resource, scope):
            for item in _items(group, inner):
                found.add(signal, item)
    return found


_LEVELS = {
    "traces": ("resourceSpans", "scopeSpans", "spans"),
    "logs": ("resourceLogs", "scopeLogs", "logRecords"),
}


def _items(value: object, key: str) -> list[Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def _line(signal: str, unit: str, items: list[Any]) -> bytes:
    outer, scope, inner = _LEVELS[signal]
    document = {outer: [{scope: [{inner: items}]}], "unit": unit, "at": int(time.time())}
    return json.dumps(document, separators=(",", ":")).encode()


def _span(item: object) -> tuple[str, dict[str, Any]]:
    data = span_data(item)
    assert isinstance(item, dict)
    claude = data.name.startswith("claude_code.")
    part = {key: item.get(key) for key in ("traceId", "spanId", "parentSpanId", "startTimeUnixNano", "endTimeUnixNano")}
    part = {key: value for key, value in part.items() if isinstance(value, str | int) and len(str(value)) <= 40}
    loads = is_loader(data)
    named = named_skill(data) if loads else None
    arguments = json.dumps({"skill": _plain("", named)}) if isinstance(named, str) else "{}"
    part["attributes"] = _attributes(item, KEYS, dict.fromkeys(ARGUMENTS, arguments) if loads else {})
    part["name"] = data.name if (claude or loads) and is_label(data.name) else ""
    if data.failed or _is_fine(item):
        part["status"] = {"code": 2 if data.failed else 1}
    session = stored_id(str(data.get("session.id"))) if claude and data.get("session.id") else ""
    return session or f"{data.trace:032x}", part


def _is_fine(item: dict[str, Any]) -> bool:
    status = item.get("status")
    return isinstance(status, dict) and status.get("code") in (1, "STATUS_CODE_OK")


def _record(item: object) -> tuple[str, dict[str, Any] | None]:
    event = log_event(item)
    if event is None:
        return "", None
    assert isinstance(item, dict)
    named = {"tool_parameters": json.dumps({"skill_name": _plain("skill_name", event.skill)})} if event.skill else {}
    attributes = _attributes(item, LOG_KEYS, named)
    body = {"stringValue": f"claude_code.{event.kind}"}
    return stored_id(event.session), {"timeUnixNano": str(event.at), "body": body, "attributes": attributes}


def _attributes(item: dict[str, Any], keys: frozenset[str], replaced: dict[str, str]) -> list[dict[str, Any]]:
    """Return the attributes that are read, without texts; of some only what ``replaced`` has for them."""
    part = []
    for entry in _items(item, "attributes"):
        key = entry.get("key") if isinstance(entry, dict) else None
        if not isinstance(key, str) or not (key in keys or key.startswith(OURS)):
            continue
        if key.startswith(OURS) and key.rpartition(".")[2] in _CHOSEN:
            continue
        value = _value(key, entry.get("value"))
        if key in ARGUMENTS or key == "tool_parameters":
            value = {"stringValue": replaced[key]} if key in replaced else None
        if value is not None and is_label(key):
            part.append({"key": key, "value": value})
    return part


def _value(key: str, encoded: object) -> dict[str, Any] | None:
    """Return an encoded attribute; a text that is no name is replaced, and texts within it are empty."""
    value = value_of(encoded)
    if isinstance(value, str):
        return {"stringValue": _plain(key, value)}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)} if abs(value) < 2**63 else None
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list | dict):
        emptied = _emptied(value)
        return emptied if len(json.dumps(emptied)) <= _LONGEST else None
    return None


def _emptied(value: object) -> dict[str, Any]:
    if isinstance(value, list):
        return {"arrayValue": {"values": [_emptied(one) for one in value]}}
    if isinstance(value, dict):
        pairs = [
            {"key": key, "value": _emptied(one)} for key, one in value.items() if is_label(key) and key not in _CHOSEN
        ]
        return {"kvlistValue": {"values": pairs}}
    return {"stringValue": ""} if value is None or isinstance(value, str) else _value("", _encoded(value)) or {}


def _encoded(value: object) -> dict[str, Any]:
    kinds: dict[type, str] = {bool: "boolValue", int: "intValue", float: "doubleValue"}
    return {kinds[type(value)]: value} if type(value) in kinds else {}


def _plain(key: str, text: str) -> str:
    if not text or is_label(text) or (key in _MODELS and is_model(text)):
        return text
    return stored_id(text) if key in _IDS else REPLACED


@contextmanager
def opened(folder: str, *, most: int) -> Iterator[Spool]:
    """Open a spool, and close it. Raises as :class:`Spool`."""
    spool = Spool(folder, most=most)
    try:
        yield spool
    finally:
        spool.close()
