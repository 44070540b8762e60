"""The JSON documents: their shapes, the published schema, and that what is written can be read back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from skillgate.errors import UsageError
from skillgate.evaluation import pipeline
from skillgate.model.check_report import CheckReport
from skillgate.model.report import GateOutcome, Report, Verdict
from skillgate.model.score import SCHEMA_VERSION, SCORING_VERSION, Badge, Dimension, Outcome
from skillgate.model.single_report import SingleReport
from skillgate.report.json import alone, document, read, render
from skillgate.report.schema import report_schema
from skillgate.scoring.gate import Policy
from skillgate.skill.find import discover
from skillgate.skill.find import read as read_source
from tests.report import judged
from tests.skills import BODY, body_of, run, write_bytes, write_skill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from skillgate.report.json import Document

VALIDATOR = jsonschema.Draft202012Validator(report_schema())
POLICY = Policy(
    fail_on=frozenset({"error", "threshold", "unmeasured"}),
    threshold=70.0,
    min_badge=Badge.GOLD,
    min_dimension={"triggering_accuracy": 0.9, "robustness": 0.1},
)


def evaluated(path: Path, policy: Policy = POLICY) -> Report:
    evaluator = pipeline.Evaluator(criteria=pipeline.Criteria(policy=lambda _: policy))
    return pipeline.evaluate((read_source(root) for root in discover(["."], cwd=str(path)).roots), evaluator).report


@pytest.fixture
def several(tmp_path: Path) -> Report:
    """Evaluate a good skill, a poor one with findings, one in another language and one that is not UTF-8."""
    write_skill(tmp_path, "good", body=body_of(240) + "\n```python\nx = 1\n```\n")
    write_skill(tmp_path, "poor", body=BODY + "\nSee [x](references/gone.md) and [y](../gone/SKILL.md).\n")
    write_skill(tmp_path, "foreign", description="处理表格文件，当用户需要生成图表时使用。")
    write_bytes(tmp_path, "none", b"\xff\xfe")
    return evaluated(tmp_path)


def documents(report: Report) -> list[Document]:
    """Give a report in each of the shapes that the commands write."""
    singles = [_alone(report, index) for index in range(len(report.results))]
    return [report, document(report, command="check", single=False), *singles]


def _alone(report: Report, index: int) -> SingleReport:
    return alone(report._replace(results=(report.results[index],)))


def test_what_is_written_can_be_read_back(several: Report) -> None:
    for item in documents(several):
        assert read(render(item), source="it") == item


def test_every_document_is_valid_by_the_published_schema(several: Report) -> None:
    for item in documents(several):
        VALIDATOR.validate(json.loads(render(item)))


def test_the_schema_refuses_what_is_none(several: Report) -> None:
    data = json.loads(render(several))
    spoils: list[Callable[[Any], object]] = [
        lambda doc: doc.pop("kind"),
        lambda doc: doc.update(kind="other"),
        lambda doc: doc.pop("results"),
        lambda doc: doc["results"][0]["composite"].update(score=101),
        lambda doc: doc["results"][0]["dimensions"]["robustness"].update(score="0.5"),
        lambda doc: doc["results"][0]["composite"].update(badge="Iron"),
        lambda doc: doc["results"][0]["layers"][0].update(name="fourth"),
    ]
    for spoil in spoils:
        spoiled = json.loads(json.dumps(data))
        spoil(spoiled)
        assert not VALIDATOR.is_valid(spoiled)


def test_every_document_says_what_it_is(several: Report) -> None:
    for item in documents(several):
        data = json.loads(render(item))
        assert data["kind"] == ("check" if isinstance(item, CheckReport) else "score")
        assert (data["schema_version"], data["scoring_version"]) == (SCHEMA_VERSION, SCORING_VERSION)
        assert data["depth"] == "quick"
        assert data["models"] == []
        assert data["tool"]["name"] == "skillgate"
        assert {"coverage", "config_digest", "gate"} <= set(data)


def single(path: Path) -> dict[str, Any]:
    done = run("score", str(path), "--output", "json", cwd=path)
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert isinstance(data, dict)
    return data


def test_one_skill_has_the_shape_that_the_methods_scripts_read(tmp_path: Path) -> None:
    data = single(write_skill(tmp_path, "poor", body=BODY + "\nSee [x](references/gone.md).\n"))
    assert isinstance(data["composite"]["score"], float)
    assert data["composite"]["elo"] is None
    assert data["composite"]["elo_reason"]
    assert data["composite"]["badge"] is None or isinstance(data["composite"]["badge"], str)
    assert list(data["dimensions"]) == [dimension.value for dimension in Dimension]
    for found in data["dimensions"].values():
        assert {"score", "grade", "ci_low", "ci_high"} <= set(found)
        assert (found["score"] is None) == (found["grade"] is None)
        assert found["score"] is not None or found["reason"]
    (layer,) = data["layers"]
    assert (layer["name"], layer["anti_patterns"]) == ("static", ["ORPHAN_REFERENCE"])
    assert isinstance(layer["duration_ms"], int)
    assert {"schema_version", "skill", "findings", "advice", "coverage", "usage", "tool"} <= set(data)
    assert data["skill"]["name"] == "poor"
    assert data["usage"]["calls"] == 0


def test_a_finding_has_all_that_a_reader_needs(tmp_path: Path) -> None:
    data = single(write_skill(tmp_path, "poor", body=BODY + "\nSee [x](references/gone.md).\n"))
    (finding,) = (item for item in data["findings"] if item["id"] == "ORPHAN_REFERENCE")
    assert set(finding) == {
        "id",
        "severity",
        "message",
        "path",
        "line",
        "column",
        "fix",
        "url",
        "clients",
        "tool",
        "skills",
    }
    assert (finding["severity"], finding["line"], finding["column"]) == ("error", 14, 9)
    assert finding["path"].endswith("SKILL.md")
    assert "\\" not in finding["path"]


def test_the_dimensions_stand_under_composite_too(several: Report) -> None:
    for item in documents(several):
        data = json.loads(render(item))
        for result in data.get("results", [data] if "composite" in data else []):
            assert result["composite"]["dimensions"] == result["dimensions"]


def test_several_skills_stand_in_a_list(several: Report) -> None:
    data = json.loads(render(document(several, command="score", single=False)))
    assert [result["skill"]["path"] for result in data["results"]] == ["foreign", "good", "none", "poor"]
    assert data["summary"]["skills"] == 4
    assert "composite" not in data


@pytest.mark.parametrize("argument", ["skills/good", "skills/good/SKILL.md"])
def test_the_single_shape_is_for_one_path_that_is_a_skill(argument: str, tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "good", body=body_of(240))
    assert "composite" in json.loads(run("score", argument, "--json", cwd=tmp_path).stdout)
    assert "results" in json.loads(run("score", "skills", "--json", cwd=tmp_path).stdout)
    assert "results" in json.loads(run("score", argument, argument, "--json", cwd=tmp_path).stdout)


def test_the_single_shape_keeps_agreement_calibration_and_the_drop() -> None:
    report = judged.a_judged_report(judged.a_fallen_skill(), calibration=judged.a_trust())
    written = document(report, command="score", single=True)
    found = read(render(written), source="it")
    assert isinstance(found, SingleReport)
    assert (found.agreement, found.calibration, found.drop) == (judged.AGREEMENT, judged.a_trust(), judged.DROP)
    assert found.result().drop == judged.DROP


def test_a_report_over_several_has_no_single_shape(several: Report) -> None:
    with pytest.raises(ValueError, match="4 skills"):
        alone(several)


def test_check_keeps_findings_gate_and_summary(several: Report) -> None:
    data = json.loads(render(document(several, command="check", single=True)))
    assert len(data["findings"]) == sum(len(result.findings) for result in several.results)
    assert data["gate"]["passed"] is False
    assert all(outcome["verdict"] != "pass" for outcome in data["gate"]["outcomes"])
    assert any(outcome["reason"].startswith("none: ") for outcome in data["gate"]["outcomes"])
    assert data["summary"]["findings"] == several.summary.findings
    assert "results" not in data


def test_what_was_not_measured_is_null_with_a_reason(several: Report) -> None:
    none = next(result for result in json.loads(render(several))["results"] if result["skill"]["path"] == "none")
    assert none["composite"]["score"] is None
    assert "not UTF-8" in none["composite"]["reason"]
    assert all(found["score"] is None and found["reason"] for found in none["dimensions"].values())


def test_numbers_are_rounded_and_the_bytes_are_the_same_but_for_the_time(several: Report, tmp_path: Path) -> None:
    data = json.loads(render(several))
    again = json.loads(render(evaluated(tmp_path)))
    for report in (data, again):
        for result in report["results"]:
            for layer in result["layers"]:
                layer["duration_ms"] = 0
    assert json.dumps(data) == json.dumps(again)
    for result in data["results"]:
        if result["composite"]["score"] is not None:
            assert result["composite"]["score"] == round(result["composite"]["score"], 2)
        for found in result["dimensions"].values():
            assert found["score"] is None or found["score"] == round(found["score"], 4)


def test_the_text_is_indented_utf8_with_a_final_line_feed(several: Report) -> None:
    text = render(several)
    assert text.startswith('{\n  "kind": "score"')
    assert text.endswith("}\n")
    assert "\\u" not in text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is not JSON"),
        ("{", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("[]", "kind"),
        ("{}", "kind"),
        ('{"kind": "other"}', "kind"),
        ('{"kind": "score", "results": [{}]}', "results[0]"),
        ('{"kind": "check"}', "findings"),
    ],
    ids=["empty", "cut off", "deep", "a list", "no kind", "another kind", "a broken result", "no findings"],
)
def test_what_is_no_report_is_refused_with_the_place(text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(text, source="it")
    assert words in str(caught.value)


def test_a_gate_that_failed_outside_the_skills_says_so_in_every_shape(several: Report) -> None:
    blamed = GateOutcome(gate="error", verdict=Outcome.FAIL, reason="1 error outside the skills")
    passed = several.results[0]._replace(gate=Verdict(passed=True))
    report = several._replace(results=(passed,), gate=Verdict(passed=False, outcomes=(blamed,)))
    for command, single in (("check", False), ("score", False), ("score", True)):
        written = document(report, command=command, single=single)
        assert isinstance(written, Report | SingleReport | CheckReport)
        gate = written.gate
        assert gate.passed is False
        assert blamed in gate.outcomes
