"""Evaluate skills: from their bytes to results, gates and a report; what was measured before is used again.

A cached assessment depends on the skill's main file, on what judging it asked of the files around it, and on the
programs that judge. Configuration, suppressions' dates and the gate come after, so one entry serves every run.
"""
# ruff: noqa: PTH116, PTH118, PTH120

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import PurePosixPath
from time import perf_counter_ns
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from skillgate import __version__
from skillgate.model import finding
from skillgate.model.finding import Assessment, Member
from skillgate.model.layers import Agreement, DropTest, Trust, Usage
from skillgate.model.report import Composite, Report, SkillName, SkillResult, Tool, Verdict
from skillgate.model.score import Depth, QualityEstimate
from skillgate.model.skill import SkillRoot, SkillSource, Unreadable, Waiver, digest
from skillgate.registry import PROVIDERS
from skillgate.scoring.composite import summarise
from skillgate.scoring.gate import Policy, judge, judge_outside, sampled_drops, together
from skillgate.scoring.listing import listing_use
from skillgate.scoring.result import Deeper, result
from skillgate.scoring.selection import Selection, settle
from skillgate.skill.walk import holds, shown_plugin

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from skillgate.cache import Cache
    from skillgate.model.finding import Claim, Finding

    Assess = Callable[[Sequence[SkillSource]], Iterable[Assessment]]
    Across = Callable[[Sequence[Member]], Sequence[tuple[str, Claim]]]
    Remeasure = Callable[[Collection[str]], Mapping[str, SkillResult]]
    Touched = Callable[[SkillRoot, Assessment | None], bool]

FORMAT = 2  # of a cached entry: changes with what is written
_PARSERS = ("markdown_it", "yaml")


class Assessor:
    """Measure the static layer of skills, from the cache where it knows them.

    Attributes:
        reused: how many assessments came from the cache.
    """

    def __init__(
        self,
        cache: Cache | None = None,
        *,
        clock: Callable[[], int] = perf_counter_ns,
        optional: bool = True,
        made_by: bytes | None = None,
        use_processes: bool = True,
    ) -> None:
        """Take the cache, None for none.

        Args:
            cache: what was measured before.
            clock: monotonic nanoseconds.
            optional: whether opt-in rules are asked too.
            made_by: names the programs that judge; None for :func:`stamp`. Nothing that others made is used.
            use_processes: whether several processes may share the work.
        """
        self.reused = 0
        self._cache, self._clock, self._optional, self._use_processes = cache, clock, optional, use_processes
        self._stamp = b"" if cache is None else stamp() if made_by is None else made_by

    @property
    def failure(self) -> str | None:
        """Why results could not be cached, None where they could, or were not to be."""
        return None if self._cache is None else self._cache.failure

    def assess(self, sources: Sequence[SkillSource]) -> Iterator[Assessment]:
        """Yield an assessment for each source, in their order."""
        keys = [self._key(source) if self._cache is not None else "" for source in sources]
        cached = [self._cached(key, source) for key, source in zip(keys, sources, strict=True)]
        self.reused += sum(facts is not None for facts in cached)
        missing = [(key, one) for key, one, facts in zip(keys, sources, cached, strict=True) if facts is None]
        fresh = self._fresh(missing)
        for facts in cached:
            yield next(fresh) if facts is None else facts

    def across(self, members: Sequence[Member]) -> Sequence[tuple[str, Claim]]:
        """Find what shows only next to other skills; each claim comes with the path of its skill."""
        key = ""
        if self._cache is not None:
            key = self._digest("across", *((one.path, one.plugin, one.file, one.mark) for one in members))
            text = self._cache.get(key)
            try:
                if text is not None:
                    return finding.read_claims(text)
            except finding.UNREADABLE:
                pass  # of another make
        from skillgate.static.across import claims_across  # one skill alone does not pay for it

        claims = claims_across(members)
        if self._cache is not None:
            self._cache.put(key, finding.claims_text(claims))
        return claims

    def close(self) -> None:
        """End a run: let old entries go where there are too many."""
        if self._cache is not None:
            self._cache.close()

    def _fresh(self, missing: Sequence[tuple[str, SkillSource]]) -> Iterator[Assessment]:
        """Measure what is not cached, in several processes where that is faster."""
        if not missing:
            return
        done = 0
        if self._use_processes and len(missing) > 1:
            from skillgate.evaluation.workers import LostError, entries, jobs_of, pays

            jobs = jobs_of([source for _, source in missing], optional=self._optional)
            try:
                for text in entries(jobs) if pays(jobs) else ():
                    key, source = missing[done]
                    done += 1
                    if self._cache is not None:
                        self._cache.put(key, text)
                    yield finding.read_assessment(text.split("\n")[1:], self._later(source))
            except LostError:
                pass  # the rest is measured here
        from skillgate.evaluation.assess import watched  # brings in the parsers: only for what was not cached

        for key, source in missing[done:]:
            questions, facts = watched(source, self._clock, optional=self._optional)
            if self._cache is not None:
                self._cache.put(key, f"{questions}\n{finding.assessment_text(facts)}")
            yield facts

    def _cached(self, key: str, source: SkillSource) -> Assessment | None:
        text = self._cache.get(key) if self._cache is not None else None
        if text is None:
            return None
        try:
            questions, *rest = text.split("\n")
            return (
                finding.read_assessment(rest, self._later(source))
                if holds(source.root.tree, json.loads(questions))
                else None
            )
        except finding.UNREADABLE:
            return None  # of another make

    def _later(self, source: SkillSource) -> Callable[[], Assessment]:
        def assessed() -> Assessment:
            from skillgate.evaluation import assess  # only where an entry was of another make after all

            return assess.assess(source, self._clock, optional=self._optional)

        return assessed

    def _key(self, source: SkillSource) -> str:
        root = source.root
        origin: str = getattr(root.tree, "origin", "")
        place = (origin, root.directory, root.file_name, root.name, root.plugin)
        return self._digest((*place, source.size, source.siblings, self._optional), data=source.data)

    def _digest(self, *facts: object, data: bytes = b"") -> str:
        # As Python writes them: no two differ and look the same, and what UTF-8 lacks is escaped.
        return digest(self._stamp, repr(facts).encode(), data)


def stamp() -> bytes:
    """Return a name of the programs that judge: this package's files, the interpreter, and what else is installed."""
    import skillgate

    own, pending = [], [os.path.dirname(skillgate.__file__)]
    while pending:
        with os.scandir(pending.pop()) as items:
            for item in items:
                if item.name.endswith(".py"):
                    status = item.stat()
                    own.append((item.path, status.st_mtime_ns, status.st_size))
                elif item.name != "__pycache__" and item.is_dir():
                    pending.append(item.path)
    installed = [_modified(folder) for folder in sys.path if folder.endswith("-packages")]
    installed += [_modified(os.path.join(folder, name)) for folder in sys.path for name in _PARSERS]
    return digest(repr((FORMAT, __version__, sys.version, sorted(own), installed)).encode()).encode("ascii")


def _modified(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


class Criteria(NamedTuple):
    """What skills are held to; policy and selection by a skill's shown path."""

    policy: Callable[[PurePosixPath], Policy] = lambda _: Policy()
    selection: Callable[[PurePosixPath], Selection] = lambda _: Selection()
    known: Callable[[Finding], bool] | None = None  # whether a finding is known already
    honoured: Callable[[str, Claim, Waiver], bool] | None = None  # whether a comment may set a claim of a skill aside


class SampledSkill(NamedTuple):
    """A skill that models are asked about; ``before`` is its result in the baseline."""

    source: SkillSource
    facts: Assessment
    before: SkillResult | None = None


class Deepened(NamedTuple):
    """What the sampled layers say of a run."""

    skills: Mapping[str, Deeper] = MappingProxyType({})  # by shown path, for every skill that was asked about
    agreement: Agreement | None = None  # of the judges over all skills
    models: tuple[str, ...] = ()  # each once
    spent: str | None = None  # how the budget ended the run early
    trust: Trust | None = None  # how far people bear the judges out; None without a calibration


class SampledLayers(NamedTuple):
    """The layers that ask models; ``measure`` may be called several times."""

    depth: Depth
    measure: Callable[[Sequence[SampledSkill]], Deepened]
    models: tuple[str, ...] = ()  # each once
    judged_as: tuple[str, ...] = ()  # as :func:`judged_as` returns it


def judged_as(prompt_version: str, rubric_version: str, provider: str) -> tuple[str, ...]:
    """Return how a score came about, apart from its models; scores that came about otherwise are not compared."""
    is_made_up = provider in PROVIDERS and PROVIDERS.text(provider, "MADE_UP")
    answers = f"{provider} answers" if is_made_up else "a model's answers"
    return (f"prompts {prompt_version}", f"rubrics {rubric_version}", answers)


def total(usages: Iterable[Usage]) -> Usage:
    """Add up usages; the cost of all is unknown where that of one is."""
    parts = tuple(usages)
    known = [part.cost_usd for part in parts if part.cost_usd is not None]
    counts = ("calls", "cached", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "retries")
    return Usage(
        **{name: sum(getattr(part, name) for part in parts) for name in counts},
        cost_usd=round(sum(known, 0.0), 6) if len(known) == len(parts) else None,
        cost_reason=next((part.cost_reason for part in parts if part.cost_reason), None),
    )


def _assess_each(sources: Sequence[SkillSource]) -> Iterator[Assessment]:
    """Measure the static layer and how long it takes; nothing is cached."""
    from skillgate.evaluation.assess import assess  # brings in the parsers

    return (assess(source, perf_counter_ns) for source in sources)


class Evaluator(NamedTuple):
    """How skills are evaluated."""

    assess: Assess = _assess_each  # measures skills one by one, in their order
    across: Across = Assessor().across  # finds what shows only next to other skills
    criteria: Criteria = Criteria()
    sampled: SampledLayers | None = None  # None at quick depth
    detail: bool = True  # whether evidence and advice are wanted too
    progress: Callable[[int], None] | None = None  # hears after each skill how many the static layer has measured


class Baseline(NamedTuple):
    """What a run is compared with; ``listing`` and ``across`` are None where the baseline does not say."""

    results: Mapping[str, SkillResult]  # of each skill that had one, by its shown path now
    gone: tuple[SkillResult, ...] = ()  # of each skill that is not here any more, below the paths of the run
    listing: Mapping[tuple[str, str], int] | None = None  # characters of each client's list, by client and place
    across: tuple[Finding, ...] | None = None  # the findings across skills
    moves: Mapping[str, str] = MappingProxyType({})  # where skills are shown now, by where the baseline shows them
    remeasure: Remeasure | None = None  # measures it as deep as the run goes, for the skills of these shown paths


class Evaluated(NamedTuple):
    """What came of skills."""

    report: Report  # of the skills that are reported, without the configuration's digest
    across: tuple[Finding, ...]  # all across skills: also of unreported ones, and what is suppressed or known
    members: tuple[Member, ...]  # the skills as neighbours of one another
    baseline: Mapping[str, SkillResult] | None = None  # by shown path, at the depth of the report


class _Skill(NamedTuple):
    """A skill on its way to a result; ``facts`` are None where it could not be read."""

    source: SkillSource | Unreadable
    facts: Assessment | None
    claims: tuple[Claim, ...] = ()
    is_reported: bool = True

    @property
    def root(self) -> SkillRoot:
        return self.source.root

    @property
    def path(self) -> str:
        return str(self.source.root.path)


def evaluate(
    sources: Iterable[SkillSource | Unreadable],
    evaluator: Evaluator,
    *,
    touched: Touched | None = None,
    baseline: Baseline | None = None,
    attach: Callable[[Report], Report] | None = None,
) -> Evaluated:
    """Evaluate skills; one that cannot be read is reported, and stops none of the others.

    ``touched``: whether a skill is reported; None for all. Of another only what it has in common with one that is.
    ``attach``: adds findings of other tools to a report, before the gate is asked.
    """
    criteria, sampled = evaluator.criteria, evaluator.sampled
    skills, members = _assessed(list(sources), evaluator)
    skills = [one._replace(is_reported=touched is None or touched(one.root, one.facts)) for one in skills]
    before = None if baseline is None else baseline.results
    was: tuple[SkillResult, ...] = ()
    if baseline is not None and baseline.remeasure is not None:
        before = baseline.remeasure([one.path for one in skills if one.is_reported])
        was = tuple(before.values())  # measured in this run, and paid for in it
    run = Deepened()
    if sampled is not None:
        run = sampled.measure(
            [
                SampledSkill(one.source, one.facts, before.get(one.path) if before else None)
                for one in skills
                if one.is_reported and isinstance(one.source, SkillSource) and one.facts is not None
            ]
        )
    pairs = list(_results(skills, run.skills, evaluator))
    results = tuple(one for one, _ in pairs)
    profiles = {profile.value if (profile := criteria.selection(one.root.path).profile) else "any" for one in skills}
    report = Report(
        depth=Depth.QUICK if sampled is None else sampled.depth,
        coverage=min((one.coverage for one in results if one.composite.score is not None), default=None),
        config_digest="",
        tool=Tool(version=__version__),
        results=results,
        summary=summarise(results, found=len(skills)),
        gate=Verdict(passed=None),
        profile="by path" if len(profiles) > 1 else next(iter(profiles), "any"),
        listing=listing_use(members, before=None if baseline is None else baseline.listing),
        models=run.models,
        usage=total(one.usage for one in (*results, *was)),
        agreement=run.agreement,
        calibration=run.trust,
    )
    if attach is not None:
        report = attach(report)
    report = _decided(report, [policy for _, policy in pairs], before, run.spent, evaluator)
    return Evaluated(report, tuple(_across(skills, criteria)), members, before)


def _assessed(
    sources: Sequence[SkillSource | Unreadable], evaluator: Evaluator
) -> tuple[list[_Skill], tuple[Member, ...]]:
    """Assess every skill that could be read, and lay what shows only next to others to its claims."""
    assessments = iter(evaluator.assess([source for source in sources if isinstance(source, SkillSource)]))
    skills: list[_Skill] = []
    done = 0
    for source in sources:
        if isinstance(source, Unreadable):
            skills.append(_Skill(source, None))
            continue
        facts = next(assessments)
        skills.append(_Skill(source, facts, facts.claims))
        done += 1
        if evaluator.progress is not None:
            evaluator.progress(done)
    members = tuple(
        Member(
            path=one.path,
            listing=one.facts.listing,
            texts=one.facts.texts,
            plugin=shown_plugin(one.root),
            file=one.root.file_name,
            mark=one.facts.mark,
        )
        for one in skills
        if one.facts is not None
    )
    if len(members) > 1:
        more: dict[str, list[Claim]] = {}
        for path, claim in evaluator.across(members):
            more.setdefault(path, []).append(claim)
        skills = [
            one._replace(claims=(*one.claims, *more.get(one.path, ()))) if one.facts is not None else one
            for one in skills
        ]
    return skills, members


def _results(
    skills: Sequence[_Skill], deeper: Mapping[str, Deeper], evaluator: Evaluator
) -> Iterator[tuple[SkillResult, Policy]]:
    """Yield the result of each skill that is reported with its policy.

    Another is yielded where it shares something with one of them: with that alone, and only findings may fail it.
    """
    measured = [(one.path, one.facts) for one in skills if one.facts is not None]
    neighbours: dict[str, str] = {}
    if evaluator.detail and len(measured) > 1:
        from skillgate.skill.similarity import nearest  # one skill alone does not pay for it

        neighbours = nearest(measured)
    reported = {one.path for one in skills if one.is_reported}
    for one in skills:
        policy = evaluator.criteria.policy(one.root.path)
        if one.facts is None:
            if one.is_reported and isinstance(one.source, Unreadable):
                yield _unread(one.source), policy
        elif one.is_reported:
            yield _result(one, one.facts, neighbours, evaluator, deeper.get(one.path)), policy
        elif shared := tuple(claim for claim in one.claims if claim.other in reported):
            sharing = _result(one._replace(claims=shared), one.facts, neighbours, evaluator, None)
            yield sharing, Policy(fail_on=policy.fail_on & frozenset({"error", "warning"}))


def _decided(
    report: Report,
    policies: Sequence[Policy],
    before: Mapping[str, SkillResult] | None,
    spent: str | None,
    evaluator: Evaluator,
) -> Report:
    """Ask every gate, of each skill and of what belongs to none; where a layer samples, test what chance explains."""
    pairs = [(before.get(one.skill.path) if before else None, one) for one in report.results]
    drops: Sequence[DropTest | None] = [None] * len(pairs)
    if evaluator.sampled is not None:
        drops = sampled_drops(pairs, [policy.max_drop for policy in policies])
    results = []
    for (was, one), policy, drop in zip(pairs, policies, drops, strict=True):
        gate = judge(one, policy, was, compared=before is not None, drop=drop, spent=spent)
        results.append(one._replace(drop=drop, gate=gate))
    verdicts = [one.gate for one in results]
    if report.outside:
        verdicts.append(judge_outside(report.outside, evaluator.criteria.policy(PurePosixPath())))
    passed = together(verdicts)
    if passed and not all(one.evaluated for one in results):
        passed = None  # a run in which a skill could not be read has failed, or has not been decided
    outcomes = verdicts[-1].outcomes if report.outside else ()
    return report._replace(results=tuple(results), gate=Verdict(passed=passed, outcomes=outcomes))


def _across(skills: Iterable[_Skill], criteria: Criteria) -> Iterator[Finding]:
    for one in skills:
        claims = [claim for claim in one.claims if claim.group == "across"]
        if claims:
            yield from settle(claims, (), criteria.selection(one.root.path), directory=one.root.path).findings


def main_digest(source: SkillSource) -> str | None:
    """Return the digest of a skill's main file; None where not all of it was read."""
    return digest(source.data) if len(source.data) == source.size else None


def _unread(source: Unreadable) -> SkillResult:
    root, reason = source.root, f"not evaluated: {source.reason}"
    return SkillResult(
        composite=Composite(score=None, badge=None, reason=reason, badge_reason=reason),
        dimensions={},
        layers=(),
        skill=SkillName(root.name, str(root.path), root.repository_path, None),
        plugin=shown_plugin(root),
        evaluated=False,
        quality_estimate=QualityEstimate(reason=reason),
    )


def _result(
    skill: _Skill, facts: Assessment, neighbours: Mapping[str, str], evaluator: Evaluator, deeper: Deeper | None
) -> SkillResult:
    root, path, criteria = skill.root, skill.path, evaluator.criteria
    if deeper is None and evaluator.sampled is not None:
        deeper = Deeper(failure="not judged: it is not asked about")
    settled = settle(
        (*skill.claims, *(deeper.claims if deeper else ())),
        facts.waivers,
        criteria.selection(root.path),
        directory=root.path,
        known=criteria.known,
        honoured=None if criteria.honoured is None else partial(criteria.honoured, path),
    )
    content = main_digest(skill.source) if isinstance(skill.source, SkillSource) else None
    return result(
        facts,
        settled,
        skill=SkillName(facts.name or root.name, path, root.repository_path, content),
        plugin=shown_plugin(root),
        neighbour=neighbours.get(path),
        detail=evaluator.detail,
        deeper=deeper,
    )
