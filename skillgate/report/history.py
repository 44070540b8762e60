"""What reports on past results show: a table of runs, or the course of each series and whether it changed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from skillgate.format import plural
from skillgate.model.documents import Change
from skillgate.report.numbers import NONE, decimal, ends, milliseconds, points, share, usd
from skillgate.report.view import Cell, Heading, Item, Items, Row, Table, View, code, columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.model.documents import History, PastEvaluation, PastScore, Trend
    from skillgate.report.view import Block, Line, Tone

_BARS = "▁▂▃▄▅▆▇█"
_DRAWN = 30  # runs of a course, the newest
_ALL = 100_000  # the command has its own limit
_CHANGES: Mapping[Change, tuple[str, Tone]] = {
    Change.RISING: ("↗", "good"),
    Change.HIGHER: ("↑", "good"),
    Change.FALLING: ("↘", "poor"),
    Change.LOWER: ("↓", "poor"),
    Change.NONE: ("→", "muted"),
    Change.UNKNOWN: ("·", "muted"),
}
_BENCH = columns(
    "when (UTC)", "skill", "version", "benchmark", "#completed", "#composite", "#p95", "#cost", "gate", "of"
)
_SCORE = columns("when (UTC)", "skill", "depth", "#score", "badge", "#errors", "gate", "of")
_GATES: Mapping[bool | None, Cell] = {
    True: Cell("pass", tone="good"),
    False: Cell("fail", tone="poor"),
    None: Cell(NONE),
}


def view(history: History) -> View:
    """Build what a history shows."""
    if history.trends:
        title = f"{len(history.trends):,} series of past results"
        return View(title, blocks=(Items(tuple(map(_course, history.trends)), "series", most=_ALL),))
    blocks: list[Block] = []
    if history.evaluations:
        blocks += [Heading("Benchmarks"), evaluations(history.evaluations)]
    if history.scores:
        blocks += [Heading("Scores"), scores(history.scores)]
    runs = len(history.evaluations) + len(history.scores)
    return View(plural(runs, "past result") if blocks else "Nothing of this kind is in the store", blocks=tuple(blocks))


def evaluations(found: Sequence[PastEvaluation]) -> Table:
    """Build a table of past runs of benchmarks."""
    return Table(_BENCH, tuple(map(_evaluation, found)), noun="run", most=_ALL)


def scores(found: Sequence[PastScore]) -> Table:
    """Build a table of past scores."""
    return Table(_SCORE, tuple(map(_score, found)), noun="run", most=_ALL)


def bars(values: Sequence[float], top: float) -> str:
    """Draw values from 0 to ``top``, a character each; the scale is fixed, so that noise looks small."""
    steps = len(_BARS) - 1
    return "".join(_BARS[min(steps, max(0, round(value / top * steps)))] for value in values)


def _evaluation(one: PastEvaluation) -> Row:
    interval = ends(one.completion_low, one.completion_high, scale=100)
    cells = (
        f"{one.started_at:%Y-%m-%d %H:%M}",
        code(one.skill_id),
        one.skill_version,
        f"{one.benchmark_id} {one.benchmark_version}".strip() + _part(one.comparable),
        Cell(share(one.completion_rate), interval, sort=one.completion_rate),
        decimal(one.composite_score),
        Cell(milliseconds(one.latency_p95_ms), sort=one.latency_p95_ms),
        usd(one.cost_usd),
        Cell("incomplete", tone="fair") if one.incomplete else _GATES[one.gate_passed],
        _commit(one.commit_id, one.branch),
    )
    return Row(cells)


def _part(comparable: str) -> str:
    """Write which part of a benchmark was run, if it was not all of it."""
    try:
        said = json.loads(comparable)
    except ValueError:
        return ""
    said = said if isinstance(said, dict) else {}
    parts = [f"shard {said['shard']}"] if said.get("shard") else []
    for key, word in (("tasks", "only"), ("tags", "tagged")):
        names = said.get(key)
        if isinstance(names, list) and names:
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            parts.append(f"{word} {str(names[0])[:20]}{more}")
    return f", {', '.join(parts)}" if parts else ""


def _score(one: PastScore) -> Row:
    cells = (
        f"{one.scored_at:%Y-%m-%d %H:%M}",
        code(one.skill_path),
        one.depth,
        Cell(points(one.composite), ends(one.ci_low, one.ci_high), sort=one.composite),
        one.badge or NONE,
        f"{one.errors:,}",
        _GATES[one.gate_passed],
        _commit(one.commit_id, one.branch),
    )
    return Row(cells)


def _course(trend: Trend) -> Item:
    mark, tone = _CHANGES[trend.change]
    conditions = "" if trend.conditions in ("", '{"evaluator": "exact"}') else f" {trend.conditions}"
    on = "on " if trend.kind == "bench" else ""
    left = f"; {trend.left_out:,} left out: interrupted, or not all measured" if trend.left_out else ""
    below: list[Line] = [f"{trend.reason}{left}"]
    if trend.values:
        write, top = (share, 1.0) if trend.kind == "bench" else (points, 100.0)
        said = f"first {write(trend.first)} · last {write(trend.last)} · best {write(trend.best)}"
        since = f"{plural(len(trend.values), 'run')} since {trend.times[0]:%Y-%m-%d}"
        below.insert(0, f"{bars(trend.values[-_DRAWN:], top)}  {said} · {since}")
    line = code(trend.subject), f" {on}{trend.measured}{conditions}"
    return Item(line, f"{mark} {trend.change.value}", tone, tuple(below))


def _commit(commit: str | None, branch: str | None) -> str:
    return " ".join(word for word in (commit and commit[:8], branch) if word) or NONE
