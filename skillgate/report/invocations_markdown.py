"""What gates say of recorded invocations as Markdown, for a comment or the summary of a job; texts are inert."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from skillgate.format import plural
from skillgate.report import invocations_words as words
from skillgate.report.escape import inert
from skillgate.report.findings import bounded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.invocation import GateCheck

LIMIT = 30_000  # bytes: half of what GitHub takes for a comment, and a small part of a summary
_CLOSING = 100  # bytes kept for the last line
_GATES = 20  # whose outcome stands above the table
_NAME = 100  # characters
_WHY = 300
_MARKS = {"good": "✅", "fair": "❔", "poor": "❌"}


def gates_markdown(checks: Sequence[GateCheck], limit: int = LIMIT) -> str:
    """Write what came of each gate, then a row for each skill, the worst first.

    Args:
        checks: of any number of gates and skills.
        limit: bytes of UTF-8 that are not exceeded; at least 20,000.
    """
    if not checks:
        return "No skill was checked: no invocation is recorded.\n"
    groups = words.by_gate(checks)
    lines = [f"- **{inert(words.decided(group))}**" for group in groups[:_GATES]]
    if len(groups) > _GATES:
        lines.append(f"- {plural(len(groups) - _GATES, 'gate')} more")
    lines += ["", "| skill | gate | result | average | n | errors | why |", "|---|---|---|--:|--:|--:|---|"]
    room = limit - _CLOSING - sum(map(_size, lines))
    shown = 0
    for row in map(_row, _worst_first(groups)):
        room -= _size(row)
        if room < 0:
            break
        lines.append(row)
        shown += 1
    if shown < len(checks):
        lines += ["", f"{plural(len(checks) - shown, 'row')} more in the JSON report."]
    return "\n".join(lines) + "\n"


def _worst_first(groups: Sequence[Sequence[GateCheck]]) -> Iterator[GateCheck]:
    """Give what is to be acted on of every gate before what is not of any."""
    good = [[check for check in group if words.is_good(check)] for group in groups]
    for group in groups:
        yield from (check for check in group if not words.is_good(check))
    for turn in zip_longest(*good):
        yield from filter(None, turn)


def _size(line: str) -> int:
    return len(line.encode(errors="backslashreplace")) + 1


def _row(check: GateCheck) -> str:
    stats = check.stats
    found = words.interval(stats.interval)
    cells = (
        inert(bounded(check.skill, _NAME)),
        inert(bounded(check.gate, _NAME)),
        f"{_MARKS[words.gate_tone(check)]} {inert(bounded(words.status(check.status), _NAME))}",
        f"{words.average(stats.avg_score)}{f' ({found})' if found else ''}",
        f"{stats.invocation_count:,}",
        words.rate(stats.error_rate),
        inert(bounded("; ".join(check.failures), _WHY)),
    )
    return f"| {' | '.join(cells)} |"
