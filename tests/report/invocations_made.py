"""Reports of recorded invocations, made by hand for the formats that write them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from skillgate.model.documents import PastScore
from skillgate.model.invocation import (
    Catalogue,
    CatalogueSkill,
    Component,
    ComponentFigure,
    DayFigures,
    Direction,
    Filters,
    GateCheck,
    Group,
    Interval,
    Invocation,
    InvocationReport,
    InvocationScore,
    InvocationTrend,
    Observed,
    Opportunity,
    Part,
    SkillFigures,
    Spread,
    Tier,
    Use,
    VersionChange,
    Window,
)
from skillgate.model.report import GateOutcome, Tool, Verdict
from skillgate.model.score import Outcome
from skillgate.model.skill_page import Certified, Correlation, SkillPage
from tests.report.pages import EVIL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

UNTIL = datetime(2026, 7, 20, 9, 30, tzinfo=UTC)
WEEK = UNTIL - timedelta(days=7)
SINCE = UNTIL - timedelta(days=30)
BAD = (
    *EVIL[:6],
    "[x](javascript:alert(1))",
    "\u202egpj.exe\u2066\u200b \x1b[31m \x00 \u2028",
    "W" * 200,
    "::error::owned",
    "##[error]owned",
    "\n::error::owned",
    "=1+1|`x`|@team https://evil.example",
    "数字" * 60,
)
"""Names as an attacker would choose them."""


def figures(skill: str, mean: float | None, n: int = 40, **changes: Any) -> SkillFigures:
    """Give a skill with an average, or with none; ``shares`` are those of its components."""
    shares = changes.pop("shares", (0.9, 0.8, 0.85, 0.75) if mean is not None else (None,) * 4)
    unrated = changes.pop("unrated", 2)
    found = SkillFigures(
        skill=skill,
        recorded=n + unrated,
        invocation_count=n if mean is not None else 0,
        avg_score=mean,
        median=None if mean is None else min(100.0, mean + 1.5),
        deviation=None if mean is None else 9.5,
        interval=None if mean is None else Interval(low=mean - 3.2, high=min(100.0, mean + 3.2), method="t"),
        components={
            part.value: ComponentFigure(
                mean=None if share is None else share * part.points,
                share=share,
                most=part.points,
                n=0 if share is None else n,
            )
            for part, share in zip(Component, shares, strict=True)
        },
        tiers=spread(mean, n),
        error_rate=0.075,
        errors_known=n,
        error_interval=Interval(low=0.016, high=0.204, method="Clopper–Pearson"),
        unrecovered_rate=0.05,
        endings_known=n,
        coverage=0.81,
        first_seen=SINCE,
        last_seen=UNTIL,
        categories=("code_generation",),
    )
    return replace(found, **changes)


def spread(mean: float | None, n: int) -> Mapping[str, int]:
    """Spread invocations over the tiers around that of an average."""
    counts = {tier.value: 0 for tier in Tier}
    if mean is None:
        return counts
    names = list(counts)
    middle = names.index(Tier.of(mean).value)
    for step, share in ((1, 0.2), (-1, 0.25), (2, 0.05)):
        if 0 <= middle + step < len(names):
            counts[names[middle + step]] = int(share * n)
    counts[names[middle]] = n - sum(counts.values())
    return counts


def spread_of(p50: float, n: int = 40, **changes: Any) -> Spread:
    """Give a spread whose 95th percentile is four times its median."""
    return replace(Spread(p50=p50, p95=4 * p50, total=1.3 * p50 * n, n=n), **changes)


def group(value: str | None, mean: float | None, n: int = 20, **changes: Any) -> Group:
    """Give the invocations of a skill with one version, model or other value."""
    found = Group(
        value=value,
        recorded=n + 1,
        rated=n if mean is not None else 0,
        average=mean,
        interval=None if mean is None else Interval(low=mean - 5, high=mean + 4, method="t"),
        error_rate=0.1,
        unrecovered_rate=None,
        first_seen=SINCE,
        last_seen=UNTIL,
        tokens=spread_of(3_200, n),
        duration_ms=spread_of(12_400, n),
    )
    return replace(found, **changes)


def version_change(before: str, after: str, change: float | None, **changes: Any) -> VersionChange:
    """Give two versions; the change is more than chance from five points on."""
    found = VersionChange(
        before=before,
        after=after,
        n_before=34,
        n_after=10 if change is not None else 2,
        average_before=77.2,
        average_after=77.2 + (change or 0.0),
        change=change,
        interval=None if change is None else Interval(low=change - 5, high=change + 5, method="Welch"),
        status="insufficient_data" if change is None else "ok",
        reason="2 rated of 0.5.0; a comparison needs 5" if change is None else "34 and 10 rated",
        p=None if change is None else 0.001 if abs(change) > 5 else 0.4,
    )
    return replace(found, p_adjusted=found.p, **changes)


def use(identifier: str, skill: str, points: float, **changes: Any) -> Use:
    """Give one bad use."""
    found = Use(
        id=identifier,
        skill=skill,
        at=UNTIL - timedelta(days=2),
        total=points,
        completion=5.0,
        efficiency=4.0,
        quality=None,
        satisfaction=0.0,
        ending="hard_failure",
        evidence="user_rejected",
        version="0.3.2",
        model="claude-sonnet-5",
        project=None,
        source="claude-code",
        caller="user",
        tokens=171_814.0,
        duration_ms=1_305_747.0,
        cost_usd=0.84,
        cost_estimated=True,
    )
    return replace(found, **changes)


def with_groups(whole: InvocationReport) -> InvocationReport:
    """Give a report whose skills have versions, models, projects, sources, callers, effort and worst uses."""
    skills = []
    for index, one in enumerate(whole.skills):
        mean = one.avg_score or 50.0
        groups = {
            "version": (group("0.4.0", mean + 3, 10), group("0.3.2", mean - 3, 30)),
            "model": (group("claude-sonnet-5", mean), group("claude-haiku-5", mean - 8, 9), group(None, None, 2)),
            "project": (group("web-shop", mean), group("7f3a", mean)),
            "source": (group("claude-code", mean, 30), group("otlp", mean, 10)),
            "caller": (group("user", mean, 12), group("model", mean, 28)),
        }
        spreads: dict[str, Any] = {
            "tokens": spread_of(2_000 + 700 * index),
            "duration_ms": spread_of(9_000 + 5_000 * index),
            "cost_usd": spread_of(0.02 + 0.01 * index, estimated=3) if index % 3 else None,
        }
        moved = version_change("0.3.2", "0.4.0", (17.2, -1.4, None)[index % 3])
        skills.append(replace(one, groups=groups, versions=(moved,), **spreads))
    uses = (use(f"{one.skill}-{n}", one.skill, 9.0 + n + index) for index, one in enumerate(skills) for n in range(2))
    return replace(whole, skills=tuple(skills), worst=tuple(sorted(uses, key=lambda one: one.total)))


def trend(skill: str, before: float, now: float, called: Direction | None, **changes: Any) -> InvocationTrend:
    """Give a trend that is called, or one with too few invocations."""
    delta = now - before
    known = called is not None
    bounds = Interval(low=delta - 4.1, high=delta + 4.1, method="Welch")
    found = InvocationTrend(
        skill=skill,
        status="ok" if known else "insufficient_data",
        recent=Window(since=WEEK, until=UNTIL, n=12 if known else 3, median=now),
        previous=Window(since=SINCE, until=WEEK, n=28, median=before),
        current_avg=now,
        previous_avg=before,
        change=delta if known else None,
        change_percent=100 * delta / before if known else None,
        interval=bounds if known else None,
        bootstrap=replace(bounds, method="bootstrap") if known else None,
        trend=called,
        weak_component="efficiency",
        component_scores={part.value: part.points * 0.6 for part in Component},
        recommendation="move what is seldom needed out of SKILL.md",
        reason="the change is 10 % or more, and its interval excludes 0" if known else "3 of 5 in the last 7 days",
    )
    return replace(found, **changes)


def check(stats: SkillFigures, gate: str, status: str, *failures: str, kind: str = "requirement") -> GateCheck:
    """Give what a gate says of a skill."""
    passed = {"passed": True, "clear": True, "failed": False, "triggered": False}.get(status)
    return GateCheck(
        skill=stats.skill,
        gate=gate,
        kind=kind,
        description="what a skill needs to be published" if kind == "requirement" else "what calls for a review",
        status=status,
        passed=passed,
        failures=failures,
        stats=stats,
    )


def days(mean: float, count: int = 30, *, gaps: Sequence[int] = (), last: float = 0.0) -> tuple[DayFigures, ...]:
    """Give a course of days that ends with the report.

    ``gaps`` are days back without an invocation, and ``last`` is by how much the last seven days differ.
    """
    found = []
    for back in reversed(range(count)):
        day = (UNTIL - timedelta(days=back)).date().isoformat()
        swing = (7 * back) % 11 - 5
        value = None if back in gaps else round(min(100.0, max(0.0, mean + swing + last * (back < 7))), 2)
        found.append(DayFigures(day=day, n=0 if value is None else 3 + back % 7 * 2, average=value))
    return tuple(found)


def report(*skills: SkillFigures, **changes: Any) -> InvocationReport:
    """Give a report over skills, the best first; those with five rated invocations are its leaderboard."""
    listed = [one for one in skills if one.invocation_count >= 5]
    rated = sum(one.invocation_count for one in skills)
    found = InvocationReport(
        tool=Tool("1.2.3"),
        store=".skillgate/store.db",
        rubric_version="1.1",
        days=30,
        since=SINCE,
        until=UNTIL,
        invocations=sum(one.recorded for one in skills),
        rated=rated,
        skills=skills,
        leaderboard=tuple(one.skill for one in listed),
        below_minimum=len(skills) - len(listed),
        tiers={tier.value: sum(one.tiers.get(tier.value, 0) for one in skills) for tier in Tier},
        daily=days(78.0, gaps=(4, 5, 13, 20)) if rated else (),
        by_skill={one.skill: days(one.avg_score or 0.0, gaps=(2, 3, 9, 10, 11, 25)) for one in listed},
        coverage=0.79 if rated else None,
        config_digest="sha256:0123456789abcdef0123456789abcdef",
    )
    return replace(found, **changes)


def eight() -> InvocationReport:
    """Give a month of eight skills: two of them decline, one is Poor, and three components are weak."""
    skills = (
        figures("pdf-forms", 93.4, 61, shares=(0.98, 0.91, 0.94, 0.88), unrated=0),
        figures("release-notes", 88.2, 54, shares=(0.95, 0.84, 0.9, 0.82)),
        figures("code-review", 81.7, 130, shares=(0.9, 0.74, 0.85, 0.78), unrated=11),
        figures("docs-tools:report-writer", 76.1, 38, shares=(0.88, 0.697, 0.8, 0.71)),
        figures("api-client", 69.3, 22, shares=(0.81, 0.62, 0.72, None)),
        figures("csv-import", 58.4, 47, shares=(0.7, 0.41, 0.66, 0.55), unrated=5),
        figures("legacy-migration", 33.9, 12, shares=(0.35, 0.3, 0.4, 0.33)),
        figures("log-triage", 71.0, 3),
    )
    calls = {
        "pdf-forms": (90.1, 93.9, Direction.STABLE),
        "release-notes": (79.4, 91.0, Direction.IMPROVING),
        "code-review": (82.5, 81.2, Direction.STABLE),
        "docs-tools:report-writer": (84.9, 74.3, Direction.DECLINING),
        "api-client": (69.0, 70.2, None),
        "csv-import": (66.2, 50.6, Direction.DECLINING),
        "legacy-migration": (34.5, 32.0, None),
    }
    weak = [
        Opportunity(skill=one.skill, component=name, share=part.share, n=part.n, recommendation=_ADVICE[name])
        for one in skills
        for name, part in one.components.items()
        if part.share is not None and part.share < 0.7 and one.invocation_count >= 5
    ]
    return report(
        *skills,
        trends=tuple(trend(name, *call) for name, call in calls.items()),
        by_skill={name: days(was, gaps=(2, 9, 10, 25), last=now - was) for name, (was, now, _) in calls.items()},
        opportunities=tuple(weak),
        notices=("baselines of analysis were used for the unknown category “ops”",),
    )


_ADVICE = {
    "completion": "say in SKILL.md what to do when a step fails, and how to go on from there",
    "efficiency": "move what is seldom needed out of SKILL.md into files that are read on demand",
    "quality": "add examples of good and of bad output, and a step that checks the result",
    "satisfaction": "look at what users change afterwards, and ask what is unclear before starting",
}


def gated() -> InvocationReport:
    """Give the month of eight skills with two gates over it."""
    whole = eight()
    low = {"csv-import": 58.4, "api-client": 69.3, "legacy-migration": 33.9}
    checks = [
        check(one, "publish", "failed", f"average {one.avg_score} is under 70")
        if one.skill in low
        else check(one, "publish", "failed", "3 invocations, 10 are needed")
        if one.invocation_count < 10
        else check(one, "publish", "passed")
        for one in whole.skills
    ]
    never = figures("image-alt", None, 0, unrated=0, error_rate=None, coverage=None)
    checks.append(check(never, "publish", "no_data", "no invocation"))
    checks += [
        check(one, "deprecation", "triggered", "96 days without improvement", kind="trigger")
        if one.skill == "legacy-migration"
        else check(one, "deprecation", "clear", kind="trigger")
        for one in whole.skills[:7]
    ]
    outcome = GateOutcome("publish", Outcome.FAIL, "4 of 9 skills")
    return replace(whole, gates=tuple(checks), gate=Verdict(passed=False, outcomes=(outcome,)))


def empty() -> InvocationReport:
    """Give a report over a store that holds nothing."""
    return report()


def unrated() -> InvocationReport:
    """Give a report over invocations of which too little was observed."""
    why = {"avg_score": "too little was observed of all 12 to be rated"}
    return report(
        figures("a", None, 12, unrated=0, reasons=why, error_rate=None, coverage=0.2),
        figures("b", None, 4, unrated=0),
    )


def hostile() -> InvocationReport:
    """Give a report in which every text wants to run, to lead elsewhere, or to break the layout."""
    skills = tuple(
        figures(
            name,
            90.0 - 6 * index,
            interval=Interval(low=10.0, high=20.0, method=name),
            categories=(name,),
            reasons={name: name},
        )
        for index, name in enumerate(BAD)
    )
    called = (Direction.DECLINING, Direction.IMPROVING, Direction.STABLE, None)
    trends = tuple(
        trend(name, 80.0, 70.0, called[index % 4], weak_component=name, recommendation=name, reason=name)
        for index, name in enumerate(BAD)
    )
    checks = [
        replace(check(one, one.skill, status, one.skill, one.skill), description=one.skill)
        for one, status in zip(skills, ("failed", "triggered", "no_data", "clear", "passed") * 9, strict=False)
    ]
    for index, one in enumerate(skills):
        every = tuple(group(name, 50.0) for name in BAD)
        versions = tuple(version_change(one.skill, one.skill, 9.0, reason=one.skill) for _ in range(2))
        groups = dict.fromkeys(("version", "model", "project", "source", "caller"), every)
        skills = (*skills[:index], replace(one, groups=groups, versions=versions), *skills[index + 1 :])
    return report(
        *skills,
        trends=trends,
        worst=tuple(use(name, name, 9.0, ending=name, evidence=name, version=name, model=name) for name in BAD),
        selection=Filters(model=BAD[3]),
        catalogue=Catalogue(
            directory=BAD[0],
            since=SINCE,
            until=UNTIL,
            sources=BAD,
            skills=tuple(
                CatalogueSkill(
                    path=name, name=name, recorded_as=(), observed=Observed.NOT_OBSERVED, recorded=0, last_seen=None
                )
                for name in BAD
            ),
        ),
        opportunities=tuple(
            Opportunity(skill=name, component=name, share=0.3, n=9, recommendation=name) for name in BAD
        ),
        gates=tuple(checks),
        gate=Verdict(passed=False, outcomes=tuple(GateOutcome(name, Outcome.FAIL, name) for name in BAD)),
        daily=(*days(70.0), DayFigures(day=BAD[0], n=3, average=50.0)),
        notices=BAD,
        store=BAD[0],
        rubric_version=BAD[1],
        config_digest=BAD[2],
        tool=Tool(BAD[0], BAD[1]),
    )


def skill_page(name: str = "csv-import", observed: InvocationReport | None = None) -> SkillPage:
    """Give the page of one skill, in which every text is its name."""
    score = PastScore(
        id=1,
        scored_at=SINCE,
        skill_name=name,
        skill_path=name,
        depth=name,
        scoring_version=3,
        composite=71.25,
        ci_low=None,
        ci_high=None,
        badge="bronze",
        elo=None,
        models=(name,),
        dimensions={},
        errors=2,
        warnings=0,
        evaluated=True,
        gate_passed=False,
        origin="import",
        commit_id=name,
        branch=name,
    )
    return SkillPage(
        tool=Tool("1.2.3"),
        store=name,
        skill=name,
        promised=(score,),
        tested=(),
        certificate=Certified(
            badge=None, certified=False, issued="2026-07-01", expires=name, expired=False, reason=name
        ),
        observed=observed or replace(eight(), skills=eight().skills[5:6], trends=eight().trends[5:6]),
        correlations=(
            Correlation(depth="quick", n=40, rho=0.62, low=0.36, high=0.79),
            Correlation(depth=name, n=3, rho=None, low=None, high=None, reason="3 skills; a correlation needs 10"),
        ),
        notices=(name,),
    )


def many(number: int, name: str = "skill-{}") -> InvocationReport:
    """Give a report over many skills, each with everything."""
    week = days(70.0)
    skills = tuple(figures(name.format(index), 100 - 100 * index / number) for index in range(number))
    return report(
        *skills,
        trends=tuple(trend(one.skill, 80.0, 60.0, Direction.DECLINING) for one in skills),
        opportunities=tuple(
            Opportunity(skill=one.skill, component="quality", share=0.5, n=9, recommendation=_ADVICE["quality"])
            for one in skills
        ),
        gates=tuple(check(one, "publish", "failed", "average is under 70") for one in skills),
        by_skill={one.skill: week for one in skills},
    )


def an_invocation(**changes: Any) -> tuple[Invocation, InvocationScore]:
    """Give an invocation with its score, of which efficiency was not measured."""
    invocation = Invocation(changes.pop("invocation_id", "inv-1"), changes.pop("skill_name", "csv-import"), UNTIL)
    score = InvocationScore("1.1", 25.0, None, 22.5, 17.25, 80.93, 0.8, "analysis")
    return invocation, score._replace(**changes)


PARTS = (
    Part(Component.COMPLETION, "ending", 25.0, 25, "complete"),
    Part(Component.EFFICIENCY, "tokens", None, 8, "nobody counted tokens"),
    Part(Component.QUALITY, "accuracy", 12.0, 12, "validated"),
    Part(Component.SATISFACTION, "edits", 7.25, 8, "9.4 % was changed"),
)
