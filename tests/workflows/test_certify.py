"""The workflow that certifies: what its jobs may do, and that what one writes is what the next one reads."""

from __future__ import annotations

import re
from typing import Any

import yaml

from skillgate.action.plan import OUTPUTS
from skillgate.action.request import default_of, read_inputs, variable
from skillgate.cli.commands.init import reference, workflow
from skillgate.settings import INPUTS, REPORT_DIR

WORKFLOW: dict[Any, Any] = yaml.safe_load(workflow("certify"))
SHARD, LAST = (WORKFLOW["jobs"][name] for name in ("shard", "certificate"))


def steps(job: dict[str, Any], uses: str) -> list[dict[str, Any]]:
    return [step for step in job["steps"] if step.get("uses", "").startswith(uses)]


def given(job: dict[str, Any]) -> dict[str, Any]:
    (step,) = steps(job, reference())
    options: dict[str, Any] = step["with"]
    return options


def test_only_the_job_that_writes_an_issue_and_an_attestation_may() -> None:
    assert WORKFLOW["permissions"] == {}
    assert SHARD["permissions"] == {"contents": "read"}
    assert LAST["permissions"] == {
        "contents": "read",
        "issues": "write",
        "id-token": "write",
        "attestations": "write",
    }


def test_the_keys_are_at_hand_where_a_model_is_asked_and_nowhere_else() -> None:
    assert workflow("certify").count("secrets.") == 2
    (asking,) = steps(SHARD, reference())
    assert list(asking["env"]) == ["ANTHROPIC_API_KEY", "SKILLGATE_CACHE_KEY"]


def test_nothing_of_a_pull_request_starts_it() -> None:
    assert sorted(WORKFLOW[True]) == ["schedule", "workflow_dispatch"]


def test_there_are_as_many_shards_as_they_say_and_the_last_job_reads_each() -> None:
    parts = SHARD["strategy"]["matrix"]["part"]
    assert parts == list(range(1, len(parts) + 1))
    assert given(SHARD)["shard"] == f"${{{{ matrix.part }}}}/{len(parts)}"
    (sent,) = steps(SHARD, "actions/upload-artifact")
    (fetched,) = steps(LAST, "actions/download-artifact")
    names = [sent["with"]["name"].replace("${{ matrix.part }}", str(part)) for part in parts]
    pattern = fetched["with"]["pattern"].replace("*", r"\d+")
    assert all(re.fullmatch(pattern, name) for name in names)
    folder = fetched["with"]["path"]
    assert given(LAST)["reports"].split() == [f"{folder}/{name}/report.json" for name in names]
    assert sent["with"]["path"] == default_of(REPORT_DIR)


def test_every_input_exists_and_has_a_value_that_it_takes() -> None:
    for job in (SHARD, LAST):
        options = {name: str(value) for name, value in given(job).items() if "${{" not in str(value)}
        options = {name: text.lower() if text in ("True", "False") else text for name, text in options.items()}
        assert set(given(job)) <= {entry.key for entry in INPUTS}
        read = read_inputs({variable(name): text for name, text in options.items()})
        assert all(read[name] not in (None, "") for name in options)


def test_what_was_asked_is_kept_also_where_a_gate_fails_and_what_is_compared_with_only_where_none_did() -> None:
    (answers,) = steps(SHARD, "actions/cache/save")
    assert answers["if"] == "${{ !cancelled() }}"
    assert answers["with"]["path"] == given(SHARD)["cache-dir"]
    (before,) = steps(LAST, "actions/cache/save")
    assert "if" not in before
    (restored,) = steps(LAST, "actions/cache/restore")
    assert restored["with"]["path"] == before["with"]["path"]
    assert f"report:{restored['with']['path']}/report.json" in given(LAST)["baseline"]


def test_shards_and_the_last_job_are_compared_with_one_report() -> None:
    """Else prompts would be written anew for what has another description, and nothing could be said of it."""
    (restored,) = steps(LAST, "actions/cache/restore")
    (same,) = (step for step in steps(SHARD, "actions/cache/restore") if step.get("id") == restored["id"])
    assert same["with"] == restored["with"]
    assert given(SHARD)["baseline"] == given(LAST)["baseline"]


def test_who_starts_it_may_compare_with_nothing() -> None:
    (name,) = WORKFLOW[True]["workflow_dispatch"]["inputs"]
    assert given(LAST)["baseline"].startswith(f"${{{{ !inputs.{name} && ")
    assert given(LAST)["baseline"].endswith(" || 'none' }}")


def test_what_is_uploaded_takes_the_place_of_what_an_earlier_attempt_has_left() -> None:
    uploads = [step for job in (SHARD, LAST) for step in steps(job, "actions/upload-artifact")]
    assert [step["with"].get("overwrite") for step in uploads] == [True, True]


def test_another_branch_has_no_say_in_the_issue() -> None:
    assert "github.event.repository.default_branch" in given(LAST)["regression-issue"]


def test_what_is_attested_is_the_certificate() -> None:
    (attested,) = steps(LAST, "actions/attest-build-provenance")
    assert attested["with"]["subject-path"] == given(LAST)["certificate"]


def test_the_outputs_name_what_it_writes() -> None:
    assert {"issue-status", "issue-url", "certificate-file", "badges-dir"} <= {output.name for output in OUTPUTS}
