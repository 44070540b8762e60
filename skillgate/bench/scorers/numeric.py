"""A number: the answer's, within a tolerance of the one expected."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from skillgate.bench.answers import part, require_path, shown
from skillgate.bench.pointer import NothingThere
from skillgate.bench.ports import Scored
from skillgate.model.benchmark import Tolerance

if TYPE_CHECKING:
    from skillgate.bench.ports import Rules, Surroundings
    from skillgate.model.benchmark import Evaluator, Task

POSITION = 5
DEFAULT = Tolerance(absolute=1e-9, relative=1e-9)
"""What floating point leaves of a correct result."""
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")


def prepare(task: Task, rules: Rules, surroundings: Surroundings) -> Numeric:  # noqa: ARG001 - as every scorer
    """Make ready to score one task; see :class:`skillgate.bench.ports.Prepare`."""
    require_path(rules.evaluator)
    expected = number_of(rules.expected.value)
    if expected is None:
        raise ValueError(f"expectedOutput.value: expected a number, found {shown(rules.expected.value)}")
    return Numeric(expected, rules.evaluator, rules.evaluator.tolerance or rules.expected.tolerance or DEFAULT)


def number_of(value: Any) -> float | None:  # noqa: ANN401 - JSON
    """Read a finite number, or a text that is nothing but one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value.strip()):
            return None
        value = float(value)
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


class Numeric:
    """Compares with one number."""

    def __init__(self, expected: float, evaluator: Evaluator, tolerance: Tolerance) -> None:
        self._expected = expected
        self._evaluator = evaluator
        self._tolerance = tolerance

    def score(self, output: Any) -> Scored:  # noqa: ANN401 - JSON
        """Score one answer: 1 within the tolerance, else 0."""
        try:
            found = part(output, self._evaluator)
        except NothingThere as missing:
            return Scored(0.0, passed=False, reason=f"the answer has nothing at {missing}")
        number = number_of(found)
        if number is None:
            return Scored(0.0, passed=False, reason=f"expected a number, found {shown(found)}")
        within = max(self._tolerance.absolute, self._tolerance.relative * abs(self._expected))
        if abs(number - self._expected) <= within:
            return Scored(1.0, passed=True, reason=f"{number:.17g} is within {within:g} of {self._expected:.17g}")
        return Scored(0.0, passed=False, reason=f"expected {self._expected:.17g} ± {within:g}, found {number:.17g}")
