"""A session followed entry by entry: which run each entry belongs to, on the user's level and in every sub-agent.

A run lasts until the next prompt or the next skill on its level. What a sub-agent does counts for the run within which
it was opened, too; a skill that a sub-agent uses is a run of its own beside that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.invocations.formats._transcript_entries import Call, Entry, Kind, Result, Usage, entry_of, identifier
from skillgate.invocations.formats._transcript_ledger import Ledger
from skillgate.invocations.formats._transcript_levels import ASKED, Counted, Level, Pending, Recent
from skillgate.invocations.formats._transcript_lines import asked, done
from skillgate.invocations.formats._transcript_run import Run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from skillgate.invocations.ports import Lines, Options

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


class Session:
    """Follows the entries of one file, and those of the sub-agents' files beside it.

    Attributes:
        begun: runs in the order in which they began; who reads takes them out.
        has_main, has_agents: whether anything of the user's level was seen, and of sub-agents' in the file itself.
        until: the last time that was seen.
        prompts: of the user, so far.
    """

    def __init__(self, options: Options) -> None:
        """Begin with nothing seen."""
        self.begun: list[Run] = []
        self.has_main = self.has_agents = False
        self.until: datetime | None = None
        self.prompts = 0
        self._beside = options.beside
        self._main = Level()
        self._latest: Run | None = None
        self._ledger = Ledger()
        self._entries: Recent[None] = Recent()
        self._calls: Recent[None] = Recent()
        self._replies: Recent[Counted] = Recent()
        self._pending: Recent[Pending] = Recent()
        self._asked: Recent[Pending] = Recent(ASKED)
        self._threads: Recent[Level] = Recent()
        self._read: set[str] = set()

    def follow(self, line: int, entry: Entry) -> None:
        """Take the next entry of the file into account."""
        if entry.kind is not Kind.OTHER:
            self.has_main = self.has_main or not entry.sidechain
            self.has_agents = self.has_agents or entry.sidechain
        level = self._thread(entry) if entry.sidechain and entry.kind is not Kind.OTHER else self._main
        self._enter(level, line, entry)

    def end(self) -> None:
        """Take note that nothing follows."""
        if self._main.command is not None:
            self._prompt(self._main)
        for pending in self._asked.latest():
            if not pending.is_followed:
                _lose(pending.runs, _UNREAD)

    def _enter(self, level: Level, line: int, entry: Entry) -> None:
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

    def _interrupt(self, level: Level, entry: Entry) -> None:
        self._close(level, interrupted=True)
        if entry.said:
            self._prompt(level)

    def _resolve(self, level: Level, command: tuple[int, Entry], entry: Entry) -> None:
        """See by what follows a command whether it loaded a skill, asked the model for something, or did neither."""
        line, given = command
        follows = entry.kind in (Kind.BODY, Kind.NOTE) and bool(given.uuid) and entry.parent == given.uuid
        if follows and entry.kind is Kind.BODY:
            level.command = None
            self._close(level)
            self._begin(level, line, given.name.strip(), f"{given.uuid}:command", given)
        elif entry.kind is Kind.PRINTED:
            level.command = None
        elif follows or entry.kind in (Kind.REPLY, Kind.PROMPT, Kind.COMMAND, Kind.INTERRUPTION):
            self._prompt(level)

    def _prompt(self, level: Level) -> None:
        level.command = None
        self._close(level)
        self._ask_more(level)

    def _ask_more(self, level: Level) -> None:
        if level is self._main:
            self.prompts += 1
            if self._latest is not None and self._latest.follow_ups is not None:
                self._latest.follow_ups += 1

    def _close(self, level: Level, *, interrupted: bool = False, by_skill: bool = False) -> None:
        if level.run is not None:
            level.run.close(prompts=self.prompts, interrupted=interrupted, by_skill=by_skill)
            level.run = None

    def _begin(self, level: Level, line: int, name: object, identity: str, entry: Entry) -> Run:
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

    def _reply(self, level: Level, line: int, entry: Entry) -> None:
        if not entry.failed:
            self._count(level, entry)
        if level.run is not None:
            level.run.reply(entry)
        for call in entry.calls:
            if not self._calls.first_time((entry.message or entry.uuid, call.id or object()), None):
                continue
            pending = self._skill(level, line, entry, call) if call.name == "Skill" else self._call(level, entry, call)
            self._pending.put((level, call.id), pending)

    def _count(self, level: Level, entry: Entry) -> None:
        """Count the tokens of a reply once, however many entries it is spread over: as the fullest of them tells."""
        key, usage = entry.message or entry.uuid or object(), entry.usage
        known = self._replies.get(key)
        if known is None:
            known = Counted(Usage(0, 0, 0), level.runs)
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

    def _skill(self, level: Level, line: int, entry: Entry, call: Call) -> Pending:
        for run in level.outer:
            run.call(call.name)
        over = level.run
        self._close(level, by_skill=True)
        name = call.given.get("skill", call.given.get("command"))
        whose = entry.uuid or (entry.sessions[0] if entry.sessions else "")
        identity = f"{whose}:{call.id}" if whose and call.id else ""
        plain = name.strip().removeprefix("/") if isinstance(name, str) else name
        before = self._latest
        run = self._begin(level, line, plain, identity, entry)
        return Pending(
            depth=level.depth, runs=level.runs, loaded=run, before=before, over=over, sessions=entry.sessions
        )

    def _call(self, level: Level, entry: Entry, call: Call) -> Pending:
        for run in level.runs:
            run.call(call.name)
        if call.name == _FLOW:
            _lose(level.runs, _OF_FLOW)
        pending = Pending(depth=level.depth, runs=level.runs, own=level.run, change=asked(call.name, call.given))
        if call.name in _AGENTS:
            pending.prompt, pending.sessions = hash(call.given.get("prompt")), entry.sessions
            self._asked.put((level, call.id), pending)
        return pending

    def _result(self, level: Level, line: int, entry: Entry, result: Result) -> None:
        pending = self._pending.take((level, result.id))
        self._asked.take((level, result.id))
        if pending is None:
            return
        if result.failed:
            self._failed(level, pending, result)
            return
        if pending.change is not None:
            self._ledger.enter(done(pending.change, entry.details), pending.runs)
        self._agent(pending, line, entry.details or {})

    def _failed(self, level: Level, pending: Pending, result: Result) -> None:
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

    def _agent(self, pending: Pending, line: int, details: Mapping[str, Any]) -> None:
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
        level = Level(pending.runs, pending.depth + 1)
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
        """Find a sub-agent's transcript where Claude Code has put it at one time or another."""
        for path in (*(f"{session}/subagents/agent-{agent}.jsonl" for session in sessions), f"agent-{agent}.jsonl"):
            lines = self._beside(path)
            if lines is not None:
                return lines
        return None

    def _thread(self, entry: Entry) -> Level:
        """Find the sub-agent within the file that an entry is of; older versions give it no id."""
        level = self._threads.get(entry.agent or entry.parent)
        if level is None:
            pending = self._opener(entry)
            level = Level() if pending is None else Level(pending.runs, pending.depth + 1)
        self._threads.put(entry.agent or entry.uuid, level)
        return level

    def _opener(self, entry: Entry) -> Pending | None:
        """Find the call that opened a sub-agent: by what it asks, else the last one."""
        waiting = [pending for pending in self._asked.latest() if not pending.is_followed]
        same = [pending for pending in waiting if entry.kind is Kind.PROMPT and pending.prompt == entry.prompt]
        found = next(iter(same or waiting), None)
        if found is not None:
            found.is_followed = True
        return found


def _lose(runs: tuple[Run, ...], why: str) -> None:
    for run in runs:
        run.miss(why)
        run.tokens_known = run.calls_known = False
