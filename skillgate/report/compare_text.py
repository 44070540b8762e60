"""Two skills side by side as text for a terminal: scores, what each layer gave, findings, and the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import printable
from skillgate.model.score import Outcome
from skillgate.report.skill_block import answers_lines, finding_line, is_judged, is_simulated
from skillgate.report.tally import badge_with_errors
from skillgate.report.terminal import Style, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.documents import Comparison
    from skillgate.model.report import SkillResult

_NAMES = 25  # columns of what is compared
_NUMBERS = 8


def lines(comparison: Comparison, style: Style) -> Iterator[str]:
    """Write a comparison: the numbers side by side, then findings, hints and the gate."""
    a, b = comparison.a, comparison.b
    yield from answers_lines((a, b), style)
    yield from wrap(f"A  {printable(a.skill.path)}", style.width)
    yield from wrap(f"B  {printable(b.skill.path)}", style.width)
    yield ""
    yield style.paint(f"{'':{_NAMES}}{'A':>{_NUMBERS}}{'B':>{_NUMBERS + 1}}", "dim")
    yield _moved("composite", a.composite.score, b.composite.score, comparison.change, style, digits=2)
    badges = [badge_with_errors(result.composite.badge, 0) for result in (a, b)]
    yield f"{'badge':{_NAMES}}{badges[0]:>{_NUMBERS}} {badges[1]:>{_NUMBERS}}"
    yield f"{'errors':{_NAMES}}{a.errors:>{_NUMBERS}} {b.errors:>{_NUMBERS}}"
    yield from _dimensions(comparison, style)
    yield from _sampled(a, b, style)
    for title, findings in (("fixed", comparison.fixed), ("new", comparison.new)):
        for finding in findings:
            yield from wrap(f"{title}: {finding_line(finding, Style())}", style.width)
    for hint in comparison.hints:
        yield ""
        yield from wrap(f"hint: {printable(hint)}", style.width)
    for outcome in comparison.gate.outcomes:
        passed = outcome.verdict is Outcome.PASS
        yield style.paint(
            f"gate {'passed' if passed else 'FAILED'}: {printable(outcome.reason)}", "green" if passed else "red"
        )


def _dimensions(comparison: Comparison, style: Style) -> Iterator[str]:
    judged = {}
    if is_judged((comparison.a, comparison.b)):
        from skillgate.report.judge_compared import sides  # only where a judge was asked

        judged = sides(comparison)
    for dimension, change in comparison.dimensions.items():
        yield _moved(dimension.value, change.a, change.b, change.change, style)
        if dimension in judged:
            estimates = judged[dimension]
            moved = _moved(f"  {estimates.label}", estimates.a, estimates.b, estimates.change, style)
            yield f"{moved}  {estimates.spread}".rstrip()


def _sampled(a: SkillResult, b: SkillResult, style: Style) -> Iterator[str]:
    """Set what sessions, matches and lift measured side by side, and say of what is not compared why."""
    if not is_simulated((a, b)):
        return
    from skillgate.report.sampled_moves import change, name, number, reasons  # only where these were asked for
    from skillgate.report.simulated_compared import sampled_changes

    found = sampled_changes(a, b)
    for item in found:
        sides = "".join(f"{number(item.name, side.value):>{_NUMBERS}} " for side in (item.before, item.after))
        drawn = f"  {change(item)}" if item.change is not None else ""
        yield f"{name(item.name):{_NAMES}}{sides}{drawn}".rstrip()
    for reason in reasons(found):
        yield from wrap(printable(reason), style.width)


def _moved(name: str, a: float | None, b: float | None, change: float | None, style: Style, *, digits: int = 4) -> str:
    numbers = "".join(f"{'—' if value is None else f'{value:.{digits}f}':>{_NUMBERS}} " for value in (a, b))
    if change is None:
        return f"{name:{_NAMES}}{numbers}".rstrip()
    mark = "  =" if change == 0 else f"  {'▲' if change > 0 else '▼'} {abs(change):.{digits}f}"
    tone = () if change == 0 else ("green",) if change > 0 else ("red",)
    return f"{name:{_NAMES}}{numbers}{style.paint(mark, *tone)}"
