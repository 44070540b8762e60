"""Gates on judged scores: what is real, what is not known, what cannot be compared, and what nobody was asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("anthropic")

from tests.cli.running import commit
from tests.standard.asking import model, run, write_skill

if TYPE_CHECKING:
    from pathlib import Path

WORSE = """rules:
  - {match: {contains: WORSENED}, reply: {rating: 1}}
  - {reply: {rating: 9}}"""


def worsened(work: Path, others: int) -> None:
    """Commit skills of which one then gets worse."""
    for number in range(others + 1):
        write_skill(work / "skills", f"skill-{number:02}")
    commit(work)
    file = work / "skills/skill-00/SKILL.md"
    file.write_text(file.read_text() + "\nWORSENED by a change.\n")


@pytest.mark.parametrize("others", [0, 30])
def test_skills_that_did_not_change_hide_nobodys_fall(tmp_path: Path, others: int) -> None:
    worsened(tmp_path / "work", others)
    words = ("--baseline", "HEAD", "--depth", "standard", "--fail-on", "regression", "--json")
    with model(WORSE) as demo:
        done = run(tmp_path / "work", "score", "skills", *words, at=demo)
    assert done.code == 1
    results = done.json.get("results")
    fallen = next(one for one in results if one["skill"]["name"] == "skill-00") if results else done.json
    assert fallen["drop"]["p"] <= 0.05
    assert fallen["drop"]["certain"] <= 2.0
    assert fallen["drop"]["units"] > 0


def test_several_noisy_drops_are_corrected_for_one_another(tmp_path: Path) -> None:
    work = tmp_path / "work"
    for number in range(12):
        write_skill(work / "skills", f"skill-{number:02}")
    commit(work)
    for number in range(12):
        file = work / f"skills/skill-{number:02}/SKILL.md"
        file.write_text(file.read_text() + "\nA WORD more.\n")
    rules = """rules:
      - {match: {question: [other_dimensions], contains: A WORD}, reply: {rating: 7}}
      - {reply: {rating: 9}}"""
    words = ("--baseline", "HEAD", "--depth", "standard", "--json", "--max-drop", "0.5")
    with model(rules) as demo:
        alone = run(work, "score", "skills/skill-00", *words, at=demo)
        together = run(work, "score", "skills", *words, at=demo)
    p = alone.json["drop"]["p"]
    corrected = {one["drop"]["p"] for one in together.json["results"]}
    assert 0 < p < 0.05
    assert list(corrected) == [pytest.approx(min(1.0, 12 * p), abs=1e-5)]


def test_a_report_that_was_judged_otherwise_is_no_baseline(tmp_path: Path) -> None:
    work = tmp_path / "work"
    write_skill(work, "invoices")
    words = ("score", "invoices", "--depth", "standard", "--json")
    with model("rules: [{reply: {rating: 7}}]") as demo:
        kept = run(work, *words, at=demo).json
        kept["layers"][1]["rubric_version"] = "0"
        (work / "other.json").write_text(json.dumps(kept))
        done = run(work, *words, "--baseline", "other.json", "--fail-on", "regression", at=demo)
    assert done.code == 2
    assert "rubrics 0" in done.err


@pytest.mark.parametrize(("what", "code"), [("point", 1), ("fail", 1), ("pass", 0), ("warn", 0)])
def test_what_cannot_be_compared_is_inconclusive_however_the_scores_lie(tmp_path: Path, what: str, code: int) -> None:
    work = tmp_path / "work"
    write_skill(work, "invoices")
    words = ("score", "invoices", "--depth", "standard", "--json")
    with model("rules: [{reply: {rating: 7}}]") as demo:
        kept = run(work, *words, at=demo).json
        kept["layers"][1]["triggering"]["digest"] = "0" * 32
        (work / "other.json").write_text(json.dumps(kept))
        gate = ("--baseline", "other.json", "--fail-on", "regression", "--on-inconclusive", what)
        done = run(work, *words, *gate, at=demo)
    (outcome,) = done.json["gate"]["outcomes"]
    assert "not comparable" in outcome["reason"]
    assert done.code == code


def test_compare_asks_the_paired_test_too(tmp_path: Path) -> None:
    work = tmp_path / "work"
    write_skill(work / "a", "invoices")
    write_skill(work / "b", "invoices", body="# invoices\n\nRead A WORD of it, and write what it says. " * 3)
    rules = """rules:
      - {match: {question: scope_calibration, contains: A WORD}, reply: {rating: 8}}
      - {reply: {rating: 9}}"""
    words = ("compare", "a/invoices", "b/invoices", "--depth", "standard", "--max-drop", "100", "--json")
    with model(rules) as demo:
        done = run(work, *words, at=demo)
    assert done.code == 0, done.err
    assert done.json["b"]["drop"]["units"] > 0


def test_more_models_than_judges_are_refused_and_each_is_asked(tmp_path: Path) -> None:
    work = tmp_path / "work"
    write_skill(work, "invoices")
    names = ("--judge-model", "claude-haiku-5-5", "--judge-model", "claude-sonnet-5-5")
    with model() as demo:
        both = run(work, "score", "invoices", "--depth", "standard", "--json", *names, at=demo)
        few = run(work, "score", "invoices", "--depth", "standard", "--judges", "1", *names, at=demo)
    assert both.json["layers"][1]["judges"] == 2
    assert both.json["models"] == ["claude-haiku-5-5", "claude-sonnet-5-5"]
    assert few.code == 2
    assert "claude-sonnet-5-5 would never be asked" in few.err


def test_what_a_request_holds(tmp_path: Path) -> None:
    work = tmp_path / "work"
    write_skill(work, "invoices")
    with model() as demo:
        run(work, "score", "invoices", "--depth", "standard", at=demo)
        bodies = [exchange["body"] for exchange in demo.asked]
    assert len(bodies) == 6
    for body in bodies:
        assert body["output_config"]["effort"] == "medium"
        assert body["output_config"]["format"]["type"] == "json_schema"
        assert not body.keys() & {"temperature", "top_p", "top_k", "tools", "tool_choice"}
    marked = [json.dumps(body).count('"cache_control"') for body in bodies]
    assert sorted(marked) == [0, 0, 1, 1, 1, 1]


def test_a_scripted_model_costs_nothing_whatever_it_is_called(tmp_path: Path) -> None:
    work = tmp_path / "work"
    write_skill(work, "invoices")
    words = ("--provider", "scripted", "--judge-model", "unpriced", "--max-cost-usd", "1", "--json")
    done = run(work, "score", "invoices", "--depth", "standard", *words, key="")
    assert done.code == 0
    assert done.json["usage"]["cost_usd"] == 0.0


@pytest.mark.parametrize(
    "words",
    [("--dry-run",), ("--judges", "3"), ("--replay", "x"), ("--record", "x"), ("--calibration", "x"), ("--refresh",)],
)
def test_an_option_that_would_do_nothing_is_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    write_skill(tmp_path / "work", "invoices")
    done = run(tmp_path / "work", "score", "invoices", *words)
    assert (done.code, done.out) == (2, "")
    assert "use --depth standard" in done.err


def test_nothing_is_paid_for_that_cannot_be_written(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    with model() as demo:
        words = ("score", "invoices", "--depth", "standard", "--output-file", "not/there.json")
        done = run(tmp_path / "work", *words, at=demo)
        assert demo.take() == []
    assert done.code == 2
    assert "directory not" in done.err


def test_a_dear_run_is_asked_about_also_where_a_baseline_came_first(tmp_path: Path) -> None:
    work = tmp_path / "work"
    write_skill(work / "skills", "skill-000")
    commit(work)
    for number in range(1, 60):
        write_skill(
            work / "skills", f"skill-{number:03}", body=f"# {number}\n\n" + "words that say what is done. " * 9000
        )
    with model() as demo:
        done = run(work, "score", "skills", "--depth", "standard", "--baseline", "HEAD", at=demo)
        assert len(demo.take()) <= 6
    assert done.code == 2
    assert "set --max-cost-usd" in done.err


def test_a_run_without_a_limit_that_costs_far_more_than_was_estimated_is_ended_and_fails_no_budget(
    tmp_path: Path,
) -> None:
    work = tmp_path / "work"
    place = write_skill(work, "invoice-tables", body="# i\n\nRead references/a.md again before every answer.\n")
    (place / "references").mkdir()
    (place / "references/a.md").write_text(("x" * 99 + "\n") * 1_999)
    rules = """
      world: {seed: 1, activation: {should: 1.0, near_miss: 0.0}}
      rules:
        - match: {question: simulation, contains: "Launching skill: invoice-tables"}
          reply: {tool_use: Read, input: {file_path: references/a.md}}"""
    words = ("score", "invoice-tables", "--depth", "deep", "--simulations", "20", "--model", "claude-fable-5", "--json")
    with model(rules) as demo:
        done = run(work, *words, at=demo)
    assert done.code == 3
    assert "of $20.00, the maximum cost of a run without --max-cost-usd" in done.err
    assert "give --max-cost-usd" in done.err
    assert {one["gate"] for one in done.json["gate"]["outcomes"]} <= {"unmeasured"}
