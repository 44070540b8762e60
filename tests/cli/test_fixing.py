"""check --fix, --diff and --patch: which skills, which rules, and what reaches a log."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.running import git, run
from tests.skills import BODY, DESCRIPTION, write_bytes, write_skill

UNENDED = BODY.rstrip("\n")


def text_of(skill: Path) -> str:
    """Read a skill's main file as it stands."""
    return (skill / "SKILL.md").read_bytes().decode()


def named(folder: Path, directory: str, name: str) -> Path:
    """Write a skill whose name is not that of its directory."""
    return write_skill(folder, directory, frontmatter=f"name: {name}\ndescription: {DESCRIPTION}")


# Which skills


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Two committed skills that lack a final newline, one of them changed since."""
    for name in ("alpha", "beta"):
        write_skill(tmp_path / "skills", name, body=UNENDED)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "first")
    write_skill(tmp_path / "skills", "alpha", body=f"{BODY}\nOne more line.")
    return tmp_path


def test_only_changed_skills_are_repaired(repo: Path) -> None:
    before = text_of(repo / "skills" / "beta")
    shown = run(repo, "check", "--changed", "--diff")
    assert shown.code == 1
    assert "skills/alpha/SKILL.md" in shown.out
    assert "skills/beta" not in shown.out
    done = run(repo, "check", "--changed", "--fix", "--fail-on", "never")
    assert "fixed 1 file" in done.err
    assert text_of(repo / "skills" / "alpha").endswith("line.\n")
    assert text_of(repo / "skills" / "beta") == before


def test_since_without_changed_is_refused_before_anything_is_repaired(repo: Path) -> None:
    before = text_of(repo / "skills" / "alpha")
    assert run(repo, "check", "--fix", "--since", "HEAD").code == 2
    assert run(repo, "check", "--diff", "--since", "HEAD").code == 2
    assert text_of(repo / "skills" / "alpha") == before


def test_a_path_without_a_skill_is_refused_as_elsewhere(tmp_path: Path) -> None:
    for word in ("--diff", "--fix"):
        done = run(tmp_path, "check", word)
        assert (done.code, done.out) == (2, "")
        assert "no skill found in ." in done.err


# Which rules


@pytest.mark.parametrize(
    ("words", "repaired"),
    [
        ((), True),
        (("--select", "text"), True),
        (("--select", "NO_FINAL_NEWLINE"), True),
        (("--select", "all"), True),
        (("--select", "spec"), False),
        (("--select", "spec,text"), True),
        (("--ignore", "text"), False),
        (("--ignore", "spec"), True),
        (("--ignore", "default"), False),
        (("--ignore", "NO_FINAL_NEWLINE"), False),
        (("--select", "text", "--ignore", "NO_FINAL_NEWLINE"), False),
    ],
)
def test_rules_are_repaired_as_they_are_selected(words: tuple[str, ...], tmp_path: Path, *, repaired: bool) -> None:
    skill = write_skill(tmp_path / "skills", body=UNENDED)
    assert run(tmp_path, "check", "--diff", *words).code == int(repaired)
    run(tmp_path, "check", "--fix", *words)
    assert text_of(skill).endswith("\n") is repaired


# Names


def test_a_name_that_another_repair_frees_may_be_taken(tmp_path: Path) -> None:
    first, second = named(tmp_path / "skills", "docs", "pdf"), named(tmp_path / "skills", "pdf", "pdf-forms")
    assert "fixed 2 files" in run(tmp_path, "check", "--fix").err
    assert "name: docs\n" in text_of(first)
    assert "name: pdf\n" in text_of(second)


def test_a_name_that_another_skill_keeps_is_left_and_the_rest_is_repaired(tmp_path: Path) -> None:
    skill = named(tmp_path / "a", "pdf", "pdf-forms")
    named(tmp_path / "b", "pdf", "pdf")
    (skill / "SKILL.md").write_bytes((skill / "SKILL.md").read_bytes().rstrip(b"\n"))
    done = run(tmp_path, "check", "--fix")
    assert "skipped a/pdf/SKILL.md: NAME_MISMATCH: b/pdf already has the name 'pdf'" in done.err
    assert "name: pdf-forms\n" in text_of(skill)
    assert text_of(skill).endswith("\n")


def test_of_two_skills_that_would_get_one_name_the_first_gets_it(tmp_path: Path) -> None:
    first, second = named(tmp_path / "a", "pdf", "one"), named(tmp_path / "b", "pdf", "two")
    done = run(tmp_path, "check", "--fix")
    assert "skipped b/pdf/SKILL.md: NAME_MISMATCH: a/pdf already has the name 'pdf'" in done.err
    assert "name: pdf\n" in text_of(first)
    assert "name: two\n" in text_of(second)


def test_copies_for_several_clients_have_one_name(tmp_path: Path) -> None:
    copies = [named(tmp_path / folder / "skills", "pdf", "old") for folder in (".claude", ".codex")]
    run(tmp_path, "check", "--fix")
    assert all("name: pdf\n" in text_of(copy) for copy in copies)


def test_a_name_is_kept_where_its_bearer_is_not_changed(repo: Path) -> None:
    named(repo / "other", "pdf", "pdf")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "second")
    skill = named(repo / "skills", "pdf", "old")
    done = run(repo, "check", "--fix", "--changed")
    assert "other/pdf already has the name 'pdf'" in done.err
    assert "name: old\n" in text_of(skill)


# What is shown

HOSTILE = f"---\nname: raw\ndescription: {DESCRIPTION}\n---\n# Raw\n\n\x1b[31mred\u202e\n::add-mask::e\n\tend"


def test_what_is_printed_holds_nothing_that_a_terminal_or_runner_would_obey(tmp_path: Path) -> None:
    write_bytes(tmp_path / "skills", "raw", HOSTILE.encode())
    done = run(tmp_path, "check", "--diff")
    assert done.code == 1
    assert not {"\x1b", "\u202e"}.intersection(done.out)
    assert "::add-mask::" not in done.out
    assert "+\tend\n" in done.out


def test_a_patch_is_exact_and_git_takes_it(tmp_path: Path) -> None:
    skill = write_bytes(tmp_path / "skills", "raw", HOSTILE.replace("\n", "\r\n").encode())
    before = (skill / "SKILL.md").read_bytes()
    done = run(tmp_path, "check", "--patch", "fix.patch")
    assert done.code == 1
    assert "\x1b" not in done.out
    assert (skill / "SKILL.md").read_bytes() == before
    subprocess.run(["git", "apply", "fix.patch"], cwd=tmp_path, check=True, capture_output=True)
    assert text_of(skill) == f"{HOSTILE}\n"
    assert run(tmp_path, "check", "--patch", "none.patch").code == 0
    assert (tmp_path / "none.patch").read_bytes() == b""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--diff", "--fix"), "--diff only shows a patch; leave out --fix"),
        (("--diff", "--output", "json"), "leave out --output"),
        (("--diff", "--json"), "leave out --json"),
        (("--diff", "--output-file", "r.sarif"), "leave out --output-file"),
        (("--diff", "--write-known-findings", "k.json"), "leave out --write-known-findings"),
        (("--patch", "p.patch", "--fix"), "--patch only shows a patch; leave out --fix"),
        (("--patch", "skills/merge-sheets/SKILL.md"), "it would be the main file of a skill"),
        (("--fix", "--output-file", "skills/merge-sheets/skill.md"), "it would be the main file of a skill"),
    ],
)
def test_what_asks_for_two_things_or_for_a_skill_is_refused(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "skills", body=UNENDED)
    before = text_of(skill)
    done = run(tmp_path, "check", *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert text_of(skill) == before
    assert [item.name for item in tmp_path.iterdir()] == ["skills"]
