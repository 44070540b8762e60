"""What somebody would try to get past the gate, to make it hang, or to speak through its output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import git, run, unsearchable
from tests.skills import DESCRIPTION, write_skill

GOOD = "# Tidy\n\nRead the file, and list the columns that do not agree with its header. Write a new file beside it.\n"
GOOD += "Stop when the file has no header, and say so. Keep the order of the rows, since people compare them by eye.\n"
WORSE = "Tidies the CSV files of a customer, and checks that the columns of all of them agree."


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with two skills, of which the first got worse since its last commit."""
    write_skill(tmp_path / "skills", "tidy", body=GOOD)
    write_skill(tmp_path / "skills", "other", body=GOOD)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "first")
    file = tmp_path / "skills" / "tidy" / "SKILL.md"
    file.write_text(file.read_text(encoding="utf-8").replace(DESCRIPTION, WORSE), encoding="utf-8")
    return tmp_path


def test_a_configured_list_does_not_cancel_what_the_command_line_asks_for(tmp_path: Path) -> None:
    write_skill(tmp_path, "tidy", body=GOOD)
    (tmp_path / ".skillgate.yaml").write_text("fail-on: [error]\n", encoding="utf-8")
    assert run(tmp_path, "score", "--threshold", "99")[0] == 1
    assert run(tmp_path, "score", "--min-badge", "platinum")[0] == 1
    assert run(tmp_path, "score", "--threshold", "99", "--fail-on", "error")[0] == 0


@pytest.mark.parametrize("words", ["benchmark", "budget", "never,error", "badge", "error,threshold"])
def test_a_list_of_gates_that_could_not_fail_is_refused(tmp_path: Path, words: str) -> None:
    write_skill(tmp_path, "tidy", body=GOOD)
    code, out, err = run(tmp_path, "check", "--fail-on", words)
    assert (code, out) == (2, "")
    assert "--fail-on lists" in err


def test_a_configured_gate_without_its_bound_is_refused_too(tmp_path: Path) -> None:
    write_skill(tmp_path, "tidy", body="no body worth it [x](references/gone.md)\n")
    (tmp_path / ".skillgate.yaml").write_text("fail-on: [threshold]\n", encoding="utf-8")
    code, _, err = run(tmp_path, "check")
    assert code == 2
    assert "fail-on (.skillgate.yaml:1) lists threshold" in err


@pytest.mark.parametrize(
    "text",
    [
        "[tool.skillgate]\nthreshold = 99\n",
        "[tool]\nskillgate = {threshold = 99}\n",
        '[tool."skillgate"]\nthreshold = 99\n',
    ],
)
def test_the_table_is_read_however_toml_spells_it(tmp_path: Path, text: str) -> None:
    write_skill(tmp_path, "tidy", body=GOOD)
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    assert run(tmp_path, "score")[0] == 1


def test_a_skill_does_not_configure_its_own_gate(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "skills", "tidy", body=GOOD + "\n[x](references/gone.md)\n")
    (skill / ".skillgate.yaml").write_text("fail-on: [never]\n", encoding="utf-8")
    assert run(tmp_path, "check", "skills/tidy")[0] == 1
    assert run(skill, "check", ".")[0] == 1


def test_a_report_read_from_another_directory_still_finds_its_skills(repository: Path) -> None:
    git(repository, "stash", "-q")
    assert run(repository, "score", "skills", "--output-file", "base.json")[0] == 0
    git(repository, "stash", "pop", "-q")
    assert run(repository, "score", "skills", "--baseline", "base.json")[0] == 1
    assert run(repository / "skills", "score", ".", "--baseline", "../base.json")[0] == 1


def test_no_spelling_of_a_path_makes_a_skill_new(repository: Path) -> None:
    assert run(repository, "score", "skills", "--baseline", "main")[0] == 1
    assert run(repository, "score", str(repository / "skills"), "--baseline", "main")[0] == 1
    assert run(repository / "skills", "score", "tidy", "--baseline", "main")[0] == 1
    (repository / "mirror").symlink_to("skills", target_is_directory=True)
    assert run(repository, "score", "mirror", "--baseline", "main")[0] == 1


def test_a_skill_that_moved_keeps_its_baseline(repository: Path) -> None:
    (repository / "kept").mkdir()
    (repository / "skills" / "tidy").rename(repository / "kept" / "tidy")
    assert run(repository, "score", ".", "--baseline", "main")[0] == 1


def test_a_skill_of_the_same_name_elsewhere_is_no_baseline(tmp_path: Path) -> None:
    write_skill(tmp_path / "one", "tidy", body=GOOD)
    assert run(tmp_path, "score", ".", "--output-file", "base.json")[0] == 0
    write_skill(tmp_path / "two", "tidy", description=WORSE, body=GOOD)
    code, out, _ = run(tmp_path, "score", "two/tidy", "--baseline", "base.json", "--json")
    assert code == 0
    assert json.loads(out)["gate"]["outcomes"][0]["reason"] == "no baseline: the skill is new"


def test_a_list_of_gates_for_some_paths_is_held_to_the_same(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "tidy", body=GOOD + "\n[x](references/gone.md)\n")
    config = tmp_path / ".skillgate.yaml"
    for words in ("threshold", "benchmark", "never, error"):
        config.write_text(f"overrides:\n  - paths: ['skills/**']\n    fail-on: [{words}]\n", encoding="utf-8")
        code, _, err = run(tmp_path, "check", "skills")
        assert code == 2
        assert "fail-on (.skillgate.yaml:3) lists" in err
    assert run(tmp_path, "check", "skills", "--fail-on", "error")[0] == 1


def test_a_skill_that_is_gone_is_named(repository: Path) -> None:
    (repository / "skills" / "other" / "SKILL.md").unlink()
    assert "in the baseline but not here: skills/other" in run(repository, "score", "skills", "--baseline", "main")[2]


def test_a_file_cannot_take_the_place_of_a_revision(repository: Path) -> None:
    (repository / "home").mkdir()
    empty = run(repository, "score", "home", "--allow-empty", "--json")[1]
    (repository / "main").write_text(empty, encoding="utf-8")
    assert run(repository, "score", "skills", "--baseline", "main")[0] == 1
    write_skill(repository / "main:skills", "tidy", description=WORSE, body=GOOD)
    code, out, _ = run(repository, "compare", "main:skills/tidy", "skills/tidy", "--max-drop", "2", "--json")
    assert code == 1
    assert json.loads(out)["change"] < -2


def test_a_gate_is_undecided_where_a_skill_could_not_be_read(tmp_path: Path) -> None:
    write_skill(tmp_path, "tidy", body=GOOD)
    (tmp_path / "odd" / "SKILL.md").mkdir(parents=True)
    code, out, _ = run(tmp_path, "score", "--threshold", "1")
    assert code == 3
    assert "gate passed" not in out
    assert "gate undecided" in out
    page = run(tmp_path, "score", "--output", "markdown")[1]
    assert "## Not evaluated: 1\n\n- **1** SKILL.md is a directory, not a file: `odd`" in page


@pytest.mark.skipif(sys.platform == "win32", reason="a deep path wants a system that takes one")
def test_a_directory_that_cannot_be_searched_is_no_pass(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "tidy", body=GOOD)
    with unsearchable(tmp_path / "skills"):
        code, _, err = run(tmp_path, "check", "skills")
    assert code == 3
    assert "cannot be searched" in err


def test_a_link_to_the_skill_itself_is_no_folder_of_references(tmp_path: Path) -> None:
    skill = write_skill(tmp_path, "tidy", body=GOOD + "\n[x](references/SKILL.md)\n")
    (skill / "references").symlink_to(".", target_is_directory=True)
    code, out, _ = run(tmp_path, "score", "tidy", "--json")
    assert code == 0
    evidence = json.loads(out)["layers"][0]["sub_checks"]["progressive_disclosure"]["evidence"]
    assert [item["points"] for item in evidence] == [0.2, 0.0, 0.0]


def test_a_link_inside_a_skill_does_not_bring_its_neighbours_in(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "skills", "tidy", body=GOOD)
    write_skill(tmp_path / "skills", "other", body=GOOD)
    (skill / "agents").symlink_to("..", target_is_directory=True)
    _, out, _ = run(tmp_path, "score", "skills/tidy", "--json")
    assert json.loads(out)["skill"]["path"] == "skills/tidy"


def test_nothing_printed_is_a_command_to_a_ci_runner(tmp_path: Path) -> None:
    hostile = write_skill(
        tmp_path, "::stop-commands::x", frontmatter='name: "##[add-mask]abc"\ndescription: short', body=GOOD
    )
    link = "[x](references/a%20::error%20title=pwn::gone.md)"
    (hostile / "SKILL.md").write_text((hostile / "SKILL.md").read_text(encoding="utf-8") + link, encoding="utf-8")
    for words in (["check", "."], ["score", "."], ["score", ".", "--output", "markdown"], ["score", ".", "--json"]):
        _, out, err = run(tmp_path, *words)
        for line in (out + err).splitlines():
            assert not line.lstrip().startswith("::")
            assert "##[" not in line


@pytest.mark.parametrize("tag", ["prerequisites", "preconditions", "style-guide", "scripts"])
def test_a_tag_that_begins_like_another_holds_text(tmp_path: Path, tag: str) -> None:
    write_skill(tmp_path, "tidy", body=f"<{tag}>\n{GOOD.partition('# Tidy')[2].strip()}\n</{tag}>\n")
    assert "NO_BODY" not in run(tmp_path, "check")[1]


def test_a_comment_before_a_line_does_not_hide_it(tmp_path: Path) -> None:
    orders = "\n".join(f"<!-- --> You MUST keep the file number {number}." for number in range(20))
    write_skill(tmp_path, "tidy", body=f"{GOOD}\n{orders}\n")
    assert "OVER_CONSTRAINED" in run(tmp_path, "check")[1]


@pytest.mark.parametrize("padding", ["<!---->\n" * 200, "<!--\n" + "x\n" * 200 + "-->\n", "\n" * 200])
def test_comments_and_blank_lines_are_no_length(tmp_path: Path, padding: str) -> None:
    write_skill(tmp_path / "a", "tidy", body=GOOD)
    write_skill(tmp_path / "b", "tidy", body=f"{GOOD}\n{padding}")
    plain, padded = (json.loads(run(tmp_path, "score", path, "--json")[1]) for path in ("a/tidy", "b/tidy"))
    assert padded["composite"]["score"] <= plain["composite"]["score"]


def test_a_few_foreign_words_do_not_change_the_language(tmp_path: Path) -> None:
    for name, text in (("plain", "Formats code files."), ("sung", "Formats code files. La la la.")):
        write_skill(tmp_path, name, description=text, body=GOOD)
    plain, sung = (json.loads(run(tmp_path, "score", name, "--json")[1]) for name in ("plain", "sung"))
    dimension = "triggering_accuracy"
    assert sung["dimensions"][dimension]["score"] <= plain["dimensions"][dimension]["score"] + 0.05


def test_a_prompt_in_many_blank_lines_is_looked_for_in_no_time(tmp_path: Path) -> None:
    block = "```python\n(\n" + " \n" * 30_000 + "```\n"
    write_skill(tmp_path, "tidy", body=f"{GOOD}\n{block * 3}")
    done = subprocess.run(
        [sys.executable, "-m", "skillgate", "score", "tidy"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        timeout=20,
    )
    assert done.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
def test_what_cannot_be_said_on_stderr_changes_nothing(tmp_path: Path) -> None:
    write_skill(tmp_path, "tidy", body=GOOD)
    (tmp_path / "c.yaml").write_text("threshold: 99\nfail-on: [error]\n", encoding="utf-8")
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "skillgate", "-c", "c.yaml", "score", "tidy"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            stdout=subprocess.PIPE,
            stderr=full,
        )
    assert done.returncode == 0
