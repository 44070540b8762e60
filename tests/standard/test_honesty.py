"""What was not judged has no number, whatever the reason, and everything else has."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("anthropic")

from skillgate.model.score import Dimension, LayerName
from skillgate.scoring.composite import BLEND
from tests.standard.asking import judged, model, run, write_skill

if TYPE_CHECKING:
    from pathlib import Path

ALL = {dimension.value for dimension in Dimension}


def test_every_dimension_that_the_blend_gives_the_judge_is_judged(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    with model() as demo:
        done = run(tmp_path / "work", "score", "invoices", "--depth", "standard", "--json", at=demo)
    fed = {dimension.value for dimension in Dimension if BLEND[dimension][LayerName.JUDGE]}
    assert fed == ALL
    assert {name for name, one in judged(done)["invoices"]["assessments"].items() if one["score"] is not None} == fed
    assert done.json["coverage"] == 1.0
    assert done.json["depth"] == "standard"


def test_without_a_code_block_nothing_is_asked_about_code_and_coverage_says_so(tmp_path: Path) -> None:
    body = "# Letters\n\n" + "Write what was asked for, in plain words, and say what is missing in it. " * 8
    write_skill(tmp_path / "work", "letters", body=body + "\n")
    with model() as demo:
        done = run(tmp_path / "work", "score", "letters", "--depth", "standard", "--json", at=demo)
    assert done.code == 0
    assert done.json["dimensions"]["code_template_quality"]["score"] is None
    assert "no code" in done.json["dimensions"]["code_template_quality"]["reason"]
    assert done.json["coverage"] == 0.98
    assert done.json["composite"]["score"] is not None


def test_the_blend_is_that_of_the_table(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    with model() as demo:
        done = run(tmp_path / "work", "score", "invoices", "--depth", "standard", "--json", at=demo)
    document = done.json
    static = {item["dimension"]: item["score"] for item in document["layers"][0]["sub_checks"].values()}
    for dimension in Dimension:
        shares = BLEND[dimension]
        parts = [
            (shares[LayerName.STATIC], static.get(dimension.value)),
            (shares[LayerName.JUDGE], document["layers"][1]["assessments"][dimension.value]["score"]),
        ]
        known = [(share, score) for share, score in parts if share and score is not None]
        expected = sum(share * score for share, score in known) / sum(share for share, _ in known)
        assert document["dimensions"][dimension.value]["score"] == pytest.approx(expected, abs=1e-4), dimension


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("{status: 401}", "401"),
        ("{status: 403}", "403"),
        ("{status: 404}", "404"),
        ("{status: 402}", "402"),
        ("{status: 400, message: no such field}", "400"),
        ("{stop_reason: refusal, category: cyber}", "refus"),
        ("{truncate: true}", "token"),
        ("{text: not what was asked}", "JSON"),
        ("{tool_use: search}", "tool"),
    ],
)
def test_an_answer_that_is_none_leaves_no_number(tmp_path: Path, rule: str, words: str) -> None:
    write_skill(tmp_path / "work", "invoices")
    rules = f"rules: [{{match: {{question: scope_calibration}}, reply: {rule}}}]"
    with model(rules) as demo:
        done = run(tmp_path / "work", "score", "invoices", "--depth", "standard", "--json", at=demo)
    assert done.code == 3
    document = done.json
    scope = document["dimensions"]["scope_calibration"]
    assert scope["score"] is None
    assert words in scope["reason"]
    assert document["composite"]["score"] is None
    assert document["composite"]["badge"] is None
    assert "scope_calibration" in document["composite"]["reason"]


def test_an_outage_in_the_middle_leaves_a_report_for_each_and_exit_3(tmp_path: Path) -> None:
    names = [f"skill-{number:02}" for number in range(20)]
    for name in names:
        write_skill(tmp_path / "work" / "skills", name)
    rules = "rules: [{match: {times: 60}, reply: {}}, {reply: {status: 401, message: revoked}}]"
    with model(rules) as demo:
        done = run(tmp_path / "work", "score", "skills", "--depth", "standard", "--json", at=demo)
    assert done.code == 3
    results: list[dict[str, Any]] = done.json["results"]
    assert len(results) == 20
    scored = [one for one in results if one["composite"]["score"] is not None]
    assert 0 < len(scored) < 20
    for one in results:
        layer = one["layers"][1]
        if one["composite"]["score"] is None:
            assert layer["reason"]
            assert "401" in one["composite"]["reason"] or "stopped" in one["composite"]["reason"]
            assert one["composite"]["badge"] is None
        else:
            assert layer["reason"] is None
    assert "not judged" in done.err


def test_what_a_gate_asks_of_an_unjudged_skill_fails_it(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    with model("rules: [{reply: {status: 401}}]") as demo:
        done = run(tmp_path / "work", "score", "invoices", "--depth", "standard", "--threshold", "1", at=demo)
    assert done.code == 1
    assert "was not measured" in done.out


def test_a_scripted_model_is_said_to_be_one_and_earns_no_badge(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    with model() as demo:
        text = run(tmp_path / "work", "score", "invoices", "--depth", "standard", at=demo)
        done = run(tmp_path / "work", "score", "invoices", "--depth", "standard", "--json", at=demo)
    assert text.out.startswith("SCRIPTED")
    assert judged(done)["invoices"]["live"] is False
    assert done.json["composite"]["badge"] is None
    assert "scripted" in done.json["composite"]["badge_reason"]


@pytest.mark.parametrize("depth", ["standard", "deep", "certify"])
def test_a_depth_that_cannot_run_is_never_lowered(tmp_path: Path, depth: str) -> None:
    write_skill(tmp_path / "work", "invoices")
    refusing = "rules:\n  - reply: {status: 401, message: stay out}\n"
    with model(refusing) as demo:
        done = run(tmp_path / "work", "score", "invoices", "--depth", depth, "--json", at=demo)
    assert done.code == 3
    assert done.json["depth"] == depth
    assert done.json["composite"]["score"] is None
    assert done.json["composite"]["badge"] is None


def test_check_asks_no_model_whatever_the_configuration_says(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    (tmp_path / "work/.skillgate.yaml").write_text("depth: standard\n")
    with model() as demo:
        assert run(tmp_path / "work", "check", "invoices", at=demo).code == 0
        assert demo.take() == []
        refused = run(tmp_path / "work", "check", "invoices", "--depth", "standard", at=demo)
    assert refused.code == 3
    assert "asks no model" in refused.err


@pytest.mark.parametrize("key", ["provider", "base-url", "key-variable", "script", "cache-dir"])
def test_a_projects_file_cannot_say_where_requests_go(tmp_path: Path, key: str) -> None:
    write_skill(tmp_path / "work", "invoices")
    value = "scripted" if key == "provider" else "x"
    (tmp_path / "work/.skillgate.yaml").write_text(f"{key}: {value}\n")
    done = run(tmp_path / "work", "score", "invoices")
    assert done.code == 2
    assert f".skillgate.yaml:1: {key} decides where requests, keys" in done.err


def test_the_users_own_file_can(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    own = tmp_path / "work-home/.config/skillgate/config.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("provider: scripted\n")
    done = run(tmp_path / "work", "score", "invoices", "--depth", "standard", "--json", key="")
    assert done.code == 0
    assert judged(done)["invoices"]["provider"] == "scripted"


def test_what_was_recorded_answers_in_the_models_place_and_says_so(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    command = ("score", "invoices", "--depth", "standard", "--json", "--no-cache")
    with model() as demo:
        first = run(tmp_path / "work", *command, "--record", "answers.jsonl", at=demo)
    assert "sk-ant" not in (tmp_path / "work/answers.jsonl").read_text()
    done = run(tmp_path / "work", *command, "--replay", "answers.jsonl", key="")
    assert done.code == 0, done.err
    layer = judged(done)["invoices"]
    assert (layer["provider"], layer["live"]) == ("replay", False)
    assert done.json["composite"]["score"] == first.json["composite"]["score"]
    write_skill(tmp_path / "work", "invoices", body="# Another\n\nbody of it\n")
    missing = run(tmp_path / "work", *command, "--replay", "answers.jsonl", key="")
    assert missing.code == 3
    assert missing.json["composite"]["score"] is None


def test_a_dry_run_asks_nothing_and_says_what_it_would(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    with model() as demo:
        done = run(tmp_path / "work", "score", "invoices", "--depth", "standard", "--dry-run", at=demo)
        assert demo.take() == []
    assert done.code == 0
    assert "6 calls" in done.out
    assert "$" in done.out


def test_a_budget_ends_the_run_and_what_is_left_is_not_measured(tmp_path: Path) -> None:
    for name in ("invoices", "tickets"):
        write_skill(tmp_path / "work/skills", name)
    limits = ("--max-calls", "6", "--in-flight", "1", "--fail-on", "budget")
    with model() as demo:
        done = run(tmp_path / "work", "score", "skills", "--depth", "standard", "--json", *limits, at=demo)
        assert len(demo.take()) == 6
    assert done.code == 1
    assert sorted(one["composite"]["score"] is None for one in done.json["results"]) == [False, True]
    gates = [outcome for one in done.json["results"] for outcome in one["gate"]["outcomes"]]
    assert {outcome["gate"] for outcome in gates} == {"budget"}
    quick = run(tmp_path / "work", "score", "skills", "--fail-on", "budget")
    assert quick.code == 2
    unbounded = run(tmp_path / "work", "score", "skills", "--depth", "standard", "--fail-on", "budget")
    assert unbounded.code == 2
    assert "needs max-cost-usd or max-calls" in unbounded.err


def test_a_cost_limit_needs_a_known_price(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    words = ("--depth", "standard", "--judge-model", "no-such-model", "--max-cost-usd", "1")
    with model() as demo:
        done = run(tmp_path / "work", "score", "invoices", *words, at=demo)
        assert demo.take() == []
    assert done.code == 2
    assert "no-such-model" in done.err


def test_the_report_is_what_its_schema_says(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    write_skill(tmp_path / "work", "invoices", references__long_md="# Long\n\n" + "words of it " * 200)
    write_skill(tmp_path / "work", "tickets")
    schema = json.loads(run(tmp_path / "work", "schema", "report").out)
    with model() as demo:
        done = run(tmp_path / "work", "score", "--depth", "standard", "--judges", "3", "--json", at=demo)
    jsonschema.Draft202012Validator(schema).validate(done.json)
    assert done.json["agreement"]["judges"] == 3
    assert "of 40 ratings" in done.json["agreement"]["kappa_reason"]
    assert done.json["agreement"]["agreement"] is not None
    assert all(one["composite"]["ci_low"] is not None for one in done.json["results"])


def test_a_key_in_sight_changes_nothing_but_a_line_on_stderr(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    without = run(tmp_path / "work", "score", "invoices", key="")
    done = run(tmp_path / "work", "score", "invoices")
    assert (done.out, without.err) == (without.out, "")
    assert done.err.count("\n") == 1
    assert "use --depth standard" in done.err
    assert run(tmp_path / "work", "score", "invoices", "--depth", "quick").err == ""


THREE = ("--judges", "3", "--judge-model", "claude-sonnet-5-5,claude-haiku-5-5,claude-opus-5-5", "--json")


def test_where_an_outage_silences_one_of_three_judges_the_others_give_the_score_and_that_is_said(
    tmp_path: Path,
) -> None:
    write_skill(tmp_path / "work", "invoices")
    rules = "rules: [{match: {question: scope_calibration, model: claude-haiku-5-5}, reply: {status: 403}}]"
    with model(rules) as demo:
        done = run(tmp_path / "work", "score", "invoices", "--depth", "standard", *THREE, "--in-flight", "1", at=demo)
    assert done.code == 3
    assert done.json["composite"]["score"] is not None
    scope = judged(done)["invoices"]["assessments"]["scope_calibration"]
    assert len(scope["ratings"]) == 2
    assert "scope_calibration" in judged(done)["invoices"]["reason"]
    assert "judge 2 of 3" in done.err


@pytest.mark.parametrize("reply", ["{stop_reason: refusal}", "{text: no JSON}", "{truncate: true}"])
def test_a_text_that_silences_one_of_three_judges_has_no_score(tmp_path: Path, reply: str) -> None:
    write_skill(tmp_path / "work", "invoices")
    rules = f"rules: [{{match: {{question: scope_calibration, model: claude-haiku-5-5}}, reply: {reply}}}]"
    with model(rules) as demo:
        done = run(tmp_path / "work", "score", "invoices", "--depth", "standard", *THREE, "--threshold", "1", at=demo)
    assert done.code == 1
    assert done.json["composite"]["score"] is None
    assert "judge 2 of 3" in done.json["composite"]["reason"]


def test_what_no_judge_was_shown_is_an_error_and_keeps_the_badge_back(tmp_path: Path) -> None:
    place = write_skill(tmp_path / "work", "invoices", references__long_md="# Long\n")
    (place / "references/rules.txt").write_bytes(b"Follow these.\0\n" * 9)
    file = place / "SKILL.md"
    file.write_text(file.read_text() + "\nFollow [the rules](references/rules.txt).\n")
    with model() as demo:
        done = run(
            tmp_path / "work", "score", "invoices", "--depth", "standard", "--json", "--fail-on", "error", at=demo
        )
    assert done.code == 1
    found = {finding["id"]: finding["severity"] for finding in done.json["findings"]}
    assert found["PARTLY_JUDGED"] == "error"
    assert "rules.txt" in done.json["composite"]["badge_reason"]
