"""Workflow commands: what the runner reads is what was meant, and no text from a skill becomes a command."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgate.model.finding import Severity, Suppressed
from skillgate.model.report import Report
from skillgate.report.formats.github import EACH, Annotation, render
from skillgate.report.judge_compared import SCRIPTED
from tests.github.runner_protocol import Command, newer, older
from tests.report import judged
from tests.report.reports import (
    FAILED,
    HOSTILE,
    PASSED,
    a_finding,
    a_report,
    a_skill,
    failing,
    hostile_reports,
    unread,
)


def parsed(line: str) -> Command | None:
    """Read a line as the runner does: the newer syntax at its start, else the older one anywhere in it."""
    return newer(line) or older(line)


def lines(report: Report) -> list[str]:
    text = render(report)
    assert text.endswith("\n")
    return text[:-1].split("\n")


def commands(report: Report) -> list[Command]:
    return [command for line in lines(report) if (command := parsed(line))]


@pytest.mark.parametrize("line", ["  ::error::x", "::error file=a::x", "told: ##[error]x", "::set-env name=A::b"])
def test_the_parser_of_these_tests_sees_what_the_runner_sees(line: str) -> None:
    assert parsed(line) is not None


def test_a_finding_is_an_annotation_at_its_place() -> None:
    assert lines(a_report(a_skill(a_finding())))[0] == (
        "::error file=skills/one/SKILL.md,line=7,endLine=7,col=5,title=skillgate ORPHAN_REFERENCE"
        "::references/gone.md is not there.%0ATo fix: correct the path."
    )


@pytest.mark.parametrize(
    ("severity", "command"), [(Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.INFO, "notice")]
)
def test_each_severity_has_its_command(severity: Severity, command: str) -> None:
    assert [item.name for item in commands(a_report(a_skill(a_finding(severity=severity))))] == [command]


def test_answers_of_a_script_are_said_to_be_that_before_the_summary() -> None:
    told = lines(judged.scripted())
    place = next(index for index, line in enumerate(told) if line.startswith(f"{SCRIPTED} (provider scripted)"))
    assert told[place + 1].startswith("skillgate: ")
    assert parsed(told[place]) is None
    assert not any(SCRIPTED in line for line in lines(judged.three_judges()))


@pytest.mark.parametrize("text", HOSTILE)
def test_no_name_of_a_provider_is_a_command(text: str) -> None:
    warned = [line for line in lines(judged.hostile(text)) if SCRIPTED in line]
    assert len(warned) == 1
    assert parsed(warned[0]) is None


def test_names_with_commas_colons_and_percent_signs_come_back_whole() -> None:
    path = "skills/a,b:c %41=d/SKILL.md"
    (command,) = commands(a_report(a_skill(a_finding(path=path, message="100% of a::b, c"))))
    assert command.properties["file"] == path
    assert command.data.startswith("100% of a::b, c.\n")


def test_a_leading_equals_sign_is_not_lost() -> None:
    (command,) = commands(a_report(a_skill(a_finding(path="=x/SKILL.md"))))
    assert command.properties["file"] == "./=x/SKILL.md"


def test_the_worst_come_first_whichever_skill_they_are_of() -> None:
    info, error = a_finding(severity=Severity.INFO), a_finding(path="skills/two/SKILL.md")
    report = a_report(a_skill(info), a_skill(error, path="skills/two"))
    assert [command.name for command in commands(report)] == ["error", "notice"]


def test_ten_of_each_level_and_then_a_count() -> None:
    findings = [a_finding(severity=severity, line=line) for severity in Severity for line in range(1, 14)]
    found = commands(a_report(a_skill(*findings)))
    names = [command.name for command in found]
    assert {name: names.count(name) for name in names} == {"error": EACH, "warning": EACH, "notice": EACH}
    assert found[-1].data.startswith(f"{39 - 29} more findings without an annotation")


def test_exactly_ten_of_each_level_need_no_count() -> None:
    findings = [a_finding(severity=severity, line=line) for severity in Severity for line in range(1, 11)]
    found = commands(a_report(a_skill(*findings)))
    assert len(found) == 30
    assert not [command for command in found if "more finding" in command.data]


def test_a_skill_that_could_not_be_read_is_an_error_on_its_directory() -> None:
    (command,) = commands(a_report(unread()))
    assert command == Command(
        "error", {"file": "skills/locked", "title": "skillgate"}, "not evaluated: Permission denied"
    )


def test_what_was_set_aside_is_counted_and_not_annotated() -> None:
    report = a_report(a_skill(suppressed=(Suppressed(a_finding(), "comment", "it is made later"),)))
    assert lines(report) == ["skillgate: no findings in 1 skill; 1 suppressed (1 by comment)"]


def test_findings_of_other_tools_carry_their_own_name() -> None:
    report = a_report(a_skill(), outside=(a_finding(id="Semgrep/rule", tool="Semgrep", path="src/a.py"),))
    (command,) = commands(report)
    assert command.properties["title"] == "Semgrep/rule"


def test_the_summary_says_what_the_gate_decided_and_why() -> None:
    failed = a_skill(a_finding(), gate=failing(("error", "1 error"), ("threshold", "score 72.50 is below 80")))
    assert lines(a_report(failed, gate=FAILED))[1:] == [
        "skillgate: 1 error in 1 skill; gate FAILED",
        "  fails: skills/one: 1 error; score 72.50 is below 80",
    ]
    assert lines(a_report(a_skill(gate=PASSED), gate=PASSED)) == ["skillgate: no findings in 1 skill; gate passed"]


def test_the_summary_names_what_failed_outside_the_skills() -> None:
    blamed = failing(("error", "1 error outside the skills"))
    told = lines(a_report(a_skill(gate=PASSED), outside=(a_finding(tool="scan"),), gate=blamed))
    assert told[-1] == "  fails: 1 error outside the skills"


def test_no_more_than_twenty_failed_skills_are_told() -> None:
    failed = [a_skill(path=f"skills/{index:02}", gate=failing(("error", "1 error"))) for index in range(25)]
    told = lines(a_report(*failed, gate=FAILED))
    assert len([line for line in told if line.startswith("  fails: ")]) == 20
    assert told[-1] == "  5 more skills fail"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_shown_and_commands_nothing(text: str) -> None:
    report = a_report(a_skill(a_finding(message=text, fix=text), path=text, gate=failing(("error", text))), gate=FAILED)
    (command,) = commands(report)
    assert command.properties["title"] == "skillgate ORPHAN_REFERENCE"


@settings(max_examples=100, deadline=None)
@given(hostile_reports())
def test_no_report_commands_more_than_its_annotations(report: Report) -> None:
    told = lines(report)
    found = [parsed(line) for line in told]
    annotations = [command for command in found if command]
    assert found == [*annotations, *([None] * (len(told) - len(annotations)))]
    assert told[len(annotations)].startswith("skillgate: ")
    for level in ("error", "warning", "notice"):
        assert sum(1 for command in annotations if command.name == level) <= EACH
    for line, command in zip(told, annotations, strict=False):
        assert command.name in ("error", "warning", "notice")
        assert set(command.properties) <= {"file", "line", "endLine", "col", "title"}
        assert len(command.data) <= 1100
        assert "\r" not in line
        assert "##[" not in line


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(codec=None), min_size=1), st.text(st.characters(codec=None)))
def test_a_command_gives_back_what_went_into_it(value: str, text: str) -> None:
    line = str(Annotation("error", (("file", f"x{value}"), ("title", "end")), text))
    assert "\n" not in line
    assert parsed(line) == Command("error", {"file": f"x{value}", "title": "end"}, text)
