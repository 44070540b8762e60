"""Notices about input and answers that do not fit the schemas that a skill declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.bench.made import answering, benchmark, run, skill, task

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("jsonschema", reason="jsonschema is of an extra")

TEXT = {"type": "object", "properties": {"n": {"type": "string"}}, "required": ["n"]}
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
LINK = {"type": "object", "properties": {"n": {"type": "string", "pattern": "^(a+)+$"}}}


@pytest.mark.parametrize(
    ("schemas", "note", "notice"),
    [
        ({"inputSchema": NUMBER, "outputSchema": {"type": "integer"}}, "", ""),
        ({"inputSchema": TEXT}, "s: 2 inputs of tasks do not fit its inputSchema, first t1: n: 1 is not", ""),
        ({"outputSchema": TEXT}, "", "s: 2 answers do not fit its outputSchema, first t1: 1 is not of type 'object'"),
        ({"inputSchema": LINK, "outputSchema": LINK}, "", ""),
        ({"inputSchema": {"type": 5}}, "", ""),
    ],
)
def test_what_does_not_fit_is_said_and_scores_nothing(
    tmp_path: Path, schemas: dict[str, Any], note: str, notice: str
) -> None:
    skill(tmp_path / "s", answering("data['n']"), **schemas)
    refused = task("r", expectedOutput={"type": "error"}, inputData={})
    benchmark(tmp_path / "b.json", task("t1"), task("t2"), refused)
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--json", "--no-store")
    assert (note in done.err, "do not fit its inputSchema" in done.err) == (True, bool(note)), done.err
    assert [one[: len(notice)] for one in done.json["notices"]] == ([notice] if notice else []), done.json["notices"]
    assert [one["status"] for one in done.json["reports"][0]["taskResults"]] == ["pass", "pass", "pass"]
