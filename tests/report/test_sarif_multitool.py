"""SARIF held to Microsoft's own validator, with its rules for GitHub's ingestion.

Set SKILLGATE_SARIF_MULTITOOL to the binary of the npm package ``@microsoft/sarif-multitool-linux`` (or ``-darwin``,
``-win32``). Its exit code is 0 also where it found errors, so its result file is read.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from skillgate.model.finding import Severity, Suppressed
from skillgate.model.report import Report
from skillgate.report.formats.sarif import render
from tests.report.reports import HOSTILE, a_finding, a_report, a_skill, unread
from tests.report.test_sarif import PAGE

TOOL = os.environ.get("SKILLGATE_SARIF_MULTITOOL")

pytestmark = pytest.mark.skipif(TOOL is None, reason="SKILLGATE_SARIF_MULTITOOL names no SARIF Multitool")

# Of a merged tool neither version nor home is known, since a finding has neither; inventing them would be worse.
UNKNOWN_OF_OTHERS = "SARIF2005"


def validate(given: Path, result: Path) -> subprocess.CompletedProcess[bytes]:
    asked = ("--rule-kind", "Sarif;Ghas", "--level", "Error;Warning;Note", "--kind", "Fail", "--log", "ForceOverwrite")
    command = [str(TOOL), "validate", str(given), "-o", str(result), *asked]
    return subprocess.run(command, capture_output=True, check=False, timeout=120)


def complaints(report: Report, directory: Path) -> set[tuple[str, str]]:
    """Validate a report: the rule and level of every complaint but notes."""
    given, result = directory / "given.sarif", directory / "result.sarif"
    given.write_text(render(report, (PAGE,)), encoding="utf-8")
    done = validate(given, result)
    assert result.exists(), done.stdout + done.stderr
    run: dict[str, Any] = json.loads(result.read_text(encoding="utf-8-sig"))["runs"][0]
    told = [invocation.get("toolExecutionNotifications") for invocation in run.get("invocations", [])]
    assert not any(told), told
    assert run["results"], "not even a note: nothing was validated"
    levels = {(item["ruleId"], item.get("level", "warning")) for item in run["results"]}
    return {(rule, level) for rule, level in levels if level != "note"}


def test_the_validator_sees_what_is_wrong(tmp_path: Path) -> None:
    broken = json.loads(render(a_report(a_skill(a_finding()))))
    broken["runs"][0]["results"][0]["ruleIndex"] = 7
    given, result = tmp_path / "broken.sarif", tmp_path / "result.sarif"
    given.write_text(json.dumps(broken), encoding="utf-8")
    validate(given, result)
    assert "SARIF1009" in result.read_text(encoding="utf-8-sig")


def test_a_plain_report_has_neither_error_nor_warning(tmp_path: Path) -> None:
    findings = [a_finding(severity=severity, id=f"RULE_{severity.name}") for severity in Severity]
    aside = Suppressed(a_finding(line=9), "comment", "later", "2031-01-31")
    assert complaints(a_report(a_skill(*findings, a_finding(), suppressed=(aside,)), unread()), tmp_path) == set()


def test_hostile_texts_and_paths_bring_neither(tmp_path: Path) -> None:
    paths = (
        *HOSTILE,
        "../outside/SKILL.md",
        "/srv/../SKILL.md",
        "C:/x/SKILL.md",
        "caf\udce9/SKILL.md",
        ".",
        "a b/ü%.md",
    )
    skills = [a_skill(a_finding(message=text, fix=text, path=text.replace("\0", "")), path=text) for text in paths]
    assert complaints(a_report(*skills, *map(unread, paths, paths)), tmp_path) == set()


def test_runs_of_other_tools_lack_only_what_nobody_knows(tmp_path: Path) -> None:
    foreign = [a_finding(id=f"T/{text}", tool="T", message=text, fix=text, url="") for text in HOSTILE if text.strip()]
    report = a_report(a_skill(a_finding()), outside=tuple(foreign))
    assert complaints(report, tmp_path) <= {(UNKNOWN_OF_OTHERS, "warning")}
