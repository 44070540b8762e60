"""The report as JUnit XML: one suite, one test case for each skill, which fails where its gate does.

There is no schema of record. What is written is what the readers' schemas share: at most one ``failure`` or ``error``
in a case, and properties at the suite alone. Nothing in it depends on the clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.finding import Severity
from skillgate.report.findings import bounded, order, place
from skillgate.report.tally import answers_warning, badge_of, blamed_outside, failures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.finding import Finding
    from skillgate.model.report import Report, SkillResult

POSITION = 6
SUFFIXES = (".xml",)
ENDING = "junit.xml"
WRITERS = {"score": "render", "check": "render", "bench": "bench_junit:render"}

# What XML cannot hold even as a reference, beside the controls and surrogates that ``printable`` writes out.
_FORBIDDEN = {0xFFFE: "\ufffd", 0xFFFF: "\ufffd"}


class _Case(NamedTuple):
    """One test case: what it says, and in ``fault`` whether it is a ``failure`` or an ``error``, and why."""

    name: str
    said: tuple[str, ...]
    fault: str = ""
    message: str = ""
    details: tuple[str, ...] = ()


def render(report: Report) -> str:
    """Write a report; a skill that could not be evaluated is an error, and one without a gate passes."""
    cases = [_case(result) for result in report.results]
    if report.outside:
        cases.append(_outside(report))
    numbers = attributes(
        tests=str(len(cases)),
        failures=str(sum(1 for case in cases if case.fault == "failure")),
        errors=str(sum(1 for case in cases if case.fault == "error")),
    )
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="skillgate"{numbers}>',
        f'  <testsuite name="skillgate"{numbers} skipped="0">',
        "    <properties>",
        *(f"      <property{attributes(name=name, value=value)}/>" for name, value in _properties(report)),
        "    </properties>",
        *(line for case in cases for line in _written(case)),
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _properties(report: Report) -> Iterator[tuple[str, str]]:
    yield "version", report.tool.version
    yield "depth", report.depth.value
    yield "profile", report.profile
    for result in report.results:
        composite = result.composite
        yield f"score {result.skill.path}", "" if composite.score is None else f"{composite.score:.2f}"
        yield f"badge {result.skill.path}", composite.badge.value if composite.badge else ""


def _case(result: SkillResult) -> _Case:
    composite = result.composite
    score = "no score" if composite.score is None else f"score {composite.score:.2f}"
    badge = badge_of(result, none="no badge")
    aside = [f"{len(result.suppressed)} suppressed"] if result.suppressed else []
    said = (*answers_warning((result,)), f"{score}, {badge}", *map(_line, result.findings), *aside)
    case = _Case(result.skill.path, said)
    if not result.evaluated:
        return case._replace(fault="error", message=composite.reason or "not evaluated")
    return _failed(case, failures(result), result.findings) if result.gate.passed is False else case


def _outside(report: Report) -> _Case:
    """Write the findings of other tools about files of no skill; they fail where the gate says that they do."""
    case = _Case("files of no skill", tuple(map(_line, report.outside)))
    reasons = blamed_outside(report)
    return _failed(case, reasons, report.outside) if reasons else case


def _failed(case: _Case, reasons: Sequence[str], findings: Sequence[Finding]) -> _Case:
    errors = sorted((finding for finding in findings if finding.severity is Severity.ERROR), key=order)
    details = (*map(bounded, reasons), *map(_line, errors))
    return case._replace(fault="failure", message="; ".join(reasons), details=details)


def _written(case: _Case) -> Iterator[str]:
    yield f"    <testcase{attributes(classname='skillgate', name=case.name)}>"
    if case.fault:
        failure = attributes(message=case.message, type="gate" if case.fault == "failure" else "not evaluated")
        yield f"      <{case.fault}{failure}>{escaped(*case.details)}</{case.fault}>"
    yield f"      <system-out>{escaped(*case.said)}</system-out>"
    yield "    </testcase>"


def _line(finding: Finding) -> str:
    where = f"{bounded(place(finding))}:{finding.line}:{finding.column}:"
    return f"{where} {finding.severity.value} {bounded(finding.id)} {bounded(finding.message)}"


def attributes(**values: str) -> str:
    """Write attributes of an element, whatever their texts hold; each begins with a blank."""
    return "".join(f' {name}="{escaped(bounded(value))}"' for name, value in values.items())


def escaped(*lines: str) -> str:
    """Write lines as the text of an element; they are printable already, or made so by :func:`bounded`."""
    plain = "\n".join(lines).translate(_FORBIDDEN).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return plain.replace('"', "&quot;")
