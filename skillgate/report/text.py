"""Reports as text for a person at a terminal: worst first, why, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import plural, printable
from skillgate.model.finding import Severity
from skillgate.model.report import StaticLayer
from skillgate.model.score import Depth, Outcome
from skillgate.report.skill_block import answers_lines, block, finding_line, is_judged, is_simulated, row
from skillgate.report.tally import badge_of, counts, spread_of, unread, without_text, worst_first
from skillgate.report.terminal import NARROW, Style, columns, pad, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.model.documents import Comparison, Diff
    from skillgate.model.finding import Suppressed
    from skillgate.model.report import Report, SkillResult
    from skillgate.report.tally import Unread

_DETAILED = 5  # skills whose findings and advice are shown unless more is asked for
_ROWS = 20  # rows before "more" is said


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
    yield from answers_lines(report.results, style)
    textless = () if verbose else without_text(report.results)
    grouped = {path for group in textless for path in group.paths}
    ranked = [item for item in worst_first(report.results) if item.evaluated and item.skill.path not in grouped]
    rows = len(ranked) if verbose or len(ranked) <= _ROWS + 5 else _ROWS
    counts_width = (
        max((len(counts(item.findings)) for item in ranked[:rows]), default=0) if style.width >= NARROW else 0
    )
    badge_wide = max((16, *(columns(badge_of(item, stars=True)) for item in ranked[:rows])))
    room = style.width - 13 - badge_wide - counts_width
    longest = max((columns(printable(item.skill.path)) for item in ranked[:rows]), default=5)
    wide = min(longest, max(12, room))
    if ranked:
        titles = f"  score  {pad('badge', badge_wide)}  {pad('skill', wide)}  {'findings' if counts_width else ''}"
        yield style.paint(titles.rstrip(), "dim")
    for index, result in enumerate(ranked[:rows]):
        yield row(result, style, wide, badge_wide=badge_wide)
        if verbose or index < _DETAILED:
            yield from block(result, style, dimensions=verbose or len(report.results) == 1, everything=verbose)
    if rows < len(ranked):
        least = min((item.composite.score or 0.0 for item in ranked[rows:]), default=0.0)
        at_least = f", all at {least:.2f} or above" if least > 0 else ""
        clean = "" if any(item.errors for item in ranked[rows:]) else " without errors"
        yield style.paint(f"         + {len(ranked) - rows} more skills{clean}{at_least} (-v shows every skill)", "dim")
    yield from _groups("errors, no text to score", textless, style, verbose=verbose)
    yield from _groups("not evaluated", unread(report.results), style, verbose=verbose)
    yield from (f"  {finding_line(finding, style)}" for finding in report.outside[:_ROWS])
    yield ""
    yield from _across(report, style)
    yield from wrap(_summary(report, seconds), style.width)
    if report.shard is not None or report.resumed is not None:
        from skillgate.report.resumed_words import part_of  # only of such a run

        yield from wrap(printable(part_of(report)), style.width)
    yield from _in_doubt(report, style)
    yield from gate_lines(report, style)


def _groups(title: str, groups: Sequence[Unread], style: Style, *, verbose: bool) -> Iterator[str]:
    """List skills that could not be read, a line or two for each reason."""
    if not groups:
        return
    yield style.paint(f"  {title}: {sum(len(group.paths) for group in groups)}", "red")
    for group in groups if verbose else groups[:_DETAILED]:
        shown = group.paths if verbose else group.named()
        left = len(group.paths) - len(shown)
        more = f" and {left} more (-v shows every skill)" if left else ""
        named = ", ".join(map(printable, shown))
        head = f"  {len(group.paths):7}  "
        lines = wrap(f"{printable(group.reason)}: {named}{more}", style.width - len(head))
        yield from (f"{head if index == 0 else ' ' * len(head)}{line}" for index, line in enumerate(lines))
    if not verbose and len(groups) > _DETAILED:
        yield f"         + {len(groups) - _DETAILED} more reasons (-v shows them)"


def _in_doubt(report: Report, style: Style) -> Iterator[str]:
    """Say what a verdict alone would hide: a judge that people do not bear out, and drops that may be chance."""
    if not is_judged(report.results):
        return
    from skillgate.report.judge_doubt import distrust, dropped  # only where a judge was asked

    if reason := distrust(report.calibration):
        yield from (style.paint(line, "yellow", "bold") for line in wrap(printable(reason), style.width))
    found = dropped(worst_first(report.results))
    for result, reason in found[:_ROWS]:
        text = f"{printable(result.skill.path)}: {printable(reason)}"
        yield from (style.paint(line, "yellow") for line in wrap(text, style.width))
    if len(found) > _ROWS:
        yield f"+ {len(found) - _ROWS} more drops that are inconclusive"


def _across(report: Report, style: Style) -> list[str]:
    if report.across is None and not any(use.before is not None for use in report.listing):
        return []
    from skillgate.report.across import change_lines  # only beside a baseline

    return [row for line in change_lines(report) for row in wrap(printable(line), style.width)]


def _lowest(result: SkillResult) -> tuple[bool, float, str]:
    score = result.composite.score
    return score is not None, score or 0.0, result.skill.path


def _summary(report: Report, seconds: float | None) -> str:
    summary = report.summary
    parts = [f"{plural(summary.skills, 'skill')}"]
    if summary.found is not None and summary.found > summary.skills:
        parts = [f"{summary.skills} of {summary.found} skills changed"]
    if summary.not_evaluated:
        parts.append(f"{summary.not_evaluated} not evaluated")
    parts.append(spread_of(report.results))
    if report.outside:
        parts.append(f"{counts(report.outside)} outside the skills")
    if summary.lowest is not None and summary.skills > 1:
        parts.append(f"lowest {summary.lowest:.2f}, median {summary.median:.2f}")
    badges = [f"{count} {name}" for name, count in summary.by_badge.items() if count and name != "none"]
    if summary.by_badge.get("none"):
        badges.append(f"{summary.by_badge['none']} without a badge")
    if badges:
        parts.append(", ".join(badges))
    if report.coverage is not None:
        share = f"{100 * report.coverage:.0f} %"
        idle = {Depth.QUICK: " (judge and simulations not run)", Depth.STANDARD: " (simulations not run)"}
        parts.append(f"{report.depth.value} depth measures {share} of the weight{idle.get(report.depth, '')}")
    if is_simulated(report.results):
        from skillgate.report.simulated_words import run_in_words as simulated  # only where sessions were asked for

        parts += map(printable, simulated(report.results))
    if is_judged(report.results):
        from skillgate.report.judge_doubt import trusted  # only where a judge was asked
        from skillgate.report.judge_words import run_in_words

        parts += map(printable, filter(None, (*run_in_words(report), trusted(report.calibration))))
    if summary.suppressed:
        parts.append(suppressed_in_words(summary.suppressed))
    if seconds is not None:
        parts.append(f"{seconds:.2f} s")
    return " · ".join(parts)


def gate_lines(report: Report, style: Style) -> Iterator[str]:
    """Say what the gate decided: nothing where none was asked, one line when passed, a line for each failure."""
    if report.gate.passed is None:
        if report.summary.not_evaluated and any(result.gate.passed is not None for result in report.results):
            yield style.paint("gate undecided: not every skill could be evaluated", "red")
        return
    failed = [result for result in worst_first(report.results) if result.gate.passed is False]
    if report.gate.passed:
        yield style.paint("gate passed", "green")
        return
    if outside := blamed_outside(report):
        yield style.paint(f"gate FAILED: {printable('; '.join(outside))}", "red", "bold")
    if not failed:
        return
    total = len(report.results)
    yield style.paint(f"gate FAILED: {len(failed)} of {plural(total, 'skill')}", "red", "bold")
    read = [result for result in failed if result.evaluated]
    for result in read[:_ROWS]:
        reasons = "; ".join(failures(result))
        yield from (
            f"  {line}" for line in wrap(f"{printable(result.skill.path)}: {printable(reasons)}", style.width - 2)
        )
    if len(read) > _ROWS:
        yield f"  + {len(read) - _ROWS} more"
    if len(failed) > len(read):
        yield f"  {len(failed) - len(read)} that could not be evaluated"


def blamed_outside(report: Report) -> list[str]:
    """List the reasons of the gates that did not pass by what belongs to no skill."""
    return [outcome.reason for outcome in report.gate.outcomes if outcome.verdict is not Outcome.PASS]


def failures(result: SkillResult) -> list[str]:
    """List the reasons of the gates that did not pass."""
    return [outcome.reason for outcome in result.gate.outcomes if outcome.verdict is not Outcome.PASS]


def render_check(report: Report, style: Style, *, verbose: bool = False, seconds: float | None = None) -> str:
    """Write findings, one a line as ``path:line:column: severity ID message``, then the verdict.

    The fix of a rule stands below its first finding in each skill. Infos are counted, and shown with ``verbose``.
    """
    lines = list(answers_lines(report.results, style))
    fixed: set[tuple[str, str]] = set()
    for result in report.results:
        if not result.evaluated:
            path, reason = printable(result.skill.path), printable(result.composite.reason or "")
            lines.append(f"{path}: {style.paint('error', 'red')} {reason}")
        for finding in result.findings:
            if finding.severity is Severity.INFO and not verbose:
                continue
            lines.append(finding_line(finding, style))
            key = (result.skill.path, finding.id)
            if finding.tool == "skillgate" and (key not in fixed or verbose):
                fixed.add(key)
                hint = style.paint(f"skillgate explain {finding.id}", "dim")
                lines.append(f"    fix: {printable(finding.fix)}      {hint}")
        lines += [_suppressed_line(item) for item in result.suppressed] if verbose else []
    lines += [finding_line(finding, style) for finding in report.outside]
    lines += _across(report, style)
    lines += wrap(_check_summary(report, seconds, verbose=verbose), style.width)
    lines += gate_lines(report, style) if _says_more(report) else []
    return "\n".join(lines) + "\n"


def _says_more(report: Report) -> bool:
    """Tell whether a failed gate is about more than the findings that stand above it already."""
    outcomes = [outcome for result in report.results for outcome in result.gate.outcomes if result.gate.passed is False]
    shown = {"error", "warning"}
    return report.gate.passed is False and any(
        outcome.gate not in shown for outcome in outcomes if outcome.verdict is not Outcome.PASS
    )


def _suppressed_line(item: Suppressed) -> str:
    until = f" until {item.until}" if item.until else ""
    why = f": {item.reason}" if item.reason else ""
    return f"{finding_line(item.finding, Style())} (suppressed, {item.by}{printable(until + why)})"


def _check_summary(report: Report, seconds: float | None, *, verbose: bool) -> str:
    summary = report.summary
    changed = "changed " if summary.found is not None and summary.found > summary.skills else ""
    skills = f"{plural(summary.skills, f'{changed}skill')}"
    skills += f" ({summary.found} in all)" if changed else ""
    touched = [result for result in report.results if result.findings]
    found = counts([finding for result in touched for finding in result.findings])
    text = f"{found} in {len(touched)} of {skills}." if found else f"No findings in {skills}."
    if summary.findings.get("info") and not verbose:
        text += " -v shows the infos."
    if report.outside:
        text += f" {counts(report.outside)} outside the skills."
    if summary.not_evaluated:
        text += f" {summary.not_evaluated} not evaluated."
    if summary.suppressed:
        text += f" {suppressed_in_words(summary.suppressed)}."
    if touched:
        worst = min(touched, key=_lowest)
        text += f" {_score_in_words(worst, named=summary.skills > 1)}"
    return text if seconds is None else f"{text} {seconds:.2f} s"


def suppressed_in_words(suppressed: Mapping[str, int]) -> str:
    """Say how many findings were set aside, and by what."""
    parts = [f"{count} by {by}" if by != "known" else f"{count} known" for by, count in sorted(suppressed.items())]
    return f"{sum(suppressed.values())} suppressed ({', '.join(parts)})"


def _score_in_words(result: SkillResult, *, named: bool) -> str:
    name = f"{printable(result.skill.path)} " if named else ""
    score = result.composite.score
    if score is None:
        return f"{name}has no score: {printable(result.composite.reason or '')}."
    text = f"{'Lowest: ' if named else 'Score '}{name}{score:.2f} ({badge_of(result, none='no badge')})"
    gain = next((layer.recoverable for layer in result.layers if isinstance(layer, StaticLayer)), 0.0)
    return f"{text}; mending what is flagged brings about {score + gain:.0f}." if gain >= 1 else f"{text}."


def render_compare(comparison: Comparison, style: Style, *, verbose: bool = False, seconds: float | None = None) -> str:
    """Write a comparison; ``verbose`` and ``seconds`` change nothing in it."""
    from skillgate.report.compare_text import lines  # only where two skills are compared

    del verbose, seconds
    return "\n".join(lines(comparison, style)) + "\n"


def render_diff(diff: Diff, style: Style, *, verbose: bool = False, seconds: float | None = None) -> str:
    """Write what differs between two reports; ``verbose`` shows every skill that differs and all its findings."""
    from skillgate.report.diff_text import lines  # only where two reports are compared

    del seconds
    return "\n".join(lines(diff, style, verbose=verbose)) + "\n"
