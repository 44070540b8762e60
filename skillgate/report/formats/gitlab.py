"""The report as GitLab's code quality JSON, for ``artifacts:reports:codequality``.

Source of the format: GitLab's page "Code Quality", section "Code Quality report format".
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from skillgate.format import printable
from skillgate.model.finding import Severity
from skillgate.report.findings import Marked, bounded, marked, place, with_fix

if TYPE_CHECKING:
    from skillgate.model.report import Report, SkillResult

POSITION = 9
SUFFIXES = (".gitlab.json",)
WRITERS = {"score": "render", "check": "render"}

# Of blocker, critical, major, minor, info: what could not be looked at is worse than any finding.
_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}
_UNREAD = "blocker"


def render(report: Report) -> str:
    """Write one issue for each active finding, worst first, and one for each skill that could not be read."""
    issues = [_unread(result) for result in report.results if not result.evaluated]
    issues += [_issue(item) for item in marked(report) if item.suppressed is None]
    return json.dumps(issues, ensure_ascii=False, indent=2) + "\n"


def _issue(item: Marked) -> dict[str, Any]:
    finding = item.finding
    return {
        "description": " ".join(filter(None, with_fix(finding))),
        "check_name": bounded(finding.id),
        "fingerprint": item.fingerprint,
        "severity": _SEVERITIES[finding.severity],
        "location": {"path": printable(place(finding)), "lines": {"begin": max(1, finding.line)}},
    }


def _unread(result: SkillResult) -> dict[str, Any]:
    path = result.skill.path
    return {
        "description": bounded(result.composite.reason or "not evaluated"),
        "check_name": "NOT_EVALUATED",
        "fingerprint": hashlib.sha256(f"NOT_EVALUATED\0{path}".encode(errors="backslashreplace")).hexdigest()[:32],
        "severity": _UNREAD,
        "location": {"path": printable(path), "lines": {"begin": 1}},
    }
