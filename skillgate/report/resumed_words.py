"""What every format says of a run that goes on from another one, or asked about a part of the skills."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import plural
from skillgate.report.findings import bounded

if TYPE_CHECKING:
    from skillgate.model.layers import Resumed
    from skillgate.model.report import Report

_SHARD = 20  # characters of which part it was
_CENT = 0.01  # dollars; less is written with more digits


def part_of(report: Report) -> str:
    """Say which part of the skills a run asked about, and what it took from the one it goes on from; ``""`` for all."""
    parts = []
    if report.shard is not None:
        parts.append(f"shard {bounded(report.shard, _SHARD)}: the other skills stand in the other parts' reports")
    if report.resumed is not None:
        parts.append(_taken(report.resumed))
    return "; ".join(parts)


def _taken(resumed: Resumed) -> str:
    text = f"resumed: {plural(resumed.answers, 'answer')} were kept"
    if resumed.repeated:
        text += f", {plural(resumed.repeated, 'request')} sent once more"
    if resumed.cost_usd is None:
        return f"{text}; what the run before had spent is not known"
    digits = 2 if resumed.cost_usd >= _CENT or not resumed.cost_usd else 4
    return f"{text}; the run before had spent ${resumed.cost_usd:.{digits}f}"
