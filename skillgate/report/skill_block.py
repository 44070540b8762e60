"""One skill of a text report: its row, dimensions, findings, advice, and what held the next badge back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import plural, printable
from skillgate.model.finding import Severity
from skillgate.model.layers import JudgeLayer, MonteCarloLayer, RankingLayer
from skillgate.model.score import Badge
from skillgate.report.tally import badge_of, counts
from skillgate.report.terminal import NARROW, Style, columns, cut, hanging, margin, pad, wrap
from skillgate.scoring.result import most_valuable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillgate.model.finding import Finding
    from skillgate.model.report import Advice, DimensionScore, SkillResult
    from skillgate.model.score import Dimension

FEW = 3  # findings and pieces of advice that are shown unless all are asked for
SEVERITY_TONE = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}
_BADGE_TONE = {Badge.PLATINUM: "cyan", Badge.GOLD: "yellow", Badge.SILVER: "blue", Badge.BRONZE: "magenta"}
_BAR = 20
_LONG = 40  # characters of a reason from which on it is not said twice


def block(result: SkillResult, style: Style, *, dimensions: bool, everything: bool) -> Iterator[str]:
    """Write what is known of one skill below its row."""
    if dimensions:
        yield from _dimensions(result, style)
    yield from _findings(result, style, most=len(result.findings) if everything else FEW)
    yield from _judged(result, style, everything=everything)
    yield from _sampled(result, style, everything=everything)
    yield from _advice(result.advice if everything else most_valuable(result.advice, FEW), style)
    left = 0 if everything else len(result.advice) - FEW
    if left > 0 and dimensions:
        yield style.paint(f"{margin(style)}{'':8}+ {left} smaller ones (-v shows them)", "dim")
    if result.composite.score is not None and (badge := _badge(result)):
        yield from hanging("badge", badge, style, "dim")
    elif result.composite.reason:
        yield from hanging("reason", result.composite.reason, style, "red")


def _judged(result: SkillResult, style: Style, *, everything: bool) -> Iterator[str]:
    if is_judged((result,)):
        from skillgate.report.judge_text import judge_block, judge_lines  # only where a judge was asked

        yield from judge_block(result, style) if everything else judge_lines(result, style)


def _sampled(result: SkillResult, style: Style, *, everything: bool) -> Iterator[str]:
    if is_simulated((result,)):
        from skillgate.report.simulated_text import sampled_block  # only where sessions, matches or lift were asked for

        yield from sampled_block(result, style, everything=everything)


def _badge(result: SkillResult) -> str:
    """Say what held the next badge back, and how an Elo stands to it."""
    reason = result.composite.badge_reason or ""
    if is_simulated((result,)):
        from skillgate.report.ranking_words import elo_condition  # only where sessions, matches or lift were asked for

        return "; ".join(filter(None, (reason, elo_condition(result))))
    return reason


def is_simulated(results: Iterable[SkillResult]) -> bool:
    """Tell whether sessions, matches or lift were asked for, of any of some skills."""
    return any(
        result.lift is not None or any(isinstance(layer, MonteCarloLayer | RankingLayer) for layer in result.layers)
        for result in results
    )


def is_judged(results: Iterable[SkillResult]) -> bool:
    """Tell whether a judge was asked about any of some skills."""
    return any(isinstance(layer, JudgeLayer) for result in results for layer in result.layers)


def answers_lines(results: Sequence[SkillResult], style: Style | None = None) -> list[str]:
    """Warn of answers that no model gave, before anything else is said; nothing where there are none.

    Without a style it is one line.
    """
    if not is_judged(results) and not is_simulated(results):
        return []
    from skillgate.report.judge_words import answers_warning  # only where a model was asked

    warning = printable(answers_warning(results))
    if not warning or style is None:
        return [warning] if warning else []
    return [style.paint(line, "red", "bold") for line in wrap(warning, style.width)]


def row(result: SkillResult, style: Style, wide: int, *, badge_wide: int) -> str:
    """Write one skill's line of the table."""
    score, badge = result.composite.score, result.composite.badge
    number = style.paint(f"{score:7.2f}", *_tone(score)) if score is not None else style.paint("      —", "red")
    label = pad(badge_of(result, stars=True), badge_wide)
    shown = style.paint(label, "red" if result.errors else _BADGE_TONE[badge]) if badge else label
    path = pad(cut(printable(result.skill.path), wide), wide)
    found = f"  {counts(result.findings)}" if style.width >= NARROW else ""
    return f"{number}  {shown}  {style.paint(path, 'bold')}{found}".rstrip()


def _tone(score: float) -> tuple[str, ...]:
    return ("green",) if score >= 80 else ("yellow",) if score >= 60 else ("red",)


def _dimensions(result: SkillResult, style: Style) -> Iterator[str]:
    names = max((len(key.value) for key in result.dimensions), default=0)
    gap = "  " if style.width >= NARROW else " "
    reasons = gap_reasons(result)
    for key, found in result.dimensions.items():
        head = f"{margin(style)}{key.value:{names}} {100 * found.weight:3.0f} %"
        if found.score is None:
            head = f"{head}{gap}   —  "
            lines = wrap(printable(reasons[key]), max(20, style.width - len(head))) if style.width >= NARROW else [""]
            yield style.paint(f"{head}{lines[0]}".rstrip(), "dim")
            yield from (style.paint(" " * len(head) + line, "dim") for line in lines[1:])
            continue
        grade = found.grade.value if found.grade else ""
        filled = round(found.score * _BAR)
        tone = _tone(found.score * 100)
        bar = style.paint("█" * filled + "░" * (_BAR - filled), *tone)
        interval = _interval(found)
        fits = style.width >= NARROW and len(head) + len(gap) + 8 + 2 + _BAR + len(interval) <= style.width
        ends = f"  {bar}" if fits or (style.width >= NARROW and not interval) else ""
        yield f"{head}{gap}{found.score:.4f} {style.paint(grade, *tone)}{ends}{interval}"


def gap_reasons(result: SkillResult) -> dict[Dimension, str]:
    """Say why each dimension without a score has none; a long reason once, the others are as the first that has it.

    What is the reason why the skill has no score stands by itself, and is not said again.
    """
    whole = (result.composite.reason or "") if result.composite.score is None else ""
    explained = False
    first: dict[str, Dimension] = {}
    words = {}
    for key, found in result.dimensions.items():
        if found.score is not None:
            continue
        reason = found.reason or ""
        before = first.setdefault(reason, key)
        if whole and reason and _bare(reason) in whole:
            word = "judged" if whole.startswith("not judged") else "measured"
            words[key], explained = "" if explained else f"not {word}: see the reason", True
        else:
            words[key] = reason if before is key or len(reason) <= _LONG else f"as {before.value}"
    return words


def _bare(reason: str) -> str:
    """Leave out what a reason says before it says why."""
    return reason.removeprefix("not judged: ").removeprefix("stopped: ")


def _interval(found: DimensionScore) -> str:
    if found.ci_low is None or found.ci_high is None:
        return ""
    from skillgate.report.judge_words import sure  # only where something was sampled

    return f"  {sure(found.score, found.ci_low, found.ci_high)}"


def _findings(result: SkillResult, style: Style, *, most: int) -> Iterator[str]:
    shown = result.findings[:most]
    places = [printable(f"{finding.path.name}:{finding.line}") for finding in shown]
    wide = max((columns(place) for place in places), default=0)
    for place, finding in zip(places, shown, strict=True):
        name = finding.severity.value
        tone = SEVERITY_TONE[finding.severity]
        if style.width < NARROW:
            yield f"{margin(style)}{place} {style.paint(name, tone)} {finding.id}"
            yield from (f"    {line}" for line in wrap(printable(finding.message), style.width - 4))
            continue
        indent = len(margin(style)) + wide + 2 + 8 + 1 + 18 + 1
        lines = wrap(printable(finding.message), max(20, style.width - indent))
        yield f"{margin(style)}{pad(place, wide)}  {style.paint(f'{name:8}', tone)} {finding.id:18} {lines[0]}"
        yield from (" " * indent + line for line in lines[1:])
    if len(result.findings) > most:
        rest = counts(result.findings[most:])
        yield style.paint(f"{margin(style)}+ {rest} (skillgate check {printable(result.skill.path)})", "dim")


def _advice(advice: Sequence[Advice], style: Style) -> Iterator[str]:
    for index, item in enumerate(advice):
        label = "do next" if index == 0 else ""
        gain = f"{item.gain:+.1f}" if abs(item.gain) >= 0.05 else f"{item.gain:+.2f}"
        indent = len(margin(style)) + 8 + 6 + 2
        lines = wrap(f"{printable(item.action)} ({_brings(item)})", max(20, style.width - indent))
        yield f"{margin(style)}{style.paint(f'{label:8}', 'cyan')}{style.paint(f'{gain:>6}', 'green')}  {lines[0]}"
        yield from (" " * indent + line for line in lines[1:])


def _brings(item: Advice) -> str:
    parts = []
    if item.dimension is not None and item.before is not None and item.after is not None:
        parts.append(f"{item.dimension.value} {item.before:.2f} → {item.after:.2f}")
    if item.removes:
        parts.append(f"{plural(item.removes, 'anti-pattern')} less")
    return "; ".join([*parts, f"{item.effort} effort"])


def finding_line(finding: Finding, style: Style) -> str:
    """Write a finding on one line: its place, severity, id and message, and the tool it comes from if another."""
    place = f"{printable(str(finding.path))}:{finding.line}:{finding.column}:"
    severity = style.paint(finding.severity.value, SEVERITY_TONE[finding.severity])
    by = "" if finding.tool == "skillgate" else f" [{printable(finding.tool)}]"
    return f"{place} {severity} {printable(finding.id)} {printable(finding.message)}{by}"
