"""Observations made by hand, and histories drawn from a seed."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.store.summaries import Summary, packed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillgate.store.observations import Observations

NOW = datetime(2026, 7, 20, 12, 0, tzinfo=UTC)
DAY = 86_400


class Observation(NamedTuple):
    """What figures are made of, of one invocation."""

    skill: str
    at: int
    category: str | None
    error_count: int | None
    ending: str | None
    total: float | None
    completion: float | None
    efficiency: float | None
    quality: float | None
    satisfaction: float | None
    coverage: float
    shared: int | None = None
    version: str | None = None
    model: str | None = None
    project: str | None = None
    source: str = "log"
    caller: str | None = None
    tokens: int | None = None
    duration_ms: float | None = None
    cost_usd: float | None = None
    cost_estimated: int | None = None


def columns(some: Iterable[Observation], skill: str = "one") -> Observations:
    """Give the observations of one skill as a store does."""
    from skillgate.store.observations import gathered

    rows = [row(key, one) for key, one in enumerate(some)]
    return gathered(skill, [summary(rows, skill)] if rows else [])


def summary(rows: list[tuple[Any, ...]], skill: str = "one") -> Summary:
    """Give the summary of one day's rows."""
    (contexts,), data = packed(rows)
    return Summary(skill, contexts, data)


def row(key: int, one: Observation) -> tuple[Any, ...]:
    """Give what the database gives of one."""
    return (
        *(
            "1.1",
            one.skill,
            "2026-07-20",
            key,
            one.at,
            *(value if value is None else float(value) for value in one[5:11]),
        ),
        *(one.tokens, one.duration_ms, one.cost_usd, one.error_count, one.ending, one.shared, one.cost_estimated),
        *(one.category, one.version, one.model, one.project, one.source, one.caller),
    )


def by_skill(some: Iterable[Observation]) -> Iterator[Observations]:
    """Give each skill of observations in order of skill and time."""
    for skill, own in groupby(some, attrgetter("skill")):
        yield columns(own, skill)


def at(days_ago: float) -> int:
    """Give the second that lies so many days before NOW."""
    return int(NOW.timestamp() - days_ago * DAY)


def seen(total: float | None, *, days_ago: float = 1, skill: str = "one", **changes: Any) -> Observation:
    """Give an observation with one total; three of its components are full, and nothing else is known of it."""
    found = Observation(
        skill=skill,
        at=at(days_ago),
        category="analysis",
        error_count=None,
        ending=None,
        total=total,
        completion=None,
        efficiency=None,
        quality=None,
        satisfaction=None,
        coverage=1.0 if total is not None else 0.2,
    )
    return found._replace(**changes)


def history(before: Sequence[float], after: Sequence[float], *, skill: str = "one") -> Iterator[Observation]:
    """Give totals from 29 to 8 days ago, and from 6 to half a day ago, in the order of time."""
    for totals, oldest, latest in ((before, 29.0, 8.0), (after, 6.0, 0.5)):
        for index, total in enumerate(totals):
            yield seen(total, days_ago=oldest - (oldest - latest) * index / max(1, len(totals) - 1), skill=skill)


def many(totals: Iterable[float | None], *, skill: str = "one", **changes: Any) -> list[Observation]:
    """Give totals of one skill, a second apart, the last of them an hour ago."""
    found = [seen(total, skill=skill, **changes) for total in totals]
    last = at(1 / 24)
    return [item._replace(at=last - len(found) + index + 1) for index, item in enumerate(found)]
