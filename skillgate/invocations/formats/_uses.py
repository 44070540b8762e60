"""The use of a skill in a transcript: what counts for it, how it ended, and the invocation that it becomes.

Where no tag marks the end of a use, there is a range: the least is what comes before its first text, the most is all
that follows in its turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from skillgate.invocations.formats._changes import Change, Effect
from skillgate.invocations.formats._entries import Entry, Usage
from skillgate.invocations.formats._input import REPLACED_WARNING, skill_name
from skillgate.invocations.formats._phrases import Reaction
from skillgate.invocations.masking import beginning_of, end_of
from skillgate.llm import prices
from skillgate.model.exchange import Tokens
from skillgate.model.invocation import SEEN_UNTIL, Caller, Ending, Evidence, Invocation, Read

if TYPE_CHECKING:
    from skillgate.invocations.formats import Options

_CACHED = "tokens_cache_read"  # key in ``extra``: cached input tokens, which ``tokens_used`` leaves out
_MOST_FILES = 10_000  # maximum distinct files of a run
_MOST_TOOLS = 1_000  # maximum distinct tools of a run
_ENDED = ("end_turn", "stop_sequence", "tool_use", None)  # reasons that leave a text whole
_CODE = "code_generation"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ENDINGS = {
    Evidence.USER_APPROVED: Ending.COMPLETE,
    Evidence.COMMITTED: Ending.COMPLETE,
    Evidence.REPORTED_SUCCESS: Ending.COMPLETE,
    Evidence.REPORTED_FAILURE: Ending.EXPLAINED_FAILURE,
    Evidence.USER_REJECTED: Ending.HARD_FAILURE,
    Evidence.REVERTED: Ending.HARD_FAILURE,
    Evidence.LOAD_FAILED: Ending.HARD_FAILURE,
    Evidence.ENDED_IN_ERROR: Ending.HARD_FAILURE,
}
_FAILURES = (Ending.EXPLAINED_FAILURE, Ending.HARD_FAILURE)


class Place(IntEnum):
    """Where an event lies: surely in a use, in its range only, or after its tag has ended."""

    LEAST = 0
    MOST = 1
    BEYOND = 2


_LONGEST_TOKEN = 20  # characters of the longest tokens that a text has on average; English has about 4
_UNCOUNTED = "a reply has no token counts; the tokens of its run are unknown"
_PLACEHOLDER = "a reply has too few output tokens for its text, which are placeholders; they count as unknown"


class Tally(NamedTuple):
    """Sums over replies: tokens, US dollars, and how many replies leave something unknown."""

    fresh: int = 0
    written: int = 0
    cached: int = 0
    output: int = 0
    counted: int = 0  # replies with token counts
    uncounted: int = 0
    placeholders: int = 0
    unpriced: int = 0
    usd: float = 0.0

    def changed(self, before: Tally, after: Tally) -> Tally:
        """Return the sums with those of some replies corrected."""
        return Tally._make(mine - old + new for mine, old, new in zip(self, before, after, strict=True))


_NOTHING = Tally()


@dataclass(slots=True)
class Counted:
    """What is known of the tokens of one reply, and the runs for which they count; ``size`` is in characters."""

    owners: Owners
    model: str | None = None
    usage: Usage | None = None
    usd: float | None = None
    size: int = 0

    def take(self, entry: Entry) -> None:
        """Add an entry of the reply: the largest counts are right."""
        self.size += entry.size
        self.model = self.model or entry.model
        self.usd = self.usd if entry.usd is None else entry.usd
        if entry.usage is not None and sum(entry.usage) >= sum(self.usage or ()):
            self.usage = entry.usage

    def tally(self) -> Tally:
        """Return what it adds to the sums of its runs."""
        usage = self.usage
        if usage is None:
            return Tally(uncounted=1)
        tokens = Tokens(usage.fresh, usage.output, cache_read=usage.cached, cache_write=usage.written)
        usd = self.usd
        if usd is None:
            usd = 0.0 if not any(usage) else prices.cost(self.model or "", tokens, for_an_hour=usage.for_an_hour)
        placeholders = int(usage.output * _LONGEST_TOKEN < self.size)
        return Tally(*usage[:4], counted=1, placeholders=placeholders, unpriced=int(usd is None), usd=usd or 0.0)


@dataclass(slots=True)
class _Effort:
    """Calls, tokens and the last time of one place alone."""

    calls: int = 0
    tally: Tally = _NOTHING
    last: datetime | None = None
    waited: timedelta = timedelta()
    waited_until: datetime | None = None
    complete: bool = True  # whether all tokens and calls were seen

    def add(self, other: _Effort) -> None:
        self.calls += other.calls
        self.tally = self.tally.changed(_NOTHING, other.tally)
        self.last = other.last or self.last
        self.waited += other.waited
        self.complete = self.complete and other.complete

    def wait(self, since: datetime, until: datetime) -> None:
        """Leave out a wait for the user; waits that overlap count once."""
        since = max(since, self.waited_until or since)
        if until > since:
            self.waited += until - since
            self.waited_until = until

    @property
    def input(self) -> int | None:
        known = self.complete and self.tally.counted and not self.tally.uncounted
        return self.tally.fresh + self.tally.written if known else None

    @property
    def output(self) -> int | None:
        return None if self.input is None or self.tally.placeholders else self.tally.output

    @property
    def tokens(self) -> int | None:
        return None if self.input is None or self.output is None else self.input + self.output

    @property
    def usd(self) -> float | None:
        return None if self.output is None or self.tally.unpriced else round(self.tally.usd, 9)

    def lasted(self, began: datetime | None) -> float | None:
        """Return milliseconds from the beginning, without waiting for the user; None if unknown."""
        if began is None or self.last is None or self.last < began:
            return None
        return max(timedelta(), self.last - began - self.waited) / timedelta(milliseconds=1)


class Run:
    """A use of a skill, and the invocation it becomes.

    Attributes:
        line: of the call that began it.
        message: id of the reply with that call, which is not part of the run.
        called_by: who called it.
        by_command: whether the user called it by a command.
        version: of the skill.
        has_turn: whether its turn is its own, or its caller's: the assistant did nothing else before it.
        paid, lasted: US dollars and milliseconds of the session, if it is all of it.
        closed: whether it is over.
        discarded: whether the skill was never loaded, which is not its fault.
        edits_known: whether all changes of its lines were seen.
        follow_ups: number of later prompts that correct or repeat; None if there was no later prompt.
        changed: number of its lines that were changed later.
        verdict: the user's last one, in words or by Git.
        accepted: whether the user committed it, or undid it.
        reaction: the first prompt after it, shortened.
        over, about: for a discarded run, the run that it ended, and the runs that prompts were about.
    """

    def __init__(
        self,
        line: int,
        name: object,
        identity: str,
        entry: Entry,
        at: datetime | None,
        *,
        has_turn: bool,
        called_by: Caller | None,
    ) -> None:
        self.line, self.message, self._id, self._at = line, entry.message, identity, at
        self.name, self._problem = name if isinstance(name, str) else "", _problem(name, identity)
        self.called_by, self.by_command = called_by, called_by is Caller.USER
        self.version: str | None = None
        self.paid: float | None = None
        self.lasted: float | None = None
        self._session = entry.sessions[0] if entry.sessions else None
        self._model, self._unattended = entry.model, entry.unattended
        self._efforts = (_Effort(last=at), _Effort(), _Effort())
        self._tools: set[int] = set()
        self._files: set[int] = set()
        self._errors = self._written = self.changed = self._replies = 0
        self._code = False
        self._has_turn = has_turn
        self._inside, self._tagged, self._gap, self._shared = True, False, False, False
        self._spoke_last = False
        self._report: Evidence | None = None
        self._text = self.reaction = ""
        self._stop: str | None = None
        self._broken = self._interrupted = False
        self._problems: dict[str, None] = {}
        self.asks = False
        self.closed = self.discarded = False
        self.edits_known = True
        self.follow_ups: int | None = None
        self.verdict: Evidence | None = None
        self.accepted: bool | None = None
        self.prompts_before = 0
        self.over: Run | None = None
        self.about: tuple[Run, ...] = ()

    @property
    def place(self) -> Place:
        """Where what happens now lies."""
        return Place.BEYOND if self._gap else Place.LEAST if self._inside else Place.MOST

    @property
    def is_caller(self) -> bool:
        """Whether a skill that is called now is called by this one: it has not spoken, or the user asked for it."""
        return (self._inside or self.by_command) and not self._gap

    @property
    def answers(self) -> bool:
        """Whether its last text is about it, and not about a longer task that it was a part of."""
        return (self._inside or self._has_turn) and not self._gap

    @property
    def gave_back(self) -> bool:
        """Whether its last text came after one of its calls, so that the next call is its caller's."""
        return self._spoke_last and not self._tagged and any(effort.calls for effort in self._efforts)

    @property
    def is_new(self) -> bool:
        """Whether nothing followed its call yet."""
        return not self._replies

    def is_called(self, name: str) -> bool:
        """Whether it is of the skill with this name, with or without a plugin."""
        return self.name.rpartition(":")[2] == name.rpartition(":")[2]

    def wrote(self, path: int) -> bool:
        """Whether it wrote to a file, by the digest of its path."""
        return path in self._files

    def tag(self, tags: tuple[str, ...]) -> bool:
        """Take a reply's tag as the run's if it names the skill."""
        if not any(tag == self.name or self.name.endswith(f":{tag}") for tag in tags):
            return False
        if self._gap:
            self._efforts[Place.MOST].add(self._efforts[Place.BEYOND])
            self._efforts = (*self._efforts[:2], _Effort())
            self._shared = True
        self._tagged, self._inside, self._gap = True, True, False
        return True

    def untag(self) -> None:
        """Leave the run if it was tagged: this reply is another's."""
        self._gap = self._gap or self._tagged

    def reply(self, entry: Entry, place: Place, *, is_own: bool) -> None:
        """Add a reply at a place; ``is_own`` if no skill that it called is at work."""
        if entry.message and entry.message == self.message:
            return
        self._replies += is_own
        self._model = self._model or entry.model
        effort = self._efforts[place]
        effort.last = entry.at or effort.last
        self._shared = self._shared or place is Place.MOST
        if self.answers:
            self._stop, self._broken = entry.stop, entry.failed
            if entry.has_text:
                self._report, self.asks, self._text = entry.report, entry.asks, end_of(entry.text)
        if entry.has_text and is_own:
            self._spoke_last = True
            self._inside = self._tagged

    def call(self, name: str, place: Place, *, is_own: bool = False) -> None:
        """Count a call, a sub-agent's included."""
        self._efforts[place].calls += 1
        self._shared = self._shared or place is Place.MOST
        if place is Place.LEAST and len(self._tools) < _MOST_TOOLS:
            self._tools.add(hash(name))
        if is_own:
            self._spoke_last = False
            if self.answers:
                self._report, self.asks, self._broken, self._text = None, False, False, ""

    def settle(self, place: Place, *, failed: bool, denied: bool) -> None:
        """Take the result of one of its calls."""
        if failed and not denied and place is Place.LEAST:
            self._errors += 1
        if self.answers:
            self._broken = failed and not denied and not self.closed

    def use(self, before: Tally, after: Tally, place: Place) -> None:
        """Add the tokens of a reply, or correct those that were added before."""
        effort = self._efforts[place]
        effort.tally = effort.tally.changed(before, after)
        self._shared = self._shared or place is Place.MOST

    def wait(self, since: datetime, until: datetime, place: Place) -> None:
        """Leave out a wait for the user."""
        self._efforts[place].wait(since, until)

    def write(self, change: Change) -> None:
        """Add a change to a file."""
        self._written += change.written
        self._code = self._code or change.code
        if len(self._files) < _MOST_FILES:
            self._files.add(change.path)

    def pause(self, at: datetime | None) -> None:
        """Continue after a question of the skill, which the user answered at this time."""
        last = self._efforts[Place.MOST].last or self._efforts[Place.LEAST].last
        if at is not None and last is not None:
            self._efforts[self.place].wait(last, at)
        self.asks, self._report = False, None

    def miss(self, why: str) -> None:
        """Note that part of it is unknown."""
        self._problems[why] = None

    def lose(self, why: str, place: Place) -> None:
        """Note that tokens and calls at a place are unknown."""
        self.miss(why)
        self._efforts[place].complete = False

    def reject(self, prompts: int) -> None:
        """End it: its skill could not be loaded."""
        self._report = Evidence.LOAD_FAILED
        self.closed, self.prompts_before = True, prompts

    def discard(self, why: str) -> None:
        """Record nothing: the skill was never loaded, which is not its fault."""
        self._problems.clear()
        self.miss(why)
        self.closed = self.discarded = True

    def reopen(self) -> None:
        """Continue the run: a call of another skill ended it, but that skill was never loaded."""
        self.closed = False

    def cut(self) -> None:
        """Stop following the run."""
        self.miss("too many runs in one transcript; the first ones were not followed to its end")
        self.edits_known, self.follow_ups = False, None

    def close(self, *, prompts: int, interrupted: bool = False) -> None:
        """End it after ``prompts`` prompts of the session."""
        self.closed, self.prompts_before = True, prompts
        self._interrupted = interrupted

    @property
    def evidence(self) -> Evidence | None:
        """What its outcome is read from; None if there is no evidence."""
        if self._report is Evidence.LOAD_FAILED or self.verdict is not None:
            return self.verdict or self._report
        if self._interrupted or not self._replies:
            return None
        if self._report is not None and (self._stop in _ENDED or self._report is Evidence.REPORTED_FAILURE):
            return self._report
        return Evidence.ENDED_IN_ERROR if self._broken else None

    def read(self, options: Options, session: Seen) -> Read:
        """Return the invocation, given what was seen of its session."""
        if self.discarded:
            return Read(self.line, None, warnings=tuple(self._problems))
        at = self._at or session.began
        if self._problem is None and at is None:
            self._problem = "the call has no time"
        elif self._problem is None and at is not None and at > options.now + timedelta(days=1):
            self._problem = "time is more than a day in the future"
        if self._problem is not None or at is None:
            return Read(self.line, None, self._problem, tuple(self._problems))
        found = self._invocation(at, options, session)
        if found.skill_name != self.name:
            self.miss(REPLACED_WARNING)
        if session.has_tokens:
            tallies = [effort.tally for effort in self._efforts]
            if any(tally.uncounted for tally in tallies):
                self.miss(_UNCOUNTED)
            if any(tally.placeholders for tally in tallies):
                self.miss(_PLACEHOLDER)
        texts = (self._text, self.reaction)
        is_open = options.texts and found.ending is None and not self._interrupted and any(texts)
        return Read(self.line, found, warnings=tuple(self._problems), texts=texts if is_open else None)

    def _invocation(self, at: datetime, options: Options, session: Seen) -> Invocation:
        evidence = self.evidence
        ending = None if evidence is None else _ENDINGS[evidence]
        least, most, _ = self._efforts
        counted = least.complete and self._replies > 0
        edited = min(1.0, self.changed / self._written) if self.edits_known and self._written else None
        extra: dict[str, object] = {} if least.input is None else {_CACHED: least.tally.cached}
        if session.until is not None:
            extra[SEEN_UNTIL] = int((session.until - _EPOCH).total_seconds())
        category = _CODE if self._code else options.category
        usd = least.usd if self.paid is None or self._shared else self.paid
        duration = least.lasted(self._at) if self._replies else None
        found = Invocation(
            invocation_id=self._id,
            skill_name=skill_name(self.name, keep_text=options.keep_text or self.name in options.names),
            timestamp=at.replace(microsecond=0),
            skill_version=self.version,
            skill_category=category,
            session_id=self._session,
            model=self._model,
            source=session.source,
            ending=ending,
            error_count=None if ending is None else int(ending in _FAILURES),
            failure_explained=True if ending is Ending.EXPLAINED_FAILURE else None,
            duration_ms=self.lasted if duration is None and not self._shared else duration,
            tokens_input=least.input,
            tokens_output=least.output,
            tokens_used=least.tokens,
            tool_call_kinds=len(self._tools) if counted and len(self._tools) < _MOST_TOOLS else None,
            tool_call_count=least.calls if counted else None,
            output_type="code" if self._code else None,
            output_size=float(self._written) if self._written and category == _CODE else None,
            files_changed=float(len(self._files)) if self._files and len(self._files) < _MOST_FILES else None,
            user_accepted=self.accepted,
            user_edit_ratio=edited if session.prompts > self.prompts_before else None,
            follow_up_count=None if self._unattended and not self.follow_ups else self.follow_ups,
            extra=extra or None,
            tool_error_count=self._errors if self._replies else None,
            outcome_evidence=evidence,
            shared=self._shared if self._replies else None,
            called_by=self.called_by,
            cost_usd=usd,
            cost_estimated=None if usd is None else True,
        )
        if not self._shared:
            return found
        whole = _Effort()
        whole.add(least)
        whole.add(most)
        return found._replace(
            tool_calls_most=whole.calls if whole.complete else None,
            tokens_most=whole.tokens,
            duration_most_ms=whole.lasted(self._at),
        )


class Seen(NamedTuple):
    """What was seen of a whole session.

    Attributes:
        source: the format.
        has_tokens: whether the client records the tokens of replies.
        until: the latest time.
        prompts: number of the user's prompts.
        began: when the session began, for calls without a time.
    """

    source: str
    has_tokens: bool
    until: datetime | None
    prompts: int
    began: datetime | None = None


Owners: TypeAlias = tuple[tuple[Run, Place], ...]
"""The runs for which an event counts, innermost first, and where it lies in each."""


def _problem(name: object, identity: str) -> str | None:
    """Return why a run cannot be recorded; None if it can."""
    if not isinstance(name, str) or not name.strip():
        return "the call names no skill"
    return None if identity else "the call has no valid id"


# What the user says of a use

_VERDICTS = {
    Reaction.APPROVES: Evidence.USER_APPROVED,
    Reaction.REJECTS: Evidence.USER_REJECTED,
    Reaction.UNDOES: Evidence.REVERTED,
}


class User:
    """Assigns prompts to the runs of the last turn with a skill that the turn's end is about.

    A prompt is a follow-up of them if it corrects or repeats: by a phrase, by an interruption, by calling the same
    skill, or by work on the same files. It counts once.
    """

    def __init__(self) -> None:
        self._about: tuple[Run, ...] = ()
        self._is_counted = False  # whether the latest prompt is a follow-up already
        self._is_interrupted = False  # whether there was no prompt since an interruption
        self._is_settled = False  # whether the user approved the result
        self._commits = False  # whether the latest prompt asks to commit

    def attend(self, runs: list[Run]) -> None:
        """Begin to assign prompts to the runs that ended with a turn."""
        self._about = tuple(run for run in runs if run.answers)
        self._is_counted = self._is_interrupted = self._is_settled = self._commits = False

    def begin(self, run: Run) -> tuple[Run, ...]:
        """Take note of the next run; return the runs that prompts were about until then."""
        self._observe()
        same = any(one.name == run.name for one in self._about)
        if same and not self._is_settled:
            self.correct()
        before, self._about = self._about, ()
        return before

    def forget(self, run: Run) -> None:
        """Take back :meth:`begin`: the skill was never loaded."""
        if not self._about:
            self._about = tuple(one for one in run.about if not one.discarded)

    def say(self, entry: Entry) -> None:
        """Take a prompt after the end of the runs."""
        self._is_counted, self._is_interrupted = self._is_interrupted, False
        self._commits = entry.asks_to_commit
        self._observe()
        beginning = beginning_of(entry.text) if self._about else ""
        for run in self._about:
            run.reaction = run.reaction or beginning
        if entry.reaction is Reaction.APPROVES:
            self._is_settled = True
        elif entry.reaction is not None:
            self.correct()
        verdict = None if entry.reaction is None else _VERDICTS.get(entry.reaction)
        if verdict is not None:
            self._decide(verdict)

    def interject(self, entry: Entry, runs: list[Run]) -> None:
        """Take a prompt while runs are at work; what it says is no verdict on their end."""
        if not runs:
            self.say(entry)
        elif entry.reaction not in (None, Reaction.APPROVES):
            self.attend(runs)
            self.correct()

    def interrupt(self) -> None:
        """Count an interruption; the prompt after it is a part of it."""
        self.correct()
        self._is_interrupted = True

    def correct(self) -> None:
        """Count the latest prompt as a follow-up."""
        if not self._is_counted:
            self._is_counted = True
            for run in self._about:
                run.follow_ups = (run.follow_ups or 0) + 1

    def work(self, changes: tuple[Change, ...], effect: Effect | None) -> None:
        """Take a successful call outside of any run."""
        if not self._is_settled and any(run.wrote(change.path) for run in self._about for change in changes):
            self.correct()
        if effect is Effect.REVERTS:
            self.correct()
            self._decide(Evidence.REVERTED)
        elif effect is Effect.COMMITS and self._commits and not self._is_counted:
            self._decide(Evidence.COMMITTED)

    def _observe(self) -> None:
        for run in self._about:
            run.follow_ups = run.follow_ups or 0

    def _decide(self, verdict: Evidence) -> None:
        for run in self._about:
            run.verdict = verdict
            if verdict in (Evidence.COMMITTED, Evidence.REVERTED):
                run.accepted = verdict is Evidence.COMMITTED
