"""The report for a person at a terminal: worst first, why, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.finding import Severity
from skillgate.model.score import Badge, Outcome
from skillgate.model.text import printable
from skillgate.report.terminal import Style, columns, cut, pad, wrap
from skillgate.scoring.advice import most_valuable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.finding import Finding
    from skillgate.model.report import Advice, Comparison, Report, SkillResult

_INDENT = 9
_DETAILED = 5  # skills whose findings and advice are shown unless more is asked for
_ROWS = 20  # rows before "more" is said
_FINDINGS = 3
_SEVERITY = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}
_BADGE = {Badge.PLATINUM: "cyan", Badge.GOLD: "yellow", Badge.SILVER: "blue", Badge.BRONZE: "magenta"}
_BAR = 20


def render_score(report: Report, style: Style, *, verbose: bool = False, seconds: float | None = None) -> str:
    """Write a score report.

    Args:
        report: the report.
        style: width and colours.
        verbose: show every skill with all that is known of it.
        seconds: how long the run took, said in the last line when given.
    """
    return "\n".join(_lines(report, style, verbose=verbose, seconds=seconds)) + "\n"


def _lines(report: Report, style: Style, *, verbose: bool, seconds: float | None) -> Iterator[str]:
    ranked = worst_first(report.results)
    rows = len(ranked) if verbose or len(ranked) <= _ROWS + 5 else _ROWS
    detailed = len(ranked) if verbose else _DETAILED
    wide = min(
        max((columns(printable(item.skill.path)) for item in ranked[:rows]), default=5), max(16, style.width - 50)
    )
    if ranked:
        yield style.paint(f"  score  {pad('badge', 16)}  {pad('skill', wide)}  findings", "dim")
    for index, result in enumerate(ranked[:rows]):
        yield from _skill(result, style, wide=wide, detailed=index < detailed, full=verbose or len(ranked) == 1)
    if rows < len(ranked):
        best = ranked[rows].composite.score
        at_least = f", all at {best:.1f} or above" if best is not None else ""
        yield style.paint(f"         + {len(ranked) - rows} more skills{at_least} (-v shows every skill)", "dim")
    yield ""
    yield from wrap(_summary(report, seconds), style.width)
    yield from gate_lines(report, style)


def worst_first(results: Sequence[SkillResult]) -> list[SkillResult]:
    """Order results: those without a score first, then by falling trouble; ties by path."""

    def key(result: SkillResult) -> tuple[bool, float, str]:
        score = result.composite.score
        return score is not None, score or 0.0, result.skill.path

    return sorted(results, key=key)


def _skill(result: SkillResult, style: Style, *, wide: int, detailed: bool, full: bool) -> Iterator[str]:
    yield _row(result, style, wide)
    if not detailed:
        return
    if full:
        yield from _dimensions(result, style)
    yield from _findings(result, style, most=len(result.findings) if full else _FINDINGS)
    yield from _advice(result.advice if full and style.width > 40 else most_valuable(result.advice), style, full=full)
    if result.composite.badge_reason and result.composite.score is not None:
        yield from _hanging("badge", result.composite.badge_reason, style, "dim")
    elif result.composite.reason:
        yield from _hanging("reason", result.composite.reason, style, "red")


def _row(result: SkillResult, style: Style, wide: int) -> str:
    score, badge = result.composite.score, result.composite.badge
    number = style.paint(f"{score:7.1f}", *_tone(score)) if score is not None else style.paint("      —", "red")
    label = f"{badge.value} {badge.stars}" if badge else "—"
    shown = style.paint(pad(label, 16), _BADGE[badge]) if badge else pad(label, 16)
    path = pad(cut(printable(result.skill.path), wide), wide)
    return f"{number}  {shown}  {style.paint(path, 'bold')}  {counts(result.findings)}".rstrip()


def _tone(score: float) -> tuple[str, ...]:
    return ("green",) if score >= 80 else ("yellow",) if score >= 60 else ("red",)


def counts(findings: Sequence[Finding]) -> str:
    """Count findings in words, as in ``2 errors, 1 warning``; empty for none."""
    found = []
    for severity in Severity:
        number = sum(1 for finding in findings if finding.severity is severity)
        if number:
            found.append(f"{number} {severity.value}{'s' * (number != 1)}")
    return ", ".join(found)


def _dimensions(result: SkillResult, style: Style) -> Iterator[str]:
    names = max((len(key.value) for key in result.dimensions), default=0)
    for key, found in result.dimensions.items():
        weight = f"{found.weight:4.0%}"
        if found.score is None:
            if style.width >= 80:
                shown = cut(found.reason or "", max(20, style.width - names - _INDENT - 14))
                yield style.paint(f"{'':{_INDENT}}{key.value:{names}} {weight}     —  {shown}", "dim")
            else:
                yield style.paint(f"{'':{_INDENT}}{key.value:{names}} {weight}     —", "dim")
            continue
        grade = found.grade.value if found.grade else ""
        filled = round(found.score * _BAR)
        bar = "█" * filled + "░" * (_BAR - filled)
        tone = _tone(found.score * 100)
        ends = f"  {style.paint(bar, *tone)}" if style.width >= 80 else ""
        yield f"{'':{_INDENT}}{key.value:{names}} {weight}  {found.score:.2f} {style.paint(grade, *tone)}{ends}"


def _findings(result: SkillResult, style: Style, *, most: int) -> Iterator[str]:
    shown = result.findings[:most]
    places = [f"{finding.path.name}:{finding.line}" for finding in shown]
    wide = max((columns(printable(place)) for place in places), default=0)
    for place, finding in zip(places, shown, strict=True):
        name = finding.severity.value
        head = f"{'':{_INDENT}}{pad(printable(place), wide)}  {name:8} {finding.id:18} "
        message = printable(finding.message)
        if style.width < 80:
            yield f"{'':{_INDENT}}{printable(place)} {style.paint(name, _SEVERITY[finding.severity])} {finding.id}"
            yield from (f"{'':{_INDENT + 2}}{line}" for line in wrap(message, max(20, style.width - _INDENT - 2)))
            continue
        lines = wrap(message, max(20, style.width - len(head)))
        yield head.replace(f"  {name:8}", "  " + style.paint(f"{name:8}", _SEVERITY[finding.severity]), 1) + lines[0]
        yield from (" " * len(head) + line for line in lines[1:])
    if len(result.findings) > most:
        rest = counts(result.findings[most:])
        yield style.paint(f"{'':{_INDENT}}+ {rest} more (skillgate check {printable(result.skill.path)})", "dim")


def _advice(advice: Sequence[Advice], style: Style, *, full: bool) -> Iterator[str]:
    for index, item in enumerate(advice if full else advice[:3]):
        label = "do next" if index == 0 else ""
        gain = f"{item.gain:+.1f}" if abs(item.gain) >= 0.05 else f"{item.gain:+.2f}"
        moved = ""
        if item.dimension is not None and item.before is not None and item.after is not None:
            moved = f"({item.dimension.value} {item.before:.2f} → {item.after:.2f}"
            moved += f"; {item.removes} anti-pattern{'s' * (item.removes != 1)} less)" if item.removes else ")"
        elif item.removes:
            moved = f"({item.removes} anti-pattern{'s' * (item.removes != 1)} less)"
        head = f"{'':{_INDENT}}{label:8}{gain:>6}  "
        lines = wrap(f"{printable(item.action)} {moved}", max(20, style.width - len(head)))
        painted = f"{'':{_INDENT}}{style.paint(f'{label:8}', 'cyan')}{style.paint(f'{gain:>6}', 'green')}  "
        yield painted + lines[0]
        yield from (" " * len(head) + line for line in lines[1:])


def _hanging(label: str, text: str, style: Style, tone: str) -> Iterator[str]:
    head = f"{'':{_INDENT}}{label:8}  "
    lines = wrap(printable(text), max(20, style.width - len(head)))
    yield style.paint(head + lines[0], tone)
    yield from (style.paint(" " * len(head) + line, tone) for line in lines[1:])


def _summary(report: Report, seconds: float | None) -> str:
    summary = report.summary
    parts = [f"{summary.skills} skill{'s' * (summary.skills != 1)}"]
    if summary.not_evaluated:
        parts.append(f"{summary.not_evaluated} not evaluated")
    if summary.lowest is not None and summary.skills > 1:
        parts.append(f"lowest {summary.lowest:.1f}, median {summary.median:.1f}")
    badges = [f"{count} {name}" for name, count in summary.by_badge.items() if count and name != "none"]
    if summary.by_badge.get("none"):
        badges.append(f"{summary.by_badge['none']} without a badge")
    parts.append(", ".join(badges) or "no badge")
    if report.coverage is not None:
        parts.append(
            f"{report.depth.value} depth measures {report.coverage:.0%} of the weight (judge and simulations not run)"
        )
    if seconds is not None:
        parts.append(f"{seconds:.2f} s")
    return " · ".join(parts)


def gate_lines(report: Report, style: Style) -> Iterator[str]:
    """Say what the gate decided: nothing where none was asked, one line when passed, a line for each failure."""
    if report.gate.passed is None:
        return
    failed = [result for result in worst_first(report.results) if result.gate.passed is False]
    if not failed:
        yield style.paint("gate passed", "green")
        return
    total = len(report.results)
    yield style.paint(f"gate FAILED: {len(failed)} of {total} skill{'s' * (total != 1)}", "red", "bold")
    for result in failed[:_ROWS]:
        reasons = "; ".join(failures(result))
        yield from (
            f"  {line}" for line in wrap(f"{printable(result.skill.path)}: {printable(reasons)}", style.width - 2)
        )
    if len(failed) > _ROWS:
        yield f"  + {len(failed) - _ROWS} more"


def failures(result: SkillResult) -> list[str]:
    """List the reasons of the gates that did not pass."""
    return [outcome.reason for outcome in result.gate.outcomes if outcome.verdict is not Outcome.PASS]


def render_check(report: Report, style: Style, *, verbose: bool = False, seconds: float | None = None) -> str:
    """Write findings, one a line as ``path:line:column: severity ID message``, then the verdict.

    The fix of a rule stands below its first finding.
    """
    lines: list[str] = []
    fixed: set[str] = set()
    for result in report.results:
        if not result.evaluated:
            path, reason = printable(result.skill.path), printable(result.composite.reason or "")
            lines.append(f"{path}: {style.paint('error', 'red')} {reason}")
        for finding in result.findings:
            lines.append(_finding_line(finding, style))
            if finding.id not in fixed or verbose:
                fixed.add(finding.id)
                hint = style.paint(f"skillgate explain {finding.id}", "dim")
                lines.append(f"    fix: {printable(finding.fix)}      {hint}")
    lines += wrap(_check_summary(report, seconds), style.width)
    lines += gate_lines(report, style) if report.gate.passed is False else []
    return "\n".join(lines) + "\n"


def _finding_line(finding: Finding, style: Style) -> str:
    place = f"{printable(str(finding.path))}:{finding.line}:{finding.column}:"
    severity = style.paint(finding.severity.value, _SEVERITY[finding.severity])
    return f"{place} {severity} {finding.id} {printable(finding.message)}"


def _check_summary(report: Report, seconds: float | None) -> str:
    summary = report.summary
    skills = f"{summary.skills} skill{'s' * (summary.skills != 1)}"
    touched = [result for result in report.results if result.findings]
    found = counts([finding for result in touched for finding in result.findings])
    text = f"{found} in {len(touched)} of {skills}." if found else f"No findings in {skills}."
    if summary.not_evaluated:
        text += f" {summary.not_evaluated} not evaluated."
    if touched:
        worst = worst_first(touched)[0]
        text += f" {_score_in_words(worst, named=summary.skills > 1)}"
    return text if seconds is None else f"{text} {seconds:.2f} s"


def _score_in_words(result: SkillResult, *, named: bool) -> str:
    name = f"{printable(result.skill.path)} " if named else ""
    score, badge = result.composite.score, result.composite.badge
    if score is None:
        return f"{name}has no score: {printable(result.composite.reason or '')}."
    text = f"{'Lowest: ' if named else 'Score '}{name}{score:.1f} ({badge.value if badge else 'no badge'})"
    gain = sum(advice.gain for advice in result.advice if advice.removes)
    return f"{text}; what is flagged costs about {gain:.0f} points." if gain >= 1 else f"{text}."


def render_compare(comparison: Comparison, style: Style, *, verbose: bool = False, seconds: float | None = None) -> str:
    """Write a comparison; ``verbose`` and ``seconds`` change nothing in it."""
    del verbose, seconds
    return "\n".join(_compared(comparison, style)) + "\n"


def _compared(comparison: Comparison, style: Style) -> Iterator[str]:
    a, b = comparison.a, comparison.b
    yield from wrap(f"A  {printable(a.skill.path)}", style.width)
    yield from wrap(f"B  {printable(b.skill.path)}", style.width)
    yield ""
    yield style.paint(f"{'':25}{'A':>8}{'B':>9}", "dim")
    yield _moved("composite", a.composite.score, b.composite.score, comparison.change, style)
    badges = [result.composite.badge.value if result.composite.badge else "—" for result in (a, b)]
    yield f"{'badge':25}{badges[0]:>8} {badges[1]:>8}"
    for dimension, change in comparison.dimensions.items():
        yield _moved(dimension.value, change.a, change.b, change.change, style)
    for title, findings in (("fixed", comparison.fixed), ("new", comparison.new)):
        for finding in findings:
            yield from wrap(f"{title}: {_finding_line(finding, Style())}", style.width)
    for hint in comparison.hints:
        yield ""
        yield from wrap(f"hint: {hint}", style.width)
    for outcome in comparison.gate.outcomes:
        passed = outcome.verdict is Outcome.PASS
        yield style.paint(
            f"gate {'passed' if passed else 'FAILED'}: {printable(outcome.reason)}", "green" if passed else "red"
        )


def _moved(name: str, a: float | None, b: float | None, change: float | None, style: Style) -> str:
    numbers = "".join(f"{'—' if value is None else f'{value:.2f}':>8} " for value in (a, b))
    if change is None:
        return f"{name:25}{numbers}".rstrip()
    mark = "  =" if change == 0 else f"  {'▲' if change > 0 else '▼'} {abs(change):.2f}"
    tone = () if change == 0 else ("green",) if change > 0 else ("red",)
    return f"{name:25}{numbers}{style.paint(mark, *tone)}"


RENDERERS = {"score": render_score, "check": render_check, "compare": render_compare}
