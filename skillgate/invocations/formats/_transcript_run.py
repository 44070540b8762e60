"""One run of a skill while its session is read, and the invocation that it turns out to be."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from skillgate.invocations.formats._names import REPLACED_WARNING, skill_name
from skillgate.model.invocation import SEEN_UNTIL, Ending, Invocation, Read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.invocations.formats._transcript_entries import Entry, Usage
    from skillgate.invocations.formats._transcript_lines import Change
    from skillgate.invocations.ports import Options

CACHED = "tokens_cache_read"
"""Key in ``extra``: input tokens that came out of the cache, which ``tokens_used`` leaves out."""
_MOST_FILES = 10_000  # of a run, that are told apart
_MOST_TOOLS = 1_000  # likewise
_ENDED = ("end_turn", "stop_sequence")
_CODE = "code_generation"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Run:
    """What is known of a run so far; whoever reads the session changes it.

    Attributes:
        line: of the call that began it.
        message: the reply that the call is a part of, which was given before the run.
        closed: whether it is over.
        discarded: whether the skill was never loaded, through no fault of its own.
        tokens_known, calls_known, edits_known: whether all of them were seen.
        follow_ups: prompts since; None within a sub-agent, where no user is.
        changed: lines that it wrote and that were changed after it.
        latest, over: of one that is discarded, the runs that take its place: for follow-ups, and for what goes on.
    """

    def __init__(self, line: int, name: object, identity: str, entry: Entry, at: datetime | None) -> None:
        """Begin a run with the entry that holds its call; ``at`` is None where no time is known at all."""
        self.line, self.message, self._id, self._at, self._last = line, entry.message, identity, at, at
        self._name, self._problem = (name, _wrong(name, identity, at)) if isinstance(name, str) else ("", _NAMELESS)
        self._session = entry.sessions[0] if entry.sessions else None
        self._model, self._unattended = entry.model, entry.unattended
        self._usage: list[int] | None = None
        self._tools: set[int] = set()
        self._files: set[int] = set()
        self._calls = self._errors = self._written = self.changed = self._replies = 0
        self._code = self._said_since = False
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
        """Take a reply of the run's own level into account."""
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
        self._said_since = self._said_since or entry.said

    def call(self, name: str) -> None:
        """Count a call, a sub-agent's included."""
        self._calls += 1
        if len(self._tools) < _MOST_TOOLS:
            self._tools.add(hash(name))

    def fail(self) -> None:
        """Count an error; one that came to light after the end leaves open how it ended."""
        self._errors += 1
        self._said_since = False
        if self.closed:
            self._ending = None

    def use(self, usage: Usage) -> None:
        """Add tokens, or what is known of more of them since they were added."""
        self._usage = [have + more for have, more in zip(self._usage or (0, 0, 0), usage, strict=True)]

    def write(self, change: Change) -> None:
        """Take a change to a file into account."""
        self._written += change.written
        self._code = self._code or change.code
        if len(self._files) < _MOST_FILES:
            self._files.add(change.path)

    def miss(self, why: str) -> None:
        """Take note that something of it cannot be told."""
        self._problems[why] = None

    def reject(self, prompts: int) -> None:
        """End it with its skill not loaded."""
        self._errors, self._ending = self._errors + 1, Ending.HARD_FAILURE
        self.closed, self.prompts_before = True, prompts

    def discard(self, why: str, *, latest: Run | None, over: Run | None) -> None:
        """Take note that the skill was never loaded, through no fault of its own: nothing is recorded.

        Args:
            why: for the message.
            latest: the run that follow-ups counted for before it.
            over: the run that ended with it.
        """
        self._problems.clear()
        self.miss(why)
        self.closed = self.discarded = True
        self.latest, self.over = latest, over

    def reopen(self) -> None:
        """Take note that it goes on, since the skill whose call ended it was never loaded."""
        self.closed, self._ending = False, None

    def cut(self) -> None:
        """Take note that it is not followed any longer, whatever comes."""
        self.miss(_CUT)
        self.edits_known, self.follow_ups = False, None

    def close(self, *, prompts: int, interrupted: bool = False, by_skill: bool = False) -> None:
        """End it.

        Args:
            prompts: how many there were in the session so far.
            interrupted: by the user.
            by_skill: the next skill was called, with no word on how this one went.
        """
        self.closed, self.prompts_before = True, prompts
        if interrupted or not self._replies:
            return
        at_end = self._stop in _ENDED or (self._stop is None and self._said_since and not self._open)
        over = at_end or (by_skill and self._stop != "error" and (not self._errors or self._said_since))
        if over:
            self._ending = Ending.RECOVERED if self._errors else Ending.COMPLETE
        elif self._stop == "error":
            self._ending = Ending.HARD_FAILURE

    def read(self, options: Options, *, until: datetime | None, prompts: int) -> Read:
        """Give what it turned out to be.

        Args:
            options: how it is read.
            until: the last time in the transcript.
            prompts: how many there were in the session, as far as it was read.
        """
        if self.discarded:
            return Read(self.line, None, warnings=tuple(self._problems))
        if self._problem is None and self._at is not None and self._at > options.now + timedelta(days=1):
            self._problem = "its time lies more than a day in the future"
        if self._problem is not None or self._at is None:
            return Read(self.line, None, self._problem, tuple(self._problems))
        found = self._invocation(self._at, options, until, later=prompts > self.prompts_before)
        if found.skill_name != self._name:
            self.miss(REPLACED_WARNING)
        return Read(self.line, found, warnings=tuple(self._problems))

    def _invocation(self, at: datetime, options: Options, until: datetime | None, *, later: bool) -> Invocation:
        known, tokens = self._ending is not None, self._tokens()
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
            tool_call_kinds=len(self._tools) if self._counted() and len(self._tools) < _MOST_TOOLS else None,
            tool_call_count=self._calls if self._counted() else None,
            output_type="code" if self._code else None,
            output_size=float(self._written) if self._written and category == _CODE else None,
            files_changed=float(len(self._files)) if self._files and len(self._files) < _MOST_FILES else None,
            user_edit_ratio=self._edited() if later else None,
            follow_up_count=None if self._unattended and not self.follow_ups else self.follow_ups,
            extra=self._extra(tokens, until),
        )

    def _counted(self) -> bool:
        return self.calls_known and self._replies > 0

    def _tokens(self) -> list[int] | None:
        """Give the tokens; who tells of none at all does not count them."""
        return self._usage if self.tokens_known else None

    def _edited(self) -> float | None:
        known = self.edits_known and self._written
        return min(1.0, self.changed / self._written) if known else None

    def _extra(self, tokens: list[int] | None, until: datetime | None) -> Mapping[str, object] | None:
        extra: dict[str, object] = {CACHED: tokens[1]} if tokens else {}
        if until is not None:
            extra[SEEN_UNTIL] = int((until - _EPOCH).total_seconds())
        return extra or None


_CUT = "there are too many runs in one transcript: the first were not followed to its end"
_NAMELESS = "the call names no skill"


def _wrong(name: str, identity: str, at: datetime | None) -> str | None:
    """Say what keeps a run from being recorded."""
    if not name.strip():
        return _NAMELESS
    if not identity:
        return "the call has no id that can be one"
    return "no time is told" if at is None else None
