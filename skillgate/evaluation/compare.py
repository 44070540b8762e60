"""Compare two skills or two saved reports, and join the reports of shards."""

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
from skillgate.model.documents import Comparison, Diff, DiffSide
from skillgate.model.finding import Severity
from skillgate.model.report import GateOutcome, Report, SkillResult, Verdict
from skillgate.model.score import Badge, Depth, Outcome
from skillgate.model.single_report import SingleReport
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
    from skillgate.model.finding import AcrossChange, Finding, ListingUse
    from skillgate.model.layers import Agreement, DropTest, JudgeLayer, Trust
    from skillgate.model.skill import SkillSource, Unreadable

    Policies = Callable[[Depth], Callable[[PurePosixPath], Policy]]

_REMEDY = "Both must be score documents, written by: skillgate score PATH --output-file REPORT.json"
_KINDS = {
    "check": "a check document, with findings but no scores to compare",
    "compare": "already a comparison",
    "diff": "already a diff",
    "action": "the record of an Action run; compare its report.json instead",
    "known-findings": "a file of known findings",
}
_LATER = ("bench", "invocations")  # documents that other versions can compare


def compare_skills(request: CompareRequest, session: Console) -> Comparison | DryRun:
    """Score both skills and return the differences; in a dry run, return the estimate.

    Raises:
        UsageError: an option is not valid, or a side names no skill or several.
        IncompleteError: the requested depth cannot run.
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
        from skillgate.evaluation.sampled import both_sides  # imports the judge

        (a, b), models, estimate = both_sides(sources, request, session, depth=depth)
        if estimate is not None:
            return estimate
    comparison = compare(a, b, version=__version__, digest=config_digest(config), depth=depth, models=models)
    # Only now: findings are matched by shown paths, which must not contain the revision.
    comparison = replace(comparison, a=_shown_as(a, request.a), b=_shown_as(b, request.b))
    return _gated(comparison, request.max_drop, config.get(settings.ON_INCONCLUSIVE))


def exit_code(comparison: Comparison) -> int:
    """Return 1 for a failed gate, 3 if a side could not be read or judged, else 0."""
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
    """Whether a side is ``REV:path`` and not a path.

    A directory of that name cannot replace a revision; ./name:path is always a path, and ``C:`` a drive.
    """
    revision, colon, _ = side.partition(":")
    return bool(colon) and len(revision) > 1 and not side.startswith((".", "/"))


def _shown_as(result: SkillResult, side: str) -> SkillResult:
    return result._replace(skill=result.skill._replace(path=side)) if _is_in_git(side) else result


def _source(side: str, session: Console) -> SkillSource | Unreadable:
    """Read the skill of one side."""
    revision, _, path = side.partition(":")
    is_in_git = _is_in_git(side)
    discovery = discover_commit(revision, path, cwd=session.cwd) if is_in_git else discover([side], cwd=session.cwd)
    for notice in discovery.notices:
        session.note(notice)
    roots = discovery.roots[:1] if discovery.single else discovery.roots
    if not roots:
        raise UsageError(f"no skill in {side}: a skill is a directory with a SKILL.md")
    if len(roots) > 1:
        raise UsageError(f"{len(roots)} skills in {side}; compare takes one on each side")
    return read(roots[0])


class DiffRequest(NamedTuple):
    """Two documents to compare, their labels, and what a regression is (None: as configured)."""

    a: str
    b: str
    label_a: str | None = None
    label_b: str | None = None
    max_drop: float | None = None
    gated: bool = False
    on_inconclusive: str | None = None


class _Side(NamedTuple):
    """One side of a diff: file, label, document and skills."""

    shown: str
    label: str
    document: Report | SingleReport
    results: tuple[SkillResult, ...]


def diff_files(request: DiffRequest, session: Console) -> Diff:
    """Return the differences between two documents.

    Raises:
        UsageError: a document cannot be read or has the wrong kind, or the two are not comparable.
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
        pairs = Pairs(((a.results[0], b.results[0]),))  # two documents about one skill each are about the same skill
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
    """Raise UsageError unless both documents are scores."""
    every = set(kinds.values())
    if every == {"score"}:
        return
    if len(every) > 1 and None not in every:
        both = " and ".join(f"{shown} is of kind {kind}" for shown, kind in kinds.items())
        raise UsageError(f"{both}: only documents of the same kind can be compared\n{_REMEDY}")
    shown, kind = next((shown, kind) for shown, kind in kinds.items() if kind != "score")
    if kind in _LATER:
        raise UsageError(f"{shown} is of kind {kind}; this command compares only score documents")
    what = _KINDS.get(kind or "", "not a skillgate document" if kind is None else f"of the unknown kind {kind[:40]!r}")
    raise UsageError(f"{shown} is {what}\n{_REMEDY}")


def _side(shown: str, label: str | None, document: object) -> _Side:
    if not isinstance(document, Report | SingleReport):
        raise TypeError(f"a score document became {type(document).__name__}")
    results = document.results if isinstance(document, Report) else (document.result(),)
    seen: set[str] = set()
    for index, result in enumerate(results):
        path = result.skill.path
        if path in seen:
            raise UsageError(f"{shown} is not a skillgate report: results[{index}].skill.path: {path!r} is a duplicate")
        seen.add(path)
    return _Side(shown, label or os.path.basename(shown) or shown, document, results)  # noqa: PTH119


def _require_comparable(a: _Side, b: _Side) -> None:
    """Raise UsageError with every difference that makes scores incomparable."""
    one, other = a.document, b.document
    differing = (
        ("depth", one.depth.value, other.depth.value),
        ("scoring version", str(one.scoring_version), str(other.scoring_version)),
        ("models", ", ".join(one.models) or "none", ", ".join(other.models) or "none"),
    )
    problems = [
        f"{a.shown} has {what} {then}, {b.shown} {now}: their scores are not comparable"
        for what, then, now in differing
        if then != now
    ]
    if problems:
        raise UsageError("\n".join([*problems, "Score both sides again, with the same skillgate and options"]))


def _together(a: _Side, b: _Side, pairs: Pairs) -> tuple[tuple[ListingUse, ...], AcrossChange | None]:
    """Return the differences across skills, if both documents have several."""
    before, after = a.document, b.document
    if isinstance(before, SingleReport) or isinstance(after, SingleReport):
        return (), None
    both = {then.skill.path: now.skill.path for then, now in pairs.pairs if then and now}
    moves = {**pairs.rebased, **{then: now for then, now in both.items() if then != now}}
    across = across_change(across_findings(a.results), across_findings(b.results), both.items(), moves)
    return listing_change(before.listing, after.listing, pairs.start), across


def _hints(a: _Side, b: _Side, pairs: Pairs) -> Iterator[str]:
    """Yield causes of differences other than the skills themselves."""
    before, after = a.document, b.document
    yield from _pairing_hints(a, b, pairs)
    if before.profile != after.profile:
        yield (
            f"{a.label} has profile {before.profile}, {b.label} has {after.profile}: this alone may add or remove"
            " findings"
        )
    if before.tool.version != after.tool.version:
        yield (
            f"{a.label} is from skillgate {before.tool.version}, {b.label} from {after.tool.version}: a finding may"
            " be new because its rule is new"
        )
    for side in (a, b):
        summary = side.document.summary if isinstance(side.document, Report) else None
        if summary is not None and summary.found is not None and summary.found > summary.skills:
            yield (
                f"{side.label} covers {summary.skills} of {summary.found} skills: the others may only look new or"
                " removed"
            )


def _pairing_hints(a: _Side, b: _Side, pairs: Pairs) -> Iterator[str]:
    both = [(then.skill, now.skill) for then, now in pairs.pairs if then and now]
    if pairs.start is not None:
        then, now = (repr(start) if start else "nothing" for start in pairs.start)
        yield (
            f"no path is the same in both: paths in {a.label} begin with {then}, in {b.label} with {now}. Both are"
            " treated as the same place, and skills are paired by the rest of the path, then by name"
        )
    elif both and not any(
        then.path == now.path or repository_path(then) == repository_path(now) is not None for then, now in both
    ):
        named = any({then.name, *names_of("", then.path)} & {now.name, *names_of("", now.path)} for then, now in both)
        how = "skills are paired only by name" if named else "the single skills are treated as the same"
        yield f"no path is the same in both: {how}"


_LOST = re.compile(r"it lost its badge (\w+) \(")
_ALLOWED = re.compile(r"; allowed: ([^ )]+)\)$")
_SHADE = "inconclusive: "
_OF_FINDINGS = frozenset({"error", "new-error", "warning"})  # the only gates for a skill that is not reported


def merge(
    request: MergeRequest, wanted: CertificateRequest, session: Console, *, outputs: Sequence[str] = ()
) -> Evaluation:
    """Join the shards of a run, and write certificate and badges; ``outputs`` are other files that are written later.

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
        names: the files as the user wrote them, in any order.
        baseline: the report that the shards must have been compared with.
        policies: return the gate of a skill at a depth, by its shown path.
        session: the run.
        insisted: whether options set gates here: the shards must have had the same.

    Returns:
        The report of a run over all skills, and whether it is about one path that is itself a skill.

    Raises:
        UsageError: a file cannot be read or is not a report, they are not all shards of one run, their drops cannot be
            corrected for all skills, or baseline or gates do not match.
    """
    shards = {name: _document(name, session) for name in dict.fromkeys(names)}
    if len(shards) < len(names):
        raise UsageError("a shard is listed twice")
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
        raise UsageError(
            f"{name} is not a score report; write one with: skillgate certify PATH --shard 1/4 --output json"
        )
    document = shaped(data, source=name)
    if not isinstance(document, Report | SingleReport):
        raise TypeError(f"a score document became {type(document).__name__}")
    return document


def spread(one: SingleReport, count: int, others: Sequence[Report]) -> Report:
    """Return a document of one skill as one over ``count``; missing values are taken from the others."""
    values: dict[str, Any] = {name: getattr(one, name) for name in Report._fields if hasattr(one, name)}
    result = one.result()
    values |= {"results": (result,), "summary": summarise((result,), found=count)}
    values |= {"gate": one.gate._replace(outcomes=()), "listing": others[0].listing if others else ()}
    values["across"] = others[0].across if others else None
    return Report(**values)


def _agreement(layers: Sequence[JudgeLayer], judges: int) -> Agreement:
    from skillgate.judge.calibration import agreement  # imports numpy: only where several judges were asked
    from skillgate.judge.subject import Ratings

    pooled = []
    for layer in layers:
        # Only what every judge rated counts, so it does not matter which judges did.
        rated = [(name, one.ratings) for name, one in layer.assessments.items() if len(one.ratings) == judges]
        prompts = layer.triggering.prompts if layer.triggering else ()
        predicted = [tuple(None if one is None else int(one) for one in prompt.predicted) for prompt in prompts]
        pooled.append(Ratings(tuple(rated), tuple(predicted)))
    return agreement(pooled, judges)


def _trust(known: Trust, layers: Sequence[JudgeLayer]) -> Trust:
    """Return the share of all ratings that people would pass; agreement with the judge is already in every shard."""
    from skillgate.judge.calibration import PASS_MARK, trust  # imports numpy: few runs have a calibration
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
    """Raise UsageError if the shards were not compared with this baseline, or it is not a report."""
    if not any(map(_outcome_of, report.results)):
        raise UsageError(f"the shards have no baseline; leave out --baseline {name}")
    if not name.endswith(".json"):
        raise UsageError(
            f"--baseline {name}: only a report can be checked against the shards, since a revision would have to be"
            " scored again; leave --baseline out"
        )

    before, policy = _before(_document(name, session), report.results), policies(report.depth)
    pairs = [(before.get(one.skill.path), one) for one in report.results]
    drops = sampled_drops(pairs, [policy(PurePosixPath(one.skill.path)).max_drop for one in report.results])
    for one, drop in zip(report.results, drops, strict=True):
        if drop != one.drop:
            raise UsageError(f"the shards were not compared with {name}: the drop of {one.skill.path} is different")


def _before(document: Report | SingleReport, results: Iterable[SkillResult]) -> Mapping[str, SkillResult]:
    """Pair the skills with a baseline like a run over them."""
    then = document.results if isinstance(document, Report) else (document.result(),)
    return {now.skill.path: was for was, now in paired(then, tuple(results)).pairs if was and now}


def corrected(whole: Joined, policy: Callable[[PurePosixPath], Policy], *, insisted: bool) -> Report:
    """Correct drops for the skills of all shards.

    Args:
        whole: the joined shards, each with its drops.
        policy: the gate of a skill here, by shown path; the shards may have had another one.
        insisted: whether options set it here, so that it must not be ignored.

    Raises:
        UsageError: the gate here is not that of the shards, and the result depends on it.
    """
    report, drops = whole.report, _drops(whole.report)
    results = []
    for one in report.results:
        likely = _policies(policy(PurePosixPath(one.skill.path)), is_reported=one.skill.path not in whole.extras)
        fitting = next((each for each in likely if _fits(one, each)), None)
        if fitting is None and insisted:
            raise UsageError(
                f"the gates of {one.skill.path} differ from those of its shard; join shards with their own"
                " configuration and gate options, or without gate options"
            )
        drop = drops.get(one.skill.path)
        if drop is not None and drop != one.drop:
            gate = _without_policy(one, drop) if fitting is None else _judged(one, fitting, drop)
            one = one._replace(drop=drop, gate=gate)
        results.append(one)
    return decided(report._replace(results=tuple(results)))


def _drops(report: Report) -> Mapping[str, DropTest]:
    """Return the drop test of each skill with a p, corrected for all of them, by path."""
    tested = {one.skill.path: one.drop for one in report.results if one.drop and one.drop.p is not None}
    if not tested:
        return {}
    from skillgate.stats.resampling import holm  # imports numpy: only where drops were tested

    alone = [drop.p_alone for drop in tested.values() if drop.p_alone is not None]
    if len(alone) < len(tested):
        path = next(path for path, drop in tested.items() if drop.p_alone is None)
        raise UsageError(
            f"cannot correct the drop of {path} for all skills: p_alone is missing; run the shards again with this"
            " skillgate"
        )
    return {path: drop._replace(p=p) for (path, drop), p in zip(tested.items(), holm(alone), strict=True)}


def _policies(policy: Policy, *, is_reported: bool) -> Iterator[Policy]:
    """Yield the possible gates of a skill: whether a baseline added one is not known here.

    If both fit, another gate fails, and the drop does not matter.
    """
    if not is_reported:
        yield Policy(fail_on=policy.fail_on & _OF_FINDINGS)
        return
    yield policy
    yield policy._replace(fail_on=policy.fail_on | {"regression"})


def _fits(one: SkillResult, policy: Policy) -> bool:
    """Whether a policy gives the verdict of the shard."""
    outcome = _outcome_of(one)
    if outcome is None or _then(one, policy) is not None or outcome.reason.startswith("no baseline"):
        return _judged(one, policy, one.drop) == one.gate
    fresh = judge(one, policy, came=_came(one), spent=_spent(one))
    return fresh.outcomes == tuple(o for o in one.gate.outcomes if o is not outcome)


def _judged(one: SkillResult, policy: Policy, drop: DropTest | None) -> Verdict:
    """Check every gate, with a given drop."""
    compared = _outcome_of(one) is not None
    return judge(one, policy, _then(one, policy), compared=compared, came=_came(one), drop=drop, spent=_spent(one))


def _came(one: SkillResult) -> Sequence[Finding] | None:
    """Return as many errors of a skill as its shard counted as new, whichever they were; None if it counted none."""
    outcome = next((outcome for outcome in one.gate.outcomes if outcome.gate == "new-error"), None)
    if outcome is None:
        return None
    errors = [finding for finding in one.findings if finding.severity is Severity.ERROR]
    return errors[: int(outcome.reason.partition(" ")[0])]


def _spent(one: SkillResult) -> str | None:
    return next((o.reason for o in one.gate.outcomes if o.gate == "budget" and o.verdict is Outcome.FAIL), None)


def _outcome_of(one: SkillResult) -> GateOutcome | None:
    """Return the regression outcome of a skill; None if its run had no baseline."""
    return next((outcome for outcome in one.gate.outcomes if outcome.gate == "regression"), None)


def _then(one: SkillResult, policy: Policy) -> SkillResult | None:
    """Return the baseline's result as far as its gate needs it: its points, and a lost badge.

    None if there was none, or its points are not known. Which badge was lost does not matter if the drop may be chance;
    nor does the Elo rating, since one that sufficed for the badge suffices for any lower one.
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
    """Return the verdict if the gate is not known: unchanged, unless the correction may have changed it."""
    outcome, was = _outcome_of(one), one.drop
    if outcome is None or was is None or was.p is None or drop.p is None:
        return one.gate
    if outcome.reason.startswith(_SHADE):
        reason = outcome.reason.replace(f"(p = {was.p:.2f}", f"(p = {drop.p:.2f}")
        outcomes = tuple(o._replace(reason=reason) if o is outcome else o for o in one.gate.outcomes)
        return one.gate._replace(outcomes=outcomes)
    if outcome.verdict is Outcome.FAIL and was.p <= REAL < drop.p and not _falls_by_itself(one, outcome, drop):
        raise UsageError(
            f"the drop of {one.skill.path} (p = {was.p:.4f} in its shard) is not significant over all shards (p ="
            f" {drop.p:.4f}), and the report does not say what its gates make of that. Pass the gate options of the"
            " shards, or join them where their configuration is"
        )
    return one.gate


def _falls_by_itself(one: SkillResult, outcome: GateOutcome, drop: DropTest) -> bool:
    """Whether the gate fails a drop whatever its p, if the outcome says what was allowed."""
    allowed = _ALLOWED.search(outcome.reason)
    try:
        most = float(allowed[1]) if allowed else float("inf")
    except ValueError:
        return False
    was = _then(one, Policy(max_drop=most))
    return was is not None and all(regression("it", was, one, most, drop=each) == outcome for each in (one.drop, drop))
