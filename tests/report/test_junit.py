"""JUnit XML: parsed by the standard library, in the shape that readers' schemas share."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given, settings

from skillgate.model.finding import Severity, Suppressed
from skillgate.model.report import Composite, Report
from skillgate.report.formats.junit import render
from skillgate.report.judge_compared import SCRIPTED
from tests.report import judged
from tests.report.reports import FAILED, PASSED, a_finding, a_report, a_skill, failing, hostile_reports, unread

# Children and attributes that the Jenkins plugin's and Ant's schemas both know.
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "properties": {"property"},
    "testcase": {"failure", "error", "system-out"},
}
ATTRIBUTES = {
    "testsuites": {"name", "tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped"},
    "property": {"name", "value"},
    "testcase": {"name", "classname"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
}


def suite(report: Report) -> ET.Element:
    """Parse a report, hold every element to the schemas, and give its one suite."""
    root = ET.fromstring(render(report).encode())
    for element in root.iter():
        assert {child.tag for child in element} <= CHILDREN.get(element.tag, set())
        assert set(element.attrib) == ATTRIBUTES.get(element.tag, set())
    found = root.find("testsuite")
    assert found is not None
    cases = found.findall("testcase")
    for element in (root, found):
        assert element.get("tests") == str(len(cases))
        assert element.get("failures") == str(len(found.findall("testcase/failure")))
        assert element.get("errors") == str(len(found.findall("testcase/error")))
    for case in cases:
        assert len(case.findall("failure") + case.findall("error")) <= 1
    return found


def test_a_skill_that_passes_is_a_case_without_a_fault() -> None:
    (case,) = suite(a_report(a_skill(gate=PASSED), gate=PASSED)).findall("testcase")
    assert case.attrib == {"classname": "skillgate", "name": "skills/one"}
    assert [child.tag for child in case] == ["system-out"]
    assert case.findtext("system-out") == "score 72.50, Silver"


def test_answers_of_a_script_are_said_to_be_that_first_in_each_case_of_one() -> None:
    report = judged.a_judged_report(
        judged.scripted().results[0]._replace(gate=PASSED), judged.a_judged_skill(path="skills/two", gate=PASSED)
    )
    one, two = suite(report).findall("testcase")
    first = (one.findtext("system-out") or "").split("\n")[0]
    assert first.startswith(f"{SCRIPTED} (provider scripted): no model read the skill")
    assert SCRIPTED not in (two.findtext("system-out") or "")


def test_a_failed_gate_is_a_failure_with_every_reason_and_the_errors() -> None:
    warning = a_finding(severity=Severity.WARNING, id="MISSING_TRIGGER", message="no trigger")
    gate = failing(("error", "1 error"), ("threshold", "score 72.50 is below 80"))
    (case,) = suite(a_report(a_skill(a_finding(), warning, gate=gate), gate=FAILED)).findall("testcase")
    failure = case.find("failure")
    assert failure is not None
    assert failure.attrib == {"message": "1 error; score 72.50 is below 80", "type": "gate"}
    assert (failure.text or "").split("\n") == [
        "1 error",
        "score 72.50 is below 80",
        "skills/one/SKILL.md:7:5: error ORPHAN_REFERENCE references/gone.md is not there",
    ]
    assert "warning MISSING_TRIGGER no trigger" in (case.findtext("system-out") or "")


def test_findings_without_a_gate_fail_nothing() -> None:
    (case,) = suite(a_report(a_skill(a_finding()))).findall("testcase")
    assert case.find("failure") is None
    assert "ORPHAN_REFERENCE" in (case.findtext("system-out") or "")


def test_a_skill_that_could_not_be_read_is_an_error() -> None:
    error = suite(a_report(a_skill(), unread())).find("testcase/error")
    assert error is not None
    assert error.attrib == {"message": "not evaluated: Permission denied", "type": "not evaluated"}


def test_scores_and_badges_are_properties_of_the_suite() -> None:
    unscored = a_skill(path="skills/two", composite=Composite(score=None, badge=None, reason="empty"))
    found = {item.get("name"): item.get("value") for item in suite(a_report(a_skill(), unscored)).iter("property")}
    assert found == {
        "version": "1.2.3",
        "depth": "quick",
        "profile": "any",
        "score skills/one": "72.50",
        "badge skills/one": "Silver",
        "score skills/two": "",
        "badge skills/two": "",
    }


def test_what_was_set_aside_is_counted() -> None:
    report = a_report(a_skill(suppressed=(Suppressed(a_finding(), "known"),)))
    assert (suite(report).findtext("testcase/system-out") or "").endswith("1 suppressed")


def test_findings_about_no_skill_fail_where_they_are_why_the_gate_did() -> None:
    outside = (a_finding(severity=Severity.WARNING, id="Semgrep/x", tool="Semgrep", path="src/a.py"),)
    blamed = failing(("warning", "1 warning outside the skills"))
    cases = suite(a_report(a_skill(gate=PASSED), outside=outside, gate=blamed)).findall("testcase")
    assert [case.get("name") for case in cases] == ["skills/one", "files of no skill"]
    assert cases[1].find("failure") is not None
    by_skill = a_skill(gate=failing(("error", "1 error")))
    cases = suite(a_report(by_skill, outside=outside, gate=FAILED)).findall("testcase")
    assert cases[1].find("failure") is None


def test_the_same_report_gives_the_same_bytes() -> None:
    report = a_report(a_skill(a_finding()), unread())
    assert render(report) == render(report)


@settings(max_examples=50, deadline=None)
@given(hostile_reports())
def test_every_report_is_xml_of_that_shape(report: Report) -> None:
    text = render(report)
    assert not [line for line in text.split("\n") if line.lstrip().startswith("::") or "##[" in line]
    found = suite(report)
    assert len(found.findall("testcase")) == len(report.results) + bool(report.outside)
