"""From the skills that were found to a report: beside a baseline, with other tools' findings, less what is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.evaluate import pipeline
from skillgate.evaluate.findings import read_whole
from skillgate.skill.read import read

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillgate.evaluate.findings import Reading
    from skillgate.evaluate.merging import Merging
    from skillgate.evaluate.request import EvaluateRequest
    from skillgate.model.assessment import Assessment
    from skillgate.model.finding import Finding
    from skillgate.model.report import Report
    from skillgate.model.skill import SkillRoot, SkillSource, Unreadable
    from skillgate.session import Session
    from skillgate.skill.discover import Discovery

    Touched = Callable[[SkillRoot, Assessment | None], bool]


def compared(request: EvaluateRequest, discovery: Discovery, context: pipeline.Context, session: Session) -> Report:
    """Evaluate, and compare with the baseline where one is set.

    Raises:
        UsageError: a file that an option names cannot be read or written.
    """
    if request.config.get(settings.BASELINE) is None:
        return reported(request, discovery, context, session)
    from skillgate.evaluate.baseline.loading import across_change, load_baseline  # most runs compare with nothing

    before = load_baseline(request.config, discovery.roots, request.scope.paths, session, context)
    told: list[tuple[Finding, ...]] = []
    beside = context._replace(baseline=before.results, before=before.listing, again=before.again, beside=told.append)
    report = reported(request, discovery, beside, session)
    return report._replace(across=across_change(report, before, told[-1]))


def reported(
    request: EvaluateRequest,
    discovery: Discovery,
    context: pipeline.Context,
    session: Session,
    *,
    read_known: Reading = read_whole,
    read_sarif: Reading = read_whole,
) -> Report:
    """Evaluate, less what is known already; where known findings are to be written, they are what is found now.

    ``read_known`` reads the file of known findings, by its path, its shown path and what it is for; ``read_sarif``
    likewise the findings of other tools.

    Raises:
        UsageError: a file that an option names cannot be read or written.
    """
    config, scope = request.config, request.scope
    sources = [read(root) for root in discovery.roots]
    others = None
    if request.merge_sarif:
        from skillgate.evaluate.merging import Merging  # most runs merge nothing

        part = "--changed" if scope.changed else "--files" if scope.of_files else ""
        others = Merging(request.merge_sarif, session, part=part, reading=read_sarif)
        context = context._replace(touched=_telling(context.touched, others.aside))
    if request.write_known_findings is None and config.get(settings.KNOWN_FINDINGS) is None:
        return _merged(sources, context, others)
    from skillgate.evaluate.known import load_known, write_known  # most runs know nothing

    if request.write_known_findings is not None:
        found = _merged(sources, context, others)
        write_known(request.write_known_findings, found, request, session, complete=discovery.complete)
        config = config.with_options({settings.KNOWN_FINDINGS.key: request.write_known_findings})
    known = load_known(config, session, merges=others is not None, reading=read_known)
    report = _merged(sources, context._replace(known=known), others)
    if known is not None and known.unmet and not scope.changed and scope.paths == (".",):
        gone = "1 known finding is" if known.unmet == 1 else f"{known.unmet} known findings are"
        session.note(f"{gone} gone; --write-known-findings brings the file up to date")
    return report


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


def _merged(sources: Sequence[SkillSource | Unreadable], context: pipeline.Context, others: Merging | None) -> Report:
    """Evaluate, with the findings of other tools."""
    if others is None:
        return pipeline.evaluate(sources, context)
    return others.shown(pipeline.evaluate(sources, context._replace(attach=others.attaching(context.known))))
