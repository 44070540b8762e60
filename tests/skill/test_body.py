"""The body: sections and what they hold, text as a model reads it, code, tables and links, each with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skillgate.skill.find import discover
from skillgate.skill.links import Resolver
from skillgate.skill.markdown import Body
from tests.skills import write_skill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def body(tmp_path: Path) -> Callable[[str], Body]:
    """Give a function that reads a body, which begins on line 10, of a skill with one reference and a sibling."""
    write_skill(tmp_path, "two-sheets")
    (root,) = discover([str(write_skill(tmp_path, "one", files={"references/a.md": "x"}))]).roots
    resolver = Resolver(root)
    return lambda text: Body(text, first_line=10, resolver=resolver)


def test_a_section_holds_what_stands_below_it_up_to_the_next_of_its_level(body: Callable[[str], Body]) -> None:
    first = "# One\n\nA b c.\n\n## Two\n\nD e.\n\n### Three\n\n[f](../two-sheets) [g](references/a.md)\n\n"
    read = body(first + "## Four\n\n```\nx\n\ny\n```\n")
    assert [(item.level, item.text, item.line, item.words, item.links, item.code_lines) for item in read.headings] == [
        (1, "One", 10, 7, 1, 2),
        (2, "Two", 14, 4, 1, 0),
        (3, "Three", 18, 2, 1, 0),
        (2, "Four", 22, 0, 0, 2),
    ]


@pytest.mark.parametrize(
    ("text", "level", "heading"),
    [
        ("## A `b` and __c__ ##\n", 2, "A ◌ and c"),
        ("A\nb\n---\n", 2, "A b"),
        ("   ### A\n", 3, "A"),
        ("> ## A\n", 2, "A"),
        ("- ## A\n", 2, "A"),
        ("## [A](references/a.md)\n", 2, "A"),
        ("##\n", 2, ""),
    ],
)
def test_headings_as_commonmark_has_them(body: Callable[[str], Body], text: str, level: int, heading: str) -> None:
    (found,) = body(text).headings
    assert (found.level, found.text) == (level, heading)


@pytest.mark.parametrize(
    "text", ["#A\n", "    ## A\n", "\\## A\n", "```\n## A\n```\n", "<!--\n## A\n-->\n", "A\n\n---\n"]
)
def test_what_is_no_heading(body: Callable[[str], Body], text: str) -> None:
    assert body(text).headings == ()


def test_text_is_what_a_model_reads_as_instruction(body: Callable[[str], Body]) -> None:
    read = body("Run `x` and [see](references/a.md), [gone](references/b.md) <!-- not this --> now.\n")
    (block,) = read.blocks
    assert " ".join(block.text.split()) == "Run ◌ and see, now."


def test_blocks_keep_their_lines(body: Callable[[str], Body]) -> None:
    read = body("One\ntwo.\n\n- three\n- four\n\n> five\n\n1. six\n\n   seven\n")
    assert [(item.text, item.line) for item in read.blocks] == [
        ("One\ntwo.", 10),
        ("three", 13),
        ("four", 14),
        ("five", 16),
        ("six", 18),
        ("seven", 20),
    ]


def test_a_code_span_over_two_lines_keeps_the_lines_below_it(body: Callable[[str], Body]) -> None:
    (block,) = body("One `two\nthree` four,\nfive.\n").blocks
    assert block.text.count("\n") == 2


def test_tagged_passages_are_text_and_comments_are_not(body: Callable[[str], Body]) -> None:
    read = body(
        "<important>\nOne two.\n</important>\n\n<!-- three\n\nfour -->\n\n<script>\nfive\n</script>\n\n<b>six</b>\n"
    )
    assert [(item.text.strip(), item.line) for item in read.blocks] == [("One two.", 10), ("six", 22)]


def test_a_comment_that_never_closes_hides_the_rest(body: Callable[[str], Body]) -> None:
    read = body("One.\n\n<!-- two\n\n## Three\n\nFour.\n")
    assert [item.text for item in read.blocks] == ["One."]
    assert read.headings == ()


@pytest.mark.parametrize(
    ("text", "language", "code", "line", "end", "closed"),
    [
        ("```py\nx\n```\n", "py", "x\n", 10, 12, True),
        ("~~~ Python  title=x\nx\n~~~\n", "python", "x\n", 10, 12, True),
        ("````md\n```py\nx\n```\n````\n", "md", "```py\nx\n```\n", 10, 14, True),
        ("```\nx\n```\n", "", "x\n", 10, 12, True),
        ("```c++\nx\n```\n", "c++", "x\n", 10, 12, True),
        ("- a\n\n  ```sh\n  x\n  ```\n", "sh", "x\n", 12, 14, True),
        ("> ```sh\n> x\n> ```\n", "sh", "x\n", 10, 12, True),
        ("```sh\nx\n", "sh", "x\n", 10, 11, False),
        ("```sh\nx", "sh", "x", 10, 11, False),
        ("```sh\n```\n", "sh", "", 10, 11, True),
        ("```sh\n\n\n```\n", "sh", "\n\n", 10, 13, True),
        ("> ```sh\n> x\n\nend\n", "sh", "x\n", 10, 11, False),
    ],
)
def test_code_blocks(
    body: Callable[[str], Body], text: str, language: str, code: str, line: int, end: int, *, closed: bool
) -> None:
    (block,) = body(text).code_blocks
    assert (block.language, block.code, block.line) == (language, code, line)
    assert (block.end_line, block.closed) == (end, closed)


def test_backticks_within_a_line_are_no_block(body: Callable[[str], Body]) -> None:
    assert body("Write ```json or ``` here.\n").code_blocks == []


def test_tables_with_a_row(body: Callable[[str], Body]) -> None:
    read = body("| a | `b` |\n|---|---|\n| c | d |\n\n| e |\n|---|\n\n| f | g |\n|---|---|\n|  |  |\n")
    assert read.table_headers == [(10, ("a", "◌"))]


@pytest.mark.parametrize("text", ["| a | b |\n| c | d |\n", "```\n| a |\n|---|\n| c |\n```\n", "a | b\n\n---|---\n"])
def test_what_is_no_table(body: Callable[[str], Body], text: str) -> None:
    assert body(text).table_headers == []


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("[x](references/a.md)\n", 10, 5),
        ("One\ntwo [x](references/a.md)\n", 11, 9),
        ("- [x](references/a.md)\n", 10, 7),
        ("> - a\n>   [x](references/a.md)\n", 11, 9),
        ("| a |\n|---|\n| [x](references/a.md) |\n", 12, 7),
        ("## [x](references/a.md)\n", 10, 8),
        ("![x](references/a.md)\n", 10, 6),
        ("One  \n[x](references/a.md)\n", 11, 5),
        ("One\\\n[x](references/a.md)\n", 11, 5),
        ("One `a\nb` two\n[x](references/a.md)\n", 12, 5),
        ("One <b\nid=a>\n[x](references/a.md)\n", 12, 5),
        ('[y](references/a.md "a\ntitle")\n[x](references/b.md)\n', 12, 5),
    ],
)
def test_a_link_knows_its_place(body: Callable[[str], Body], text: str, line: int, column: int) -> None:
    link = body(text).links[-1]
    assert (link.span.line, link.span.column) == (line, column)


def test_links_in_order_with_what_they_lead_to(body: Callable[[str], Body]) -> None:
    read = body("[a](references/a.md) [b](references/b.md) <https://example.com> [c][1]\n\n[1]: ../gone\n")
    assert [(link.target, link.resolved is not None, link.dead) for link in read.links] == [
        ("references/a.md", True, False),
        ("references/b.md", False, True),
        ("https://example.com", False, False),
        ("../gone", False, True),
    ]


def test_prose_lines_are_folded_for_comparison(body: Callable[[str], Body]) -> None:
    read = body("Read  the\nFILE.\n\n- [ ] Read the\n* file.\n\n1. Read the\n\n```\nread the\n```\n\n# Read the\n")
    assert read.prose_lines == [(10, "read the"), (11, "file."), (13, "read the"), (14, "file."), (16, "read the")]


@pytest.mark.parametrize(
    ("text", "anything"),
    [
        ("", False),
        ("\n \n", False),
        ("# One\n", False),
        ("<!-- x -->\n", False),
        ("---\n\n***\n", False),
        ("```py\n\n```\n", False),
        ("[gone](references/gone.md)\n", False),
        ("One.\n", True),
        ("```py\nx\n```\n", True),
        ("- one\n", True),
        ("| a |\n|---|\n", True),
    ],
)
def test_what_counts_as_anything_at_all(body: Callable[[str], Body], text: str, *, anything: bool) -> None:
    assert body(text).holds_anything is anything


@pytest.mark.parametrize(
    "text",
    [
        "> " * 100_000 + "x\n",
        "- " * 50_000 + "x\n",
        "[" * 100_000 + "\n",
        "![" * 50_000 + "](a)" * 1000 + "\n",
        "*" * 100_000 + "x\n",
        "`" * 100_000 + "x\n",
        "<" * 100_000 + "\n",
        "x" * 1_000_000 + "\n",
        "| a |\n|---|\n" + "| " * 20_000 + "\n",
        "output " * 20_000 + "\n",
        "a\n" * 100_000,
    ],
    ids=[
        "quotes",
        "lists",
        "brackets",
        "images",
        "asterisks",
        "backticks",
        "angles",
        "line",
        "table",
        "words",
        "lines",
    ],
)
def test_nothing_written_to_exhaust_a_parser_raises(body: Callable[[str], Body], text: str) -> None:
    assert isinstance(body(text).blocks, list)
