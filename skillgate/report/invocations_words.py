"""What every format says of recorded invocations: figures, tiers, trends and gates in words."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from skillgate.format import apart, plural
from skillgate.format import signed as signed_change
from skillgate.model.invocation import Component, Direction, Tier
from skillgate.report.findings import bounded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from skillgate.model.invocation import (
        GateCheck,
        Interval,
        InvocationReport,
        InvocationTrend,
        Opportunity,
        SkillFigures,
    )

NOTHING = "—"
LEAST = 5  # rated invocations before a skill is listed, or a window of a trend counts. Source: the rubric's queries
WEAK = 0.7
"""Share of its points below which a component is weak. Source: the rubric's query for improvement opportunities."""
LOW = 0.5
"""Below it a component is very weak. Source: the rubric's levels of advice, of shares instead of points."""
UNRATED = "unrated"
TONES = {
    Tier.EXCELLENT: "good",
    Tier.GOOD: "good",
    Tier.ACCEPTABLE: "fair",
    Tier.BELOW_AVERAGE: "poor",
    Tier.POOR: "poor",
    Tier.FAILING: "poor",
}
"""The class of a tier's colour."""
ARROWS = {Direction.IMPROVING: "↗", Direction.DECLINING: "↘", Direction.STABLE: "→", None: "·"}
"""What a trend looks like; None has too few rated invocations."""
BROKEN, UNDECIDED, TOO_FEW = ("failed", "triggered"), ("no_data", "unmeasured"), "insufficient_data"
"""Outcomes of gates that are acted on, those that leave a gap, and that of a trigger which cannot go off yet."""
_NAME = 60  # characters of the name of a gate
_GATES = 3  # of a headline
_METHODS = 5
_LITTLE = 1e-6  # per cent: less than one of the most that a store holds
_ORDER = (*BROKEN, *UNDECIDED, "passed", "clear", TOO_FEW)


def average(value: float | None) -> str:
    """Write a total with one decimal, or with as many as keep it below what it does not reach: 69.96 is not 70."""
    return NOTHING if value is None else apart(value, (math.ceil(value),), 1)


def share(value: float | None) -> str:
    """Write a ratio as a whole percentage, or with as many decimals as keep it on its side of weak."""
    return NOTHING if value is None else f"{apart(100 * value, (100 * LOW, 100 * WEAK), 0)} %"


def rate(value: float | None) -> str:
    """Write a ratio, as in ``4.2 %``, or with as many decimals as keep it from a 0 or a 100 that it is not."""
    return NOTHING if value is None else f"{apart(100 * value, (_LITTLE, 100), 1)} %"


def interval(found: Interval | None) -> str:
    """Write the ends of an interval of averages, ``""`` where there is none."""
    return "" if found is None else f"{found.low:.1f}–{found.high:.1f}"


def shares_interval(found: Interval | None) -> str:
    """Write the ends of an interval of ratios in per cent, ``""`` where there is none."""
    return "" if found is None else f"{100 * found.low:.0f}–{100 * found.high:.0f} %"


def signed(value: float | None) -> str:
    """Write a change with its sign, as in ``−4.2``."""
    return NOTHING if value is None else signed_change(value)


def direction(trend: InvocationTrend | None) -> str:
    """Say what a trend is called."""
    return "too few to tell" if trend is None or trend.trend is None else trend.trend.value


def moved(trend: InvocationTrend | None) -> str:
    """Draw a trend in a few columns: its arrow and the change in points."""
    if trend is None or trend.trend is None:
        return ARROWS[None]
    return f"{ARROWS[trend.trend]} {signed(trend.change)}"


def tier(value: float | None) -> Tier | None:
    """Give the tier of an average."""
    return None if value is None else Tier.of(min(100.0, max(0.0, value)))


def range_of(which: Tier) -> str:
    """Say which totals a tier has, as in ``75 to under 90``."""
    above = [item.least for item in Tier if item.least > which.least]
    return f"{which.least} to under {min(above)}" if above else f"{which.least} to 100"


def in_tiers(counts: Mapping[str, int] | None, recorded: int, rated: int) -> list[tuple[str, int]]:
    """Give the name of every tier with how many it has, the best first and the unrated last."""
    found = counts or {}
    return [*((item.value, found.get(item.value, 0)) for item in Tier), (UNRATED, max(0, recorded - rated))]


def weakness(value: float) -> str:
    """Say how weak a component with this share of its points is, ``""`` where it is not."""
    return "very weak" if value < LOW else "weak" if value < WEAK else ""


def worst(found: Sequence[Opportunity]) -> list[Opportunity]:
    """Order what there is to improve: the smallest share first."""
    return sorted(found, key=lambda one: (one.share, one.skill))


def words_of(component: str) -> str:
    """Write the name of a component."""
    return "output quality" if component == Component.QUALITY.value else component


def of_window(report: InvocationReport) -> str:
    """Say which stretch of time a report is about."""
    if report.days is None:
        return f"all up to {report.until:%Y-%m-%d}"
    since = f", {report.since:%Y-%m-%d} to" if report.since is not None else " up to"
    return f"the last {plural(report.days, 'day')}{since} {report.until:%Y-%m-%d}"


def about(report: InvocationReport) -> str:
    """Say what a report rests on."""
    if not report.invocations:
        return f"looked at {of_window(report)}, in {report.store}"
    said = f"{plural(report.invocations, 'invocation')} of {skills(report)} in "
    said += f"{of_window(report)} · {report.rated:,} rated by rubric {report.rubric_version}"
    if report.rated:
        said += f" · average {average(overall(report))}"
    return said if report.coverage is None else f"{said} · {rate(report.coverage)} of what counts was observed"


def change(trend: InvocationTrend) -> str:
    """Say how the last seven days stand beside those before."""
    said = f"last 7 days {average(trend.current_avg)} (n {trend.recent.n:,})"
    said += f", before {average(trend.previous_avg)} (n {trend.previous.n:,})"
    if trend.change is None:
        return said
    percent = "" if trend.change_percent is None else f", {signed(trend.change_percent)} %"
    said += f", change {signed(trend.change)} points{percent}"
    if trend.interval is not None:
        said += f"; 95 % {signed(trend.interval.low)} to {signed(trend.interval.high)}"
    if trend.bootstrap is not None:
        said += f", resampled {signed(trend.bootstrap.low)} to {signed(trend.bootstrap.high)}"
    return said


def methods(found: Iterable[Interval | None]) -> str:
    """Say how some intervals were found, in at most 300 characters; ``""`` where there is none."""
    return bounded("; ".join(sorted({one.method for one in found if one is not None})[:_METHODS]), 300)


def overall(report: InvocationReport) -> float | None:
    """Give the mean of all rated invocations, from those of skills or of days; None where neither has all of them.

    A document lists a limited number of skills and of days.
    """
    by_skill = [(one.avg_score, one.invocation_count) for one in report.skills]
    by_day = [(one.average, one.n) for one in report.daily]
    for parts in (by_skill, by_day):
        known = [(mean, n) for mean, n in parts if mean is not None and n]
        if known and sum(n for _, n in known) == report.rated:
            return round(sum(mean * n for mean, n in known) / report.rated, 9)
    return None


def skills(report: InvocationReport) -> str:
    """Count the skills, as in ``1 skill``; a document that does not list all of them knows a least number only."""
    count = plural(len(report.skills), "skill")
    return count if sum(one.recorded for one in report.skills) >= report.invocations else f"over {count}"


def on_the_board(report: InvocationReport) -> list[SkillFigures]:
    """Give the skills of the leaderboard, the best first."""
    known = {one.skill: one for one in report.skills}
    return [known[name] for name in report.leaderboard if name in known]


def news(report: InvocationReport) -> Iterator[tuple[str, str]]:
    """Give what is to be acted on, as a skill and what there is to say of it: what declines, then what rates low."""
    if not report.rated:
        for unrated in report.skills:
            if reason := (unrated.reasons or {}).get("avg_score"):
                yield unrated.skill, f"is not rated: {reason}"
    falling = [one for one in report.trends if one.trend is Direction.DECLINING]
    for one in sorted(falling, key=lambda trend: trend.change or 0.0):
        before, now = average(one.previous_avg), average(one.current_avg)
        yield one.skill, f"is declining: {before} before, {now} in the last 7 days ({signed(one.change)})"
    for figures in reversed(on_the_board(report)):
        found = tier(figures.avg_score)
        if found in (Tier.FAILING, Tier.POOR):
            yield figures.skill, f"is {found.value} with an average of {average(figures.avg_score)}: {found.action}"


def headline(report: InvocationReport) -> str:
    """Say the most important thing in one line: what the gates decided, else what got worse, else how it stands."""
    if report.gates:
        gates = [decided(checks) for checks in by_gate(report.gates)]
        more = f"; {plural(len(gates) - _GATES, 'gate')} more" if len(gates) > _GATES else ""
        return "; ".join(gates[:_GATES]) + more
    if not report.invocations:
        return "No invocation is recorded here"
    if not report.rated:
        return f"None of {plural(report.invocations, 'invocation')} could be rated"
    board = [tier(one.avg_score) for one in on_the_board(report)]
    falling = sum(one.trend is Direction.DECLINING for one in report.trends)
    bad = [(falling, "declining"), *((board.count(item), item.value) for item in (Tier.FAILING, Tier.POOR))]
    gates = [f"{plural(number, 'skill')} {word}" for number, word in bad if number]
    mean = overall(report)
    calm = "No skill is declining or poor" + ("" if mean is None else f"; the average is {average(mean)}")
    return ", ".join(gates) or calm


def by_gate(checks: Iterable[GateCheck]) -> list[list[GateCheck]]:
    """Put the checks of each gate together, the worst first: in each, and among gates."""
    found: dict[str, list[GateCheck]] = {}
    for check in checks:
        found.setdefault(check.gate, []).append(check)
    gates = [sorted(group, key=_badness) for group in found.values()]
    return sorted(gates, key=lambda group: _badness(group[0])[0])


def _badness(check: GateCheck) -> tuple[int, float]:
    place = _ORDER.index(check.status) if check.status in _ORDER else len(BROKEN)
    return place, check.stats.avg_score if check.stats.avg_score is not None else -1.0


def decided(checks: Sequence[GateCheck]) -> str:
    """Say what came of one gate, as in ``FAILED publish: 2 of 5 skills``.

    Args:
        checks: those of one gate, the worst first.
    """
    counts = Counter(check.status for check in checks)
    worst = checks[0].status
    said = [f"{counts[worst]:,} of {plural(len(checks), 'skill')}"]
    said += [f"{counts[item]:,} {status(item)}" for item in (*UNDECIDED, TOO_FEW) if counts[item] and item != worst]
    return f"{status(worst).upper()} {bounded(checks[0].gate, _NAME)}: {', '.join(said)}"


def status(word: str) -> str:
    """Write the outcome of a gate for people."""
    return word.replace("_", " ")


def gate_mark(checks: Sequence[GateCheck], *, passed: bool | None) -> str:
    """Give the mark of a verdict over gates: ``fail``, ``pass``, ``none``, or ``error`` where one was not decided."""
    found = {check.status for check in checks}
    if passed is False or found & set(BROKEN):
        return "fail"
    if not found:
        return "none"
    return "pass" if passed or not found & set(UNDECIDED) else "error"


def is_good(check: GateCheck) -> bool:
    """Tell whether there is nothing to be done."""
    return check.status not in BROKEN and check.status not in UNDECIDED


def gate_tone(check: GateCheck) -> str:
    """Give the class of the colour of one outcome."""
    if check.status in BROKEN:
        return "poor"
    return "fair" if check.status in (*UNDECIDED, TOO_FEW) else "good"
