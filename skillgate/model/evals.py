"""The eval sets of a skill: what was read of them, what it is worth, and the document that says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from skillgate.model.check_report import Header
from skillgate.model.finding import Finding, Severity
from skillgate.model.report import Verdict
from skillgate.model.score import Count, Range
from skillgate.named_tuple import NamedTuple

STYLES = ("direct", "indirect")

Share = Annotated[float, Range(0, 1)]


class TriggerCase(NamedTuple):
    """A prompt and whether the skill is meant for it. ``file`` is relative to the skill's directory, lines from 1."""

    prompt: str
    should_trigger: bool
    file: str
    line: int
    style: str = "direct"


class Check(NamedTuple):
    """What an answer is checked against."""

    kind: str  # ``assertion``
    text: str
    file: str  # file, line: where it is
    line: int
    can_fail: bool = True


class TaskCase(NamedTuple):
    """A task, and what its answer is checked against.

    ``expected`` describes a good answer, ``""`` for none; ``attached`` are the files that it is given, as written.
    """

    id: str
    prompt: str
    file: str
    line: int
    expected: str = ""
    checks: tuple[Check, ...] = ()
    attached: tuple[str, ...] = ()


class Unread(NamedTuple):
    """Something below ``evals/`` that was not read, and why.

    ``unreadable`` means that the operating system refused: nothing is known of the file.
    """

    file: str
    line: int
    message: str
    severity: Severity = Severity.ERROR
    unreadable: bool = False


class Recorded(NamedTuple):
    """How one case came out in one arm of a recorded run."""

    case: str
    arm: str  # with or without the skill, as the record calls it
    passed: int
    runs: int
    file: str  # file, line: where the record is
    line: int
    paired: bool = True  # whether the record is of a kind that can have an arm without the skill


class EvalFile(NamedTuple):
    """A file that was read, or a folder of fixtures.

    ``kind`` is one of trigger-set, triggers, evals, plugin-case, results, fixtures; ``cases`` how many there are in it.
    """

    file: str
    kind: str
    cases: Count


class EvalSet(NamedTuple):
    """All that lies in one ``evals/``."""

    files: tuple[EvalFile, ...] = ()
    triggers: tuple[TriggerCase, ...] = ()
    tasks: tuple[TaskCase, ...] = ()
    unread: tuple[Unread, ...] = ()
    recorded: tuple[Recorded, ...] = ()

    @property
    def empty(self) -> bool:
        """Return whether there is nothing at all: no case, no record, no file."""
        return not (self.files or self.unread)


class ShownCase(NamedTuple):
    """A case as ``evals show`` lists it.

    ``should_trigger`` is None for a task; ``checks`` counts what its answer is checked against.
    """

    prompt: str
    should_trigger: bool | None
    file: str
    line: Count
    style: str | None = None
    checks: Count = 0


class SetSummary(NamedTuple):
    """One skill's (or plugin's) eval sets in numbers."""

    name: str
    path: str
    files: tuple[EvalFile, ...]
    should: Count
    should_not: Count
    tasks: Count  # cases whose answer is checked
    checks: Count
    recorded: Count
    unread: Count  # places that were not read
    judged: bool  # whether ``score`` takes these prompts in place of generated ones
    cases: tuple[ShownCase, ...] = ()  # every one of them, where they were asked for


_NO_GATE = Verdict(passed=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalsReport(Header):
    """``evals lint`` and ``evals show``: the sets that were found, and what is wrong with them.

    ``threshold`` is the rate that the sets should be able to show, None if nothing was linted. ``skills`` is how many
    were looked at, with eval sets or without. ``complete`` is False if something could not be read.
    """

    TAG: ClassVar[tuple[str, str]] = ("kind", "evals")

    sets: tuple[SetSummary, ...]
    skills: Count
    findings: tuple[Finding, ...] = ()
    threshold: Share | None = None
    complete: bool = True
    gate: Verdict = _NO_GATE
