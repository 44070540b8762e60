"""Places in texts and edits between texts, for any text."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from skillgate.lsp.text import Edit, Text, edits
from tests.lsp.editor import UNITS, offset

TEXTS = st.text(st.sampled_from("ab \r\n\u2028\x0c𝒜é🎉-")) | st.lists(st.sampled_from(["a\n", "b\r\n", "\n", "𝒜"])).map(
    "".join
)


def applied(text: str, made: tuple[Edit, ...]) -> str:
    """Make edits, the last first."""
    for edit in reversed(made):
        text = text[: edit.start] + edit.text + text[edit.stop :]
    return text


@given(TEXTS, TEXTS)
def test_edits_lead_from_one_text_to_the_other(before: str, after: str) -> None:
    made = edits(before, after)
    assert applied(before, made) == after
    assert all(one.stop <= two.start for one, two in pairwise(made))
    assert all(edit.start < edit.stop or edit.text for edit in made if before != after)


@given(TEXTS, TEXTS)
def test_no_edit_begins_or_ends_within_a_line_end(before: str, after: str) -> None:
    for edit in edits(before, after):
        for place in (edit.start, edit.stop):
            assert before[max(0, place - 1) : place + 1] != "\r\n" or place == 0


@given(TEXTS, st.sampled_from(sorted(UNITS)))
def test_a_place_leads_back_to_its_character(text: str, encoding: str) -> None:
    known = Text(text, encoding)
    for place in range(len(text) + 1):
        row, column = known.place(place)
        if text[max(0, place - 1) : place + 1] != "\r\n" or place == 0:
            assert known.offset((row, column)) == place
            assert offset(text, types.Position(row, column), encoding) == place


def test_a_place_behind_the_text_is_at_its_end() -> None:
    text = Text("ab\ncd")
    assert (text.offset((0, 9)), text.offset((9, 0)), text.offset((1, 9))) == (2, 5, 5)
