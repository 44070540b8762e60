"""An evaluation takes a request of plain values, whatever front builds it: no arguments, no command line."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from skillgate.config import Config
from skillgate.console import Console
from skillgate.errors import UsageError
from skillgate.evaluation.compare import compare_skills
from skillgate.evaluation.request import CompareRequest, EvaluateRequest, ModelOptions, Scope
from skillgate.evaluation.run import evaluate, exit_code
from skillgate.model.documents import Comparison
from tests.cli.running import commit, run
from tests.skills import body_of, write_skill

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from skillgate.model.setting import Value


def session(cwd: Path) -> Console:
    return Console(stdout=io.StringIO(), stderr=io.StringIO(), environ={}, cwd=str(cwd))


def request(
    cwd: Path,
    options: Mapping[str, Value] | None = None,
    *,
    scope: Scope | None = None,
    models: ModelOptions | None = None,
) -> EvaluateRequest:
    config = Config(cwd=str(cwd)).with_options(options or {})
    return EvaluateRequest(config, scope or Scope(), models=models or ModelOptions(), use_cache=False)


def test_a_request_gives_the_report_of_the_command_line(tmp_path: Path) -> None:
    write_skill(tmp_path, "good", body=body_of(240))
    write_skill(tmp_path, "poor")
    done = run(tmp_path, "score", "--threshold", "60", "--output", "json", "--no-cache")
    evaluation = evaluate(request(tmp_path, {"threshold": 60.0}), session(tmp_path))
    report = evaluation.report
    assert exit_code(evaluation) == done.code == 1
    assert done.json["config_digest"] == report.config_digest
    found = {result.skill.path: result.composite.score for result in report.results}
    assert found == {result["skill"]["path"]: result["composite"]["score"] for result in done.json["results"]}


def test_the_shards_of_a_run_are_about_all_skills(tmp_path: Path) -> None:
    names = {f"skill-{letter}" for letter in "abcdef"}
    for name in names:
        write_skill(tmp_path, name)
    found: set[str] = set()
    for part in (1, 2, 3):
        report = evaluate(request(tmp_path, scope=Scope(shard=(part, 3))), session(tmp_path)).report
        assert report.shard == f"{part}/3"
        found |= {result.skill.path for result in report.results}
    assert found == names


def test_no_skill_is_refused_unless_there_may_be_none(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    with pytest.raises(UsageError, match="no skill found in here"):
        evaluate(request(tmp_path, scope=Scope(("here",))), session(tmp_path))
    assert not evaluate(request(tmp_path, scope=Scope(("here",), allow_empty=True)), session(tmp_path)).report.results


@pytest.mark.parametrize(
    ("models", "options", "message"),
    [
        (ModelOptions(replay="x.jsonl"), {}, r"--replay: depth quick asks no model; use --depth standard"),
        (ModelOptions(dry_run=True), {"judges": 2}, r"--judges, --dry-run: depth quick asks no model"),
        (ModelOptions(lift=True), {"opponents": 3}, r"--lift, --opponents: .* use --depth deep"),
        (ModelOptions(lift=True), {"depth": "standard"}, r"--lift: depth standard simulates no sessions"),
        (ModelOptions(), {"depth": "deep", "opponents": 3}, r"--opponents: depth deep plays no matches"),
    ],
)
def test_what_a_depth_has_no_use_for_is_refused(
    tmp_path: Path, models: ModelOptions, options: Mapping[str, Value], message: str
) -> None:
    write_skill(tmp_path, "one")
    with pytest.raises(UsageError, match=message):
        evaluate(request(tmp_path, options, models=models), session(tmp_path))


def test_two_skills_are_compared_by_a_request(tmp_path: Path) -> None:
    write_skill(tmp_path, "one")
    commit(tmp_path)
    write_skill(tmp_path, "one", body=body_of(240))
    config = Config(cwd=str(tmp_path))
    comparison = compare_skills(CompareRequest("HEAD:one", "one", config, max_drop=1.0), session(tmp_path))
    assert isinstance(comparison, Comparison)
    assert comparison.gate.passed is False
    assert (comparison.a.skill.path, comparison.b.skill.path) == ("HEAD:one", "one")
