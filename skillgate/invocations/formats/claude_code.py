"""Read the uses of skills in Claude Code's transcripts, ``~/.claude/projects/*/*.jsonl``.

A use begins with a call of the ``Skill`` tool or a slash command that loads a skill, and ends with the last reply
before the next prompt or skill. Only names of skills and models, ids, times and counts are stored, never a text. A
session is read to its end before any use is yielded, since later prompts and changes count too. Read again after it has
grown, it yields the same ids with other figures.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from skillgate.invocations.formats._transcript import (
    Call,
    Change,
    Entry,
    Kind,
    Result,
    Run,
    Usage,
    entry_of,
    identifier,
    requested_change,
    written_change,
)
from skillgate.model.invocation import Read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from skillgate.invocations.formats import Lines, Options

POSITION = 2
EXPECTED = "a Claude Code transcript"
GROWS = True
MOST_WAITING = 10_000
"""Maximum runs of one file that are followed at once; beyond, the first are yielded as they are."""
_MOST_READS = 10 * MOST_WAITING  # with rejected lines that wait for their turn
_NO_ENTRY = "no line is from a Claude Code transcript"
_OF_AGENT = "transcript of a sub-agent, skipped: it is read together with its session's transcript"


def is_it(head: bytes) -> bool:
    """Whether a file is a transcript, by its first 64 KiB."""
    whole, _, part = head.rpartition(b"\n")
    found = [_is_entry(line) for line in whole.split(b"\n") if line.strip()]
    return any(found) if found else all(name in part for name in (b'"sessionId":', b'"type":', b'"timestamp":'))


def read(lines: Lines, options: Options) -> Iterator[Read]:
    """Read a transcript and those of its sub-agents.

    Yields:
        The uses of skills and the unreadable lines, by line; a use within a sub-agent at the line of the call that
        started it.
    """
    session, waiting = _Session(options), deque[Run | Read]()
    runs, known = 0, False
    for number, line in lines:
        if not line.strip():
            continue
        try:
            session.follow(number, entry_of(line))
            known = known or session.has_main or session.has_agents or _is_entry(line)
        except ValueError as error:
            known = True
            waiting.append(Read(number, None, str(error)))
        runs += len(session.begun)
        waiting.extend(session.begun)
        session.begun.clear()
        while runs > MOST_WAITING or len(waiting) > _MOST_READS:
            first = waiting.popleft()
            runs -= isinstance(first, Run)
            yield from _read_of(first, session, options, is_whole=False)
    session.end()
    for first in waiting:
        yield from _read_of(first, session, options, is_whole=True)
    if session.has_agents and not session.has_main:
        yield Read(1, None, warnings=(_OF_AGENT,))
    if not known:
        yield Read(1, None, unused=_NO_ENTRY)


def _read_of(first: Run | Read, session: _Session, options: Options, *, is_whole: bool) -> Iterator[Read]:
    if isinstance(first, Read):
        yield first
    elif session.has_main:
        if not is_whole:
            first.cut()
        elif not first.closed:
            first.close(prompts=session.prompts)
        yield first.read(options, until=session.until, prompts=session.prompts)


def _is_entry(line: bytes) -> bool:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if not isinstance(record, dict) or not isinstance(record.get("type"), str):
        return False
    by_type = {"summary": "leafUuid", "file-history-snapshot": "messageId"}
    return by_type.get(record["type"], "sessionId") in record


# Levels of a session, pending calls, and bounded memory

_MOST_RECENT = 20_000  # ids of each kind: parts of a reply, and results of calls, are close together
_MOST_AT_WORK = 256  # sub-agents at once; older ones are forgotten and count for no run

T = TypeVar("T")


class _Recent(Generic[T]):
    """The most recent items, by key."""

    def __init__(self, most: int = _MOST_RECENT) -> None:
        self._items: dict[object, T] = {}
        self._most = most

    def get(self, key: object) -> T | None:
        return self._items.get(key)

    def put(self, key: object, item: T) -> None:
        """Add an item; drop the oldest if there are too many."""
        self._items.pop(key, None)
        self._items[key] = item
        if len(self._items) > self._most:
            del self._items[next(iter(self._items))]

    def take(self, key: object) -> T | None:
        return self._items.pop(key, None)

    def latest(self) -> Iterator[T]:
        return reversed(self._items.values())

    def first_time(self, key: object, item: T) -> bool:
        """Add an item unless its key is known; return whether it was added."""
        if key in self._items:
            return False
        self.put(key, item)
        return True


class _Level:
    """One conversation: with the user, or of a sub-agent."""

    def __init__(self, outer: tuple[Run, ...] = (), depth: int = 0) -> None:
        self.outer = outer  # the runs within which it was started, innermost first
        self.depth = depth  # 0 for the user's
        self.run: Run | None = None  # the current run
        self.command: tuple[int, Entry] | None = None  # a user's command of unknown effect, with its line

    @property
    def runs(self) -> tuple[Run, ...]:
        """All runs for which events here count, innermost first."""
        return self.outer if self.run is None else (self.run, *self.outer)


@dataclass(slots=True, kw_only=True)
class _Pending:
    """A call without a result so far."""

    depth: int  # of its level
    runs: tuple[Run, ...]  # for which it counts
    own: Run | None = None  # the run on its own level
    loaded: Run | None = None  # the run that it begins, as the call of a skill
    before: Run | None = None  # the run that follow-ups counted for until then
    over: Run | None = None  # the run on its level that it ended
    change: Change | None = None  # the requested change of a file
    prompt: int | None = None  # digest of a sub-agent's prompt; None for other calls
    sessions: tuple[str, ...] = ()  # where the sub-agent's transcript may be
    is_followed: bool = False  # whether entries of the sub-agent are in the file itself


@dataclass(slots=True)
class _Counted:
    """The known tokens of a reply, and the runs for which they count."""

    usage: Usage
    runs: tuple[Run, ...]


MOST_LINES = 100_000
"""Maximum tracked lines of a session, about 30 MB; a run that wrote more has no edit ratio."""
MOST_PATHS = 20_000
"""Maximum tracked files of a session; a run that wrote to more has no edit ratio."""
_MOST_RUNS = 10_000  # of one file; earlier ones were yielded


class _Ledger:
    """Which runs wrote the lines in a session's files, as far as tools wrote them."""

    def __init__(self) -> None:
        self._writers: dict[int, list[tuple[Run, ...]]] = {}
        self._of_path: dict[int, dict[Run, None]] = {}
        self._room = MOST_LINES

    def enter(self, change: Change, by: tuple[Run, ...]) -> None:
        """Enter a change by some runs, innermost first, or by none."""
        if change.removed is None:
            self.touch(change.path)
        for line in change.removed or ():
            self._remove(line, by)
        for run in by:
            run.write(change)
            if change.added is None:
                run.edits_known = False
            self._know(change.path, run)
        if by and change.added:
            self._add(change.added, by)

    def touch(self, path: int) -> None:
        """Enter a change of a file with unknown lines."""
        for run in self._of_path.pop(path, ()):
            run.edits_known = False

    def _know(self, path: int, run: Run) -> None:
        if path not in self._of_path and len(self._of_path) >= MOST_PATHS:
            run.edits_known = False
            return
        runs = self._of_path.setdefault(path, {})
        runs[run] = None
        if len(runs) > _MOST_RUNS:
            del runs[next(iter(runs))]

    def _add(self, lines: tuple[int, ...], by: tuple[Run, ...]) -> None:
        if len(lines) > self._room:
            for run in by:
                run.edits_known = False
            return
        self._room -= len(lines)
        for line in lines:
            self._writers.setdefault(line, []).append(by)

    def _remove(self, line: int, by: tuple[Run, ...]) -> None:
        """Count a line as changed for the runs that last wrote an equal one."""
        writers = self._writers.get(line)
        if not writers:
            return
        for run in writers.pop():
            if run.closed and run not in by:
                run.changed += 1
        self._room += 1
        if not writers:
            del self._writers[line]


# A session

_AGENTS = ("Task", "Agent")  # earlier and current name of the tool
_FLOW = "Workflow"
_MOST_AGENTS = 10_000  # maximum sub-agents of a session whose transcripts are read
_DEEPEST = 8  # maximum nesting of sub-agents whose transcripts are read
_UNREAD = "a sub-agent's transcript is missing or nested too deep; tokens and calls of its run are unknown"
_OF_FLOW = "agents of a workflow are not read; tokens and calls of its run are unknown"
_BROKEN = "a sub-agent's transcript has invalid JSON; tokens and calls of its run are unknown"
_DENIED = "a call of a skill was denied; not counted as a use"
_NOT_LOADED = "a called skill does not exist or was not permitted; not counted as a use"
_UNCOUNTED = "a reply has no token counts; the tokens of its run are unknown"
_UNTIMED = "the call of a skill has no time; the last time before it is used"


class _Session:
    """Assigns the entries of a session to runs, on the user's level and in every sub-agent.

    A run lasts until the next prompt or skill on its level. A sub-agent's actions also count for the run within which
    it was started; a skill used by a sub-agent is an additional run.

    Attributes:
        begun: runs in the order of their beginning; the reader removes them.
        has_main, has_agents: whether the file has entries of the user's level, and of sub-agents.
        until: the latest time so far.
        prompts: number of the user's prompts so far.
    """

    def __init__(self, options: Options) -> None:
        self.begun: list[Run] = []
        self.has_main = self.has_agents = False
        self.until: datetime | None = None
        self.prompts = 0
        self._file_lines = options.sibling
        self._main = _Level()
        self._latest: Run | None = None
        self._ledger = _Ledger()
        self._entries: _Recent[None] = _Recent()
        self._calls: _Recent[None] = _Recent()
        self._replies: _Recent[_Counted] = _Recent()
        self._pending: _Recent[_Pending] = _Recent()
        self._agents: _Recent[_Pending] = _Recent(_MOST_AT_WORK)
        self._threads: _Recent[_Level] = _Recent()
        self._read: set[str] = set()

    def follow(self, line: int, entry: Entry) -> None:
        """Follow the next entry of the file."""
        if entry.kind is not Kind.OTHER:
            self.has_main = self.has_main or not entry.sidechain
            self.has_agents = self.has_agents or entry.sidechain
        level = self._thread(entry) if entry.sidechain and entry.kind is not Kind.OTHER else self._main
        self._enter(level, line, entry)

    def end(self) -> None:
        """Finish after the last entry."""
        if self._main.command is not None:
            self._prompt(self._main)
        for pending in self._agents.latest():
            if not pending.is_followed:
                _lose(pending.runs, _UNREAD)

    def _enter(self, level: _Level, line: int, entry: Entry) -> None:
        if entry.at is not None and (self.until is None or entry.at > self.until):
            self.until = entry.at
        if entry.kind is Kind.OTHER or (entry.uuid and not self._entries.first_time(entry.uuid, None)):
            return  # a resumed session may hold copies of its own entries
        if level.command is not None:
            self._resolve(level, level.command, entry)
        if entry.kind is Kind.REPLY:
            self._reply(level, line, entry)
        elif entry.kind is Kind.PROMPT:
            self._prompt(level)
        elif entry.kind is Kind.QUEUED:
            self._ask_more(level)
        elif entry.kind is Kind.COMMAND:
            level.command = (line, entry)
        elif entry.kind is Kind.TOUCHED:
            self._ledger.touch(hash(entry.name))
        elif entry.kind is Kind.INTERRUPTION:
            self._interrupt(level, entry)
        for result in entry.results:
            self._result(level, line, entry, result)

    def _interrupt(self, level: _Level, entry: Entry) -> None:
        self._close(level, interrupted=True)
        if entry.has_text:
            self._prompt(level)

    def _resolve(self, level: _Level, command: tuple[int, Entry], entry: Entry) -> None:
        """Decide by the next entry whether a command loaded a skill, prompted the model, or neither."""
        line, before = command
        follows = entry.kind in (Kind.BODY, Kind.NOTE) and bool(before.uuid) and entry.parent == before.uuid
        if follows and entry.kind is Kind.BODY:
            level.command = None
            self._close(level)
            self._begin(level, line, before.name.strip(), f"{before.uuid}:command", before)
        elif entry.kind is Kind.PRINTED:
            level.command = None
        elif follows or entry.kind in (Kind.REPLY, Kind.PROMPT, Kind.COMMAND, Kind.INTERRUPTION):
            self._prompt(level)

    def _prompt(self, level: _Level) -> None:
        level.command = None
        self._close(level)
        self._ask_more(level)

    def _ask_more(self, level: _Level) -> None:
        if level is self._main:
            self.prompts += 1
            if self._latest is not None and self._latest.follow_ups is not None:
                self._latest.follow_ups += 1

    def _close(self, level: _Level, *, interrupted: bool = False, by_skill: bool = False) -> None:
        if level.run is not None:
            level.run.close(prompts=self.prompts, interrupted=interrupted, by_skill=by_skill)
            level.run = None

    def _begin(self, level: _Level, line: int, name: object, identity: str, entry: Entry) -> Run:
        run = Run(line, name, identity, entry, entry.at or self.until)
        if entry.at is None:
            run.miss(_UNTIMED)
        if level is self._main:
            self._latest = run
        else:
            run.follow_ups = None
        level.run = run
        self.begun.append(run)
        return run

    def _reply(self, level: _Level, line: int, entry: Entry) -> None:
        if not entry.failed:
            self._count(level, entry)
        if level.run is not None:
            level.run.reply(entry)
        for call in entry.calls:
            if not self._calls.first_time((entry.message or entry.uuid, call.id or object()), None):
                continue
            pending = self._skill(level, line, entry, call) if call.name == "Skill" else self._call(level, entry, call)
            self._pending.put((level, call.id), pending)

    def _count(self, level: _Level, entry: Entry) -> None:
        """Count the tokens of a reply once, even if it has several entries: the largest counts."""
        key, usage = entry.message or entry.uuid or object(), entry.usage
        known = self._replies.get(key)
        if known is None:
            known = _Counted(Usage(0, 0, 0), level.runs)
            self._replies.put(key, known)
            if usage is None:
                for run in known.runs:
                    run.miss(_UNCOUNTED)
                    run.tokens_known = False
        if usage is not None and sum(usage) > sum(known.usage):
            more = Usage(*(new - old for new, old in zip(usage, known.usage, strict=True)))
            known.usage = usage
            for run in known.runs:
                run.use(more)

    def _skill(self, level: _Level, line: int, entry: Entry, call: Call) -> _Pending:
        for run in level.outer:
            run.call(call.name)
        over = level.run
        self._close(level, by_skill=True)
        name = call.values.get("skill", call.values.get("command"))
        whose = entry.uuid or (entry.sessions[0] if entry.sessions else "")
        identity = f"{whose}:{call.id}" if whose and call.id else ""
        plain = name.strip().removeprefix("/") if isinstance(name, str) else name
        before = self._latest
        run = self._begin(level, line, plain, identity, entry)
        return _Pending(
            depth=level.depth, runs=level.runs, loaded=run, before=before, over=over, sessions=entry.sessions
        )

    def _call(self, level: _Level, entry: Entry, call: Call) -> _Pending:
        for run in level.runs:
            run.call(call.name)
        if call.name == _FLOW:
            _lose(level.runs, _OF_FLOW)
        change = requested_change(call.name, call.values)
        pending = _Pending(depth=level.depth, runs=level.runs, own=level.run, change=change)
        if call.name in _AGENTS:
            pending.prompt, pending.sessions = hash(call.values.get("prompt")), entry.sessions
            self._agents.put((level, call.id), pending)
        return pending

    def _result(self, level: _Level, line: int, entry: Entry, result: Result) -> None:
        pending = self._pending.take((level, result.id))
        self._agents.take((level, result.id))
        if pending is None:
            return
        if result.failed:
            self._failed(level, pending, result)
            return
        if pending.change is not None:
            self._ledger.enter(written_change(pending.change, entry.details), pending.runs)
        self._agent(pending, line, entry.details or {})

    def _failed(self, level: _Level, pending: _Pending, result: Result) -> None:
        if pending.own is not None and not result.denied:
            pending.own.fail()
        run = pending.loaded
        if run is None:
            return
        if result.unloaded:
            run.discard(_DENIED if result.denied else _NOT_LOADED, latest=pending.before, over=pending.over)
            while self._latest is not None and self._latest.discarded:
                self._latest = self._latest.latest
            while level.run is not None and level.run.discarded:
                level.run = level.run.over
            if level.run is not None and level.run.closed:
                level.run.reopen()
        elif run is level.run:
            level.run = None
            run.reject(self.prompts)

    def _agent(self, pending: _Pending, line: int, details: Mapping[str, Any]) -> None:
        """Read a sub-agent's transcript, unless its entries are in the file; a skill may have its own agent, too."""
        agent = identifier(details.get("agentId"))
        is_here = pending.is_followed or (agent and (agent in self._read or self._threads.get(agent) is not None))
        if is_here or not (agent or pending.prompt is not None):
            return
        lines = self._lines(agent, (*pending.sessions,)) if agent and pending.depth < _DEEPEST else None
        if lines is None or len(self._read) >= _MOST_AGENTS:
            _lose(pending.runs, _UNREAD)
            return
        self._read.add(agent)
        level = _Level(pending.runs, pending.depth + 1)
        for _, raw in lines:
            try:
                entry = entry_of(raw) if raw.strip() else None
            except ValueError:
                _lose(pending.runs, _BROKEN)
            else:
                if entry is not None:
                    self._enter(level, line, entry)
        self._close(level)

    def _lines(self, agent: str, sessions: tuple[str, ...]) -> Lines | None:
        """Return a sub-agent's transcript from the places that versions of Claude Code have used."""
        for path in (*(f"{session}/subagents/agent-{agent}.jsonl" for session in sessions), f"agent-{agent}.jsonl"):
            lines = self._file_lines(path)
            if lines is not None:
                return lines
        return None

    def _thread(self, entry: Entry) -> _Level:
        """Return the level of a sub-agent's entry within the file; older versions have no agent id."""
        level = self._threads.get(entry.agent or entry.parent)
        if level is None:
            pending = self._opener(entry)
            level = _Level() if pending is None else _Level(pending.runs, pending.depth + 1)
        self._threads.put(entry.agent or entry.uuid, level)
        return level

    def _opener(self, entry: Entry) -> _Pending | None:
        """Return the call that started a sub-agent: by its prompt, else the last one."""
        waiting = [pending for pending in self._agents.latest() if not pending.is_followed]
        same = [pending for pending in waiting if entry.kind is Kind.PROMPT and pending.prompt == entry.prompt]
        found = next(iter(same or waiting), None)
        if found is not None:
            found.is_followed = True
        return found


def _lose(runs: tuple[Run, ...], why: str) -> None:
    for run in runs:
        run.miss(why)
        run.tokens_known = run.calls_known = False
