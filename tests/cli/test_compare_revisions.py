"""compare sets a skill beside the same skill in git, whichever side names the revision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.running import commit, run
from tests.skills import BODY, write_skill

if TYPE_CHECKING:
    from pathlib import Path

_DEAD_LINK = BODY + "\nSee [the rows](references/gone.md) and [a skill](../other/SKILL.md).\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    write_skill(tmp_path / "skills", "tidy", body=_DEAD_LINK)
    write_skill(tmp_path / "skills", "other")
    commit(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("skills/tidy", "HEAD:skills/tidy"),
        ("HEAD:skills/tidy", "skills/tidy"),
        ("HEAD:skills/tidy", "HEAD:skills/tidy"),
        ("skills/tidy", "skills/tidy"),
        ("skills/tidy/SKILL.md", "HEAD:skills/tidy/SKILL.md"),
        ("./skills/tidy", "HEAD:./skills/tidy"),
    ],
)
def test_identical_content_differs_in_nothing(repository: Path, a: str, b: str) -> None:
    done = run(repository, "compare", a, b, "--json")
    assert done.code == 0
    assert done.json["a"]["findings"]
    assert (done.json["change"], done.json["new"], done.json["fixed"]) == (0.0, [], [])
    assert not any(word in run(repository, "compare", a, b).out for word in ("new:", "fixed:"))


@pytest.mark.parametrize(("a", "b"), [("tidy", "HEAD:skills/tidy"), ("../skills/tidy", "HEAD:./tidy")])
def test_identical_content_differs_in_nothing_from_another_directory(repository: Path, a: str, b: str) -> None:
    for one, other in ((a, b), (b, a)):
        done = run(repository / "skills", "compare", one, other, "--json")
        assert (done.json["change"], done.json["new"], done.json["fixed"]) == (0.0, [], [])


def test_a_skill_at_the_repositorys_top_does_not_differ_from_its_commit(tmp_path: Path) -> None:
    top = write_skill(tmp_path, "tidy", body=_DEAD_LINK)
    commit(top)
    for one, other in ((".", "HEAD:."), ("HEAD:", ".")):
        done = run(top, "compare", one, other, "--json")
        assert (done.code, done.json["change"], done.json["new"], done.json["fixed"]) == (0, 0.0, [], [])


def test_what_changed_since_the_revision_is_new_in_either_order(repository: Path) -> None:
    text = (repository / "skills/tidy/SKILL.md").read_text(encoding="utf-8")
    (repository / "skills/tidy/SKILL.md").write_text(f"{text}\n[more](references/away.md)\n", encoding="utf-8")
    forth = run(repository, "compare", "HEAD:skills/tidy", "skills/tidy", "--json").json
    back = run(repository, "compare", "skills/tidy", "HEAD:skills/tidy", "--json").json
    assert [item["id"] for item in forth["new"]] == [item["id"] for item in back["fixed"]] != []
    assert forth["fixed"] == back["new"] == []
    assert forth["a"]["skill"]["path"] == back["b"]["skill"]["path"] == "HEAD:skills/tidy"
