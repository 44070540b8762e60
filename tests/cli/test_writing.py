"""What a run leaves behind: files where they may be written, a report where there was nothing to report."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.running import run, unsearchable
from tests.skills import write_skill


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with a skill, beside a directory that is none of its business."""
    write_skill(tmp_path / "repo" / "skills")
    (tmp_path / "repo" / ".git").mkdir()
    (tmp_path / "outside").mkdir()
    return tmp_path / "repo"


@pytest.mark.parametrize("command", ["check", "score"])
def test_a_report_is_written_through_no_link(command: str, repo: Path) -> None:
    target = repo.parent / "outside" / "precious.json"
    target.write_text("mine", encoding="utf-8")
    (repo / "report.json").symlink_to(target)
    (repo / "reports").symlink_to(repo.parent / "outside")
    (repo / "new.json").symlink_to(repo.parent / "outside" / "new.json")
    for name, link in (("report.json", "it"), ("reports/precious.json", "reports"), ("new.json", "it")):
        done = run(repo, command, "--output-file", name)
        assert (done.code, done.out) == (2, "")
        assert f"cannot write {name}: {link} is a symbolic link" in done.err
    done = run(repo / "skills", command, ".", "--output-file", "../reports/precious.json")
    assert done.code == 2  # the repository is what a stranger fills, wherever the command runs
    assert run(repo, command, "--write-known-findings", "reports/known.json").code == 2
    assert target.read_text(encoding="utf-8") == "mine"
    assert [item.name for item in (repo.parent / "outside").iterdir()] == ["precious.json"]


def test_links_above_the_repository_are_the_users_own(repo: Path) -> None:
    (repo.parent / "home").symlink_to(repo)
    (repo.parent / "out").symlink_to(repo.parent / "outside")
    assert run(repo.parent / "home", "check", "--output-file", "report.json").code == 0
    assert run(repo, "check", "--output-file", str(repo.parent / "home" / "second.json")).code == 0
    assert run(repo, "check", "--output-file", "../out/third.json").code == 0
    for file in (repo / "report.json", repo / "second.json", repo.parent / "outside" / "third.json"):
        assert json.loads(file.read_text(encoding="utf-8"))["kind"] == "check"


@pytest.mark.parametrize("name", ["skills/merge-sheets/SKILL.md", "SKILL.md", "skill.MD"])
def test_a_skill_is_no_place_for_a_report(name: str, repo: Path) -> None:
    before = (repo / "skills" / "merge-sheets" / "SKILL.md").read_bytes()
    for words in (("--output-file", name), ("--write-known-findings", name)):
        done = run(repo, "check", *words)
        assert (done.code, done.out) == (2, "")
        assert f"cannot write {name}: it would be the main file of a skill" in done.err
    assert (repo / "skills" / "merge-sheets" / "SKILL.md").read_bytes() == before
    assert not (repo / "SKILL.md").exists()


def test_a_name_that_is_none_is_refused(repo: Path) -> None:
    for words in (("--output-file", "a\0b.json"), ("--write-known-findings", "a\0b")):
        assert run(repo, "check", *words).code == 2


def test_files_of_no_skill_give_an_empty_report_in_every_format_asked_for(repo: Path) -> None:
    (repo / "app.py").write_text("print()\n", encoding="utf-8")
    done = run(repo, "check", "--files", "app.py", "--output", "json", "--output-file", "r.sarif")
    assert done.code == 0
    assert json.loads(done.out)["findings"] == []
    assert json.loads((repo / "r.sarif").read_text(encoding="utf-8"))["runs"][0]["results"] == []
    assert "none of these files belongs to a skill" in done.err
    for words in (("--fix",), ("--diff",), ("--threshold", "90")):
        assert run(repo, "check", "--files", "app.py", *words).code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="a deep path wants a system that takes one")
@pytest.mark.parametrize("words", [(), ("--diff",), ("--fix",)])
def test_a_path_that_cannot_be_searched_is_not_said_to_hold_no_skill(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "skills").mkdir()
    with unsearchable(tmp_path / "skills"):
        done = run(tmp_path, "check", "skills", *words)
    assert done.code == 3
    assert "cannot be searched" in done.err
    assert "no skill found" not in done.err


def test_files_of_no_skill_are_noted_before_anything_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "README.md").touch()
    done = run(tmp_path, "check", "--files", "README.md", "--output-file", "nowhere/report.json")
    assert done.code == 2
    assert done.err.startswith("none of these files belongs to a skill")
