"""The vocabulary of scores: dimensions, depths, grades, badges, and what a sub-check gives."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.model.skill import Skill

SCORING_VERSION = 2  # changes whenever the same skill may get another number; such numbers are not compared
SCHEMA_VERSION = 1


class Dimension(Enum):
    """The ten dimensions, by falling weight."""

    TRIGGERING_ACCURACY = "triggering_accuracy"
    ORCHESTRATION_FITNESS = "orchestration_fitness"
    OUTPUT_QUALITY = "output_quality"
    SCOPE_CALIBRATION = "scope_calibration"
    PROGRESSIVE_DISCLOSURE = "progressive_disclosure"
    TOKEN_EFFICIENCY = "token_efficiency"  # noqa: S105 - a dimension's name
    ROBUSTNESS = "robustness"
    STRUCTURAL_COMPLETENESS = "structural_completeness"
    CODE_TEMPLATE_QUALITY = "code_template_quality"
    ECOSYSTEM_COHERENCE = "ecosystem_coherence"

    __hash__ = object.__hash__  # by identity, in C: tables are looked up by dimension tens of thousands of times


class Depth(Enum):
    """How deep an evaluation goes; each depth adds a layer to the one before."""

    QUICK = "quick"
    STANDARD = "standard"
    DEEP = "deep"
    CERTIFY = "certify"


class Outcome(Enum):
    """What a gate says: what was not measured is neither a pass nor a fail, and is shown so."""

    PASS = "pass"  # noqa: S105 - a verdict
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    UNMEASURED = "unmeasured"


class LayerName(Enum):
    """The layers that give scores to dimensions."""

    STATIC = "static"
    JUDGE = "judge"
    MONTECARLO = "montecarlo"

    __hash__ = object.__hash__


class Grade(Enum):
    """A letter for a score in [0, 1]: half-open ranges, from the method's table."""

    A = "A"
    B = "B"
    C = "C"
    D = "D"
    F = "F"

    @property
    def at_least(self) -> float:
        """Return the lowest score that earns the letter."""
        return _GRADES[self.value][0]

    @property
    def meaning(self) -> str:
        """Return what the letter means."""
        return _GRADES[self.value][1]

    @classmethod
    def of(cls, score: float) -> Grade:
        """Grade a score in [0, 1]."""
        return next(grade for grade, least in _RANKED if score >= least)


_GRADES = {
    "A": (0.90, "excellent: nothing worth an hour is left to do"),
    "B": (0.80, "good: small gaps"),
    "C": (0.70, "adequate: one or two plain things to improve"),
    "D": (0.60, "marginal: wants deliberate work"),
    "F": (0.00, "failing: wants to be done again"),
}


_RANKED = tuple((grade, _GRADES[grade.value][0]) for grade in Grade)


class Badge(Enum):
    """The badges, best first, with the composite (0–100) and the Elo rating that each asks for."""

    PLATINUM = "Platinum"
    GOLD = "Gold"
    SILVER = "Silver"
    BRONZE = "Bronze"

    @property
    def composite(self) -> float:
        """Return the lowest composite that earns the badge."""
        return float(_BADGES[self.value][0])

    @property
    def elo(self) -> float:
        """Return the lowest Elo rating that earns the badge, where a rating was computed."""
        return float(_BADGES[self.value][1])

    @property
    def stars(self) -> str:
        """Draw the badge: five stars for Platinum, two for Bronze."""
        return "★" * _BADGES[self.value][2]

    @property
    def meaning(self) -> str:
        """Return what the badge means."""
        return _BADGES[self.value][3]

    @classmethod
    def from_scores(cls, composite: float | None, elo: float | None = None) -> Badge | None:
        """Return the best badge whose composite (0–100) is reached and, where a rating was computed, whose Elo too."""
        if composite is None:
            return None
        reached = (badge for badge in cls if composite >= badge.composite and (elo is None or elo >= badge.elo))
        return next(reached, None)


_BADGES = {
    "Platinum": (90, 1600, 5, "a reference for others"),
    "Gold": (80, 1500, 4, "ready for production"),
    "Silver": (70, 1400, 3, "works, and can be improved"),
    "Bronze": (60, 1300, 2, "the least that is viable; not for users yet"),
}


class Evidence(NamedTuple):
    """One thing that a sub-check looked for."""

    text: str
    points: float  # what it earned, on the sub-check's scale of [0, 1]; negative for a deduction
    possible: float  # the most it could have earned (0 for a deduction)
    line: int | None = None  # where, None when it concerns no line
    advice: str | None = None  # the key of the advice that would earn the rest, None when there is none to give


class Measured(NamedTuple):
    """What a sub-check gives: a score in [0, 1] with its evidence, or None with the reason it measured nothing."""

    score: float | None
    evidence: tuple[Evidence, ...] = ()
    reason: str | None = None

    @classmethod
    def total(cls, evidence: tuple[Evidence, ...]) -> Measured:
        """Add the points up, cut to [0, 1]."""
        return cls(score=min(1.0, max(0.0, sum(item.points for item in evidence))), evidence=evidence)


class SubCheck(NamedTuple):
    """The declaration of a sub-check: one per file of ``static/subchecks``.

    ``weight`` is its share of the displayed layer-1 score; 0 for those that only feed their dimension.
    """

    dimension: Dimension
    weight: float
    summary: str
    measure: Callable[[Skill], Measured]
