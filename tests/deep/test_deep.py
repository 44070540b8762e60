"""Deep depth through the command line: sessions over a real socket, and what is not measured has no number."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("anthropic")

from skillgate.model.score import Dimension, LayerName
from skillgate.scoring.composite import BLEND
from tests.standard.asking import Model, model, run, write_skill

if TYPE_CHECKING:
    from tests.cli.running import Done

FEW = ("--depth", "deep", "--simulations", "10", "--json")


def _score(folder: Path, *words: str, at: Model | str | None = None) -> Done:
    return run(folder / "work", "score", "invoices", *words, at=at)


def _layer(done: Done, name: str = "montecarlo") -> dict[str, Any]:
    found: dict[str, Any] = next(layer for layer in done.json["layers"] if layer["name"] == name)
    return found


def test_a_score_blends_three_layers_by_the_table(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    with model() as demo:
        done = _score(tmp_path, *FEW, at=demo)
    assert done.code == 0, done.err
    document, layer = done.json, _layer(done)
    assert document["depth"] == "deep"
    assert document["coverage"] == 1.0
    assert (layer["completed"], layer["simulations"], layer["near_misses"]) == (12, 10, 2)
    assert {name for name, one in layer["scores"].items() if one["value"] is not None} == {
        dimension.value for dimension in Dimension if BLEND[dimension][LayerName.MONTECARLO]
    }
    static = {item["dimension"]: item["score"] for item in document["layers"][0]["sub_checks"].values()}
    for dimension in Dimension:
        shares = BLEND[dimension]
        parts = [
            (shares[LayerName.STATIC], static.get(dimension.value)),
            (shares[LayerName.JUDGE], document["layers"][1]["assessments"][dimension.value]["score"]),
            (shares[LayerName.MONTECARLO], layer["scores"].get(dimension.value, {"value": None})["value"]),
        ]
        known = [(share, score) for share, score in parts if share and score is not None]
        expected = sum(share * score for share, score in known) / sum(share for share, _ in known)
        assert document["dimensions"][dimension.value]["score"] == pytest.approx(expected, abs=1e-4), dimension


def test_every_prompt_is_another_one(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    with model() as demo:
        runs = _layer(_score(tmp_path, "--depth", "deep", "--json", at=demo))["runs"]
    assert len(runs) == 60
    assert len({one["prompt"].casefold() for one in runs}) == 60
    styles = [one["style"] for one in runs if one["should_trigger"]]
    assert styles.count("direct") == styles.count("indirect") == 25


def test_what_was_asked_once_is_not_paid_for_again(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    with model() as demo:
        first = _score(tmp_path, *FEW, at=demo)
        asked = len(demo.take())
        second = _score(tmp_path, *FEW, at=demo)
        assert demo.take() == []
    assert first.json["usage"]["calls"] == asked
    assert second.json["usage"]["calls"] == 0
    assert second.json["composite"] == first.json["composite"]


OUTAGE = """\
rules:
  - match: {question: simulation}
    reply: {status: 400, message: "nothing works today"}
"""


def test_an_outage_is_no_score(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    with model(OUTAGE) as demo:
        done = _score(tmp_path, *FEW, at=demo)
    layer = _layer(done)
    assert done.code == 3
    assert (layer["completed"], layer["failed"]) == (0, 0)
    assert layer["not_measured"] == 12
    assert layer["mc_score"] is None
    assert done.json["composite"]["score"] is None
    assert done.json["composite"]["badge"] is None
    assert done.json["dimensions"]["robustness"]["score"] is None
    assert "simulated" in done.err


REFUSAL = """\
rules:
  - match: {question: simulation}
    reply: {stop_reason: refusal, category: cyber}
"""


def test_refusals_are_failures_and_no_activations(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    with model(REFUSAL) as demo:
        done = _score(tmp_path, *FEW, at=demo)
    layer = _layer(done)
    assert (layer["failed"], layer["completed"], layer["not_measured"]) == (12, 0, 0)
    assert layer["measures"]["activation_rate"]["value"] == 0.0
    assert layer["measures"]["failure_rate"]["value"] == 1.0
    assert layer["measures"]["quality"]["value"] is None
    assert layer["mc_score"] == 0.0
    assert layer["scores"]["robustness"]["value"] == 0.0
    assert (done.code, done.json["composite"]["badge"]) == (0, None)
    assert done.json["composite"]["score"] is not None


SILENCE = """\
rules:
  - match: {question: simulation}
    reply: {text: ""}
"""


def test_silent_sessions_are_failures(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    with model(SILENCE) as demo:
        layer = _layer(_score(tmp_path, *FEW, at=demo))
    assert (layer["failed"], layer["completed"]) == (12, 0)
    assert layer["measures"]["failure_rate"]["value"] == 1.0


def test_a_gate_over_activation_fails_the_run(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    with model(REFUSAL) as demo:
        done = _score(tmp_path, *FEW, "--min-activation", "0.5", "--max-failure-rate", "0.2", at=demo)
    assert done.code == 1
    reasons = [outcome["reason"] for outcome in done.json["gate"]["outcomes"]]
    assert any("0 of 10 sessions meant for it" in reason for reason in reasons)
    assert any("12 of 12 sessions failed" in reason for reason in reasons)


def test_an_early_stop_gives_the_verdict_and_no_score(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    with model(REFUSAL) as demo:
        words = ("--depth", "deep", "--simulations", "40", "--json", "--min-activation", "0.9", "--early-stop")
        done = _score(tmp_path, *words, at=demo)
    layer = _layer(done)
    assert done.code == 1
    assert layer["stopped_early"]
    assert layer["completed"] + layer["failed"] + layer["not_measured"] < 48
    assert any(one["outcome"] == "not run" for one in layer["runs"])
    assert done.json["composite"]["score"] is None
    assert done.json["composite"]["badge"] is None
    assert "stopped early" in done.json["composite"]["reason"]


def test_without_near_misses_the_activation_rate_is_the_trigger_score(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    with model() as demo:
        layer = _layer(_score(tmp_path, *FEW, "--near-misses", "0", at=demo))
    assert layer["near_misses"] == 0
    assert layer["scores"]["triggering_accuracy"]["value"] == layer["measures"]["activation_rate"]["value"]


def test_without_a_corpus_a_certificate_has_no_rating_and_that_fails_nothing(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    with model() as demo:
        words = ("--depth", "certify", "--simulations", "10", "--judges", "1", "--json")
        done = _score(tmp_path, *words, at=demo)
    assert done.code == 0, done.err
    assert done.json["composite"]["elo"] is None
    assert "corpus build" in done.json["composite"]["elo_reason"]
    assert done.json["composite"]["score"] is not None


def test_a_version_is_compared_on_the_prompts_of_the_one_before(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    with model() as demo:
        before = _score(tmp_path, *FEW, at=demo)
        (tmp_path / "before.json").write_text(before.out)
        body = "# Invoices\n\n" + "Read what is there, and write down what is missing in plain words. " * 9 + "\n"
        write_skill(tmp_path / "work", "invoices", body=body)
        after = _score(tmp_path, *FEW, "--baseline", str(tmp_path / "before.json"), at=demo)
    assert _layer(after)["prompts_digest"] == _layer(before)["prompts_digest"]
    assert _layer(after)["prompts_source"] == "baseline"
    drop = after.json["drop"]
    assert drop["reason"] is None
    assert drop["units"] > 20
    assert 0 <= drop["p"] <= 1


def test_a_skill_that_is_not_loaded_any_more_has_a_low_score_and_has_regressed(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    with model("world: {activation: {should: 0.9, near_miss: 0.0}}\nrules: []\n") as demo:
        before = _score(tmp_path, *FEW, at=demo)
        (tmp_path / "before.json").write_text(before.out)
    with model("world: {activation: {should: 0.0, near_miss: 0.0}}\nrules: []\n") as demo:
        words = ("--baseline", str(tmp_path / "before.json"), "--refresh")
        after = _score(tmp_path, *FEW, *words, at=demo)
    assert after.code == 1
    assert after.json["composite"]["score"] < before.json["composite"]["score"] - 20
    assert _layer(after)["measures"]["activation_rate"]["value"] == 0.0
    (outcome,) = (one for one in after.json["gate"]["outcomes"] if one["gate"] == "regression")
    assert outcome["verdict"] == "fail"
    assert after.json["drop"]["p"] < 0.01


def test_options_of_sessions_are_refused_where_none_are_simulated(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    for words in (("--simulations", "10"), ("--depth", "standard", "--simulations", "10"), ("--lift",)):
        done = _score(tmp_path, *words)
        assert done.code == 2
        assert "--depth deep" in done.err


REFERRING = "# Invoices\n\nRead references/rules.md first, then [the form](references/form.md).\n"


@pytest.mark.parametrize(
    ("skill", "words"),
    [
        ("plain", ("--simulations", "50")),
        ("plain", ("--simulations", "12", "--judges", "3")),
        ("referring", ("--simulations", "20")),
        ("example", ("--simulations", "50")),
    ],
)
def test_a_dry_run_says_what_sessions_will_take(tmp_path: Path, skill: str, words: tuple[str, ...]) -> None:
    if skill == "example":
        shutil.copytree(EXAMPLE, tmp_path / "work/invoices")
    elif skill == "referring":
        files = {"references__rules_md": "Sum every column twice.\n" * 1_500, "references__form_md": "Name, sum.\n"}
        write_skill(tmp_path / "work", "invoices", body=REFERRING, **files)
    else:
        write_skill(tmp_path / "work", "invoices")
    with model(WORLD) as demo:
        told = run(tmp_path / "work", "score", "invoices", "--depth", "deep", *words, "--dry-run", at=demo).out
        assert demo.take() == []
        used = _score(tmp_path, "--depth", "deep", *words, "--json", at=demo).json["usage"]
    (calls,) = _numbers(r"([\d,]+) calls to make", told)
    low, high, least, most = _numbers(r"([\d,]+) to ([\d,]+) in, ([\d,]+) to ([\d,]+) out", told)
    assert calls == pytest.approx(used["calls"], rel=0.15)
    read = used["input_tokens"] + used["cache_read_tokens"] + used["cache_write_tokens"]
    assert (low + high) / 2 == pytest.approx(read, rel=0.15)
    assert least <= used["output_tokens"] <= most


EXAMPLE = Path(__file__).parents[2] / "examples/skills/csv-quality-report"
WORLD = """\
world:
  seed: 2
  activation: {should: 0.9, near_miss: 0.1}
rules: []
"""


def _numbers(pattern: str, text: str) -> list[int]:
    found = re.search(pattern, text)
    assert found is not None, text
    return [int(number.replace(",", "")) for number in found.groups()]


def test_ranking_is_left_out_of_deep_depth(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    with model() as demo:
        done = _score(tmp_path, *FEW, at=demo)
    assert [layer["name"] for layer in json.loads(done.out)["layers"]] == ["static", "judge", "montecarlo"]
    assert done.json["composite"]["elo_reason"] == "no ranking at this depth"


def test_a_run_that_was_not_begun_leaves_nothing_to_go_on_from(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    words = ("--depth", "deep", "--simulations", "500", "--model", "claude-fable-5-2")
    done = _score(tmp_path, *words, at="http://127.0.0.1:9")
    assert done.code == 2
    assert "--max-cost-usd" in done.err
    assert not list((tmp_path / "work-home").rglob("*.journal"))


def test_a_file_of_the_lift_that_cannot_be_written_loses_no_report(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    (tmp_path / "work" / "lift.json").mkdir()
    with model() as demo:
        words = (*FEW, "--lift", "--benchmark-json", "lift.json", "--output-file", "report.json")
        done = _score(tmp_path, *words, at=demo)
    assert done.code == 2
    assert "cannot write lift.json" in done.err
    assert json.loads((tmp_path / "work" / "report.json").read_text())["depth"] == "deep"
