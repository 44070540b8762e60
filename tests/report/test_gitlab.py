"""GitLab's code quality JSON: what its widget needs, whatever texts and paths hold."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
from hypothesis import given, settings

from skillgate.model.finding import Severity, Suppressed
from skillgate.model.report import Report
from skillgate.report.formats.gitlab import render
from tests.report.reports import a_finding, a_report, a_skill, hostile_reports, unread

# What GitLab's page on the format asks for; it publishes no schema.
ISSUES = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "additionalProperties": False,
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "additionalProperties": False,
                "properties": {
                    "path": {"type": "string", "pattern": "^(?!\\./)."},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "additionalProperties": False,
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}
VALIDATOR = jsonschema.Draft202012Validator(ISSUES)


def issues(report: Report) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(render(report))
    VALIDATOR.validate(found)
    return found


def test_a_finding_is_an_issue_at_its_line() -> None:
    (issue,) = issues(a_report(a_skill(a_finding())))
    assert len(issue.pop("fingerprint")) == 32
    assert issue == {
        "description": "references/gone.md is not there. To fix: correct the path.",
        "check_name": "ORPHAN_REFERENCE",
        "severity": "critical",
        "location": {"path": "skills/one/SKILL.md", "lines": {"begin": 7}},
    }


def test_severities_fall_with_ours_and_what_was_not_read_is_the_worst() -> None:
    found = issues(a_report(a_skill(*(a_finding(severity=severity) for severity in Severity)), unread()))
    assert [issue["severity"] for issue in found] == ["blocker", "critical", "major", "info"]
    assert found[0]["check_name"] == "NOT_EVALUATED"
    assert found[0]["location"]["path"] == "skills/locked"


def test_nothing_found_is_an_empty_list() -> None:
    assert issues(a_report(a_skill())) == []


def test_what_was_set_aside_is_no_issue() -> None:
    assert issues(a_report(a_skill(suppressed=(Suppressed(a_finding(), "known"),)))) == []


def test_paths_are_as_git_has_them() -> None:
    paths = ["./a//b/../SKILL.md", "../x/SKILL.md", "/abs/SKILL.md"]
    found = issues(a_report(a_skill(*(a_finding(path=path) for path in paths))))
    assert {issue["location"]["path"] for issue in found} == {"a/SKILL.md", "../x/SKILL.md", "/abs/SKILL.md"}


@settings(max_examples=50, deadline=None)
@given(hostile_reports())
def test_every_report_has_its_shape_and_fingerprints_of_their_own(report: Report) -> None:
    text = render(report)
    text.encode()
    assert "##[" not in text
    found = issues(report)
    distinct = {result.skill.path for result in report.results if not result.evaluated}
    repeated = sum(1 for result in report.results if not result.evaluated) - len(distinct)
    assert len({issue["fingerprint"] for issue in found}) == len(found) - repeated
