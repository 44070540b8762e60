"""Evaluate skills: from their bytes to results, gates and a report."""

from __future__ import annotations

from functools import partial
from pathlib import PurePosixPath
from time import perf_counter_ns
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from skillgate import __version__
from skillgate.evaluation.deepen import Asked, Deepened, total
from skillgate.model.assessment import Assessment, Member
from skillgate.model.digest import digest
from skillgate.model.report import Composite, Report, SkillName, SkillResult, Tool, Verdict
from skillgate.model.score import Depth
from skillgate.model.skill import SkillSource, Unreadable
from skillgate.scoring.drops import sampled_drops
from skillgate.scoring.gate import Policy, judge, judge_outside, together
from skillgate.scoring.listing import listing_use
from skillgate.scoring.result import Deeper, result
from skillgate.scoring.selection import Selection, settle
from skillgate.scoring.summary import summarise
from skillgate.skill.neighbours import nearest
from skillgate.skill.plugins import shown_plugin

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from skillgate.evaluation.deepen import SampledLayers
    from skillgate.model.finding import Claim, Finding
    from skillgate.model.judging import DropTest
    from skillgate.model.skill import SkillRoot, Waiver

    Assess = Callable[[Sequence[SkillSource]], Iterable[Assessment]]
    Across = Callable[[Sequence[Member]], Sequence[tuple[str, Claim]]]
    Remeasure = Callable[[Collection[str]], Mapping[str, SkillResult]]
    Touched = Callable[[SkillRoot, Assessment | None], bool]


def assess_here(sources: Sequence[SkillSource]) -> Iterator[Assessment]:
    """Measure the static layer in this process, and keep nothing."""
    from skillgate.evaluation.assess import assess  # brings in the parsers: only for what was not kept

    return (assess(source, perf_counter_ns) for source in sources)


def across_here(members: Sequence[Member]) -> Sequence[tuple[str, Claim]]:
    """Find what shows only next to other skills."""
    from skillgate.static.beside import claims_across  # one skill alone does not pay for it

    return claims_across(members)


def _no_policy(_: PurePosixPath) -> Policy:
    return Policy()


def _everything(_: PurePosixPath) -> Selection:
    return Selection()


class Assessor(NamedTuple):
    """Who measures the static layer.

    Attributes:
        assess: measures skills one by one, in their order.
        across: finds what shows only next to other skills.
    """

    assess: Assess = assess_here
    across: Across = across_here


class Criteria(NamedTuple):
    """What skills are held to.

    Attributes:
        policy: the gate for a skill, by its shown path.
        selection: the findings that are reported of a skill, by its shown path.
        known: whether a finding is known already; None without a file of those.
        honoured: whether a comment in a skill's files may set a claim aside that it covers, by the skill's shown path;
            None where every comment may.
    """

    policy: Callable[[PurePosixPath], Policy] = _no_policy
    selection: Callable[[PurePosixPath], Selection] = _everything
    known: Callable[[Finding], bool] | None = None
    honoured: Callable[[str, Claim, Waiver], bool] | None = None


class Evaluator(NamedTuple):
    """How skills are evaluated.

    Attributes:
        assessor: who measures the static layer.
        criteria: what skills are held to.
        sampled: the layers that ask models; None at quick depth.
        detail: whether evidence and advice are wanted too.
        progress: called after each skill with how many the static layer has measured.
    """

    assessor: Assessor = Assessor()
    criteria: Criteria = Criteria()
    sampled: SampledLayers | None = None
    detail: bool = True
    progress: Callable[[int], None] | None = None


class Baseline(NamedTuple):
    """What a run is compared with.

    Attributes:
        results: the result of each skill that had one, by its shown path now.
        gone: the result of each skill that is not here any more, below the paths that were asked about.
        listing: characters of each client's list, by client and place; None where the baseline does not say.
        across: the findings across skills; None where the baseline does not say.
        moves: where a skill is shown now, by where the baseline shows it; only those that moved.
        remeasure: measures it as deep as the run goes, for the skills of these shown paths; None where it is so deep.
    """

    results: Mapping[str, SkillResult]
    gone: tuple[SkillResult, ...] = ()
    listing: Mapping[tuple[str, str], int] | None = None
    across: tuple[Finding, ...] | None = None
    moves: Mapping[str, str] = MappingProxyType({})
    remeasure: Remeasure | None = None


class Evaluated(NamedTuple):
    """What came of skills.

    Attributes:
        report: of the skills that are reported, without the configuration's digest.
        across: every finding across skills: also of skills that are not reported, and what is suppressed or known.
        members: the skills as neighbours of one another.
        baseline: what they were compared with, by shown path, at the depth of the report; None without a baseline.
    """

    report: Report
    across: tuple[Finding, ...]
    members: tuple[Member, ...]
    baseline: Mapping[str, SkillResult] | None = None


class _Judged(NamedTuple):
    """A skill on its way to a result: what advice needs is kept until every skill is known."""

    root: SkillRoot
    facts: Assessment
    claims: tuple[Claim, ...]
    digest: str | None = None


def evaluate(
    sources: Iterable[SkillSource | Unreadable],
    evaluator: Evaluator,
    *,
    touched: Touched | None = None,
    baseline: Baseline | None = None,
    attach: Callable[[Report], Report] | None = None,
) -> Evaluated:
    """Evaluate skills; one that cannot be read is reported, and stops none of the others.

    Args:
        sources: the skills.
        evaluator: how they are evaluated.
        touched: whether a skill is reported, by its root and, where it could be read, what is known of it; None for
            all. Of another only what it has in common with one that is reported.
        baseline: what to compare with.
        attach: adds findings of other tools to a report, before the gate is asked.
    """
    criteria, sampled = evaluator.criteria, evaluator.sampled
    read = list(sources)
    judged = _judged(read, evaluator)
    asked = _asked(read, judged, touched)
    before = None if baseline is None else baseline.results
    was: tuple[SkillResult, ...] = ()
    if baseline is not None and baseline.remeasure is not None:
        before = baseline.remeasure(asked.values())
        was = tuple(before.values())  # measured in this run, and paid for in it
    run = Deepened() if sampled is None else sampled.measure(_to_judge(read, judged, asked, before))
    found = list(_results(read, judged, asked, run.skills, evaluator))
    results = [result for result, _ in found]
    profiles = {_profile(criteria.selection(item.root.path)) for item in read}
    members = tuple(_member(item) for item in judged.values())
    report = Report(
        depth=Depth.QUICK if sampled is None else sampled.depth,
        coverage=min((result.coverage for result in results if result.composite.score is not None), default=None),
        config_digest="",
        tool=Tool(version=__version__),
        results=tuple(results),
        summary=summarise(results, found=len(read)),
        gate=Verdict(passed=None),
        profile="by path" if len(profiles) > 1 else next(iter(profiles), "any"),
        listing=listing_use(members, before=None if baseline is None else baseline.listing),
        models=run.models,
        usage=total(result.usage for result in (*results, *was)),
        agreement=run.agreement,
        calibration=run.trust,
    )
    if attach is not None:
        report = attach(report)
    drops = _drops(report, before, [policy for _, policy in found], sampled)
    report = _decided(report, [policy for _, policy in found], drops, before, spent=run.spent, criteria=criteria)
    return Evaluated(report, tuple(_across(judged.values(), criteria)), members, before)


def _profile(selection: Selection) -> str:
    return selection.profile.value if selection.profile else "any"


def _results(
    read: Sequence[SkillSource | Unreadable],
    judged: Mapping[int, _Judged],
    asked: Mapping[int, str],
    deeper: Mapping[str, Deeper],
    evaluator: Evaluator,
) -> Iterator[tuple[SkillResult, Policy]]:
    """Yield the result of each skill that is reported with its policy.

    Of another, where it shares something with one of them, only that is told, and only findings may fail it.
    """
    neighbours = nearest([(str(item.root.path), item.facts) for item in judged.values()]) if evaluator.detail else {}
    for index, item in enumerate(read):
        policy = evaluator.criteria.policy(item.root.path)
        if index not in judged:
            if index in asked and isinstance(item, Unreadable):
                yield _unread(item), policy
        elif index in asked:
            yield _result(judged[index], neighbours, evaluator, deeper.get(asked[index])), policy
        elif shared := tuple(claim for claim in judged[index].claims if claim.other in asked.values()):
            beside = _result(judged[index]._replace(claims=shared), neighbours, evaluator, None)
            yield beside, Policy(fail_on=policy.fail_on & frozenset({"error", "warning"}))


def _to_judge(
    read: Sequence[SkillSource | Unreadable],
    judged: Mapping[int, _Judged],
    asked: Mapping[int, str],
    before: Mapping[str, SkillResult] | None,
) -> list[Asked]:
    """List the skills that are reported and could be read, for the sampled layers."""
    wanted = []
    for index, path in asked.items():
        source = read[index]
        if isinstance(source, SkillSource):
            wanted.append(Asked(source, judged[index].facts, before.get(path) if before else None))
    return wanted


def _drops(
    report: Report,
    before: Mapping[str, SkillResult] | None,
    policies: Sequence[Policy],
    sampled: SampledLayers | None,
) -> tuple[DropTest | None, ...]:
    """Test whether chance may explain each skill's drop, where a layer samples."""
    if sampled is None:
        return tuple(None for _ in report.results)
    pairs = [(before.get(result.skill.path) if before else None, result) for result in report.results]
    return sampled_drops(pairs, [policy.max_drop for policy in policies])


def _decided(
    report: Report,
    policies: Sequence[Policy],
    drops: Sequence[DropTest | None],
    before: Mapping[str, SkillResult] | None,
    *,
    spent: str | None,
    criteria: Criteria,
) -> Report:
    """Ask every gate, of each skill and of what belongs to none."""
    results = []
    for one, policy, drop in zip(report.results, policies, drops, strict=True):
        was = before.get(one.skill.path) if before else None
        gate = judge(one, policy, was, compared=before is not None, drop=drop, spent=spent)
        results.append(one._replace(drop=drop, gate=gate))
    verdicts = [one.gate for one in results]
    if report.outside:
        verdicts.append(judge_outside(report.outside, criteria.policy(PurePosixPath())))
    passed = together(verdicts)
    if passed and not all(one.evaluated for one in results):
        passed = None  # a run in which a skill could not be read has failed, or has not been decided
    outcomes = verdicts[-1].outcomes if report.outside else ()
    return report._replace(results=tuple(results), gate=Verdict(passed=passed, outcomes=outcomes))


def _asked(
    read: Sequence[SkillSource | Unreadable],
    judged: Mapping[int, _Judged],
    touched: Touched | None,
) -> dict[int, str]:
    """Return the shown paths of the skills that are reported, by their place."""
    return {
        index: str(item.root.path)
        for index, item in enumerate(read)
        if touched is None or touched(item.root, judged[index].facts if index in judged else None)
    }


def _judged(read: Sequence[SkillSource | Unreadable], evaluator: Evaluator) -> dict[int, _Judged]:
    """Assess every skill that could be read, by its place, and lay what shows only beside others to its claims."""
    places = [index for index, item in enumerate(read) if not isinstance(item, Unreadable)]
    sources = [item for item in read if isinstance(item, SkillSource)]
    judged = {}
    for place, source, facts in zip(places, sources, evaluator.assessor.assess(sources), strict=True):
        judged[place] = _Judged(source.root, facts, facts.claims, main_digest(source))
        if evaluator.progress is not None:
            evaluator.progress(len(judged))
    if len(judged) > 1:
        members = [_member(item) for item in judged.values()]
        found: dict[str, list[Claim]] = {}
        for path, claim in evaluator.assessor.across(members):
            found.setdefault(path, []).append(claim)
        for place, item in judged.items():
            more = found.get(str(item.root.path))
            if more:
                judged[place] = item._replace(claims=(*item.claims, *more))
    return judged


def _across(judged: Iterable[_Judged], criteria: Criteria) -> Iterator[Finding]:
    for item in judged:
        claims = [claim for claim in item.claims if claim.group == "across"]
        if claims:
            yield from settle(claims, (), criteria.selection(item.root.path), directory=item.root.path).findings


def _member(item: _Judged) -> Member:
    return Member(
        path=str(item.root.path),
        listing=item.facts.listing,
        told=item.facts.told,
        plugin=shown_plugin(item.root),
        file=item.root.file_name,
        mark=item.facts.mark,
    )


def main_digest(source: SkillSource) -> str | None:
    """Return the digest of a skill's main file; None where not all of it was read."""
    return digest(source.data) if len(source.data) == source.size else None


def _name(root: SkillRoot, name: str = "", content: str | None = None) -> SkillName:
    return SkillName(name or root.name, str(root.path), root.repository_path, content)


def _unread(item: Unreadable) -> SkillResult:
    reason = f"not evaluated: {item.reason}"
    return SkillResult(
        composite=Composite(score=None, badge=None, reason=reason, badge_reason=reason),
        dimensions={},
        layers=(),
        skill=_name(item.root),
        plugin=shown_plugin(item.root),
        evaluated=False,
    )


def _result(item: _Judged, neighbours: Mapping[str, str], evaluator: Evaluator, deeper: Deeper | None) -> SkillResult:
    root, path, criteria = item.root, str(item.root.path), evaluator.criteria
    if deeper is None and evaluator.sampled is not None:
        deeper = Deeper(failure="not judged: it is not asked about")
    honoured = None if criteria.honoured is None else partial(criteria.honoured, path)
    settled = settle(
        (*item.claims, *(deeper.claims if deeper else ())),
        item.facts.waivers,
        criteria.selection(root.path),
        directory=root.path,
        known=criteria.known,
        honoured=honoured,
    )
    return result(
        item.facts,
        settled,
        skill=_name(root, item.facts.name, item.digest),
        plugin=shown_plugin(root),
        neighbour=neighbours.get(path),
        detail=evaluator.detail,
        deeper=deeper,
    )
