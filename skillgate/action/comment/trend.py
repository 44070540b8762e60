"""How the scores moved over the last runs: a table for the catalogue, and one for the skills that moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.action.comment.verdict import shown
from skillgate.format import plural
from skillgate.report import numbers
from skillgate.report.findings import bounded
from skillgate.report.standing import STEP
from skillgate.report.view import Cell, Fold, Heading, Note, Row, Table, code, columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.action.comment.subject import RunHistory
    from skillgate.report.links import Links
    from skillgate.report.view import Block

_BARS = "▁▂▃▄▅▆▇█"
_GAP = "·"  # a run in which it was not measured
_MOST = 10  # skills
_LEAST = {"points": 10.0, "count": 4.0}  # what the height of a sparkline is at least: small changes stay small


def trend(history: RunHistory | None, links: Links) -> Iterator[Block]:
    """Show the catalogue over the last runs and the skills that moved most; nothing for a first run."""
    if history is None or len(history.runs) < 2:
        return
    runs = history.runs
    yield Heading(f"The last {len(runs)} runs")
    figures = (
        _figure("mean score", [run.mean for run in runs], "points"),
        _figure("lowest score", [run.lowest for run in runs], "points"),
        _figure("skills with a badge", [run.badges for run in runs], "count"),
        _figure("errors", [run.errors for run in runs], "count"),
    )
    yield Table(columns("all skills", "oldest to newest", "#first", "#now"), figures, noun="figure")
    moved = _moved(history)
    rows = [
        Row((code(shown(bounded(path, 1_000)), links.file(path or ".")), *_cells(values, "points")))
        for path, values in moved[:_MOST]
    ]
    if rows:
        left = len(moved) - len(rows)
        more = [Note(f"{plural(left, 'more skill')} moved by less.", "muted")] if left else []
        table = Table(columns("skill", "oldest to newest", "#first", "#now"), tuple(rows), noun="skill")
        yield Fold(f"{plural(len(moved), 'skill')} moved", (table, *more))
    if any(run.mean is None for run in runs) or any(None in values for _, values in moved[:_MOST]):
        yield Note(f"{_GAP}: not measured in that run.", "muted")


def _moved(history: RunHistory) -> list[tuple[str, list[float | None]]]:
    """List the scores of each skill of the last run with one whose score moved, the one that moved most first."""
    runs = [{one.path: one.score for one in run.skills} for run in history.runs]
    found = []
    for path in next((run for run in reversed(runs) if run), {}):
        values = [run.get(path) for run in runs]
        known = [value for value in values if value is not None]
        if known and max(known) - min(known) >= STEP:
            found.append((path, values))
    return sorted(found, key=lambda one: (-_range(one[1]), one[0]))


def _range(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return max(known) - min(known)


def _figure(name: str, values: Sequence[float | None], kind: str) -> Row:
    return Row((name, *_cells(values, kind)))


def _cells(values: Sequence[float | None], kind: str) -> tuple[Cell, ...]:
    """Build the sparkline, the first value and the last, with the change between the two."""
    digits = 2 if kind == "points" else 0
    first, now = next((value for value in values if value is not None), None), values[-1]
    change = None if first is None or now is None else now - first
    ended = f" {numbers.moved(change, digits)}" if change is not None and abs(change) >= STEP else ""
    return (
        Cell(code(sparkline(values, _LEAST[kind]))),
        Cell(numbers.decimal(first, digits)),
        Cell(numbers.decimal(now, digits) + ended),
    )


def sparkline(values: Sequence[float | None], least: float) -> str:
    """Draw values as bars, scaled to their range and at least to ``least``; a gap for each that is None."""
    known = [value for value in values if value is not None]
    if not known:
        return _GAP * len(values)
    low, top = min(known), len(_BARS) - 1
    height = max(max(known) - low, least)
    return "".join(_GAP if value is None else _BARS[round((value - low) / height * top)] for value in values)
