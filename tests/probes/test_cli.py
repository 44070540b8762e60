"""Probes of the command line: what paths mean, what exit codes tell apart, same input same bytes."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.skills import BODY, DESCRIPTION, NAME, STUB_COMPOSITE, body_of, run, write_bytes, write_skill

if TYPE_CHECKING:
    from pathlib import Path


def scored(*argv: str | Path, cwd: Path, code: int = 0) -> dict[str, Any]:
    """Score paths and give the JSON document."""
    done = run("score", *argv, "--output", "json", cwd=cwd)
    assert done.returncode == code, done.stderr
    document = json.loads(done.stdout)
    assert isinstance(document, dict)
    return document


def shown_paths(document: dict[str, Any]) -> list[str]:
    return [result["skill"]["path"] for result in document["results"]]


def test_p54_the_main_file_means_its_directory(tmp_path: Path) -> None:
    write_skill(tmp_path)
    by_file = scored(f"{NAME}/SKILL.md", cwd=tmp_path)
    assert (by_file["skill"]["name"], by_file["skill"]["path"]) == (NAME, NAME)
    assert by_file["composite"]["score"] == STUB_COMPOSITE


def test_p54_a_directory_of_skills_means_all_of_them(tmp_path: Path) -> None:
    for name in ("b-two", "a-one", ".claude/skills/c-three"):
        write_skill(tmp_path, name, frontmatter=f"name: {name.rpartition('/')[2]}\ndescription: {DESCRIPTION}")
    document = scored(".", cwd=tmp_path)
    assert shown_paths(document) == [".claude/skills/c-three", "a-one", "b-two"]
    assert (document["summary"]["skills"], document["summary"]["mean"]) == (3, STUB_COMPOSITE)


def test_p54_a_lower_case_file_is_read_with_a_finding(tmp_path: Path) -> None:
    path = write_skill(tmp_path)
    (path / "SKILL.md").rename(path / "other")
    (path / "other").rename(path / "skill.md")
    document = scored(path.name, cwd=tmp_path)
    assert [finding["id"] for finding in document["findings"]] == ["FILE_NAME"]
    assert document["findings"][0]["path"] == f"{NAME}/skill.md"
    assert document["composite"]["score"] == STUB_COMPOSITE


def test_p54_a_directory_without_a_skill_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = run("score", "empty", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("skillgate: error: no skill found in empty")
    assert run("score", "empty", "--allow-empty", cwd=tmp_path).returncode == 0


def test_p54_a_loop_of_links_ends(tmp_path: Path) -> None:
    path = write_skill(tmp_path / "skills")
    try:
        (path / "loop").symlink_to(tmp_path / "skills", target_is_directory=True)
        (tmp_path / "skills" / "self").symlink_to("self")
    except OSError:
        pytest.skip("symbolic links are not allowed here")
    assert shown_paths(scored("skills", cwd=tmp_path)) == [f"skills/{NAME}"]


def test_p54_a_directory_in_place_of_the_file_is_not_evaluated(tmp_path: Path) -> None:
    # It stands where a skill should be, like a pipe or a device: said, exit 3, and the others are scored.
    (tmp_path / "skills" / "odd" / "SKILL.md").mkdir(parents=True)
    write_skill(tmp_path / "skills")
    document = scored("skills", cwd=tmp_path, code=3)
    assert [(result["skill"]["name"], result["evaluated"]) for result in document["results"]] == [
        (NAME, True),
        ("odd", False),
    ]
    assert "SKILL.md is a directory" in document["results"][1]["composite"]["reason"]


def plugin(base: Path) -> Path:
    (base / ".claude-plugin").mkdir(parents=True)
    (base / ".claude-plugin" / "plugin.json").write_text('{"name": "kit", "version": "1.0.0"}\n')
    return base


def test_p55_an_empty_plugin_has_nothing_to_score(tmp_path: Path) -> None:
    plugin(tmp_path / "kit")
    done = run("score", "kit", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no skill found" in done.stderr


def test_p55_skills_of_a_plugin_are_found_in_nested_folders(tmp_path: Path) -> None:
    plugin(tmp_path / "kit")
    write_skill(tmp_path / "kit/skills/tables")
    document = scored("kit", cwd=tmp_path)
    assert shown_paths(document) == [f"kit/skills/tables/{NAME}"]
    assert document["summary"]["plugins"] == [{"path": "kit", "skills": 1, "mean": STUB_COMPOSITE}]


def test_p55_a_marketplace_means_the_skills_of_all_its_plugins(tmp_path: Path) -> None:
    (tmp_path / ".claude-plugin").mkdir()
    (tmp_path / ".claude-plugin" / "marketplace.json").write_text('{"name": "all", "plugins": []}\n')
    for name in ("one", "two"):
        write_skill(plugin(tmp_path / "plugins" / name) / "skills")
    document = scored(".", cwd=tmp_path)
    assert shown_paths(document) == [f"plugins/one/skills/{NAME}", f"plugins/two/skills/{NAME}"]
    assert [item["path"] for item in document["summary"]["plugins"]] == ["plugins/one", "plugins/two"]


def test_p55_plugins_given_one_by_one_are_told_apart(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_skill(plugin(tmp_path / name) / "skills")
    document = scored("one", "two", cwd=tmp_path)
    assert [item["path"] for item in document["summary"]["plugins"]] == ["one", "two"]


def test_p56_agents_are_not_scored_as_skills(tmp_path: Path) -> None:
    agents = plugin(tmp_path / "kit") / "agents"
    agents.mkdir()
    (agents / "worker.md").write_text("---\nname: worker\ndescription: Use proactively.\nmodel: opus\n---\nWork.\n")
    done = run("score", "kit", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize(("total", "flagged"), [(10, 10), (100, 10)])
def test_p57_a_plugin_is_the_mean_of_its_skills_without_a_second_penalty(
    total: int, flagged: int, tmp_path: Path
) -> None:
    skills = plugin(tmp_path / "kit") / "skills"
    for number in range(total):
        dead = f"\nSee [more](references/more-{number}.md).\n" if number < flagged else f"\nSee row {number} first.\n"
        write_skill(skills, f"s-{number:03}", body=BODY + dead)
    document = scored("kit", cwd=tmp_path)
    scores = {result["composite"]["penalty"]: result["composite"]["score"] for result in document["results"]}
    penalised = scores[0.95]
    mean = (flagged * penalised + (total - flagged) * scores.get(1.0, 0.0)) / total
    assert document["summary"]["plugins"] == [{"path": "kit", "skills": total, "mean": pytest.approx(mean, abs=0.006)}]
    assert document["summary"]["mean"] == document["summary"]["plugins"][0]["mean"]
    assert document["summary"]["lowest"] == penalised


def test_p57_a_malformed_skill_stops_none_of_the_others(tmp_path: Path) -> None:
    skills = plugin(tmp_path / "kit") / "skills"
    write_skill(skills)
    write_bytes(skills, "broken", b"---\nname: [\n\xff\xfe")
    document = scored("kit", cwd=tmp_path)
    assert [result["composite"]["score"] for result in document["results"]] == [None, STUB_COMPOSITE]
    assert document["summary"]["mean"] == STUB_COMPOSITE
    assert [finding["id"] for finding in document["results"][0]["findings"]] == ["NOT_UTF8"]


def test_p65_errors_go_to_stderr_whatever_the_format(tmp_path: Path) -> None:
    done = run("score", "nope", "--output", "json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "skillgate: error: 'nope' does not exist\n"


def test_p66_a_failed_gate_wrong_usage_and_a_failed_reading_are_told_apart(tmp_path: Path) -> None:
    write_skill(tmp_path)
    (tmp_path / "odd" / "SKILL.md").mkdir(parents=True)
    assert run("score", NAME, "--threshold", "50", cwd=tmp_path).returncode == 0
    assert run("score", NAME, "--threshold", "57", cwd=tmp_path).returncode == 1
    assert run("score", NAME, "--threshold", "many", cwd=tmp_path).returncode == 2
    assert run("score", "odd", cwd=tmp_path).returncode == 3
    assert run("score", NAME, "odd", "--threshold", "57", cwd=tmp_path).returncode == 1  # a failed gate is certain


@pytest.mark.parametrize(
    "argv", [("--output", "xml"), ("--concurrency", "0"), ("--threshold", "101"), ("--depth", "abyss")]
)
def test_p67_options_that_mean_nothing_are_wrong_usage(argv: tuple[str, ...], tmp_path: Path) -> None:
    write_skill(tmp_path)
    done = run("score", NAME, *argv, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert argv[0].lstrip("-") in done.stderr
    assert "Traceback" not in done.stderr


def test_p67_verbose_says_more(tmp_path: Path) -> None:
    write_skill(tmp_path, "one")
    write_skill(tmp_path, "two")
    short, full = run("score", ".", cwd=tmp_path), run("score", ".", "--verbose", cwd=tmp_path)
    assert short.returncode == full.returncode == 0
    assert "triggering_accuracy" in full.stdout
    assert len(full.stdout + full.stderr) > len(short.stdout + short.stderr)


def test_p68_compare_prints_json_and_leaves_unmeasured_dimensions_without_a_winner(tmp_path: Path) -> None:
    write_skill(tmp_path, "cmp[red]a")
    write_skill(tmp_path, "cmp-b", body=body_of(300))
    done = run("compare", "cmp[red]a", "cmp-b", "--output", "json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert (document["kind"], document["a"]["skill"]["name"]) == ("compare", "cmp[red]a")
    assert document["dimensions"]["robustness"] == {"a": None, "b": None, "change": None, "better": None}
    size = {"a": 0.2, "b": 0.6, "change": 0.4, "better": "b"}
    assert document["dimensions"]["progressive_disclosure"] == size


def test_p68_compare_prints_names_as_they_are_and_cuts_no_table(tmp_path: Path) -> None:
    write_skill(tmp_path, "cmp[red]a")
    long = f"cmp-{'b' * 60}"
    write_skill(tmp_path, long)
    done = run("compare", "cmp[red]a", long, cwd=tmp_path)
    assert done.returncode == 0
    assert "cmp[red]a" in done.stdout
    assert long in done.stdout
    (row,) = (line for line in done.stdout.splitlines() if line.startswith("robustness"))
    assert row.split() == ["robustness", "—", "—", "—"]
    for line in done.stdout.splitlines():
        assert not re.match(r"(?:0\.00)\s+.*tie", line, re.IGNORECASE)


def test_p68_compare_of_directories_of_skills_is_a_clear_error(tmp_path: Path) -> None:
    write_skill(tmp_path / "many", "one")
    write_skill(tmp_path / "many", "two")
    done = run("compare", "many", "many", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "2 skills in many" in done.stderr


def _without_durations(text: str) -> str:
    return re.sub(r'"duration_ms": \d+', '"duration_ms": 0', text)


def test_p69_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_skill(tmp_path / "a", name, body=body_of(150))
    first, second = (run("score", "a", "--json", cwd=tmp_path).stdout for _ in range(2))
    assert _without_durations(first) == _without_durations(second)
    assert "timestamp" not in first
    assert os.fspath(tmp_path) not in first


def test_p69_numbers_are_rounded_where_they_are_printed(tmp_path: Path) -> None:
    write_skill(tmp_path, body=body_of(333))
    done = run("score", NAME, "--json", cwd=tmp_path)
    decimals = [len(number) for number in re.findall(r"-?\d+\.(\d+)", done.stdout)]
    assert decimals
    assert max(decimals) <= 4
