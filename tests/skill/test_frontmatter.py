"""The frontmatter: where it ends, what its keys hold and on which line, and what is wrong with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgate.skill.frontmatter import MAX_BYTES, parse, split


@pytest.mark.parametrize(
    ("text", "yaml", "body", "line"),
    [
        ("---\nname: x\n---\nBody\n", "name: x", "Body\n", 4),
        ("---\nname: x\n---", "name: x", "", 4),
        ("---\n---\nBody", "", "Body", 3),
        ("--- \nname: x\n---\t\nBody", "name: x", "Body", 4),
        ("---\nname: a --- b\nx: ---\n---\nBody", "name: a --- b\nx: ---", "Body", 5),
        ("---\nname: x\n---\n---\nBody", "name: x", "---\nBody", 4),
        ("---\na: |\n  ---\n---\nBody", "a: |\n  ---", "Body", 5),
        ("---\n\nname: x\n\n---\n\nBody", "\nname: x\n", "\nBody", 6),
    ],
)
def test_a_document_is_cut_at_its_delimiter_lines(text: str, yaml: str, body: str, line: int) -> None:
    cut = split(text)
    assert (cut.yaml, cut.body, cut.body_line, cut.problem) == (yaml, body, line, None)


@pytest.mark.parametrize(
    "text", ["", "# Title", "\n---\nname: x\n---\n", " ---\nname: x\n---\n", "----\n----\n", "--\n"]
)
def test_without_a_first_delimiter_all_of_it_is_body(text: str) -> None:
    cut = split(text)
    assert (cut.yaml, cut.body, cut.body_line) == (None, text, 1)
    assert cut.problem is not None
    assert cut.problem.rule == "frontmatter_missing"


@pytest.mark.parametrize("text", ["---", "---\n", "---\nname: x\n", "---\nname: x\n ---\n", "---\nname: x\n----\n"])
def test_without_a_second_one_nothing_is_frontmatter(text: str) -> None:
    cut = split(text)
    assert (cut.yaml, cut.body, cut.body_line) == (None, text.partition("\n")[2], 2)
    assert cut.problem is not None
    assert cut.problem.rule == "frontmatter_unclosed"


@given(st.lists(st.sampled_from(["---", "", "a: b", " ---", "# x", "--- "])).map("\n".join))
def test_nothing_is_lost_in_the_cut(text: str) -> None:
    cut = split(text)
    lines = text.split("\n")
    assert "\n".join(lines[cut.body_line - 1 :]) == cut.body
    if cut.yaml is not None and cut.body_line > 3:
        assert "\n".join(lines[1 : cut.body_line - 2]) == cut.yaml


def test_keys_know_their_lines_in_the_file() -> None:
    head, problems = parse("name: x\n\ndescription: >-\n  one\n  two\nmetadata:\n  category: workflow")
    assert problems == ()
    assert head.valid
    assert dict(head.lines) == {"name": 2, "description": 4, "metadata": 7}
    assert head.text("description") == "one two"
    assert head.line("license") == 1


def test_text_is_stripped_and_anything_else_is_none() -> None:
    head, _ = parse("name: '  x '\ndescription: 12\nlicense:")
    assert (head.text("name"), head.text("description"), head.text("license"), head.text("missing")) == (
        "x",
        "",
        "",
        "",
    )


@pytest.mark.parametrize(
    "source",
    [
        "- a\n- b",
        "just text",
        "12",
        "a: b: c",
        "a: [1",
        "a: 'b",
        "\ta: b",
        "a: *gone",
        "<<: {a: b}",
        "? [a]\n: b",
        "--- a\n--- b",
    ],
)
def test_what_is_no_mapping_is_one_problem_with_its_line(source: str) -> None:
    head, problems = parse(source)
    assert not head.valid
    assert dict(head.values) == {}
    assert [problem.rule for problem in problems] == ["frontmatter_invalid"]
    assert 2 <= problems[0].span.line <= 2 + source.count("\n") + 1
    assert "\n" not in problems[0].message


@pytest.mark.parametrize(
    "source",
    [
        "a: " + "[" * 40 + "]" * 40,
        "a: &a [" + "x, " * 99 + "x]\n" + "".join(f"b{n}: [{', '.join(['*a'] * 10)}]\n" for n in range(6)),
        "a: [" + "x, " * 3000 + "x]",
        "a: " + "[" * 30000,
    ],
    ids=["depth", "aliases", "nodes", "deeper than a stack"],
)
def test_a_bomb_is_refused_before_it_is_built(source: str) -> None:
    head, problems = parse(source)
    assert not head.valid
    assert [problem.rule for problem in problems] == ["frontmatter_invalid"]


def test_the_last_of_two_values_counts_and_both_places_are_known() -> None:
    head, problems = parse("name: x\ndescription: one\ndescription: two")
    assert head.text("description") == "two"
    assert [(problem.rule, problem.span.line) for problem in problems] == [("duplicate_key", 4)]


def test_beyond_64_kib_nothing_is_read() -> None:
    head, problems = parse("a: " + "x" * MAX_BYTES)
    assert not head.valid
    assert [problem.rule for problem in problems] == ["frontmatter_too_large"]


@given(st.text(max_size=300))
def test_no_text_makes_it_raise(source: str) -> None:
    head, problems = parse(source)
    assert head.valid or problems
