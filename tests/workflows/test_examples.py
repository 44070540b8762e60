"""The workflows that a user copies: pinned, with no more rights than they use, the same wherever they stand."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from skillgate import __version__
from skillgate.action.plan import OUTPUTS
from skillgate.action.request import default_of
from skillgate.cli.commands.init import FILES, place, reference, workflow
from skillgate.homepage import ACCOUNT, repository
from skillgate.settings import INPUTS, REPORT_DIR
from tests.container.engine import PROJECT
from tests.published import HOMEPAGE

NAMES = tuple(FILES)
SINGLE = tuple(name for name in NAMES if name != "certify")  # of one job


def parsed(name: str) -> dict[Any, Any]:
    document: dict[Any, Any] = yaml.safe_load(workflow(name))
    return document


def job(name: str) -> dict[str, Any]:
    (only,) = parsed(name)["jobs"].values()
    found: dict[str, Any] = only
    return found


def step(name: str, uses: str) -> dict[str, Any]:
    (found,) = (step for step in job(name)["steps"] if step["uses"].startswith(uses))
    options: dict[str, Any] = found.get("with", {})
    return options


def test_what_the_examples_show_is_what_is_written() -> None:
    shown = {path.name: path.read_text(encoding="utf-8") for path in (PROJECT / "examples/workflows").iterdir()}
    assert shown == {FILES[name]: workflow(name).replace(repository(), f"{ACCOUNT}/skillgate") for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_workflow_names_others_by_the_file_that_they_are_written_to(name: str) -> None:
    written = {place(other).rpartition("/")[2] for other in NAMES}
    assert set(re.findall(r"[\w-]+\.yml", workflow(name))) <= written


@pytest.mark.parametrize("name", NAMES)
def test_every_action_is_pinned_ours_to_this_version(name: str) -> None:
    assert f"https://github.com/{reference()}" == f"{HOMEPAGE}@v{__version__}"
    used = re.findall(r"uses: (\S+)(?: # (v\d+\.\d+\.\d+))?$", workflow(name), re.MULTILINE)
    assert (reference(), "") in used
    assert len(used) == workflow(name).count("uses: ")
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", uses) and version for uses, version in used if uses != reference())


@pytest.mark.parametrize("name", SINGLE)
def test_no_job_has_a_right_that_it_does_not_use(name: str) -> None:
    assert parsed(name)["permissions"] == {}
    assert (
        job(name)["permissions"]
        == {
            "pull-request": {"contents": "read", "pull-requests": "write"},
            "fork": {"actions": "read", "pull-requests": "write"},
            "nightly": {"contents": "read"},
        }[name]
    )


@pytest.mark.parametrize("name", SINGLE)
def test_the_inputs_that_a_workflow_gives_exist(name: str) -> None:
    assert set(step(name, reference())) <= {entry.key for entry in INPUTS}
    commented = re.findall(r"^ +# +([a-z-]+): (?=\d|silver|skillgate-report/)", workflow(name), re.MULTILINE)
    assert set(commented) <= {entry.key for entry in INPUTS} | {"sarif_file"}


def test_a_checkout_brings_the_base_and_leaves_no_token_behind() -> None:
    options = step("pull-request", "actions/checkout")
    assert (options["fetch-depth"], options["persist-credentials"]) == (2, False)
    assert step("nightly", "actions/checkout")["persist-credentials"] is False


def test_the_workflow_with_a_right_to_write_checks_nothing_out() -> None:
    assert "checkout" not in workflow("fork")
    assert parsed("fork")[True]["workflow_run"]["workflows"] == [parsed("pull-request")["name"]]


def test_the_second_workflow_downloads_what_the_first_has_uploaded() -> None:
    sent, fetched = step("pull-request", "actions/upload-artifact"), step("fork", "actions/download-artifact")
    report = default_of(REPORT_DIR)
    assert sent["name"] == fetched["name"]
    assert sent["path"] == fetched["path"] == report


@pytest.mark.parametrize("name", ["pull-request", "nightly"])
def test_what_is_uploaded_takes_the_place_of_what_an_earlier_attempt_has_left(name: str) -> None:
    assert step(name, "actions/upload-artifact")["overwrite"] is True


def test_a_report_that_is_missing_is_told_and_does_not_end_the_second_workflow() -> None:
    download, comment = job("fork")["steps"]
    assert download["continue-on-error"] is True
    assert comment["uses"] == reference()
    assert comment["with"]["mode"] == "comment"


def test_each_workflow_has_a_place_of_its_own() -> None:
    assert len({place(name) for name in NAMES}) == len(NAMES)
    assert all(re.fullmatch(r"\.github/workflows/skillgate[a-z-]*\.yml", place(name)) for name in NAMES)


def test_the_manifest_declares_what_the_program_reads_and_writes() -> None:
    manifest = yaml.safe_load((PROJECT / "action.yml").read_text(encoding="utf-8"))
    defaults = {entry.key: entry.action.default or None for entry in INPUTS if entry.action}
    assert {name: entry.get("default") for name, entry in manifest["inputs"].items()} == defaults
    assert list(manifest["inputs"]) == list(defaults)
    assert list(manifest["outputs"]) == [output.name for output in OUTPUTS]
    assert manifest["runs"] == {"using": "docker", "image": "Dockerfile"}


def test_every_input_and_output_is_told_in_a_table() -> None:
    from docs.action import action_yml, inputs_table

    rows = re.findall(r"^\| `([a-z-]+)` \|", inputs_table(), re.MULTILINE)
    assert rows == [*(entry.key for entry in INPUTS), *(output.name for output in OUTPUTS)]
    assert (PROJECT / "action.yml").read_text(encoding="utf-8") == action_yml(), "run docs/generate.py"


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


def uncommented(text: str) -> list[dict[str, Any]]:
    """Give the steps of a workflow as they are once its comments that are YAML are taken in."""
    lines = [re.sub(r"^( +)# (?=( *)[A-Za-z_-]+:|- )", r"\1", line) for line in text.splitlines()]
    lines = [line for line in lines if line.strip() != "depth: quick" and not line.lstrip().startswith("# ")]
    steps: list[dict[str, Any]] = next(iter(yaml.safe_load("\n".join(lines))["jobs"].values()))["steps"]
    return steps


def recipe() -> list[dict[str, Any]]:
    """Give the steps that the page about pull requests shows for a judge."""
    page = (PROJECT / "docs/how-to/pull-requests.md").read_text(encoding="utf-8")
    (block,) = [one for one in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "actions/cache/" in one]
    steps: list[dict[str, Any]] = yaml.safe_load(block.replace(f"{ACCOUNT}/skillgate", repository()))
    return steps


def of(steps: list[dict[str, Any]], action: str) -> list[dict[str, Any]]:
    return [one for one in steps if one["uses"].partition("@")[0] == action]


@pytest.mark.parametrize("steps", [recipe(), uncommented(workflow("pull-request"))], ids=["page", "workflow"])
def test_a_pull_request_restores_the_default_branch_s_answers_then_its_own_and_a_fork_saves_none(
    steps: list[dict[str, Any]],
) -> None:
    assert [one["with"] for one in of(steps, "actions/cache/restore")] == [DEFAULT, PULL_REQUEST]
    (save,) = of(steps, "actions/cache/save")
    assert "github.event.pull_request.head.repo.full_name == github.repository" in save["if"]
    assert save["with"]["key"] == f"{PULL_REQUEST['key']}-${{{{ github.run_attempt }}}}"
    assert not of(steps, "actions/cache")  # it would save in a fork, too
    (run,) = of(steps, reference().partition("@")[0])
    assert run["with"]["cache-dir"] == save["with"]["path"] == DEFAULT["path"]
    assert {"ANTHROPIC_API_KEY", "SKILLGATE_CACHE_KEY"} == set(run["env"])
    order = [steps.index(one) for one in (*of(steps, "actions/cache/restore"), run, save)]
    assert order == sorted(order)


def test_the_default_branch_alone_saves_what_pull_requests_begin_with() -> None:
    steps = uncommented(workflow("nightly"))
    (restore,), (save,) = of(steps, "actions/cache/restore"), of(steps, "actions/cache/save")
    assert restore["with"] == DEFAULT
    assert "github.ref_name == github.event.repository.default_branch" in save["if"]
    assert save["with"]["key"] == f"{DEFAULT['key']}-${{{{ github.run_attempt }}}}"
    assert of(steps, reference().partition("@")[0])[0]["with"]["depth"] == "standard"
