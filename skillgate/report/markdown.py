"""The report as Markdown, for a pull request, an issue or a file: verdict first, then one row a skill.

Text that comes from a skill is inert in it: no markup, no mention, no link, no HTML survives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import plural
from skillgate.model.documents import Comparison
from skillgate.model.finding import rule_url
from skillgate.report import addresses
from skillgate.report.across import change_lines
from skillgate.report.escape import code, inert
from skillgate.report.skill_block import gap_reasons, is_judged, is_simulated
from skillgate.report.tally import badge_of, counts, spread_of, unread, without_text, worst_first
from skillgate.report.text import failures
from skillgate.scoring.result import most_valuable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.documents import Diff
    from skillgate.model.finding import Finding
    from skillgate.model.report import Report, SkillResult
    from skillgate.report.tally import Unread

_ROWS = 50
_ADVISED = 5


def render_score(report: Report) -> str:
    """Write a score report."""
    return "\n".join(_score(report)) + "\n"


def _score(report: Report) -> Iterator[str]:
    yield from _warning(report.results)
    yield f"### {_headline(report)}"
    yield ""
    yield "| skill | score | badge | findings |"
    yield "|---|--:|---|---|"
    textless = without_text(report.results)
    grouped = {path for group in textless for path in group.paths}
    evaluated = [result for result in worst_first(report.results) if result.evaluated]
    ranked = [result for result in evaluated if result.skill.path not in grouped]
    for result in ranked[:_ROWS]:
        label = badge_of(result, stars=True)
        score = f"**{result.composite.score:.2f}**{_interval(result)}" if result.composite.score is not None else "—"
        yield f"| {code(result.skill.path)} | {score} | {label} | {counts(result.findings)} |"
    if len(ranked) > _ROWS:
        yield ""
        clean = "" if any(item.errors for item in ranked[_ROWS:]) else " without errors"
        least = min(item.composite.score or 0.0 for item in ranked[_ROWS:])
        at_least = f", all at {least:.2f} or above" if least > 0 else ""
        yield f"{len(ranked) - _ROWS} more skills{clean}{at_least}."
    yield ""
    yield f"{spread_of(report.results).capitalize()}."
    yield from _unscored(ranked[:_ROWS])
    yield from _groups("Errors, no text to score", textless)
    yield from _groups("Not evaluated", unread(report.results))
    yield from _failed(report)
    yield from _in_doubt(report)
    yield from _changed(report)
    yield from _next(ranked[:_ADVISED])
    yield from _found(evaluated, report.outside)
    for result in ranked if len(report.results) == 1 else []:
        yield from _dimensions(result) if result.dimensions else ()
    if is_judged(ranked):
        from skillgate.report.judge_markdown import judged  # only where a judge was asked

        yield from judged(ranked[:_ROWS], report)
    if is_simulated(ranked):
        from skillgate.report.simulated_markdown import simulated  # only where sessions or matches were asked for

        yield from simulated(ranked[:_ROWS])
    yield ""
    yield _footer(report)


def _warning(results: Sequence[SkillResult]) -> Iterator[str]:
    if is_judged(results) or is_simulated(results):
        from skillgate.report.judge_markdown import warning  # only where a model was asked

        yield from warning(results)


def _in_doubt(report: Report) -> Iterator[str]:
    if is_judged(report.results):
        from skillgate.report.judge_markdown import in_doubt  # only where a judge was asked

        yield from in_doubt(worst_first(report.results), report)


def _interval(result: SkillResult) -> str:
    composite = result.composite
    if composite.ci_low is None or composite.ci_high is None:
        return ""
    from skillgate.report.judge_words import sure  # only where something was sampled

    return f" {sure(composite.score, composite.ci_low, composite.ci_high, scale=100.0)}"


def _changed(report: Report) -> Iterator[str]:
    """Say what the change does to skills together."""
    lines = [f"- {inert(line)}" for line in change_lines(report)]
    if lines:
        yield from ("", "Across skills, beside the baseline:", "", *lines[:_ROWS])


def _headline(report: Report) -> str:
    total = len(report.results)
    skills = f"{plural(total, 'skill')}"
    if report.gate.passed is False:
        failed = sum(1 for result in report.results if result.gate.passed is False)
        if not failed:
            return f"❌ skillgate: {counts(report.outside)} outside the skills"
        return f"❌ skillgate: {failed} of {skills} fail{'s' * (failed == 1)}"
    if report.summary.not_evaluated:
        return f"⚠️ skillgate: {report.summary.not_evaluated} of {skills} could not be evaluated"
    return f"✅ skillgate: {skills} pass{'es' * (total == 1)}" if report.gate.passed else f"skillgate: {skills}"


def _unscored(ranked: list[SkillResult]) -> Iterator[str]:
    unscored = [result for result in ranked if result.composite.score is None]
    if unscored:
        yield ""
    for result in unscored:
        yield f"- {code(result.skill.path)} has no score: {inert(result.composite.reason or '')}"


def _groups(title: str, groups: Sequence[Unread]) -> Iterator[str]:
    if groups:
        yield ""
        yield f"**{title}: {sum(len(group.paths) for group in groups)}**"
        yield ""
    for group in groups[:_ROWS]:
        shown = group.named()
        left = len(group.paths) - len(shown)
        more = f" and {left} more" if left else ""
        yield f"- {len(group.paths)}: {inert(group.reason)}: {', '.join(map(code, shown))}{more}"
    if len(groups) > _ROWS:
        yield f"- {len(groups) - _ROWS} more reasons"


def _failed(report: Report) -> Iterator[str]:
    failed = [result for result in worst_first(report.results) if result.gate.passed is False and result.evaluated]
    if failed:
        yield ""
        yield "**Fails because**"
        yield ""
    for result in failed[:_ROWS]:
        yield f"- {code(result.skill.path)}: {inert('; '.join(failures(result)))}"
    if len(failed) > _ROWS:
        yield f"- {len(failed) - _ROWS} more"


def _next(ranked: list[SkillResult]) -> Iterator[str]:
    advised = [result for result in ranked if result.advice]
    if not advised:
        return
    yield ""
    yield "**Do next**"
    yield ""
    for result in advised:
        for advice in most_valuable(result.advice, 3 if len(advised) == 1 else 1):
            line = f":{advice.line}" if advice.line else ""
            yield f"1. {code(f'{result.skill.path}{line}')}: {inert(advice.action)} (**{advice.gain:+.1f}**)"


def _found(ranked: list[SkillResult], outside: Sequence[Finding]) -> Iterator[str]:
    findings = [*outside, *(finding for result in ranked for finding in result.findings)]
    if not findings:
        return
    yield ""
    yield f"<details><summary>Findings: {counts(findings)}</summary>"
    yield ""
    yield "| where | | rule | what |"
    yield "|---|---|---|---|"
    for finding in findings[: 4 * _ROWS]:
        where = code(f"{finding.path}:{finding.line}")
        yield f"| {where} | {finding.severity.value} | {_rule(finding)} | {inert(finding.message)} |"
    if len(findings) > 4 * _ROWS:
        yield ""
        yield f"{len(findings) - 4 * _ROWS} more."
    yield ""
    yield "</details>"


def _rule(finding: Finding) -> str:
    """Name a rule, with its page where it is one of ours; the address that a document holds is not led to."""
    ours = finding.tool == "skillgate" and addresses.is_rule(finding.id)
    return f"[{inert(finding.id)}]({rule_url(finding.id)})" if ours else inert(finding.id)


def _dimensions(result: SkillResult) -> Iterator[str]:
    yield ""
    yield "<details><summary>Dimensions</summary>"
    yield ""
    yield "| dimension | weight | score | grade |"
    yield "|---|--:|--:|:-:|"
    reasons = gap_reasons(result)
    for dimension, found in result.dimensions.items():
        score = f"{found.score:.4f}" if found.score is not None else "—"
        if found.ci_low is not None:
            from skillgate.report.judge_markdown import dimension_interval  # only where something was sampled

            score = f"{score} {dimension_interval(result, dimension)}"
        grade = found.grade.value if found.grade else inert(reasons.get(dimension, ""))
        yield f"| {dimension.value} | {100 * found.weight:.0f} % | {score} | {grade} |"
    yield ""
    yield "</details>"


def _footer(report: Report | Comparison) -> str:
    measured = f", {100 * report.coverage:.0f} % of the weight measured" if report.coverage is not None else ""
    version = f"skillgate {report.tool.version}, scoring {report.scoring_version}"
    return f"<sub>{report.depth.value} depth{measured}{_judged(report)} · {version}</sub>"


def _judged(report: Report | Comparison) -> str:
    if isinstance(report, Comparison):
        return ""
    parts = []
    if is_judged(report.results):
        from skillgate.report.judge_markdown import footer  # only where a judge was asked

        parts.append(footer(report))
    if is_simulated(report.results) or report.shard is not None or report.resumed is not None:
        from skillgate.report.simulated_markdown import footer as further  # only of such a run

        parts.append(further(report))
    return "".join(parts)


def render_compare(comparison: Comparison) -> str:
    """Write a comparison."""
    return "\n".join(_compare(comparison)) + "\n"


def _compare(comparison: Comparison) -> Iterator[str]:
    one, other = comparison.a, comparison.b
    yield from _warning((one, other))
    judged = {}
    if is_judged((one, other)):
        from skillgate.report.judge_compared import sides as judged_sides  # only where a judge was asked

        judged = judged_sides(comparison)
    yield f"### skillgate: {code(one.skill.path)} against {code(other.skill.path)}"
    yield ""
    yield "| | A | B | change |"
    yield "|---|--:|--:|--:|"
    scores = [_number(result.composite.score) for result in (one, other)]
    yield f"| **composite** | {scores[0]} | {scores[1]} | {_change(comparison.change)} |"
    badges = [badge_of(result) for result in (one, other)]
    yield f"| badge | {badges[0]} | {badges[1]} | |"
    for dimension, change in comparison.dimensions.items():
        sides = [_number(value, digits=4) for value in (change.a, change.b)]
        yield f"| {dimension.value} | {sides[0]} | {sides[1]} | {_change(change.change, digits=4)} |"
        if dimension in judged:
            estimates = judged[dimension]
            sides = [f"{_number(value, digits=4)}" for value in (estimates.a, estimates.b)]
            moved = " ".join(filter(None, (_change(estimates.change, digits=4), estimates.spread)))
            yield f"| — {estimates.label} | {sides[0]} | {sides[1]} | {moved} |"
    if is_simulated((one, other)):
        from skillgate.report.sampled_moves_markdown import compared  # only where sessions or matches were asked for

        yield from compared(one, other)
    for title, findings in (("Fixed", comparison.fixed), ("New", comparison.new)):
        if findings:
            yield ""
            yield f"**{title} in B**"
            yield ""
        for finding in findings:
            where = code(f"{finding.path}:{finding.line}")
            yield f"- {where} {finding.severity.value} {finding.id}: {inert(finding.message)}"
    for hint in comparison.hints:
        yield ""
        yield f"> {inert(hint)}"
    yield ""
    yield _footer(comparison)


def _number(value: float | None, *, digits: int = 2) -> str:
    return "—" if value is None else f"{value:.{digits}f}"


def _change(value: float | None, *, digits: int = 2) -> str:
    if value is None:
        return "—"
    return "=" if value == 0 else f"{'▲' if value > 0 else '▼'} {abs(value):.{digits}f}"


def render_diff(diff: Diff) -> str:
    """Write what differs between two reports."""
    from skillgate.report.diff_markdown import lines  # only where two reports are compared

    return "\n".join(lines(diff)) + "\n"
