"""Read entries of a Claude Code transcript, the file changes of its calls, and runs of skills.

The format is not published. The code relies on what was seen in sessions of versions 1 and 2, and skips everything
else. Source: transcripts of Claude Code 2.1.330, which a test generates again. No text is stored, only counts, times
and digests of lines.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.invocations.formats._input import REPLACED_WARNING, is_model, skill_name
from skillgate.model.invocation import SEEN_UNTIL, Ending, Invocation, Read

if TYPE_CHECKING:
    from skillgate.invocations.formats import Options

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
    calls = (block for block in _blocks(message) if str(block.get("type", "")).endswith("tool_use"))
    return Entry(
        Kind.REPLY,
        message=identifier(message.get("id")),
        model=model if isinstance(model, str) and is_model(model) else None,
        stop=stop if isinstance(stop, str) else None,
        usage=_usage(message.get("usage")),
        has_text=any(block.get("type") == "text" for block in _blocks(message)),
        calls=tuple(
            Call(identifier(block.get("id")), name, values if isinstance(values := block.get("input"), dict) else {})
            for block in calls
            if isinstance(name := block.get("name"), str)
        ),
    )


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
        return Entry(Kind.INTERRUPTION, has_text=len(texts) > 1)
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
    return Entry(Kind.PROMPT, prompt=hash("".join(texts)))


def _attached(attached: Mapping[str, Any]) -> Entry:
    kind, name = attached.get("type"), attached.get("filename")
    if kind == "edited_text_file" and isinstance(name, str):
        return Entry(Kind.TOUCHED, name=name)
    if kind == "queued_command" and attached.get("commandMode") == "prompt" and _is_human(attached.get("origin")):
        return Entry(Kind.QUEUED)
    return Entry(Kind.OTHER)


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


# Runs of skills

_CACHED = "tokens_cache_read"  # key in ``extra``: cached input tokens, which ``tokens_used`` leaves out
_MOST_FILES = 10_000  # maximum distinct files of a run
_MOST_TOOLS = 1_000  # maximum distinct tools of a run
_ENDED = ("end_turn", "stop_sequence")
_CODE = "code_generation"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Run:
    """A run of a skill, and the invocation it becomes.

    Attributes:
        line: of the call that began it.
        message: id of the reply with that call, which is not part of the run.
        closed: whether it is over.
        discarded: whether the skill was never loaded, which is not its fault.
        tokens_known, calls_known, edits_known: whether all of them were seen.
        follow_ups: number of later prompts; None within a sub-agent, which has no user.
        changed: number of its lines that were changed later.
        latest, over: for a discarded run, the runs that replace it: for follow-ups, and on its level.
    """

    def __init__(self, line: int, name: object, identity: str, entry: Entry, at: datetime | None) -> None:
        self.line, self.message, self._id, self._at, self._last = line, entry.message, identity, at, at
        self._name, self._problem = name if isinstance(name, str) else "", _problem(name, identity, at)
        self._session = entry.sessions[0] if entry.sessions else None
        self._model, self._unattended = entry.model, entry.unattended
        self._usage: list[int] | None = None
        self._tools: set[int] = set()
        self._files: set[int] = set()
        self._calls = self._errors = self._written = self.changed = self._replies = 0
        self._code = self._text_since = False
        self._ending: Ending | None = None
        self._stop: str | None = None
        self._open = False
        self._problems: dict[str, None] = {}
        self.closed = self.discarded = False
        self.tokens_known = self.calls_known = self.edits_known = True
        self.follow_ups: int | None = 0
        self.prompts_before = 0
        self.latest: Run | None = None
        self.over: Run | None = None

    def reply(self, entry: Entry) -> None:
        """Add a reply of the run's own level."""
        if entry.message and entry.message == self.message:
            return
        self._replies += 1
        self._last = entry.at or self._last
        self._model = self._model or entry.model
        if entry.failed:
            self._stop, self._open = "error", True
            self.fail()
            return
        self._stop, self._open = entry.stop, bool(entry.calls)
        self._text_since = self._text_since or entry.has_text

    def call(self, name: str) -> None:
        """Count a call, a sub-agent's included."""
        self._calls += 1
        if len(self._tools) < _MOST_TOOLS:
            self._tools.add(hash(name))

    def fail(self) -> None:
        """Count an error; after the end, the ending becomes unknown."""
        self._errors += 1
        self._text_since = False
        if self.closed:
            self._ending = None

    def use(self, usage: Usage) -> None:
        """Add tokens, or a correction of earlier ones."""
        self._usage = [have + more for have, more in zip(self._usage or (0, 0, 0), usage, strict=True)]

    def write(self, change: Change) -> None:
        """Add a change to a file."""
        self._written += change.written
        self._code = self._code or change.code
        if len(self._files) < _MOST_FILES:
            self._files.add(change.path)

    def miss(self, why: str) -> None:
        """Note that part of it is unknown."""
        self._problems[why] = None

    def reject(self, prompts: int) -> None:
        """End it: its skill was not loaded."""
        self._errors, self._ending = self._errors + 1, Ending.HARD_FAILURE
        self.closed, self.prompts_before = True, prompts

    def discard(self, why: str, *, latest: Run | None, over: Run | None) -> None:
        """Record nothing: the skill was never loaded, which is not its fault.

        ``latest`` is the run that follow-ups counted for before, ``over`` the run that it ended.
        """
        self._problems.clear()
        self.miss(why)
        self.closed = self.discarded = True
        self.latest, self.over = latest, over

    def reopen(self) -> None:
        """Continue the run: a call of another skill ended it, but that skill was never loaded."""
        self.closed, self._ending = False, None

    def cut(self) -> None:
        """Stop following the run."""
        self.miss("too many runs in one transcript; the first ones were not followed to its end")
        self.edits_known, self.follow_ups = False, None

    def close(self, *, prompts: int, interrupted: bool = False, by_skill: bool = False) -> None:
        """End it after ``prompts`` prompts of the session; ``by_skill`` if the next skill was called right away."""
        self.closed, self.prompts_before = True, prompts
        if interrupted or not self._replies:
            return
        at_end = self._stop in _ENDED or (self._stop is None and self._text_since and not self._open)
        over = at_end or (by_skill and self._stop != "error" and (not self._errors or self._text_since))
        if over:
            self._ending = Ending.RECOVERED if self._errors else Ending.COMPLETE
        elif self._stop == "error":
            self._ending = Ending.HARD_FAILURE

    def read(self, options: Options, *, until: datetime | None, prompts: int) -> Read:
        """Return the invocation, given the last time and the number of prompts of the transcript."""
        if self.discarded:
            return Read(self.line, None, warnings=tuple(self._problems))
        if self._problem is None and self._at is not None and self._at > options.now + timedelta(days=1):
            self._problem = "time is more than a day in the future"
        if self._problem is not None or self._at is None:
            return Read(self.line, None, self._problem, tuple(self._problems))
        found = self._invocation(self._at, options, until, later=prompts > self.prompts_before)
        if found.skill_name != self._name:
            self.miss(REPLACED_WARNING)
        return Read(self.line, found, warnings=tuple(self._problems))

    def _invocation(self, at: datetime, options: Options, until: datetime | None, *, later: bool) -> Invocation:
        known, tokens = self._ending is not None, self._usage if self.tokens_known else None
        counted = self.calls_known and self._replies > 0
        edited = min(1.0, self.changed / self._written) if self.edits_known and self._written else None
        extra: dict[str, object] = {_CACHED: tokens[1]} if tokens else {}
        if until is not None:
            extra[SEEN_UNTIL] = int((until - _EPOCH).total_seconds())
        category = _CODE if self._code else options.category
        lasted = (self._last - at) / timedelta(milliseconds=1) if self._last is not None and self._replies else -1
        return Invocation(
            invocation_id=self._id,
            skill_name=skill_name(self._name, keep_text=options.keep_text or self._name in options.names),
            timestamp=at.replace(microsecond=0),
            skill_category=category,
            session_id=self._session,
            model=self._model,
            source="claude-code",
            ending=self._ending,
            error_count=self._errors if known else None,
            recovered=self._ending is Ending.RECOVERED if known and self._errors else None,
            duration_ms=lasted if lasted >= 0 else None,
            tokens_input=tokens[0] if tokens else None,
            tokens_output=tokens[2] if tokens else None,
            tokens_used=tokens[0] + tokens[2] if tokens else None,
            tool_call_kinds=len(self._tools) if counted and len(self._tools) < _MOST_TOOLS else None,
            tool_call_count=self._calls if counted else None,
            output_type="code" if self._code else None,
            output_size=float(self._written) if self._written and category == _CODE else None,
            files_changed=float(len(self._files)) if self._files and len(self._files) < _MOST_FILES else None,
            user_edit_ratio=edited if later else None,
            follow_up_count=None if self._unattended and not self.follow_ups else self.follow_ups,
            extra=extra or None,
        )


def _problem(name: object, identity: str, at: datetime | None) -> str | None:
    """Return why a run cannot be recorded; None if it can."""
    if not isinstance(name, str) or not name.strip():
        return "the call names no skill"
    if not identity:
        return "the call has no valid id"
    return "the call has no time" if at is None else None
