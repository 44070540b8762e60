"""What differs between two reports: every skill before and after, and what a change does to skills together.

Texts in it come from skills: whoever shows them makes them inert first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, ClassVar, NamedTuple

from skillgate.model.across import AcrossChange, ListingUse
from skillgate.model.documents import DimensionChange, Header
from skillgate.model.finding import Finding, Suppressed
from skillgate.model.judging import Estimate, Points, Ratio
from skillgate.model.marks import Range
from skillgate.model.report import GateOutcome, Verdict
from skillgate.model.score import Badge, Dimension, Outcome

Count = Annotated[int, Range(0, None)]
_NO_GATE = Verdict(passed=None)


class State(Enum):
    """What became of a skill; whether it also moved shows by its two paths."""

    NEW = "new"
    REMOVED = "removed"
    CHANGED = "changed"  # score, badge, a dimension, what sessions and matches measure, or a finding is another one
    UNCHANGED = "unchanged"


class Side(NamedTuple):
    """One skill on one side.

    Attributes:
        path: its directory as shown there.
        score: the composite, None with ``reason``.
        evaluated: False where the operating system would not let it be read.
    """

    path: str
    score: Points | None
    badge: Badge | None
    reason: str | None = None
    coverage: Ratio = 0.0
    evaluated: bool = True


class SampledChange(NamedTuple):
    """One figure of sessions, matches or lift on both sides.

    Attributes:
        name: of a session's measure as its layer names it, or ``mc_score``, ``elo``, ``bradley_terry``, ``lift``.
        before, after: the figure with its interval and n; a value of None where that side did not measure it.
        change: after less before; None where one is missing, or the two are not the same measurement.
        reason: why there is no change, None where there is one.
    """

    name: str
    before: Estimate
    after: Estimate
    change: float | None = None
    reason: str | None = None


class SkillChange(NamedTuple):
    """One skill on both sides.

    Attributes:
        name: as it calls itself now; of a removed one, as it did.
        before: None for a new skill.
        after: None for a removed one.
        change: composite points, None where one side has no score.
        dimensions: those that either side measured.
        new, fixed: findings that came and went, whatever line they stand on. Those of a new skill have come; those
            of a removed one are in neither, and what is only set aside now is not fixed.
        kept: findings on both sides.
        suppressed: findings that are set aside after and were not before.
        regression: what the regression gate says of it; None for new and removed skills.
        sampled: what sessions, matches and lift measured; empty where neither side has any, for new and for removed
            skills.
    """

    name: str
    state: State
    before: Side | None
    after: Side | None
    change: float | None = None
    dimensions: Mapping[Dimension, DimensionChange] = {}
    new: tuple[Finding, ...] = ()
    fixed: tuple[Finding, ...] = ()
    kept: Count = 0
    suppressed: tuple[Suppressed, ...] = ()
    regression: GateOutcome | None = None
    sampled: tuple[SampledChange, ...] = ()

    @property
    def path(self) -> str:
        """The shown path: now, or where it was."""
        side = self.after or self.before
        return side.path if side else ""

    @property
    def moved(self) -> bool:
        """Whether it was somewhere else before."""
        return self.before is not None and self.after is not None and self.before.path != self.after.path

    @property
    def regressed(self) -> bool:
        """Whether the regression gate failed it."""
        return self.regression is not None and self.regression.verdict is Outcome.FAIL


class DiffSide(NamedTuple):
    """Where one side comes from: a label for people, and the commit where it is one (40 hexadecimal digits)."""

    label: str
    commit: str | None = None
    tool: str | None = None


class DiffSummary(NamedTuple):
    """A diff in a few numbers."""

    new: Count
    removed: Count
    changed: Count
    unchanged: Count
    moved: Count
    regressions: Count
    findings_new: Count
    findings_fixed: Count
    findings_kept: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff(Header):
    """``report diff A B``, and what a pull request does: from ``a`` (before) to ``b`` (after).

    ``of`` is the kind of both documents; ``skills`` are sorted by path; ``listing`` has the characters of ``a`` as
    ``before``; ``across`` is None where the documents do not say; ``hints`` say what a difference may come from.
    """

    TAG: ClassVar[tuple[str, str]] = ("kind", "diff")

    a: DiffSide
    b: DiffSide
    skills: tuple[SkillChange, ...]
    summary: DiffSummary
    of: str = "score"
    max_drop: float | None = None
    listing: tuple[ListingUse, ...] = ()
    across: AcrossChange | None = None
    gate: Verdict = _NO_GATE
    hints: tuple[str, ...] = ()
    profile: str = "any"
