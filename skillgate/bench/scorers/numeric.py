"""Compare numbers with a tolerance."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from skillgate.bench.answers import scalar_part, shown
from skillgate.bench.scorers import right, scorer, wrong
from skillgate.model.benchmark import Tolerance

if TYPE_CHECKING:
    from skillgate.bench.ports import Rules, Scored

POSITION = 5
NEEDS = ("expectedOutput.value",)
DEFAULT = Tolerance(absolute=1e-9, relative=1e-9)  # rounding errors of a correct result
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")


def number_of(value: Any) -> float | None:  # noqa: ANN401 - JSON
    """Return a finite number, also from a string that is one; else None."""
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _expected(rules: Rules) -> float:
    number = number_of(rules.expected.value)
    if number is None:
        raise ValueError(f"expectedOutput.value: expected a number, found {shown(rules.expected.value)}")
    return number


@scorer(require=_expected)
def numeric(found: Any, rules: Rules) -> Scored:  # noqa: ANN401 - JSON
    """Score 1 within the tolerance, else 0."""
    expected, number = _expected(rules), number_of(scalar_part(found, rules.evaluator))
    if number is None:
        return wrong(f"expected a number, found {shown(found)}")
    tolerance = rules.evaluator.tolerance or rules.expected.tolerance or DEFAULT
    within = max(tolerance.absolute, tolerance.relative * abs(expected))
    if abs(number - expected) <= within:
        return right(f"{number:.17g} is within {within:g} of {expected:.17g}")
    return wrong(f"expected {expected:.17g} ± {within:g}, found {number:.17g}")
