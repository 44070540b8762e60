"""Compare as the published scorer of GAIA does: equal but for case, spaces, punctuation, and signs in numbers.

The expected value decides. If it is a number, the answer must be an equal number; ``$``, ``%`` and ``,`` in the answer
do not count. If it has a comma or semicolon, it is a list: as many items, each equal in order, and punctuation counts.
Else two texts are equal without white space and ASCII punctuation, in any case; punctuation counts if there is nothing
else.
"""

from __future__ import annotations

import math
import re
import string
from typing import TYPE_CHECKING, Any

from skillgate.bench.answers import scalar_text, shown
from skillgate.bench.scorers import right, scorer, wrong

if TYPE_CHECKING:
    from skillgate.bench.ports import Rules, Scored

POSITION = 9
BY_NAME = True
NEEDS = ("expectedOutput.value",)
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_NO_SIGNS = str.maketrans("", "", "$%,")


def _expected(rules: Rules) -> str:
    text = scalar_text(rules.expected.value)
    if text is None:
        raise ValueError("expectedOutput.value: expected a text or a number")
    return text


@scorer(require=_expected)
def quasi_exact(found: Any, rules: Rules) -> Scored:  # noqa: ANN401 - JSON
    """Score 1 if equal, else 0."""
    expected = _expected(rules)
    is_list = _number(expected) is None and ("," in expected or ";" in expected)
    items = found if is_list and isinstance(found, list) else [found]
    texts = [scalar_text(item) for item in items if item is not None]
    text = ",".join(one for one in texts if one is not None)
    if len(texts) < len(items) or None in texts or not _matches(expected, text, is_list=is_list):
        return wrong(f"expected {shown(expected)}, found {shown(found)}")
    return right("equal")


def _matches(expected: str, text: str, *, is_list: bool) -> bool:
    if not is_list:
        if _number(expected) is not None:
            return _number(expected) == _number(text.translate(_NO_SIGNS))
        wanted, found = _plain(expected), _plain(text)
        bare = wanted.translate(_NO_PUNCTUATION)
        return bare == found.translate(_NO_PUNCTUATION) if bare else wanted == found
    pairs = [re.split("[,;]", one) for one in (expected, text)]
    return len(pairs[0]) == len(pairs[1]) and all(map(_is_same_item, *pairs))


def _is_same_item(expected: str, text: str) -> bool:
    number = _number(expected)
    if number is not None:
        return number == _number(text.translate(_NO_SIGNS))
    return _plain(expected) == _plain(text)


def _plain(text: str) -> str:
    return re.sub(r"\s", "", text).lower()


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None  # "Nan" and "Infinity" are texts
