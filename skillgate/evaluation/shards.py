"""Shards of a run of certify: the files of all of them on their way into one report."""

from __future__ import annotations

import os
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.evaluation.correcting import corrected, outcome_of
from skillgate.evaluation.findings import read_whole
from skillgate.model.documents import SingleReport
from skillgate.model.report import Report
from skillgate.report.joining import Part, join
from skillgate.report.json import kind_of, parsed, shaped
from skillgate.scoring.summary import summarise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from skillgate.evaluation.request import CertificateRequest, MergeRequest
    from skillgate.evaluation.run import Evaluation
    from skillgate.model.judging import Agreement, JudgeLayer, Trust
    from skillgate.model.report import SkillResult
    from skillgate.model.score import Depth
    from skillgate.scoring.gate import Policy
    from skillgate.session import Session

    Policies = Callable[[Depth], Callable[[PurePosixPath], Policy]]


def merge(
    request: MergeRequest, wanted: CertificateRequest, session: Session, *, outputs: Sequence[str] = ()
) -> Evaluation:
    """Join the shards of a run, and write certificate and badges; ``outputs`` are other files that are written after.

    Raises:
        UsageError: the files are not all shards of one run, or a file must not be written.
    """
    from skillgate.evaluation.certifying import require_outside, require_written, write_certificates
    from skillgate.evaluation.policies import policies
    from skillgate.evaluation.run import Evaluation

    def policies_at(depth: Depth) -> Callable[[PurePosixPath], Policy]:
        return policies(request.config, command="score", note=lambda _: None, depth=depth)

    require_written(wanted, session)
    report, single = joined(request.files, request.baseline, policies_at, session, insisted=request.insisted)
    if wanted.certificate is not None:
        require_outside([result.skill.path for result in report.results], wanted, session, outputs=outputs)
    write_certificates(report, {}, wanted, session)
    return Evaluation(report, single, 0.0)


def joined(
    names: Sequence[str], baseline: str | None, policies: Policies, session: Session, *, insisted: bool = False
) -> tuple[Report, bool]:
    """Read the shards of a run and join them.

    Args:
        names: the files, as they were given, in any order.
        baseline: the report that the shards are said to have been compared with; None where nobody says so.
        policies: give what is asked of a skill at a depth, by its shown path.
        session: the run.
        insisted: whether what is asked was said for this very command: the shards must have been asked for it, too.

    Returns:
        The report that a run over all skills would have given, and whether it is of one path that is itself a skill.

    Raises:
        UsageError: a file cannot be read or is no report, they are not all shards of one run, what they say of
            drops cannot be corrected for all skills, or baseline or gates are others than theirs.
    """
    read = {name: _document(name, session) for name in dict.fromkeys(names)}
    if len(read) < len(names):
        raise UsageError("a shard is given twice")
    found = max((one.summary.found or 0 for one in read.values() if isinstance(one, Report)), default=1)
    single = any(isinstance(one, SingleReport) for one in read.values())
    beside = [one for one in read.values() if isinstance(one, Report)]
    parts = [Part(name, one if isinstance(one, Report) else spread(one, found, beside)) for name, one in read.items()]
    whole = join(parts, agree=_agreement, calibrate=_trust)
    report = corrected(whole, policies(whole.report.depth), insisted=insisted)
    if baseline is not None:
        _require_baseline(baseline, report, policies, session)
    return report, single and len(report.results) == 1


def _document(name: str, session: Session) -> Report | SingleReport:
    data = parsed(read_whole(os.path.join(session.cwd, name), name, "the shard"), source=name)  # noqa: PTH118
    if kind_of(data) != "score":
        raise UsageError(f"{name} is no score report; write one with: skillgate certify PATH --shard 1/4 --output json")
    document = shaped(data, source=name)
    if not isinstance(document, Report | SingleReport):
        raise TypeError(f"a score document became {type(document).__name__}")
    return document


def spread(one: SingleReport, found: int, beside: Sequence[Report]) -> Report:
    """Give a document of one skill the shape of one over ``found``; what it does not say is as the others say."""
    other = beside[0] if beside else None
    result = one.result()
    return Report(
        depth=one.depth,
        coverage=one.coverage,
        config_digest=one.config_digest,
        tool=one.tool,
        results=(result,),
        summary=summarise((result,), found=found),
        gate=one.gate._replace(outcomes=()),
        models=one.models,
        schema_version=one.schema_version,
        scoring_version=one.scoring_version,
        profile=one.profile,
        listing=() if other is None else other.listing,
        across=None if other is None else other.across,
        outside=one.outside,
        usage=one.usage,
        agreement=one.agreement,
        calibration=one.calibration,
        resumed=one.resumed,
        shard=one.shard,
    )


def _agreement(layers: Sequence[JudgeLayer], judges: int) -> Agreement:
    from skillgate.judge.pooling import agreement  # brings in numpy: only where several judges were asked
    from skillgate.judge.subject import Ratings

    pooled = [
        Ratings(
            # What not every judge rated counts nowhere, so it need not be known who did.
            tuple((name, one.ratings) for name, one in layer.assessments.items() if len(one.ratings) == judges),
            tuple(
                tuple(None if said is None else int(said) for said in prompt.predicted)
                for prompt in (layer.triggering.prompts if layer.triggering else ())
            ),
        )
        for layer in layers
    ]
    return agreement(pooled, judges)


def _trust(known: Trust, layers: Sequence[JudgeLayer]) -> Trust:
    """Give how many of all ratings people would pass; how far the judge agrees with them is in every shard already."""
    from skillgate.judge.trust import PASS_MARK, trust  # brings in numpy: few runs have a calibration
    from skillgate.model.calibration import Calibration, Pair
    from skillgate.model.score import Dimension

    rated = next((layer for layer in layers if layer.assessments), None)
    if rated is None:
        return known
    pairs = []
    for human, rate in ((PASS_MARK, known.sensitivity), (0.0, known.specificity)):
        agreed = round((rate.value or 0.0) * rate.n)
        for index in range(rate.n):
            judge = human if index < agreed else PASS_MARK - human
            pairs.append(Pair(f"{human} {index}", Dimension.OUTPUT_QUALITY, human, judge))
    model = " + ".join(sorted(set(rated.models)))
    said = Calibration(model, rated.prompt_version, rated.rubric_version, "", tuple(pairs), live=rated.live)
    return known._replace(acceptable=trust(said, layers).acceptable)


def _require_baseline(name: str, report: Report, policies: Policies, session: Session) -> None:
    """Refuse a baseline that the shards were not compared with.

    Raises:
        UsageError: it is no report, or another one.
    """
    if not any(map(outcome_of, report.results)):
        raise UsageError(f"the shards were compared with nothing: join them without --baseline {name}")
    if not name.endswith(".json"):
        raise UsageError(
            f"--baseline {name}: the shards hold what came of comparing them, and a revision cannot be held against"
            " that without scoring it again; leave --baseline out"
        )
    from skillgate.scoring.drops import sampled_drops  # brings in numpy

    before, policy = _before(_document(name, session), report.results), policies(report.depth)
    pairs = [(before.get(one.skill.path), one) for one in report.results]
    found = sampled_drops(pairs, [policy(PurePosixPath(one.skill.path)).max_drop for one in report.results])
    for one, drop in zip(report.results, found, strict=True):
        if drop != one.drop:
            raise UsageError(
                f"{name} is not what the shards were compared with: {one.skill.path} fell otherwise from it"
            )


def _before(document: Report | SingleReport, results: Iterable[SkillResult]) -> Mapping[str, SkillResult]:
    """Pair the skills with a baseline as a run over them does."""
    from skillgate.scoring.pairing import paired

    kept = document.results if isinstance(document, Report) else (document.result(),)
    return {now.skill.path: then for then, now in paired(kept, tuple(results)).pairs if then and now}
