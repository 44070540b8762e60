"""Equality: a text with the answer's text, anything else with the answer's own type."""

from __future__ import annotations

import math
import unicodedata
from typing import TYPE_CHECKING, Any

from skillgate.bench.answers import folded, part, require_path, scalar_text, shown
from skillgate.bench.pointer import NothingThere, joined
from skillgate.bench.ports import Scored

if TYPE_CHECKING:
    from skillgate.bench.ports import Rules, Surroundings
    from skillgate.model.benchmark import Evaluator, Task, Tolerance

POSITION = 1
ALIASES = ("exact_match",)


def prepare(task: Task, rules: Rules, surroundings: Surroundings) -> Exact:  # noqa: ARG001 - as every scorer
    """Make ready to score one task; see :class:`skillgate.bench.ports.Prepare`."""
    require_path(rules.evaluator)
    sensitive = rules.evaluator.case_sensitive
    if sensitive is None:
        sensitive = rules.expected.case_sensitive
    tolerance = rules.evaluator.tolerance or rules.expected.tolerance
    return Exact(rules.expected.value, rules.evaluator, tolerance, case_sensitive=sensitive is not False)


class Exact:
    """Compares with one value."""

    def __init__(
        self,
        expected: Any,  # noqa: ANN401 - JSON
        evaluator: Evaluator,
        tolerance: Tolerance | None,
        *,
        case_sensitive: bool,
    ) -> None:
        self._expected = expected
        self._evaluator = evaluator
        self._tolerance = tolerance
        self._case_sensitive = case_sensitive

    def score(self, output: Any) -> Scored:  # noqa: ANN401 - JSON
        """Score one answer: 1 where it is equal, else 0."""
        try:
            found = part(output, self._evaluator)
        except NothingThere as missing:
            return Scored(0.0, passed=False, reason=f"the answer has nothing at {missing}")
        if isinstance(self._expected, str):
            return self._as_text(found)
        difference = self._difference(self._expected, found, "")
        if difference is None:
            return Scored(1.0, passed=True, reason="equal")
        return Scored(0.0, passed=False, reason=difference)

    def _as_text(self, found: Any) -> Scored:  # noqa: ANN401 - JSON
        text = scalar_text(found)
        if text is None:
            return Scored(0.0, passed=False, reason=f"expected the text {shown(self._expected)}, found {shown(found)}")
        if self._folded(text) == self._folded(self._expected):
            return Scored(1.0, passed=True, reason="equal")
        reason = f"expected {shown(self._expected)}, found {shown(text)}"
        if unicodedata.normalize("NFC", text) == unicodedata.normalize("NFC", self._expected):
            reason += "; they look alike and are other characters: evaluator.normalize compares them as one"
        return Scored(0.0, passed=False, reason=reason)

    def _folded(self, text: str) -> str:
        return folded(text.strip(), case_sensitive=self._case_sensitive, normalize=self._evaluator.normalize)

    def _difference(self, expected: Any, found: Any, where: str) -> str | None:  # noqa: ANN401 - JSON
        """Say where two values differ first, None where they do not."""
        place = where or "the answer"
        if _is_number(expected) and _is_number(found):
            return None if self._near(expected, found) else f"{place}: expected {shown(expected)}, found {shown(found)}"
        if isinstance(expected, dict) and isinstance(found, dict):
            for key in expected.keys() | found.keys():
                if key not in found:
                    return f"{joined(where, key)}: expected {shown(expected[key])}, found nothing"
                if key not in expected:
                    return f"{joined(where, key)}: expected nothing, found {shown(found[key])}"
            pairs = [(key, expected[key], found[key]) for key in expected]
        elif isinstance(expected, list) and isinstance(found, list):
            if len(expected) != len(found):
                return f"{place}: expected {len(expected)} items, found {len(found)}: {shown(found)}"
            pairs = [(index, one, other) for index, (one, other) in enumerate(zip(expected, found, strict=True))]
        elif (
            isinstance(expected, str) and isinstance(found, str) and self._folded(expected) == self._folded(found)
        ) or (type(expected) is type(found) and expected == found):
            return None
        else:
            return f"{place}: expected {shown(expected)}, found {shown(found)}"
        return next(
            (told for key, one, other in pairs if (told := self._difference(one, other, joined(where, key)))), None
        )

    def _near(self, expected: float, found: float) -> bool:
        if expected == found:
            return True
        try:
            if self._tolerance is None or not (math.isfinite(expected) and math.isfinite(found)):
                return False
        except OverflowError:  # a whole number that no float holds
            return False
        return abs(found - expected) <= max(self._tolerance.absolute, self._tolerance.relative * abs(expected))


def _is_number(value: Any) -> bool:  # noqa: ANN401 - JSON
    return isinstance(value, int | float) and not isinstance(value, bool)
