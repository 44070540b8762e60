"""Past results in a terminal: a table of runs, or a line for each series with its course drawn small."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from skillgate.format import plural, printable
from skillgate.model.documents import Change
from skillgate.report.numbers import decimal as figure
from skillgate.report.numbers import milliseconds
from skillgate.report.numbers import share as percent
from skillgate.report.terminal import Style, columns, cut, pad

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from skillgate.model.documents import History, PastEvaluation, PastScore, Trend

_BARS = "▁▂▃▄▅▆▇█"
_DRAWN = 30  # runs of a line, the newest
_MARKS = {
    Change.RISING: ("↗", "green"),
    Change.HIGHER: ("↑", "green"),
    Change.FALLING: ("↘", "red"),
    Change.LOWER: ("↓", "red"),
    Change.NONE: ("→", "dim"),
    Change.UNKNOWN: ("·", "dim"),
}
_BENCH = ("when (UTC)", "skill", "version", "benchmark", "completed", "95 %", "composite", "p95", "cost", "gate", "of")
_SCORE = ("when (UTC)", "skill", "depth", "score", "95 %", "badge", "errors", "gate", "of")


def render(history: History, style: Style, *, verbose: bool = False) -> str:
    """Render a history; ``verbose`` changes nothing in it."""
    del verbose
    if history.trends:
        lines = [line for trend in history.trends for line in _course(trend, style)]
        return "\n".join(lines) + "\n"
    lines = []
    if history.evaluations:
        lines += _table([_BENCH, *map(_evaluation, history.evaluations)], style)
    if history.scores:
        lines += [""] * bool(lines)
        lines += _table([_SCORE, *map(_score, history.scores)], style)
    return "\n".join(lines or ["nothing of this kind is in the store"]) + "\n"


def _evaluation(one: PastEvaluation) -> tuple[str, ...]:
    interval = _range(one.completion_low, one.completion_high, 100)
    return (
        _minute(one.started_at),
        one.skill_id,
        one.skill_version,
        f"{one.benchmark_id} {one.benchmark_version}".strip() + _part(one.comparable),
        percent(one.completion_rate),
        interval,
        figure(one.composite_score),
        milliseconds(one.latency_p95_ms),
        "—" if one.cost_usd is None else f"${one.cost_usd:.4f}",
        "incomplete" if one.incomplete else _gate(one.gate_passed),
        _commit(one.commit_id, one.branch),
    )


def _part(comparable: str) -> str:
    """Say which part of a benchmark was run, where it was not all of it."""
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


def _score(one: PastScore) -> tuple[str, ...]:
    return (
        _minute(one.scored_at),
        one.skill_path,
        one.depth,
        "—" if one.composite is None else f"{one.composite:.2f}",
        _range(one.ci_low, one.ci_high, 1),
        one.badge or "—",
        str(one.errors),
        _gate(one.gate_passed),
        _commit(one.commit_id, one.branch),
    )


def _course(trend: Trend, style: Style) -> Iterator[str]:
    mark, color = _MARKS[trend.change]
    count = len(trend.values)
    conditions = "" if trend.conditions in ("", '{"evaluator": "exact"}') else f" {trend.conditions}"
    on = "on " if trend.kind == "bench" else ""
    yield style.paint(cut(printable(f"{trend.subject} {on}{trend.measured}{conditions}"), style.width), "bold")
    if count:
        since = f"{plural(count, 'run')} since {trend.times[0]:%Y-%m-%d}"
        ends = (
            f"first {_value(trend, trend.first)} · last {_value(trend, trend.last)} · best {_value(trend, trend.best)}"
        )
        yield f"  {bars(trend.values[-_DRAWN:], 1.0 if trend.kind == 'bench' else 100.0)}  {ends} · {since}"
    left = f"; {trend.left_out} left out: interrupted, or not all measured" if trend.left_out else ""
    yield f"  {style.paint(f'{mark} {trend.change.value}', color)}: {trend.reason}{left}"


def bars(values: Sequence[float], top: float) -> str:
    """Draw values from 0 to ``top``, a character each: the scale does not move with them, so that noise looks small."""
    steps = len(_BARS) - 1
    return "".join(_BARS[min(steps, max(0, round(value / top * steps)))] for value in values)


def _value(trend: Trend, value: float | None) -> str:
    if value is None:
        return "—"
    return percent(value) if trend.kind == "bench" else f"{value:.2f}"


def _range(low: float | None, high: float | None, scale: float) -> str:
    return "—" if low is None or high is None else f"{low * scale:.0f}–{high * scale:.0f}"


def _minute(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M}"


def _gate(passed: bool | None) -> str:
    return {True: "pass", False: "fail", None: "—"}[passed]


def _commit(commit: str | None, branch: str | None) -> str:
    return " ".join(word for word in (commit and commit[:8], branch) if word) or "—"


def _table(table: Sequence[Sequence[str]], style: Style) -> Iterator[str]:
    shown = [[cut(printable(cell), 40) for cell in row] for row in table]
    widths = [max(columns(row[index]) for row in shown) for index in range(len(shown[0]))]
    for number, row in enumerate(shown):
        line = "  ".join(pad(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
        yield style.paint(line, "dim") if number == 0 else line
