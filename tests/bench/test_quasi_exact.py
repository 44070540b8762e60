"""The scorer of GAIA's answers: its published rules, each with answers that pass and that do not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.bench.test_scorers import scored


@pytest.mark.parametrize(
    ("expected", "right", "wrong"),
    [
        ("17", [17, 17.0, " 17 ", "$17", "17%", "1,7", "1.7e1"], [18, "17 apples", "", None, True, [1, 7], {"n": 17}]),
        (1204.5, ["1,204.5", "$1204.50", 1204.5], ["1204,5", "1204"]),
        ("St. Petersburg", ["st petersburg", "ST.PETERSBURG!"], ["Petersburg", "", ["St. Petersburg"]]),
        ("seagull", ["sea gull", "sea-gull", "Seagull."], ["gull", 0]),
        ("a, b, c", ["a,b,c", "A; b ;C", ["a", "b", "c"]], ["b, a, c", "a, b", "a b c", "a, b, c, d", "a, b, c."]),
        ("Ada, 5", ["ada,5.0", ["Ada", 5], "Ada, $5"], ["Ada, five", "5, Ada", [["Ada"], 5]]),
        ("é", ["É", {"answer": "É"}], ["e", {"a": "é", "b": "é"}]),
        ("-0", [0, "-0.0"], ["zero"]),
        ("true", [True, "True"], [False, 1]),
        ("Nan", ["nan", "NaN."], ["", "inf", "Anna"]),
        ("Infinity", ["infinity"], ["1e999", ""]),
        ("Nan, Infinity", ["nan,infinity"], ["nan, 1e999"]),
        ("?!", ["?!", " ? ! "], ["", "...", "!"]),
    ],
)  # fmt: skip
def test_spelling_does_not_count_and_content_does(expected: Any, right: list[Any], wrong: list[Any]) -> None:
    outcome = {"type": "quasi_exact", "value": expected}
    assert [one for one in right if not scored(outcome, one).passed] == []
    assert [one for one in wrong if scored(outcome, one).passed] == []


def test_it_needs_a_text_or_a_number() -> None:
    with pytest.raises(ValueError, match="expected a text or a number"):
        scored({"type": "quasi_exact", "value": ["a"]}, "a")
