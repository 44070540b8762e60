"""Read the uses of skills in sessions of GitHub Copilot CLI, ``~/.copilot/session-state/*/events.jsonl``.

A loaded skill has its own event, ``skill.invoked``, which says who called it. Events of sub-agents are in the
same file. Input tokens are not recorded. Source: github/copilot-sdk at cc0438d6, which describes Copilot CLI 1.0.81:
docs/features/streaming-events.md and nodejs/src/generated/session-events.ts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from skillgate.invocations.formats._changes import Change, edit_of, effect_of
from skillgate.invocations.formats._entries import (
    Call,
    Does,
    Entry,
    Kind,
    Result,
    identifier,
    items,
    mapping,
    model_name,
    prompted,
    replied,
    time_of,
    version_label,
)
from skillgate.invocations.formats._session import Client, reads
from skillgate.invocations.formats._transcript import object_of
from skillgate.model.invocation import Caller

if TYPE_CHECKING:
    from skillgate.invocations.formats import Lines, Options
    from skillgate.model.invocation import Read

POSITION = 9
EXPECTED = "events of GitHub Copilot CLI"
GROWS = True
_CLIENT = Client("copilot-cli", "no line is an event of GitHub Copilot CLI", has_tokens=False)
_KIND = re.compile(r"(?:session|user|assistant|tool|skill|subagent|system|hook|permission|model)\.[a-z_.]{1,60}")
_SHELLS = ("bash", "powershell", "shell")
_DOES = {"skill": Does.SKILL, "task": Does.AGENT, "ask_user": Does.ASK, "exit_plan_mode": Does.ASK}
_EXIT = re.compile(r"<exited with exit code (-?\d{1,10})>\s*\Z")
_TAIL = 200  # characters at the end of a result that are examined
_CALLERS = {"user-invoked": Caller.USER, "agent-invoked": Caller.MODEL}


def is_it(head: bytes) -> bool:
    """Whether a file has events, by its first 64 KiB."""
    whole, _, part = head.rpartition(b"\n")
    found = [line for line in whole.split(b"\n") if line.strip()]
    if not found:
        return b'"type":"session.start"' in part and b'"data":' in part
    return any(_is_event(line) for line in found[:10])


def _is_event(line: bytes) -> bool:
    try:
        record = object_of(line)
    except ValueError:
        return False
    return _is_kind(record.get("type")) and isinstance(record.get("data"), dict)


def _is_kind(kind: object) -> bool:
    return isinstance(kind, str) and (kind == "abort" or _KIND.fullmatch(kind) is not None)


def read(lines: Lines, options: Options) -> Iterator[Read]:
    """Read the events of a session."""
    return reads(_CLIENT, _Events().entries(lines), options)


class _Events:
    """The state that later events refer to."""

    def __init__(self) -> None:
        self._sessions: tuple[str, ...] = ()
        self._commands: set[str] = set()

    def entries(self, lines: Lines) -> Iterator[tuple[int, Entry | str]]:
        """Yield the entries of the lines."""
        for number, line in lines:
            if line.strip():
                try:
                    yield number, self._entry(object_of(line))
                except ValueError as error:
                    yield number, str(error)

    def _entry(self, record: Mapping[str, Any]) -> Entry:
        kind, data = record.get("type"), mapping(record.get("data"))
        if kind == "session.start":
            session = identifier(data.get("sessionId"))
            self._sessions = self._sessions or ((session,) if session else ())
        found = self._event(kind, data) or Entry(Kind.OTHER if _is_kind(kind) else Kind.UNKNOWN)
        agent = identifier(record.get("agentId"))
        return found._replace(
            uuid=identifier(record.get("id")),
            sessions=self._sessions,
            at=time_of(record.get("timestamp")),
            sidechain=bool(agent),
            agent=agent,
        )

    def _event(self, kind: object, data: Mapping[str, Any]) -> Entry | None:
        text = data.get("content")
        if kind == "user.message" and isinstance(text, str):
            is_users = data.get("source") in (None, "user") and data.get("isAutopilotContinuation") is not True
            return prompted(Entry(Kind.PROMPT), text) if is_users else None
        if kind == "assistant.message":
            return self._reply(data, text if isinstance(text, str) else "")
        if kind == "tool.execution_complete":
            return Entry(Kind.RESULTS, results=(self._result(data),))
        if kind == "skill.invoked" and data.get("trigger") != "context-load":
            return _loaded(data)
        if kind == "abort":
            return Entry(Kind.INTERRUPTION) if data.get("reason") != "autopilot_credit_limit" else None
        return Entry(Kind.REPLY, failed=True) if kind == "session.error" else None

    def _reply(self, data: Mapping[str, Any], text: str) -> Entry:
        requests = [one for one in items(data.get("toolRequests")) if isinstance(one.get("name"), str)]
        calls = tuple(self._call(one) for one in requests if one["name"] != "report_intent")
        message, model = identifier(data.get("messageId")), model_name(data.get("model"))
        return replied(Entry(Kind.REPLY, message=message, model=model, calls=calls), text)

    def _call(self, request: Mapping[str, Any]) -> Call:
        identity, name = identifier(request.get("toolCallId")), str(request["name"])
        values = _arguments(request.get("arguments"))
        if name in _SHELLS:
            self._commands.add(identity)
        return Call(
            identity,
            name,
            _DOES.get(name, Does.WORK),
            skill=values.get("skill"),
            changes=_changes(name, values),
            effect=effect_of(values.get("command")) if name in _SHELLS else None,
        )

    def _result(self, data: Mapping[str, Any]) -> Result:
        identity, text = identifier(data.get("toolCallId")), mapping(data.get("result")).get("content")
        failed = data.get("success") is False
        denied = failed and mapping(data.get("error")).get("code") in ("denied", "rejected")
        exited = _EXIT.search(text[-_TAIL:]) if identity in self._commands and isinstance(text, str) else None
        self._commands.discard(identity)
        return Result(identity, failed or (exited is not None and int(exited[1]) != 0), denied, failed)


def _loaded(data: Mapping[str, Any]) -> Entry | None:
    name, plugin = data.get("name"), data.get("pluginName")
    if not isinstance(name, str):
        return None
    if isinstance(plugin, str) and plugin and ":" not in name:
        name = f"{plugin}:{name}"
    caller = _CALLERS.get(str(data.get("trigger")), Caller.USER)  # the model's call would have come before
    model, version = model_name(data.get("model")), version_label(data.get("pluginVersion"))
    return Entry(Kind.BODY, name=name, version=version, caller=caller, model=model)


def _arguments(value: object) -> Mapping[str, Any]:
    """Return the arguments of a call, which some versions write as text."""
    if not isinstance(value, str):
        return mapping(value)
    try:
        return mapping(json.loads(value))
    except (ValueError, RecursionError):
        return {}


def _changes(name: str, values: Mapping[str, Any]) -> tuple[Change, ...]:
    if name == "create":
        return edit_of(values.get("path"), None, values.get("file_text"))
    return edit_of(values.get("path"), values.get("old_str"), values.get("new_str")) if name == "edit" else ()
