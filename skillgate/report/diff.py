"""From pairs of results, before and after, to a diff: what became of each skill, and of its findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.documents import Diff, DiffSide, DiffSummary, DimensionChange, Side, SkillChange, State
from skillgate.model.report import GateOutcome, Tool, Verdict
from skillgate.model.score import SCORING_VERSION, Depth, Dimension, Outcome
from skillgate.report.judge_compared import alarm, drops, not_comparable, unmoved
from skillgate.report.judge_compared import hints as inconclusive
from skillgate.report.matching import UNMOVED, unmatched, with_folders
from skillgate.report.tally import is_simulated
from skillgate.scoring.composite import MAX_DROP
from skillgate.scoring.gate import regression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from skillgate.model.documents import SampledChange
    from skillgate.model.finding import AcrossChange, Finding, ListingUse, Suppressed
    from skillgate.model.layers import DropTest
    from skillgate.model.report import DimensionScore, SkillResult
    from skillgate.scoring.pairing import Pair

_NAMED = 3  # skills that a hint names one by one


class Siblings(NamedTuple):
    """The skills that are in no pair: their paths and findings across skills, before and after."""

    before: tuple[Finding, ...] = ()
    after: tuple[Finding, ...] = ()
    paths: tuple[tuple[str, str], ...] = ()


class _Between(NamedTuple):
    """What became of findings across skills: those that went, those that came, and those that are suppressed now."""

    gone: tuple[Finding, ...]
    came: tuple[Finding, ...]
    aside: tuple[Finding, ...]


NOTHING = Siblings()


def diff(  # noqa: D417 - three arguments are described together
    pairs: Iterable[Pair],
    *,
    a: DiffSide,
    b: DiffSide,
    version: str,
    max_drop: Callable[[str], float] | float = MAX_DROP,
    gated: bool = False,
    on_inconclusive: str = "point",
    digest: str = "",
    depth: Depth = Depth.QUICK,
    scoring_version: int = SCORING_VERSION,
    models: tuple[str, ...] = (),
    profile: str = "any",
    listing: tuple[ListingUse, ...] = (),
    across: AcrossChange | None = None,
    hints: tuple[str, ...] = (),
    rebased: Mapping[str, str] = UNMOVED,
    siblings: Siblings = NOTHING,
) -> Diff:
    """Say what differs between two sets of results of the same depth, scoring version and models.

    Args:
        pairs: each skill before and after, None on the side that does not have it.
        a: where the results before come from.
        b: where those after come from.
        version: the version of the tool that writes this.
        max_drop: points that a score may fall, for all or by the skill's shown path after.
        gated: whether a regression fails the diff.
        on_inconclusive: what a drop does that chance may explain: ``point``, ``pass``, ``warn`` or ``fail``.
        digest: of the effective configuration.
        depth, scoring_version, models: of both sides.
        profile: the client that makes its refusals errors after.
        listing: each client's list after, with its characters before.
        across: findings across skills that came and went; None if they were not looked for.
        hints: what the differences may come from, in sentences; those that show in the pairs are added.
        rebased: by path before, the path that the other side would show a skill by, where it names places otherwise.
        siblings: what skills that are not compared share with others: it is neither new nor gone for moving there.
    """
    known = list(pairs)
    allowed = max_drop if callable(max_drop) else lambda _: max_drop
    skills = _changes(known, allowed, rebased, siblings, on_inconclusive)
    return Diff(
        a=a,
        b=b,
        skills=skills,
        summary=_summary(skills),
        max_drop=_one({allowed(after.skill.path) for before, after in known if before and after}),
        listing=listing,
        across=across,
        gate=_gate(skills, strict=on_inconclusive == "fail") if gated else Verdict(passed=None),
        hints=(*alarm(known), *hints, *_coverage_hints(skills), *_session_hints(known), *inconclusive(skills)),
        profile=profile,
        depth=depth,
        coverage=_coverage(known),
        config_digest=digest,
        tool=Tool(version=version),
        models=models,
        scoring_version=scoring_version,
    )


def _changes(
    pairs: Sequence[Pair],
    allowed: Callable[[str], float],
    rebased: Mapping[str, str],
    siblings: Siblings,
    on_inconclusive: str,
) -> tuple[SkillChange, ...]:
    moves = {**rebased, **_moves(pairs)}
    between = _between(pairs, moves, siblings)
    paired = zip(pairs, drops(pairs, allowed), strict=True)
    found = (_change(pair, drop, moves, rebased, allowed, between, on_inconclusive) for pair, drop in paired)
    return tuple(sorted(found, key=lambda change: change.path))


def _between(pairs: Sequence[Pair], moves: Mapping[str, str], siblings: Siblings) -> _Between:
    """Match the findings across skills of all pairs together: each may be reported at another of its skills now."""
    both = [(before.skill.path, after.skill.path) for before, after in pairs if before and after]
    moved = {then: now for then, now in siblings.paths if then != now}
    moves = with_folders((*siblings.paths, *both), {**moved, **moves})
    then = [before for before, after in pairs if before and (after is None or after.evaluated)]
    now = [after for _, after in pairs if after]
    gone, came = unmatched(
        (*siblings.before, *(finding for result in then for finding in result.findings if finding.skills)),
        (*siblings.after, *(finding for result in now for finding in result.findings if finding.skills)),
        moves,
    )
    _, aside = unmatched(
        [item.finding for result in then for item in result.suppressed if item.finding.skills],
        [item.finding for result in now for item in result.suppressed if item.finding.skills],
        moves,
    )
    return _Between(unmatched(gone, aside, moves)[0], came, aside)


def _own(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if not finding.skills]


def _picked(findings: Iterable[Finding], *groups: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings that are in one of the groups, in their order."""
    chosen = {id(finding) for group in groups for finding in group}
    return tuple(finding for finding in findings if id(finding) in chosen)


def _coverage(pairs: Iterable[Pair]) -> float | None:
    """Return the minimum coverage of skills with a score, on either side."""
    sides = (side for pair in pairs for side in pair if side is not None)
    return min((side.coverage for side in sides if side.composite.score is not None), default=None)


def _moves(pairs: Iterable[Pair]) -> dict[str, str]:
    """Give the path after of each skill that is shown by another path than before, by its path before."""
    both = ((before.skill.path, after.skill.path) for before, after in pairs if before and after)
    return {then: now for then, now in both if then != now}


def _one(values: set[float]) -> float | None:
    return values.pop() if len(values) == 1 else None


def _change(
    pair: Pair,
    drop: DropTest | None,
    moves: Mapping[str, str],
    rebased: Mapping[str, str],
    allowed: Callable[[str], float],
    between: _Between,
    on_inconclusive: str,
) -> SkillChange:
    before, after = pair
    if after is None:
        if before is None:
            raise ValueError("a pair without a skill on either side")
        return SkillChange(before.skill.name, State.REMOVED, _side(before, rebased), None)
    if before is None:
        new = _picked(after.findings, _own(after.findings), between.came)
        return SkillChange(after.skill.name, State.NEW, None, _side(after), new=new, suppressed=after.suppressed)
    change = _compared(before, after, moves, between)._replace(
        before=_side(before, rebased),
        regression=_regression(before, after, allowed(after.skill.path), drop, on_inconclusive),
        sampled=_sampled(before, after),
    )
    return change._replace(state=State.CHANGED if _differs(change) else State.UNCHANGED)


def _side(result: SkillResult, rebased: Mapping[str, str] = UNMOVED) -> Side:
    return Side(
        path=rebased.get(result.skill.path, result.skill.path),
        score=result.composite.score,
        badge=result.composite.badge,
        reason=result.composite.reason,
        coverage=result.coverage,
        evaluated=result.evaluated,
    )


def _compared(before: SkillResult, after: SkillResult, moves: Mapping[str, str], between: _Between) -> SkillChange:
    """Compare scores and findings.

    A finding that is only suppressed now is not fixed: it is in ``suppressed`` alone. Nor is one that could not be
    looked for.
    """
    gone, own = unmatched(_own(before.findings) if after.evaluated else (), _own(after.findings), moves)
    aside = _newly_suppressed(before, after, moves, between)
    fixed, _ = unmatched(gone, _own(item.finding for item in aside), moves)
    came = _picked(after.findings, own, between.came)
    was, now = before.composite.score, after.composite.score
    differing = not_comparable(before, after)
    changes = dict(_dimensions(before, after))
    return SkillChange(
        name=after.skill.name,
        state=State.UNCHANGED,
        before=None,
        after=_side(after),
        change=None if was is None or now is None or differing else round(now - was, 2),
        dimensions={key: unmoved(item) for key, item in changes.items()} if differing else changes,
        new=came,
        fixed=_picked(before.findings, fixed, between.gone),
        kept=len(after.findings) - len(came),
        suppressed=aside,
    )


def _sampled(before: SkillResult, after: SkillResult) -> tuple[SampledChange, ...]:
    if not is_simulated((before, after)):
        return ()
    from skillgate.report.simulated_compared import sampled_changes  # only where sessions or matches were asked for

    return sampled_changes(before, after)


def _newly_suppressed(
    before: SkillResult, after: SkillResult, moves: Mapping[str, str], between: _Between
) -> tuple[Suppressed, ...]:
    _, aside = unmatched(
        _own(item.finding for item in before.suppressed), _own(item.finding for item in after.suppressed), moves
    )
    left = {id(finding) for finding in (*aside, *between.aside)}
    return tuple(item for item in after.suppressed if id(item.finding) in left)


def _dimensions(before: SkillResult, after: SkillResult) -> Iterator[tuple[Dimension, DimensionChange]]:
    for dimension in Dimension:
        change = dimension_change(before.dimensions.get(dimension), after.dimensions.get(dimension))
        if change.a is not None or change.b is not None:
            yield dimension, change


def dimension_change(a: DimensionScore | None, b: DimensionScore | None) -> DimensionChange:
    """Set one dimension's scores side by side; there is no change where one side did not measure it."""
    before, after = (None if side is None else side.score for side in (a, b))
    if before is None or after is None:
        return DimensionChange(a=before, b=after, change=None, better=None)
    change = round(after - before, 4)
    return DimensionChange(a=before, b=after, change=change, better="b" if change > 0 else "a" if change < 0 else None)


def _regression(
    before: SkillResult, after: SkillResult, allowed: float, drop: DropTest | None, on_inconclusive: str
) -> GateOutcome:
    if differing := not_comparable(before, after):
        return GateOutcome(gate="regression", verdict=Outcome.INCONCLUSIVE, reason=differing)
    if after.evaluated:
        return regression("it", before, after, allowed, drop=drop, on_inconclusive=on_inconclusive)
    reason = after.composite.reason or "not evaluated"
    return GateOutcome(gate="regression", verdict=Outcome.UNMEASURED, reason=reason)


def _differs(change: SkillChange) -> bool:
    before, after = change.before, change.after
    if before is None or after is None:
        return True
    return bool(
        before._replace(path="", reason=None) != after._replace(path="", reason=None)
        or change.new
        or change.fixed
        or change.suppressed
        or any(item.a != item.b for item in change.dimensions.values())
        or any(item.before.value != item.after.value for item in change.sampled)
    )


def _summary(skills: Sequence[SkillChange]) -> DiffSummary:
    states = [change.state for change in skills]
    return DiffSummary(
        new=states.count(State.NEW),
        removed=states.count(State.REMOVED),
        changed=states.count(State.CHANGED),
        unchanged=states.count(State.UNCHANGED),
        moved=sum(change.moved for change in skills),
        regressions=sum(change.regressed for change in skills),
        findings_new=sum(len(change.new) for change in skills),
        findings_fixed=sum(len(change.fixed) for change in skills),
        findings_kept=sum(change.kept for change in skills),
    )


def _gate(skills: Iterable[SkillChange], *, strict: bool) -> Verdict:
    """Answer for all skills: failed by any regression; undecided where none was found and a skill was not evaluated.

    What chance may explain fails too if ``strict``. A new skill that was not evaluated leaves nothing undecided: it has
    no baseline to fall below.
    """
    gated = [(change.path, change.regression) for change in skills if change.regression is not None]
    failed = tuple(
        outcome._replace(reason=f"{path}: {outcome.reason}")
        for path, outcome in gated
        if outcome.verdict is not Outcome.PASS
    )
    verdicts = {outcome.verdict for outcome in failed}
    fails = Outcome.FAIL in verdicts or (strict and Outcome.INCONCLUSIVE in verdicts)
    passed = False if fails else None if verdicts else True
    return Verdict(passed=passed, outcomes=failed)


def _coverage_hints(skills: Iterable[SkillChange]) -> Iterator[str]:
    """Say where one side alone measured a dimension: the composites rest on different ones."""
    lone: dict[Dimension, list[str]] = {}
    for change in skills:
        if change.change is not None:
            for dimension, item in change.dimensions.items():
                if (item.a is None) != (item.b is None):
                    lone.setdefault(dimension, []).append(change.path)
    for dimension, paths in lone.items():
        where = _named(paths)
        yield f"{dimension.value} was measured on one side only in {where}: the scores rest on different dimensions"


def _session_hints(pairs: Iterable[Pair]) -> Iterator[str]:
    """Say where sessions of one side alone measured a dimension: its scores rest on different layers."""
    lone: dict[Dimension, list[str]] = {}
    for before, after in pairs:
        if before is not None and after is not None and is_simulated((before, after)):
            from skillgate.report.simulated_compared import lone_scores  # only where sessions were asked for

            for dimension in lone_scores(before, after):
                lone.setdefault(dimension, []).append(after.skill.path)
    for dimension, paths in lone.items():
        yield f"sessions measured {dimension.value} on one side only in {_named(paths)}: it rests on different layers"


def _named(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return f"{', '.join(paths[:_NAMED])}{more}"
