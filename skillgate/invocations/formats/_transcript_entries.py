"""Lines of a Claude Code transcript as entries: what each says of a run, without what was said in it.

The format is nobody's published one; what is relied on was seen in sessions of versions 1 and 2, and everything else is
passed over. Source: the transcripts that Claude Code 2.1.330 writes, which a test has it write anew.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.invocations.formats._names import is_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LARGEST = 10**12  # tokens of one message: none has had a millionth part of them
_LATEST_FORM = 40  # characters of a time
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,95}\Z")
_COMMAND = re.compile(r"\s*(?:<command-message>[^<]*</command-message>\s*)?<command-name>/([^<]*)</command-name>")
_HEAD = 2_000  # characters of a text that are looked at
# What Claude Code itself answers where the user, or the session's permissions, denied a call. What a program prints
# stands behind its exit code and so never begins like this.
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
    """What an entry is, as far as runs of skills go."""

    PROMPT = "prompt"  # a user's own
    QUEUED = "queued"  # likewise, handed over while the run goes on
    COMMAND = "command"  # a user's slash command, of whatever sort
    PRINTED = "printed"  # what a command printed that no model saw
    BODY = "body"  # the text of a skill, as it is loaded
    NOTE = "note"  # another text that was put in for the user
    RESULTS = "results"
    REPLY = "reply"
    INTERRUPTION = "interruption"
    TOUCHED = "touched"  # a file was changed by somebody else
    OTHER = "other"


class Usage(NamedTuple):
    """Tokens of one message; ``fresh`` are those of its input that did not come out of the cache."""

    fresh: int
    cached: int
    output: int


class Call(NamedTuple):
    """A call for a tool."""

    id: str
    name: str
    given: Mapping[str, Any]


class Result(NamedTuple):
    """What came of a call.

    Attributes:
        denied: the user or the session's permissions did not let it run.
        unloaded: likewise of the call of a skill, or there is no skill of that name.
    """

    id: str
    failed: bool
    denied: bool = False
    unloaded: bool = False


class Entry(NamedTuple):
    """One entry.

    Attributes:
        uuid, parent, message: its own id, that of the one before it, and of the reply that it is a part of; ``""``
            where there is none that can be one.
        sessions: the session of the file, and before it the one that it was copied from.
        at: when it was written; None where that is not told.
        sidechain: whether a sub-agent's, of this id where it is told.
        model: None where it is no model's name.
        stop: why the reply ended.
        usage: of the reply; None where it is not told, or cannot be true.
        failed: whether it stands in place of a reply that did not come.
        said: whether it holds a text.
        details: what Claude Code itself keeps of a result.
        name: of a command; of a file that was touched its path.
        unattended: whether a program asked, and maybe nobody reads.
    """

    kind: Kind
    uuid: str = ""
    parent: str = ""
    message: str = ""
    sessions: tuple[str, ...] = ()
    at: datetime | None = None
    sidechain: bool = False
    agent: str = ""
    model: str | None = None
    stop: str | None = None
    usage: Usage | None = None
    failed: bool = False
    said: bool = False
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()
    details: Mapping[str, Any] | None = None
    name: str = ""
    prompt: int = 0
    unattended: bool = False


def entry_of(line: bytes) -> Entry:
    """Read a line.

    Raises:
        ValueError: it is no JSON object, in words that quote nothing of it.
    """
    try:
        record = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON, or was cut off") from None
    if not isinstance(record, dict):
        raise ValueError("it is JSON, but no object")  # noqa: TRY004 - the type of what was read, not of what was given
    found = _found(record)
    if found.kind is Kind.OTHER:
        return found._replace(at=_time(record.get("timestamp")), sidechain=record.get("isSidechain") is True)
    copied = record.get("requestSessionId")
    return found._replace(
        uuid=identifier(record.get("uuid")),
        parent=identifier(record.get("parentUuid")),
        sessions=tuple(filter(None, (identifier(copied), identifier(record.get("sessionId"))))),
        at=_time(record.get("timestamp")),
        sidechain=record.get("isSidechain") is True,
        agent=identifier(record.get("agentId")),
        unattended=str(record.get("entrypoint", "")).startswith("sdk"),
    )


def identifier(value: object) -> str:
    """Give an id that is plain enough to be one, else ``""``."""
    return value if isinstance(value, str) and _ID.match(value) else ""


def _found(record: Mapping[str, Any]) -> Entry:
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
    calls = (block for block in _blocks(message) if str(block.get("type", "")).endswith("tool_use"))
    return Entry(
        Kind.REPLY,
        message=identifier(message.get("id")),
        model=model if isinstance(model, str) and is_model(model) else None,
        stop=stop if isinstance(stop, str) else None,
        usage=_usage(message.get("usage")),
        said=any(block.get("type") == "text" for block in _blocks(message)),
        calls=tuple(found for block in calls if (found := _call(block)) is not None),
    )


def _call(block: Mapping[str, Any]) -> Call | None:
    name, given = block.get("name"), block.get("input")
    if not isinstance(name, str):
        return None
    return Call(identifier(block.get("id")), name, given if isinstance(given, dict) else {})


def _usage(given: object) -> Usage | None:
    if not isinstance(given, dict):
        return None
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    counts = [0 if given.get(name) is None else given[name] for name in names]
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
        return Entry(Kind.INTERRUPTION, said=len(texts) > 1)
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
    said = not head.startswith(_NOT_SAID) and (
        any(texts) or any(one.get("type") == "image" for one in _blocks(message))
    )
    return Entry(Kind.PROMPT, prompt=hash("".join(texts))) if said else Entry(Kind.OTHER)


def _attached(attached: Mapping[str, Any]) -> Entry:
    kind, name = attached.get("type"), attached.get("filename")
    if kind == "edited_text_file" and isinstance(name, str):
        return Entry(Kind.TOUCHED, name=name)
    if kind == "queued_command" and attached.get("commandMode") == "prompt" and _is_human(attached.get("origin")):
        return Entry(Kind.QUEUED)
    return Entry(Kind.OTHER)


def _is_human(origin: object) -> bool:
    """Say whether a user wrote it; older versions tell of no origin."""
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


def _time(given: object) -> datetime | None:
    if not isinstance(given, str) or len(given) > _LATEST_FORM:
        return None
    try:
        at = datetime.fromisoformat(given)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
