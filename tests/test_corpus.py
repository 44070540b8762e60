"""Real public skills: all of them are evaluated, and the report says what the schema says."""

from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from skillgate.cli.main import main
from skillgate.report.schema import report_schema

DATA = os.environ.get("SKILLGATE_TEST_DATA", "")
pytestmark = pytest.mark.skipif(not Path(DATA, "corpus").is_dir(), reason="SKILLGATE_TEST_DATA names no test data")


def run(*words: str) -> tuple[int, str, str]:
    """Run the command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    code = main(words, stdout=out, stderr=err, environ={}, cwd=str(Path(DATA).resolve()))
    return code, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    """Score the whole collection once."""
    code, out, _ = run("score", "corpus", "--output", "json")
    assert code == 0
    document: dict[str, Any] = json.loads(out)
    return document


def test_every_skill_is_evaluated(report: dict[str, Any]) -> None:
    assert report["summary"]["skills"] == sum(1 for _ in find_skills())
    assert report["summary"]["not_evaluated"] == 0
    unscored = [result["skill"]["path"] for result in report["results"] if result["composite"]["score"] is None]
    assert unscored == []


def find_skills() -> list[Path]:
    """Find the main files with the operating system's own walk."""
    return [Path(folder, "SKILL.md") for folder, _, files in os.walk(Path(DATA, "corpus")) if "SKILL.md" in files]


def test_the_report_is_what_the_schema_says(report: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(report_schema()).validate(report)


def test_every_finding_stands_on_a_line_that_is_there(report: dict[str, Any]) -> None:
    root = Path(DATA)
    for result in report["results"]:
        for finding in result["findings"]:
            lines = (root / finding["path"]).read_text(encoding="utf-8").split("\n")
            assert 1 <= finding["line"] <= len(lines)
            assert 1 <= finding["column"] <= len(lines[finding["line"] - 1]) + 1


def test_links_that_are_reported_dead_are_written_on_that_line(report: dict[str, Any]) -> None:
    root = Path(DATA)
    dead = [
        finding
        for result in report["results"]
        for finding in result["findings"]
        if finding["id"] in ("ORPHAN_REFERENCE", "DEAD_CROSS_REF")
    ]
    assert dead
    for finding in dead:
        line = (root / finding["path"]).read_text(encoding="utf-8").split("\n")[finding["line"] - 1]
        assert finding["message"].split(" ")[0] in line


def test_the_same_input_gives_the_same_bytes_but_for_the_duration(report: dict[str, Any]) -> None:
    _, again, _ = run("score", "corpus", "--output", "json")
    assert _without_durations(json.loads(again)) == _without_durations(report)


def _without_durations(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_durations(item) for key, item in value.items() if key != "duration_ms"}
    return [_without_durations(item) for item in value] if isinstance(value, list) else value


def test_a_long_list_is_cut_and_says_so() -> None:
    code, out, _ = run("score", "corpus")
    assert code == 0
    assert len(out.splitlines()) < 100
    assert re.search(r"… \d+ more skills(?: without errors)?, all at [\d.]+ or above", out)
