"""What reports on recorded invocations show: gates, leaderboard, what to improve, trends and what they rest on."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple

from skillgate.format import apart, plural, signed
from skillgate.model.invocation import DIMENSIONS, Component, Direction, Tier
from skillgate.report import charts
from skillgate.report.findings import bounded
from skillgate.report.invocations.groups import (
    LONG,
    TONES,
    UNRATED,
    catalogue,
    effort,
    effort_cells,
    name,
    over_all,
    tier_cells,
    tier_of,
    use_items,
    version_items,
    versions,
    within,
    worst,
)
from skillgate.report.numbers import NONE, ends, rate, total
from skillgate.report.view import (
    Cell,
    Chart,
    Figure,
    Figures,
    Fold,
    Heading,
    Item,
    Items,
    Note,
    Pairs,
    Row,
    Span,
    Table,
    View,
    code,
    columns,
    joined,
    plain,
    spans,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from skillgate.model.invocation import (
        ComponentFigure,
        DayFigures,
        GateCheck,
        Interval,
        InvocationReport,
        InvocationTrend,
        Opportunity,
        SkillFigures,
    )
    from skillgate.report.view import Block, Line, Mark, Tone

BROKEN, UNDECIDED, TOO_FEW = ("failed", "triggered"), ("no_data", "unmeasured"), "insufficient_data"
"""Outcomes of gates that need action, those that leave a gap, and that of a trigger without enough data."""
_ORDER = (*BROKEN, *UNDECIDED, "passed", "clear", TOO_FEW)
_LEAST = 5  # rated invocations before a skill is listed, or a window of a trend counts. Source: the rubric's queries
_WEAK = 0.7  # share of its points below which a component is weak. Source: the rubric's query for improvements
_LOW = 0.5  # below it a component is very weak. Source: the rubric's levels of advice, of shares instead of points
_LOW_TIERS = (Tier.FAILING, Tier.POOR, Tier.BELOW_AVERAGE)
_GATES = 3  # of a headline
_NEWS = 12  # skills in the verdict
_NAME = 60  # characters of the name of a gate in it
_POINTS, _SPARK = 120, 45  # stretches of a course, and of a small one
_TICKS = 5
_ARROWS = {Direction.IMPROVING: "↗", Direction.DECLINING: "↘", Direction.STABLE: "→", None: "·"}
_TRENDS: Mapping[Direction | None, Tone] = {
    **{Direction.DECLINING: "poor", Direction.IMPROVING: "good", Direction.STABLE: "", None: "muted"}
}
_EACH = {"1.0": "as written: what was not observed earns points too", "1.1": "what was not observed earns nothing"}
_BOARD = columns("skill", "~", "#average", "tier", "trend", "~", "#rated", "#errors")
_CHECKS = columns("skill", "result", "#average", "#rated", "#errors", "why")
PARTS = columns(*(f"#{item.value}" for item in Component))
"""The columns of :func:`shares`."""


def view(report: InvocationReport) -> View:
    """Build the dashboard."""
    board = _on_the_board(report)
    names = {one.skill: code(one.skill, anchor=f"skill-{n}") for n, one in enumerate(board, start=1)}
    blocks: list[Block] = []
    if not report.invocations:
        further = "" if report.days is None else "; --days N or --all looks further back"
        blocks.append(Note((code("skillgate log import FILE…"), f" records some{further}.")))
    else:
        blocks.append(Figures(tuple(_overview(report))))
    course, step = stretches(report.daily, _POINTS)
    if course:  # at the top, where it is seen first
        blocks.append(Fold("Over time", tuple(_over_time(course, step)), open=True, quiet=True))
    if report.gates:
        blocks += [Heading("Gates"), *gate_folds(report.gates, names)]
    if report.invocations:
        blocks += [*_leaderboard(report, board, names), *versions(report, names), *_improve(report, names)]
        blocks += [*effort(report.skills, names), *over_all(report), *worst(report.worst, names)]
    blocks += catalogue(report, names)
    if report.invocations:
        blocks += _more(report, board, names)
    news: list[Line] = [joined((name(skill, names), text), " ") for skill, text in _news(report)]
    if len(news) > _NEWS:
        news[_NEWS:] = [f"{len(news) - _NEWS:,} more are listed below"]
    return View(
        headline(report),
        gate_mark(report.gates, passed=report.gate.passed),
        joined((of_window(report), f"rubric {report.rubric_version}", *_filtered(report)), " · "),
        tuple(news),
        report.notices,
        tuple(blocks),
        tuple(_about(report)),
    )


def shares(figures: SkillFigures) -> tuple[Cell, ...]:
    """Write the four components as shares of the points that each can give."""
    return tuple(_share(figures.components.get(item.value)) for item in Component)


def of_window(report: InvocationReport) -> str:
    """Write which stretch of time a report is about."""
    last = report.until - timedelta(microseconds=1)  # a window that ends at midnight ends with the day before
    if report.days is None:
        return f"all up to {last:%Y-%m-%d}"
    since = f", {report.since:%Y-%m-%d} to" if report.since is not None else " up to"
    return f"the last {plural(report.days, 'day')}{since} {last:%Y-%m-%d}"


def _filtered(report: InvocationReport) -> Iterator[Line]:
    """Write which invocations alone a report is about."""
    for dimension in DIMENSIONS if report.selection is not None else ():
        if (value := getattr(report.selection, dimension)) is not None:
            yield (f"only {dimension} ", code(value))


def headline(report: InvocationReport) -> str:
    """Write the most important thing in one line: what the gates decided, else what got worse, else the average."""
    if report.gates:
        return decided(report.gates)
    if not report.invocations:
        return "No invocation is recorded here"
    if not report.rated:
        return f"None of {plural(report.invocations, 'invocation')} could be rated"
    board = [tier_of(one.avg_score) for one in _on_the_board(report)]
    falling = sum(one.trend is Direction.DECLINING for one in report.trends)
    bad = [(falling, "declining"), *((board.count(item), item.value) for item in _LOW_TIERS)]
    mean = _overall(report)
    calm = "No skill is declining or below average" + ("" if mean is None else f"; the average is {total(mean)}")
    return ", ".join(f"{plural(number, 'skill')} {word}" for number, word in bad if number) or calm


def decided(checks: Iterable[GateCheck]) -> str:
    """Write the result of each gate, the worst first, as in ``FAILED publish: 2 of 5 skills``."""
    gates = _by_gate(checks)
    results = []
    for group in gates[:_GATES]:
        counts, worst = Counter(check.status for check in group), group[0].status
        parts = [f"{counts[worst]:,} of {plural(len(group), 'skill')}"]
        parts += [
            f"{counts[item]:,} {_status(item)}" for item in (*UNDECIDED, TOO_FEW) if counts[item] and item != worst
        ]
        results.append(f"{_status(worst).upper()} {bounded(group[0].gate, _NAME)}: {', '.join(parts)}")
    more = [plural(len(gates) - _GATES, "more gate")] if len(gates) > _GATES else []
    return "; ".join([*results, *more])


def gate_mark(checks: Iterable[GateCheck], *, passed: bool | None = None) -> Mark:
    """Return the mark of gates: ``fail``, ``pass``, ``none``, or ``error`` if one was not decided."""
    found = {check.status for check in checks}
    if passed is False or found & {*BROKEN}:
        return "fail"
    if not found:
        return "none"
    return "pass" if passed or not found & {*UNDECIDED} else "error"


def gate_folds(checks: Iterable[GateCheck], names: Mapping[str, Span]) -> Iterator[Fold]:
    """Build a part for each gate: first the skills that need action, then the others."""
    for group in _by_gate(checks):
        open_checks = [check for check in group if check.status in (*BROKEN, *UNDECIDED)]
        met = group[len(open_checks) :]
        blocks: list[Block] = [Note(group[0].description, "muted")] if group[0].description else []
        if open_checks:
            rows = tuple(_check(one, names) for one in open_checks)
            blocks.append(Table(_CHECKS, rows, noun="skill", most=30, scrolls=len(rows) > LONG))
        if met:
            table = Table(_CHECKS, tuple(_check(one, names) for one in met), noun="skill")
            blocks.append(Fold(f"{plural(len(met), 'skill')} with nothing to do", (table,), quiet=True))
        counts = Counter(check.status for check in group)
        statuses = Cell(", ".join(f"{number:,} {_status(status)}" for status, number in counts.items()))
        summary = Span(group[0].gate, "strong")
        yield Fold(summary, tuple(blocks), bool(open_checks), mark=gate_mark(group), aside=(statuses,))


def trend_items(trends: Iterable[InvocationTrend], names: Mapping[str, Span]) -> Iterator[Item]:
    """Build a list of trends, declines first: what each is called, what that rests on, and what to do."""
    order = [*_TRENDS]
    for one in sorted(trends, key=lambda item: (order.index(item.trend), -abs(item.change or 0.0))):
        below: list[Line] = [_change(one), one.reason]
        if one.weak_component is not None:
            below.append(f"weak: {_component(one.weak_component)}; {one.recommendation or 'no advice'}")
        called = "too few to compare" if one.trend is None else one.trend.value
        yield Item(name(one.skill, names), f"{_ARROWS[one.trend]} {called}", _TRENDS[one.trend], tuple(below))


def methods(found: Iterable[Interval | None]) -> str:
    """Write how intervals were computed; ``""`` if there is none."""
    return "; ".join(sorted({one.method for one in found if one is not None})[:5])


def _status(word: str) -> str:
    return word.replace("_", " ")


def _component(key: str) -> str:
    return "output quality" if key == Component.QUALITY.value else key


def _whole_share(value: float) -> str:
    """Write a ratio as a whole percentage, with more decimals where it would read as one that is not weak."""
    return f"{apart(100 * value, (100 * _LOW, 100 * _WEAK), 0)} %"


def _share(found: ComponentFigure | None) -> Cell:
    value = found.share if found else None
    return (
        Cell(NONE, tone="muted") if value is None else Cell(_whole_share(value), tone=_weakness(value)[1], sort=value)
    )


def _weakness(value: float) -> tuple[str, Tone]:
    return ("very weak", "poor") if value < _LOW else ("weak", "fair") if value < _WEAK else ("", "good")


def _overall(report: InvocationReport) -> float | None:
    """Return the mean of all rated invocations, from those of skills or of days; None if neither lists all of them."""
    by_skill = [(one.avg_score, one.invocation_count) for one in report.skills]
    by_day = [(one.average, one.n) for one in report.daily]
    for parts in (by_skill, by_day):
        known = [(mean, n) for mean, n in parts if mean is not None and n]
        if known and sum(n for _, n in known) == report.rated:
            return round(sum(mean * n for mean, n in known) / report.rated, 9)
    return None


def _on_the_board(report: InvocationReport) -> list[SkillFigures]:
    known = {one.skill: one for one in report.skills}
    return [known[skill] for skill in report.leaderboard if skill in known]


def _news(report: InvocationReport) -> Iterator[tuple[str, str]]:
    """Yield what needs action as a skill and what there is to say: declines first, then low averages."""
    if not report.rated:
        for unrated in report.skills:
            if reason := (unrated.reasons or {}).get("avg_score"):
                yield unrated.skill, f"is not rated: {reason}"
    falling = [one for one in report.trends if one.trend is Direction.DECLINING]
    for one in sorted(falling, key=lambda trend: trend.change or 0.0):
        before, now = total(one.previous_avg), total(one.current_avg)
        yield one.skill, f"is declining: {before} before, {now} in the last 7 days ({_signed(one.change)})"
    for figures in reversed(_on_the_board(report)):
        found = tier_of(figures.avg_score)
        if found in _LOW_TIERS:
            yield figures.skill, f"is {found.value} with an average of {total(figures.avg_score)}: {found.action}"


def _by_gate(checks: Iterable[GateCheck]) -> list[list[GateCheck]]:
    """Group the checks of each gate, the worst first: in each group, and among groups."""
    found: dict[str, list[GateCheck]] = {}
    for check in checks:
        found.setdefault(check.gate, []).append(check)
    return sorted((sorted(group, key=_badness) for group in found.values()), key=lambda group: _badness(group[0])[0])


def _badness(check: GateCheck) -> tuple[int, float]:
    place = _ORDER.index(check.status) if check.status in _ORDER else len((*BROKEN, *UNDECIDED))
    return place, check.stats.avg_score if check.stats.avg_score is not None else -1.0


def _check(check: GateCheck, names: Mapping[str, Span]) -> Row:
    tone: Tone = "poor" if check.status in BROKEN else "fair" if check.status in (*UNDECIDED, TOO_FEW) else "good"
    stats = check.stats
    average = tier_cells(stats.avg_score, stats.interval)[0]._replace(tone="")
    why = "; ".join((*check.failures, *reservations(stats)))
    figures = (average, f"{stats.invocation_count:,}", rate(stats.error_rate), why)
    return Row((name(check.skill, names), Cell(_status(check.status), tone=tone), *figures))


def reservations(stats: SkillFigures) -> Iterator[str]:
    """Write of how many invocations the outcome or the errors are unknown, and how many may hold other work."""
    if unknown := stats.recorded - stats.endings_known:
        yield f"the outcome of {unknown:,} of {stats.recorded:,} is unknown"
    if (uncounted := stats.recorded - stats.errors_known) > unknown:
        yield f"the number of errors of {uncounted:,} of {stats.recorded:,} is unknown"
    if stats.shared:
        yield f"{stats.shared:,} of {stats.sharing_known:,} may share their turn with other work"


def _overview(report: InvocationReport) -> Iterator[Figure]:
    mean = _overall(report)
    tier = tier_of(mean)
    listed = sum(one.recorded for one in report.skills) >= report.invocations
    yield Figure("skills", f"{'' if listed else 'over '}{len(report.skills):,}")
    yield Figure("rated", f"{report.rated:,}", f"of {report.invocations:,} ({rate(report.rated / report.invocations)})")
    yield Figure("average", total(mean), tier.value if tier else "", TONES[tier] if tier else "")
    if report.coverage is not None:
        yield Figure("observed", rate(report.coverage))
    known = [one.trend for one in report.trends if one.trend is not None]
    for called in (Direction.IMPROVING, Direction.DECLINING):
        number = known.count(called)
        of = f"of {len(known):,}" if known else ""
        yield Figure(called.value, f"{number:,}" if known else NONE, of, _TRENDS[called] if number else "")


def _leaderboard(report: InvocationReport, board: Sequence[SkillFigures], names: Mapping[str, Span]) -> Iterator[Block]:
    trends = {one.skill: one for one in report.trends}
    others = [name(one.skill, names) for one in report.skills if one.skill not in names]
    few = max(len(others), report.below_minimum)
    if not board and not few:
        return
    yield Heading("Leaderboard")
    if board:
        caption = "Best average first, with its 95 % interval; a small chart shows the average over time."
        rows = tuple(_board_row(one, trends.get(one.skill), report, names) for one in board)
        yield Table(_BOARD, rows, caption, "skill", 30, scrolls=len(rows) > LONG)
    if few:
        has = "has" if few == 1 else "have"
        more = few - len(others[:50])
        rest = (f" and {plural(more, 'more skill')}",) if more and others else ()
        summary = f"{plural(few, 'skill')} {has} fewer than {_LEAST} rated invocations{': ' if others else ''}"
        yield Note((summary, *spans(joined(others[:50])), *rest), "muted")


def _board_row(
    one: SkillFigures, trend: InvocationTrend | None, report: InvocationReport, names: Mapping[str, Span]
) -> Row:
    low, high = (one.interval.low, one.interval.high) if one.interval else (None, None)
    average, tier = tier_cells(one.avg_score, one.interval)
    course, step = stretches((report.by_skill or {}).get(one.skill, ()), _SPARK, report)
    called = trend.trend if trend else None
    moved = Cell(f"{_ARROWS[called]} {_signed(trend.change)}" if trend and called else NONE, tone=_TRENDS[called])
    cells = (
        names[one.skill],
        Cell(chart=charts.rate(one.avg_score, low, high, average.tone)),
        average,
        tier,
        moved._replace(sort=trend.change if trend else None),
        Cell(chart=charts.spark([span.average for span in course])) if course else "",
        Cell(f"{one.invocation_count:,}", sort=one.invocation_count),
        Cell(rate(one.error_rate), sort=one.error_rate),
    )
    return Row(cells, tuple(details(one, report, course, step)), names[one.skill].anchor)


def details(one: SkillFigures, report: InvocationReport, course: Sequence[Stretch], step: int) -> Iterator[Block]:
    """Build all that is known of one skill: figures, course, versions, groups, worst uses."""
    errors = rate(one.error_rate)
    if one.error_interval:
        errors += f", 95 % interval {ends(one.error_interval.low, one.error_interval.high, scale=100)} %"
    pairs: list[tuple[str, Line]] = [
        ("Invocations", f"{one.recorded:,}, {one.invocation_count:,} rated"),
        ("Errors", f"{errors}, of {plural(one.errors_known, 'invocation')} with a known number of errors"),
        ("Observed", rate(one.coverage)),
    ]
    spent = zip(("Tokens", "Time", "Cost"), (one.tokens, one.duration_ms, one.cost_usd), effort_cells(one), strict=True)
    pairs += [
        (term, f"{plain(cell.line)} (median · 95th percentile), of {found.n:,}")
        for term, found, cell in spent
        if found is not None
    ]
    pairs += [("Uncertain", "; ".join(found))] if (found := (*reservations(one),)) else []
    yield Pairs(tuple(pairs))
    if course:
        yield _course(course, step)
    if one.versions:
        yield Items(tuple(version_items(((one.skill, change) for change in one.versions), {})), "change")
    yield from within(one)
    if uses := use_items(use for use in report.worst if use.skill == one.skill):
        yield Heading("Worst uses", 3)
        yield Items(uses, "use")


def _improve(report: InvocationReport, names: Mapping[str, Span]) -> Iterator[Block]:
    worst = sorted(report.opportunities, key=lambda one: (one.share, one.skill))
    if worst:
        yield Heading("Improve first")
        yield Items(tuple(_advice(one, names) for one in worst), "weak component", 5, folds=True)


def _advice(one: Opportunity, names: Mapping[str, Span]) -> Item:
    word, tone = _weakness(one.share)
    description = f" {_component(one.component)}: {word or 'fair'}, over {plural(one.n, 'invocation')}"
    return Item((name(one.skill, names), description), _whole_share(one.share), tone, (one.recommendation,))


def _more(report: InvocationReport, board: Sequence[SkillFigures], names: Mapping[str, Span]) -> Iterator[Block]:
    """Build the parts that a terminal shows only if it is asked for everything."""
    few = len(board) <= LONG
    if board:
        caption = "How much each component gives of the points that it can give"
        rows = tuple(Row((name(one.skill, names), *shares(one))) for one in board)
        yield Fold("Components", (Table((*columns("skill"), *PARTS), rows, caption, "skill"),), open=few, quiet=True)
    yield Fold("Invocations by tier", tuple(_tiers(report, board, names)), open=few, quiet=True)
    called = [one for one in report.trends if one.trend in (Direction.DECLINING, Direction.IMPROVING)]
    others = [one for one in report.trends if one not in called]
    trends: list[Block] = [Items(tuple(trend_items(called, names)), "skill", 8, folds=True)] if called else []
    if others:
        items = Items(tuple(trend_items(others, names)), "skill", 8, folds=True)
        trends.append(Fold(f"{plural(len(others), 'skill')} without a change", (items,), quiet=True))
    if trends:
        yield Fold("Trends", tuple(trends), open=True, quiet=True)


def _over_time(course: Sequence[Stretch], step: int) -> Iterator[Block]:
    yield _course(course, step)
    rows = tuple(Row((f"{one.day}", total(one.average), f"{one.n:,}")) for one in course)
    table = Table(columns("day" if step == 1 else "from", "#average", "#rated"), rows, "Days are in UTC.", "day")
    yield Fold("The same as a table", (table,), quiet=True)


def _course(course: Sequence[Stretch], step: int) -> Chart:
    each = "day" if step == 1 else f"{step} days"
    points = [charts.Point(one.average, one.n, f"{one.day}: {total(one.average)}, n {one.n:,}") for one in course]
    places = sorted({round(index * (len(course) - 1) / (_TICKS - 1)) for index in range(_TICKS)})
    ticks = [(place, f"{course[place].day:%b} {course[place].day.day}") for place in places]
    levels = [(float(tier.least), tier.value) for tier in Tier if tier.least]
    title = f"Average and number of rated invocations, every {each}"
    return Chart(charts.course(points, levels, ticks), title, _said(course, step))


def _tiers(report: InvocationReport, board: Sequence[SkillFigures], names: Mapping[str, Span]) -> Iterator[Block]:
    whole = _in_tiers(report.tiers, report.invocations, report.rated)
    description = ", ".join(f"{tier} {number:,}" for tier, number in whole)
    legend = tuple((_class(tier), Span(f"{tier} {number:,}")) for tier, number in whole)
    yield Chart(charts.shares([(_class(tier), number) for tier, number in whole]), "All skills", description, legend)
    rows = []
    for one in board:
        counts = _in_tiers(one.tiers, one.recorded, one.invocation_count)
        drawn = charts.shares([(_class(tier), number) for tier, number in counts])
        rows.append(Row((name(one.skill, names), Cell(chart=drawn), *(f"{number:,}" for _, number in counts))))
    if rows:
        heads = columns("skill", "~", *(f"#{tier.replace(' Average', '')}" for tier, _ in whole))
        yield Table(
            heads, tuple(rows), "The best tier is on the left; what could not be rated is on the right.", "skill"
        )


def _in_tiers(counts: Mapping[str, int] | None, recorded: int, rated: int) -> list[tuple[str, int]]:
    found = counts or {}
    return [*((item.value, found.get(item.value, 0)) for item in Tier), (UNRATED, max(0, recorded - rated))]


def _class(tier: str) -> str:
    return f"tier-{tier.lower().replace(' ', '-')}"


def _signed(value: float | None) -> str:
    return NONE if value is None else signed(value)


def _change(trend: InvocationTrend) -> str:
    """Write the averages of the last seven days and before, and their difference with its intervals."""
    text = f"last 7 days {total(trend.current_avg)} (n {trend.recent.n:,})"
    text += f", before {total(trend.previous_avg)} (n {trend.previous.n:,})"
    if trend.change is None:
        return text
    percent = "" if trend.change_percent is None else f", {_signed(trend.change_percent)} %"
    text += f", change {_signed(trend.change)} points{percent}"
    for word, found in (("; 95 %", trend.interval), (", resampled", trend.bootstrap)):
        text += "" if found is None else f"{word} {_signed(found.low)} to {_signed(found.high)}"
    return text


class Stretch(NamedTuple):
    """Some days: the first of them, the number of rated invocations, and their average (None without any)."""

    day: date
    n: int
    average: float | None


def stretches(
    daily: Iterable[DayFigures], most: int, within: InvocationReport | None = None
) -> tuple[tuple[Stretch, ...], int]:
    """Divide the days from the first to the last into stretches, days without an invocation too.

    Args:
        daily: those with invocations; days that are not dates are left out.
        most: the maximum number of stretches.
        within: a report; its window is covered too.

    Returns:
        The stretches, none if there is no day, and the number of days of each.
    """
    days = sorted(_dated(daily))
    if not days:
        return (), 1
    first, last = days[0][0], days[-1][0]
    if within is not None:
        first, last = (
            min(first, within.since.date() if within.since else first),
            max(last, (within.until - timedelta(microseconds=1)).date()),
        )
    step = -(-((last - first).days + 1) // most)
    sums = [(0, 0.0)] * ((last - first).days // step + 1)
    for day, n, average in days:
        place = (day - first).days // step
        sums[place] = (sums[place][0] + n, sums[place][1] + n * average)
    starts = (date.fromordinal(first.toordinal() + place * step) for place in range(len(sums)))
    found = zip(starts, sums, strict=True)
    return tuple(Stretch(start, n, added / n if n else None) for start, (n, added) in found), step


def _dated(daily: Iterable[DayFigures]) -> Iterator[tuple[date, int, float]]:
    for one in daily:
        try:
            day = date.fromisoformat(one.day)
        except ValueError:
            continue
        if one.average is not None and one.n > 0:
            yield day, one.n, one.average


def _said(course: Sequence[Stretch], step: int) -> str:
    """Describe a course in words."""
    known = [(span.average, span.day) for span in course if span.average is not None]
    low, high = min(known), max(known)
    each = "day" if step == 1 else f"{step} days"
    text = f"average of every {each} from {course[0].day} to {course[-1].day}: first {total(known[0][0])}, "
    text += f"last {total(known[-1][0])}, lowest {total(low[0])} on {low[1]}, highest {total(high[0])} on {high[1]}"
    gaps = len(course) - len(known)
    return f"{text}; {plural(gaps, 'gap')} without rated invocations" if gaps else text


def _about(report: InvocationReport) -> Iterator[tuple[str, Line]]:
    yield "Time", "days are in UTC"
    each = f", {_EACH[report.rubric_version]}" if report.rubric_version in _EACH else ""
    yield "Rubric", f"{report.rubric_version}{each}; scores of another rubric do not compare"
    left = report.invocations - report.rated
    if left > 0:
        yield "Not rated", f"{plural(left, 'invocation')} without a total: in no average score, trend or gate"
    if report.coverage is not None:
        yield "Observed", "the share of the points that can apply, on average"
    how = (
        ("averages", methods(one.interval for one in report.skills)),
        ("error rates", methods(one.error_interval for one in report.skills)),
        ("changes", methods(one.interval for one in report.trends)),
    )
    if any(method for _, method in how):
        yield "Intervals", f"95 %, {'; '.join(f'of {what} by {method}' for what, method in how if method)}"
    yield "Listed", f"skills with {_LEAST} rated invocations or more"
    rule = "a change is at least 10 % and 3 points, and more than chance"
    yield "Trends", f"the last 7 days and the days before, with {_LEAST} rated invocations in each; {rule}"
    many = "trends over all skills, and changes of version over all skills, are corrected for their number"
    yield "Many skills", f"{many} (Benjamini and Hochberg): at most 5 % of those called are expected to be chance"
    if report.gates:
        yield "Gates", "compare a figure with a bound and are no test: of many skills near a bound, chance fails some"
    yield "Weak", f"a component with under {100 * _WEAK:.0f} % of its points; very weak under {100 * _LOW:.0f} %"
    yield "Tiers", "; ".join(f"{tier.value} {_range(tier)}: {tier.action}" for tier in Tier)
    yield "Store", report.store
    yield "Program", f"{report.tool.name} {report.tool.version}"
    if report.config_digest:
        yield "Configuration", code(report.config_digest)


def _range(which: Tier) -> str:
    above = [item.least for item in Tier if item.least > which.least]
    return f"{which.least} to under {min(above)}" if above else f"{which.least} to 100"
