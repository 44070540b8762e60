"""The reusable workflows: typed inputs as data, secrets by name, no more rights than the caller grants."""

from __future__ import annotations

from typing import Any

import pytest

from skillgate.action.request import default_of, read_inputs, variable
from skillgate.cli.commands.init import reference
from skillgate.settings import INPUTS, REPORT_DIR
from tests.container.engine import PROJECT
from tests.workflows.reusable import CALLED, called, caller, inputs_in, interface, steps

NAMES = tuple(CALLED.values())
RANK = {"none": 0, "read": 1, "write": 2}


def jobs(name: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = called(name)["jobs"]
    return found


def ours(name: str) -> list[dict[str, Any]]:
    """Give the steps that run the Action."""
    return [step for job in jobs(name).values() for step in steps(job, reference())]


@pytest.mark.parametrize("name", NAMES)
def test_it_runs_the_action_of_its_own_release_and_starts_only_if_it_is_called(name: str) -> None:
    assert list(called(name)[True]) == ["workflow_call"]
    assert {step["uses"] for step in ours(name)} == {reference()}


@pytest.mark.parametrize("name", NAMES)
def test_every_input_has_a_type_a_default_and_a_use(name: str) -> None:
    inputs = interface(name)["inputs"]
    kinds = {"string": str, "boolean": bool, "number": int}
    for key, entry in inputs.items():
        assert isinstance(entry["default"], kinds[entry["type"]]), key
        assert entry["description"].endswith("."), key
    text = (PROJECT / ".github/workflows" / name).read_text(encoding="utf-8")
    assert inputs_in(text) == set(inputs)


@pytest.mark.parametrize("name", NAMES)
def test_no_script_contains_what_a_caller_writes(name: str) -> None:
    scripts = [step["run"] for job in jobs(name).values() for step in job["steps"] if "run" in step]
    assert [script for script in scripts if "${{" in script] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_inputs_of_the_action_exist_and_take_the_values(name: str) -> None:
    for step in ours(name):
        options = step.get("with", {})
        assert set(options) <= {entry.key for entry in INPUTS}
        plain = {key: str(value) for key, value in options.items() if "${{" not in str(value)}
        plain = {key: text.lower() if text in ("True", "False") else text for key, text in plain.items()}
        read = read_inputs({variable(key): text for key, text in plain.items()})
        assert all(read[key] not in (None, "") for key in plain)


@pytest.mark.parametrize("name", NAMES)
def test_a_default_that_is_passed_on_is_the_action_s_own(name: str) -> None:
    """An empty text is an input that is not given."""
    inputs = interface(name)["inputs"]
    by_key = {entry.key: entry for entry in INPUTS}
    for step in ours(name):
        for key, value in step.get("with", {}).items():
            if value == f"${{{{ inputs.{key} }}}}" and (default := inputs[key]["default"]) and key != "depth":
                action = by_key[key].action
                assert action is not None
                assert str(default) == action.default, key


@pytest.mark.parametrize(("example", "name"), CALLED.items())
def test_an_example_gives_inputs_and_secrets_that_exist_each_by_name(example: str, name: str) -> None:
    job = caller(example)
    assert job["uses"].endswith(f"/.github/workflows/{name}@{reference().partition('@')[2]}")
    assert set(job.get("with", {})) <= set(interface(name)["inputs"])
    secrets = job.get("secrets", {})
    assert secrets == {key: f"${{{{ secrets.{key} }}}}" for key in secrets}
    assert set(secrets) <= set(interface(name)["secrets"])


@pytest.mark.parametrize(("example", "name"), CALLED.items())
def test_a_caller_grants_what_the_jobs_ask_for_and_no_more(example: str, name: str) -> None:
    granted = caller(example)["permissions"]
    asked: dict[str, str] = {}
    for job in jobs(name).values():
        for key, level in job.get("permissions", granted).items():
            asked[key] = max(asked.get(key, "none"), level, key=RANK.__getitem__)
    assert asked == granted


def test_the_secrets_are_at_hand_where_a_model_is_asked_and_nowhere_else() -> None:
    for name in NAMES:
        for job in jobs(name).values():
            for step in job["steps"]:
                asks = "cache-dir" in step.get("with", {})
                assert ("secrets." in str(step)) == asks
                assert list(step.get("env", {})) in (
                    [["ANTHROPIC_API_KEY", "SKILLGATE_CACHE_KEY"]] if asks else [[], ["SHARDS"], ["SHA256"]]
                )


class TestComment:
    def test_it_checks_nothing_out_and_touches_no_cache(self) -> None:
        used = [step["uses"].partition("@")[0] for step in jobs("comment.yml")["comment"]["steps"]]
        assert used == ["actions/download-artifact", reference().partition("@")[0]]

    def test_a_caller_cannot_choose_the_pull_request_or_the_mode(self) -> None:
        (step,) = ours("comment.yml")
        assert step["with"]["mode"] == "comment"
        assert not {"pr-number", "mode"} & set(interface("comment.yml")["inputs"])

    def test_it_downloads_what_the_first_has_uploaded_and_goes_on_without(self) -> None:
        (fetched,) = steps(jobs("comment.yml")["comment"], "actions/download-artifact")
        (sent,) = steps(caller("pull-request"), "actions/upload-artifact")
        assert interface("comment.yml")["inputs"]["artifact"]["default"] == sent["with"]["name"]
        assert fetched["with"]["path"] == sent["with"]["path"] == default_of(REPORT_DIR)
        assert fetched["continue-on-error"] is True


PULL_REQUEST = {
    "path": ".skillgate-answers",
    "key": "skillgate-answers-pr-${{ github.event.number }}-${{ github.run_id }}",
    "restore-keys": "skillgate-answers-pr-${{ github.event.number }}-",
}
DEFAULT = {
    "path": ".skillgate-answers",
    "key": "skillgate-answers-default-${{ github.run_id }}",
    "restore-keys": "skillgate-answers-default-",
}


class TestGate:
    job = jobs("gate.yml")["gate"]

    def test_a_pull_request_restores_the_default_branch_s_answers_then_its_own(self) -> None:
        answers = [one for one in steps(self.job, "actions/cache/restore") if one["with"]["path"] == DEFAULT["path"]]
        assert [one["with"] for one in answers] == [DEFAULT, PULL_REQUEST]
        (run,) = ours("gate.yml")
        assert DEFAULT["path"] in run["with"]["cache-dir"]

    def test_a_fork_saves_none_and_another_branch_none_as_the_default_branch_s(self) -> None:
        assert not steps(self.job, "actions/cache")  # it would save in a fork, too
        saves = {one["with"]["key"]: one["if"] for one in steps(self.job, "actions/cache/save")}
        own = f"{PULL_REQUEST['key']}-${{{{ github.run_attempt }}}}"
        assert "github.event.pull_request.head.repo.full_name == github.repository" in saves.pop(own)
        assert len(saves) == 2
        assert all(
            "github.ref_name == github.event.repository.default_branch" in condition for condition in saves.values()
        )

    def test_a_caller_sets_no_bound_which_a_pull_request_could_change(self) -> None:
        gates = {"threshold", "min-badge", "min-new-score", "fail-on", "max-drop", "on-inconclusive", "on-unmeasured"}
        assert not gates & set(interface("gate.yml")["inputs"])

    def test_the_history_is_no_pull_request_s(self) -> None:
        kept = [one for one in self.job["steps"] if one.get("with", {}).get("path", "").endswith("history.json")]
        assert "github.event_name != 'pull_request'" in kept[0]["if"]
        assert kept[0]["with"]["path"] == kept[1]["with"]["path"] == f"{default_of(REPORT_DIR)}/history.json"
        assert kept[1]["with"]["key"].startswith(kept[0]["with"]["restore-keys"])
