"""Read the uses of skills in Claude Code's transcripts, ``~/.claude/projects/*/*.jsonl``.

A use begins with a call of the ``Skill`` tool or a slash command that loads a skill. It ends with a reply
that has another attribution tag, with the next skill at its level, with its caller's next call after its last text, or
with the turn. A prompt that answers a question of the skill continues the turn. Only names of skills and models, ids,
times, counts and fixed words are stored, never a text. A session is read to its end before any use is yielded, since
later prompts and changes count too. Read again after it has grown, it yields the same ids with other figures.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from skillgate.invocations.formats._phrases import Reaction
from skillgate.invocations.formats._transcript import (
    Call,
    Change,
    Effect,
    Entry,
    Kind,
    Result,
    Usage,
    effect_of,
    entry_of,
    identifier,
    requested_change,
    written_change,
)
from skillgate.invocations.formats._uses import Owners, Place, Run, User
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
    """One conversation: with the user, or of a sub-agent.

    Attributes:
        outer: the runs within which it was started.
        depth: 0 for the user's.
        open: the runs at work; each was called by the one before it.
        has_worked: whether a tool was called in this turn outside of any run.
        command: a user's command of unknown effect, with its line.
    """

    def __init__(self, outer: Owners = (), depth: int = 0) -> None:
        self.outer, self.depth = outer, depth
        self.open: list[Run] = []
        self.has_worked = False
        self.command: tuple[int, Entry] | None = None

    @property
    def run(self) -> Run | None:
        """The innermost run at work."""
        return self.open[-1] if self.open else None

    @property
    def owners(self) -> Owners:
        """All runs for which events here count. What a called skill does lies in the range of its callers."""
        if not self.open:
            return self.outer
        *callers, run = self.open
        above = ((caller, max(caller.place, Place.MOST)) for caller in reversed(callers))
        return ((run, run.place), *above, *self.outer)


@dataclass(slots=True, kw_only=True)
class _Pending:
    """A call without a result so far."""

    depth: int  # of its level
    owners: Owners  # for which it counts
    own: tuple[Run, Place] | None = None  # the run on its own level
    loaded: Run | None = None  # the run that it begins, as the call of a skill
    effect: Effect | None = None
    change: Change | None = None  # the requested change of a file
    prompt: int | None = None  # digest of a sub-agent's prompt; None for other calls
    sessions: tuple[str, ...] = ()  # where the sub-agent's transcript may be
    is_followed: bool = False  # whether entries of the sub-agent are in the file itself


@dataclass(slots=True)
class _Counted:
    """The known tokens of a reply, and the runs for which they count."""

    usage: Usage
    owners: Owners


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
_DEEPEST = 8  # maximum nesting of sub-agents whose transcripts are read, and of skills
_UNREAD = "a sub-agent's transcript is missing or nested too deep; tokens and calls of its run are unknown"
_OF_FLOW = "agents of a workflow are not read; tokens and calls of its run are unknown"
_BROKEN = "a sub-agent's transcript has invalid JSON; tokens and calls of its run are unknown"
_DENIED = "a call of a skill was denied; not counted as a use"
_NOT_LOADED = "a called skill does not exist or was not permitted; not counted as a use"
_UNCOUNTED = "a reply has no token counts; the tokens of its run are unknown"
_UNTIMED = "the call of a skill has no time; the last time before it is used"


class _Session:
    """Assigns the entries of a session to runs, on the user's level and in every sub-agent.

    A sub-agent's actions also count for the run within which it was started; a skill used by a sub-agent is an
    additional run.

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
        self._user = User()
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
            self._prompt(self._main, self._main.command[1])
        for pending in self._agents.latest():
            if not pending.is_followed:
                _lose(pending.owners, _UNREAD)

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
            self._prompt(level, entry)
        elif entry.kind is Kind.QUEUED and level is self._main:
            self.prompts += 1
            self._user.interject(entry, level.open)
        elif entry.kind is Kind.COMMAND:
            level.command = (line, entry)
        elif entry.kind is Kind.TOUCHED:
            self._ledger.touch(hash(entry.name))
        elif entry.kind is Kind.INTERRUPTION:
            self._interrupt(level, entry)
        for result in entry.results:
            self._result(level, line, entry, result)

    def _interrupt(self, level: _Level, entry: Entry) -> None:
        was_open = bool(level.open)
        self._close(level, interrupted=True)
        if level is self._main and was_open:
            self._user.interrupt()
        if entry.has_text:
            self._prompt(level, entry)

    def _resolve(self, level: _Level, command: tuple[int, Entry], entry: Entry) -> None:
        """Decide by the next entry whether a command loaded a skill, prompted the model, or neither."""
        line, before = command
        follows = entry.kind in (Kind.BODY, Kind.NOTE) and bool(before.uuid) and entry.parent == before.uuid
        if follows and entry.kind is Kind.BODY:
            level.command = None
            self._close(level)
            level.has_worked = False
            name = before.name.strip()
            run = Run(line, name, f"{before.uuid}:command", before, self._time(before), has_turn=True, by_command=True)
            self._begin(level, run)
        elif entry.kind is Kind.PRINTED:
            level.command = None
        elif follows or entry.kind in (Kind.REPLY, Kind.PROMPT, Kind.COMMAND, Kind.INTERRUPTION):
            self._prompt(level, before)

    def _prompt(self, level: _Level, entry: Entry) -> None:
        level.command = None
        is_user = level is self._main
        if is_user and _answers(level, entry):
            self.prompts += 1
            for run in level.open:
                run.pause(entry.at)
            return
        self._close(level)
        level.has_worked = False
        if is_user:
            self.prompts += 1
            self._user.say(entry)

    def _close(self, level: _Level, *, interrupted: bool = False) -> None:
        """End all runs of a level with the turn."""
        for run in level.open:
            run.close(prompts=self.prompts, interrupted=interrupted)
        if level is self._main and level.open:
            self._user.attend(level.open)
        level.open.clear()

    def _leave(self, level: _Level) -> None:
        """End the innermost run within the turn."""
        level.open.pop().close(prompts=self.prompts)

    def _begin(self, level: _Level, run: Run) -> None:
        if level is self._main:
            run.about = self._user.begin(run)
        level.open.append(run)
        self.begun.append(run)

    def _time(self, entry: Entry) -> datetime | None:
        return entry.at or self.until

    def _reply(self, level: _Level, line: int, entry: Entry) -> None:
        self._follow_tag(level, entry)
        if not entry.failed:
            self._count(level, entry)
        at_work = len(level.open)
        for run, place in level.owners[:at_work]:
            run.reply(entry, place, is_own=run is level.run)
        for call in entry.calls:
            if not self._calls.first_time((entry.message or entry.uuid, call.id or object()), None):
                continue
            if len(level.open) > 1 and level.open[-1].gave_back:
                self._leave(level)
            pending = self._skill(level, line, entry, call) if call.name == "Skill" else self._call(level, entry, call)
            self._pending.put((level, call.id), pending)

    def _follow_tag(self, level: _Level, entry: Entry) -> None:
        """End the runs that a reply's tag leaves out; one whose tag comes back in its turn continues."""
        place = next((place for place in reversed(range(len(level.open))) if level.open[place].tag(entry.tags)), None)
        if place is not None:
            while len(level.open) > place + 1:
                self._leave(level)
        elif entry.message != getattr(level.run, "message", None):
            for run in level.open:
                run.untag()

    def _count(self, level: _Level, entry: Entry) -> None:
        """Count the tokens of a reply once, even if it has several entries: the largest counts."""
        key, usage = entry.message or entry.uuid or object(), entry.usage
        known = self._replies.get(key)
        if known is None:
            known = _Counted(Usage(0, 0, 0), level.owners)
            self._replies.put(key, known)
            if usage is None:
                for run, place in known.owners:
                    run.lose(_UNCOUNTED, place, only_tokens=True)
        if usage is not None and sum(usage) > sum(known.usage):
            more = Usage(*(new - old for new, old in zip(usage, known.usage, strict=True)))
            known.usage = usage
            for run, place in known.owners:
                run.use(more, place)

    def _skill(self, level: _Level, line: int, entry: Entry, call: Call) -> _Pending:
        """Begin a run: within the current one if that is a caller, else after it."""
        before = level.run
        is_beside = before is not None and bool(entry.message) and before.message == entry.message
        if before is not None and (is_beside or not before.is_caller or len(level.open) >= _DEEPEST):
            self._leave(level)
        else:
            before = None
        name = call.values.get("skill", call.values.get("command"))
        whose = entry.uuid or (entry.sessions[0] if entry.sessions else "")
        identity = f"{whose}:{call.id}" if whose and call.id else ""
        plain = name.strip().removeprefix("/") if isinstance(name, str) else name
        owners = level.owners
        has_turn = bool(level.open) or not (level.has_worked or (before is not None and not is_beside))
        run = Run(line, plain, identity, entry, self._time(entry), has_turn=has_turn)
        if entry.at is None:
            run.miss(_UNTIMED)
        run.over = before
        self._begin(level, run)
        return _Pending(depth=level.depth, owners=owners, loaded=run, sessions=entry.sessions)

    def _call(self, level: _Level, entry: Entry, call: Call) -> _Pending:
        owners, run = level.owners, level.run
        for owner, place in owners:
            owner.call(call.name, place, is_own=owner is run)
        level.has_worked = level.has_worked or run is None
        if call.name == _FLOW:
            _lose(owners, _OF_FLOW)
        change, own = requested_change(call.name, call.values), None if run is None else (run, run.place)
        pending = _Pending(depth=level.depth, owners=owners, own=own, change=change, effect=effect_of(call))
        if call.name in _AGENTS:
            pending.prompt, pending.sessions = hash(call.values.get("prompt")), entry.sessions
            self._agents.put((level, call.id), pending)
        return pending

    def _result(self, level: _Level, line: int, entry: Entry, result: Result) -> None:
        pending = self._pending.take((level, result.id))
        self._agents.take((level, result.id))
        if pending is None:
            return
        if pending.own is not None:
            run, place = pending.own
            run.settle(place, failed=result.failed, denied=result.denied)
        if pending.loaded is not None:
            self._loaded(level, pending, pending.loaded, result)
        if result.failed:
            return
        if pending.change is not None:
            change = written_change(pending.change, entry.details)
            self._ledger.enter(change, tuple(run for run, place in pending.owners if place is Place.LEAST))
        if level is self._main and not level.open:
            self._user.work(pending.change, pending.effect)
        self._agent(pending, line, entry.details or {})

    def _loaded(self, level: _Level, pending: _Pending, run: Run, result: Result) -> None:
        """Take the result of a skill's call: it is a call of its callers, a run, or neither."""
        if result.unloaded:
            run.discard(_DENIED if result.denied else _NOT_LOADED)
            if level is self._main:
                self._user.forget(run)
            if run in level.open:
                level.open.remove(run)
            over = run.over
            while over is not None and over.discarded:
                over = over.over
            if over is not None and over.closed and not level.open:
                over.reopen()
                level.open.append(over)
            return
        for owner, place in pending.owners:
            owner.call("Skill", place, is_own=owner in level.open)
        if result.failed and run is level.run:
            level.open.pop()
            run.reject(self.prompts)
            if level is self._main:
                self._user.attend([run])

    def _agent(self, pending: _Pending, line: int, details: Mapping[str, Any]) -> None:
        """Read a sub-agent's transcript, unless its entries are in the file; a skill may have its own agent, too."""
        agent = identifier(details.get("agentId"))
        is_here = pending.is_followed or (agent and (agent in self._read or self._threads.get(agent) is not None))
        if is_here or not (agent or pending.prompt is not None):
            return
        lines = self._lines(agent, (*pending.sessions,)) if agent and pending.depth < _DEEPEST else None
        if lines is None or len(self._read) >= _MOST_AGENTS:
            _lose(self._within(pending), _UNREAD)
            return
        self._read.add(agent)
        level = _Level(self._within(pending), pending.depth + 1)
        for _, raw in lines:
            try:
                entry = entry_of(raw) if raw.strip() else None
            except ValueError:
                _lose(level.outer, _BROKEN)
            else:
                if entry is not None:
                    self._enter(level, line, entry)
        self._close(level)

    @staticmethod
    def _within(pending: _Pending) -> Owners:
        """Return the runs for which a sub-agent works: a skill may have its own agent."""
        forked = () if pending.loaded is None else ((pending.loaded, Place.LEAST),)
        callers = pending.owners if not forked else tuple((run, max(at, Place.MOST)) for run, at in pending.owners)
        return (*forked, *callers)

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
            level = _Level() if pending is None else _Level(self._within(pending), pending.depth + 1)
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


def _lose(owners: Owners, why: str) -> None:
    for run, place in owners:
        run.lose(why, place)


def _answers(level: _Level, entry: Entry) -> bool:
    """Whether a prompt answers a question with which a skill ended its turn."""
    if level.run is None or not level.run.asks or entry.kind is not Kind.PROMPT:
        return False
    thanks = entry.reaction is Reaction.APPROVES and entry.is_brief
    return not thanks and entry.reaction not in (Reaction.REJECTS, Reaction.UNDOES)
