"""Read the uses of skills in what ``claude -p --output-format stream-json`` prints, and in claude-code-action's file.

The one has a message a line, the other (``execution_file``) is a JSON list of the same messages. Sub-agents' messages
are among them. Only recent versions give messages a time. Source: the types of @anthropic-ai/claude-agent-sdk 0.3.332
and of claude-code-action at 24dcd50c.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from skillgate.invocations.formats import LONGEST
from skillgate.invocations.formats._entries import (
    Does,
    Entry,
    Kind,
    dollars,
    identifier,
    items,
    milliseconds,
    time_of,
    version_label,
)
from skillgate.invocations.formats._input import BrokenError, elements
from skillgate.invocations.formats._session import Client, reads
from skillgate.invocations.formats._transcript import message_entry, object_of
from skillgate.model.invocation import Caller

if TYPE_CHECKING:
    from skillgate.invocations.formats import Lines, Options
    from skillgate.model.invocation import Read

POSITION = 5
EXPECTED = "output of claude --output-format stream-json"
ONE_DOCUMENT = True
GROWS = True
_CLIENT = Client("claude-stream", "no message is from Claude Code")
_MESSAGE = ("messages", None)
_TYPES = ("system", "assistant", "user", "result")
_FIRST = re.compile(rb'\s*\[?\s*\{\s*"type"\s*:\s*"(?:system|assistant|user|result)"')
_OURS = (b'"session_id"', b'"parent_tool_use_id"')


def is_it(head: bytes) -> bool:
    """Whether a file is such output, by its first 64 KiB: older entries of a transcript have other keys."""
    first = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    start = first if first.startswith(b"[") else first.partition(b"\n")[0]
    if _FIRST.match(start) is not None and any(key in start for key in _OURS):
        return b'"sessionId"' not in start
    lines = first.split(b"\n")[:-1] if first.startswith(b"{") else []
    return any(_is_message(line) for line in lines if line.strip())


def _is_message(line: bytes) -> bool:
    try:
        record = object_of(line)
    except ValueError:
        return False
    return record.get("type") in _TYPES and "session_id" in record


def read(lines: Lines, options: Options) -> Iterator[Read]:
    """Read the messages of one or several sessions of the same file."""
    return reads(_CLIENT, _Stream().entries(lines), options)


class _Stream:
    """The messages of a stream, with the plugins' versions that its first message gives."""

    def __init__(self) -> None:
        self._versions: dict[str, str | None] = {}
        self._sessions: tuple[str, ...] = ()

    def entries(self, lines: Lines) -> Iterator[tuple[int, Entry | str]]:
        """Yield the entries of messages, with their numbers in a list or their lines."""
        for number, raw in _messages(lines):
            if isinstance(raw, str):
                yield number, raw
                continue
            try:
                record = object_of(raw)
            except ValueError as error:
                yield number, str(error)
            else:
                yield number, self._entry(number, record)

    def _entry(self, number: int, record: Mapping[str, Any]) -> Entry:
        kind, session = record.get("type"), identifier(record.get("session_id"))
        self._sessions = (session,) if session else self._sessions
        if kind not in _TYPES:
            return Entry(Kind.OTHER if session else Kind.UNKNOWN)
        if kind == "system":
            if record.get("subtype") == "init":
                self._versions |= {str(one.get("name")): _version(one) for one in items(record.get("plugins"))}
            return Entry(Kind.OTHER, at=time_of(record.get("timestamp")))
        if kind == "result":
            return self._result(record)
        agent = identifier(record.get("parent_tool_use_id"))
        entry = message_entry(record)._replace(
            uuid=identifier(record.get("uuid")),
            sessions=self._sessions,
            at=time_of(record.get("timestamp")),
            sidechain=bool(agent),
            agent=agent,
            unattended=True,
        )
        if record.get("error") is not None and kind == "assistant":
            entry = entry._replace(failed=True)
        if entry.kind is Kind.BODY and entry.name and not agent:
            return entry._replace(caller=Caller.USER, uuid=entry.uuid or f"message{number}")
        calls = (
            call._replace(version=self._known(call.skill)) if call.does is Does.SKILL else call for call in entry.calls
        )
        return entry._replace(calls=tuple(calls))

    def _known(self, skill: object) -> str | None:
        plugin, colon, _ = skill.partition(":") if isinstance(skill, str) else ("", "", "")
        return self._versions.get(plugin) if colon else None

    def _result(self, record: Mapping[str, Any]) -> Entry:
        failed = record.get("is_error") is True or str(record.get("subtype", "")).startswith("error")
        return Entry(
            Kind.TOTAL,
            uuid=identifier(record.get("uuid")),
            usd=dollars(record.get("total_cost_usd")),
            duration_ms=milliseconds(record.get("duration_ms")),
            failed=failed,
        )


def _version(plugin: Mapping[str, Any]) -> str | None:
    """Return a plugin's version: as it says, or from the folder where it was unpacked."""
    path = plugin.get("path")
    parts = path.replace("\\", "/").rstrip("/").split("/") if isinstance(path, str) else []
    is_unpacked = parts[-5:-3] == ["plugins", "cache"]
    return version_label(plugin.get("version")) or (version_label(parts[-1]) if is_unpacked else None)


def _messages(lines: Lines) -> Iterator[tuple[int, bytes | str]]:
    """Yield the messages, and problems instead of those that cannot be read."""
    first = next((one for one in lines if one[1].strip(b"\xef\xbb\xbf \t\r\n")), None)
    if first is None:
        return
    lines = chain([first], lines)
    if not first[1].lstrip(b"\xef\xbb\xbf \t").startswith(b"["):
        yield from _lines(lines)
        return
    number, start = next(lines)
    document = chain([(number, b'{"messages":' + start.lstrip(b"\xef\xbb\xbf \t"))], _closed(lines))
    place = 0
    try:
        for path, _, text in elements(document, (_MESSAGE,)):
            if path == _MESSAGE:
                place += 1
                yield place, f"longer than {LONGEST:,} bytes" if text is None else text
    except BrokenError as problem:
        yield place + 1, f"unreadable from here: {problem}"


def _closed(lines: Lines) -> Lines:
    number = 1
    for number, raw in lines:
        yield number, raw
    yield number + 1, b"}"


def _lines(lines: Lines) -> Iterator[tuple[int, bytes | str]]:
    cut = 0
    for number, raw in lines:
        if number == cut or not raw.strip():
            continue
        if len(raw) > LONGEST:
            cut = number  # skip the other pieces of this line
            yield number, f"longer than {LONGEST:,} bytes"
        else:
            yield number, raw.removeprefix(b"\xef\xbb\xbf")
