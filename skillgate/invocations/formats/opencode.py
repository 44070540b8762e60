"""Read the uses of skills in a session of OpenCode, as ``opencode export SESSION`` writes it.

The model loads a skill with the tool ``skill``. A skill that the user calls is a prompt like any other, and cannot be
seen. Source: anomalyco/opencode, packages/opencode/src/session/message-v2.ts at 007a9409, cli/cmd/export.ts at 07fa8106
and tool/skill.ts at 097ed81e.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from skillgate.invocations.formats import LONGEST
from skillgate.invocations.formats._changes import edit_of, effect_of
from skillgate.invocations.formats._entries import (
    Call,
    Does,
    Entry,
    Kind,
    Result,
    count,
    dollars,
    identifier,
    items,
    mapping,
    model_name,
    prompted,
    replied,
    time_of_ms,
    usage_of,
)
from skillgate.invocations.formats._input import BrokenError, NotJsonError, elements, parsed
from skillgate.invocations.formats._session import Client, reads

if TYPE_CHECKING:
    from skillgate.invocations.formats import Lines, Options
    from skillgate.model.invocation import Read

POSITION = 8
EXPECTED = "an export of OpenCode"
ONE_DOCUMENT = True
GROWS = True
_CLIENT = Client("opencode", "the file is not an export of OpenCode")
_MESSAGE = ("messages", None)
_HEAD = re.compile(rb'\{\s*"info"\s*:\s*\{')
_DENIED = ("The user rejected permission", "The user has specified a rule which prevents")
_UNLOADED = re.compile(r'Skill "[^"\n]{0,200}" not found')
_DOES = {"skill": Does.SKILL, "task": Does.AGENT, "question": Does.ASK}
_LEAST_CALL = 100  # characters that stand for the name and the frame of a call


def is_it(head: bytes) -> bool:
    """Whether a file is an export, by its first 64 KiB."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return _HEAD.match(start) is not None and b'"ses_' in start


def read(lines: Lines, options: Options) -> Iterator[Read]:
    """Read the messages of the session."""
    return reads(_CLIENT, _entries(lines), options)


def _entries(lines: Lines) -> Iterator[tuple[int, Entry | str]]:
    place = 0
    try:
        for path, _, text in elements(lines, (_MESSAGE,)):
            if path != _MESSAGE:
                yield 1, Entry(Kind.OTHER)
                continue
            place += 1
            message = parsed(text) if text is not None else None
            if not isinstance(message, dict):
                yield place, f"longer than {LONGEST:,} bytes" if text is None else "not a JSON object"
                continue
            for entry in _message(mapping(message.get("info")), items(message.get("parts"))):
                yield place, entry
    except (BrokenError, NotJsonError) as problem:
        yield place + 1, f"unreadable from here: {problem}"


def _message(info: Mapping[str, Any], parts: list[Mapping[str, Any]]) -> Iterator[Entry]:
    session, at = identifier(info.get("sessionID")), time_of_ms(mapping(info.get("time")).get("created"))
    sessions = (session,) if session else ()
    if info.get("role") == "user":
        texts = [
            str(part["text"])
            for part in parts
            if part.get("type") == "text" and isinstance(part.get("text"), str)
            if part.get("synthetic") is not True and part.get("ignored") is not True
        ]
        if any(text.strip() for text in texts):
            yield prompted(Entry(Kind.PROMPT, sessions=sessions, at=at), "\n".join(texts))
    elif info.get("role") == "assistant":
        base = Entry(Kind.REPLY, sessions=sessions, at=at, model=model_name(info.get("modelID")))
        yield from _steps(base, info, parts)
        error = mapping(info.get("error")).get("name")
        ended = time_of_ms(mapping(info.get("time")).get("completed")) or at
        if error == "MessageAbortedError":
            yield Entry(Kind.INTERRUPTION, sessions=sessions, at=ended)
        elif error is not None:
            yield Entry(Kind.REPLY, sessions=sessions, at=ended, failed=True)


def _steps(base: Entry, info: Mapping[str, Any], parts: list[Mapping[str, Any]]) -> Iterator[Entry]:
    """Yield the parts of a reply; each step of it has its own tokens."""
    identity, step = identifier(info.get("id")), 0
    for part in parts:
        kind, entry = part.get("type"), base._replace(message=f"{identity}:{step}")
        if kind == "text" and isinstance(part.get("text"), str):
            times = mapping(part.get("time"))
            at = time_of_ms(times.get("end")) or time_of_ms(times.get("start")) or base.at
            yield replied(entry._replace(size=len(part["text"]), at=at), part["text"])
        elif kind == "tool" and isinstance(part.get("tool"), str):
            state = mapping(part.get("state"))
            times = mapping(state.get("time"))
            call = _call(part, mapping(state.get("input")))
            yield entry._replace(size=_LEAST_CALL, at=time_of_ms(times.get("start")) or base.at, calls=(call,))
            if state.get("status") in ("completed", "error"):
                at = time_of_ms(times.get("end")) or base.at
                yield Entry(Kind.RESULTS, sessions=base.sessions, at=at, results=(_result(call.id, state),))
        elif kind == "step-finish":
            yield _usage(entry, part)
            step += 1
    if not step:
        yield _usage(base._replace(message=f"{identity}:0"), info)


def _usage(entry: Entry, record: Mapping[str, Any]) -> Entry:
    tokens, usd = mapping(record.get("tokens")), dollars(record.get("cost"))
    cache, output = mapping(tokens.get("cache")), count(tokens.get("output"))
    reasoning, usage = count(tokens.get("reasoning")), None
    if tokens and output is not None and reasoning is not None:
        usage = usage_of(tokens.get("input"), cache.get("write"), cache.get("read"), output + reasoning)
    return entry._replace(kind=Kind.USAGE, usage=usage, usd=usd or None)  # 0 is a subscription, or no known price


def _call(part: Mapping[str, Any], values: Mapping[str, Any]) -> Call:
    name, path = str(part["tool"]), values.get("filePath")
    changes = edit_of(path, None, values.get("content")) if name == "write" else ()
    if name == "edit":
        changes = edit_of(path, values.get("oldString"), values.get("newString"))
    return Call(
        identifier(part.get("callID")),
        name,
        _DOES.get(name, Does.WORK),
        skill=values.get("name"),
        changes=changes,
        effect=effect_of(values.get("command")) if name == "bash" else None,
    )


def _result(identity: str, state: Mapping[str, Any]) -> Result:
    error = state.get("error")
    text = error if isinstance(error, str) else ""
    exited = mapping(state.get("metadata")).get("exit")
    denied = text.startswith(_DENIED)
    failed = state.get("status") == "error" or (type(exited) is int and exited != 0)
    return Result(identity, failed, denied, denied or _UNLOADED.match(text) is not None)
