"""Compare two skills or two written reports, and join the reports of shards into one."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import __version__, settings
from skillgate.config import config_digest
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, UsageError
from skillgate.evaluation import pipeline
from skillgate.evaluation.certify import require_outside, require_written, write_certificates
from skillgate.evaluation.request import (
    CertificateRequest,
    CompareRequest,
    MergeRequest,
    chosen_depth,
    policies,
    read_whole,
    require_able,
    require_fitting_options,
)
from skillgate.evaluation.run import Evaluation, is_unjudged
from skillgate.model.documents import Comparison, Diff, DiffSide, SingleReport
from skillgate.model.report import GateOutcome, Report, SkillResult, Verdict
from skillgate.model.score import Badge, Depth, Outcome
from skillgate.report.across_change import across_change, across_findings, listing_change
from skillgate.report.compare import compare
from skillgate.report.diff import diff
from skillgate.report.joining import Joined, Part, decided, join
from skillgate.report.json import kind_of, parsed, shaped
from skillgate.scoring.composite import summarise
from skillgate.scoring.gate import REAL, Policy, judge, rank, regression, sampled_drops
from skillgate.scoring.pairing import Pairs, names_of, paired, repository_path
from skillgate.skill.find import discover, discover_commit, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from skillgate.console import Console
    from skillgate.evaluation.sampled import DryRun
    from skillgate.model.finding import AcrossChange, ListingUse
    from skillgate.model.layers import Agreement, DropTest, JudgeLayer, Trust
    from skillgate.model.skill import SkillSource, Unreadable

    Policies = Callable[[Depth], Callable[[PurePosixPath], Policy]]

_REMEDY = "Both must be score documents, as written by: skillgate score PATH --output-file REPORT.json"
_KINDS = {
    "check": "a check document, which holds findings and no scores to compare",
    "compare": "a comparison already",
    "diff": "a diff already",
    "action": "the record of a run of the Action; its report.json is what can be compared",
    "known-findings": "a file of known findings",
}
_LATER = ("bench", "invocations")  # documents that other versions know how to compare


def compare_skills(request: CompareRequest, session: Console) -> Comparison | DryRun:
    """Score both skills, and say what differs; in a dry run, what asking models would take.

    Raises:
        UsageError: an option is not valid, or a side names no skill or several.
        IncompleteError: the depth asked for cannot run.
    """
    config, depth = request.config, chosen_depth(request.config)
    sources = [_source(side, session) for side in (request.a, request.b)]
    models: tuple[str, ...] = ()
    if depth is Depth.QUICK:
        require_fitting_options(config, request.models, depth)
        a, b = (pipeline.evaluate([source], pipeline.Evaluator()).report.results[0] for source in sources)
    else:
        require_able(config, depth, replay=request.models.replay is not None)
        from skillgate.llm import require_packages

        require_packages()
        from skillgate.evaluation.sampled import both_sides  # brings in the judge

        (a, b), models, estimate = both_sides(sources, request, session, depth=depth)
        if estimate is not None:
            return estimate
    comparison = compare(a, b, version=__version__, digest=config_digest(config), depth=depth, models=models)
    # Only now: findings are matched by the paths that both sides show, and a revision is in no path of theirs.
    comparison = replace(comparison, a=_shown_as(a, request.a), b=_shown_as(b, request.b))
    return _gated(comparison, request.max_drop, config.get(settings.ON_INCONCLUSIVE))


def exit_code(comparison: Comparison) -> int:
    """Return 1 for a failed gate, 3 where a side could not be read or judged, else 0."""
    if comparison.gate.passed is False:
        return EXIT_GATE_FAILED
    whole = all(side.evaluated and not is_unjudged(side) for side in (comparison.a, comparison.b))
    return EXIT_PASSED if whole else EXIT_INCOMPLETE


def _gated(comparison: Comparison, max_drop: float | None, on_inconclusive: str) -> Comparison:
    a, b = comparison.a, comparison.b
    if comparison.depth is not Depth.QUICK and (b.drop is None or max_drop is not None):
        (drop,) = sampled_drops([(a, b)], None if max_drop is None else [max_drop])
        b = b._replace(drop=drop)
        comparison = replace(comparison, b=b)
    if max_drop is None:
        return comparison
    outcome = regression(b.skill.path, a, b, max_drop, drop=b.drop, on_inconclusive=on_inconclusive)
    return replace(comparison, gate=Verdict(passed=outcome.verdict is Outcome.PASS, outcomes=(outcome,)))


def _is_in_git(side: str) -> bool:
    """Tell ``REV:path`` from a path.

    A directory of that name cannot take a revision's place; ./name:path is always a path, and ``C:`` a drive.
    """
    revision, colon, _ = side.partition(":")
    return bool(colon) and len(revision) > 1 and not side.startswith((".", "/"))


def _shown_as(result: SkillResult, side: str) -> SkillResult:
    return result._replace(skill=result.skill._replace(path=side)) if _is_in_git(side) else result


def _source(side: str, session: Console) -> SkillSource | Unreadable:
    """Read what one side names."""
    revision, _, path = side.partition(":")
    is_in_git = _is_in_git(side)
    discovery = discover_commit(revision, path, cwd=session.cwd) if is_in_git else discover([side], cwd=session.cwd)
    for notice in discovery.notices:
        session.note(notice)
    roots = discovery.roots[:1] if discovery.single else discovery.roots
    if not roots:
        raise UsageError(f"{side} holds no skill: a skill is a directory with a SKILL.md")
    if len(roots) > 1:
        raise UsageError(f"{side} holds {len(roots)} skills; compare takes one on each side")
    return read(roots[0])


class DiffRequest(NamedTuple):
    """Which two documents to compare, what to call them, and what a regression is (None: as configured)."""

    a: str
    b: str
    label_a: str | None = None
    label_b: str | None = None
    max_drop: float | None = None
    gated: bool = False
    on_inconclusive: str | None = None


class _Side(NamedTuple):
    """One side of a diff: a file, what people read in its place, what it holds, and its skills."""

    shown: str
    label: str
    document: Report | SingleReport
    results: tuple[SkillResult, ...]


def diff_files(request: DiffRequest, session: Console) -> Diff:
    """Return what differs between two documents.

    Raises:
        UsageError: one cannot be read or is of a kind that cannot be compared, or the two are not comparable.
    """
    texts = {
        shown: parsed(read_whole(os.path.join(session.cwd, shown), shown, "the report"), source=shown)  # noqa: PTH118
        for shown in (request.a, request.b)
    }
    _require_scores({shown: kind_of(data) for shown, data in texts.items()})
    a, b = (
        _side(shown, label, shaped(texts[shown], source=shown))
        for shown, label in ((request.a, request.label_a), (request.b, request.label_b))
    )
    _require_comparable(a, b)
    pairs = paired(a.results, b.results)
    if len(pairs.pairs) > 1 and all(isinstance(side.document, SingleReport) for side in (a, b)):
        pairs = Pairs(((a.results[0], b.results[0]),))  # two documents about one skill each are about the same
    before, after = a.document, b.document
    listing, across = _together(a, b, pairs)

    def allowed(path: str) -> float:
        option = request.max_drop
        return session.config.get(settings.MAX_DROP, PurePosixPath(path)) if option is None else option

    return diff(
        pairs.pairs,
        a=DiffSide(a.label, tool=before.tool.version),
        b=DiffSide(b.label, tool=after.tool.version),
        version=__version__,
        max_drop=allowed,
        gated=request.gated,
        on_inconclusive=request.on_inconclusive or session.config.get(settings.ON_INCONCLUSIVE),
        digest=config_digest(session.config),
        depth=after.depth,
        scoring_version=after.scoring_version,
        models=after.models,
        profile=after.profile,
        listing=listing,
        across=across,
        hints=tuple(_hints(a, b, pairs)),
        rebased=pairs.rebased,
    )


def _require_scores(kinds: dict[str, str | None]) -> None:
    """Raise UsageError for documents that are not both scores, naming what each is and what to do."""
    every = set(kinds.values())
    if every == {"score"}:
        return
    if len(every) > 1 and None not in every:
        both = " and ".join(f"{shown} is of kind {kind}" for shown, kind in kinds.items())
        raise UsageError(f"{both}: only two documents of one kind can be compared\n{_REMEDY}")
    shown, kind = next((shown, kind) for shown, kind in kinds.items() if kind != "score")
    if kind in _LATER:
        raise UsageError(f"{shown} is of kind {kind}, which this version cannot compare; it compares score documents")
    what = _KINDS.get(kind or "", "no document of skillgate" if kind is None else f"of an unknown kind {kind[:40]!r}")
    raise UsageError(f"{shown} is {what}\n{_REMEDY}")


def _side(shown: str, label: str | None, document: object) -> _Side:
    if not isinstance(document, Report | SingleReport):
        raise TypeError(f"a score document became {type(document).__name__}")
    results = document.results if isinstance(document, Report) else (document.result(),)
    seen: set[str] = set()
    for index, result in enumerate(results):
        path = result.skill.path
        if path in seen:
            raise UsageError(f"{shown} is not a skillgate report: results[{index}].skill.path: {path!r} stands twice")
        seen.add(path)
    return _Side(shown, label or os.path.basename(shown) or shown, document, results)  # noqa: PTH119


def _require_comparable(a: _Side, b: _Side) -> None:
    """Raise UsageError for numbers that mean different things, saying all that differs."""
    one, other = a.document, b.document
    differing = (
        ("depth", one.depth.value, other.depth.value),
        ("scoring version", str(one.scoring_version), str(other.scoring_version)),
        ("models", ", ".join(one.models) or "none", ", ".join(other.models) or "none"),
    )
    problems = [
        f"{a.shown} has {what} {then}, {b.shown} {now}: their numbers are not comparable"
        for what, then, now in differing
        if then != now
    ]
    if problems:
        raise UsageError("\n".join([*problems, "Score both sides again, with the same skillgate and options"]))


def _together(a: _Side, b: _Side, pairs: Pairs) -> tuple[tuple[ListingUse, ...], AcrossChange | None]:
    """Return what differs between skills together, where both documents are over several."""
    before, after = a.document, b.document
    if isinstance(before, SingleReport) or isinstance(after, SingleReport):
        return (), None
    both = {then.skill.path: now.skill.path for then, now in pairs.pairs if then and now}
    moves = {**pairs.rebased, **{then: now for then, now in both.items() if then != now}}
    across = across_change(across_findings(a.results), across_findings(b.results), both.items(), moves)
    return listing_change(before.listing, after.listing, pairs.start), across


def _hints(a: _Side, b: _Side, pairs: Pairs) -> Iterator[str]:
    """Yield what a difference may come from, apart from the skills themselves."""
    before, after = a.document, b.document
    yield from _pairing_hints(a, b, pairs)
    if before.profile != after.profile:
        yield (
            f"{a.label} was made for profile {before.profile}, {b.label} for {after.profile}: findings may have come or"
            " gone by that alone"
        )
    if before.tool.version != after.tool.version:
        yield (
            f"{a.label} was written by skillgate {before.tool.version}, {b.label} by {after.tool.version}: a finding"
            " may be new because its rule is"
        )
    for side in (a, b):
        summary = side.document.summary if isinstance(side.document, Report) else None
        if summary is not None and summary.found is not None and summary.found > summary.skills:
            yield (
                f"{side.label} is about {summary.skills} of {summary.found} skills: what it leaves out looks new or"
                " removed and need not be"
            )


def _pairing_hints(a: _Side, b: _Side, pairs: Pairs) -> Iterator[str]:
    both = [(then.skill, now.skill) for then, now in pairs.pairs if then and now]
    if pairs.start is not None:
        then, now = (repr(start) if start else "nothing" for start in pairs.start)
        yield (
            f"no skill is shown by one path in both: paths in {a.label} begin with {then}, in {b.label} with {now};"
            " they are taken to be one place, and skills are paired by the rest of the path, then by name"
        )
    elif both and not any(
        then.path == now.path or repository_path(then) == repository_path(now) is not None for then, now in both
    ):
        named = any({then.name, *names_of("", then.path)} & {now.name, *names_of("", now.path)} for then, now in both)
        how = "skills are paired by name alone" if named else "the one skill of each is taken to be the same"
        yield f"no skill is shown by one path in both: {how}"


_LOST = re.compile(r"it lost its badge (\w+) \(")
_ALLOWED = re.compile(r"; allowed: ([^ )]+)\)$")
_SHADE = "inconclusive: "
_OF_FINDINGS = frozenset({"error", "warning"})  # all that may fail a skill which is not asked about


def merge(
    request: MergeRequest, wanted: CertificateRequest, session: Console, *, outputs: Sequence[str] = ()
) -> Evaluation:
    """Join the shards of a run, and write certificate and badges; ``outputs`` are other files that are written after.

    Raises:
        UsageError: the files are not all shards of one run, or a file must not be written.
    """

    def policies_at(depth: Depth) -> Callable[[PurePosixPath], Policy]:
        return policies(request.config, command="score", note=lambda _: None, depth=depth)

    require_written(wanted, session)
    report, single = joined(request.files, request.baseline, policies_at, session, insisted=request.insisted)
    if wanted.certificate is not None:
        require_outside([result.skill.path for result in report.results], wanted, session, outputs=outputs)
    write_certificates(report, {}, wanted, session)
    return Evaluation(report, single, 0.0)


def joined(
    names: Sequence[str], baseline: str | None, policies: Policies, session: Console, *, insisted: bool = False
) -> tuple[Report, bool]:
    """Read the shards of a run and join them.

    Args:
        names: the files, as the user wrote them, in any order.
        baseline: the report that the shards are said to have been compared with.
        policies: return the gate of a skill at a depth, by its shown path.
        session: the run.
        insisted: whether gates were set for this very command: the shards must have been asked for them, too.

    Returns:
        The report that a run over all skills would have given, and whether it is of one path that is itself a skill.

    Raises:
        UsageError: a file cannot be read or is no report, they are not all shards of one run, what they say of
            drops cannot be corrected for all skills, or baseline or gates are others than theirs.
    """
    shards = {name: _document(name, session) for name in dict.fromkeys(names)}
    if len(shards) < len(names):
        raise UsageError("a shard is given twice")
    reports = [one for one in shards.values() if isinstance(one, Report)]
    count = max((one.summary.found or 0 for one in reports), default=1)
    parts = [
        Part(name, one if isinstance(one, Report) else spread(one, count, reports)) for name, one in shards.items()
    ]
    whole = join(parts, agree=_agreement, calibrate=_trust)
    report = corrected(whole, policies(whole.report.depth), insisted=insisted)
    if baseline is not None:
        _require_baseline(baseline, report, policies, session)
    return report, len(reports) < len(shards) and len(report.results) == 1


def _document(name: str, session: Console) -> Report | SingleReport:
    data = parsed(read_whole(os.path.join(session.cwd, name), name, "the shard"), source=name)  # noqa: PTH118
    if kind_of(data) != "score":
        raise UsageError(f"{name} is no score report; write one with: skillgate certify PATH --shard 1/4 --output json")
    document = shaped(data, source=name)
    if not isinstance(document, Report | SingleReport):
        raise TypeError(f"a score document became {type(document).__name__}")
    return document


def spread(one: SingleReport, count: int, others: Sequence[Report]) -> Report:
    """Return a document of one skill as one over ``count``; what it does not say is as the others say."""
    values: dict[str, Any] = {name: getattr(one, name) for name in Report._fields if hasattr(one, name)}
    result = one.result()
    values |= {"results": (result,), "summary": summarise((result,), found=count)}
    values |= {"gate": one.gate._replace(outcomes=()), "listing": others[0].listing if others else ()}
    values["across"] = others[0].across if others else None
    return Report(**values)


def _agreement(layers: Sequence[JudgeLayer], judges: int) -> Agreement:
    from skillgate.judge.calibration import agreement  # brings in numpy: only where several judges were asked
    from skillgate.judge.subject import Ratings

    pooled = []
    for layer in layers:
        # What not every judge rated counts nowhere, so it need not be known which did.
        rated = [(name, one.ratings) for name, one in layer.assessments.items() if len(one.ratings) == judges]
        prompts = layer.triggering.prompts if layer.triggering else ()
        predicted = [tuple(None if one is None else int(one) for one in prompt.predicted) for prompt in prompts]
        pooled.append(Ratings(tuple(rated), tuple(predicted)))
    return agreement(pooled, judges)


def _trust(known: Trust, layers: Sequence[JudgeLayer]) -> Trust:
    """Return how many of all ratings people would pass; how far they agree with the judge is in every shard already."""
    from skillgate.judge.calibration import PASS_MARK, trust  # brings in numpy: few runs have a calibration
    from skillgate.model.documents import Calibration, Pair
    from skillgate.model.score import Dimension

    rated = next((layer for layer in layers if layer.assessments), None)
    if rated is None:
        return known
    pairs = []
    for human, rate in ((PASS_MARK, known.sensitivity), (0.0, known.specificity)):
        agreed = round((rate.value or 0.0) * rate.n)
        for index in range(rate.n):
            judged = human if index < agreed else PASS_MARK - human
            pairs.append(Pair(f"{human} {index}", Dimension.OUTPUT_QUALITY, human, judged))
    model = " + ".join(sorted(set(rated.models)))
    document = Calibration(model, rated.prompt_version, rated.rubric_version, "", tuple(pairs), live=rated.live)
    return known._replace(acceptable=trust(document, layers).acceptable)


def _require_baseline(name: str, report: Report, policies: Policies, session: Console) -> None:
    """Raise UsageError for a baseline that the shards were not compared with, or that is no report."""
    if not any(map(_outcome_of, report.results)):
        raise UsageError(f"the shards were compared with nothing: join them without --baseline {name}")
    if not name.endswith(".json"):
        raise UsageError(
            f"--baseline {name}: the shards hold what came of comparing them, and a revision cannot be held against"
            " that without scoring it again; leave --baseline out"
        )

    before, policy = _before(_document(name, session), report.results), policies(report.depth)
    pairs = [(before.get(one.skill.path), one) for one in report.results]
    drops = sampled_drops(pairs, [policy(PurePosixPath(one.skill.path)).max_drop for one in report.results])
    for one, drop in zip(report.results, drops, strict=True):
        if drop != one.drop:
            raise UsageError(
                f"{name} is not what the shards were compared with: {one.skill.path} fell otherwise from it"
            )


def _before(document: Report | SingleReport, results: Iterable[SkillResult]) -> Mapping[str, SkillResult]:
    """Pair the skills with a baseline as a run over them does."""
    then = document.results if isinstance(document, Report) else (document.result(),)
    return {now.skill.path: was for was, now in paired(then, tuple(results)).pairs if was and now}


def corrected(whole: Joined, policy: Callable[[PurePosixPath], Policy], *, insisted: bool) -> Report:
    """Correct drops for the skills of all shards.

    Args:
        whole: the shards, joined, each with what it said of drops.
        policy: the gate of a skill here, by its shown path; the shards may have had another one.
        insisted: whether it was set for this very command, which then must not ignore it.

    Raises:
        UsageError: the gate here is not that of the shards, and that matters.
    """
    report, drops = whole.report, _drops(whole.report)
    results = []
    for one in report.results:
        likely = _policies(policy(PurePosixPath(one.skill.path)), is_reported=one.skill.path not in whole.extras)
        fitting = next((each for each in likely if _fits(one, each)), None)
        if fitting is None and insisted:
            raise UsageError(
                f"the gates of {one.skill.path} are not those that are asked for here: join shards with the"
                " configuration and the options of the gate that they were made with, or without any"
            )
        drop = drops.get(one.skill.path)
        if drop is not None and drop != one.drop:
            gate = _without_policy(one, drop) if fitting is None else _judged(one, fitting, drop)
            one = one._replace(drop=drop, gate=gate)
        results.append(one)
    return decided(report._replace(results=tuple(results)))


def _drops(report: Report) -> Mapping[str, DropTest]:
    """Return the test of each skill's drop that has a p, corrected for all of them, by path."""
    tested = {one.skill.path: one.drop for one in report.results if one.drop and one.drop.p is not None}
    if not tested:
        return {}
    from skillgate.stats.resampling import holm  # brings in numpy: only where drops were tested

    alone = [drop.p_alone for drop in tested.values() if drop.p_alone is not None]
    if len(alone) < len(tested):
        path = next(path for path, drop in tested.items() if drop.p_alone is None)
        raise UsageError(
            f"what is said of the drop of {path} cannot be corrected for all skills: p_alone is missing; make the"
            " shards anew with this skillgate"
        )
    return {path: drop._replace(p=p) for (path, drop), p in zip(tested.items(), holm(alone), strict=True)}


def _policies(policy: Policy, *, is_reported: bool) -> Iterator[Policy]:
    """Yield what may have been the gate of a skill: that a baseline was set, which adds one, is not known here.

    Where both fit, another gate fails, and the drop decides nothing.
    """
    if not is_reported:
        yield Policy(fail_on=policy.fail_on & _OF_FINDINGS)
        return
    yield policy
    yield policy._replace(fail_on=policy.fail_on | {"regression"})


def _fits(one: SkillResult, policy: Policy) -> bool:
    """Whether a policy gives the verdict that a shard gave."""
    outcome = _outcome_of(one)
    if outcome is None or _then(one, policy) is not None or outcome.reason.startswith("no baseline"):
        return _judged(one, policy, one.drop) == one.gate
    return judge(one, policy, spent=_spent(one)).outcomes == tuple(o for o in one.gate.outcomes if o is not outcome)


def _judged(one: SkillResult, policy: Policy, drop: DropTest | None) -> Verdict:
    """Ask every gate, with what a drop is said to be."""
    compared = _outcome_of(one) is not None
    return judge(one, policy, _then(one, policy), compared=compared, drop=drop, spent=_spent(one))


def _spent(one: SkillResult) -> str | None:
    return next((o.reason for o in one.gate.outcomes if o.gate == "budget" and o.verdict is Outcome.FAIL), None)


def _outcome_of(one: SkillResult) -> GateOutcome | None:
    """Return what came of comparing a skill with a baseline; None where there was none for any skill of its run."""
    return next((outcome for outcome in one.gate.outcomes if outcome.gate == "regression"), None)


def _then(one: SkillResult, policy: Policy) -> SkillResult | None:
    """Return the baseline's result as far as its gate asks about it: its points, and a badge that has been lost.

    None where there was none, or where its points are not known. Which badge was lost decides nothing where the drop
    may be chance; the Elo never, as one that sufficed for the badge suffices for any below.
    """
    drop, now, outcome = one.drop, one.composite, _outcome_of(one)
    if drop is None or drop.drop is None or now.score is None or outcome is None:
        return None
    badge, lost = now.badge, _LOST.match(outcome.reason)
    if lost is not None and lost[1] in {each.value for each in Badge}:
        badge = Badge(lost[1])
    elif outcome.reason.startswith(_SHADE) and drop.reason is None and drop.drop <= policy.max_drop and rank(badge):
        badge = tuple(Badge)[rank(badge) - 1]
    score = round(now.score + drop.drop, 2)
    return one._replace(composite=now._replace(score=score, badge=badge), layers=())


def _without_policy(one: SkillResult, drop: DropTest) -> Verdict:
    """Return the verdict where the gate is not known: as it was, unless the correction may have changed it."""
    outcome, was = _outcome_of(one), one.drop
    if outcome is None or was is None or was.p is None or drop.p is None:
        return one.gate
    if outcome.reason.startswith(_SHADE):
        reason = outcome.reason.replace(f"(p = {was.p:.2f}", f"(p = {drop.p:.2f}")
        outcomes = tuple(o._replace(reason=reason) if o is outcome else o for o in one.gate.outcomes)
        return one.gate._replace(outcomes=outcomes)
    if outcome.verdict is Outcome.FAIL and was.p <= REAL < drop.p and not _falls_by_itself(one, outcome, drop):
        raise UsageError(
            f"the drop of {one.skill.path}, with p = {was.p:.4f} in its shard, is not sure beside those of all shards"
            f" (p = {drop.p:.4f}), and no report holds what its gates make of that: give the options of the gate that"
            " the shards were made with, or join them where their configuration is"
        )
    return one.gate


def _falls_by_itself(one: SkillResult, outcome: GateOutcome, drop: DropTest) -> bool:
    """Whether the gate fails a drop however sure it is, as far as the outcome says what was allowed."""
    allowed = _ALLOWED.search(outcome.reason)
    try:
        most = float(allowed[1]) if allowed else float("inf")
    except ValueError:
        return False
    was = _then(one, Policy(max_drop=most))
    return was is not None and all(regression("it", was, one, most, drop=each) == outcome for each in (one.drop, drop))
