"""The common form of a session: what readers of all clients turn their messages into.

No text is held beyond its entry unless it is asked for: only counts, times, digests of lines, and what a text says by a
table of phrases.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any, NamedTuple

from skillgate.invocations.formats._changes import Change, Effect
from skillgate.invocations.formats._input import is_label, is_model
from skillgate.invocations.formats._phrases import Reaction, asks, asks_to_commit, is_brief, reaction, report
from skillgate.model.invocation import Caller, Evidence

_LARGEST = 10**12  # maximum tokens of one message, far beyond any real one
_DEAREST = 10**6  # maximum US dollars of one message or session, far beyond any real one
_TIME_CHARACTERS = 40
_LAST_MS = 253_402_300_799_000  # milliseconds since 1970 at the end of the calendar
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,95}\Z")
_PATH = 1_000  # characters of a path that are examined
# Where clients unpack plugins: PLUGIN and VERSION are folders of the path.
_PLUGIN = re.compile(r"/plugins/cache/[^/]+/([^/]+)/([^/]+)/skills?/")


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
    USAGE = "usage"  # the tokens of a reply
    INTERRUPTION = "interruption"
    TOUCHED = "touched"  # a file was changed outside the session's tools
    TOTAL = "total"  # the client's own sums for the session
    OTHER = "other"  # of no interest
    UNKNOWN = "unknown"  # not from this client


class Does(Enum):
    """What a tool is for, as far as it matters."""

    WORK = "work"
    SKILL = "skill"
    AGENT = "agent"
    FLOW = "flow"  # a script that runs agents
    ASK = "ask"  # the user


class Usage(NamedTuple):
    """Tokens of one message; ``fresh`` input was neither read from the cache nor ``written`` to it."""

    fresh: int = 0
    written: int = 0
    cached: int = 0
    output: int = 0
    for_an_hour: int = 0  # of those written to the cache; the others stay for five minutes


class Call(NamedTuple):
    """A call of a tool."""

    id: str
    name: str
    does: Does = Does.WORK
    skill: object = None  # its name, if the tool loads one
    version: str | None = None  # of that skill
    prompt: int = 0  # digest of a sub-agent's prompt
    changes: tuple[Change, ...] = ()  # the requested changes of files
    effect: Effect | None = None


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
    usd: float | None = None  # what the client says that it cost
    size: int = 0  # characters of the reply, calls included
    failed: bool = False  # whether it replaces a reply that failed
    has_text: bool = False
    text: str = ""  # the last text of a reply, or that of a prompt
    report: Evidence | None = None  # what the text of a reply reports
    asks: bool = False  # whether it ends with a question
    tags: tuple[str, ...] = ()  # names of the skill that the reply is attributed to
    reaction: Reaction | None = None  # what a prompt says of what was before
    is_brief: bool = False  # whether the prompt has a few words only
    asks_to_commit: bool = False
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()
    details: Mapping[str, Any] | None = None  # Claude Code's own record of a result
    name: str = ""  # of a command, or of a loaded skill; the path of a touched file
    version: str | None = None  # of a loaded skill
    caller: Caller | None = None  # who loaded a skill, if no call says so
    prompt: int = 0  # a digest
    duration_ms: float | None = None  # of the session
    unattended: bool = False  # whether a program started the session, perhaps without a user


def prompted(entry: Entry, text: str) -> Entry:
    """Return a user's entry with what its text says."""
    return entry._replace(
        text=text, reaction=reaction(text), is_brief=is_brief(text), asks_to_commit=asks_to_commit(text)
    )


def replied(entry: Entry, text: str) -> Entry:
    """Return a reply with what its last text says."""
    if not text.strip():
        return entry
    return entry._replace(has_text=True, text=text, report=report(text), asks=asks(text))


# Values that a hostile file may hold


def identifier(value: object) -> str:
    """Return a valid id, else ``""``."""
    return value if isinstance(value, str) and _ID.match(value) else ""


def model_name(value: object) -> str | None:
    """Return the name of a model, None for anything else."""
    return value if isinstance(value, str) and is_model(value) else None


def count(value: object) -> int | None:
    """Return a number of tokens; 0 for None, None for anything invalid."""
    if value is None:
        return 0
    return value if type(value) is int and 0 <= value <= _LARGEST else None


def usage_of(fresh: object, written: object, cached: object, output: object) -> Usage | None:
    """Return the tokens of a message, None if any of them is invalid."""
    counts = [count(value) for value in (fresh, written, cached, output)]
    return None if None in counts else Usage(*(number or 0 for number in counts))


def dollars(value: object) -> float | None:
    """Return a price in US dollars, None for anything invalid."""
    is_number = type(value) is float or type(value) is int
    return float(value) if is_number and 0 <= value <= _DEAREST else None  # type: ignore[operator,arg-type]


def milliseconds(value: object) -> float | None:
    """Return a duration, None for anything invalid."""
    is_number = type(value) is float or type(value) is int
    return float(value) if is_number and 0 <= value <= _LAST_MS else None  # type: ignore[operator,arg-type]


def time_of(value: object) -> datetime | None:
    """Return a time from ISO 8601; None for anything else."""
    if not isinstance(value, str) or len(value) > _TIME_CHARACTERS:
        return None
    try:
        at = datetime.fromisoformat(value)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def time_of_ms(value: object) -> datetime | None:
    """Return a time from milliseconds since 1970; None for anything else."""
    since = milliseconds(value)
    return None if since is None else _EPOCH + timedelta(milliseconds=since)


def version_label(value: object) -> str | None:
    """Return a version if it is one plain word that says something."""
    return value if isinstance(value, str) and is_label(value) and value != "unknown" else None


def skill_at(folder: str) -> tuple[str, str | None]:
    """Return the name and the version of a skill from its folder: both from the path where a plugin was unpacked."""
    path = folder[-_PATH:].strip().replace("\\", "/").rstrip("/")
    found = _PLUGIN.search(f"{path}/")
    name = path.rpartition("/")[2]
    return (f"{found[1]}:{name}", version_label(found[2])) if found else (name, None)


def mapping(value: object) -> Mapping[str, Any]:
    """Return an object, and an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Mapping[str, Any]]:
    """Return the objects of a list, and none for anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
