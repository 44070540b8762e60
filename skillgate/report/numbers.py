"""Numbers as every report writes them; what was not measured is a dash."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from skillgate.format import apart
from skillgate.model.score import Badge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.report.view import Tone

NONE = "—"
VERDICT_TONES: Mapping[str, Tone] = {"pass": "good", "fail": "poor", "skip": "muted"}
"""The tone of a gate's verdict; others are ``fair``."""
WIDE = 0.05
"""Half the width of an interval of a score in [0, 1], from which on it is wide."""
_EVEN = 0.005  # how much the arms of an interval may differ, relative to its value if that is above 1
_REASON = 200  # characters of a reason or a name within a sentence
_NAMED = 5
_CENT = 0.01  # dollars; less is written with more digits


def decimal(value: float | None, digits: int = 3) -> str:
    """Write a number with so many decimals."""
    return NONE if value is None else f"{value:.{digits}f}"


def points(value: float | None) -> str:
    """Write a composite, 0–100."""
    return decimal(value, 2)


def ratio(value: float | None) -> str:
    """Write a ratio in [0, 1]."""
    return decimal(value, 4)


def share(value: float | None, digits: int = 1) -> str:
    """Write a ratio as a percentage, as in ``93.3 %``."""
    return NONE if value is None else f"{100 * value:.{digits}f} %"


def total(value: float | None) -> str:
    """Write a total of 0 to 100 with one decimal, or with more where it would read as one that it does not reach."""
    return NONE if value is None else apart(value, (math.ceil(value),), 1)


def rate(value: float | None) -> str:
    """Write a ratio as a percentage, with more decimals where it would read as a 0 or a 100 that it is not."""
    return NONE if value is None else f"{apart(100 * value, (1e-6, 100), 1)} %"


def count(value: float | None) -> str:
    """Write a count with separators."""
    return NONE if value is None else f"{value:,.0f}"


def milliseconds(value: float | None) -> str:
    """Write a time, as in ``188 ms``."""
    return NONE if value is None else f"{value:.0f} ms"


def amount(value: float | None) -> str:
    """Write a large count in three digits, as in ``8.4k`` or ``11.1M``."""
    if value is None:
        return NONE
    for least, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= 0.9995 * least:
            return f"{value / least:.{1 if value < 99.95 * least else 0}f}{unit}"
    return f"{value:.0f}"


def duration(value_ms: float) -> str:
    """Write a time in a fitting unit, as in ``850 ms``, ``12.3 s`` or ``21.8 min``."""
    for least_ms, unit in ((3_600_000, "h"), (60_000, "min"), (1_000, "s")):
        if value_ms >= least_ms:
            return f"{value_ms / least_ms:.1f} {unit}"
    return f"{value_ms:.0f} ms"


def usd(value: float | None) -> str:
    """Write a price."""
    return NONE if value is None else f"${value:.4f}"


def dollars(cost: float) -> str:
    """Write a price in cents, or in more digits if it is below a cent."""
    return f"${cost:.{2 if cost >= _CENT or not cost else 4}f}"


def ends(low: float | None, high: float | None, digits: int = 0, *, scale: float = 1.0) -> str:
    """Write the ends of an interval, as in ``62–71``; ``""`` where there is none."""
    return "" if low is None or high is None else f"{scale * low:.{digits}f}–{scale * high:.{digits}f}"


def signed(value: float, digits: int = 1) -> str:
    """Write a change with its sign, as in ``−4.2``."""
    return f"{value:+.{digits}f}".replace("-", "−")


def more_or_less(change: int) -> str:
    """Write a change of a count with its sign, as in ``+1,412``."""
    return f"{change:+,}".replace("-", "−")


def moved(value: float | None, digits: int = 2) -> str:
    """Write a change: its direction, then how much."""
    if value is None:
        return NONE
    return "=" if round(value, digits) == 0 else f"{'▲' if value > 0 else '▼'} {abs(value):.{digits}f}"


def direction(value: float | None) -> str:
    """Return the style of a change: ``up``, ``down`` or ``same``."""
    return "same" if not value else "up" if value > 0 else "down"


def tone(value: float | None) -> Tone:
    """Return the tone of a composite: ``good`` from Gold on, ``fair`` from Bronze on."""
    if value is None:
        return "muted"
    return "good" if value >= Badge.GOLD.composite else "fair" if value >= Badge.BRONZE.composite else "poor"


def words(name: str) -> str:
    """Write a key for people: ``token_efficiency`` is ``Token efficiency``."""
    return name.replace("_", " ").capitalize()


def sentence(text: str) -> str:
    """Begin a text of ours with a capital, unless it begins with a name, such as that of a file."""
    return text[:1].upper() + text[1:] if text.partition(" ")[0].rstrip(",:;.").isalpha() else text


def spread(
    value: float | None, low: float | None, high: float | None, digits: int = 2, *, scale: float = 1.0, unit: str = ""
) -> str:
    """Write an interval: ``± 0.06``, or its ends where it is uneven, as in ``(0.61 to 0.87)``; ``""`` for none."""
    if value is None or low is None or high is None:
        return ""
    value, low, high = scale * value, scale * low, scale * high
    if abs((high - value) - (value - low)) <= _EVEN * max(1.0, abs(value)):
        return f"± {(high - low) / 2:,.{digits}f}{unit}"
    return f"({low:,.{digits}f} to {high:,.{digits}f}{unit})".replace("-", "−")


def breadth(value: float | None, low: float | None, high: float | None, *, scale: float = 1.0) -> str:
    """Return whether an interval is ``wide`` or ``stable``, ``""`` for none; ``scale`` is the highest score."""
    if value is None or low is None or high is None:
        return ""
    return "wide" if round((high - low) / 2 / scale, 4) >= WIDE else "stable"


def sure(value: float | None, low: float | None, high: float | None, *, scale: float = 1.0) -> str:
    """Write an interval and whether it is wide, as in ``± 0.06, wide``; ``""`` for none."""
    written = spread(value, low, high)
    return f"{written}, {breadth(value, low, high, scale=scale)}" if written else ""


def reason(text: str | None, most: int = _REASON) -> str:
    """Write a text of a model or a skill within a sentence of ours; a missing reason is reported as that."""
    from skillgate.report.findings import bounded  # only where a model was asked

    return bounded(text.strip() if text else "no reason is given", most)


def several(names: Sequence[str], most: int = _NAMED) -> str:
    """Write the first names, as in ``a, b and 3 more``."""
    left = len(names) - most
    return ", ".join(names[:most]) + (f" and {left:,} more" if left > 0 else "")
