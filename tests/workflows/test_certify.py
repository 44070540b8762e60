"""The workflow that certifies: what its jobs may do, and that what one writes is what the next one reads."""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from skillgate.action.plan import OUTPUTS
from skillgate.action.request import default_of
from skillgate.cli.commands.init import reference, workflow
from skillgate.settings import REPORT_DIR
from tests.github.runner_protocol import outputs
from tests.workflows.reusable import called, caller, steps

if TYPE_CHECKING:
    from pathlib import Path

WORKFLOW = called("certify.yml")
PLAN, SHARD, LAST, ATTEST = (WORKFLOW["jobs"][name] for name in ("plan", "shard", "certificate", "attest"))


def given(job: dict[str, Any]) -> dict[str, Any]:
    (step,) = steps(job, reference())
    options: dict[str, Any] = step["with"]
    return options


def test_each_job_has_the_rights_that_it_uses() -> None:
    assert WORKFLOW["permissions"] == {}
    assert PLAN["permissions"] == {}
    assert SHARD["permissions"] == {"contents": "read"}
    assert LAST["permissions"] == {"contents": "read", "issues": "write"}
    assert ATTEST["permissions"] == {"id-token": "write", "attestations": "write"}


def planned(shards: str, folder: Path) -> tuple[int, dict[str, str]]:
    """Run the script that numbers the shards; give its exit code and its outputs."""
    (step,) = PLAN["steps"]
    output = folder / "output"
    output.touch()
    environ = {"PATH": os.environ["PATH"], "SHARDS": shards, "GITHUB_OUTPUT": str(output)}
    done = subprocess.run(["bash", "-e", "-c", step["run"]], env=environ, cwd=folder, check=False, capture_output=True)
    return done.returncode, outputs(output.read_text(encoding="utf-8"))


@pytest.mark.parametrize("shards", [1, 4, 12])
def test_there_are_as_many_shards_as_the_caller_says_and_the_last_job_reads_each(shards: int, tmp_path: Path) -> None:
    code, plan = planned(str(shards), tmp_path)
    parts = json.loads(plan["parts"])
    assert (code, parts) == (0, list(range(1, shards + 1)))
    assert SHARD["strategy"]["matrix"]["part"] == "${{ fromJSON(needs.plan.outputs.parts) }}"
    assert given(SHARD)["shard"] == "${{ matrix.part }}/${{ inputs.shards }}"
    (sent,) = steps(SHARD, "actions/upload-artifact")
    (fetched,) = steps(LAST, "actions/download-artifact")
    names = [sent["with"]["name"].replace("${{ matrix.part }}", str(part)) for part in parts]
    pattern = fetched["with"]["pattern"].replace("*", r"\d+")
    assert all(re.fullmatch(pattern, name) for name in names)
    folder = fetched["with"]["path"]
    assert plan["reports"].split() == [f"{folder}/{name}/report.json" for name in names]
    assert given(LAST)["reports"] == "${{ needs.plan.outputs.reports }}"
    assert sent["with"]["path"] == default_of(REPORT_DIR)


@pytest.mark.parametrize("shards", ["0", "100", "2.5", "-1", "", "1; touch x", "$(touch x)", "4\n5"])
def test_a_number_of_shards_that_is_none_is_refused_and_never_run(shards: str, tmp_path: Path) -> None:
    assert planned(shards, tmp_path) == (2, {})
    assert not (tmp_path / "x").exists()


def keeping(path: str) -> list[dict[str, Any]]:
    """Give the steps of the last job that restore and save a path."""
    return [step for step in LAST["steps"] if "cache" in step.get("uses", "") and step["with"]["path"] == path]


def test_what_was_asked_is_kept_also_where_a_gate_fails_and_what_is_compared_with_only_where_none_did() -> None:
    (answers,) = steps(SHARD, "actions/cache/save")
    assert answers["if"] == "${{ always() }}"
    assert answers["with"]["path"] == given(SHARD)["cache-dir"]
    before, history = keeping("skillgate-before"), keeping(f"{default_of(REPORT_DIR)}/history.json")
    assert ("if" in before[1], history[1]["if"]) == (False, "${{ !cancelled() }}")
    assert history[1]["with"]["key"] == history[0]["with"]["key"]
    restored = before[0]
    assert f"report:{restored['with']['path']}/report.json" in given(LAST)["baseline"]


def test_shards_and_the_last_job_are_compared_with_one_report() -> None:
    """Else prompts would be written anew for what has another description, and nothing could be said of it."""
    restored, _ = keeping("skillgate-before")
    (same,) = (step for step in steps(SHARD, "actions/cache/restore") if step.get("id") == restored["id"])
    assert same["with"] == restored["with"]
    assert given(SHARD)["baseline"] == given(LAST)["baseline"]


def test_who_starts_it_may_compare_with_nothing() -> None:
    (name,) = yaml.safe_load(workflow("certify"))[True]["workflow_dispatch"]["inputs"]
    assert caller("certify")["with"][name] == f"${{{{ inputs.{name} || false }}}}"
    assert given(LAST)["baseline"].startswith(f"${{{{ !inputs.{name} && ")
    assert given(LAST)["baseline"].endswith(" || 'none' }}")


def test_what_is_uploaded_takes_the_place_of_what_an_earlier_attempt_has_left() -> None:
    uploads = [step for job in (SHARD, LAST) for step in steps(job, "actions/upload-artifact")]
    assert [step["with"].get("overwrite") for step in uploads] == [True, True]


def test_another_branch_has_no_say_in_the_issue() -> None:
    assert "github.event.repository.default_branch" in given(LAST)["regression-issue"]


def test_what_is_attested_is_the_certificate() -> None:
    (attested,) = steps(ATTEST, "actions/attest-build-provenance")
    (fetched,) = steps(ATTEST, "actions/download-artifact")
    (sent,) = steps(LAST, "actions/upload-artifact")
    assert fetched["with"]["name"] == sent["with"]["name"]
    assert attested["with"]["subject-path"] == f"{fetched['with']['path']}/{given(LAST)['certificate']}"


def test_the_outputs_name_what_it_writes() -> None:
    assert {"issue-status", "issue-url", "certificate-file", "badges-dir"} <= {output.name for output in OUTPUTS}
