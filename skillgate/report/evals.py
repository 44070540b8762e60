"""What reports on eval sets show: what is wrong with them, one finding a line, or what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import plural
from skillgate.model.finding import Severity
from skillgate.registry import EVAL_FORMATS
from skillgate.report.findings import bounded
from skillgate.report.tally import counts, finding_line
from skillgate.report.view import MARKS, Fold, Item, Items, Note, View, code

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.evals import EvalFile, EvalsReport, SetSummary, ShownCase
    from skillgate.model.finding import Finding
    from skillgate.report.view import Block, Tone

_PROMPT = 400  # characters of a prompt
_LABELS: dict[bool | None, tuple[str, Tone]] = {True: ("yes", "good"), False: ("no", "poor"), None: ("task", "muted")}


def view(report: EvalsReport) -> View:
    """Build what was linted, or what was shown: only a report that was linted has a threshold."""
    return _shown(report) if report.threshold is None else _linted(report)


def _linted(report: EvalsReport) -> View:
    """Build findings, one a line, with what to do below the first of its kind; a terminal leaves infos out."""
    infos = [finding for finding in report.findings if finding.severity is Severity.INFO]
    found = counts(report.findings)
    said = f"{found}." if found else "No findings."
    gate = report.gate
    failed = [f"gate failed: {'; '.join(one.reason for one in gate.outcomes)}"] if gate.passed is False else []
    return View(
        f"{said} {_looked_at(report)}",
        MARKS[gate.passed],
        reasons=tuple(failed),
        blocks=tuple(_findings([one for one in report.findings if one not in infos], infos)),
        ends=True,
    )


def _findings(findings: Sequence[Finding], infos: Sequence[Finding]) -> Iterator[Block]:
    fixes: set[str] = set()
    for group in (findings, infos):
        items = []
        for finding in group:
            is_told = finding.fix in fixes
            fixes.add(finding.fix)
            items.append(Item(finding_line(finding), below=() if is_told else (f"fix: {finding.fix}",)))
        block = Items(tuple(items), "finding", raw=True)
        if items:
            yield Fold(plural(len(items), "info"), (block,), quiet=True) if group is infos else block


def _looked_at(report: EvalsReport) -> str:
    prompts = sum(one.should + one.should_not for one in report.sets)
    said = f"{plural(len(report.sets), 'eval set')} with {plural(prompts, 'trigger prompt')} and"
    said += f" {plural(sum(one.tasks for one in report.sets), 'task')}, in {plural(report.skills, 'skill')}."
    return said if report.complete else f"{said} Not everything could be read."


def _shown(report: EvalsReport) -> View:
    """Build what each skill has: its files, its prompts with their labels, its tasks; what was not read last."""
    infos = [finding for finding in report.findings if finding.severity is Severity.INFO]
    findings = _findings([one for one in report.findings if one not in infos], infos)
    sets = [Fold((code(one.name), f"  {one.path}"), tuple(_set(one)), open=True) for one in report.sets]
    return View(_looked_at(report), MARKS[report.gate.passed], blocks=(*sets, *findings))


def _set(one: SetSummary) -> Iterator[Block]:
    for file in one.files:
        yield Note((code(file.file), f"  {file.kind}: {plural(file.cases, _unit(file))}"))
    if one.should or one.should_not:
        use = "score predicts on them" if one.judged else "too few of a label: score generates its own"
        yield Note(f"{one.should} should trigger, {one.should_not} should not; {use}")
    if one.tasks:
        yield Note(f"{plural(one.tasks, 'task')} with {plural(one.checks, 'check')}")
    if one.recorded:
        yield Note(plural(one.recorded, "recorded result"))
    if one.unread:
        yield Note(f"{plural(one.unread, 'place')} not read: skillgate evals lint says why", "fair")
    if one.cases:
        yield Items(tuple(map(_case, one.cases)), "case")


def _case(case: ShownCase) -> Item:
    return Item(bounded(case.prompt, _PROMPT), *_LABELS[case.should_trigger])


def _unit(file: EvalFile) -> str:
    """Return what is counted in a file; one of another version may have another kind."""
    if file.kind == "fixtures":
        return "file"
    return EVAL_FORMATS.text(file.kind, "UNIT") if file.kind in EVAL_FORMATS else "case"
