"""Read messages of Claude Code, from its transcripts and from what it prints.

The format of transcripts is not published. The code relies on what was seen in sessions of versions 1 and 2, and skips
everything else. Source: transcripts of Claude Code 2.1.330, which a test generates again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from skillgate.invocations.formats._changes import Change, edit_of, effect_of
from skillgate.invocations.formats._entries import (
    Call,
    Does,
    Entry,
    Kind,
    Result,
    Usage,
    count,
    identifier,
    items,
    mapping,
    model_name,
    prompted,
    replied,
    skill_at,
    time_of,
    usage_of,
)

_COMMAND = re.compile(r"\s*(?:<command-message>[^<]*</command-message>\s*)?<command-name>/([^<]*)</command-name>")
_HEAD = 2_000  # characters of a text that are examined
# Claude Code's own answers to calls denied by the user or the session's permissions. A program's output follows its
# exit code, so it never begins like this.
_DENIED = re.compile(
    r"(?:<tool_use_error>)?(?:The user doesn't want to (?:proceed with this tool use|take this action)"
    r"|Claude requested permissions? to (?s:.{1,1500}?), but you haven't granted"
    r"|Permission to use \S{1,200} (?:with command |has been denied)"
    r"|Permission for this (?:tool use was|action has been) denied"
    r"|This command requires approval"
    r"|This Bash command contains multiple operations\. The following parts? requires? approval"
    r"|The agent proposed a plan that was rejected by the user|User rejected tool use)"
)
_NOT_LOADED = re.compile(r"(?:<tool_use_error>)?(?:Unknown skill: |Execute skill: )")  # no such skill; not permitted
_INTERRUPTED = "[Request interrupted by user"
_BODY = ("Base directory for this skill:", "Skill /")  # the second where it was loaded before
_PRINTED = ("<local-command-stdout>", "<local-command-stderr>")
_NOT_SAID = ("<local-command-", "<bash-", "<task-notification>", "<system-reminder>", "<command-")


def object_of(line: bytes) -> Mapping[str, Any]:
    """Parse a line; raise ValueError if it is not a JSON object. The message quotes nothing of it."""
    try:
        record = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        raise ValueError("invalid or truncated JSON") from None
    if not isinstance(record, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004 - the type of what was read, not of an argument
    return record


def is_entry(record: Mapping[str, Any]) -> bool:
    """Whether an object is an entry of a transcript."""
    if not isinstance(record.get("type"), str) or record["type"] == "result":  # Copilot CLI prints one
        return False
    by_type = {"summary": "leafUuid", "file-history-snapshot": "messageId"}
    return by_type.get(record["type"], "sessionId") in record


def entry_of(record: Mapping[str, Any]) -> Entry:
    """Return the entry of a transcript's line."""
    entry = message_entry(record)
    attached = record.get("attachment")
    if record.get("type") == "attachment" and isinstance(attached, dict):
        entry = _attached(attached)
    entry = entry._replace(at=time_of(record.get("timestamp")), sidechain=record.get("isSidechain") is True)
    if entry.kind is Kind.OTHER:
        return entry if is_entry(record) else entry._replace(kind=Kind.UNKNOWN)
    uuid, parent, agent, copied, session = (
        identifier(record.get(key)) for key in ("uuid", "parentUuid", "agentId", "requestSessionId", "sessionId")
    )
    return entry._replace(
        uuid=uuid,
        parent=parent,
        sessions=tuple(filter(None, (copied, session))),
        agent=agent,
        unattended=str(record.get("entrypoint", "")).startswith("sdk"),
    )


def message_entry(record: Mapping[str, Any]) -> Entry:
    """Return the entry of a message of the assistant or the user; its kind is OTHER if it is neither."""
    kind, message = record.get("type"), record.get("message")
    if kind == "assistant" and isinstance(message, dict):
        return _reply(record, message)
    if kind == "user" and isinstance(message, dict):
        return _user(record, message)
    return Entry(Kind.OTHER)


def _reply(record: Mapping[str, Any], message: Mapping[str, Any]) -> Entry:
    if record.get("isApiErrorMessage") is True:
        return Entry(Kind.REPLY, failed=True)
    stop, usage = message.get("stop_reason"), message.get("usage")
    texts = [text for text in _texts(message) if text.strip()]
    blocks = [block for block in items(message.get("content")) if str(block.get("type", "")).endswith("tool_use")]
    entry = Entry(
        Kind.REPLY,
        message=identifier(message.get("id")),
        model=model_name(message.get("model")),
        stop=stop if isinstance(stop, str) else None,
        usage=_usage(usage) if isinstance(usage, dict) else None,
        size=sum(map(len, texts)) + sum(map(_size, blocks)),
        tags=_tags(record.get("attributionSkill"), record.get("attributionPlugin")),
        calls=tuple(_call(block) for block in blocks if isinstance(block.get("name"), str)),
    )
    return replied(entry, texts[-1] if texts else "")


_LEAST_CALL = 100  # characters that stand for the name and the frame of a call
_DOES = {
    "Skill": Does.SKILL,
    "Task": Does.AGENT,  # the earlier name of
    "Agent": Does.AGENT,
    "Workflow": Does.FLOW,
    "AskUserQuestion": Does.ASK,
    "ExitPlanMode": Does.ASK,
}
_SHELLS = ("Bash", "PowerShell")


def _size(block: Mapping[str, Any]) -> int:
    return _LEAST_CALL + sum(len(value) for value in mapping(block.get("input")).values() if isinstance(value, str))


def _call(block: Mapping[str, Any]) -> Call:
    name, values = str(block["name"]), mapping(block.get("input"))
    skill = values.get("skill", values.get("command"))
    return Call(
        identifier(block.get("id")),
        name,
        _DOES.get(name, Does.WORK),
        skill=skill.strip().removeprefix("/") if isinstance(skill, str) else skill,
        prompt=hash(prompt) if isinstance(prompt := values.get("prompt"), str) else 0,
        changes=_requested_changes(name, values),
        effect=effect_of(values.get("command")) if name in _SHELLS else None,
    )


def _requested_changes(name: str, values: Mapping[str, Any]) -> tuple[Change, ...]:
    if name == "NotebookEdit":
        return edit_of(values.get("notebook_path"), None, values.get("new_source"))
    path = values.get("file_path")
    if name == "Write":
        return edit_of(path, None, values.get("content"))
    if name == "Edit":
        return edit_of(path, values.get("old_string"), values.get("new_string"))
    if name != "MultiEdit":
        return ()
    edits = [edit_of(path, one.get("old_string"), one.get("new_string")) for one in items(values.get("edits"))]
    (whole,) = edit_of(path, None, None) or (None,)
    return () if whole is None else (whole._replace(written=sum(one.written for edit in edits for one in edit)),)


def _tags(skill: object, plugin: object) -> tuple[str, ...]:
    if not isinstance(skill, str) or not skill:
        return ()
    return (skill, f"{plugin}:{skill}") if isinstance(plugin, str) and plugin else (skill,)


def _usage(usage: Mapping[str, Any]) -> Usage | None:
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    found = usage_of(*(usage.get(name) for name in names))
    for_an_hour = count(mapping(usage.get("cache_creation")).get("ephemeral_1h_input_tokens")) or 0
    return found and found._replace(for_an_hour=min(for_an_hour, found.written))


def _user(record: Mapping[str, Any], message: Mapping[str, Any]) -> Entry:
    results = tuple(_results(message))
    if results:
        details = record.get("toolUseResult", record.get("tool_use_result"))
        return Entry(Kind.RESULTS, results=results, details=details if isinstance(details, dict) else None)
    texts = tuple(_texts(message))
    head = texts[0][:_HEAD] if texts else ""
    if head.startswith(_INTERRUPTED):
        return prompted(Entry(Kind.INTERRUPTION, has_text=len(texts) > 1), "\n".join(texts[1:]))
    if record.get("isCompactSummary") is True or record.get("isVisibleInTranscriptOnly") is True:
        return Entry(Kind.OTHER)
    if record.get("isMeta") is True or record.get("isSynthetic") is True:
        return _inserted(head)
    if not _is_human(record.get("origin")) or record.get("promptSource") == "system":
        return Entry(Kind.OTHER)
    command = _COMMAND.match(head)
    if command is not None:
        return Entry(Kind.COMMAND, name=command[1].strip())
    if head.startswith(_PRINTED):
        return Entry(Kind.PRINTED)
    has_image = any(block.get("type") == "image" for block in items(message.get("content")))
    if head.startswith(_NOT_SAID) or not (any(texts) or has_image):
        return Entry(Kind.OTHER)
    return prompted(Entry(Kind.PROMPT, prompt=hash("".join(texts))), "\n".join(texts))


def _inserted(head: str) -> Entry:
    if not head.startswith(_BODY):
        return Entry(Kind.NOTE)
    before, _, folder = head.partition("\n")[0].partition(_BODY[0])
    name, version = ("", None) if before else skill_at(folder)
    return Entry(Kind.BODY, name=name, version=version)


def _attached(attached: Mapping[str, Any]) -> Entry:
    kind, name = attached.get("type"), attached.get("filename")
    if kind == "edited_text_file" and isinstance(name, str):
        return Entry(Kind.TOUCHED, name=name)
    if kind == "queued_command" and attached.get("commandMode") == "prompt" and _is_human(attached.get("origin")):
        text = attached.get("prompt")
        return prompted(Entry(Kind.QUEUED), text if isinstance(text, str) else "")
    return Entry(Kind.OTHER)


def _is_human(origin: object) -> bool:
    """Whether a user wrote it; older versions record no origin."""
    return not isinstance(origin, dict) or origin.get("kind") == "human"


def _results(message: Mapping[str, Any]) -> Iterator[Result]:
    for block in items(message.get("content")):
        if block.get("type") == "tool_result":
            failed = block.get("is_error") is True
            head = next(_texts(block), "")[:_HEAD] if failed else ""
            denied = _DENIED.match(head) is not None
            unloaded = denied or _NOT_LOADED.match(head) is not None
            yield Result(identifier(block.get("tool_use_id")), failed, denied, unloaded)


def _texts(message: Mapping[str, Any]) -> Iterator[str]:
    content = message.get("content")
    if isinstance(content, str):
        yield content
    for block in items(content):
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            yield block["text"]
