"""Report the skills that were found: compared with a baseline, with other tools' findings, less what is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.evaluation import pipeline
from skillgate.evaluation.findings import read_whole
from skillgate.skill.read import read

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.evaluation.findings import Reading
    from skillgate.evaluation.pipeline import Baseline, Evaluated, Evaluator
    from skillgate.evaluation.request import EvaluateRequest
    from skillgate.model.assessment import Assessment
    from skillgate.model.report import Report
    from skillgate.model.skill import SkillRoot
    from skillgate.report.known import Known
    from skillgate.session import Session
    from skillgate.skill.discover import Discovery

    Touched = Callable[[SkillRoot, Assessment | None], bool]


def compared(
    request: EvaluateRequest, discovery: Discovery, evaluator: Evaluator, session: Session, *, touched: Touched | None
) -> Report:
    """Evaluate, and compare with the baseline where one is set.

    Raises:
        UsageError: a file that an option names cannot be read or written.
    """
    if request.config.get(settings.BASELINE) is None:
        return reported(request, discovery, evaluator, session, touched=touched).report
    from skillgate.evaluation.baseline.loading import across_change, load_baseline  # most runs compare with nothing

    baseline = load_baseline(request.config, discovery.roots, request.scope.paths, session, evaluator)
    found = reported(request, discovery, evaluator, session, touched=touched, baseline=baseline)
    return found.report._replace(across=across_change(found.report, baseline, found.across))


def reported(
    request: EvaluateRequest,
    discovery: Discovery,
    evaluator: Evaluator,
    session: Session,
    *,
    touched: Touched | None,
    baseline: Baseline | None = None,
    read_known: Reading = read_whole,
    read_sarif: Reading = read_whole,
) -> Evaluated:
    """Evaluate, less what is known already; where known findings are to be written, they are what is found now.

    Args:
        request: what is evaluated.
        discovery: the skills that were found.
        evaluator: how they are evaluated.
        session: the run.
        touched: whether a skill is reported; None for all.
        baseline: what to compare with.
        read_known: reads the file of known findings, by its path, its shown path and what it is for.
        read_sarif: likewise the findings of other tools.

    Raises:
        UsageError: a file that an option names cannot be read or written.
    """
    config, scope = request.config, request.scope
    sources = [read(root) for root in discovery.roots]
    others = None
    if request.merge_sarif:
        from skillgate.evaluation.merging import Merging  # most runs merge nothing

        part = "--changed" if scope.changed else "--files" if scope.of_files else ""
        others = Merging(request.merge_sarif, session, part=part, reading=read_sarif)
        touched = _telling(touched, others.aside)

    def evaluated(known: Known | None) -> Evaluated:
        attach = None if others is None else others.attaching(known)
        criteria = evaluator.criteria._replace(known=known)
        own = evaluator._replace(criteria=criteria)
        found = pipeline.evaluate(sources, own, touched=touched, baseline=baseline, attach=attach)
        return found if others is None else found._replace(report=others.shown(found.report))

    if request.write_known_findings is None and config.get(settings.KNOWN_FINDINGS) is None:
        return evaluated(None)
    from skillgate.evaluation.known import load_known, write_known  # most runs know nothing

    if request.write_known_findings is not None:
        report = evaluated(None).report
        write_known(request.write_known_findings, report, request, session, complete=discovery.complete)
        config = config.with_options({settings.KNOWN_FINDINGS.key: request.write_known_findings})
    known = load_known(config, session, merges=others is not None, reading=read_known)
    found = evaluated(known)
    if known is not None and known.unmet and not scope.changed and scope.paths == (".",):
        gone = "1 known finding is" if known.unmet == 1 else f"{known.unmet} known findings are"
        session.note(f"{gone} gone; --write-known-findings brings the file up to date")
    return found


def _telling(touched: Touched | None, aside: set[str]) -> Touched | None:
    """Make a test put the shown paths of what it says no to into ``aside``."""
    if touched is None:
        return None

    def told(root: SkillRoot, facts: Assessment | None) -> bool:
        is_touched = touched(root, facts)
        if not is_touched:
            aside.add(str(root.path))
        return is_touched

    return told
