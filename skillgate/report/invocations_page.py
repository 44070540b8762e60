"""What the page of recorded invocations says of each skill: the rows of its tables."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.invocation import Component
from skillgate.report import invocations_words as words
from skillgate.report.findings import bounded
from skillgate.report.html_charts import Bar, Whisker, bar, whisker
from skillgate.report.invocations_charts import Part, Spark, divided, spark, tier_class

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.model.invocation import (
        ComponentFigure,
        DayFigures,
        GateCheck,
        InvocationReport,
        InvocationTrend,
        Opportunity,
        SkillFigures,
    )

_NAME = 200  # characters: the longest that a store takes
_MOST_CHARACTERS = 300  # of a reason or an advice
_WORD = 60


class Place(NamedTuple):
    """A skill and where its row is; ``anchor`` is empty where the page has none."""

    path: str
    anchor: str = ""


class Moved(NamedTuple):
    """A trend in words: its arrow, what it is called, the change, and the class of its colour."""

    arrow: str
    called: str
    change: str
    tone: str


class Row(NamedTuple):
    """One skill of the leaderboard."""

    place: Place
    average: str
    interval: str
    tier: str
    tone: str
    bar: Bar | None
    whisker: Whisker | None
    moved: Moved
    spark: Spark | None
    rated: int
    recorded: int
    errors: str
    errors_interval: str


class Counted(NamedTuple):
    """How many invocations one tier has: its name, the class of its colour, and the number."""

    name: str
    css: str
    number: int


class Tiers(NamedTuple):
    """The invocations of a skill by tier, with the parts of a bar."""

    place: Place
    parts: tuple[Part, ...]
    counts: tuple[Counted, ...]


class Measured(NamedTuple):
    """One component of a skill as a share of what it can give; ``weak`` is a word, empty where it is not."""

    name: str
    value: str
    n: int
    tone: str
    weak: str
    bar: Bar | None


class Components(NamedTuple):
    """The four components of a skill."""

    place: Place
    cells: tuple[Measured, ...]


class Changed(NamedTuple):
    """How a skill's last seven days stand beside those before."""

    place: Place
    moved: Moved
    now: str
    now_n: int
    before: str
    before_n: int
    interval: str
    reason: str
    weak: str
    advice: str


class Checked(NamedTuple):
    """What a gate says of a skill."""

    place: Place
    gate: str
    status: str
    tone: str
    average: str
    interval: str
    n: int
    errors: str
    why: str


class Advised(NamedTuple):
    """What to improve: the share that a component gives now, and what to do."""

    place: Place
    component: str
    share: str
    tone: str
    n: int
    text: str


class Rows:
    """Makes rows of a report; a skill's anchor is the place that it has on the leaderboard, down to ``most``."""

    def __init__(self, report: InvocationReport, most: int) -> None:
        self._board = words.on_the_board(report)
        self._anchors = {one.skill: f"skill-{number}" for number, one in enumerate(self._board[:most], start=1)}
        self._trends = {one.skill: one for one in report.trends}
        self._days: Mapping[str, Sequence[DayFigures]] = report.by_skill or {}
        self._since = report.since.date() if report.since else None
        self._until: date = report.until.date()

    def place(self, skill: str) -> Place:
        """Name a skill."""
        return Place(bounded(skill, _NAME), self._anchors.get(skill, ""))

    def row(self, one: SkillFigures) -> Row:
        """Make a row of the leaderboard."""
        tier, found = words.tier(one.avg_score), one.interval
        bounds = (found.low / 100, found.high / 100) if found else (None, None)
        tone = words.TONES[tier] if tier else "none"
        return Row(
            self.place(one.skill),
            words.average(one.avg_score),
            words.interval(found),
            tier.value if tier else "",
            tone,
            bar(one.avg_score, tone),
            whisker(None if one.avg_score is None else one.avg_score / 100, *bounds),
            moved(self._trends.get(one.skill)),
            spark(self._days.get(one.skill, ()), self._since, self._until),
            one.invocation_count,
            one.recorded,
            words.rate(one.error_rate),
            words.shares_interval(one.error_interval),
        )

    def tiers(self, one: SkillFigures) -> Tiers:
        """Spread a skill's invocations over tiers."""
        counts = words.in_tiers(one.tiers, one.recorded, one.invocation_count)
        return Tiers(self.place(one.skill), divided(counts), in_tiers(counts))

    def components(self, one: SkillFigures) -> Components:
        """Give a skill's components."""
        cells = tuple(_measured(item, one.components.get(item.value)) for item in Component)
        return Components(self.place(one.skill), cells)

    def changed(self, one: InvocationTrend) -> Changed:
        """Give a skill's trend and what it rests on."""
        found = one.interval
        bounds = f"{words.signed(found.low)} to {words.signed(found.high)}" if found else ""
        return Changed(
            self.place(one.skill),
            moved(one),
            words.average(one.current_avg),
            one.recent.n,
            words.average(one.previous_avg),
            one.previous.n,
            bounds,
            bounded(one.reason, _MOST_CHARACTERS),
            bounded(words.words_of(one.weak_component or ""), _WORD),
            bounded(one.recommendation or "", _MOST_CHARACTERS),
        )

    def checked(self, one: GateCheck) -> Checked:
        """Give what a gate says."""
        return Checked(
            self.place(one.skill),
            bounded(one.gate, _WORD),
            bounded(words.status(one.status), _WORD),
            words.gate_tone(one),
            words.average(one.stats.avg_score),
            words.interval(one.stats.interval),
            one.stats.invocation_count,
            words.rate(one.stats.error_rate),
            bounded("; ".join(one.failures), 2 * _MOST_CHARACTERS),
        )

    def advised(self, one: Opportunity) -> Advised:
        """Give what to improve."""
        return Advised(
            self.place(one.skill),
            bounded(words.words_of(one.component), _WORD),
            words.share(one.share),
            _tone(one.share),
            one.n,
            bounded(one.recommendation, _MOST_CHARACTERS),
        )


def moved(trend: InvocationTrend | None) -> Moved:
    """Put a trend in words."""
    called = None if trend is None else trend.trend
    tone = {"improving": "good", "declining": "poor"}.get(called.value, "") if called else "muted"
    change = words.signed(trend.change) if trend is not None and trend.change is not None else ""
    return Moved(words.ARROWS[called], words.direction(trend), change, tone)


def in_tiers(counts: Sequence[tuple[str, int]]) -> tuple[Counted, ...]:
    """Name the tiers with the classes of their colours."""
    return tuple(Counted(name, tier_class(name), number) for name, number in counts)


def _measured(component: Component, found: ComponentFigure | None) -> Measured:
    name, value = words.words_of(component.value), found.share if found else None
    if found is None or value is None:
        return Measured(name, words.NOTHING, 0, "none", "", None)
    tone = _tone(value)
    return Measured(name, words.share(value), found.n, tone, words.weakness(value), bar(100 * value, tone))


def _tone(share: float) -> str:
    return {"very weak": "poor", "weak": "fair"}.get(words.weakness(share), "good")
