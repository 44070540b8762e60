"""Numbers as pages write them; what was not measured is a dash."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import plural
from skillgate.model.score import Badge
from skillgate.report.lists import more_or_less
from skillgate.report.tally import counts

if TYPE_CHECKING:
    from collections.abc import Callable

NONE = "—"


def points(value: float | None) -> str:
    """Write a composite, 0–100."""
    return NONE if value is None else f"{value:.2f}"


def ratio(value: float | None) -> str:
    """Write a ratio in [0, 1]."""
    return NONE if value is None else f"{value:.4f}"


def percent(value: float | None) -> str:
    """Write a ratio as a whole percentage."""
    return NONE if value is None else f"{100 * value:.0f} %"


def amount(value: float | None) -> str:
    """Write a count, or characters, with separators."""
    return NONE if value is None else f"{value:,.0f}"


def signed(value: float) -> str:
    """Write a gain with its sign, as short as it may be."""
    return f"{value:+.1f}" if abs(value) >= 0.05 else f"{value:+.2f}"


def moved(value: float | None, digits: int = 2) -> str:
    """Write a change: its direction, then how much."""
    if value is None:
        return NONE
    return "=" if round(value, digits) == 0 else f"{'▲' if value > 0 else '▼'} {abs(value):.{digits}f}"


def direction(value: float | None) -> str:
    """Give the class of a change: ``up``, ``down`` or ``same``."""
    return "same" if not value else "up" if value > 0 else "down"


def tone(value: float | None) -> str:
    """Give the class of a composite: ``good`` from Gold on, ``fair`` from Bronze on, else ``poor``."""
    if value is None:
        return "none"
    return "good" if value >= Badge.GOLD.composite else "fair" if value >= Badge.BRONZE.composite else "poor"


def changed(value: int) -> str:
    """Write a change of characters with its sign."""
    return more_or_less(value)


def words(name: str) -> str:
    """Write a key for people: ``token_efficiency`` is ``Token efficiency``."""
    return name.replace("_", " ").capitalize()


def sentence(text: str) -> str:
    """Begin a text of ours with a capital, unless it begins with a name, such as that of a file."""
    return text[:1].upper() + text[1:] if text.partition(" ")[0].rstrip(",:;.").isalpha() else text


FILTERS: dict[str, Callable[..., str]] = {
    item.__name__: item
    for item in (
        points,
        ratio,
        percent,
        amount,
        signed,
        moved,
        direction,
        tone,
        plural,
        changed,
        words,
        sentence,
        counts,
    )
}
