"""Join the shards of one run into one report.

A shard corrects what it says of drops for its own skills alone, so that over all of them a drop is never surer than
there: what failed may turn out to be undecided, and nothing else changes.
"""

from __future__ import annotations

import os
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from skillgate.errors import UsageError
from skillgate.evaluation.certify import require_outside, require_written, write_certificates
from skillgate.evaluation.request import CertificateRequest, MergeRequest, policies, read_whole
from skillgate.evaluation.run import Evaluation
from skillgate.model.documents import SingleReport
from skillgate.model.report import GateOutcome, Report, SkillResult, Verdict
from skillgate.model.score import Badge, Depth, Outcome
from skillgate.report.joining import Joined, Part, decided, join
from skillgate.report.json import kind_of, parsed, shaped
from skillgate.scoring.composite import summarise
from skillgate.scoring.gate import REAL, Policy, judge, rank, regression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from skillgate.console import Console
    from skillgate.model.layers import Agreement, DropTest, JudgeLayer, Trust

    Policies = Callable[[Depth], Callable[[PurePosixPath], Policy]]

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
    from skillgate.scoring.gate import sampled_drops  # brings in numpy

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
    from skillgate.scoring.pairing import paired

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
