"""Static benchmarks: a skill's directory is read and scored, and nothing of it is run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.architecture.source import ROOT
from tests.bench.made import answering, benchmark, run, skill, task

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.running import Done

SCHEMAS: dict[str, Any] = {"inputSchema": {"type": "object"}, "outputSchema": {"type": "number"}}
DESCRIPTION = "Counts the words of a text and says how long it takes to read."
README = "# Words\n\nCounts the words of a text, one number for each line, and adds them up at the end.\n"
PROSE = """\
---
name: words
description: Counts the words of a text. Use when somebody asks how long a text is.
---

# Words

Read the text, count its words and say the number. See [the rules](rules.md).
"""


def program(folder: Path, code: str = "", **changes: Any) -> Path:
    """A program that has all that is asked of one."""
    skill(folder, code, **{"description": DESCRIPTION, **SCHEMAS, **changes})
    (folder / "README.md").write_text(README, encoding="utf-8")
    return folder


def prose(folder: Path, text: str = PROSE, *, rules: bool = True) -> Path:
    folder.mkdir()
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    if rules:
        (folder / "rules.md").write_text("# Rules\n\nA word is what stands between blanks.\n", encoding="utf-8")
    return folder


def checked(cwd: Path, *words: str, name: str = "words") -> Done:
    return run(cwd, "eval", "--skills", name, "--benchmark", "skill-quality", "--json", *words)


def results(done: Done) -> dict[str, Any]:
    (report,) = done.json["reports"]
    return {one["taskId"]: one for one in report["taskResults"]}


def test_a_good_program_passes_and_is_never_started(tmp_path: Path) -> None:
    program(tmp_path / "words", f"open({str(tmp_path / 'started')!r}, 'w')")
    done = checked(tmp_path, "--exit-on-fail", "--min-completion", "1", "--no-allow-exec")
    assert done.code == 0, done.out
    (report,) = done.json["reports"]
    assert (report["adapter"], report["summary"]["partialScore"]) == ("static", 1)
    assert not (tmp_path / "started").exists()


def test_how_long_reading_takes_is_no_latency_of_a_skill(tmp_path: Path) -> None:
    program(tmp_path / "words", "raise SystemExit('started')")
    (report,) = checked(tmp_path, "--json").json["reports"]
    assert report["latency"]["n"] == 0
    assert report["summary"]["compositeScore"] is not None


def test_a_good_prose_skill_passes_without_a_skill_json(tmp_path: Path) -> None:
    prose(tmp_path / "words")
    done = checked(tmp_path)
    assert {one["status"] for one in results(done).values()} == {"pass"}
    assert len(results(done)) == 5


@pytest.mark.parametrize("folder", ["executable", "skills"])
def test_the_shipped_examples_are_good(tmp_path: Path, folder: str) -> None:
    words = ("--skills", str(ROOT / "examples" / folder), "--benchmark", "skill-quality", "--prose", "--json")
    done = run(tmp_path, "eval", *words)
    rates = {report["skillId"]: report["summary"]["completionRate"] for report in done.json["reports"]}
    rates.pop("import_spreadsheets", None)  # the example of a skill that must not pass
    assert set(rates.values()) == {1}
    assert len(rates) == {"executable": 11, "skills": 2}[folder]


@pytest.mark.parametrize(
    ("changes", "identifier", "score", "reason"),
    [
        ({"description": ""}, "metadata", 0.5, "skill.json has no description"),
        ({"description": ""}, "description-length", 0, "is 0 characters long"),
        ({"description": "Counts."}, "description-length", 0.35, "is 7 characters long (minimum 20)"),
        ({"description": "x" * 1025}, "description-length", 0.5, "maximum 1,024"),
        ({"description": "TODO: describe what this skill does"}, "description-length", 0, "template text"),
        ({"inputSchema": None}, "json-valid", 0.75, "declares no inputSchema"),
        ({"outputSchema": {"type": "nunber"}}, "json-valid", 0.75, "outputSchema: not a JSON Schema"),
        ({"entrypoint": "python3 gone.py"}, "accessibility", 0.5, "gone.py does not exist"),
        ({"entrypoint": "nosuchprogram skill.py"}, "accessibility", 0.5, "program nosuchprogram is not on PATH"),
        ({"entrypoint": "nosuchprogram ../other.py"}, "accessibility", 0, "../other.py is outside"),
        ({"entrypoint": "./skill.py"}, "accessibility", 0.5, "not executable"),
        ({"entrypoint": "'unclosed"}, "accessibility", 0, "is not a command"),
        ({"entrypoint": "http://", "adapterType": "http"}, "accessibility", 0, "not an http or https URL"),
        ({"entrypoint": "http://[::1", "adapterType": "http"}, "accessibility", 0, "not an http or https URL"),
        ({"entrypoint": "file:///etc/passwd", "adapterType": "http"}, "accessibility", 0, "not an http or https URL"),
    ],
)
def test_what_is_missing_of_a_program_costs_its_part(
    tmp_path: Path, changes: dict[str, Any], identifier: str, score: float, reason: str
) -> None:
    (tmp_path / "other.py").write_text("", encoding="utf-8")
    program(tmp_path / "words", **changes)
    done = checked(tmp_path)
    result = results(done)[identifier]
    assert (result["status"], result["score"]) == ("fail", score)
    assert reason in result["reason"]
    assert done.code == 0


@pytest.mark.parametrize(
    ("changes", "config"),
    [
        ({"entrypoint": "https://example.org/run", "adapterType": "http"}, None),
        ({"entrypoint": "run", "adapterType": "http"}, {"baseUrl": "https://example.org/"}),
        ({"entrypoint": "https://example.org/mcp", "adapterType": "mcp"}, None),
        ({"entrypoint": "python3 -m skill 0.5 --quick=1"}, None),
        ({"entrypoint": "x"}, {"command": "python3", "args": ["skill.py"]}),
    ],
)
def test_a_way_in_of_any_kind_is_enough(tmp_path: Path, changes: dict[str, Any], config: Any) -> None:
    folder = program(tmp_path / "words", **changes)
    if config is not None:
        (folder / "adapter.config.json").write_text(json.dumps(config), encoding="utf-8")
    assert results(checked(tmp_path))["accessibility"]["status"] == "pass"


@pytest.mark.parametrize(
    ("text", "identifier", "score", "reason"),
    [
        (PROSE.replace("name: words\n", ""), "metadata", 0.5, "has no name"),
        (PROSE.replace("---\n", "", 1), "metadata", 0, "missing or not a YAML mapping"),
        (PROSE.replace("---\n", "", 1), "json-valid", 0, "missing or not a YAML mapping"),
        (PROSE.replace("name: words\n", "name: words\nname: words\n"), "json-valid", 0.5, "appears twice"),
        (PROSE.replace("rules.md", "gone.md"), "accessibility", 0.5, "dead links: gone.md"),
        (PROSE.partition("# Words")[0], "accessibility", 0.5, "no instructions"),
    ],
)
def test_what_is_missing_of_a_prose_skill_costs_its_part(
    tmp_path: Path, text: str, identifier: str, score: float, reason: str
) -> None:
    prose(tmp_path / "words", text)
    result = results(checked(tmp_path))[identifier]
    assert (result["status"], result["score"]) == ("fail", score), result
    assert reason in result["reason"]


@pytest.mark.parametrize(
    ("files", "score"),
    [
        ({}, 0),
        ({"README.md": ""}, 0),
        ({"README.md": "Counts words."}, round(2 / 15, 4)),
        ({"guide.md": README}, 0.5),
        ({"readme.rst": README}, 1),
        ({"guide.md": README, "README": README}, 1),
    ],
)
def test_documentation_counts_by_what_it_is(tmp_path: Path, files: dict[str, str], score: float) -> None:
    folder = program(tmp_path / "words")
    (folder / "README.md").unlink()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    result = results(checked(tmp_path))["directory-not-empty"]
    assert result["score"] == score
    assert (result["status"] == "pass") == (score == 1)


def test_what_is_no_file_of_its_own_is_no_documentation(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(README, encoding="utf-8")
    for name, make in (("pipe", os.mkfifo), ("link", lambda path: path.symlink_to(tmp_path / "secret"))):
        folder = program(tmp_path / name)
        (folder / "README.md").unlink()
        make(folder / "README.md")
        assert results(checked(tmp_path, name=name))["directory-not-empty"]["score"] == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"entrypoint": "python3 \ud800.py"},
        {"entrypoint": "./\ud800 skill.py"},
        {"entrypoint": "python3 " + "a/" * 5000 + "x.py"},
        {"entrypoint": "python3 '\x1b[31m\n## heading.py'"},
        {"entrypoint": "http://a:99999/", "adapterType": "http"},
        {"entrypoint": "SKILL.md", "adapterType": "skillmd"},
    ],
)
def test_hostile_words_fail_their_check_and_nothing_else(tmp_path: Path, changes: dict[str, Any]) -> None:
    program(tmp_path / "words", **changes)
    done = checked(tmp_path)
    assert done.code == 0, done.err
    found = results(done)
    assert [name for name, one in found.items() if one["status"] != "pass"] == ["accessibility"]
    reason = found["accessibility"]["reason"]
    assert len(reason) <= 500
    assert reason.isprintable()


def test_a_check_that_cannot_be_made_is_skipped(tmp_path: Path) -> None:
    program(tmp_path / "words")
    code = "import sys; sys.modules['jsonschema'] = None; from skillgate.cli.main import entry; entry()"
    words = ("eval", "--skills", "words", "--benchmark", "skill-quality", "--json")
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-c", code, *words]
    done = subprocess.run(argv, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    found = {one["taskId"]: one for one in json.loads(done.stdout)["reports"][0]["taskResults"]}
    assert [name for name, one in found.items() if one["status"] != "pass"] == ["json-valid"]
    skipped = found["json-valid"]
    assert (skipped["status"], skipped["errorKind"], skipped["score"]) == ("skipped", "scorer", None)
    assert "pip install" in skipped["error"]


def test_many_skills_meet_the_missing_package_at_once(tmp_path: Path) -> None:
    """While one thread fails to load it, another sees half of a module: that is the same thing missing."""
    for number in range(4):
        program(tmp_path / f"words-{number}", id=f"words-{number}")
    (tmp_path / "gone").mkdir()
    halting = "import time\ntime.sleep(0.3)\nraise ModuleNotFoundError('gone', name='jsonschema')\n"
    (tmp_path / "gone" / "jsonschema.py").write_text(halting, encoding="utf-8")
    argv = [sys.executable, "-c", "from skillgate.cli.main import entry; entry()", "eval", "--skills", "."]
    argv += ["--benchmark", "skill-quality", "--concurrency", "8", "--json"]
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": f"{tmp_path / 'gone'}:{ROOT}"}
    done = subprocess.run(argv, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    reports = json.loads(done.stdout)["reports"]
    told = [one["error"] for report in reports for one in report["taskResults"] if one["status"] == "skipped"]
    assert len(told) == 4
    assert all("pip install" in error for error in told)


def test_a_skill_cannot_score_itself(tmp_path: Path) -> None:
    skill(tmp_path / "s", answering("{'score': 1, 'passed': True, 'reasons': []}"))
    benchmark(tmp_path / "b.json", task(expectedOutput={"type": "static"}))
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json")
    assert done.code == 2
    assert 'static requires a benchmark with "adapter": "static"' in done.err
    done = run(tmp_path, "eval", "--skills", "s", "--evaluator", "static")
    assert done.code == 2


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"inputData": {"checkType": "beauty"}}, "inputData.checkType: expected one of accessibility"),
        ({"inputData": {}}, "found 'None'"),
        ({"inputData": {"checkType": ["metadata"]}}, "inputData.checkType: expected one of"),
        ({"expectedOutput": {"type": "exact", "value": 1}}, "in a static benchmark"),
        ({"expectedOutput": {}}, "in a static benchmark"),
    ],
)
def test_a_static_benchmark_names_what_is_checked(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    program(tmp_path / "s")
    whole = {"inputData": {"checkType": "metadata"}, "expectedOutput": {"type": "static"}, **changes}
    benchmark(tmp_path / "b.json", task(**whole), adapter="static")
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json")
    assert done.code == 2
    assert told in done.err


def test_a_static_skill_is_read_and_never_run(tmp_path: Path) -> None:
    program(tmp_path / "words", adapterType="static", entrypoint="")
    assert results(checked(tmp_path))["accessibility"]["status"] == "pass"
    done = run(tmp_path, "eval", "--skills", "words", "--benchmark", "coding-easy")
    assert done.code == 2
    assert "use a static benchmark" in done.err


def test_a_check_that_a_skill_does_itself_is_told_where_its_files_are(tmp_path: Path) -> None:
    code = "import os\n" + answering("[data['skillDir'], sorted(os.listdir(data['skillDir']))]")
    for name, config in (("s", None), ("copied", {"workDir": "copy"})):
        skill(tmp_path / name, code, config=config)
        files = [*(["adapter.config.json"] if config else []), "skill.json", "skill.py"]
        wanted = {"type": "exact", "value": [".", files]}
        benchmark(tmp_path / "b.json", task(inputData={"checkType": "metadata"}, expectedOutput=wanted))
        done = run(tmp_path, "eval", "--skills", name, "--benchmark", "./b.json", "--json")
        assert done.json["reports"][0]["taskResults"][0]["status"] == "pass", done.out
