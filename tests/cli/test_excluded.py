"""``exclude`` and ``per-file-ignores``: what the configuration leaves out, by path."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Done, commit, git, run
from tests.skills import BODY, write_skill

GONE = "See [it](references/gone.md).\n"


def configure(folder: Path, text: str) -> None:
    """Write the project's configuration; the folder is the top of a repository."""
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    (folder / ".skillgate.yaml").write_text(text, encoding="utf-8")


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    """Four skills, of which two are in directories with the name vendor."""
    for place in ("own/a", "own/vendor/b", "vendor/c", "legacy/d"):
        write_skill(tmp_path / place, body=BODY + GONE)
    return tmp_path


def found(cwd: Path, *words: str) -> set[str]:
    """List where a run finds skills, without the skill's own directory."""
    done = run(cwd, "check", "--json", "--fail-on", "never", *words)
    assert done.code == 0, done.err
    document = done.json
    return {str(Path(one["skill"]["path"]).parent) for one in document["skills"]}


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        ("[vendor]", {"own/a", "legacy/d"}),
        ("[vendor/]", {"own/a", "legacy/d"}),
        ("[./vendor]", {"own/a", "own/vendor/b", "legacy/d"}),
        ("[own/vendor/**, legacy/*]", {"own/a", "vendor/c"}),
        ("['**/vendor']", {"own/a", "legacy/d"}),
        ("[gone]", {"own/a", "own/vendor/b", "vendor/c", "legacy/d"}),
        ("[VENDOR, ven]", {"own/a", "own/vendor/b", "vendor/c", "legacy/d"}),
        ("'[lv]*'", {"own/a"}),
    ],
)
def test_no_skill_is_searched_in_an_excluded_directory(skills: Path, patterns: str, left: set[str]) -> None:
    configure(skills, f"exclude: {patterns}\n")
    assert found(skills) == left


def test_a_path_that_is_named_is_checked_and_what_it_contains_too(skills: Path) -> None:
    configure(skills, "exclude: [vendor, legacy/**]\n")
    assert found(skills, "vendor") == {"vendor/c"}
    assert found(skills, "vendor/c") == {"vendor/c"}
    assert found(skills, "legacy") == {"legacy/d"}
    assert found(skills, "own") == {"own/a"}
    assert found(skills, "own", "legacy/d") == {"own/a", "legacy/d"}


def test_patterns_are_relative_to_the_configuration_wherever_the_command_runs(skills: Path) -> None:
    configure(skills, "exclude: [own/vendor]\n")
    assert found(skills / "own") == {"a"}
    assert found(skills / "vendor", "../own") == {"../own/a"}


def test_files_that_a_hook_passes_are_not_named_by_a_user(skills: Path) -> None:
    configure(skills, "exclude: [vendor]\n")
    files = [str(path.relative_to(skills)) for path in skills.rglob("SKILL.md")]
    assert found(skills, "--files", *files) == {"own/a", "legacy/d"}


def test_a_baseline_does_not_miss_what_is_excluded(skills: Path) -> None:
    (skills / ".skillgate.yaml").write_text("exclude: [vendor]\n", encoding="utf-8")
    git(skills, "init", "-q")
    commit(skills)
    done = run(skills, "score", "--baseline", "HEAD", "--json")
    assert len(done.json["results"]) == 2
    assert "not here" not in done.err


IGNORES = 'per-file-ignores: {"%s": [%s]}\n'


def suppressed(cwd: Path, *words: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Give the places of the findings of dead links that are left, and what was set aside."""
    done: Done = run(cwd, "check", "--json", "--fail-on", "never", *words)
    assert done.code == 0, done.err
    return [one["path"] for one in done.json["findings"] if one["id"] == "BROKEN_LINK"], done.suppressed


@pytest.mark.parametrize(
    ("pattern", "rule", "in_main", "in_guide"),
    [
        ("**/references/*", "BROKEN_LINK", True, False),
        ("guide.md", "BROKEN_LINK", True, False),
        ("guide.md", "links", True, False),
        ("SKILL.md", "BROKEN_LINK", False, True),
        ("skills/**", "BROKEN_LINK", False, False),
        ("**/references/*", "MISSING_TOC", True, True),
        ("references/*", "BROKEN_LINK", True, True),
    ],
)
def test_a_rule_is_suppressed_in_the_files_that_a_glob_matches(
    tmp_path: Path, pattern: str, rule: str, *, in_main: bool, in_guide: bool
) -> None:
    body = BODY + "See [a](gone.md) and [the guide](references/guide.md).\n"
    folder = write_skill(tmp_path / "skills", body=body)
    (folder / "references").mkdir()
    (folder / "references" / "guide.md").write_text("# Guide\n\nSee [b](lost.md).\n", encoding="utf-8")
    configure(tmp_path, IGNORES % (pattern, rule))
    places, aside = suppressed(tmp_path)
    name = f"skills/{folder.name}"
    assert (f"{name}/SKILL.md" in places) is in_main
    assert (f"{name}/references/guide.md" in places) is in_guide
    assert [by for identifier, by in aside if identifier == "BROKEN_LINK"] == ["configuration"] * (2 - len(places))


def test_a_word_that_is_no_rule_is_an_error_that_names_the_key(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills")
    configure(tmp_path, IGNORES % ("*.md", "BROKEN_LNK"))
    done = run(tmp_path, "check")
    assert done.code == 2
    assert ".skillgate.yaml:1: per-file-ignores: unknown rule 'BROKEN_LNK' (did you mean 'BROKEN_LINK'?)" in done.err


@pytest.mark.parametrize("value", ["[a]", "{a: {}}", "{a: []}", "{}", "{a: 3}", "{'': [NAME_INVALID]}"])
def test_another_shape_is_an_error(tmp_path: Path, value: str) -> None:
    write_skill(tmp_path / "skills")
    configure(tmp_path, f"per-file-ignores: {value}\n")
    done = run(tmp_path, "check")
    assert done.code == 2
    assert "per-file-ignores: expected a mapping of globs to lists of rules, found" in done.err
