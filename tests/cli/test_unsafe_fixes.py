"""check --unsafe-fixes: what is left alone without it, what it changes, and what it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.running import run
from tests.skills import BODY, DESCRIPTION, write_skill

if TYPE_CHECKING:
    from pathlib import Path

OLD = "vercel-react-rules"


def pair(tmp_path: Path, mention: str, *, description: str = DESCRIPTION, name: str = OLD) -> tuple[Path, Path]:
    """Write a skill whose name is not that of its directory, and one that says something of it."""
    first = write_skill(tmp_path / "skills", "react-rules", frontmatter=f"name: {name}\ndescription: {DESCRIPTION}")
    head = f"name: review\ndescription: {description}"
    second = write_skill(tmp_path / "skills", "review", frontmatter=head, body=f"{BODY}\n{mention}\n")
    return first / "SKILL.md", second / "SKILL.md"


MENTIONS = (
    (OLD, f"Load the `{OLD}` skill first."),
    (OLD, f"Then run /{OLD} on it."),
    (OLD, f"First {OLD}, then this."),
    ("Rules", "Load the Rules skill first."),
    ("Rules", "Load `Rules` first."),
    ("rules", "Then run `/rules` on it."),
)


@pytest.mark.parametrize(("name", "mention"), MENTIONS)
def test_a_name_that_a_text_mentions_is_renamed_on_request_only(name: str, mention: str, tmp_path: Path) -> None:
    first, second = pair(tmp_path, mention, name=name)
    before = first.read_bytes(), second.read_bytes()
    done = run(tmp_path, "check", "--fix")
    assert (first.read_bytes(), second.read_bytes()) == before
    line = before[1].decode().split("\n").index(mention) + 1
    assert f"skills/review/SKILL.md:{line} mentions the name; see --diff --unsafe-fixes" in done.err

    shown = run(tmp_path, "check", "--diff", "--unsafe-fixes")
    assert (shown.code, first.read_bytes()) == (1, before[0])
    assert "+name: react-rules\n" in shown.out
    assert f"+{mention.replace(name, 'react-rules')}\n" in shown.out
    assert "run with --fix --unsafe-fixes" in shown.err

    done = run(tmp_path, "check", "--fix", "--unsafe-fixes")
    assert f"+{mention.replace(name, 'react-rules')}\n" in done.err
    assert "name: react-rules\n" in first.read_text(encoding="utf-8")
    assert second.read_text(encoding="utf-8") == before[1].decode().replace(
        mention, mention.replace(name, "react-rules")
    )
    assert run(tmp_path, "check", "--diff", "--unsafe-fixes").code == 0


@pytest.mark.parametrize(
    ("name", "mention"),
    [
        (OLD, f"See [the rules](https://example.com/{OLD}/x)."),
        (OLD, f"Keep {OLD}-old and {OLD}.md as they are."),
        ("rules", "Read the rules first."),
        ("rules", "Write `kind = 'rules'` first."),
        ("rules", "The `rules` of it come first."),
        (OLD, "Read all of it first."),
    ],
)
def test_what_is_no_mention_keeps_no_name(name: str, mention: str, tmp_path: Path) -> None:
    first, second = pair(tmp_path, mention, name=name)
    before = second.read_bytes()
    run(tmp_path, "check", "--fix")
    assert "name: react-rules\n" in first.read_text(encoding="utf-8")
    assert second.read_bytes() == before


def test_a_description_that_mentions_the_name_is_renamed_too(tmp_path: Path) -> None:
    said = f"Reviews a page. Use when a page is done; for its rules use {OLD}."
    first, second = pair(tmp_path, "Read all of it first.", description=f'"{said}"')
    assert "mentions the name" in run(tmp_path, "check", "--fix").err
    run(tmp_path, "check", "--fix", "--unsafe-fixes")
    assert "name: react-rules\n" in first.read_text(encoding="utf-8")
    assert said.replace(OLD, "react-rules") in second.read_text(encoding="utf-8")


def test_a_namesake_keeps_its_name(tmp_path: Path) -> None:
    first, second = pair(tmp_path, "Read all of it first.")
    copy = write_skill(tmp_path / "other", OLD, frontmatter=f"name: {OLD}\ndescription: {DESCRIPTION}")
    before = second.read_bytes(), (copy / "SKILL.md").read_bytes()
    run(tmp_path, "check", "--fix", "--unsafe-fixes")
    assert "name: react-rules\n" in first.read_text(encoding="utf-8")
    assert (second.read_bytes(), (copy / "SKILL.md").read_bytes()) == before


def test_other_fixes_of_a_file_that_mentions_the_name_are_made_with_it(tmp_path: Path) -> None:
    _, second = pair(tmp_path, f"Load the `{OLD}` skill first.")
    second.write_bytes(second.read_bytes().rstrip(b"\n").replace(b"\n", b"\r\n"))
    run(tmp_path, "check", "--fix", "--unsafe-fixes")
    assert second.read_bytes().endswith(b"`react-rules` skill first.\n")
    assert b"\r" not in second.read_bytes()


def test_the_option_needs_another(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills")
    done = run(tmp_path, "check", "--unsafe-fixes")
    assert (done.code, done.out) == (2, "")
    assert "add --fix, --diff or --patch" in done.err


def test_a_patch_holds_unsafe_fixes_on_request_only(tmp_path: Path) -> None:
    pair(tmp_path, f"Load the `{OLD}` skill first.")
    assert run(tmp_path, "check", "--patch", "safe.patch").code == 0
    assert (tmp_path / "safe.patch").read_text(encoding="utf-8") == ""
    assert run(tmp_path, "check", "--patch", "all.patch", "--unsafe-fixes").code == 1
    assert "+name: react-rules\n" in (tmp_path / "all.patch").read_text(encoding="utf-8")
