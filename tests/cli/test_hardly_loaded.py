"""A skill that sessions hardly load has a low score, no badge, and is told to mend its description first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("numpy")

from tests.cli.test_certify_again import ALL, DEEP, sessions, world
from tests.standard.asking import model, run, write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.running import Done

LOADED = ("orchestration_fitness", "output_quality", "scope_calibration", "token_efficiency", "robustness")
TEN = tuple(
    f"Put the late invoices of branch {name} in order."
    for name in ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty")
)
PROMPTS = "prompts:\n" + "".join(f"  - {{prompt: {prompt}, should_trigger: true}}\n" for prompt in TEN)


def loading(number: int) -> str:
    """Write rules by which so many of ten prompts load the skill."""
    load = "{tool_use: Skill, input: {skill: late-invoices}}"
    loaded = [f"branch {prompt.split()[6]}" for prompt in TEN[:number]]
    rules = [
        f"  - match: {{question: simulation, contains: {text}, not_contains: Base directory}}\n    reply: {load}\n"
        for text in loaded
    ]
    return (
        f"world:\n  activation: {{should: 0.0, near_miss: 0.0}}\nrules:\n{''.join(rules)}"
        if rules
        else ("world:\n  activation: {should: 0.0, near_miss: 0.0}\nrules: []")
    )


def scored(tmp_path: Path, loads: int, *words: str) -> Done:
    """Score a skill that so many of ten sessions load."""
    write_skill(tmp_path, "late-invoices", evals__triggers_yaml="")
    (tmp_path / "late-invoices/evals/triggers_yaml").unlink()
    (tmp_path / "late-invoices/evals/triggers.yaml").write_text(PROMPTS)
    with model(loading(loads)) as server:
        return run(tmp_path, *DEEP, *words, "late-invoices", at=server)


@pytest.mark.parametrize(("loads", "factor"), [(0, 0.0), (2, 0.4), (5, 1.0)])
def test_a_hardly_loaded_skill_has_a_low_score(tmp_path: Path, loads: int, factor: float) -> None:
    done = scored(tmp_path, loads)
    layer = sessions(done)
    assert done.code == 0, done.err
    assert layer["loads"] == {"loaded": loads, "completed": 10, "measured": 10, "factor": factor}
    assert layer["measures"]["activation_rate"]["value"] == loads / 10
    scores = {name: layer["scores"][name]["value"] for name in LOADED}
    assert scores["robustness"] == factor
    assert all(value <= factor for value in scores.values())
    assert layer["mc_score"] is not None
    composite = done.json["composite"]
    assert composite["ci_low"] is None or composite["ci_low"] <= composite["score"] <= composite["ci_high"]
    first = done.json["advice"][0]["action"]
    if loads < 5:
        assert composite["badge_reason"] == f"no badge: loaded in {loads} of 10 sessions"
        assert first.startswith("rewrite the description")
        assert f"loaded in {loads} of 10 sessions" in first
    else:
        assert "rewrite the description" not in first
        assert "loaded in" not in composite["badge_reason"]


def test_more_loads_give_a_higher_score(tmp_path: Path) -> None:
    found = [scored(tmp_path / str(loads), loads).json["composite"]["score"] for loads in (0, 2, 5, 10)]
    assert found == sorted(found)
    assert found[0] < found[1] < found[2]


def test_the_text_report_says_in_how_many_sessions_it_was_loaded(tmp_path: Path) -> None:
    write_skill(tmp_path, "late-invoices")
    rules = "world: {activation: {should: 0.0, near_miss: 0.0}}\nrules: []"
    with model(rules) as server:
        done = run(tmp_path, *DEEP[:-1], "late-invoices", at=server)
    assert done.code == 0
    assert "loaded in 0 of 10 sessions: everything they measure except triggering counts × 0" in done.out
    assert "no badge: loaded in 0 of 10 sessions" in done.out
    assert "rewrite the description" in done.out.lower()


def test_a_gate_decides_by_the_low_score(tmp_path: Path) -> None:
    assert scored(tmp_path / "a", 0, "--threshold", "60").code == 1
    assert scored(tmp_path / "b", 0, "--min-dimension", "output_quality=0.5").code == 1


def test_a_skill_that_no_model_can_load_stays_unmeasured(tmp_path: Path) -> None:
    place = write_skill(tmp_path, "late-invoices")
    text = (
        (place / "SKILL.md").read_text().replace("\ndescription:", "\ndisable-model-invocation: true\ndescription:", 1)
    )
    (place / "SKILL.md").write_text(text)
    with model() as server:
        done = run(tmp_path, *DEEP, "late-invoices", at=server)
    assert done.code == 3
    assert done.json["composite"]["score"] is None
    assert "disable-model-invocation" in done.json["composite"]["reason"]
    assert sessions(done)["loads"] is None


def test_sessions_that_were_lost_stay_unmeasured(tmp_path: Path) -> None:
    write_skill(tmp_path, "late-invoices")
    with model("world: {outages: {overloaded: 1.0, retry_after_s: 0}}\nrules: []") as server:
        done = run(tmp_path, *DEEP, "late-invoices", at=server)
    assert (done.code, done.json["composite"]["score"], sessions(done)["loads"]) == (3, None, None)


@pytest.mark.parametrize(("gate", "code"), [((), 0), (("--max-failure-rate", "0.5"), 1)])
def test_sessions_that_all_fail_are_measured(tmp_path: Path, gate: tuple[str, ...], code: int) -> None:
    write_skill(tmp_path, "late-invoices")
    with model(world(ALL)) as server:
        done = run(tmp_path, *DEEP, *gate, "late-invoices", at=server)
    layer = sessions(done)
    assert done.code == code
    assert done.json["composite"]["score"] is not None
    assert done.json["composite"]["badge"] is None
    assert layer["measures"]["failure_rate"]["value"] == 1.0
    assert layer["failed"] == len(layer["runs"])
    assert {
        name: one["value"] for name, one in layer["scores"].items() if name != "triggering_accuracy"
    } == dict.fromkeys(
        ("orchestration_fitness", "output_quality", "scope_calibration", "token_efficiency", "robustness"), 0.0
    )
    assert "late-invoices: all 10 sessions meant for the skill failed (10 refusal)" in done.err
