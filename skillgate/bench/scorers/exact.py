"""Compare for equality: a string with the answer as text, other values with type."""

from __future__ import annotations

import math
import unicodedata
from typing import TYPE_CHECKING, Any

from skillgate.bench.answers import joined, scalar_part, scalar_text, shown
from skillgate.bench.scorers import fold, right, scorer, wrong

if TYPE_CHECKING:
    from skillgate.bench.ports import Rules, Scored

POSITION = 1
ALIASES = ("exact_match",)
NEEDS = ("expectedOutput.value",)


@scorer()
def exact(found: Any, rules: Rules) -> Scored:  # noqa: ANN401 - JSON
    """Score 1 if equal, else 0."""
    if not isinstance(rules.expected.value, dict | list):
        found = scalar_part(found, rules.evaluator)
    if isinstance(rules.expected.value, str):
        return _as_text(found, rules.expected.value, rules)
    difference = _difference(rules.expected.value, found, "", rules)
    return right("equal") if difference is None else wrong(difference)


def _as_text(found: Any, expected: str, rules: Rules) -> Scored:  # noqa: ANN401 - JSON
    text = scalar_text(found)
    if text is None:
        return wrong(f"expected the string {shown(expected)}, found {shown(found)}")
    if _is_same(text, expected, rules):
        return right("equal")
    reason = f"expected {shown(expected)}, found {shown(text)}"
    if unicodedata.normalize("NFC", text) == unicodedata.normalize("NFC", expected):
        reason += "; they look the same but use different characters: set evaluator.normalize to ignore this"
    return wrong(reason)


def _is_same(text: str, expected: str, rules: Rules) -> bool:
    return fold(text.strip(), rules, sensitive=True) == fold(expected.strip(), rules, sensitive=True)


def _difference(expected: Any, found: Any, where: str, rules: Rules) -> str | None:  # noqa: ANN401 - JSON
    """Return the first difference of two values, None if they are equal."""
    place = where or "the answer"
    pairs: list[tuple[str | int, Any, Any]] = []
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
    elif not _is_equal(expected, found, rules):
        return f"{place}: expected {shown(expected)}, found {shown(found)}"
    differences = (_difference(one, other, joined(where, key), rules) for key, one, other in pairs)
    return next((difference for difference in differences if difference), None)


def _is_equal(expected: Any, found: Any, rules: Rules) -> bool:  # noqa: ANN401 - JSON
    if _is_number(expected) and _is_number(found):
        return _is_near(expected, found, rules)
    if isinstance(expected, str) and isinstance(found, str):
        return _is_same(found, expected, rules) or expected == found
    return type(expected) is type(found) and bool(expected == found)


def _is_near(expected: float, found: float, rules: Rules) -> bool:
    if expected == found:
        return True
    tolerance = rules.evaluator.tolerance or rules.expected.tolerance
    try:
        if tolerance is None or not (math.isfinite(expected) and math.isfinite(found)):
            return False
    except OverflowError:  # an integer too large for a float
        return False
    return abs(found - expected) <= max(tolerance.absolute, tolerance.relative * abs(expected))


def _is_number(value: Any) -> bool:  # noqa: ANN401 - JSON
    return isinstance(value, int | float) and not isinstance(value, bool)
