"""The bounded parser gives the tokens of the plain one on ordinary documents, and bounds the others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from skillgate.skill import commonmark

PLAIN = MarkdownIt("commonmark").enable("table")
DOCUMENTS = [
    "# A\n\ntext\n- list\n\n1. one\n   two\n\n> quote\nlazy\n\n```py\nx\n```\n\n***\n\n|a|b|\n|-|-|\n|c|d|\n",
    "Title\n===\n\nSub\n---\n\n    code\n\n<div>\n*x*\n</div>\n\n[a]: b 'c'\n\n[a] and <!-- x --> `y`\n",
    "- a\n- b\n\n  c\n* d\n+ e\n\n10) f\n~~~\ng\n~~~\n",
    "\n \t\n\ttab\n - a\n\tb\n-\tc\n  d\n===\n> - e\n> f\n- g\n\n      h\n",
    "- \u00a0i\x85\n- | j |\n  |---|\n  | k |\n \t",
    "- a\n  ---\n- b\n---\n- c\n2. d\n- e\n    f\n1. g\n<b>\n- h\n| i |\n|---|\n- j\n  - k\n l\n> m\n> - n\no",
    "para\n# heading\npara\n> q\n- l\n1. n\n2. m\n<b>\n```\nf",
]


def shape(text: str) -> list[tuple[str, str, int, object]]:
    """Give a document's block tokens as this project parses them."""
    return [(t.type, t.content, t.level, t.map) for t in commonmark.parse_blocks(text).tokens]


def plain(text: str) -> list[tuple[str, str, int, object]]:
    """Give them as the library's own rules do."""
    tokens: list[object] = []
    PLAIN.block.parse(text, PLAIN, {}, tokens)  # type: ignore[arg-type]
    read = (t for t in tokens if t.type in commonmark.READ)  # type: ignore[attr-defined]
    return [(t.type, t.content, t.level, t.map) for t in read]  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", DOCUMENTS)
def test_ordinary_documents_have_the_tokens_of_the_plain_parser(text: str) -> None:
    assert shape(text) == plain(text)


@pytest.mark.skipif("SKILLGATE_TEST_DATA" not in os.environ, reason="SKILLGATE_TEST_DATA names no test data")
def test_real_documents_have_the_tokens_of_the_plain_parser() -> None:
    files = sorted(Path(os.environ["SKILLGATE_TEST_DATA"], "corpus").rglob("*.md"))
    assert len(files) > 200
    for file in files:
        text = file.read_text(encoding="utf-8").replace("\r\n", "\n").replace("\x00", "")
        assert shape(text) == plain(text), file


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("x\n" * 19_000, True),
        ("x\n" * 21_000, False),
        ("x" * 65_000, True),
        ("x" * 66_000, False),
        ("> # h\nb\n" * 30_000, False),
        ("|a|\n|-|\n" + "|x|\n" * 19_000, True),
    ],
)
def test_what_is_not_read_is_said(text: str, complete: bool) -> None:
    assert commonmark.parse_blocks(text).complete is complete


def test_inline_work_has_a_budget() -> None:
    parsed = commonmark.parse_blocks("x")
    assert commonmark.parse_inline("[" * 60_000, parsed.environment) is None
    assert parsed.environment["inline work"] < 0


@pytest.mark.parametrize("text", ["<!-- a --> b", "<!--> b", "<!---> b", "a <!-- b", "a <!-- b --> <!-- c", "<b>x</b>"])
def test_comments_are_read_in_one_go(text: str) -> None:
    parsed = commonmark.parse_blocks("x")
    children = commonmark.parse_inline(text, parsed.environment)
    assert children is not None
    assert "".join(child.content for child in children) == text
