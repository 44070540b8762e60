"""Text from files is safe to show, and mistyped words get a suggestion."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgate.format import did_you_mean, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("Größe 日本 \U0001f44d", "Größe 日本 \U0001f44d"),
        ("a\nb\r\nc\td", "a b c d"),
        ("over\rwritten", "over\\x0dwritten"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x9b31m", "\\x9b31m"),
        ("\x00\x7f", "\\x00\\x7f"),
        ("a\u202eb", "a\\u{202e}b"),
        ("a\u2066b\u2069", "a\\u{2066}b\\u{2069}"),
        ("a\u200bb\ufeff", "a\\u{200b}b\\u{feff}"),
        ("\U000e0041", "\\u{e0041}"),
        ("\u2028\u2029", "\\u{2028}\\u{2029}"),
        ("\ud800", "\\u{d800}"),
        ("می\u200cخواهم \U0001f469\u200d\U0001f4bb", "می\u200cخواهم \U0001f469\u200d\U0001f4bb"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(text=st.text(alphabet=st.characters()))
def test_nothing_invisible_is_left(text: str) -> None:
    left = {unicodedata.category(c) for c in printable(text) if c not in "\u200c\u200d"}
    assert not left & {"Cc", "Cf", "Cs", "Zl", "Zp"}


@given(text=st.text(alphabet=st.characters()))
def test_showing_twice_changes_nothing(text: str) -> None:
    assert printable(printable(text)) == printable(text)


def test_a_near_word_is_suggested_and_a_far_one_is_not() -> None:
    assert did_you_mean("scor", ["check", "score"]) == " (did you mean 'score'?)"
    assert did_you_mean("xyz", ["check", "score"]) == ""
