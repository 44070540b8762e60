"""What a catalogue takes of the lists that clients show: figures, limits, and which skills are counted together."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest

from skillgate.cli.main import main
from skillgate.model.finding import Client, Listing, Member, SkillTexts
from skillgate.scoring.listing import (
    LIMITS,
    comparable,
    harness,
    listed_text,
    listing_use,
    main_file,
    over_budget,
    shelf,
)
from tests.skills import write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from skillgate.model.finding import ListingUse

CLAUDE, CODEX = Client.CLAUDE_CODE, Client.CODEX


def member(
    path: str, description: str = "", *, plugin: str | None = None, when: str = "", listed: bool = True, name: str = ""
) -> Member:
    """A skill whose name is its directory's, unless another is given."""
    named = name or path.rpartition("/")[2]
    listing = Listing(named, description, when_to_use=when, listed=listed, description_line=3)
    return Member(path, listing, SkillTexts, plugin=plugin)


def use(*members: Member) -> dict[tuple[Client, str], ListingUse]:
    return {(item.client, item.place): item for item in listing_use(members)}


def test_the_limits_are_those_of_the_clients_documentation() -> None:
    assert {client: (limits.one, limits.all) for client, limits in LIMITS.items()} == {
        CLAUDE: (1_536, 8_000),
        CODEX: (1_024, 8_000),
    }


def test_names_and_descriptions_count_and_when_to_use_for_the_client_that_joins_it() -> None:
    found = use(member("pdf", "x" * 100, when="y" * 50), member("csv", "z" * 10))
    assert found[CLAUDE, ""].characters == 3 + 100 + 3 + 50 + 3 + 10  # joined by " - "
    assert found[CODEX, ""].characters == 3 + 100 + 3 + 10
    assert {item.skills for item in found.values()} == {2}
    assert {item.budget for item in found.values()} == {8_000}


def test_when_to_use_alone_is_listed_without_a_joint() -> None:
    assert listed_text(member("pdf", when="now").listing, CLAUDE) == "now"
    assert listed_text(member("pdf", "d", when="now").listing, CLAUDE) == "d - now"
    assert listed_text(member("pdf", "d", when="now").listing, CODEX) == "d"


@pytest.mark.parametrize("client", [CLAUDE, CODEX])
def test_a_description_counts_up_to_the_clients_limit_and_is_named_beyond_it(client: Client) -> None:
    limit = LIMITS[client].one
    found = use(member("at", "x" * limit), member("over", "x" * (limit + 1)))[client, ""]
    assert found.characters == 2 + 4 + 2 * limit
    assert found.cut == ("over",)


def test_what_no_model_sees_is_not_counted() -> None:
    found = use(member("pdf", "x" * 10), member("csv", "x" * 2_000, listed=False))[CLAUDE, ""]
    assert (found.skills, found.characters, found.cut) == (1, 13, ())


def test_each_plugin_has_a_list_of_its_own() -> None:
    found = use(member("a/x", "12345", plugin="a"), member("b/y", "123", plugin="b"), member("z", "1"))
    assert {key[1]: item.characters for key, item in found.items() if key[0] is CLAUDE} == {"": 2, "a": 6, "b": 4}
    assert [key[1] for key in found] == ["", "a", "b"] * 2


def test_folders_of_different_projects_have_lists_of_their_own() -> None:
    found = use(member("web/.claude/skills/pdf", "1"), member("api/.claude/skills/csv", "12"))
    assert {key[1]: item.characters for key, item in found.items()} == {"web/skills": 4, "api/skills": 5}


def test_of_one_name_one_is_listed_and_copies_for_other_clients_are_not() -> None:
    found = use(
        member(".claude/skills/pdf", "12345"),
        member(".codex/skills/pdf", "123"),
        member(".cursor/skills/pdf", "1"),
        member("skills/pdf", "1234567"),
        member("skills/csv", "1"),
    )
    assert found[CLAUDE, "skills"].characters == 3 + 5 + 3 + 1
    assert found[CODEX, "skills"].characters == 3 + 3 + 3 + 1


def test_one_skill_alone_has_no_list() -> None:
    assert use(member("pdf", "x")) == {}
    assert use() == {}


def test_a_baseline_stands_beside_and_what_it_lacks_took_nothing() -> None:
    members = [member("a/x", "12345", plugin="a"), member("z", "1")]
    found = listing_use(members, before={("claude-code", ""): 70, ("codex", "a"): 5})
    assert [item.before for item in found] == [70, 0, 0, 5]
    assert {item.before for item in listing_use(members)} == {None}


@pytest.mark.parametrize(("more", "hits"), [(0, 0), (1, 1)])
def test_over_the_budget_the_longest_is_named(more: int, hits: int) -> None:
    members = [member(f"s{n}", "x" * 998) for n in range(7)] + [member("s7", "x" * (998 + more), plugin=None)]
    found = list(over_budget(CLAUDE)(members))
    assert len(found) == hits
    for clash in found:
        assert (clash.path, clash.hit.span.line, clash.other) == ("s7", 3, None)
        assert "the 8 skills take 8,001 characters of the 8,000 that Claude Code lists" in clash.hit.message


def test_budgets_are_of_plugins() -> None:
    halves = [member(f"{plugin}/s{n}", "x" * 1_000, plugin=plugin) for plugin in "ab" for n in range(6)]
    assert list(over_budget(CODEX)(halves)) == []
    whole = [item._replace(plugin="a") for item in halves]
    assert list(over_budget(CODEX)(whole)) == []  # of equal names one is listed
    named = [member(f"a/t{n}", "x" * 1_000, plugin="a") for n in range(8)]
    (clash,) = over_budget(CODEX)(named)
    assert "the 8 skills in a take 8,016 characters" in clash.hit.message


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".claude/skills/pdf", ".claude"),
        ("a/.codex/skills/x/y", ".codex"),
        (".github/pdf", ""),
        ("skills/.claude/pdf", ""),
        ("../skills/pdf", ""),
        ("./skills/pdf", ""),
        ("", ""),
    ],
)
def test_the_harness_is_the_dot_directory_around_skills(path: str, expected: str) -> None:
    assert harness(path) == expected


def test_shelves_and_parts() -> None:
    assert shelf(member("x/skills/group/pdf")) == (None, "x/skills")
    assert shelf(member("x/pdf")) == (None, "x")
    assert shelf(member("x/skills/pdf", plugin="x")) == ("x", "")
    parts = comparable([member("skills/b"), member(".claude/skills/a"), member("skills/a")])
    assert [[item.path for item in part] for part in parts] == [[".claude/skills/a"], ["skills/a", "skills/b"]]
    assert (main_file(member(".")), main_file(member("a/b"))) == ("SKILL.md", "a/b/SKILL.md")


def test_the_report_has_the_figures(tmp_path: Path) -> None:
    for name in ("pdf", "csv"):
        write_skill(tmp_path, name, frontmatter=f"name: {name}\ndescription: {name * 10}\nwhen_to_use: now")
    out = io.StringIO()
    assert main(["score", "--json"], stdout=out, stderr=io.StringIO(), environ={}, cwd=str(tmp_path)) == 0
    listing = json.loads(out.getvalue())["listing"]
    assert [(item["client"], item["characters"], item["skills"]) for item in listing] == [
        ("claude-code", 2 * (3 + 30 + 6), 2),
        ("codex", 2 * (3 + 30), 2),
    ]
