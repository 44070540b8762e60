"""The parts a score is made of, and how they are told; every version of the rubric has the same ones.

A part is worth points, or None, and carries the words for it: a template that is filled in only where somebody asks, so
that whoever scores a million invocations does not pay for it, and number and words come from the same branch.
"""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from skillgate.model.invocation import Accuracy, Component, Part

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.invocations.rubrics._baselines import Baseline
    from skillgate.model.invocation import Invocation

Worth: TypeAlias = tuple[float | None, str]
"""Points or None, and a template over the fields of Invocation and Baseline."""

# What each part can give, by component. Source: the rubric's tables.
PARTS = (
    (("ending", 25),),
    (("tokens", 8), ("tool calls", 6), ("time", 6)),
    (("accuracy", 12), ("completeness", 10), ("code quality", 8)),
    (("acceptance", 10), ("edits", 8), ("follow-ups", 7)),
)
COMPONENTS = tuple(Component)
POINTS = tuple(component.points for component in COMPONENTS)

# Source: the rubric's points for direct feedback.
ACCURACIES: dict[Accuracy, Worth] = {
    Accuracy.ACCURATE: (12.0, "the user found it accurate"),
    Accuracy.MOSTLY: (9.0, "the user found it mostly accurate"),
    Accuracy.PARTIALLY: (6.0, "the user found it partially accurate"),
    Accuracy.INACCURATE: (0.0, "the user found it inaccurate"),
}

_FLAGS = {True: "yes", False: "no", None: "unknown"}
_ALMOST = 1e-9  # a product such as 1.005 × 100 ends just below its half


class Adjustment(NamedTuple):
    """What is taken from the points of a component as a whole, a part of its own when it is told: points ≤ 0 of 0."""

    name: str
    points: float
    told: str


def half_up(points: float) -> float:
    """Round to two decimals, halves up (R6)."""
    return floor(points * 100 + 0.5 + _ALMOST) / 100


def tell(
    invocation: Invocation,
    baseline: Baseline,
    worths: Sequence[Sequence[Worth]],
    adjustments: Mapping[Component, Adjustment],
    assumed: Mapping[str, float],
) -> tuple[Part, ...]:
    """Put the parts of all components into words, with no text of the record in them.

    Args:
        invocation: what they come from.
        baseline: what it was measured by.
        worths: by component, in the order of ``PARTS``; parts at the end that cannot apply are left out.
        adjustments: by component, where there is one.
        assumed: by field of Invocation, what the rubric takes where nothing was recorded.
    """
    facts = _facts(invocation, baseline, assumed)
    told: list[Part] = []
    for component, parts, row in zip(COMPONENTS, PARTS, worths, strict=True):
        for (name, most), (points, words) in zip(parts, row, strict=False):
            told.append(Part(component, name, points, most, words.format_map(facts)))
        if (taken := adjustments.get(component)) is not None:
            told.append(Part(component, taken.name, taken.points, 0, taken.told))
    return tuple(told)


def _facts(invocation: Invocation, baseline: Baseline, assumed: Mapping[str, float]) -> dict[str, str]:
    # Of texts only the baseline's own: a template cannot name one of the record.
    facts = {key: _shown(value) for key, value in invocation._asdict().items() if not isinstance(value, str)}
    facts |= {key: f"{value:g} (assumed)" for key, value in assumed.items() if getattr(invocation, key) is None}
    return facts | {
        key: value if isinstance(value, str) else _shown(value) for key, value in baseline._asdict().items()
    }


def _shown(value: object) -> str:
    if value is None or isinstance(value, bool):
        return _FLAGS[value]
    return f"{value:.12g}" if isinstance(value, int | float) else ""
