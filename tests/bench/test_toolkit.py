"""The command lines of the toolkit for skills, from finding to regressions, as its users write them."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.source import ROOT
from tests.bench.made import answering, run, skill

pytest.importorskip("numpy", reason="numpy is not installed")
pytest.importorskip("scipy", reason="scipy is not installed")
pytest.importorskip("jinja2", reason="Jinja2 is not installed")
pytest.importorskip("jsonschema", reason="jsonschema is not installed")
pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")

EXAMPLES = ROOT / "examples" / "executable"
STRATEGY = """\
filters:
  minCompletionRate: 0.8
  maxErrorRate: 0.1
  maxLatencyP95Ms: 5000
  adapterTypes: [http, subprocess]
  requiredTags: [production-ready]
sortBy: compositeScore
order: desc
topK: 5
"""
BENCHMARK = {
    "id": "my-benchmark",
    "name": "My Custom Benchmark",
    "version": "1.0.0",
    "domain": "general",
    "scoringMethod": "mean",
    "maxLatencyMs": 30000,
    "metadata": {"source": "internal", "lastUpdated": "2026-02-28"},
    "tasks": [
        {
            "id": "task_001",
            "description": "Test basic addition",
            "inputData": {"expression": "2+3"},
            "expectedOutput": {"type": "exact", "value": "5"},
            "evaluator": {"type": "exact"},
            "timeoutMs": 10000,
            "tags": ["math"],
        },
        {
            "id": "task_002",
            "description": "Test keyword presence",
            "inputData": {"query": "TypeScript"},
            "expectedOutput": {"type": "contains", "keywords": ["JavaScript", "Microsoft"]},
            "evaluator": {"type": "contains", "caseSensitive": False},
            "timeoutMs": 15000,
            "tags": ["search"],
        },
    ],
}


def copied(source: str, place: Path, **changes: Any) -> None:
    """Copy an example, with another id, name, description or tags."""
    shutil.copytree(EXAMPLES / source, place)
    file = place / "skill.json"
    spec = {**json.loads(file.read_text(encoding="utf-8")), "id": place.name.replace("-", "_"), **changes}
    file.write_text(json.dumps(spec, indent=2), encoding="utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A directory with the skills, reports and files that the lines name."""
    skills = tmp_path / "skills"
    for folder, source in (("calculator", "calculator"), ("search", "search-notes")):
        copied(source, skills / folder, tags=["math" if folder == "calculator" else "retrieval", "production-ready"])
    for number, source in enumerate(("search-notes", "search-notes", "search-first-words"), start=1):
        copied(source, skills / f"weather_v{number}", name=f"Weather {number}", tags=["weather", "api"])
    skill(tmp_path / "my-skill", answering('5 if "expression" in data else "JavaScript, by Microsoft"'), id="my_skill")
    (tmp_path / "my-benchmark.json").write_text(json.dumps(BENCHMARK), encoding="utf-8")
    (tmp_path / "strategy.yaml").write_text(STRATEGY, encoding="utf-8")
    return tmp_path


def line(project: Path, text: str) -> Any:
    """Run one line as a shell would pass it on, names of files expanded."""
    words = []
    for word in shlex.split(text)[1:]:
        found = sorted(str(path.relative_to(project)) for path in project.glob(word)) if "*" in word else []
        words += found or [word]
    return run(project, *words)


def kept(project: Path, name: str, text: str) -> None:
    """Run eval, and keep its report under a name."""
    done = line(project, text)
    assert done.code in (0, 1), done.err
    shutil.copyfile(project / "reports" / "eval-result.json", project / "reports" / name)


def test_find_by_words_tags_adapter_and_history(project: Path) -> None:
    text = (
        'skillgate find --query "web search" --tag retrieval api --adapter http --min-completion 0.8'
        " --skills-dir ./skills --limit 10"
    )
    done = line(project, text)
    assert done.code == 0, done.err
    done = line(project, 'skillgate find --query "weather" --skills-dir ./skills')
    assert done.code == 0, done.err
    assert all(f"weather_v{number}" in done.out for number in (1, 2, 3))
    assert "calculator" not in done.out


def test_create_a_skill_that_asks_a_server(project: Path) -> None:
    text = (
        "skillgate create --name my_api_skill --from-template http_request --output-dir ./skills"
        ' --description "Fetches weather data from OpenWeather API"'
    )
    done = line(project, text)
    assert done.code == 0, done.err
    made = project / "skills" / "my_api_skill"
    assert {"skill.json", "adapter.config.json", "tests"} <= {path.name for path in made.iterdir()}
    assert (made / "tests" / "basic.eval.json").is_file()
    spec = json.loads((made / "skill.json").read_text(encoding="utf-8"))
    assert (spec["id"], spec["description"]) == ("my_api_skill", "Fetches weather data from OpenWeather API")
    assert run(project, "bench", "validate", "skills/my_api_skill").code == 0
    assert line(project, text).code == 2  # it is there already


def test_evaluate_with_every_option(project: Path) -> None:
    text = (
        "skillgate eval --skills ./skills/calculator/skill.json ./skills/search/ --benchmark coding-easy"
        " --concurrency 4 --timeout 30000 --retries 2 --runs 3 --evaluator exact --format json markdown html"
        " --output-dir ./reports --exit-on-fail --min-completion 0.8 --store ./eval-skills.db"
    )
    done = line(project, text)
    assert done.code == 1, done.err  # the search skill calculates nothing
    assert "search" in done.out
    written = {path.name for path in (project / "reports").iterdir()}
    assert {"eval-result.json", "eval-result.md", "eval-result.html"} <= written
    report = json.loads((project / "reports" / "eval-result.json").read_text(encoding="utf-8"))
    rates = {one["skillId"]: one["summary"]["completionRate"] for one in report["reports"]}
    assert rates["calculator"] == 1
    assert rates["search"] < 0.8
    history = line(project, "skillgate history --store ./eval-skills.db --json")
    assert "calculator" in history.out


def test_select_by_a_strategy(project: Path) -> None:
    line(project, "skillgate eval --skills ./skills/calculator ./skills/search --benchmark coding-easy")
    text = (
        "skillgate select --from ./skills --reports ./reports/eval-result.json --strategy ./strategy.yaml"
        " --min-completion 0.8 --top-k 5 --output ./selected.json"
    )
    done = line(project, text)
    assert done.code == 0, done.err
    selected = (project / "selected.json").read_text(encoding="utf-8")
    assert "calculator" in selected
    assert '"search"' not in selected
    assert str(project) not in selected


def test_run_the_whole_pipeline(project: Path) -> None:
    text = (
        'skillgate run --query "math" --benchmark coding-easy --skills-dir ./skills --top-k 3 --min-completion 0.7'
        " --format json markdown --output-dir ./reports"
    )
    done = line(project, text)
    assert done.code == 0, done.err
    assert "calculator" in done.out
    assert (project / "reports" / "eval-result.md").is_file()
    text = (
        "skillgate run --skills-dir ./skills --benchmark coding-easy --top-k 3 --min-completion 0.7"
        " --format json markdown html --output-dir ./reports"
    )
    done = line(project, text)
    assert done.code == 0, done.err
    assert (project / "reports" / "eval-result.html").is_file()


def test_convert_and_compare_reports(project: Path) -> None:
    kept(project, "v1.json", "skillgate eval --skills ./skills/weather_v1 --benchmark web-search-basic")
    kept(project, "v2.json", "skillgate eval --skills ./skills/weather_v1 --benchmark web-search-basic")
    text = (
        "skillgate report convert --input ./reports/eval-result.json --format html --output ./reports/eval-result.html"
    )
    assert line(project, text).code == 0
    assert "<html" in (project / "reports" / "eval-result.html").read_text(encoding="utf-8")
    text = (
        'skillgate report diff ./reports/v1.json ./reports/v2.json --label-a "v1.0" --label-b "v2.0"'
        " --output ./reports/diff.md"
    )
    done = line(project, text)
    assert done.code == 0, done.err
    diff = (project / "reports" / "diff.md").read_text(encoding="utf-8")
    assert "v1.0" in diff
    assert "on web-search-basic" in diff


def test_a_fresh_project_and_its_settings(tmp_path: Path) -> None:
    assert line(tmp_path, "skillgate init --dir .").code == 0
    assert (tmp_path / ".skillgate.yaml").is_file()
    assert not [path for path in tmp_path.iterdir() if path.is_dir()], "directories are written on request"
    assert line(tmp_path, "skillgate init --dir . --folders").code == 0
    assert {"skills", "benchmarks", "reports"} <= {path.name for path in tmp_path.iterdir() if path.is_dir()}
    assert "concurrency" in line(tmp_path, "skillgate config list").out
    assert line(tmp_path, "skillgate config set concurrency 8").code == 0
    assert line(tmp_path, "skillgate config get concurrency").out.strip() == "8"
    assert line(tmp_path, "skillgate config set llm.temperature 0").code == 0
    assert line(tmp_path, "skillgate config get llm.temperature").out.strip() in ("0", "0.0")
    assert line(tmp_path, "skillgate config set llm.model gpt-4o").code == 0
    assert "gpt-4o" in line(tmp_path, "skillgate config get llm.model").out


def test_a_custom_benchmark_is_run_as_printed(project: Path) -> None:
    done = line(project, "skillgate eval --skills ./my-skill/ --benchmark ./my-benchmark.json")
    assert done.code == 0, done.err
    report = json.loads((project / "reports" / "eval-result.json").read_text(encoding="utf-8"))
    assert report["reports"][0]["summary"]["completionRate"] == 1


def test_one_skill_from_its_skeleton_to_its_report(project: Path) -> None:
    done = line(project, "skillgate create --name my_calc --from-template python_script")
    assert done.code == 0, done.err
    place = project / "skills" / "my_calc"
    assert (place / "skill.py").is_file()
    text = "skillgate eval --skills ./skills/my_calc/skill.json --benchmark coding-easy --runs 3 --format json markdown"
    stub = line(project, text)
    assert stub.code == 0, stub.err
    shutil.copyfile(EXAMPLES / "calculator" / "skill.py", place / "skill.py")
    assert line(project, text).code == 0
    (newest, *_) = sorted((project / "reports").glob("eval-result-*.md"), reverse=True)
    assert "100.0 %" in newest.read_text(encoding="utf-8")


def test_several_candidates_are_compared_and_the_best_is_chosen(project: Path) -> None:
    assert line(project, 'skillgate find --query "weather" --skills-dir ./skills').code == 0
    text = (
        "skillgate eval --skills ./skills/weather_v1 ./skills/weather_v2 ./skills/weather_v3"
        " --benchmark web-search-basic --runs 3"
    )
    done = line(project, text)
    assert done.code == 0, done.err
    text = "skillgate select --from ./skills --reports ./reports/eval-result-*.json --min-completion 0.8 --top-k 2"
    done = line(project, text)
    assert done.code == 0, done.err
    assert "weather_v1" in done.out
    shutil.copyfile(project / "reports" / "eval-result.json", project / "reports" / "v1.json")
    shutil.copyfile(project / "reports" / "eval-result.json", project / "reports" / "v2.json")
    text = 'skillgate report diff ./reports/v1.json ./reports/v2.json --label-a "weather_v1" --label-b "weather_v2"'
    assert line(project, text).code == 0


def test_the_gate_of_a_pipeline_is_1_on_the_stub_and_0_on_the_skill(project: Path) -> None:
    line(project, "skillgate create --name production_skill --from-template python_script")
    text = (
        "skillgate eval --skills ./skills/production_skill --benchmark coding-easy --exit-on-fail"
        " --min-completion 0.8 --format json"
    )
    stub = line(project, text)
    assert stub.code == 1, stub.err
    shutil.copyfile(EXAMPLES / "calculator" / "skill.py", project / "skills" / "production_skill" / "skill.py")
    assert line(project, text).code == 0


def test_a_regression_is_detected(project: Path) -> None:
    text = "skillgate eval --skills ./skills/calculator --benchmark coding-easy --runs 2"
    kept(project, "baseline.json", text)
    file = project / "skills" / "calculator" / "skill.py"
    code = file.read_text(encoding="utf-8")
    file.write_text(f"import sys\nif len(sys.argv) < 9:\n    sys.exit(1)\n{code}", encoding="utf-8")
    kept(project, "latest.json", text)
    text = (
        'skillgate report diff ./reports/baseline.json ./reports/latest.json --label-a "baseline" --label-b "latest"'
        " --output ./reports/regression-check.md"
    )
    assert line(project, text).code == 0
    told = (project / "reports" / "regression-check.md").read_text(encoding="utf-8")
    assert re.search(r"FAIL", told)
    assert line(project, f"{text} --fail-on-regression").code == 1
