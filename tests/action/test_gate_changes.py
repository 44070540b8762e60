"""What a change does to its own gate is told in full, however long the values are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.action.pull_request import PullRequest, skill

if TYPE_CHECKING:
    from pathlib import Path

RULES = ("MISSING_TRIGGER", "NAME_INVALID", "NAME_MISMATCH", "UNKNOWN_FIELD", "BROKEN_LINK", "BROKEN_ANCHOR")
LONG = "x" * 500
LARGE = "x" * 200


def settings(*rules: str, more: str = "") -> dict[str, str]:
    return {".skillgate.yaml": f"ignore: [{', '.join(rules)}]\n{more}"}


@pytest.mark.parametrize(
    ("base", "head", "told"),
    [
        (settings(*RULES), settings(*RULES, "UNCLOSED_FENCE"), ["ignore: added UNCLOSED_FENCE"]),
        (settings(*RULES), settings(*RULES[1:], "CODE_SYNTAX"), [f"ignore: added CODE_SYNTAX; removed {RULES[0]}"]),
        (settings(*RULES), settings(*reversed(RULES)), ["ignore: in another order"]),
        (
            {".skillgate.yaml": "min-dimension: {robustness: 0.7, token_efficiency: 0.5}\n"},
            {".skillgate.yaml": "min-dimension: {robustness: 0.1, token_efficiency: 0.5}\n"},
            ["min-dimension: added robustness 0.1; removed robustness 0.7"],
        ),
        (
            {".skillgate.yaml": "gates: {publish: {min_score: 80, min_invocations: 20}, own: {min_score: 50}}\n"},
            {".skillgate.yaml": f"gates: {{publish: {{min_score: 7, min_invocations: 20, description: {LARGE}}}}}\n"},
            [
                "gates.own.min_score: 50 → not set",
                f"gates.publish.description: not set → {LONG[:119]}…",
                "gates.publish.min_score: 80 → 7",
            ],
        ),
        (settings(), settings(more=f"known-findings: {LONG}.json\n"), None),
        (
            settings(),
            settings(more=f"overrides: [{{paths: [{LONG}, '**'], threshold: 0}}]\n"),
            [f"threshold for {LONG[:119]}… (override 1): not set → 0"],
        ),
    ],
)
def test_a_sentence_ends_with_what_matters(
    tmp_path: Path, base: dict[str, str], head: dict[str, str], told: list[str] | None
) -> None:
    made = PullRequest(folder=tmp_path / "work")
    made.base({**skill("merge-sheets"), **base})
    made.change(head)
    changes = made.run(depth="quick").run["policy_changes"]
    if told is None:
        told = [
            f"known-findings: not set → {LONG[:119]}…",
            f"the known findings of this change cannot be read: {LONG}.json does not exist",
        ]
    assert changes == told


def test_a_configuration_of_eval_skills_that_a_change_brings_is_in_force_after_the_merge(tmp_path: Path) -> None:
    repository = PullRequest(folder=tmp_path / "work")
    repository.base(skill("merge-sheets"))
    brought = "defaultFormats: [html]\nconcurrency: 3\nllm:\n  baseUrl: https://elsewhere.example\n"
    repository.change({"eval-skills.config.yaml": brought})
    ran = repository.run()
    assert ran.code == 0, ran.err
    assert "concurrency: not set → 3" in ran.summary
    assert "elsewhere.example" not in ran.summary + ran.err


def test_many_gates_of_recorded_invocations_take_the_place_of_no_other_change(tmp_path: Path) -> None:
    made = PullRequest(folder=tmp_path / "work")
    made.base({**skill("merge-sheets"), ".skillgate.yaml": "threshold: 80\n"})
    gates = "".join(f"  g{number:02}: {{min_score: 1, min_invocations: 2}}\n" for number in range(50))
    made.change({".skillgate.yaml": f"threshold: 1\ngates:\n{gates}"})
    changes = made.run(depth="quick").run["policy_changes"]
    assert changes[0] == "threshold: 80 → 1"
    assert changes[1] == "gates.g00.min_invocations: not set → 2"
    assert changes[-1] == "51 more changes"
