"""The line from sources to a report: assess, settle, blend, composite, gate. Nothing here touches the world."""

from __future__ import annotations

from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from skillgate.evaluate.deepen import Asked, Deepened, total
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

    from skillgate.evaluate.deepen import Deepen
    from skillgate.model.finding import Claim, Finding
    from skillgate.model.judging import DropTest
    from skillgate.model.skill import SkillRoot, Waiver

    Assess = Callable[[Sequence[SkillSource]], Iterable[Assessment]]
    Across = Callable[[Sequence[Member]], Sequence[tuple[str, Claim]]]


def _no_policy(_: PurePosixPath) -> Policy:
    return Policy()


def _everything(_: PurePosixPath) -> Selection:
    return Selection()


class Context(NamedTuple):
    """What an evaluation is given besides its sources.

    Attributes:
        version: the tool's version, for the report.
        clock: monotonic nanoseconds.
        config_digest: of the effective configuration.
        policy: the gate for a skill, by its shown path.
        selection: the findings asked for of a skill, by its shown path.
        known: tells whether a finding is known already, None without a file of those.
        baseline: results to compare with, by shown path; None when no baseline was asked for.
        before: what the baseline's skills took of each client's listing, by client and place.
        alone: whether what clients list is counted of one skill by itself too, as something is compared with it.
        progress: told after each skill how many are done.
        assess: judges sources, in their order; None to judge each here and now.
        across: finds what shows only beside other skills; None to look here and now.
        beside: told of every finding across skills: also of skills that are not asked about, and of what is suppressed
            or known.
        touched: tells whether a skill is asked about, by its root and, where it could be read, what is known of it;
            None for all. Of another only what it has in common with one that is asked about is reported.
        honoured: tells whether a comment in a skill's files may set a claim aside that it covers, by the skill's shown
            path; None where every comment may.
        attach: adds findings of other tools to a report, before the gate is asked.
        detail: whether evidence and advice are wanted too.
        depth: what the report says of itself.
        deepen: runs the sampled layers on the skills that are asked about; None at quick depth.
        again: gives the baseline at this depth for the skills of these shown paths, which alone are asked about; None
            where ``baseline`` is at this depth already.
        models: those that ``deepen`` asks, each once.
        judged_as: the versions of the questions, and whether a real model answers: as :func:`judged_as` gives it.
    """

    version: str
    clock: Callable[[], int]
    config_digest: str = ""
    policy: Callable[[PurePosixPath], Policy] = _no_policy
    selection: Callable[[PurePosixPath], Selection] = _everything
    known: Callable[[Finding], bool] | None = None
    baseline: Mapping[str, SkillResult] | None = None
    before: Mapping[tuple[str, str], int] | None = None
    alone: bool = False
    progress: Callable[[int], None] | None = None
    assess: Assess | None = None
    across: Across | None = None
    beside: Callable[[tuple[Finding, ...]], None] | None = None
    touched: Callable[[SkillRoot, Assessment | None], bool] | None = None
    honoured: Callable[[str, Claim, Waiver], bool] | None = None
    attach: Callable[[Report], Report] | None = None
    detail: bool = True
    depth: Depth = Depth.QUICK
    deepen: Deepen | None = None
    again: Callable[[Collection[str]], Mapping[str, SkillResult]] | None = None
    models: tuple[str, ...] = ()
    judged_as: tuple[str, ...] = ()


class _Judged(NamedTuple):
    """A skill on its way to a result: what advice needs is kept until every skill is known."""

    root: SkillRoot
    facts: Assessment
    claims: tuple[Claim, ...]
    digest: str | None = None


def evaluate(sources: Iterable[SkillSource | Unreadable], context: Context) -> Report:
    """Evaluate skills; one that cannot be read is reported, and stops none of the others."""
    read = list(sources)
    judged = _judged(read, context)
    if context.beside is not None:
        context.beside(tuple(_across(judged.values(), context)))
    asked = _asked(read, judged, context.touched)
    was: tuple[SkillResult, ...] = ()
    if context.again is not None:
        context = context._replace(baseline=context.again(asked.values()))
        was = tuple((context.baseline or {}).values())  # measured in this run, and paid for in it
    run = _deepened(read, judged, asked, context)
    found = list(_results(read, judged, asked, run.skills, context))
    results = [result for result, _ in found]
    profiles = {_profile(context.selection(item.root.path)) for item in read}
    report = Report(
        depth=context.depth,
        coverage=min((result.coverage for result in results if result.composite.score is not None), default=None),
        config_digest=context.config_digest,
        tool=Tool(version=context.version),
        results=tuple(results),
        summary=summarise(results, found=len(read)),
        gate=Verdict(passed=None),
        profile="by path" if len(profiles) > 1 else next(iter(profiles), "any"),
        listing=listing_use([_member(item) for item in judged.values()], before=context.before, alone=context.alone),
        models=run.models,
        usage=total(result.usage for result in (*results, *was)),
        agreement=run.agreement,
        calibration=run.trust,
    )
    if context.attach is not None:
        report = context.attach(report)
    return _decided(report, [policy for _, policy in found], run.spent, context)


def _profile(selection: Selection) -> str:
    return selection.profile.value if selection.profile else "any"


def _results(
    read: Sequence[SkillSource | Unreadable],
    judged: Mapping[int, _Judged],
    asked: Mapping[int, str],
    deeper: Mapping[str, Deeper],
    context: Context,
) -> Iterator[tuple[SkillResult, Policy]]:
    """Give the result of each skill that is asked about with its policy.

    Of another, where it shares something with one of them, only that is told, and only findings may fail it.
    """
    neighbours = nearest([(str(item.root.path), item.facts) for item in judged.values()]) if context.detail else {}
    for index, item in enumerate(read):
        policy = context.policy(item.root.path)
        if index not in judged:
            if index in asked and isinstance(item, Unreadable):
                yield _unread(item), policy
        elif index in asked:
            yield _result(judged[index], neighbours, context, deeper.get(asked[index])), policy
        elif shared := tuple(claim for claim in judged[index].claims if claim.other in asked.values()):
            beside = _result(judged[index]._replace(claims=shared), neighbours, context, None)
            yield beside, Policy(fail_on=policy.fail_on & frozenset({"error", "warning"}))


def _deepened(
    read: Sequence[SkillSource | Unreadable], judged: Mapping[int, _Judged], asked: Mapping[int, str], context: Context
) -> Deepened:
    """Run the sampled layers on the skills that are asked about and could be read."""
    if context.deepen is None:
        return Deepened()
    wanted = []
    for index, path in asked.items():
        source = read[index]
        if isinstance(source, SkillSource):
            before = context.baseline.get(path) if context.baseline else None
            wanted.append(Asked(source, judged[index].facts, before))
    return context.deepen(wanted)


def _decided(report: Report, policies: Sequence[Policy], spent: str | None, context: Context) -> Report:
    """Ask every gate, of each skill and of what belongs to none."""
    baseline = context.baseline
    before = [baseline.get(result.skill.path) if baseline else None for result in report.results]
    drops: tuple[DropTest | None, ...] = tuple(None for _ in before)
    if context.deepen is not None:
        pairs = list(zip(before, report.results, strict=True))
        drops = sampled_drops(pairs, [policy.max_drop for policy in policies])
    results = tuple(
        result._replace(
            drop=drop, gate=judge(result, policy, was, compared=baseline is not None, drop=drop, spent=spent)
        )
        for result, policy, was, drop in zip(report.results, policies, before, drops, strict=True)
    )
    verdicts = [result.gate for result in results]
    if report.outside:
        verdicts.append(judge_outside(report.outside, context.policy(PurePosixPath())))
    passed = together(verdicts)
    if passed and not all(result.evaluated for result in results):
        passed = None  # a run in which a skill could not be read has failed, or has not been decided
    outcomes = verdicts[-1].outcomes if report.outside else ()
    return report._replace(results=results, gate=Verdict(passed=passed, outcomes=outcomes))


def _asked(
    read: Sequence[SkillSource | Unreadable],
    judged: Mapping[int, _Judged],
    touched: Callable[[SkillRoot, Assessment | None], bool] | None,
) -> dict[int, str]:
    """Give the shown paths of the skills that are asked about, by their place."""
    return {
        index: str(item.root.path)
        for index, item in enumerate(read)
        if touched is None or touched(item.root, judged[index].facts if index in judged else None)
    }


def _judged(read: Sequence[SkillSource | Unreadable], context: Context) -> dict[int, _Judged]:
    """Assess every skill that could be read, by its place, and lay what shows only beside others to its claims."""
    places = [index for index, item in enumerate(read) if not isinstance(item, Unreadable)]
    sources = [item for item in read if isinstance(item, SkillSource)]
    judged = {}
    for place, source, facts in zip(places, sources, (context.assess or _here(context))(sources), strict=True):
        judged[place] = _Judged(source.root, facts, facts.claims, main_digest(source))
        if context.progress is not None:
            context.progress(len(judged))
    if len(judged) > 1:
        members = [_member(item) for item in judged.values()]
        found: dict[str, list[Claim]] = {}
        for path, claim in (context.across or _across_here)(members):
            found.setdefault(path, []).append(claim)
        for place, item in judged.items():
            more = found.get(str(item.root.path))
            if more:
                judged[place] = item._replace(claims=(*item.claims, *more))
    return judged


def _across(judged: Iterable[_Judged], context: Context) -> Iterator[Finding]:
    for item in judged:
        claims = [claim for claim in item.claims if claim.group == "across"]
        if claims:
            yield from settle(claims, (), context.selection(item.root.path), directory=item.root.path).findings


def _here(context: Context) -> Assess:
    def assess_all(sources: Sequence[SkillSource]) -> Iterator[Assessment]:
        from skillgate.evaluate.assess import assess  # brings in the parsers: only for what was not kept

        return (assess(source, context.clock) for source in sources)

    return assess_all


def _across_here(members: Sequence[Member]) -> Sequence[tuple[str, Claim]]:
    from skillgate.static.beside import claims_across  # one skill alone does not pay for it

    return claims_across(members)


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


def _result(item: _Judged, neighbours: Mapping[str, str], context: Context, deeper: Deeper | None) -> SkillResult:
    root, path = item.root, str(item.root.path)
    if deeper is None and context.deepen is not None:
        deeper = Deeper(failure="not judged: it is not asked about")
    asked = context.selection(root.path)
    honoured = None if context.honoured is None else partial(context.honoured, path)
    settled = settle(
        (*item.claims, *(deeper.claims if deeper else ())),
        item.facts.waivers,
        asked,
        directory=root.path,
        known=context.known,
        honoured=honoured,
    )
    return result(
        item.facts,
        settled,
        skill=_name(root, item.facts.name, item.digest),
        plugin=shown_plugin(root),
        neighbour=neighbours.get(path),
        detail=context.detail,
        deeper=deeper,
    )
