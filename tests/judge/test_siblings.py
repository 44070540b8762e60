"""Which skills one is told apart from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from skillgate.judge.siblings import COMMON, LISTED, MOST_LOOKED_AT, Shelves, listed
from skillgate.judge.subject import Sibling
from skillgate.skill.find import discover
from skillgate.skill.similarity import terms
from tests.skills import write_bytes, write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from skillgate.model.skill import SkillRoot

NAME, ABOUT = "merge-sheets", "Merges CSV sheets into one table. Use when rows of several sheets are to be joined."


def _root(path: Path) -> SkillRoot:
    (root,) = (root for root in discover([str(path)], cwd=str(path)).roots if root.name == path.name)
    return root


def _names(path: Path, most: int = 15) -> list[str]:
    return [one.name for one in Shelves().siblings(_root(path), NAME, ABOUT, most)]


def _repository(base: Path) -> Path:
    (base / ".git").mkdir(parents=True)
    return base / "skills"


def test_the_others_in_the_folder_are_listed_the_hardest_first(tmp_path: Path) -> None:
    skills = _repository(tmp_path)
    own = write_skill(skills, NAME, description=ABOUT)
    write_skill(skills, "brew-tea", description="Brews tea. Use when somebody is thirsty.")
    write_skill(skills, "split-sheets", description="Splits one sheet into several CSV sheets by the value of a row.")
    write_skill(skills, "chart-rows", description="Draws a chart of the rows of a table.")
    assert _names(own) == ["split-sheets", "chart-rows", "brew-tea"]
    assert _names(own, most=1) == ["split-sheets"]


def test_descriptions_come_with_when_to_use_on_one_line_cut_as_clients_cut_them(tmp_path: Path) -> None:
    skills = _repository(tmp_path)
    own = write_skill(skills, NAME, description=ABOUT)
    write_skill(skills, "a", frontmatter="name: a\ndescription: |\n  One\n  two\nwhen_to_use: now")
    write_skill(skills, "b", description="word " * 2_000)
    found = {one.name: one.description for one in Shelves().siblings(_root(own), NAME, ABOUT)}
    assert found["a"] == "One two - now"
    assert len(found["b"]) == LISTED
    assert found["b"].endswith("…")


@pytest.mark.parametrize(
    "frontmatter",
    [
        "name: other\ndescription: Joins sheets.\ndisable-model-invocation: true",
        "name: other\ndescription: Joins sheets.\npaths: ['*.csv']",
        "name: other\ndescription:",
        "name: other\ndescription: [Joins, sheets]",
    ],
)
def test_what_a_model_would_not_see_is_left_out(frontmatter: str, tmp_path: Path) -> None:
    skills = _repository(tmp_path)
    own = write_skill(skills, NAME, description=ABOUT)
    write_skill(skills, "other", frontmatter=frontmatter)
    write_skill(skills, "third", description="Something else.")
    assert _names(own) == ["third"]


def test_who_takes_a_neighbours_name_is_still_told_apart_from_it(tmp_path: Path) -> None:
    skills = _repository(tmp_path)
    own = write_skill(skills, "own-directory", frontmatter=f"name: {NAME}\ndescription: {ABOUT}")
    write_skill(skills, NAME, description="Joins sheets.")
    write_skill(skills, "other", frontmatter=f"name: {NAME}\ndescription: Joins columns.")
    found = Shelves().siblings(_root(own), NAME, ABOUT)
    assert {(one.name, one.description) for one in found} == {(NAME, "Joins sheets."), ("other", "Joins columns.")}


def test_two_neighbours_of_one_name_are_both_listed(tmp_path: Path) -> None:
    skills = _repository(tmp_path)
    own = write_skill(skills, NAME, description=ABOUT)
    write_skill(skills, "a", frontmatter="name: split-sheets\ndescription: Splits sheets.")
    write_skill(skills, "b", frontmatter="name: split-sheets\ndescription: A decoy.")
    assert {one.description for one in Shelves().siblings(_root(own), NAME, ABOUT)} == {"Splits sheets.", "A decoy."}


@pytest.mark.parametrize(
    "data", [b"", b"\xff\xfe---", b"---\nname: [", b"---\nname: x\n", b"no frontmatter", b"---\n- a\n---\n"]
)
def test_broken_neighbours_are_passed_over(data: bytes, tmp_path: Path) -> None:
    skills = _repository(tmp_path)
    own = write_skill(skills, NAME, description=ABOUT)
    write_bytes(skills, "broken", data)
    (skills / "broken-too" / "SKILL.md").mkdir(parents=True)
    (skills / "notes.txt").write_text("no skill")
    write_skill(skills, "third", description="Something else.")
    assert _names(own) == ["third"]


def test_a_huge_main_file_is_read_as_far_as_its_frontmatter_may_go(tmp_path: Path) -> None:
    skills = _repository(tmp_path)
    own = write_skill(skills, NAME, description=ABOUT)
    write_skill(skills, "large", description="Large.", body="é" * 4_000_000)
    assert _names(own) == ["large"]


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege there")
def test_a_link_to_the_skill_itself_or_out_of_the_tree_is_no_neighbour(tmp_path: Path) -> None:
    skills = _repository(tmp_path / "repository")
    own = write_skill(skills, NAME, description=ABOUT)
    (skills / "mirror").symlink_to(own)
    (skills / "outside").symlink_to(write_skill(tmp_path / "elsewhere", "outside", description="Secret."))
    third = write_skill(skills, "third", description="Something else.")
    (skills / "third-again").symlink_to(third)
    assert _names(own) == ["third"]


def test_a_skill_alone_in_its_folder_is_listed_with_those_of_its_plugin(tmp_path: Path) -> None:
    plugin = _repository(tmp_path).parent / "plugin"
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / ".claude-plugin" / "plugin.json").write_text('{"name": "p"}')
    own = write_skill(plugin / "skills" / "sheets", NAME, description=ABOUT)
    write_skill(plugin / "skills" / "tea", "brew-tea", description="Brews tea.")
    write_skill(tmp_path / "others", "stranger", description="Of no plugin.")
    assert _names(own) == ["brew-tea"]


def test_a_skill_without_neighbours_is_told_apart_from_common_ones(tmp_path: Path) -> None:
    own = write_skill(tmp_path, NAME, description=ABOUT)
    found = Shelves().siblings(_root(own), NAME, ABOUT)
    assert set(found) == set(COMMON)
    assert found[0].name == "spreadsheets"


def test_a_common_skill_of_the_same_name_is_left_out(tmp_path: Path) -> None:
    own = write_skill(tmp_path, "slides", description="Slides.")
    assert "slides" not in {one.name for one in Shelves().siblings(_root(own), "slides", "Slides.")}


def test_the_common_skills_are_many_different_and_listed_whole() -> None:
    assert len({one.name for one in COMMON}) == len(COMMON) >= 10
    assert all(listed(one.description, "") == one.description for one in COMMON)
    assert all(len(terms(one.description)) >= 6 for one in COMMON)


def test_it_makes_no_difference_which_paths_were_asked_for(tmp_path: Path) -> None:
    skills = _repository(tmp_path)
    own = write_skill(skills, NAME, description=ABOUT)
    for name in ("a", "b"):
        write_skill(skills, name, description=f"Skill {name}.")
    found = [
        Shelves().siblings(root, NAME, ABOUT)
        for path in (own, skills, tmp_path)
        for root in discover([str(path)]).roots
        if root.name == NAME
    ]
    assert len(found) == 3
    assert len(set(found)) == 1


def test_a_changed_description_changes_no_list_but_those_that_hold_it(tmp_path: Path) -> None:
    skills = _repository(tmp_path)
    words = ("merge", "split", "sheet", "row", "column", "chart", "table", "value", "date", "name", "total", "filter")
    for number in range(30):
        about = " ".join(words[(number * step) % len(words)] for step in (1, 2, 4, 7))
        write_skill(skills, f"skill-{number:02}", description=f"{about} things.")

    def lists() -> dict[str, tuple[Sibling, ...]]:
        roots = discover([str(skills)]).roots
        return {
            root.name: shelves.siblings(root, root.name, own, 5)
            for shelves in (Shelves(),)
            for root in roots
            for own in [(skills / root.name / "SKILL.md").read_text().split("description: ")[1].split("\n")[0]]
        }

    before = lists()
    write_skill(skills, "skill-07", description="chart value total total sort copy things, and a word of its own.")
    after = lists()
    holds = {
        name for found in (before, after) for name, others in found.items() if "skill-07" in {o.name for o in others}
    }
    changed = {name for name in before if before[name] != after[name]}
    assert 0 < len(changed - {"skill-07"}) < len(before) - 1
    assert changed - {"skill-07"} == holds - {"skill-07"}


def test_so_many_are_looked_at_and_not_more(tmp_path: Path) -> None:
    skills = _repository(tmp_path)
    for number in range(MOST_LOOKED_AT + 20):
        write_skill(skills, f"a{number:04}", description=f"Skill {number}.")
    own = write_skill(skills, NAME, description=ABOUT)
    assert len(_names(own, most=1_000)) == MOST_LOOKED_AT


def test_a_shelf_gives_what_a_look_gives_for_each_skill(tmp_path: Path) -> None:
    skills = _repository(tmp_path)
    for name in ("a", "b", "c"):
        write_skill(skills, name, description=f"Skill {name}.")
    shelves = Shelves()
    for root in discover([str(skills)]).roots:
        assert shelves.siblings(root, root.name, "Skill.") == Shelves().siblings(root, root.name, "Skill.")
