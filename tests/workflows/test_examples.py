"""The workflows that a user copies: pinned, with no more rights than they use, the same wherever they stand."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from skillgate import __version__
from skillgate.action.plan import OUTPUTS
from skillgate.cli.commands.init import FILES, place, reference, workflow
from skillgate.homepage import ACCOUNT, repository
from skillgate.settings import INPUTS
from tests.container.engine import PROJECT
from tests.published import HOMEPAGE
from tests.workflows.reusable import CALLED, interface

NAMES = tuple(FILES)
MOST_LINES = 40


def parsed(name: str) -> dict[Any, Any]:
    document: dict[Any, Any] = yaml.safe_load(workflow(name))
    return document


def job(name: str) -> dict[str, Any]:
    (only,) = parsed(name)["jobs"].values()
    found: dict[str, Any] = only
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_workflow_that_a_user_copies_is_short(name: str) -> None:
    assert len(workflow(name).splitlines()) <= MOST_LINES


def test_the_job_of_a_pull_request_that_comments_has_about_ten_lines() -> None:
    job = workflow("pull-request").partition("\n  skillgate:\n")[2].partition("      - if:")[0]
    assert len(job.splitlines()) <= 12


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
    assert set(re.findall(r"[\w-]+\.yml", workflow(name))) <= {*written, *CALLED.values()}


@pytest.mark.parametrize("name", NAMES)
def test_every_action_is_pinned_ours_to_this_version(name: str) -> None:
    assert f"https://github.com/{reference()}" == f"{HOMEPAGE}@v{__version__}"
    used = re.findall(r"uses: (\S+)(?: # (v\d+\.\d+\.\d+))?$", workflow(name), re.MULTILINE)
    assert len(used) == workflow(name).count("uses: ")
    ours = f"{repository()}/.github/workflows/{CALLED[name]}@v{__version__}" if name in CALLED else reference()
    assert (ours, "") in used
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", uses) and version for uses, version in used if uses != ours)


@pytest.mark.parametrize("name", NAMES)
def test_no_job_has_a_right_that_it_does_not_use(name: str) -> None:
    assert parsed(name)["permissions"] == {}
    assert (
        job(name)["permissions"]
        == {
            "pull-request": {"contents": "read", "pull-requests": "write"},
            "fork": {"actions": "read", "pull-requests": "write"},
            "nightly": {"contents": "read"},
            "certify": {"contents": "read", "issues": "write", "id-token": "write", "attestations": "write"},
        }[name]
    )


@pytest.mark.parametrize("name", NAMES)
def test_runs_of_a_workflow_do_not_overtake_one_another(name: str) -> None:
    assert parsed(name)["concurrency"]["group"].startswith("skillgate")


def test_nothing_of_a_pull_request_starts_what_has_a_key() -> None:
    for name in NAMES:
        if "secrets" in job(name):
            assert sorted(parsed(name)[True]) == ["schedule", "workflow_dispatch"]


def test_a_checkout_brings_the_base_and_leaves_no_token_behind() -> None:
    options = step("pull-request", "actions/checkout")
    assert (options["fetch-depth"], options["persist-credentials"]) == (2, False)


def test_the_second_workflow_starts_after_the_first() -> None:
    assert parsed("fork")[True]["workflow_run"]["workflows"] == [parsed("pull-request")["name"]]


def test_what_is_uploaded_takes_the_place_of_what_an_earlier_attempt_has_left() -> None:
    assert step("pull-request", "actions/upload-artifact")["overwrite"] is True


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


def recipe() -> dict[str, Any]:
    """Give the job that the page about pull requests shows for a judge."""
    page = (PROJECT / "docs/how-to/pull-requests.md").read_text(encoding="utf-8")
    (block,) = [one for one in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "gate.yml" in one]
    (found,) = yaml.safe_load(block.replace(f"{ACCOUNT}/skillgate", repository()))["jobs"].values()
    job: dict[str, Any] = found
    return job


def nightly_with_a_judge() -> dict[str, Any]:
    """Give the nightly job once its comments that are YAML are taken in."""
    text = re.sub(r"^    # (?=( *)[A-Za-z_-]+:( |$))", "    ", workflow("nightly"), flags=re.MULTILINE)
    (job,) = yaml.safe_load(text.replace("    To have", "    # To have"))["jobs"].values()
    found: dict[str, Any] = job
    return found


@pytest.mark.parametrize(
    ("job", "permissions"),
    [(recipe(), {"contents": "read", "pull-requests": "write"}), (nightly_with_a_judge(), {"contents": "read"})],
    ids=["page", "nightly"],
)
def test_a_judge_needs_a_depth_and_two_secrets(job: dict[str, Any], permissions: dict[str, str]) -> None:
    assert job["uses"] == f"{repository()}/.github/workflows/gate.yml@v{__version__}"
    assert (job["with"], job["permissions"]) == ({"depth": "standard"}, permissions)
    assert job["secrets"] == {key: f"${{{{ secrets.{key} }}}}" for key in interface("gate.yml")["secrets"]}
