"""Read the uses of skills in sessions of Gemini CLI, ``~/.gemini/tmp/*/chats/session-*``.

The model loads a skill with the tool ``activate_skill``. Current versions write a record a line; a message is written
again when more of it is known, and messages can be taken back. Earlier versions write one document. Source:
google-gemini/gemini-cli 0.56.0-nightly.20260806 at 5411f113, packages/core/src/services/chatRecordingService.ts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from skillgate.invocations.formats._changes import edit_of, effect_of
from skillgate.invocations.formats._entries import (
    Call,
    Does,
    Entry,
    Kind,
    Result,
    count,
    identifier,
    items,
    mapping,
    model_name,
    prompted,
    replied,
    time_of,
    usage_of,
)
from skillgate.invocations.formats._input import BrokenError, NotJsonError, elements, parsed
from skillgate.invocations.formats._session import Client, reads
from skillgate.invocations.formats._transcript import object_of
from skillgate.model.invocation import Caller

if TYPE_CHECKING:
    from skillgate.invocations.formats import Lines, Options
    from skillgate.invocations.formats._entries import Usage
    from skillgate.model.invocation import Read

POSITION = 7
EXPECTED = "a session of Gemini CLI"
ONE_DOCUMENT = True
GROWS = True
_CLIENT = Client("gemini-cli", "no line is from a session of Gemini CLI")
_MOST_MESSAGES = 20_000
_WANTED = (("sessionId",), ("messages", None))
_NOT_SAID = ("/", "?", "<session_context>", "<hook_context>")
_DOES = {"activate_skill": Does.SKILL, "invoke_agent": Does.AGENT, "ask_user": Does.ASK, "exit_plan_mode": Does.ASK}
_EXIT = re.compile(r"^Exit Code: -?[1-9]", re.MULTILINE)  # a command that ends well has none
_TAIL = 500  # characters at the end of a result that are examined
_LEAST_CALL = 100  # characters that stand for the name and the frame of a call
_Message = tuple[int, tuple[Entry, ...]]


def is_it(head: bytes) -> bool:
    """Whether a file is a session, by its first 64 KiB."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:2_000]
    return start.startswith(b"{") and b'"sessionId"' in start and b'"projectHash"' in start


def read(lines: Lines, options: Options) -> Iterator[Read]:
    """Read a session. What the user took back counts for nothing."""
    chat = _Chat()
    problems = list(chat.take(lines))
    return reads(_CLIENT, [*problems, *chat.entries()], options)


class _Chat:
    """The messages of a session by id, as they were written last."""

    def __init__(self) -> None:
        self._session = ""
        self._messages: dict[str, _Message] = {}
        self._is_cut = False

    def take(self, lines: Lines) -> Iterator[tuple[int, str]]:
        """Take all lines; yield the problems of lines."""
        first = next((one for one in lines if one[1].strip(b"\xef\xbb\xbf \t\r\n")), None)
        if first is None:
            return
        try:
            header = object_of(first[1].lstrip(b"\xef\xbb\xbf"))
        except ValueError:
            header = {}
        if "messages" in header or not header:  # one document, perhaps over several lines
            yield from self._document(first, lines)
            return
        self._session = identifier(header.get("sessionId"))
        for number, line in lines:
            if line.strip():
                try:
                    self._record(number, object_of(line))
                except ValueError as error:
                    yield number, str(error)

    def _document(self, first: tuple[int, bytes], lines: Lines) -> Iterator[tuple[int, str]]:
        def whole() -> Lines:
            yield first
            yield from lines

        try:
            for path, line, text in elements(whole(), _WANTED):
                value = parsed(text) if text else None
                if path == _WANTED[0]:
                    self._session = identifier(value)
                elif isinstance(value, dict):
                    self._put(line, value)
        except (BrokenError, NotJsonError) as problem:
            yield 1, f"unreadable: {problem}"

    def _record(self, number: int, record: Mapping[str, Any]) -> None:
        back, checkpoint = record.get("$rewindTo"), mapping(record.get("$set")).get("messages")
        if isinstance(back, str):
            ids = list(self._messages)
            for old in ids[ids.index(back) :] if back in self._messages else ids:
                del self._messages[old]
        elif isinstance(checkpoint, list):
            self._messages.clear()
            for one in items(checkpoint):
                self._put(number, one)
        else:
            self._put(number, record)

    def _put(self, number: int, record: Mapping[str, Any]) -> None:
        identity = identifier(record.get("id"))
        if identity and (identity in self._messages or len(self._messages) < _MOST_MESSAGES):
            line, _ = self._messages.get(identity, (number, ()))
            self._messages[identity] = (line, tuple(_entries(record, identity)))
        elif identity:
            self._is_cut = True

    def entries(self) -> Iterator[tuple[int, Entry | str]]:
        """Yield the entries, and a problem if there were too many.

        A skill that the user calls comes after the prompt that the client sends with it.
        """
        if not self._session:
            return
        held: list[tuple[int, Entry]] = []
        yield 1, Entry(Kind.OTHER)
        for line, message in self._messages.values():
            for entry in message:
                whole = entry._replace(sessions=(self._session,))
                if entry.kind is Kind.PROMPT:
                    yield line, whole
                    yield from held
                    held.clear()
                elif entry.kind is Kind.BODY:
                    held.append((line, whole))
                else:
                    held.clear()
                    yield line, whole
        if self._is_cut:
            yield 1, f"more than {_MOST_MESSAGES:,} messages; the others were not read"


def _entries(record: Mapping[str, Any], identity: str) -> Iterator[Entry]:
    kind, at, text = record.get("type"), time_of(record.get("timestamp")), _text(record.get("content"))
    if kind == "user":
        if text.strip() and not text.lstrip().startswith(_NOT_SAID):
            yield prompted(Entry(Kind.PROMPT, at=at), text)
    elif kind == "error":
        yield Entry(Kind.REPLY, at=at, failed=True)
    elif kind == "gemini":
        calls = items(record.get("toolCalls"))
        usage = _usage(record.get("tokens"))
        is_users = not text.strip() and usage is None and [one.get("name") for one in calls] == ["activate_skill"]
        if is_users and calls[0].get("status") == "success":
            name = mapping(calls[0].get("args")).get("name")
            called = name if isinstance(name, str) else ""
            yield Entry(Kind.BODY, name=called, caller=Caller.USER, uuid=identity, at=at)
            return
        entry = Entry(
            Kind.REPLY,
            message=identity,
            at=at,
            model=model_name(record.get("model")),
            usage=usage,
            size=len(text) + _LEAST_CALL * len(calls),
            calls=tuple(_call(one) for one in calls if isinstance(one.get("name"), str)),
        )
        yield replied(entry, text)
        for one in calls:
            yield Entry(Kind.RESULTS, at=time_of(one.get("timestamp")) or at, results=(_result(one),))


def _text(content: object) -> str:
    parts = content if isinstance(content, list) else [content]
    texts = [mapping(part).get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str))


def _usage(tokens: object) -> Usage | None:
    if not isinstance(tokens, dict):
        return None
    names = ("input", "cached", "tool", "output", "thoughts")
    fresh, cached, tool, output, thoughts = (count(tokens.get(name)) for name in names)
    if fresh is None or cached is None or tool is None or output is None or thoughts is None:
        return None
    return usage_of(max(0, fresh - cached) + tool, 0, cached, output + thoughts)


def _call(record: Mapping[str, Any]) -> Call:
    name, values = str(record["name"]), mapping(record.get("args"))
    path = values.get("file_path")
    changes = edit_of(path, None, values.get("content")) if name == "write_file" else ()
    if name == "replace":
        changes = edit_of(path, values.get("old_string"), values.get("new_string"))
    return Call(
        identifier(record.get("id")),
        name,
        Does.AGENT if record.get("agentId") else _DOES.get(name, Does.WORK),
        skill=values.get("name"),
        changes=changes,
        effect=effect_of(values.get("command")) if name == "run_shell_command" else None,
    )


def _result(record: Mapping[str, Any]) -> Result:
    status = record.get("status")
    failed, denied = status == "error", status == "cancelled"
    exited = None
    if record.get("name") == "run_shell_command":
        answers = (
            mapping(mapping(part.get("functionResponse")).get("response")) for part in items(record.get("result"))
        )
        texts = (answer.get("output") for answer in answers)
        exited = next((_EXIT.search(text[-_TAIL:]) for text in texts if isinstance(text, str)), None)
    return Result(identifier(record.get("id")), failed or denied or exited is not None, denied, failed or denied)
