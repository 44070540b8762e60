"""What to do next: what fails a skill, what the change broke, the advice that brings most; with places and gains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.action.comment.fit import Section
from skillgate.action.comment.links import link, rule
from skillgate.report.escape import code, inert
from skillgate.report.findings import bounded
from skillgate.report.steps import steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.action.comment.links import Links
    from skillgate.report.standing import Row
    from skillgate.report.steps import Step

_TEXT = 300  # characters of a message, of an instruction
_EACH = 3  # steps for a skill that stands alone, fewer where several share the room
_WORTH = 1.0  # points under which advice is not worth a line where nothing fails
_LINES = 5  # lines of one file that a step names


def next_steps(rows: Sequence[Row], links: Links, *, most: int) -> Section:
    """Say what to do for the skills that fail; where none does, for those that fell or have new findings.

    What is broken comes before what could be better, whichever skill it is in.
    """
    failing = [row for row in rows if row.fails]
    chosen = [row for row in failing or rows if row.fails or _worse(row)][:most]
    each = max(1, _EACH + 1 - len(chosen[:_EACH]))
    least = 0.0 if failing else _WORTH
    found = [step for row in chosen if row.result for step in steps(row.result, row.change, least=least)[:each]]
    found.sort(key=lambda step: not step.urgent)
    lines = [f"1. {_line(step, links)}" for step in found[:most]]
    return Section("what to do next", ("", "**Do next**", "") if lines else (), tuple(lines), rank=3)


def _worse(row: Row) -> bool:
    return row.change is not None and ((row.change.change or 0) < 0 or bool(row.change.new))


def _line(step: Step, links: Links) -> str:
    text, count = inert(bounded(step.text, _TEXT)), len(step.findings)
    if count > 1:
        left = f", and {count - 1} more" if step.fix else ""
        text = f"{rule(step.findings[0])} ×{count}: {text}{left}"
    elif step.urgent and not step.fix:
        text = f"{rule(step.findings[0])}: {text}"
    if step.fix:
        text += f"; {inert(bounded(step.fix, _TEXT))}"
    together = "together " if count > 1 else ""
    gain = f" ({together}**{step.gain:+.1f}**)" if step.gain is not None and step.gain >= 0.05 else ""
    return f"{_places(step, links)}: {text}{gain}"


def _places(step: Step, links: Links) -> str:
    first, *others = step.lines or (None,)
    places = [links.place(step.path, first)]
    places += [link(code(str(line)), links.file(step.path, line)) for line in others[: _LINES - 1]]
    left = len(others) - (_LINES - 1)
    return ", ".join(places) + (f" and {left:,} more" if left > 0 else "")
