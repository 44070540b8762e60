"""Recorded invocations in a terminal: the dashboard, and what commands show of it by itself."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from skillgate.format import plural, printable
from skillgate.model.invocation import Component, Direction
from skillgate.report import invocations_words as words
from skillgate.report.invocations_sections import (
    ADVISED,
    COLORS,
    COMMON,
    PARTS,
    TREND_COLORS,
    advice,
    board,
    common,
    course,
    hanging,
    shares,
    tiers,
    wrapped,
)
from skillgate.report.invocations_table import Cell, Column, table
from skillgate.report.terminal import Style, columns, cut, pad

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.model.invocation import (
        GateCheck,
        Invocation,
        InvocationReport,
        InvocationScore,
        InvocationTrend,
        Part,
        SkillFigures,
    )

_EVERY = 10**9
_ROWS = 30  # skills of a table
_WIDE = 80  # columns from which a gate's line has room for an interval
_EMPTY = "no invocation is recorded here\n"
_SCORED = (Column("invocation"), Column("skill", is_number=False), Column("total"), Column("tier", 3, is_number=False))


def render(report: InvocationReport, style: Style, *, verbose: bool = False) -> str:
    """Render the dashboard: what is to be acted on first; with ``verbose`` every skill of every table."""
    mark = words.gate_mark(report.gates, passed=report.gate.passed)
    color = {"pass": "green", "fail": "red", "error": "yellow", "none": "bold"}[mark]
    rows, few = (_EVERY, _EVERY) if verbose else (_ROWS, ADVISED)
    sections = [[*wrapped(words.headline(report), style, color), *_about(report, style, few)]]
    if report.invocations:
        sections += [list(board(report, style, rows)), list(tiers(report, style, rows))]
        sections += [list(advice(report, style, few))]
    if report.gates:
        sections += [[style.paint("Gates", "bold"), *_gates(report.gates, style, verbose=verbose)]]
    sections += [[line for notice in report.notices for line in hanging("note: ", notice, style)]]
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def _about(report: InvocationReport, style: Style, few: int) -> Iterator[str]:
    yield from wrapped(words.about(report), style)
    if not report.invocations:
        further = "" if report.days is None else "; --days N or --all looks further back"
        yield from wrapped(f"skillgate log import FILE… records some{further}", style, "dim")
    if daily := course(report.daily, style.width - 32):
        yield cut(daily, style.width)
    found = list(words.news(report))
    for skill, text in found[:few]:
        yield from hanging("- ", f"{skill} {text}", style)
    if len(found) > few:
        yield from hanging("  ", f"… {len(found) - few:,} more; -v shows them", style)


def render_stats(figures: Sequence[SkillFigures], style: Style) -> str:
    """Render figures of skills as a table, and below it why something of them is not known."""
    head = (*COMMON, Column("median", 4), *PARTS, Column("errors", 3), Column("observed", 4))
    rows = []
    for one in figures:
        last = [Cell(words.rate(one.error_rate)), Cell(words.rate(one.coverage))]
        rows.append([*common(one), Cell(words.average(one.median)), *shares(one), *last])
    if not rows:
        return _EMPTY
    lines = list(table(head, rows, style))
    for one in figures:
        reasons = one.reasons or {}
        for reason in dict.fromkeys(reasons.values()):
            keys = ", ".join(key for key, other in reasons.items() if other == reason)
            lines += hanging("  ", f"{one.skill}: {keys}: {reason}", style)
    return "\n".join(lines) + "\n"


def render_trends(trends: Sequence[InvocationTrend], style: Style) -> str:
    """Render trends, those that decline first: what each is called, what that rests on, and what to do."""
    order = [Direction.DECLINING, Direction.IMPROVING, Direction.STABLE, None]
    lines: list[str] = []
    for one in sorted(trends, key=lambda item: order.index(item.trend)):
        called = f"{words.ARROWS[one.trend]} {words.direction(one)}"
        name = cut(printable(one.skill), max(12, style.width - len(called) - 2))
        lines.append(f"{style.paint(name, 'bold')}  {style.paint(called, *filter(None, [TREND_COLORS[one.trend]]))}")
        texts = [words.change(one), one.reason]
        if one.weak_component is not None:
            texts.append(f"weak: {words.words_of(one.weak_component)}; {one.recommendation or 'no advice'}")
        lines += [line for text in texts for line in hanging("  ", text, style)]
    how = (
        ("95 %", words.methods(one.interval for one in trends)),
        ("resampled", words.methods(one.bootstrap for one in trends)),
    )
    lines += [line for name, text in how if text for line in wrapped(f"{name}: {text}", style, "dim")]
    return "\n".join(lines) + "\n" if lines else _EMPTY


def render_gates(checks: Sequence[GateCheck], style: Style) -> str:
    """Render gates, of each first what came of it, then the skills, the worst first, with reasons."""
    return "\n".join(_gates(checks, style, verbose=True)) + "\n" if checks else f"no skill was checked: {_EMPTY}"


def _gates(checks: Sequence[GateCheck], style: Style, *, verbose: bool) -> Iterator[str]:
    for group in words.by_gate(checks):
        yield from wrapped(words.decided(group), style, COLORS[words.gate_tone(group[0])])
        if group[0].description:
            yield from hanging("  ", group[0].description, style, "dim")
        listed = group if verbose else [check for check in group if not words.is_good(check)][:_ROWS]
        figures = [_figures(check.stats, style) for check in listed]
        state = max((len(check.status) for check in listed), default=0)
        room = max(12, style.width - max(map(columns, figures), default=0) - state - 6)
        name = min(room, max((columns(printable(check.skill)) for check in listed), default=0))
        for check, figure in zip(listed, figures, strict=True):
            yield _check(check, f"{pad(cut(printable(check.skill), name), name)}  {figure}", state, style)
            yield from (line for failure in check.failures for line in hanging("      ", failure, style))
        if len(group) > len(listed):
            left = Counter(words.status(check.status) for check in group[len(listed) :])
            rest = ", ".join(f"{number:,} {word}" for word, number in left.items())
            count = plural(len(group) - len(listed), "more skill")
            yield from hanging("  ", f"{count}: {rest}; -v shows each", style)


def _check(check: GateCheck, rest: str, state: int, style: Style) -> str:
    word = words.status(check.status)
    line = f"  {pad(word, state)}  {rest}"
    if columns(line) > style.width:
        return cut(line, style.width)
    return line.replace(word, style.paint(word, COLORS[words.gate_tone(check)]), 1)


def _figures(stats: SkillFigures, style: Style) -> str:
    """Write the figures that gates look at, without the interval where lines are short."""
    found = words.interval(stats.interval) if style.width >= _WIDE else ""
    said = f"{words.average(stats.avg_score)}{f' ({found})' if found else ''}"
    return f"{said}  n {stats.invocation_count:,}  errors {words.rate(stats.error_rate)}"


def render_scores(
    scored: Sequence[tuple[Invocation, InvocationScore]], style: Style, *, parts: Sequence[Part] = ()
) -> str:
    """Render scores of invocations as a table; with ``parts``, those of the first, what each point comes from."""
    head = (*_SCORED, *PARTS, Column("observed", 3))
    rows = []
    for invocation, score in scored:
        tier = words.tier(score.total)
        color = COLORS[words.TONES[tier]] if tier else "dim"
        points = [getattr(score, item.value) for item in Component]
        rows.append(
            [
                Cell(invocation.invocation_id),
                Cell(invocation.skill_name),
                Cell(words.average(score.total), color),
                Cell(tier.value if tier else words.UNRATED, color),
                *(Cell(words.NOTHING if value is None else f"{value:g}") for value in points),
                Cell(words.rate(score.coverage)),
            ]
        )
    if not rows:
        return _EMPTY
    lines = list(table(head, rows, style))
    if parts:
        lines += ["", *_parts(parts, scored[0][1], style)]
    return "\n".join(lines) + "\n"


def render_list(found: Sequence[tuple[Invocation, InvocationScore | None]], style: Style) -> str:
    """Render one line per invocation: when, total, tier, skill, id. Ids are never cut: they are there to be copied."""
    if not found:
        return _EMPTY
    wide = min(_ROWS, max(columns(printable(one.skill_name)) for one, _ in found))
    lines = [style.paint(f"{'began (UTC)':<16}  {'total':>5}  {'tier':<13}  {pad('skill', wide)}  id", "dim")]
    for invocation, score in found:
        total = None if score is None else score.total
        tier = words.tier(total)
        color = COLORS[words.TONES[tier]] if tier else "dim"
        rated = f"{words.average(total):>5}  {tier.value if tier else words.UNRATED:<13}"
        skill = pad(cut(printable(invocation.skill_name), wide), wide)
        when = f"{invocation.timestamp:%Y-%m-%d %H:%M}"
        lines.append(f"{when}  {style.paint(rated, color)}  {skill}  {printable(invocation.invocation_id)}")
    return "\n".join(lines) + "\n"


def render_record(
    invocation: Invocation,
    score: InvocationScore,
    parts: Sequence[Part],
    about: Mapping[str, str | None],
    fields: Mapping[str, tuple[str, bool]],
    style: Style,
) -> str:
    """Render all that is kept of one invocation: its score part by part, and its fields.

    Args:
        invocation: what it is.
        score: by the rubric that was asked for.
        parts: what the score is made of.
        about: what the store knows of it beside that, by what it is called.
        fields: what is known of it, and whether that was added by hand.
        style: how it is drawn.
    """
    tier = words.tier(score.total)
    total = words.average(score.total)
    head = f"{printable(invocation.invocation_id)}: {total} {tier.value if tier else words.UNRATED}"
    lines = [style.paint(head, "bold"), *_parts(parts, score, style), ""]
    wide = max(map(columns, (*about, *fields)))
    for name, (value, is_added) in fields.items():
        note = "  (added by hand)" if is_added else ""
        lines.append(f"{pad(name, wide)}  {printable(value)}{note}")
    lines += [f"{pad(name, wide)}  {printable(value or words.NOTHING)}" for name, value in about.items()]
    return "\n".join(lines) + "\n"


def _parts(parts: Sequence[Part], score: InvocationScore, style: Style) -> Iterator[str]:
    """Give each component its line, and each of its parts one with its reason."""
    wide = max(columns(part.name) for part in parts)
    for component in Component:
        points = getattr(score, component.value)
        found = words.NOTHING if points is None else f"{points:g}"
        yield style.paint(words.words_of(component.value), "bold") + f" {found} of {component.points}"
        for part in parts:
            if part.component is component:
                number = words.NOTHING if part.points is None else f"{round(part.points, 2):g}"
                yield from hanging(f"  {pad(part.name, wide)}  {number:>5} of {part.most:g}  ", part.note, style)
    yield from wrapped(f"rubric {score.rubric}, baselines of {score.baseline}", style, "dim")
