"""What a judge says it quotes is found where it stands, or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter

import pytest

from skillgate.judge.document import LONGEST_SOUGHT, MOST_CHARACTERS, MOST_SOUGHT, Library, Place, find_all
from skillgate.judge.subject import Page

CORPUS = Path(os.environ.get("SKILLGATE_TEST_DATA", ""), "corpus")
MAIN = """\
---
name: merge-sheets
---
# Merge *all* sheets

Read the **header** of every file first — it “decides” which
columns can be joined. Don't `drop_rows()` without asking.

> Undo it at once.
> Call `[...rows, last]` then.

| key | value |
| --- | --- |
| date | newest wins |

日本語の文章を読む。
"""
LIBRARY = Library((Page("SKILL.md", MAIN), Page("references/b.md", "Other words here.\r\nNewest   wins\tagain.\r\n")))


@pytest.mark.parametrize(
    ("quotation", "path", "line"),
    [
        ("name: merge-sheets", "SKILL.md", 2),
        ("# Merge *all* sheets", "SKILL.md", 4),
        ("Merge all sheets", "SKILL.md", 4),
        ("read the header of every file first", "SKILL.md", 6),
        ('it "decides" which columns can be joined', "SKILL.md", 6),
        ("“columns can be joined.”", "SKILL.md", 7),
        ("Don’t `drop_rows()` without asking.", "SKILL.md", 7),
        ("Don't drop_rows() without", "SKILL.md", 7),
        ("every file first - it", "SKILL.md", 6),
        ("Undo it at once.", "SKILL.md", 9),
        ("date | newest wins", "SKILL.md", 14),
        ("Call [...rows, last] then", "SKILL.md", 10),
        ("日本語の文章", "SKILL.md", 16),
        ("Read the header … can be joined", "SKILL.md", 6),
        ("Read the header [...] without asking", "SKILL.md", 6),
        ("...columns can be joined...", "SKILL.md", 7),
        ("Newest wins again", "references/b.md", 2),
    ],
)
def test_a_quotation_is_found_where_it_stands(quotation: str, path: str, line: int) -> None:
    place = LIBRARY.find(quotation)
    assert place is not None
    assert (place.path, place.line) == (path, line)


@pytest.mark.parametrize(
    "quotation",
    [
        "",
        "   ",
        "…",
        "**",
        "key",  # too short to show anything
        "Read the footer of every file",
        "do it at once",  # within another word, which says the opposite
        "Undo it at on",
        "every header of file",  # the words in another order
        "asking … Read the header",  # the parts in another order
        "Merge all sheets … Other words here",  # parts of two files
        "Read the header of every sheet",
    ],
)
def test_what_is_not_in_the_text_is_not_found(quotation: str) -> None:
    assert LIBRARY.find(quotation) is None


def test_the_words_shown_are_those_of_the_page() -> None:
    assert LIBRARY.find("READ THE HEADER") == Place("SKILL.md", 6, "Read the **header")


def test_a_character_that_a_fence_writes_out_does_not_hide_a_quotation() -> None:
    library = Library((Page("SKILL.md", "Give the\u200b answer to all."),))
    place = library.find("Give the⟦U+200B⟧ answer to all.")
    assert place is not None
    assert place.line == 1


def test_what_is_found_twice_counts_once_and_what_is_not_found_is_counted() -> None:
    places, dropped = find_all(["Undo it at once.", "> Undo it at once.", "never said", "nor this"], LIBRARY)
    assert [place.line for place in places] == [9]
    assert dropped == 2


def test_so_many_are_looked_for_and_the_rest_is_counted() -> None:
    places, dropped = find_all(["never said"] * MOST_SOUGHT + ["Undo it at once."], LIBRARY)
    assert (places, dropped) == ((), MOST_SOUGHT + 1)
    places, dropped = find_all(["never said"] * (MOST_SOUGHT - 1) + ["Undo it at once."], LIBRARY)
    assert (len(places), dropped) == (1, MOST_SOUGHT - 1)


def test_one_that_is_longer_than_any_judge_quotes_is_counted_and_not_looked_for() -> None:
    library = Library((Page("SKILL.md", "word " * 500),))
    assert find_all(["word " * (LONGEST_SOUGHT // 5)], library)[1] == 0
    assert find_all(["word " * (LONGEST_SOUGHT // 5) + "w"], library) == ((), 1)


@pytest.mark.parametrize(
    "quotation", ["zzzz nowhere", "word … " * 280 + "zzzz", "word " * 390 + "zzzz", "word … word … word … zzzz"]
)
def test_a_reply_of_very_many_quotations_costs_no_more_than_one_of_some(quotation: str) -> None:
    library = Library((Page("SKILL.md", "word " * 60_000),))
    started = perf_counter()
    places, dropped = find_all([quotation] * 400_000, library)
    assert perf_counter() - started < 1  # about a fifth of that; minutes where all are looked for
    assert (places, dropped) == ((), 400_000)


def test_a_long_quotation_is_shown_in_part() -> None:
    place = Library((Page("SKILL.md", "word " * 500),)).find("word " * 400)
    assert place is not None
    assert len(place.text) <= MOST_CHARACTERS
    assert place.text.endswith("…")


@pytest.mark.skipif(not CORPUS.is_dir(), reason="SKILLGATE_TEST_DATA names no test data")
def test_every_line_of_real_skills_is_found_at_a_line_that_says_the_same() -> None:
    lines = 0
    for path in sorted(CORPUS.rglob("SKILL.md"))[:60]:
        text = path.read_text(encoding="utf-8", errors="replace")
        written = text.split("\n")
        library = Library((Page("SKILL.md", text),))
        for line in (line.strip() for line in written if len(_words(line)) >= 30):
            place = library.find(line)
            assert place is not None, line
            assert _words(line)[:20] in _words("\n".join(written[place.line - 1 : place.line + 3])), line
            lines += 1
    assert lines > 1_000


def _words(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def test_a_skill_without_pages_holds_nothing() -> None:
    assert Library(()).find("anything at all") is None
