"""The line from sources to a report: assess, settle, blend, composite, gate. Nothing here touches the world."""

from __future__ import annotations

from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.assessment import Assessment, Member
from skillgate.model.report import Composite, Report, SkillName, SkillResult, Tool, Verdict
from skillgate.model.score import Depth
from skillgate.model.skill import SkillSource, Unreadable
from skillgate.scoring.gate import Policy, judge, judge_outside, together
from skillgate.scoring.listing import listing_use
from skillgate.scoring.result import result
from skillgate.scoring.selection import Selection, settle
from skillgate.scoring.summary import summarise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from skillgate.model.finding import Claim, Finding
    from skillgate.model.skill import SkillRoot, Waiver

    Assess = Callable[[Sequence[SkillSource]], Iterable[Assessment]]
    Across = Callable[[Sequence[Member]], Sequence[tuple[str, Claim]]]

SIMILAR = 0.6  # of a description's own BM25 score: nearer than that, two skills say nearly the same


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


class _Judged(NamedTuple):
    """A skill on its way to a result: what advice needs is kept until every skill is known."""

    root: SkillRoot
    facts: Assessment
    claims: tuple[Claim, ...]


def evaluate(sources: Iterable[SkillSource | Unreadable], context: Context) -> Report:
    """Evaluate skills at quick depth; one that cannot be read is reported, and stops none of the others."""
    read = list(sources)
    judged = _judged(read, context)
    if context.beside is not None:
        context.beside(tuple(_across(judged.values(), context)))
    found = list(_results(read, judged, context))
    results = [result for result, _ in found]
    profiles = {_profile(context.selection(item.root.path)) for item in read}
    report = Report(
        depth=Depth.QUICK,
        coverage=min((result.coverage for result in results if result.composite.score is not None), default=None),
        config_digest=context.config_digest,
        tool=Tool(version=context.version),
        results=tuple(results),
        summary=summarise(results, found=len(read)),
        gate=Verdict(passed=None),
        profile="by path" if len(profiles) > 1 else next(iter(profiles), "any"),
        listing=listing_use([_member(item) for item in judged.values()], before=context.before, alone=context.alone),
    )
    if context.attach is not None:
        report = context.attach(report)
    return _decided(report, [policy for _, policy in found], context)


def _profile(selection: Selection) -> str:
    return selection.profile.value if selection.profile else "any"


def _results(
    read: Sequence[SkillSource | Unreadable], judged: Mapping[int, _Judged], context: Context
) -> Iterator[tuple[SkillResult, Policy]]:
    """Give the result of each skill that is asked about with its policy.

    Of another, where it shares something with one of them, only that is told, and only findings may fail it.
    """
    neighbours = _neighbours(list(judged.values())) if context.detail else {}
    asked = _asked(read, judged, context.touched)
    for index, item in enumerate(read):
        policy = context.policy(item.root.path)
        if index not in judged:
            if index in asked and isinstance(item, Unreadable):
                yield _unread(item), policy
        elif index in asked:
            yield _result(judged[index], neighbours, context), policy
        elif shared := tuple(claim for claim in judged[index].claims if claim.other in asked.values()):
            beside = _result(judged[index]._replace(claims=shared), neighbours, context)
            yield beside, Policy(fail_on=policy.fail_on & frozenset({"error", "warning"}))


def _decided(report: Report, policies: Sequence[Policy], context: Context) -> Report:
    """Ask every gate, of each skill and of what belongs to none."""
    baseline = context.baseline
    results = tuple(
        result._replace(
            gate=judge(
                result, policy, baseline.get(result.skill.path) if baseline else None, compared=baseline is not None
            )
        )
        for result, policy in zip(report.results, policies, strict=True)
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
        judged[place] = _Judged(source.root, facts, facts.claims)
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
        from skillgate.assess import assess  # brings in the parsers: only for what was not kept

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
        plugin=_plugin(item.root),
        file=item.root.file_name,
        mark=item.facts.mark,
    )


def _plugin(root: SkillRoot) -> str | None:
    """Show the plugin of a skill as the skill itself is shown: its path less what lies below the plugin."""
    if root.plugin is None:
        return None
    below = [part for part in root.directory[len(root.plugin) :].split("/") if part]
    parts = [part for part in str(root.path).split("/") if part != "."]
    if parts[len(parts) - len(below) :] == below or not parts:
        kept = parts[: len(parts) - len(below)] if parts else [".."] * len(below)
        return ("/" if str(root.path).startswith("/") else "") + "/".join(part for part in kept if part) or "."
    return root.plugin or "."


def _name(root: SkillRoot, name: str = "") -> SkillName:
    return SkillName(name=name or root.name, path=str(root.path))


def _unread(item: Unreadable) -> SkillResult:
    reason = f"not evaluated: {item.reason}"
    return SkillResult(
        composite=Composite(score=None, badge=None, reason=reason, badge_reason=reason),
        dimensions={},
        layers=(),
        skill=_name(item.root),
        plugin=_plugin(item.root),
        evaluated=False,
    )


def _result(item: _Judged, neighbours: Mapping[str, str], context: Context) -> SkillResult:
    root, path = item.root, str(item.root.path)
    asked = context.selection(root.path)
    honoured = None if context.honoured is None else partial(context.honoured, path)
    settled = settle(
        item.claims, item.facts.waivers, asked, directory=root.path, known=context.known, honoured=honoured
    )
    return result(
        item.facts,
        settled,
        skill=_name(root, item.facts.name),
        plugin=_plugin(root),
        neighbour=neighbours.get(path),
        detail=context.detail,
    )


def _neighbours(judged: Sequence[_Judged]) -> dict[str, str]:
    """Find, for each skill that is too short for its kind, the skill that describes nearly the same."""
    short = [str(item.root.path) for item in judged if item.facts.short]
    if len(judged) < 2 or not short:
        return {}
    from skillgate.skill.similarity import Index  # one skill alone has no neighbours and does not pay for it

    texts = {str(item.root.path): _listed(item.facts) for item in judged}
    index = Index(tuple(texts.items()))
    found = {}
    for key in short:
        matches = index.rank(texts[key], limit=2)
        own = next((match.score for match in matches if match.key == key), 0.0)
        other = next((match for match in matches if match.key != key), None)
        if other is not None and own and other.score >= SIMILAR * own:
            found[key] = other.key
    return found


def _listed(facts: Assessment) -> str:
    """Give what a client lists of a skill: its name and description."""
    return f"{facts.listing.name} {facts.listing.description}"
