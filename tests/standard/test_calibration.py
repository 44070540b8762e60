"""A judge held against people, through the commands."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("anthropic")

from tests.standard.asking import judged, model, run, write_skill

if TYPE_CHECKING:
    from pathlib import Path

RULES = "rules: [{reply: {rating: 5}}]"


def test_labels_become_a_calibration_and_that_corrects_scores_beside_them(tmp_path: Path) -> None:
    work = tmp_path / "work"
    names = [f"skill-{number:02}" for number in range(12)]
    for name in names:
        write_skill(work / "skills", name)
    rated = ("orchestration_fitness", "output_quality")
    labels = [{"skill": f"skills/{name}", "dimension": one, "human": 8} for name in names for one in rated]
    (work / "labels.yaml").write_text(json.dumps(labels))
    with model(RULES) as demo:
        made = run(work, "evals", "calibrate", "labels.yaml", "skills", "--output-file", "c.json", at=demo)
        assert made.code == 0, made.err
        assert made.out.startswith("wrote c.json: 24 of 24 labels\n  kappa        24 of 40 labels\n")
        plain = run(work, "score", "skills", "--depth", "standard", "--json", at=demo)
        done = run(work, "score", "skills", "--depth", "standard", "--json", "--calibration", "c.json", at=demo)
    assert [one["composite"] for one in done.json["results"]] == [one["composite"] for one in plain.json["results"]]
    assessment = judged(done)["skill-00"]["assessments"]["output_quality"]
    assert assessment["score"] == 0.5
    assert assessment["corrected"]["value"] == pytest.approx(0.8)
    assert done.json["calibration"]["items"] == 24
    assert plain.json["calibration"] is None


def test_a_calibration_of_another_judge_is_refused(tmp_path: Path) -> None:
    work = tmp_path / "work"
    write_skill(work, "invoices")
    (work / "labels.yaml").write_text("- {skill: invoices, dimension: output_quality, human: 8}\n")
    with model(RULES) as demo:
        assert run(work, "evals", "calibrate", "labels.yaml", "--output-file", "c.json", at=demo).code == 0
        words = ("score", "invoices", "--depth", "standard", "--calibration", "c.json")
        done = run(work, *words, "--judge-model", "claude-haiku-5-5", at=demo)
    assert done.code == 2
    assert "stale" in done.err
    assert "model was claude-sonnet-5-5, is claude-haiku-5-5" in done.err


def test_labels_that_fit_nothing_are_refused(tmp_path: Path) -> None:
    work = tmp_path / "work"
    write_skill(work, "invoices")
    (work / "labels.yaml").write_text("- {skill: tickets, dimension: output_quality, human: 8}\n")
    with model(RULES) as demo:
        done = run(work, "evals", "calibrate", "labels.yaml", "--output-file", "c.json", at=demo)
    assert done.code == 2
    assert "tickets" in done.err
