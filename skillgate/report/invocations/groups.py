"""What reports show within a skill's invocations: versions, models, projects, sources, callers, effort, worst uses."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from skillgate.format import plural, signed
from skillgate.model.invocation import DIMENSIONS, Component, Observed, Tier
from skillgate.report.findings import bounded
from skillgate.report.numbers import NONE, amount, dollars, duration, ends, rate, total
from skillgate.report.view import (
    Cell,
    Fold,
    Heading,
    Item,
    Items,
    Note,
    Row,
    Span,
    Table,
    code,
    columns,
    plain,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from skillgate.model.invocation import (
        Catalogue,
        Group,
        Interval,
        InvocationReport,
        SkillFigures,
        Spread,
        Use,
        VersionChange,
    )
    from skillgate.report.view import Block, Tone

UNRATED = "unrated"
LONG = 30  # rows from which on a table of a page scrolls
SURE = 0.05  # adjusted p below which a change of version counts
TONES: Mapping[Tier | None, Tone] = {
    **{Tier.EXCELLENT: "good", Tier.GOOD: "good", Tier.ACCEPTABLE: "fair"},
    **{Tier.BELOW_AVERAGE: "poor", Tier.POOR: "poor", Tier.FAILING: "poor", None: "muted"},
}
_WORST = 10  # uses of all skills
_EFFORT = "median · 95th percentile"
_MIXED = "Different skills do different work: compare within one skill, in its details."
_OBSERVED: Mapping[Observed, tuple[str, Tone]] = {
    Observed.USED: ("used", "good"),
    Observed.EARLIER: ("used before this time", "muted"),
    Observed.NOT_OBSERVED: ("not observed", "fair"),
    Observed.UNKNOWN: ("unknown", "muted"),
}
_WORDS = {
    "version": "Versions",
    "model": "Models",
    "project": "Projects",
    "source": "Sources",
    "caller": "Called by",
}


def name(skill: str, names: Mapping[str, Span]) -> Span:
    """Return the name of a skill, with a link to its row if there is one."""
    return names.get(skill, code(skill))


def tier_of(value: float | None) -> Tier | None:
    """Return the tier of an average."""
    return None if value is None else Tier.of(min(100.0, max(0.0, value)))


def tier_cells(value: float | None, found: Interval | None = None) -> tuple[Cell, Cell]:
    """Write a total with its interval, and its tier."""
    tier = tier_of(value)
    limits = ends(found.low, found.high, 1) if found else ""
    return Cell(total(value), limits, TONES[tier], sort=value), Cell(tier.value if tier else UNRATED, tone=TONES[tier])


def effort(skills: Sequence[SkillFigures], names: Mapping[str, Span]) -> Iterator[Block]:
    """Build a table of tokens, time and cost of each skill, the most expensive first."""
    known = [one for one in skills if one.tokens or one.duration_ms or one.cost_usd]
    if not known:
        return
    has_cost = any(one.cost_usd for one in known)
    heads = ("#tokens", "#time", *(("#cost",) if has_cost else ()), "#sum")
    summed = [(one.cost_usd if has_cost else one.tokens, one.recorded) for one in known]
    n, recorded = sum(found.n for found, _ in summed if found), sum(number for _, number in summed)
    of = f", known for {n:,} of {recorded:,}" if n < recorded else ""
    label = f"Tokens, time and cost: {_EFFORT}; sum of cost" if has_cost else f"Tokens and time: {_EFFORT}; sum"
    yield Heading(f"{label}{of}")
    rows = tuple(
        Row((name(one.skill, names), *effort_cells(one)[: len(heads) - 1], _sum(one, cost=has_cost)))
        for one in sorted(known, key=_expense)
    )
    caption = "Of the invocations in which it is known"
    yield Table(columns("skill", *heads), rows, caption, "skill", 10, scrolls=len(rows) > LONG)


def effort_cells(found: SkillFigures | Group) -> tuple[Cell, Cell, Cell]:
    """Write tokens, time and cost: the median and the 95th percentile."""
    spreads = ((found.tokens, amount), (found.duration_ms, duration), (found.cost_usd, dollars))
    tokens, time, cost = (_spread(spread, write) for spread, write in spreads)
    return tokens, time, cost


def version_items(changes: Iterable[tuple[str, VersionChange]], names: Mapping[str, Span]) -> list[Item]:
    """Build an entry for each change of version, such as ``0.3.2 → 0.4.0: +17.2``."""
    return [_version(skill, one, names) for skill, one in changes]


def versions(report: InvocationReport, names: Mapping[str, Span]) -> Iterator[Block]:
    """Build what changed from one version to the next: first what is more than chance."""
    changes = [(one.skill, change) for one in report.skills for change in one.versions]
    sure = sorted((one for one in changes if is_sure(one[1])), key=lambda one: one[1].change or 0.0)
    others = sorted((one for one in changes if not is_sure(one[1])), key=lambda one: -abs(one[1].change or 0.0))
    if not changes:
        return
    yield Heading("Versions")
    if sure:
        yield Items(tuple(version_items(sure, names)), "change", 8, folds=True)
    if others:
        more = plural(len(others), "other change" if sure else "change")
        called = f"{more} of version without a difference beyond chance"
        yield Fold(called, (Items(tuple(version_items(others, names)), "change", 3),), quiet=bool(sure))


def is_sure(change: VersionChange) -> bool:
    """Whether versions differ by more than chance, after the correction for all that were compared."""
    p = change.p if change.p_adjusted is None else change.p_adjusted
    return p is not None and p < SURE and bool(change.change)


class _Sums(NamedTuple):
    """What the groups of several skills with one value add up to."""

    skills: int = 0
    recorded: int = 0
    rated: int = 0
    points: float = 0.0
    tokens: Spread | None = None  # only the sums
    cost_usd: Spread | None = None

    def plus(self, group: Group) -> _Sums:
        points = self.points + (group.average or 0.0) * group.rated
        return _Sums(
            self.skills + 1,
            self.recorded + group.recorded,
            self.rated + group.rated,
            points,
            _added(self.tokens, group.tokens),
            _added(self.cost_usd, group.cost_usd),
        )


def _added(one: Spread | None, other: Spread | None) -> Spread | None:
    if one is None or other is None:
        return one or other
    estimated = one.estimated + other.estimated
    return replace(one, total=one.total + other.total, n=one.n + other.n, estimated=estimated)


def over_all(report: InvocationReport) -> Iterator[Block]:
    """Build a table of models, projects, sources and callers over all skills, where there is more than one of them."""
    found = False
    for dimension in DIMENSIONS[1:]:
        sums: dict[str | None, _Sums] = {}
        left = 0
        for one in report.skills:
            left += (one.more_groups or {}).get(dimension, 0)
            for group in (one.groups or {}).get(dimension, ()):
                sums[group.value] = sums.get(group.value, _Sums()).plus(group)
        if len(sums.keys() - {None}) < 2:
            continue
        blocks: list[Block] = [_summed(dimension, sums)]
        if left:
            blocks.append(Note(f"{plural(left, 'group')} of skills with many are left out.", "muted"))
        if not found:
            yield Heading("Groups")
            yield Note(_MIXED, "muted")
        found = True
        yield Fold(_WORDS[dimension], tuple(blocks), open=True)


def within(one: SkillFigures) -> Iterator[Block]:
    """Build the tables of one skill: by version, model, project, source and caller, where one is known."""
    explained = f"; tokens, time and cost: {_EFFORT}"
    for dimension in DIMENSIONS:
        groups = (one.groups or {}).get(dimension, ())
        if len(groups) < 2 and not (dimension == "version" and groups and groups[0].value is not None):
            continue
        heads = (dimension, "#uses", "#rated", "#average", "#errors", "#tokens", "#time", "#cost")
        yield Table(columns(*heads), tuple(map(_group, groups)), f"{_WORDS[dimension]}{explained}", dimension)
        explained = ""
        if left := (one.more_groups or {}).get(dimension, 0):
            yield Note(
                f"{plural(left, 'more group')} is not listed." if left == 1 else f"{left:,} more are not listed."
            )


def catalogue(report: InvocationReport, names: Mapping[str, Span]) -> Iterator[Block]:
    """Build the skills of a directory: first those that were not observed, and for how long anything was."""
    found = report.catalogue
    if found is None:
        return
    counts = Counter(one.observed for one in found.skills)
    numbers = ", ".join(f"{counts[item]:,} {_OBSERVED[item][0]}" for item in Observed if counts[item])
    yield Heading(("Skills of ", code(found.directory), f": {numbers}"))
    yield Note(_observed_for(found), "muted")
    if report.selection is not None:
        yield Note("Only the selected invocations count here.", "fair")
    rows = []
    for one in found.skills:
        word, tone = _OBSERVED[one.observed]
        last = f"{one.last_seen:%Y-%m-%d}" if one.last_seen else NONE
        called = name(one.recorded_as[0], names) if one.recorded_as else code(one.name)
        rows.append(Row((called, Cell(word, tone=tone), Cell(f"{one.recorded:,}", sort=one.recorded), last, one.path)))
    heads = columns("skill", "observed", "#uses", "last use", "path")
    yield Table(heads, tuple(rows), noun="skill", most=30, scrolls=len(rows) > LONG)


def _observed_for(found: Catalogue) -> str:
    if found.since is None or found.until is None:
        return "Nothing was recorded in this time, so nothing can be said of any skill."
    days = (found.until.date() - found.since.date()).days + 1
    sources = f", from {bounded(', '.join(found.sources), 100)}" if found.sources else ""
    range_text = (
        f"Anything was observed for {plural(days, 'day')}: {found.since:%Y-%m-%d} to {found.until:%Y-%m-%d}{sources}."
    )
    return f"{range_text} A use that nothing recorded is not in it: not observed does not mean unused."


def worst(uses: Sequence[Use], names: Mapping[str, Span], most: int = _WORST) -> Iterator[Block]:
    """Build the worst uses with their ids, and how to look at one."""
    if not uses:
        return
    yield Heading("Worst uses")
    yield Items(use_items(sorted(uses, key=lambda one: one.total)[:most], names), "use", 5, folds=True)
    yield Note((code("skillgate log show ID"), " shows one with the parts of its score."), "muted")


def use_items(uses: Iterable[Use], names: Mapping[str, Span] | None = None) -> tuple[Item, ...]:
    """Build an entry for each use; with ``names`` it says of which skill."""
    return tuple(_use(one, names) for one in uses)


def _use(one: Use, names: Mapping[str, Span] | None) -> Item:
    of = ("  ", name(one.skill, names)) if names is not None else ()
    ended = (one.ending or "no known ending").replace("_", " ")
    if one.ending is None and one.completion is not None:  # other signals scored it
        ended = f"{one.completion:g} of {Component.COMPLETION.points} for its ending"
    ended += f" ({one.evidence.replace('_', ' ')})" if one.evidence else ""
    effort = (
        "" if one.tokens is None else f"{amount(one.tokens)} tokens",
        "" if one.duration_ms is None else duration(one.duration_ms),
        "" if one.cost_usd is None else f"{'≈ ' if one.cost_estimated else ''}{dollars(one.cost_usd)}",
    )
    details = (f"{one.at:%Y-%m-%d %H:%M} UTC", ended, one.version and f"version {one.version}", one.model, *effort)
    return Item((code(one.id), *of), total(one.total), TONES[tier_of(one.total)], (" · ".join(filter(None, details)),))


def _version(skill: str, one: VersionChange, names: Mapping[str, Span]) -> Item:
    known, sure = one.change is not None, is_sure(one)
    moved = signed(one.change) if one.change is not None else "too few to compare"
    tone: Tone = "" if not sure else "good" if (one.change or 0.0) > 0 else "poor"
    label = ("↗" if (one.change or 0.0) > 0 else "↘") if sure else "→" if known else "·"
    detail = f"{total(one.average_before)} (n {one.n_before:,}) → {total(one.average_after)} (n {one.n_after:,})"
    if one.interval is not None:
        detail += f"; 95 % {signed(one.interval.low)} to {signed(one.interval.high)}"
    if known and not sure:
        detail += "; this may be chance"
    line = (name(skill, names), " ", code(one.before), " → ", code(one.after), f": {moved}")
    return Item(line, label, tone, (detail,))


def _summed(dimension: str, sums: Mapping[str | None, _Sums]) -> Table:
    has_cost = any(one.cost_usd for one in sums.values())
    rows = []
    for value, one in sorted(sums.items(), key=lambda item: (-item[1].recorded, item[0] or "")):
        average = tier_cells(one.points / one.rated if one.rated else None)[0]
        spent = _sum(one, cost=has_cost)
        of = one.cost_usd if has_cost else one.tokens
        if of is not None and of.n < one.recorded:
            spent = spent._replace(line=f"{plain(spent.line)} ({of.n:,} of {one.recorded:,})")
        counts = (Cell(f"{number:,}", sort=number) for number in (one.skills, one.recorded, one.rated))
        rows.append(Row((_value(value), *counts, average, spent)))
    heads = (dimension, "#skills", "#uses", "#rated", "#average", "#total cost" if has_cost else "#total tokens")
    return Table(columns(*heads), tuple(rows), noun=dimension, most=8)


def _group(group: Group) -> Row:
    average = tier_cells(group.average, group.interval)[0]
    counts = (Cell(f"{number:,}", sort=number) for number in (group.recorded, group.rated))
    return Row((_value(group.value), *counts, average, Cell(rate(group.error_rate)), *effort_cells(group)))


def _value(value: str | None) -> Span:
    return Span("unknown", "muted") if value is None else code(value)


def _spread(found: Spread | None, write: Callable[[float], str]) -> Cell:
    if found is None:
        return Cell(NONE, tone="muted")
    return Cell(f"{'≈ ' if found.estimated else ''}{write(found.p50)} · {write(found.p95)}", sort=found.p50)


def _sum(one: SkillFigures | _Sums, *, cost: bool) -> Cell:
    found = one.cost_usd if cost else one.tokens
    if found is None:
        return Cell(NONE, tone="muted")
    written = f"{'≈ ' if found.estimated else ''}{dollars(found.total)}" if cost else amount(found.total)
    return Cell(written, sort=found.total)


def _expense(one: SkillFigures) -> tuple[float, float]:
    return -(one.cost_usd.total if one.cost_usd else 0.0), -(one.tokens.total if one.tokens else 0.0)
