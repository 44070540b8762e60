"""How figures of sessions, matches and lift moved, in words: what moved with its n, and of what is not compared why.

Reasons come from models and from documents that somebody stored: they are bounded and on one line; whoever shows them
makes them inert for where they stand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.report.findings import bounded
from skillgate.report.lift_words import signed
from skillgate.report.simulated_compared import LIFT, RATINGS, SESSIONS
from skillgate.report.simulated_words import ends, label, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillgate.model.documents import SampledChange
    from skillgate.model.layers import Estimate

_GROUPS = (("sessions", SESSIONS), ("ranking", RATINGS), ("lift", LIFT))
_SHARES = ("activation_rate", "false_activation_rate", "failure_rate")
_WHOLE = ("tokens", *RATINGS)
_NAMES = {"mc_score": "mc_score", "elo": "Elo", "bradley_terry": "Bradley–Terry", "lift": "lift"}


class Group(NamedTuple):
    """What one kind of measurement says of both sides.

    Attributes:
        title: ``sessions``, ``ranking`` or ``lift``.
        text: what moved, as in ``quality 0.70 → 0.80 ▲ 0.10 (n = 5)``; else that nothing moved, or was not compared.
    """

    title: str
    text: str


class SampledRow(NamedTuple):
    """One figure as a table shows it, both sides with their intervals."""

    name: str
    before: str
    after: str
    change: str
    n: str


def rows(changes: Iterable[SampledChange]) -> tuple[SampledRow, ...]:
    """Write figures for a table."""
    return tuple(
        SampledRow(
            name(item.name), sure(item.name, item.before), sure(item.name, item.after), change(item), counted(item)
        )
        for item in changes
    )


def groups(changes: Sequence[SampledChange]) -> Iterator[Group]:
    """Say for each kind of measurement what moved, and of what is not compared why: each reason once."""
    for title, names in _GROUPS:
        items = [item for item in changes if item.name in names]
        if items:
            yield Group(title, _in_words(items).removeprefix(f"{title} "))


def lines(changes: Sequence[SampledChange]) -> list[str]:
    """Say the same as whole lines, as in ``sessions: quality 0.70 → 0.80 ▲ 0.10 (n = 5)``."""
    return [f"{group.title}: {group.text}" for group in groups(changes)]


def _in_words(items: Sequence[SampledChange]) -> str:
    moved = [_moved(item) for item in items if item.change]
    reasons = dict.fromkeys(item.reason for item in items if item.reason)
    if len(reasons) == 1 and all(item.reason for item in items):
        return _verb(items[0].reason)
    left = [
        f"{', '.join(name(item.name) for item in items if item.reason == reason)} {_verb(reason)}" for reason in reasons
    ]
    return "; ".join((*moved, *left)) or "nothing moved"


def _verb(reason: str | None) -> str:
    text = short(reason)
    return text if text.startswith("not measured") else f"not compared: {text}"


def _moved(item: SampledChange) -> str:
    text = f"{name(item.name)} {number(item.name, item.before.value)} → {number(item.name, item.after.value)}"
    return f"{text} {change(item)}{_over(item)}"


def _over(item: SampledChange) -> str:
    counts = counted(item)
    return f" (n = {counts})" if counts else ""


def counted(item: SampledChange) -> str:
    """Write on how many sessions, matches or tasks a figure rests, both where they differ; ``""`` for one without."""
    both = tuple(dict.fromkeys(f"{side.n:,}" for side in (item.before, item.after)))
    return "" if both == ("0",) else " → ".join(both)


def name(of: str) -> str:
    """Call a figure by its name for people."""
    return _NAMES.get(of) or label(bounded(of))


def number(of: str, value: float | None) -> str:
    """Write a figure without its interval: per cent, whole tokens and points, a lift with its sign."""
    if value is None:
        return "—"
    if of in _SHARES:
        return f"{100 * value:.0f} %"
    if of in LIFT:
        return signed(value)
    return f"{value:,.0f}" if of in _WHOLE else f"{value:.{4 if of == 'mc_score' else 2}f}"


def sure(of: str, found: Estimate) -> str:
    """Write a figure with its interval, where it has one."""
    scale, digits, unit = (100.0, 0, " %") if of in _SHARES else (1.0, 0 if of in _WHOLE else 2, "")
    return " ".join(filter(None, (number(of, found.value), ends(found, scale=scale, digits=digits, unit=unit))))


def change(item: SampledChange) -> str:
    """Draw a change: ``▲ 0.10``, of shares in percentage points, ``=``, and ``—`` for none."""
    if item.change is None:
        return "—"
    scale, digits = (100.0, 0) if item.name in _SHARES else (1.0, 0 if item.name in _WHOLE else 2)
    amount = scale * item.change
    digits = digits if item.name != "mc_score" and (round(amount, digits) or not amount) else digits + 2
    return "=" if not amount else f"{'▲' if amount > 0 else '▼'} {abs(amount):,.{digits}f}"


def reasons(changes: Iterable[SampledChange]) -> list[str]:
    """Say of each figure that is not compared why, each reason once: ``F1 not measured after: …``."""
    found: dict[str, list[str]] = {}
    for item in changes:
        if item.reason:
            found.setdefault(item.reason, []).append(name(item.name))
    return [f"{', '.join(names)} {_verb(reason)}" for reason, names in found.items()]
