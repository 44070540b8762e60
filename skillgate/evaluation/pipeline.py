"""Evaluate skills: from their bytes to results, gates and a report, with cached measurements.

A cached assessment depends on the skill's main file, on the queries about other files, and on the version of the
programs. Configuration, dates of suppressions and the gate come later, so one entry serves every run.
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
from typing import TYPE_CHECKING

from skillgate import __version__
from skillgate.model import finding
from skillgate.model.finding import Assessment, Member, Severity
from skillgate.model.layers import Agreement, DropTest, Trust, Usage
from skillgate.model.report import Composite, Report, SkillName, SkillResult, Tool, Verdict
from skillgate.model.score import Depth, QualityEstimate
from skillgate.model.skill import SkillRoot, SkillSource, Unreadable, Waiver, digest
from skillgate.named_tuple import NamedTuple
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
    from skillgate.evaluation.house import HouseRules
    from skillgate.model.finding import Claim, Finding
    from skillgate.model.skill import Tree

    Assess = Callable[[Sequence[SkillSource]], Iterable[Assessment]]
    Across = Callable[[Sequence[Member]], Sequence[tuple[str, Claim]]]
    Remeasure = Callable[[Collection[str]], Mapping[str, SkillResult]]
    Touched = Callable[[SkillRoot, Assessment | None], bool]

FORMAT = 2  # of a cached entry: changes with what is written
MEASURING = ("evaluation", "model", "scoring", "skill", "static")  # the packages that an assessment depends on
_PARSERS = ("markdown_it", "yaml")


class _Remembered(NamedTuple):
    """An assessment with the tree that was asked, and the questions as JSON."""

    tree: Tree
    questions: str
    facts: Assessment


class Assessor:
    """Measure the static layer of skills, from the cache if possible.

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
        house: HouseRules | None = None,
        remember: bool = False,
    ) -> None:
        """Store the cache, None for none.

        Args:
            cache: earlier assessments.
            clock: monotonic nanoseconds.
            optional: whether to include opt-in rules.
            made_by: the version of the programs; None for :func:`stamp`. Entries of other versions are not used.
            use_processes: whether several processes may share the work.
            house: the house rules; their claims are added to each assessment, and change nothing else of it.
            remember: whether assessments are used again for skills that have the same facts in another tree, as in the
                baseline of a run.
        """
        self.reused = 0
        self._cache, self._clock, self._optional, self._use_processes = cache, clock, optional, use_processes
        self._house = house
        self._stamp = b"" if cache is None else stamp() if made_by is None else made_by
        self._memory: dict[str, list[_Remembered]] | None = {} if remember else None

    @property
    def failure(self) -> str | None:
        """Why results could not be cached; None if they were, or there is no cache."""
        return None if self._cache is None else self._cache.failure

    def assess(self, sources: Sequence[SkillSource]) -> Iterator[Assessment]:
        """Yield an assessment for each source, in their order."""
        is_keyed = self._cache is not None or self._memory is not None
        keys = [self._key(source) if is_keyed else "" for source in sources]
        cached = [self._cached(key, source) for key, source in zip(keys, sources, strict=True)]
        self.reused += sum(facts is not None for facts in cached)
        missing = [(key, one) for key, one, facts in zip(keys, sources, cached, strict=True) if facts is None]
        fresh = self._fresh(missing)
        for source, found in zip(sources, cached, strict=True):
            facts = next(fresh) if found is None else found
            yield facts if self._house is None else self._with_house(self._house, source, facts)

    def across(self, members: Sequence[Member]) -> Sequence[tuple[str, Claim]]:
        """Find claims across skills, each with the path of its skill."""
        key = ""
        if self._cache is not None:
            key = self._digest("across", *((one.path, one.plugin, one.file, one.mark) for one in members))
            text = self._cache.get(key)
            try:
                if text is not None:
                    return finding.read_claims(text)
            except finding.UNREADABLE:
                pass  # of another version
        from skillgate.static.across import claims_across  # a single skill does not need it

        claims = claims_across(members)
        if self._cache is not None:
            self._cache.put(key, finding.claims_text(claims))
        return claims

    def close(self) -> None:
        """End a run: remove old entries if there are too many."""
        if self._cache is not None:
            self._cache.close()

    def _with_house(self, house: HouseRules, source: SkillSource, facts: Assessment) -> Assessment:
        def key(what: str) -> str:
            return self._digest(what, str(source.root.path), self._key(source))

        return facts._replace(claims=(*facts.claims, *house.claims(source, self._cache, key)))

    def _fresh(self, missing: Sequence[tuple[str, SkillSource]]) -> Iterator[Assessment]:
        """Measure what is not cached, in several processes if that is faster."""
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
                    questions, *lines = text.split("\n")
                    facts = finding.read_assessment(lines, self._later(source))
                    if self._cache is not None:
                        self._cache.put(key, text)
                    self._remember(key, source, questions, facts)
                    yield facts
            except LostError:
                pass  # the rest is measured here
        from skillgate.evaluation.assess import watched  # imports the parsers: only for what was not cached

        for key, source in missing[done:]:
            questions, facts = watched(source, self._clock, optional=self._optional)
            if self._cache is not None:
                self._cache.put(key, f"{questions}\n{finding.assessment_text(facts)}")
            self._remember(key, source, questions, facts)
            yield facts

    def _remember(self, key: str, source: SkillSource, questions: str, facts: Assessment) -> None:
        if self._memory is not None:
            self._memory.setdefault(key, []).append(_Remembered(source.root.tree, questions, facts))

    def _remembered(self, key: str, tree: Tree) -> Assessment | None:
        """Return the assessment of a skill from its own tree, or from one that answers every question the same.

        Why a file cannot be read is no answer, but may be quoted: then it is only used for its own tree.
        """
        for one in () if self._memory is None else self._memory.get(key, ()):
            if one.tree is tree:
                return one.facts
            questions = json.loads(one.questions)
            if all(content is not None for *_, content in questions[-1]) and holds(tree, questions):
                return one.facts
        return None

    def _cached(self, key: str, source: SkillSource) -> Assessment | None:
        remembered = self._remembered(key, source.root.tree)
        if remembered is not None:
            return remembered
        text = self._cache.get(key) if self._cache is not None else None
        if text is None:
            return None
        try:
            questions, *rest = text.split("\n")
            if not holds(source.root.tree, json.loads(questions)):
                return None
            facts = finding.read_assessment(rest, self._later(source))
        except finding.UNREADABLE:
            return None  # of another version
        self._remember(key, source, questions, facts)
        return facts

    def _later(self, source: SkillSource) -> Callable[[], Assessment]:
        def assessed() -> Assessment:
            from skillgate.evaluation import assess  # only if an entry was of another version after all

            return assess.assess(source, self._clock, optional=self._optional)

        return assessed

    def _key(self, source: SkillSource) -> str:
        root = source.root
        origin: str = getattr(root.tree, "origin", "")
        place = (origin, root.directory, root.file_name, root.name, root.plugin)
        return self._digest((*place, source.size, source.siblings, source.dangling, self._optional), data=source.data)

    def _digest(self, *facts: object, data: bytes = b"") -> str:
        # repr() distinguishes all values, and escapes what UTF-8 cannot encode.
        return digest(self._stamp, repr(facts).encode(), data)


def stamp() -> bytes:
    """Return a stamp of the programs: the files that measure, the interpreter, and other installed packages."""
    import skillgate

    top = os.path.dirname(skillgate.__file__)
    own, pending = [], [top, *(os.path.join(top, name) for name in MEASURING)]
    while pending:
        folder = pending.pop()
        with os.scandir(folder) as items:
            for item in items:
                if item.name.endswith(".py"):
                    status = item.stat()
                    own.append((item.path, status.st_mtime_ns, status.st_size))
                elif folder != top and item.name != "__pycache__" and item.is_dir():
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
    """The criteria for skills; policy and selection by shown path."""

    policy: Callable[[PurePosixPath], Policy] = lambda _: Policy()
    selection: Callable[[PurePosixPath], Selection] = lambda _: Selection()
    known: Callable[[Finding], bool] | None = None  # whether a finding is already known
    honoured: Callable[[str, Claim, Waiver], bool] | None = None  # whether a comment may suppress a claim of a skill


class SampledSkill(NamedTuple):
    """A skill to ask models about; ``before`` is its result in the baseline."""

    source: SkillSource
    facts: Assessment
    before: SkillResult | None = None


class Deepened(NamedTuple):
    """The results of the sampled layers of a run."""

    skills: Mapping[str, Deeper] = MappingProxyType({})  # by shown path, for every skill that models were asked about
    agreement: Agreement | None = None  # of the judges over all skills
    models: tuple[str, ...] = ()  # each once
    spent: str | None = None  # how the budget ended the run early
    trust: Trust | None = None  # how far people confirm the judges; None without a calibration


class SampledLayers(NamedTuple):
    """The layers that ask models; ``measure`` may be called several times."""

    depth: Depth
    measure: Callable[[Sequence[SampledSkill]], Deepened]
    models: tuple[str, ...] = ()  # each once
    judged_as: tuple[str, ...] = ()  # as :func:`judged_as` returns it


def judged_as(prompt_version: str, rubric_version: str, provider: str) -> tuple[str, ...]:
    """Return how scores are made, apart from the models; only scores made the same way are comparable."""
    is_made_up = provider in PROVIDERS and PROVIDERS.text(provider, "MADE_UP")
    answers = f"{provider} answers" if is_made_up else "a model's answers"
    return (f"prompts {prompt_version}", f"rubrics {rubric_version}", answers)


def total(usages: Iterable[Usage]) -> Usage:
    """Add up usages; the total cost is unknown if one is."""
    parts = tuple(usages)
    known = [part.cost_usd for part in parts if part.cost_usd is not None]
    counts = ("calls", "cached", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "retries")
    return Usage(
        **{name: sum(getattr(part, name) for part in parts) for name in counts},
        cost_usd=round(sum(known, 0.0), 6) if len(known) == len(parts) else None,
        cost_reason=next((part.cost_reason for part in parts if part.cost_reason), None),
    )


def _assess_each(sources: Sequence[SkillSource]) -> Iterator[Assessment]:
    """Measure the static layer without a cache."""
    from skillgate.evaluation.assess import assess  # imports the parsers

    return (assess(source, perf_counter_ns) for source in sources)


class Evaluator(NamedTuple):
    """How skills are evaluated."""

    assess: Assess = _assess_each  # measures skills one by one, in their order
    across: Across = Assessor().across  # finds claims across skills
    criteria: Criteria = Criteria()
    sampled: SampledLayers | None = None  # None at quick depth
    detail: bool = True  # whether to include evidence and advice
    progress: Callable[[int], None] | None = None  # called after each skill with the number of measured ones


class Baseline(NamedTuple):
    """The baseline of a run; ``listing`` and ``across`` are None if it does not have them."""

    results: Mapping[str, SkillResult]  # of each skill that had one, by its current shown path
    gone: tuple[SkillResult, ...] = ()  # of removed skills, in the paths of the run
    listing: Mapping[tuple[str, str], int] | None = None  # characters of each client's list, by client and place
    across: tuple[Finding, ...] | None = None  # the findings across skills
    moves: Mapping[str, str] = MappingProxyType({})  # current shown paths, by those of the baseline
    remeasure: Remeasure | None = None  # measures it at the depth of the run, for some shown paths


class Evaluated(NamedTuple):
    """The results of skills."""

    report: Report  # of the reported skills, without the configuration's digest
    across: tuple[Finding, ...]  # all across skills, including unreported, suppressed and known ones
    members: tuple[Member, ...]  # the skills as neighbors of one another
    baseline: Mapping[str, SkillResult] | None = None  # by shown path, at the depth of the report


class _Skill(NamedTuple):
    """A skill on its way to a result; ``facts`` are None if it could not be read."""

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
    """Evaluate skills; an unreadable one is reported and does not stop the others.

    ``touched``: whether a skill is reported; None for all. Of others, only what they share with a reported one is.
    ``attach``: adds findings of other tools to a report, before the gate.
    """
    criteria, sampled = evaluator.criteria, evaluator.sampled
    skills, members = _assessed(list(sources), evaluator)
    skills = [one._replace(is_reported=touched is None or touched(one.root, one.facts)) for one in skills]
    before = None if baseline is None else baseline.results
    was: tuple[SkillResult, ...] = ()
    if baseline is not None and baseline.remeasure is not None:
        before = baseline.remeasure([one.path for one in skills if one.is_reported])
        was = tuple(before.values())  # measured and paid for in this run
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
    if baseline is not None:
        baseline = baseline._replace(results={} if before is None else before)
    report = _decided(report, [policy for _, policy in pairs], baseline, run.spent, evaluator)
    return Evaluated(report, tuple(_across(skills, criteria)), members, before)


def _assessed(
    sources: Sequence[SkillSource | Unreadable], evaluator: Evaluator
) -> tuple[list[_Skill], tuple[Member, ...]]:
    """Assess every readable skill, and add the claims across skills."""
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
    """Yield the result and policy of each reported skill.

    A skill that shares claims with a reported one is yielded with only these claims, and only findings may fail it.
    """
    measured = [(one.path, one.facts) for one in skills if one.facts is not None]
    neighbours: dict[str, str] = {}
    if evaluator.detail and len(measured) > 1:
        from skillgate.skill.similarity import nearest  # a single skill does not need it

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
            yield sharing, Policy(fail_on=policy.fail_on & frozenset({"error", "new-error", "warning"}))


def _decided(
    report: Report,
    policies: Sequence[Policy],
    baseline: Baseline | None,
    spent: str | None,
    evaluator: Evaluator,
) -> Report:
    """Check every gate, of each skill and of findings outside of skills; test sampled drops against chance."""
    before = {} if baseline is None else baseline.results
    pairs = [(before.get(one.skill.path), one) for one in report.results]
    drops: Sequence[DropTest | None] = [None] * len(pairs)
    if evaluator.sampled is not None:
        drops = sampled_drops(pairs, [policy.max_drop for policy in policies])
    came: Sequence[Sequence[Finding] | None] = [None] * len(pairs)
    if baseline is not None and any("new-error" in policy.fail_on for policy in policies):
        came = list(_new_findings(pairs, baseline))
    results = []
    for (was, one), policy, drop, new in zip(pairs, policies, drops, came, strict=True):
        gate = judge(one, policy, was, compared=baseline is not None, came=new, drop=drop, spent=spent)
        results.append(one._replace(drop=drop, gate=gate))
    verdicts = [one.gate for one in results]
    if report.outside:
        verdicts.append(judge_outside(report.outside, evaluator.criteria.policy(PurePosixPath())))
    passed = together(verdicts)
    if passed and not all(one.evaluated for one in results):
        passed = None  # a run with an unreadable skill has failed, or is undecided
    outcomes = verdicts[-1].outcomes if report.outside else ()
    return report._replace(results=tuple(results), gate=Verdict(passed=passed, outcomes=outcomes))


def _new_findings(
    pairs: Sequence[tuple[SkillResult | None, SkillResult]], baseline: Baseline
) -> Iterator[list[Finding] | None]:
    """Yield the findings of each skill that its baseline does not have; None for a skill without a baseline."""
    from skillgate.report.across_change import across_change, across_findings  # most runs compare with nothing
    from skillgate.report.matching import unmatched

    across = across_findings(baseline.results.values()) if baseline.across is None else baseline.across
    across = tuple(one for one in across if one.severity is Severity.ERROR)
    paths = [(was.skill.path, now.skill.path) for was, now in pairs if was is not None]
    shared = across_change(across, across_findings(now for _, now in pairs), paths, baseline.moves).new
    for was, now in pairs:
        if was is None:
            yield None
            continue
        # A known finding is one of the base's too: it must not stand for another one of its kind.
        known = [item.finding for item in now.suppressed if item.by == "known"]
        before, accepted, after = (
            [one for one in side if not one.skills and one.severity is Severity.ERROR]
            for side in (was.findings, known, now.findings)
        )
        left = unmatched(before, accepted, baseline.moves)[0]
        own = unmatched(left, after, baseline.moves)[1]
        yield [*own, *(one for one in now.findings if one.skills and one in shared)]


def _across(skills: Iterable[_Skill], criteria: Criteria) -> Iterator[Finding]:
    for one in skills:
        claims = [claim for claim in one.claims if claim.group == "across"]
        if claims:
            yield from settle(claims, (), criteria.selection(one.root.path), directory=one.root.path).findings


def main_digest(source: SkillSource) -> str | None:
    """Return the digest of a skill's main file; None if it was not read completely."""
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
        deeper = Deeper(failure="not judged: it is not part of this run")
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
