"""Where a link leads, judged by its form and by the files that are there."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from skillgate.model.skill import LinkKind
from skillgate.skill.find import discover
from skillgate.skill.links import Resolver
from tests.skills import write_skill

if TYPE_CHECKING:
    from pathlib import Path

REFERENCE, SKILL, LOCAL, OTHER = LinkKind.REFERENCE, LinkKind.SKILL, LinkKind.LOCAL, LinkKind.OTHER


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """Make a plugin with two skills, an agent and a command."""
    files = {"references/a b.md": "x", "references/deep/c.md": "x", "notes.md": "x", "references/empty.md": ""}
    write_skill(tmp_path / "skills", "one", files=files)
    write_skill(tmp_path / "skills", "two-sheets", files={"references/d.md": "x"})
    for path in (".claude-plugin/plugin.json", "agents/reviewer.md", "commands/run.md", "skills/empty-one/SKILL.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("" if "empty" in path else "{}", encoding="utf-8")
    return tmp_path


@pytest.fixture
def resolver(plugin: Path) -> Resolver:
    return _resolver(plugin / "skills" / "one")


def _resolver(directory: Path) -> Resolver:
    (root,) = (root for root in discover([str(directory)]).roots if root.name == directory.name)
    return Resolver(root)


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        ("references/a.md", REFERENCE),
        ("./references/a.md#x", REFERENCE),
        ("references/", REFERENCE),
        ("references/../notes.md", LOCAL),
        ("reference/a.md", LOCAL),
        ("notes.md", LOCAL),
        ("../notes.md", LOCAL),
        ("SKILL.md", LOCAL),
        ("scripts/run.py", LOCAL),
        ("../two/SKILL.md", SKILL),
        ("../two/skill.md", SKILL),
        ("../two", SKILL),
        ("../two/", SKILL),
        ("two/SKILL.md#steps", SKILL),
        ("../../agents/x.md", SKILL),
        ("agents/x.md", SKILL),
        ("commands/x.md", SKILL),
        ("skills/two", SKILL),
        ("https://example.com/skills/two", OTHER),
        ("mailto:a@example.com", OTHER),
        ("#steps", OTHER),
        ("?x=1", OTHER),
        ("", OTHER),
        (".", OTHER),
        ("/skills/two", OTHER),
        ("~/skills/two", OTHER),
        ("\\\\host\\share", OTHER),
        ("C:\\skills\\two", OTHER),
        ("skills/{name}/SKILL.md", OTHER),
        ("skills/<name>/SKILL.md", OTHER),
        ("skills/*/SKILL.md", OTHER),
        ("skills/$NAME", OTHER),
        ("references/...", OTHER),
        ("references/%00.md", OTHER),
    ],
)
def test_the_form_tells_what_a_target_is(resolver: Resolver, target: str, kind: LinkKind) -> None:
    assert resolver.classify(target) is kind


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("references/a%20b.md", "skills/one/references/a b.md"),
        ("references/a b.md#x", "skills/one/references/a b.md"),
        ("references/deep/../a b.md?x", "skills/one/references/a b.md"),
        ("references/deep", "skills/one/references/deep"),
        ("references/empty.md", "skills/one/references/empty.md"),
        ("references/gone.md", None),
        ("references/A b.md", None),
        ("notes.md", "skills/one/notes.md"),
        ("./notes.md", "skills/one/notes.md"),
        ("../two-sheets/SKILL.md", "skills/two-sheets/SKILL.md"),
        ("two-sheets/SKILL.md", "skills/two-sheets/SKILL.md"),
        ("skills/two-sheets/SKILL.md", "skills/two-sheets/SKILL.md"),
        ("agents/reviewer.md", "agents/reviewer.md"),
        ("../../commands/run.md", "commands/run.md"),
        ("../../../../../etc/SKILL.md", None),
        ("https://example.com", None),
        ("#steps", None),
    ],
)
def test_a_target_leads_to_a_file_of_the_tree(resolver: Resolver, plugin: Path, target: str, found: str | None) -> None:
    resolved = resolver.resolve(target, resolver.classify(target))
    assert resolved is None if found is None else resolved == _in_tree(resolver, plugin, found)


def _in_tree(resolver: Resolver, plugin: Path, path: str) -> str:
    """Write a path of the plugin as one of the tree, whose root may lie above or be the plugin itself."""
    here = resolver.resolve("SKILL.md", LinkKind.LOCAL)
    assert here is not None
    prefix = here.removesuffix("skills/one/SKILL.md")
    return f"{prefix}{path}"


@pytest.mark.parametrize(
    ("target", "other"),
    [
        ("../two-sheets/SKILL.md", "skills/two-sheets"),
        ("../two-sheets", "skills/two-sheets"),
        ("../two-sheets/references/d.md", "skills/two-sheets"),
        ("agents/reviewer.md", "agents/reviewer.md"),
        ("../../commands/run.md", "commands/run.md"),
        ("references/a b.md", None),
        ("../one/SKILL.md", None),
        ("../empty-one/SKILL.md", None),
        ("../../.claude-plugin/plugin.json", None),
    ],
)
def test_a_file_belongs_to_another_skill_or_agent_or_to_none(
    resolver: Resolver, plugin: Path, target: str, other: str | None
) -> None:
    path = resolver.resolve(target, LinkKind.SKILL)
    assert path is not None
    assert resolver.other_skill(path) == (other and _in_tree(resolver, plugin, other))


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("two-sheets", "skills/two-sheets"),
        ("kit:two-sheets", "skills/two-sheets"),
        ("three-sheets", None),
        ("one", None),
        ("empty-one", None),
        ("Two-Sheets", None),
        ("two", None),
        ("../two-sheets", None),
    ],
)
def test_a_sibling_is_found_by_a_name_that_is_plainly_one(
    resolver: Resolver, plugin: Path, name: str, found: str | None
) -> None:
    assert resolver.sibling(name) == (found and _in_tree(resolver, plugin, found))


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a right there")
def test_a_link_out_of_the_tree_leads_nowhere(tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("x", encoding="utf-8")
    directory = write_skill(tmp_path / "repository" / "skills", "one", files={"references/real.md": "x"})
    (tmp_path / "repository" / ".git").mkdir()
    (directory / "references" / "out.md").symlink_to(secret)
    (directory / "references" / "loop.md").symlink_to("loop.md")
    (directory / "references" / "in.md").symlink_to("real.md")
    resolver = _resolver(directory)
    assert resolver.resolve("references/out.md", REFERENCE) is None
    assert resolver.resolve("references/loop.md", REFERENCE) is None
    assert resolver.resolve("references/in.md", REFERENCE) is not None
