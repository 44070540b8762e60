"""What commands show of recorded invocations in a terminal: scores, lists, one record, figures, trends, gates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import plural
from skillgate.model.invocation import Component
from skillgate.report.invocations.dashboard import (
    PARTS,
    decided,
    gate_folds,
    gate_mark,
    methods,
    shares,
    trend_items,
)
from skillgate.report.invocations.groups import UNRATED, catalogue, effort, tier_cells, tier_of
from skillgate.report.numbers import NONE, rate, total
from skillgate.report.view import Fold, Item, Items, Note, Pairs, Row, Table, View, code, columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.model.invocation import (
        GateCheck,
        Invocation,
        InvocationReport,
        InvocationScore,
        InvocationTrend,
        Part,
    )
    from skillgate.report.view import Line

_EMPTY = View("No invocation is recorded here")
_SCORES = (*columns("invocation", "skill", "#total", "tier"), *PARTS, *columns("#observed"))
_LIST = columns("began (UTC)", "#total", "tier", "id", "skill")  # the last one may be cut: ids are there to be copied
_STATS = columns("skill", "#uses", "#rated", "#average", "#median", "#errors", "#observed")


def scores(scored: Sequence[tuple[Invocation, InvocationScore]], parts: Sequence[Part] = ()) -> View:
    """Build a table of scores; ``parts`` are those of the first, which show what each point comes from."""
    rows = []
    for invocation, score in scored:
        points = [_points(getattr(score, item.value)) for item in Component]
        total_and_tier = tier_cells(score.total)
        name = code(invocation.invocation_id), invocation.skill_name
        rows.append(Row((*name, *total_and_tier, *points, rate(score.coverage))))
    if not rows:
        return _EMPTY
    below = (*_components(parts, scored[0][1]),) if parts else ()
    title = f"{plural(len(rows), 'invocation')} scored"
    return View(title, blocks=(Table(_SCORES, tuple(rows), noun="invocation"), *below))


def listed(found: Sequence[tuple[Invocation, InvocationScore | None]]) -> View:
    """Build a line for each invocation: when it began, its total, tier, id and skill."""
    rows = []
    for invocation, score in found:
        cells = (*tier_cells(None if score is None else score.total), code(invocation.invocation_id))
        rows.append(Row((f"{invocation.timestamp:%Y-%m-%d %H:%M}", *cells, invocation.skill_name)))
    title = f"{plural(len(rows), 'invocation')}, the latest first"
    return View(title, blocks=(Table(_LIST, tuple(rows), noun="invocation"),)) if rows else _EMPTY


def record(
    invocation: Invocation,
    score: InvocationScore,
    parts: Sequence[Part],
    about: Mapping[str, str | None],
    fields: Mapping[str, tuple[str, bool]],
) -> View:
    """Build all that is stored of one invocation: its score part by part, and its fields.

    Args:
        invocation: what it is.
        score: by the rubric that was asked for.
        parts: what the score is made of.
        about: what else the store knows of it, by its name.
        fields: what is known of it, and whether that was added by hand.
    """
    tier = tier_of(score.total)
    pairs: list[tuple[str, Line]] = [
        (key, f"{value}{'  (added by hand)' if added else ''}") for key, (value, added) in fields.items()
    ]
    pairs += [(key, value or NONE) for key, value in about.items()]
    title = (code(invocation.invocation_id), f": {total(score.total)} {tier.value if tier else UNRATED}")
    return View(title, blocks=(*_components(parts, score), Pairs(tuple(pairs))))


def stats(report: InvocationReport) -> View:
    """Build the figures of skills, below them why some are not known, and which of a directory were observed."""
    rows, points, unknown = [], [], []
    for one in report.skills:
        uses = f"{one.recorded:,}", f"{one.invocation_count:,}"
        average = tier_cells(one.avg_score, one.interval)[0]
        rows.append(Row((code(one.skill), *uses, average, total(one.median), rate(one.error_rate), rate(one.coverage))))
        points.append(Row((code(one.skill), *shares(one))))
        reasons = one.reasons or {}
        for reason in dict.fromkeys(reasons.values()):
            keys = ", ".join(key for key, other in reasons.items() if other == reason)
            unknown.append(Item((code(one.skill), f": {keys}: {reason}")))
    if not rows:
        return _EMPTY
    tables = Table(_STATS, tuple(rows), noun="skill"), Table((*columns("skill"), *PARTS), tuple(points), noun="skill")
    why = (Items(tuple(unknown)),) * bool(unknown)
    blocks = (*tables, *effort(report.skills, {}), *why, *catalogue(report, {}))
    return View(f"Figures of {plural(len(rows), 'skill')}", blocks=blocks)


def trends(found: Sequence[InvocationTrend]) -> View:
    """Build a list of trends, declines first, and how their intervals were computed."""
    how = ("95 %", methods(one.interval for one in found)), ("resampled", methods(one.bootstrap for one in found))
    items = Items(tuple(trend_items(found, {})), "skill")
    about = tuple((key, text) for key, text in how if text)
    return View(f"Trends of {plural(len(found), 'skill')}", blocks=(items,), about=about) if found else _EMPTY


def gates(checks: Sequence[GateCheck]) -> View:
    """Build the result of each gate, then its skills, the worst first."""
    if not checks:
        return View("No skill was checked: no invocation is recorded here")
    return View(decided(checks), gate_mark(checks), blocks=tuple(gate_folds(checks, {})))


def _points(value: float | None) -> str:
    return NONE if value is None else f"{round(value, 2):g}"


def _components(parts: Sequence[Part], score: InvocationScore) -> Iterator[Fold | Note]:
    """Build a part for each component, with a line and its reason for each of its parts."""
    for component in Component:
        own = [part for part in parts if part.component is component]
        items = [Item(f"{part.name}: {part.note}", f"{_points(part.points)} of {part.most:g}") for part in own]
        name = "output quality" if component is Component.QUALITY else component.value
        summary = f"{name} {_points(getattr(score, component.value))} of {component.points}"
        yield Fold(summary, (Items(tuple(items), "part"),))
    yield Note(f"rubric {score.rubric}, baselines of {score.baseline}", "muted")
