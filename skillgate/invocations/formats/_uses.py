"""The use of a skill in a transcript: what counts for it, how it ended, and the invocation that it becomes.

Where no tag marks the end of a use, there is a range: the least is what comes before its first text, the most is all
that follows in its turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import TYPE_CHECKING, TypeAlias

from skillgate.invocations.formats._input import REPLACED_WARNING, skill_name
from skillgate.invocations.formats._phrases import Reaction
from skillgate.invocations.formats._transcript import Change, Effect, Entry, Usage
from skillgate.model.invocation import SEEN_UNTIL, Ending, Evidence, Invocation, Read

if TYPE_CHECKING:
    from skillgate.invocations.formats import Options

_CACHED = "tokens_cache_read"  # key in ``extra``: cached input tokens, which ``tokens_used`` leaves out
_MOST_FILES = 10_000  # maximum distinct files of a run
_MOST_TOOLS = 1_000  # maximum distinct tools of a run
_MOST_TEXT = 4_000  # characters of a text that are yielded
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


@dataclass(slots=True)
class _Effort:
    """Calls, tokens and the last time of one place alone."""

    calls: int = 0
    usage: Usage | None = None
    last: datetime | None = None
    waited: timedelta = timedelta()
    complete: bool = True  # whether all tokens and calls were seen
    counted: bool = True  # whether all tokens were

    def use(self, usage: Usage) -> None:
        self.usage = Usage(*(have + more for have, more in zip(self.usage or (0, 0, 0), usage, strict=True)))

    def add(self, other: _Effort) -> None:
        self.calls += other.calls
        if other.usage is not None:
            self.use(other.usage)
        self.last = other.last or self.last
        self.waited += other.waited
        self.complete, self.counted = self.complete and other.complete, self.counted and other.counted

    @property
    def tokens(self) -> Usage | None:
        return self.usage if self.complete and self.counted else None

    def lasted(self, began: datetime) -> float | None:
        """Return milliseconds from the beginning, without waiting for the user; None if unknown."""
        if self.last is None or self.last < began:
            return None
        return max(timedelta(), self.last - began - self.waited) / timedelta(milliseconds=1)


class Run:
    """A use of a skill, and the invocation it becomes.

    Attributes:
        line: of the call that began it.
        message: id of the reply with that call, which is not part of the run.
        by_command: whether the user called it by a command.
        has_turn: whether its turn is its own, or its caller's: the assistant did nothing else before it.
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
        by_command: bool = False,
    ) -> None:
        self.line, self.message, self._id, self._at = line, entry.message, identity, at
        self.name, self._problem = name if isinstance(name, str) else "", _problem(name, identity, at)
        self._session = entry.sessions[0] if entry.sessions else None
        self._model, self._unattended = entry.model, entry.unattended
        self._efforts = (_Effort(last=at), _Effort(), _Effort())
        self._tools: set[int] = set()
        self._files: set[int] = set()
        self._errors = self._written = self.changed = self._replies = 0
        self._code = False
        self._has_turn, self.by_command = has_turn, by_command
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
                self._report, self.asks, self._text = entry.report, entry.asks, entry.text[-_MOST_TEXT:]
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

    def use(self, usage: Usage, place: Place) -> None:
        """Add tokens, or a correction of earlier ones."""
        self._efforts[place].use(usage)
        self._shared = self._shared or place is Place.MOST

    def write(self, change: Change) -> None:
        """Add a change to a file."""
        self._written += change.written
        self._code = self._code or change.code
        if len(self._files) < _MOST_FILES:
            self._files.add(change.path)

    def pause(self, at: datetime | None) -> None:
        """Continue after a question of the skill, which the user answered at this time."""
        last = self._efforts[Place.MOST].last or self._efforts[Place.LEAST].last
        if at is not None and last is not None and at > last:
            self._efforts[self.place].waited += at - last
        self.asks, self._report = False, None

    def miss(self, why: str) -> None:
        """Note that part of it is unknown."""
        self._problems[why] = None

    def lose(self, why: str, place: Place, *, only_tokens: bool = False) -> None:
        """Note that tokens at a place, and usually calls, are unknown."""
        self.miss(why)
        self._efforts[place].counted = False
        self._efforts[place].complete = self._efforts[place].complete and only_tokens

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

    def read(self, options: Options, *, until: datetime | None, prompts: int) -> Read:
        """Return the invocation, given the last time and the number of prompts of the transcript."""
        if self.discarded:
            return Read(self.line, None, warnings=tuple(self._problems))
        if self._problem is None and self._at is not None and self._at > options.now + timedelta(days=1):
            self._problem = "time is more than a day in the future"
        if self._problem is not None or self._at is None:
            return Read(self.line, None, self._problem, tuple(self._problems))
        found = self._invocation(self._at, options, until, later=prompts > self.prompts_before)
        if found.skill_name != self.name:
            self.miss(REPLACED_WARNING)
        texts = (self._text, self.reaction)
        is_open = options.texts and found.ending is None and not self._interrupted and any(texts)
        return Read(self.line, found, warnings=tuple(self._problems), texts=texts if is_open else None)

    def _invocation(self, at: datetime, options: Options, until: datetime | None, *, later: bool) -> Invocation:
        evidence = self.evidence
        ending = None if evidence is None else _ENDINGS[evidence]
        least, most, _ = self._efforts
        tokens, counted = least.tokens, least.complete and self._replies > 0
        edited = min(1.0, self.changed / self._written) if self.edits_known and self._written else None
        extra: dict[str, object] = {_CACHED: tokens.cached} if tokens else {}
        if until is not None:
            extra[SEEN_UNTIL] = int((until - _EPOCH).total_seconds())
        category = _CODE if self._code else options.category
        found = Invocation(
            invocation_id=self._id,
            skill_name=skill_name(self.name, keep_text=options.keep_text or self.name in options.names),
            timestamp=at.replace(microsecond=0),
            skill_category=category,
            session_id=self._session,
            model=self._model,
            source="claude-code",
            ending=ending,
            error_count=None if ending is None else int(ending in _FAILURES),
            failure_explained=True if ending is Ending.EXPLAINED_FAILURE else None,
            duration_ms=least.lasted(at) if self._replies else None,
            tokens_input=tokens.fresh if tokens else None,
            tokens_output=tokens.output if tokens else None,
            tokens_used=tokens.fresh + tokens.output if tokens else None,
            tool_call_kinds=len(self._tools) if counted and len(self._tools) < _MOST_TOOLS else None,
            tool_call_count=least.calls if counted else None,
            output_type="code" if self._code else None,
            output_size=float(self._written) if self._written and category == _CODE else None,
            files_changed=float(len(self._files)) if self._files and len(self._files) < _MOST_FILES else None,
            user_accepted=self.accepted,
            user_edit_ratio=edited if later else None,
            follow_up_count=None if self._unattended and not self.follow_ups else self.follow_ups,
            extra=extra or None,
            tool_error_count=self._errors if self._replies else None,
            outcome_evidence=evidence,
            shared=self._shared if self._replies else None,
        )
        if not self._shared:
            return found
        whole = _Effort()
        whole.add(least)
        whole.add(most)
        return found._replace(
            tool_calls_most=whole.calls if whole.complete else None,
            tokens_most=whole.tokens.fresh + whole.tokens.output if whole.tokens else None,
            duration_most_ms=whole.lasted(at),
        )


Owners: TypeAlias = tuple[tuple[Run, Place], ...]
"""The runs for which an event counts, innermost first, and where it lies in each."""


def _problem(name: object, identity: str, at: datetime | None) -> str | None:
    """Return why a run cannot be recorded; None if it can."""
    if not isinstance(name, str) or not name.strip():
        return "the call names no skill"
    if not identity:
        return "the call has no valid id"
    return "the call has no time" if at is None else None


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
        for run in self._about:
            run.reaction = run.reaction or entry.text[:_MOST_TEXT]
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

    def work(self, change: Change | None, effect: Effect | None) -> None:
        """Take a successful call outside of any run."""
        if change is not None and not self._is_settled and any(run.wrote(change.path) for run in self._about):
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
