"""The changes of a skill, in a few words: plain text, which must be made inert before it is shown."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from skillgate.format import printable
from skillgate.model.documents import State
from skillgate.model.finding import Severity
from skillgate.scoring.composite import WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.documents import SkillChange
    from skillgate.model.finding import Finding

MOST = 80  # characters: what a table's cell or a line of a terminal has room for
_RULES = 3  # rules that one part names
_DIMENSIONS = 2  # dimensions that are named, those with the greatest effect on the score
_FROM = "moved from "
_LEAST = 0.005  # of a dimension: what two decimals show


def what_moved(change: SkillChange, *, most: int = MOST) -> str:
    """List the changes, the gravest first, as in ``new: MISSING_TRIGGER, ORPHAN_REFERENCE ×2; robustness ▼ 0.47``.

    Args:
        change: a skill before and after.
        most: how many characters it may take; what does not fit is left out, and an ellipsis says so.

    Returns:
        A text on one line with nothing invisible in it, empty where nothing moved.
    """
    moved = _moved(change, most // 2)  # has its place whatever else there is: it says what is compared with what
    room = most - len(moved) - 2 if moved else most
    text = _fitting(list(_parts(change, room)), room)
    return "; ".join(filter(None, (text, moved)))


def _fitting(every: Sequence[str], most: int) -> str:
    parts = [printable(part[: 2 * most]) for part in every]  # what is cut is not looked at
    text = ""
    for index, part in enumerate(parts):
        longer = f"{text}; {part}" if text else part
        room = most - (3 if index + 1 < len(parts) else 0)  # for "; …"
        if len(longer) > room:
            return _cut(longer, most) if text else f"{part[: most - 1]}…"
        text = longer
    return text


def _moved(change: SkillChange, most: int) -> str:
    """Say where a skill was, by the end of its path."""
    if not change.moved or change.before is None:
        return ""
    path, room = printable(change.before.path), max(2, most - len(_FROM))
    return _FROM + (path if len(path) <= room else f"…{path[1 - room :]}")


def _cut(text: str, most: int) -> str:
    """Cut a text that is too long after its last whole word of a list."""
    head = text[: most - 2]
    end = max(head.rfind("; "), head.rfind(", "))
    return f"{head[:end]}{head[end]} …"


def arrow(change: float | None, *, digits: int = 2) -> str:
    """Draw a change: ``▲ 2.40``, ``▼ 16.30``, ``=``, and ``—`` for one that is not known."""
    if change is None:
        return "—"
    return "=" if change == 0 else f"{'▲' if change > 0 else '▼'} {abs(change):.{digits}f}"


def _parts(change: SkillChange, room: int) -> Iterator[str]:
    if change.state is State.REMOVED:
        yield "removed"
        return
    if change.after is not None and not change.after.evaluated:
        yield change.after.reason or "not evaluated"
        return
    if change.state is State.NEW:
        yield "no baseline"
    elif change.after is not None and change.after.score is None:
        yield f"no score: {change.after.reason}"
    elif change.before is not None and change.before.score is None:
        yield "had no score before"
    falls, rises = _dimensions(change)
    reserved = len(falls[0]) + len("; ; …") if falls else 0  # rules do not take the room of the greatest loss
    new = tuple(_named("new", change.new, room - reserved))
    is_last = all(finding.severity is Severity.INFO for finding in change.new)
    yield from () if is_last else new
    yield from falls
    yield from _named("fixed", change.fixed, room)
    yield from rises
    yield from new if is_last else ()
    if change.suppressed:
        yield f"{len(change.suppressed)} newly suppressed"


def _named(word: str, findings: Sequence[Finding], room: int) -> Iterator[str]:
    """Name the rules of findings, the gravest first, with how many each has; fewer where that is too long."""
    if not findings:
        return
    counts = Counter(finding.id for finding in sorted(findings, key=lambda finding: finding.severity.rank))
    named = [f"{rule} ×{count}" if count > 1 else rule for rule, count in counts.items()]
    texts = [f"{word}: {', '.join(_first(named, most))}" for most in range(_RULES, 0, -1)]
    yield next((text for text in texts if len(text) <= room), texts[-1])


def _first(named: Sequence[str], most: int) -> list[str]:
    left = len(named) - most
    if most == _RULES and left == 1:  # a fourth name is hardly longer than "1 more"
        return list(named)
    return [*named[:most], *([f"{left} more"] if left > 0 else [])]


def _dimensions(change: SkillChange) -> tuple[list[str], list[str]]:
    """Name the dimensions that moved the score most, those that fell and those that rose."""
    moved = [(dimension, item.change) for dimension, item in change.dimensions.items() if item.change]
    moved.sort(key=lambda pair: -abs(pair[1]) * WEIGHTS[pair[0]])
    if change.new or change.fixed:  # then what is below two decimals says nothing more
        moved = [pair for pair in moved if abs(pair[1]) >= _LEAST]
    named = moved[:_DIMENSIONS]
    if all(amount > 0 for _, amount in named):  # what fell is told, however little it weighs
        named += [pair for pair in moved if pair[1] < 0][:1]
    shown = [
        (amount, f"{dimension.value} {arrow(amount, digits=2 if abs(amount) >= _LEAST else 4)}")
        for dimension, amount in named
    ]
    return [text for amount, text in shown if amount < 0], [text for amount, text in shown if amount > 0]
