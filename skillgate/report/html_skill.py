"""One skill's part of a page: its dimensions, findings, advice, and what each point rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.report import StaticLayer
from skillgate.model.score import Outcome
from skillgate.report.findings import bounded
from skillgate.report.html_charts import Bar, bar
from skillgate.report.html_numbers import tone
from skillgate.report.html_parts import PATH, Aside, Found, Measure, Some, first, found, measures, set_aside
from skillgate.report.judge_doubt import INCONCLUSIVE, inconclusive
from skillgate.report.judge_page import judge_part, score_sure
from skillgate.report.simulated_page import sampled_part
from skillgate.report.skill_block import gap_reasons
from skillgate.report.steps import main_file, steps
from skillgate.report.text import failures

if TYPE_CHECKING:
    from skillgate.model.documents import SkillChange
    from skillgate.model.report import SkillResult
    from skillgate.model.score import Evidence
    from skillgate.report.judge_page import JudgePart
    from skillgate.report.links import Links
    from skillgate.report.simulated_page import SampledPart
    from skillgate.report.steps import Step

_ADVICE = 30
_EVIDENCE = 30  # lines of one sub-check
_TEXT = 300  # characters of what to do
_LINES = 5  # lines of one file that a step names


class Check(NamedTuple):
    """One sub-check with its evidence."""

    name: str
    score: float | None
    reason: str
    evidence: Some[Evidence]


class Row(NamedTuple):
    """One skill's line of the table.

    Attributes:
        mark: ``pass``, ``fail`` or ``none``, as its gate says; ``error`` where it could not be read.
        anchor: the id of its part of the page, ``""`` where that was left out.
        state: ``new``, ``changed`` or ``unchanged`` beside a baseline, ``""`` without one.
        reason: why there is no score, where there is none.
        sure: the score's interval and what it is called, ``""`` where there is none.
    """

    result: SkillResult
    path: str
    mark: str
    tone: str
    bar: Bar | None
    anchor: str = ""
    state: str = ""
    before: float | None = None
    change: float | None = None
    reason: str = ""
    sure: str = ""


class StepText(NamedTuple):
    """One thing to do; ``where`` is the place, by lines, in words that stand beside it."""

    step: Step
    text: str
    where: str


class SkillPart(NamedTuple):
    """One skill's part of a page."""

    row: Row
    url: str
    open: bool
    failures: tuple[str, ...]
    measures: tuple[Measure, ...]
    findings: Some[Found]
    fixed: Some[Found]
    steps: Some[StepText]
    aside: Some[Aside]
    checks: tuple[Check, ...]
    moved_from: str = ""
    judge: JudgePart | None = None
    sampled: SampledPart | None = None


def skill_row(result: SkillResult, change: SkillChange | None, anchor: str = "") -> Row:
    """Give a skill's line, beside its baseline where there is one."""
    score = result.composite.score
    before = change.before.score if change and change.before else None
    return Row(
        result,
        path=bounded(result.skill.path, PATH),
        mark=_mark(result),
        tone=tone(score),
        bar=bar(score, tone(score), before),
        anchor=anchor,
        state=change.state.value if change else "",
        before=before,
        change=change.change if change else None,
        reason=bounded(result.composite.reason or "no score", PATH) if score is None else "",
        sure=score_sure(result),
    )


def _mark(result: SkillResult) -> str:
    if not result.evaluated:
        return "error"
    return {True: "pass", False: "fail", None: "none"}[result.gate.passed]


def skill_part(row: Row, change: SkillChange | None, links: Links, *, alone: bool) -> SkillPart:
    """Give all that is known of a skill; ``alone`` where it is the only one, so that nothing is folded away."""
    result = row.result
    new = frozenset(change.new) if change else frozenset()
    return SkillPart(
        row,
        url=links.file(result.skill.path),
        open=alone,
        failures=tuple(failures(result)) if result.gate.passed is False else _undecided(result),
        measures=_measures(result, change),
        findings=found(result.findings, links, new=new, within=result.skill.path),
        fixed=found(change.fixed, links.nowhere, within=result.skill.path) if change else Some(()),
        steps=next_steps(result, change, most=_ADVICE),
        aside=set_aside(result.suppressed),
        checks=_checks(result),
        moved_from=_moved_from(change),
        judge=judge_part(result, links),
        sampled=sampled_part(result),
    )


def _measures(result: SkillResult, change: SkillChange | None) -> tuple[Measure, ...]:
    reasons = gap_reasons(result)
    known = measures(result.dimensions, change.dimensions if change else {})
    return tuple(item._replace(reason=reasons.get(item.dimension, "")) for item in known)


def next_steps(result: SkillResult, change: SkillChange | None, *, most: int) -> Some[StepText]:
    """Say what to do about a skill, the most urgent first."""
    cut = first(steps(result, change), most)
    return Some(tuple(_step_text(step, main_file(result)) for step in cut.items), cut.left)


def _step_text(step: Step, main: str) -> StepText:
    text, count = bounded(step.text, _TEXT), len(step.findings)
    if count > 1:
        text = f"{bounded(step.findings[0].id, 80)} ×{count}: {text}" + (f", and {count - 1} more" if step.fix else "")
    elif step.urgent and not step.fix:
        text = f"{bounded(step.findings[0].id, 80)}: {text}"
    if step.fix:
        text += f"; {bounded(step.fix, _TEXT)}"
    named = [f"{line}" for line in step.lines[:_LINES]]
    left = len(step.lines) - len(named)
    where = f"line{'s' * (len(step.lines) > 1)} {', '.join(named)}" if named else ""
    where += f" and {left:,} more" if left else ""
    where += f" of {bounded(step.path, PATH)}" if where and step.path != main else ""
    return StepText(step, text, where + (", together" if count > 1 and step.gain is not None else ""))


def _undecided(result: SkillResult) -> tuple[str, ...]:
    """List what a gate that did not fail could not decide, and a fall that it let pass as chance."""
    doubtful = (Outcome.INCONCLUSIVE, Outcome.UNMEASURED)
    reasons = [outcome.reason for outcome in result.gate.outcomes if outcome.verdict in doubtful]
    fell = inconclusive(result)
    return (
        (*reasons, fell)
        if fell and not any(fell.removeprefix(INCONCLUSIVE) in text for text in reasons)
        else tuple(reasons)
    )


def _moved_from(change: SkillChange | None) -> str:
    return bounded(change.before.path, PATH) if change and change.before and change.moved else ""


def _checks(result: SkillResult) -> tuple[Check, ...]:
    return tuple(
        Check(name, check.score, check.reason or "", first(check.evidence, _EVIDENCE))
        for layer in result.layers
        if isinstance(layer, StaticLayer)
        for name, check in layer.sub_checks.items()
    )
