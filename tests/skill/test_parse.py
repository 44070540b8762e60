"""Bytes to a Skill: never an exception, always the facts that are there."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillgate.model.skill import Skill, SkillSource
from skillgate.skill.find import discover, read
from skillgate.skill.parse import MAX_BYTES, parse
from skillgate.static import layer
from tests.skills import write_bytes, write_skill

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "---\nname: one\ndescription: Fills forms. Use when the user has one.\n---\n"


def parsed(directory: Path) -> Skill:
    root = next(item for item in discover([str(directory)]).roots if item.name == directory.name)
    source = read(root)
    assert isinstance(source, SkillSource)
    return parse(source)


def rules(skill: Skill) -> list[str]:
    return [problem.rule for problem in skill.problems]


def test_a_plain_skill_has_no_problems(tmp_path: Path) -> None:
    skill = parsed(write_skill(tmp_path))
    assert (skill.problems, skill.unscored) == ((), None)
    assert skill.has_body


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (HEAD + "a\nb\n", 6),
        (HEAD + "a\nb", 6),
        (HEAD + "a\n\n\n\nb\n", 7),
        (HEAD + "a\n\n \n\t\n", 6),
        (HEAD + "a\n" + "\n" * 190, 6),
        (HEAD.replace("\n", "\r\n") + "a\r\nb\r\n", 6),
        (HEAD.replace("\n", "\r") + "a\rb\r", 6),
    ],
)
def test_lines_are_physical_and_runs_of_blank_ones_count_once(text: str, count: int, tmp_path: Path) -> None:
    assert parsed(write_bytes(tmp_path, "one", text.encode())).lines == count


@pytest.mark.parametrize("lines", [99, 199, 600, 800])
def test_a_file_of_so_many_lines_has_so_many(lines: int, tmp_path: Path) -> None:
    text = HEAD + "".join(f"x{number}\n" for number in range(lines - 4))
    assert parsed(write_bytes(tmp_path, "one", text.encode())).effective_lines == lines


@pytest.mark.parametrize(
    ("characters", "tokens", "lines"), [(26, 10, 5), (27, 11, 5), (26_000, 10_000, 5), (26_001, 10_001, 801)]
)
def test_tokens_are_estimated_from_the_body_alone(characters: int, tokens: int, lines: int, tmp_path: Path) -> None:
    text = HEAD + "x" * (characters - 1) + "\n"
    skill = parsed(write_bytes(tmp_path, "one", text.encode()))
    assert (skill.tokens, skill.effective_lines) == (tokens, lines)


def test_characters_and_not_bytes_make_tokens(tmp_path: Path) -> None:
    skill = parsed(write_bytes(tmp_path, "one", (HEAD + "文" * 25 + "\n").encode()))
    assert skill.tokens == 10


def test_line_numbers_are_those_of_the_file(tmp_path: Path) -> None:
    skill = parsed(write_bytes(tmp_path, "one", (HEAD + "\n# Title\n\nText.\n").encode()))
    assert [item.line for item in skill.headings] == [6]
    assert [item.line for item in skill.blocks] == [8]


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_change_nothing_but_a_finding(end: str, tmp_path: Path) -> None:
    text = HEAD + "\n# Title\n\nText\n[x](references/gone.md).\n\n```py\nx = 1\n```\n"
    plain = parsed(write_bytes(tmp_path / "a", "one", text.encode()))
    other = parsed(write_bytes(tmp_path / "b", "one", text.replace("\n", end).encode()))
    assert rules(other) == ["line_ends"]
    assert other.links == plain.links
    assert other._replace(root=plain.root, problems=()) == plain


def test_a_mark_at_the_start_changes_nothing_but_a_finding(tmp_path: Path) -> None:
    plain = parsed(write_bytes(tmp_path / "a", "one", HEAD.encode() + b"Text.\n"))
    other = parsed(write_bytes(tmp_path / "b", "one", b"\xef\xbb\xbf" + HEAD.encode() + b"Text.\n"))
    assert rules(other) == ["byte_order_mark"]
    assert other._replace(root=plain.root, problems=()) == plain


def test_problems_add_up(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf---\r\nname: one\r\nname: two\r\nlicense: 1\r\n---\r\n"
    skill = parsed(write_bytes(tmp_path, "one", data, files={"references": "x"}))
    assert set(rules(skill)) == {
        "byte_order_mark",
        "line_ends",
        "duplicate_key",
        "field_type",
        "not_a_directory",
        "no_body",
    }


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"", "empty_file"),
        (b" \n\t\r\n", "empty_file"),
        (b"---\n---\n", "empty_file"),
        (b"\xff\xfe\x00", "not_utf8"),
        (b"a\x00b", "nul_byte"),
        (b"x" * (MAX_BYTES + 1), "file_too_large"),
    ],
    ids=["no bytes", "white space", "delimiters", "not UTF-8", "NUL", "too large"],
)
def test_what_holds_no_document_is_not_scored(data: bytes, rule: str, tmp_path: Path) -> None:
    skill = parsed(write_bytes(tmp_path, "one", data))
    assert rules(skill) == [rule]
    assert skill.unscored == skill.problems[0].message
    assert not skill.has_body


def test_a_file_at_the_limit_is_scored(tmp_path: Path) -> None:
    data = HEAD.encode() + (b"x" * 79 + b"\n") * (MAX_BYTES // 80)
    assert parsed(write_bytes(tmp_path, "one", data[:MAX_BYTES])).unscored is None


def test_the_files_beside_it_are_those_that_hold_something(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "references/a.md": "x",
        "references/deep/b.png": b"\x89PNG\x00",
        "references/empty.md": "",
        "assets/c.bin": b"\xff",
        "scripts/d.py": "x",
        "e.md": "x",
    }
    skill = parsed(write_skill(tmp_path, "one", files=files))
    here = skill.root.directory
    assert skill.references == {f"{here}/references/a.md", f"{here}/references/deep/b.png"}
    assert skill.assets == {f"{here}/assets/c.bin"}


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a right there")
def test_links_out_of_the_tree_and_in_circles_hold_nothing(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_text("x", encoding="utf-8")
    directory = write_skill(tmp_path / "repository", "one", files={"references/a.md": "x"})
    (tmp_path / "repository" / ".git").mkdir()
    (directory / "references" / "out").symlink_to(tmp_path / "outside")
    (directory / "references" / "loop").symlink_to(".")
    (directory / "assets").symlink_to(tmp_path / "outside")
    skill = parsed(directory)
    assert {path.rpartition("/")[2] for path in skill.references} == {"a.md"}
    assert skill.assets == frozenset()
    assert rules(skill) == ["not_a_directory"]


def test_what_is_named_in_any_way_is_linked(tmp_path: Path) -> None:
    write_skill(tmp_path, "two-sheets")
    files = {f"references/{name}.md": "x" for name in "abcdef"}
    body = (
        "See [a](references/a.md), `references/b.md`, references/c.md and ![d](./references/d.md#x).\n\n"
        "```sh\ncat references/e.md\n```\n\n<!-- [f](references/f.md) -->\n\nThen `two-sheets`.\n"
    )
    skill = parsed(write_skill(tmp_path, "one", body=body, files=files))
    assert {path.rpartition("/")[2] for path in skill.linked if "references" in path} == {
        "a.md",
        "b.md",
        "c.md",
        "d.md",
    }
    assert {path.rpartition("/")[2] for path in skill.related} == {"two-sheets"}


@pytest.mark.parametrize(
    ("prose", "words"),
    [("One two three of the four.", 6), ("sheet, table, chart, pivot, export", 0), ("", 0), ("# One two three", 0)],
)
def test_words_of_prose(prose: str, words: int, tmp_path: Path) -> None:
    assert parsed(write_skill(tmp_path, "one", body=prose + "\n")).prose_words == words


@pytest.mark.parametrize("name", ["with space", "ünïcode", "new\nline", "#x?y", "%20", "-dash"])
def test_a_directory_may_have_any_name(name: str, tmp_path: Path) -> None:
    if sys.platform == "win32" and set(name) & set("\n?"):
        pytest.skip("no such name there")
    head = "name: one\ndescription: Use when asked for it."
    skill = parsed(write_skill(tmp_path, name, frontmatter=head, files={"references/a.md": "x"}))
    assert skill.root.name == name
    assert len(skill.references) == 1


PIECES = st.sampled_from(
    (
        *("---\n", "name: x\n", "description: Use when asked.\n", "# A\n", "- b\n", "> ", "`", "```py\n", "|", "\n"),
        *("[x](references/y)", "\r", "\x00", "<!--", "-->", "<b>", "\\", "&amp;", "é", "\ufeff", "\u202e", "    "),
        *("\t", "*", "_", "1. ", "MUST "),
    )
)


@given(st.one_of(st.binary(max_size=200), st.lists(PIECES, max_size=40).map(lambda parts: "".join(parts).encode())))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_make_it_raise_and_every_finding_has_a_place(tmp_path: Path, data: bytes) -> None:
    skill = parsed(write_bytes(tmp_path, "one", data))
    result = layer.run(skill)
    lines = data.count(b"\n") + data.count(b"\r") + 1
    assert all(1 <= finding.line <= lines and finding.column >= 1 for finding in result.claims)
    assert all(measured.score is None or 0 <= measured.score <= 1 for measured in result.scores.values())
    assert (skill.unscored is None) == bool(result.scores)
