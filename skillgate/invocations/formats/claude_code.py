"""Transcripts that Claude Code keeps of its sessions, ``~/.claude/projects/*/*.jsonl``: each use of a skill.

A use begins with a call of the tool ``Skill``, or with a user's slash command that loads one, and lasts to the last
reply before the next prompt or the next skill. Of what was said nothing is stored but names of skills and models, ids,
times and counts. A session is read to its end before any use is yielded, since what the user asks and changes
afterwards counts, too: read a second time when it has grown, it gives the same ids with other figures.
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
"""Runs of one file that are followed at once; with more, the first are yielded as they are by then."""
_MOST_READS = 10 * MOST_WAITING  # rejected lines that wait for their turn included
_NO_ENTRY = "it holds no line of a transcript of Claude Code"
_OF_AGENT = "this is the transcript of a sub-agent: it is read with that of its session, and not by itself"


def is_it(head: bytes) -> bool:
    """Whether a file that begins with these 64 KiB is a transcript."""
    whole, _, part = head.rpartition(b"\n")
    found = [_is_entry(line) for line in whole.split(b"\n") if line.strip()]
    return any(found) if found else all(name in part for name in (b'"sessionId":', b'"type":', b'"timestamp":'))


def read(lines: Lines, options: Options) -> Iterator[Read]:
    """Read a transcript, with those of its sub-agents.

    Yields:
        Each use of a skill and each line that cannot be read, by their lines; a use within a sub-agent by that of the
        call that opened it.
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


# The levels of a session, calls that wait for a result, and a memory of bounded size

_MOST_RECENT = 20_000  # ids of each sort: parts of a reply and results of calls stand close to each other
_MOST_AT_WORK = 256  # sub-agents at once: those above it are forgotten, and what they do counts for no run

T = TypeVar("T")


class _Recent(Generic[T]):
    """The last items of a sort, by their keys."""

    def __init__(self, most: int = _MOST_RECENT) -> None:
        self._items: dict[object, T] = {}
        self._most = most

    def get(self, key: object) -> T | None:
        return self._items.get(key)

    def put(self, key: object, item: T) -> None:
        """Add an item, and forget the oldest where there are too many."""
        self._items.pop(key, None)
        self._items[key] = item
        if len(self._items) > self._most:
            del self._items[next(iter(self._items))]

    def take(self, key: object) -> T | None:
        return self._items.pop(key, None)

    def latest(self) -> Iterator[T]:
        return reversed(self._items.values())

    def first_time(self, key: object, item: T) -> bool:
        """Add an item unless its key is known, and return whether it was not."""
        if key in self._items:
            return False
        self.put(key, item)
        return True


class _Level:
    """One conversation: that with the user, or that of a sub-agent."""

    def __init__(self, outer: tuple[Run, ...] = (), depth: int = 0) -> None:
        self.outer = outer  # the runs within which it was opened, the innermost first
        self.depth = depth  # 0 for the user's
        self.run: Run | None = None  # the one that goes on
        self.command: tuple[int, Entry] | None = None  # a user's, of which it is not known yet what it does; its line

    @property
    def runs(self) -> tuple[Run, ...]:
        """All runs that what happens here counts for, the innermost first."""
        return self.outer if self.run is None else (self.run, *self.outer)


@dataclass(slots=True, kw_only=True)
class _Pending:
    """A call whose result is not there yet."""

    depth: int  # of its level
    runs: tuple[Run, ...]  # those it counts for
    own: Run | None = None  # the run of its own level
    loaded: Run | None = None  # the run that it begins, as the call of a skill
    before: Run | None = None  # the run that follow-ups counted for until then
    over: Run | None = None  # the run of its level that ended with it
    change: Change | None = None  # what it is to write
    prompt: int | None = None  # digest of a sub-agent's prompt; None where the call is for something else
    sessions: tuple[str, ...] = ()  # where the sub-agent's transcript may lie
    is_followed: bool = False  # whether entries of the sub-agent are in the file itself


@dataclass(slots=True)
class _Counted:
    """The tokens of a reply as far as they are known, and the runs that they count for."""

    usage: Usage
    runs: tuple[Run, ...]


MOST_LINES = 100_000
"""Lines of a session that are followed, which takes some 30 MB; a run that wrote more has no edit ratio."""
MOST_PATHS = 20_000
"""Files of a session whose changes by others are seen; a run that wrote to more has no edit ratio."""
_MOST_RUNS = 10_000  # of one file; those before them were yielded


class _Ledger:
    """Whose lines are in the files of a session, by what was written through tools."""

    def __init__(self) -> None:
        self._writers: dict[int, list[tuple[Run, ...]]] = {}
        self._of_path: dict[int, dict[Run, None]] = {}
        self._room = MOST_LINES

    def enter(self, change: Change, by: tuple[Run, ...]) -> None:
        """Enter a change by some runs, the innermost first; by none where no run made it."""
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
        """Enter a change to a file that is not known in full."""
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
        """Count a line as changed for the runs that last wrote one like it."""
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

_AGENTS = ("Task", "Agent")  # what the tool was and is called
_FLOW = "Workflow"
_MOST_AGENTS = 10_000  # sub-agents of a session whose transcripts are read
_DEEPEST = 8  # sub-agents within one another, likewise
_UNREAD = "a sub-agent's transcript is not beside its session, or too deep: tokens and calls of its run are unknown"
_OF_FLOW = "the agents of a workflow are not read: tokens and calls of its run are unknown"
_BROKEN = "the transcript of a sub-agent has lines that are not JSON: tokens and calls of its run are unknown"
_DENIED = "a call of a skill was denied: not counted as a use of it"
_NOT_LOADED = "a call names a skill that does not exist or was not permitted: not counted as a use of it"
_UNCOUNTED = "a reply does not tell its tokens: those of its run are unknown"
_UNTIMED = "the call of a skill tells no time: the last one before it was taken"


class _Session:
    """A session followed entry by entry: which run each entry belongs to, on the user's level and in every sub-agent.

    A run lasts until the next prompt or the next skill on its level. What a sub-agent does counts for the run within
    which it was opened, too; a skill that a sub-agent uses is a run of its own besides.

    Attributes:
        begun: runs in the order in which they began; the reader takes them out.
        has_main, has_agents: whether anything of the user's level was seen, and of sub-agents' in the file itself.
        until: the last time that was seen.
        prompts: of the user, so far.
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
        """Note that nothing follows."""
        if self._main.command is not None:
            self._prompt(self._main)
        for pending in self._agents.latest():
            if not pending.is_followed:
                _lose(pending.runs, _UNREAD)

    def _enter(self, level: _Level, line: int, entry: Entry) -> None:
        if entry.at is not None and (self.until is None or entry.at > self.until):
            self.until = entry.at
        if entry.kind is Kind.OTHER or (entry.uuid and not self._entries.first_time(entry.uuid, None)):
            return  # a session that is resumed may hold copies of its own entries
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
        """Decide by what follows a command whether it loaded a skill, prompted the model, or did neither."""
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
        """Count the tokens of a reply once, however many entries it is spread over: those of the fullest of them."""
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
        """Read what a sub-agent did, unless its entries are in the file; a skill may have one of its own, too."""
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
        """Return a sub-agent's transcript from where Claude Code has put it at one time or another."""
        for path in (*(f"{session}/subagents/agent-{agent}.jsonl" for session in sessions), f"agent-{agent}.jsonl"):
            lines = self._file_lines(path)
            if lines is not None:
                return lines
        return None

    def _thread(self, entry: Entry) -> _Level:
        """Return the sub-agent within the file that an entry is of; older versions give it no id."""
        level = self._threads.get(entry.agent or entry.parent)
        if level is None:
            pending = self._opener(entry)
            level = _Level() if pending is None else _Level(pending.runs, pending.depth + 1)
        self._threads.put(entry.agent or entry.uuid, level)
        return level

    def _opener(self, entry: Entry) -> _Pending | None:
        """Return the call that opened a sub-agent: by its prompt, else the last one."""
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
