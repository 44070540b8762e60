"""Eval sets as text: what is wrong with them, one finding a line, or what they hold. JSON is the document itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from skillgate.format import plural, printable
from skillgate.model.codec import encode
from skillgate.model.finding import Severity
from skillgate.registry import EVAL_FORMATS
from skillgate.report.skill_block import finding_line
from skillgate.report.tally import counts
from skillgate.report.terminal import Style, cut, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.evals import EvalFile, EvalsReport, SetSummary, ShownCase

_CASES = 20  # of one skill that are listed unless more is asked for


def render_json(report: EvalsReport) -> str:
    """Write the document, as every other one is written."""
    text = json.dumps(encode(report), indent=2, ensure_ascii=False)
    return text.replace("##[", "\\u0023#[") + "\n"  # the same document; a CI runner would take the other for a command


def render(report: EvalsReport, style: Style, *, verbose: bool = False) -> str:
    """Write what was linted, or what was shown: only what was linted has a threshold."""
    return (render_show if report.threshold is None else render_lint)(report, style, verbose=verbose)


def render_lint(report: EvalsReport, style: Style, *, verbose: bool = False) -> str:
    """Write findings, one a line as ``path:line:column: severity ID message``, then how many there are.

    What to do stands below the first of its kind. Infos are counted, and shown with ``verbose``.
    """
    lines: list[str] = []
    fixes: set[str] = set()
    for finding in report.findings:
        if finding.severity is Severity.INFO and not verbose:
            continue
        lines.append(finding_line(finding, style))
        if finding.fix not in fixes:
            fixes.add(finding.fix)
            lines.append(f"    fix: {printable(finding.fix)}")
    lines += wrap(_summary(report, verbose=verbose), style.width)
    if report.gate.passed is False:
        reasons = "; ".join(outcome.reason for outcome in report.gate.outcomes)
        lines.append(style.paint(f"gate FAILED: {reasons}", "red", "bold"))
    return "\n".join(lines) + "\n"


def _summary(report: EvalsReport, *, verbose: bool) -> str:
    found = counts(report.findings)
    text = f"{found}." if found else "No findings."
    if not verbose and any(finding.severity is Severity.INFO for finding in report.findings):
        text += " -v shows the infos."
    return f"{text} {_looked_at(report)}"


def _looked_at(report: EvalsReport) -> str:
    sets = len(report.sets)
    prompts = sum(one.should + one.should_not for one in report.sets)
    text = f"{plural(sets, 'eval set')} with {plural(prompts, 'trigger prompt')} and"
    text += f" {plural(sum(one.tasks for one in report.sets), 'task')}, in {plural(report.skills, 'skill')}."
    return text if report.complete else f"{text} Not everything could be read."


def render_show(report: EvalsReport, style: Style, *, verbose: bool = False) -> str:
    """Write what each skill brings: its files, its prompts with their labels, its tasks; what was not read last."""
    lines: list[str] = []
    for one in report.sets:
        lines += _set(one, style, verbose=verbose)
        lines.append("")
    lines += [finding_line(one, style) for one in report.findings if verbose or one.severity is not Severity.INFO]
    lines += wrap(_looked_at(report), style.width)
    return "\n".join(lines) + "\n"


def _set(one: SetSummary, style: Style, *, verbose: bool) -> Iterator[str]:
    yield f"{style.paint(printable(one.name), 'bold')}  {printable(one.path)}"
    for file in one.files:
        yield f"  {printable(file.file)}  {file.kind}: {_held(file)}"
    if one.should or one.should_not:
        use = "score predicts on them" if one.judged else "too few of a label: score generates its own"
        yield f"  {one.should} should trigger, {one.should_not} should not; {use}"
    if one.tasks:
        yield f"  {plural(one.tasks, 'task')}, held to {plural(one.checks, 'check')}"
    if one.recorded:
        yield f"  {plural(one.recorded, 'recorded result')}"
    if one.unread:
        yield style.paint(f"  {plural(one.unread, 'place')} not read: skillgate evals lint says why", "yellow")
    yield from _cases(one.cases, style, verbose=verbose)


def _cases(cases: Sequence[ShownCase], style: Style, *, verbose: bool) -> Iterator[str]:
    shown = cases if verbose else cases[:_CASES]
    for case in shown:
        label = {True: "yes ", False: "no  ", None: "task"}[case.should_trigger]
        yield f"    {label}  {cut(printable(case.prompt[: 4 * style.width]), max(20, style.width - 10))}"
    if len(shown) < len(cases):
        yield style.paint(f"    + {len(cases) - len(shown)} more (-v shows every one)", "dim")


def _held(file: EvalFile) -> str:
    return plural(file.cases, _unit(file.kind))


def _unit(kind: str) -> str:
    """Return what is counted in a file of a kind; a file of another version may be of another one."""
    if kind == "fixtures":
        return "file"
    return EVAL_FORMATS.text(kind, "UNIT") if kind in EVAL_FORMATS else "case"
