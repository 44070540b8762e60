"""What the parts of a page show: findings with where they lead, dimensions with their bars, lists cut to a length."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from skillgate.report.findings import bounded, order
from skillgate.report.html_charts import Bar, bar
from skillgate.report.html_numbers import tone

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from skillgate.model.documents import DimensionChange
    from skillgate.model.finding import Finding, Suppressed
    from skillgate.model.report import DimensionScore
    from skillgate.model.score import Dimension
    from skillgate.report.links import Links

T = TypeVar("T")

FINDINGS = 50  # of one list
SETS_ASIDE = 20  # reasons for which findings were set aside
PATH = 240  # characters of a path, as far as a page shows it


class Some(NamedTuple, Generic[T]):
    """The first of many, and how many were left out."""

    items: tuple[T, ...]
    left: int = 0

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.items) + self.left


class Found(NamedTuple):
    """A finding as a page shows it.

    ``rule`` and ``url`` are addresses or empty, ``mark`` is ``new`` or empty, and ``fix`` is empty where an earlier
    finding says the same.
    """

    finding: Finding
    place: str
    fix: str = ""
    rule: str = ""
    url: str = ""
    mark: str = ""


class Measure(NamedTuple):
    """One dimension: its score, or the reason there is none; ``before`` is None where nothing is compared."""

    dimension: Dimension
    score: float | None
    weight: float | None = None
    grade: str = ""
    meaning: str = ""
    reason: str = ""
    interval: tuple[float, float] | None = None
    before: float | None = None
    change: float | None = None
    bar: Bar | None = None


class Aside(NamedTuple):
    """Findings that were set aside for one reason."""

    by: str
    reason: str
    until: str
    number: int


def first(items: Sequence[T], most: int) -> Some[T]:
    """Cut a list to a length."""
    return Some(tuple(items[:most]), max(0, len(items) - most))


def found(
    findings: Iterable[Finding],
    links: Links,
    *,
    new: Collection[Finding] = (),
    within: str = "",
    most: int = FINDINGS,
) -> Some[Found]:
    """Give findings worst first.

    Args:
        findings: all there are.
        links: where they may lead.
        new: those to be marked as new.
        within: the skill's path where the page has just said it: places are told below it.
        most: how many to show.
    """
    cut = first(sorted(findings, key=order), most)
    fixes: set[tuple[str, str]] = set()
    shown = []
    for item in cut.items:
        path = str(item.path)
        fix = "" if (item.id, item.fix) in fixes else item.fix
        fixes.add((item.id, item.fix))
        mark = "new" if item in new else ""
        place = f"{bounded(path.removeprefix(f'{within}/'), PATH)}:{item.line}"
        shown.append(Found(item, place, fix, links.rule(item), links.file(path, item.line), mark))
    return Some(tuple(shown), cut.left)


def measures(
    dimensions: Mapping[Dimension, DimensionScore], changes: Mapping[Dimension, DimensionChange]
) -> tuple[Measure, ...]:
    """Give every dimension of a result, beside what it was before where that is known."""
    return tuple(_measure(key, score, changes.get(key)) for key, score in dimensions.items())


def _measure(key: Dimension, now: DimensionScore, change: DimensionChange | None) -> Measure:
    before = change.a if change else None
    whole = None if now.ci_low is None or now.ci_high is None else (now.ci_low, now.ci_high)
    return Measure(
        key,
        now.score,
        weight=now.weight,
        grade=now.grade.value if now.grade else "",
        meaning=now.grade.meaning if now.grade else "",
        reason=now.reason or "",
        interval=whole,
        before=before,
        change=change.change if change else None,
        bar=_bar(now.score, before),
    )


def changed_measures(changes: Mapping[Dimension, DimensionChange]) -> tuple[Measure, ...]:
    """Give the dimensions of a comparison that either side measured, those that moved most first."""
    comparable = [item for item in changes.items() if item[1].a is not None or item[1].b is not None]
    ranked = sorted(comparable, key=lambda item: -abs(item[1].change or 0.0))
    return tuple(
        Measure(key, side.b, before=side.a, change=side.change, bar=_bar(side.b, side.a)) for key, side in ranked
    )


def _bar(score: float | None, before: float | None) -> Bar | None:
    percent = None if score is None else 100 * score
    return bar(percent, tone(percent), None if before is None else 100 * before)


def set_aside(suppressed: Iterable[Suppressed]) -> Some[Aside]:
    """Count suppressed findings by who set them aside and why, the most frequent first."""
    counted = Counter((item.by, item.reason or "", item.until or "") for item in suppressed)
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return first([Aside(*key, count) for key, count in ranked], SETS_ASIDE)
