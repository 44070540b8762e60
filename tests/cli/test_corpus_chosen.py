"""The corpus that skills are ranked against: its ratings are those of its matches, and who chose it is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillgate.config import load
from skillgate.errors import UsageError
from skillgate.evaluation.models import Contest, contest
from skillgate.judge.subject import Opinion, Panel
from tests.cli.test_corpus_command import built, rated, skills

pytest.importorskip("numpy")
PANEL = Panel(opinions=(Opinion("some-model"),))


def opened(base: Path, notes: list[str] | None = None, *, matches: bool = True) -> Contest:
    """Open the corpus that the files below a folder name."""
    environ = {"HOME": str(base / "home"), "XDG_CONFIG_HOME": str(base / "home/.config")}
    config = load(explicit=None, cwd=str(base), environ=environ)
    note = None if notes is None else notes.append
    return contest(config, environ, PANEL, matches=matches, note=note)


@pytest.fixture
def chosen(tmp_path: Path) -> Path:
    """Make a rated corpus that a project's file names."""
    skills(tmp_path, "one", "two", "three")
    built(tmp_path)
    rated(tmp_path)
    (tmp_path / ".skillgate.yaml").write_text("corpus-dir: c\n")
    return tmp_path


def edit(base: Path, **changes: object) -> None:
    """Write other things of the first member into the index."""
    path = base / "c/index.json"
    index = json.loads(path.read_text())
    index["members"][0].update(changes)
    path.write_text(json.dumps(index))


def test_a_corpus_as_its_matches_make_it_is_opened(chosen: Path) -> None:
    found = opened(chosen)
    assert found.corpus is not None
    assert [one.matches for one in found.corpus.members] == [2, 2, 2]


@pytest.mark.parametrize("changes", [{"rating": 1900.0}, {"matches": 20}, {"anchor": False, "rating": 1600.0}])
def test_ratings_that_were_written_by_hand_are_refused(chosen: Path, changes: dict[str, object]) -> None:
    edit(chosen, **changes)
    with pytest.raises(UsageError, match=r"do not follow from its matches: .*skillgate corpus verify"):
        opened(chosen)


def test_a_rating_without_its_matches_is_refused(chosen: Path) -> None:
    (chosen / "c/matches.jsonl").unlink()
    with pytest.raises(UsageError, match="ratings were computed from 3 matches, but only 0 are left"):
        opened(chosen)


def test_what_gives_siblings_alone_needs_no_ratings(chosen: Path) -> None:
    edit(chosen, rating=1900.0)
    assert len(opened(chosen, matches=False).siblings) == 3


def test_numbers_that_no_skill_has_are_a_usage_error(chosen: Path) -> None:
    edit(chosen, lines=10**400)
    with pytest.raises(UsageError, match="lines: expected an integer"):
        opened(chosen)


def test_a_corpus_that_a_project_s_file_names_is_said_once(chosen: Path) -> None:
    notes: list[str] = []
    opened(chosen, notes)
    assert notes == [f"the corpus is set in .skillgate.yaml:1: {chosen / 'c'}"]


@pytest.mark.parametrize("place", ["home/.config/skillgate/config.yaml", "outside/skillgate/config.yaml"])
def test_one_s_own_choice_is_not_remarked_upon(chosen: Path, place: str) -> None:
    (chosen / ".skillgate.yaml").unlink()
    file = chosen / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"corpus-dir: {chosen / 'c'}\n")
    notes: list[str] = []
    environ = {"HOME": str(chosen / "home"), "XDG_CONFIG_HOME": str(file.parent.parent)}
    config = load(explicit=None, cwd=str(chosen), environ=environ)
    found = contest(config, environ, PANEL, matches=True, note=notes.append)
    assert found.corpus is not None
    contest(config.with_options({"corpus-dir": "c"}), environ, PANEL, matches=True, note=notes.append)
    assert notes == []
