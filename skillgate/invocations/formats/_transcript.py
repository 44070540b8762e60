"""Read entries of a Claude Code transcript, and the file changes of its calls.

The format is not published. The code relies on what was seen in sessions of versions 1 and 2, and skips everything
else. Source: transcripts of Claude Code 2.1.330, which a test generates again. No text is held beyond its entry, only
counts, times, digests of lines, and what a text says by a table of phrases.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from enum import Enum
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from skillgate.invocations.formats._input import is_model
from skillgate.invocations.formats._phrases import Reaction, asks, asks_to_commit, is_brief, reaction, report
from skillgate.model.invocation import Evidence

_LARGEST = 10**12  # maximum tokens of one message, far beyond any real one
_TIME_CHARACTERS = 40
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,95}\Z")
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


class Kind(Enum):
    """The kinds of entries that matter for runs of skills."""

    PROMPT = "prompt"  # by the user
    QUEUED = "queued"  # by the user, during a run
    COMMAND = "command"  # any slash command of the user
    PRINTED = "printed"  # output of a command, not seen by a model
    BODY = "body"  # the text of a loaded skill
    NOTE = "note"  # another text inserted for the user
    RESULTS = "results"
    REPLY = "reply"
    INTERRUPTION = "interruption"
    TOUCHED = "touched"  # a file was changed outside the session's tools
    OTHER = "other"


class Usage(NamedTuple):
    """Tokens of one message; ``fresh`` are input tokens that were not cached."""

    fresh: int
    cached: int
    output: int


class Call(NamedTuple):
    """A call of a tool, with its input."""

    id: str
    name: str
    values: Mapping[str, Any]


class Result(NamedTuple):
    """The result of a call."""

    id: str
    failed: bool
    denied: bool = False  # by the user or the session's permissions
    unloaded: bool = False  # the skill was denied or does not exist


class Entry(NamedTuple):
    """One entry; missing or invalid ids are ``""``, other unknown values None."""

    kind: Kind
    uuid: str = ""
    parent: str = ""  # uuid of the previous entry
    message: str = ""  # id of its reply
    sessions: tuple[str, ...] = ()  # the session of the file, after the one it was copied from
    at: datetime | None = None
    sidechain: bool = False  # whether it belongs to the sub-agent with the id ``agent``
    agent: str = ""
    model: str | None = None
    stop: str | None = None  # why the reply ended
    usage: Usage | None = None
    failed: bool = False  # whether it replaces a reply that failed
    has_text: bool = False
    text: str = ""  # the last text of a reply, or a prompt
    report: Evidence | None = None  # what the text of a reply reports
    asks: bool = False  # whether it ends with a question
    tags: tuple[str, ...] = ()  # names of the skill that the reply is attributed to
    reaction: Reaction | None = None  # what a prompt says of what was before
    is_brief: bool = False  # whether the prompt has a few words only
    asks_to_commit: bool = False
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()
    details: Mapping[str, Any] | None = None  # Claude Code's own record of a result
    name: str = ""  # of a command; the path of a touched file
    prompt: int = 0  # a digest
    unattended: bool = False  # whether a program started the session, perhaps without a user


def entry_of(line: bytes) -> Entry:
    """Read a line; raise ValueError if it is not a JSON object. The message quotes nothing of it."""
    try:
        record = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        raise ValueError("invalid or truncated JSON") from None
    if not isinstance(record, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004 - the type of what was read, not of an argument
    entry = _entry(record)._replace(at=_time(record.get("timestamp")), sidechain=record.get("isSidechain") is True)
    if entry.kind is Kind.OTHER:
        return entry
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


def identifier(value: object) -> str:
    """Return a valid id, else ``""``."""
    return value if isinstance(value, str) and _ID.match(value) else ""


def _entry(record: Mapping[str, Any]) -> Entry:
    kind, message = record.get("type"), record.get("message")
    if kind == "assistant" and isinstance(message, dict):
        return _reply(record, message)
    if kind == "user" and isinstance(message, dict):
        return _user(record, message)
    attached = record.get("attachment")
    if kind == "attachment" and isinstance(attached, dict):
        return _attached(attached)
    return Entry(Kind.OTHER)


def _reply(record: Mapping[str, Any], message: Mapping[str, Any]) -> Entry:
    if record.get("isApiErrorMessage") is True:
        return Entry(Kind.REPLY, failed=True)
    model, stop = message.get("model"), message.get("stop_reason")
    texts = [text for text in _texts(message) if text.strip()]
    said = texts[-1] if texts else ""
    calls = (block for block in _blocks(message) if str(block.get("type", "")).endswith("tool_use"))
    return Entry(
        Kind.REPLY,
        message=identifier(message.get("id")),
        model=model if isinstance(model, str) and is_model(model) else None,
        stop=stop if isinstance(stop, str) else None,
        usage=_usage(message.get("usage")),
        has_text=bool(texts),
        text=said,
        report=report(said) if said else None,
        asks=bool(said) and asks(said),
        tags=_tags(record.get("attributionSkill"), record.get("attributionPlugin")),
        calls=tuple(
            Call(identifier(block.get("id")), name, values if isinstance(values := block.get("input"), dict) else {})
            for block in calls
            if isinstance(name := block.get("name"), str)
        ),
    )


def _tags(skill: object, plugin: object) -> tuple[str, ...]:
    if not isinstance(skill, str) or not skill:
        return ()
    return (skill, f"{plugin}:{skill}") if isinstance(plugin, str) and plugin else (skill,)


def _usage(usage: object) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    counts = [0 if usage.get(name) is None else usage[name] for name in names]
    if any(type(count) is not int or not 0 <= count <= _LARGEST for count in counts):
        return None
    return Usage(counts[0] + counts[1], counts[2], counts[3])


def _user(record: Mapping[str, Any], message: Mapping[str, Any]) -> Entry:
    results = tuple(_results(message))
    if results:
        details = record.get("toolUseResult")
        return Entry(Kind.RESULTS, results=results, details=details if isinstance(details, dict) else None)
    texts = tuple(_texts(message))
    head = texts[0][:_HEAD] if texts else ""
    if head.startswith(_INTERRUPTED):
        return _said(Entry(Kind.INTERRUPTION, has_text=len(texts) > 1), "\n".join(texts[1:]))
    if record.get("isCompactSummary") is True or record.get("isVisibleInTranscriptOnly") is True:
        return Entry(Kind.OTHER)
    if record.get("isMeta") is True:
        return Entry(Kind.BODY if head.startswith(_BODY) else Kind.NOTE)
    if not _is_human(record.get("origin")) or record.get("promptSource") == "system":
        return Entry(Kind.OTHER)
    command = _COMMAND.match(head)
    if command is not None:
        return Entry(Kind.COMMAND, name=command[1])
    if head.startswith(_PRINTED):
        return Entry(Kind.PRINTED)
    if head.startswith(_NOT_SAID) or not (any(texts) or any(one.get("type") == "image" for one in _blocks(message))):
        return Entry(Kind.OTHER)
    return _said(Entry(Kind.PROMPT, prompt=hash("".join(texts))), "\n".join(texts))


def _attached(attached: Mapping[str, Any]) -> Entry:
    kind, name = attached.get("type"), attached.get("filename")
    if kind == "edited_text_file" and isinstance(name, str):
        return Entry(Kind.TOUCHED, name=name)
    if kind == "queued_command" and attached.get("commandMode") == "prompt" and _is_human(attached.get("origin")):
        text = attached.get("prompt")
        return _said(Entry(Kind.QUEUED), text if isinstance(text, str) else "")
    return Entry(Kind.OTHER)


def _said(entry: Entry, text: str) -> Entry:
    """Return a user's entry with what its text says."""
    return entry._replace(
        text=text, reaction=reaction(text), is_brief=is_brief(text), asks_to_commit=asks_to_commit(text)
    )


def _is_human(origin: object) -> bool:
    """Whether a user wrote it; older versions record no origin."""
    return not isinstance(origin, dict) or origin.get("kind") == "human"


def _results(message: Mapping[str, Any]) -> Iterator[Result]:
    for block in _blocks(message):
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
    for block in _blocks(message):
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            yield block["text"]


def _blocks(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    content = message.get("content")
    if isinstance(content, list):
        yield from (block for block in content if isinstance(block, dict))


def _time(text: object) -> datetime | None:
    if not isinstance(text, str) or len(text) > _TIME_CHARACTERS:
        return None
    try:
        at = datetime.fromisoformat(text)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


# File changes by calls

_WRITERS = {"Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path"}
"""Tools that write files, with the field that names the file. Changes by shell commands are not seen."""
_CODE_SUFFIXES = frozenset(
    f".{name}"
    for name in """
    asm bash bat c cc cjs clj cljs cpp cs css cu cxx dart erl ex exs f90 fish fs go gradle
    groovy h hcl hh hpp hs html ipynb java jl js jsx kt kts less lua m mjs ml mm mts nim nix
    php pl pm proto ps1 py pyi r rb rs sass scala scss sh sol sql svelte swift tf ts tsx v vb
    vue zig zsh
    """.split()  # noqa: SIM905 - it reads better than as many quotation marks
)


class Change(NamedTuple):
    """The change of a file by one call.

    Attributes:
        path: a digest.
        written: number of lines.
        added, removed: digests of whole lines; None if only the call's input is known, which has parts of lines.
    """

    path: int
    code: bool
    written: int
    added: tuple[int, ...] | None = None
    removed: tuple[int, ...] | None = None


def requested_change(name: str, values: Mapping[str, Any]) -> Change | None:
    """Return the change that a call requests, from its input; None if it writes no file."""
    path = values.get(_WRITERS.get(name, ""))
    if not isinstance(path, str):
        return None
    edits = values.get("edits") if name == "MultiEdit" else [values]
    count = sum(map(_count, edits)) if isinstance(edits, list) else 0
    is_code = PurePosixPath(path.replace("\\", "/")[-300:]).suffix.lower() in _CODE_SUFFIXES
    return Change(hash(path), is_code, count)


def written_change(change: Change, details: Mapping[str, Any] | None) -> Change:
    """Return the actual change of a call, if Claude Code's record of the result has whole lines."""
    details = details or {}
    hunks, content = details.get("structuredPatch"), details.get("content")
    if isinstance(hunks, list) and hunks:
        lines = [line for hunk in hunks if isinstance(hunk, dict) for line in _strings(hunk.get("lines"))]
        added = _digests(change.path, (line[1:] for line in lines if line.startswith("+")))
        removed = _digests(change.path, (line[1:] for line in lines if line.startswith("-")))
        return change._replace(written=len(added), added=added, removed=removed)
    if details.get("type") == "create" and isinstance(content, str):
        added = _digests(change.path, _lines_of(content))
        return change._replace(written=len(added), added=added, removed=())
    return change


def _lines_of(text: object) -> list[str]:
    return text.removesuffix("\n").split("\n") if isinstance(text, str) and text else []


def _count(edit: object) -> int:
    """Count the lines that an edit adds or changes; all lines are new if a whole file is written."""
    if not isinstance(edit, dict):
        return 0
    new = edit.get("content", edit.get("new_string", edit.get("new_source")))
    return (Counter(_lines_of(new)) - Counter(_lines_of(edit.get("old_string")))).total()


def _digests(path: int, lines: Iterable[str]) -> tuple[int, ...]:
    return tuple(hash((path, line)) for line in lines)


def _strings(lines: object) -> list[str]:
    return [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []


# What calls of a shell do to a repository

_SHELLS = ("Bash", "PowerShell")
_COMMITS = re.compile(r"\bgit commit\b|\bgit merge\b|\bgh pr merge\b")
_REVERTS = re.compile(r"\bgit revert\b|\bgit reset --hard\b|\bgit (?:checkout|restore) (?:-- )?\.(?:\s|$)")


class Effect(Enum):
    """What a command does to earlier work."""

    COMMITS = "commits"
    REVERTS = "reverts"


def effect_of(call: Call) -> Effect | None:
    """Return what a call does to earlier work, by its command."""
    command = call.values.get("command")
    if call.name not in _SHELLS or not isinstance(command, str):
        return None
    if _REVERTS.search(command[:_HEAD]):
        return Effect.REVERTS
    return Effect.COMMITS if _COMMITS.search(command[:_HEAD]) else None
