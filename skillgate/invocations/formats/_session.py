"""Follow a session of any client: which uses of skills are at work, and what counts for them.

A use begins with a call that loads a skill, or with the user's command. It ends with a reply that has another
attribution tag, with the next skill at its level, with its caller's next call after its last text, or with the turn. A
prompt that answers a question of the skill continues the turn. Only names of skills and models, ids, times, counts and
fixed words are stored, never a text. A session is read to its end before any use is yielded, since later prompts and
changes count too. Read again after it has grown, it yields the same ids with other figures.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from skillgate.invocations.formats import NO_USE
from skillgate.invocations.formats._changes import Change, Effect, written_change
from skillgate.invocations.formats._entries import Call, Does, Entry, Kind, Result, identifier
from skillgate.invocations.formats._ledger import Ledger
from skillgate.invocations.formats._phrases import Reaction
from skillgate.invocations.formats._transcript import entry_of, object_of
from skillgate.invocations.formats._uses import Counted, Owners, Place, Run, Seen, Tally, User
from skillgate.model.invocation import Caller, Read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from skillgate.invocations.formats import Lines, Options

MOST_WAITING = 10_000
"""Maximum runs of one file that are followed at once; beyond, the first are yielded as they are."""
_MOST_READS = 10 * MOST_WAITING  # with rejected lines that wait for their turn
_OF_AGENT = "transcript of a sub-agent, skipped: it is read together with its session's transcript"
_FROM_FILE = "messages have no times; the file's modification time less the session's duration is used"


class Client(NamedTuple):
    """What readers say of a client.

    Attributes:
        source: the format's name.
        foreign: message about a file without any message of this client.
        has_tokens: whether it records the tokens of replies.
    """

    source: str
    foreign: str
    has_tokens: bool = True


def reads(client: Client, entries: Iterable[tuple[int, Entry | str]], options: Options) -> Iterator[Read]:
    """Follow the entries of one file, each with its line; a string is the problem of a line.

    Yields:
        The uses of skills and the unreadable lines, by line; a use within a sub-agent at the line of the call that
        started it.
    """
    session, waiting = _Session(client, options), deque[Run | Read]()
    runs, known, found = 0, False, False
    for number, entry in entries:
        if isinstance(entry, str):
            waiting.append(Read(number, None, entry))
        else:
            session.follow(number, entry)
            known = known or entry.kind is not Kind.UNKNOWN
        runs += len(session.begun)
        waiting.extend(session.begun)
        session.begun.clear()
        found = found or bool(waiting)
        while runs > MOST_WAITING or len(waiting) > _MOST_READS:
            first = waiting.popleft()
            runs -= isinstance(first, Run)
            yield from _read_of(first, session, options, is_whole=False)
    session.end()
    for first in waiting:
        yield from _read_of(first, session, options, is_whole=True)
    if not known and not found:
        yield Read(1, None, unused=client.foreign)
    elif session.has_agents and not session.has_main:
        yield Read(1, None, warnings=(_OF_AGENT,))
    elif not found and session.has_main:
        yield Read(1, None, warnings=(NO_USE,))
    elif session.has_no_times and runs:
        yield Read(1, None, warnings=(_FROM_FILE,))


def _read_of(first: Run | Read, session: _Session, options: Options, *, is_whole: bool) -> Iterator[Read]:
    if isinstance(first, Read):
        yield first
    elif session.has_main:
        if not is_whole:
            first.cut()
        elif not first.closed:
            first.close(prompts=session.prompts)
        yield first.read(options, session.seen(options))


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
    changes: tuple[Change, ...] = ()  # the requested changes of files
    prompt: int | None = None  # digest of a sub-agent's prompt; None for other calls
    id: str = ""  # of the call
    at: datetime | None = None
    is_asking: bool = False  # whether its result is the user's answer
    sessions: tuple[str, ...] = ()  # where the sub-agent's transcript may be
    is_followed: bool = False  # whether entries of the sub-agent are in the file itself


# A session

_NAMESPACED = re.compile(r"[\w.-]+(?::[\w.-]+)+")
"""A command of a plugin. Without a namespace it may be one of the client's own, such as ``/init``."""
_MOST_AGENTS = 10_000  # maximum sub-agents of a session whose transcripts are read
_DEEPEST = 8  # maximum nesting of sub-agents whose transcripts are read, and of skills
_UNREAD = "a sub-agent's transcript is missing or nested too deep; tokens and calls of its run are unknown"
_OF_FLOW = "agents of a workflow are not read; tokens and calls of its run are unknown"
_BROKEN = "a sub-agent's transcript has invalid JSON; tokens and calls of its run are unknown"
_DENIED = "a call of a skill was denied; not counted as a use"
_NOT_LOADED = "a called skill does not exist or was not permitted; not counted as a use"
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

    def __init__(self, client: Client, options: Options) -> None:
        self.begun: list[Run] = []
        self.has_main = self.has_agents = False
        self.until: datetime | None = None
        self.prompts = 0
        self._client, self._file_lines = client, options.sibling
        self._has_replied = self._has_one = False
        self._whole: Run | None = None
        self._totals: list[Entry] = []
        self._main = _Level()
        self._user = User()
        self._ledger = Ledger()
        self._entries: _Recent[None] = _Recent()
        self._calls: _Recent[None] = _Recent()
        self._replies: _Recent[Counted] = _Recent()
        self._pending: _Recent[_Pending] = _Recent()
        self._agents: _Recent[_Pending] = _Recent(_MOST_AT_WORK)
        self._threads: _Recent[_Level] = _Recent()
        self._read: set[str] = set()

    def follow(self, line: int, entry: Entry) -> None:
        """Follow the next entry of the file."""
        if entry.kind in (Kind.OTHER, Kind.UNKNOWN):
            self._note_time(entry)
            return
        self.has_main = self.has_main or not entry.sidechain
        self.has_agents = self.has_agents or entry.sidechain
        self._enter(self._thread(entry) if entry.sidechain else self._main, line, entry)

    def end(self) -> None:
        """Finish after the last entry."""
        if self._main.command is not None:
            self._prompt(self._main, self._main.command[1])
        for pending in self._agents.latest():
            if not pending.is_followed:
                _lose(pending.owners, _UNREAD)
        if self._whole is not None and len(self._totals) == 1:
            self._whole.paid, self._whole.lasted = self._totals[0].usd, self._totals[0].duration_ms

    @property
    def has_no_times(self) -> bool:
        """Whether no entry has a time."""
        return self.until is None

    def seen(self, options: Options) -> Seen:
        """Return what was seen of the session so far."""
        until, began = self.until, None
        if until is None and options.modified is not None:
            durations = [total.duration_ms for total in self._totals]
            until = options.modified
            began = until - timedelta(milliseconds=sum(duration or 0 for duration in durations))
        return Seen(self._client.source, self._client.has_tokens, until, self.prompts, began)

    def _enter(self, level: _Level, line: int, entry: Entry) -> None:
        self._note_time(entry)
        is_copy = entry.uuid and not self._entries.first_time(entry.uuid, None)
        if entry.kind in (Kind.OTHER, Kind.UNKNOWN) or is_copy:
            return  # a resumed session may hold copies of its own entries
        if level.command is not None:
            self._resolve(level, level.command, entry)
        self._act(level, line, entry)
        for result in entry.results:
            self._result(level, line, entry, result)

    def _act(self, level: _Level, line: int, entry: Entry) -> None:
        if entry.kind is Kind.REPLY:
            self._reply(level, line, entry)
        elif entry.kind is Kind.USAGE:
            self._count(level, entry)
        elif entry.kind is Kind.PROMPT:
            self._prompt(level, entry)
        elif entry.kind is Kind.QUEUED and level is self._main:
            self.prompts += 1
            self._user.interject(entry, level.open)
        elif entry.kind is Kind.COMMAND:
            level.command = (line, entry)
        elif entry.kind is Kind.BODY:
            self._body(level, line, entry)
        elif entry.kind is Kind.TOTAL:
            self._totals.append(entry)
            if entry.failed:
                self._reply(level, line, entry)
        elif entry.kind is Kind.TOUCHED:
            self._ledger.touch(hash(entry.name))
        elif entry.kind is Kind.INTERRUPTION:
            self._interrupt(level, entry)

    def _note_time(self, entry: Entry) -> None:
        if entry.at is not None and (self.until is None or entry.at > self.until):
            self.until = entry.at

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
        if follows and (entry.kind is Kind.BODY or _NAMESPACED.fullmatch(before.name)):
            self._command(level, line, before, before.name, f"{before.uuid}:command")
        elif entry.kind is Kind.PRINTED:
            level.command = None
        elif follows or entry.kind in (Kind.REPLY, Kind.PROMPT, Kind.COMMAND, Kind.INTERRUPTION):
            self._prompt(level, before)

    def _command(self, level: _Level, line: int, entry: Entry, name: str, identity: str) -> None:
        """Begin the run of a skill that the user calls."""
        level.command = None
        self._close(level)
        level.has_worked = False
        run = Run(line, name, identity, entry, self._time(entry), has_turn=True, called_by=Caller.USER)
        self._begin(level, run)

    def _body(self, level: _Level, line: int, entry: Entry) -> None:
        """Take the text of a loaded skill: of the run that has just begun, or of one that no call shows."""
        run = level.run
        if run is None or not run.is_new or (run.by_command and not run.is_called(entry.name)):
            if entry.caller is None:
                return
            run = self._loaded_run(level, line, entry)
        elif not run.is_called(entry.name):
            return
        elif ":" in entry.name and ":" not in run.name:
            run.name = entry.name  # with its plugin
        run.version = run.version or entry.version

    def _loaded_run(self, level: _Level, line: int, entry: Entry) -> Run:
        """Begin a run by the text of its skill."""
        identity = f"{entry.sessions[0]}:{entry.uuid}" if entry.sessions and entry.uuid else ""
        if entry.caller is Caller.USER:
            self._command(level, line, entry, entry.name, identity)
            return level.open[-1]
        if level.run is not None and not level.run.is_caller:
            self._leave(level)
        at, called_by = self._time(entry), self._caller(level)
        has_turn = bool(level.open) or not level.has_worked
        run = Run(line, entry.name, identity, entry, at, has_turn=has_turn, called_by=called_by)
        self._begin(level, run)
        return run

    @staticmethod
    def _caller(level: _Level) -> Caller:
        """Return who calls a skill that the model loads now."""
        inside = any(place is not Place.BEYOND for _, place in level.owners)
        return Caller.SKILL if inside else Caller.MODEL

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
            is_whole = run.by_command and not self._has_replied
            self._whole = run if is_whole and not self._has_one else None
        self._has_one = True
        level.open.append(run)
        self.begun.append(run)

    def _time(self, entry: Entry) -> datetime | None:
        return entry.at or self.until

    def _reply(self, level: _Level, line: int, entry: Entry) -> None:
        self._has_replied = True
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
            pending = (
                self._skill(level, line, entry, call) if call.does is Does.SKILL else self._call(level, entry, call)
            )
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
        """Count the tokens of a reply once, even if it has several entries."""
        key = entry.message or entry.uuid or object()
        known = self._replies.get(key)
        before = Tally()
        if known is None:
            known = Counted(level.owners)
            self._replies.put(key, known)
        elif known.owners:
            before = known.tally()
        known.take(entry)
        after = known.tally() if known.owners else before
        for run, place in known.owners if before != after else ():
            run.use(before, after, place)

    def _skill(self, level: _Level, line: int, entry: Entry, call: Call) -> _Pending:
        """Begin a run: within the current one if that is a caller, else after it."""
        before = level.run
        is_beside = before is not None and bool(entry.message) and before.message == entry.message
        if before is not None and (is_beside or not before.is_caller or len(level.open) >= _DEEPEST):
            self._leave(level)
        else:
            before = None
        whose = entry.uuid or (entry.sessions[0] if entry.sessions else "")
        identity = f"{whose}:{call.id}" if whose and call.id else ""
        owners = level.owners
        has_turn = bool(level.open) or not (level.has_worked or (before is not None and not is_beside))
        at, called_by = self._time(entry), self._caller(level)
        run = Run(line, call.skill, identity, entry, at, has_turn=has_turn, called_by=called_by)
        run.version = call.version
        if entry.at is None and self.until is not None:
            run.miss(_UNTIMED)
        run.over = before
        self._begin(level, run)
        return _Pending(depth=level.depth, owners=owners, loaded=run, sessions=entry.sessions)

    def _call(self, level: _Level, entry: Entry, call: Call) -> _Pending:
        owners, run = level.owners, level.run
        for owner, place in owners:
            owner.call(call.name, place, is_own=owner is run)
        level.has_worked = level.has_worked or run is None
        if call.does is Does.FLOW:
            _lose(owners, _OF_FLOW)
        own = None if run is None else (run, run.place)
        pending = _Pending(depth=level.depth, owners=owners, own=own, changes=call.changes, effect=call.effect)
        pending.id, pending.at, pending.is_asking = call.id, entry.at, call.does is Does.ASK
        if call.does is Does.AGENT:
            pending.prompt, pending.sessions = call.prompt, entry.sessions
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
        if (pending.is_asking or result.denied) and pending.at is not None and entry.at is not None:
            for run, place in pending.owners:
                run.wait(pending.at, entry.at, place)
        if pending.loaded is not None:
            self._loaded(level, pending, pending.loaded, result)
        if result.failed:
            return
        for change in pending.changes:
            by = tuple(run for run, place in pending.owners if place is Place.LEAST)
            self._ledger.enter(written_change(change, entry.details), by)
        if level is self._main and not level.open:
            self._user.work(pending.changes, pending.effect)
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
                entry = entry_of(object_of(raw)) if raw.strip() else None
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
        called = [pending for pending in waiting if pending.id and pending.id == entry.agent]
        same = [pending for pending in waiting if entry.kind is Kind.PROMPT and pending.prompt == entry.prompt]
        found = next(iter(called or same or waiting), None)
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
