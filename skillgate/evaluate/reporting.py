"""From the skills that were found to a report: beside a baseline, with other tools' findings, less what is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings
from skillgate.evaluate import pipeline
from skillgate.evaluate.findings import read_whole
from skillgate.skill.read import read

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from skillgate.config import Config
    from skillgate.evaluate.findings import Reading
    from skillgate.evaluate.merging import Merging
    from skillgate.model.assessment import Assessment
    from skillgate.model.finding import Finding
    from skillgate.model.report import Report
    from skillgate.model.skill import SkillRoot, SkillSource, Unreadable
    from skillgate.session import Session
    from skillgate.skill.discover import Discovery

    Touched = Callable[[SkillRoot, Assessment | None], bool]


class Run(NamedTuple):
    """What a report is made from: the arguments, the configuration with their options in it, and what was found.

    ``reading`` reads the file of known findings, by its path, its shown path and what it is for; ``merging`` likewise
    the findings of other tools.
    """

    args: argparse.Namespace
    config: Config
    session: Session
    found: Discovery
    reading: Reading = read_whole
    merging: Reading = read_whole


def compared(run: Run, context: pipeline.Context) -> Report:
    """Evaluate, and where a baseline is set, beside what was there before.

    Raises:
        UsageError: a file that an option names cannot be read or written.
    """
    if run.config.get(settings.BASELINE) is None:
        return reported(run, context)
    from skillgate.evaluate.baseline.loading import across_change, load_baseline  # most runs compare with nothing

    before = load_baseline(run.config, run.found.roots, run.args.paths, run.session, context)
    told: list[tuple[Finding, ...]] = []
    beside = context._replace(baseline=before.results, before=before.listing, again=before.again, beside=told.append)
    report = reported(run, beside)
    return report._replace(across=across_change(report, before, told[-1]))


def reported(run: Run, context: pipeline.Context) -> Report:
    """Evaluate, less what is known already; where known findings are to be written, they are what is found now.

    Raises:
        UsageError: a file that an option names cannot be read or written.
    """
    args, config, session, found, reading, _ = run
    sources = [read(root) for root in found.roots]
    others, context = _others(run, context)
    if not args.write_known_findings and config.get(settings.KNOWN_FINDINGS) is None:
        return _merged(sources, context, others)
    from skillgate.evaluate.known import load_known, write_known  # most runs know nothing

    if args.write_known_findings:
        write_known(_merged(sources, context, others), args, session, complete=found.complete)
        config = config.with_options({"known-findings": args.write_known_findings})
    known = load_known(config, session, merges=others is not None, reading=reading)
    report = _merged(sources, context._replace(known=known), others)
    if known is not None and known.unmet and not args.changed and args.paths == ["."]:
        gone = "1 known finding is" if known.unmet == 1 else f"{known.unmet} known findings are"
        session.note(f"{gone} gone; --write-known-findings brings the file up to date")
    return report


def _others(run: Run, context: pipeline.Context) -> tuple[Merging | None, pipeline.Context]:
    """Read the findings of other tools, and let them know which skills are not asked about."""
    if not run.args.merge_sarif:
        return None, context
    from skillgate.evaluate.merging import Merging  # most runs merge nothing

    part = "--changed" if run.args.changed else "--files" if getattr(run.args, "files", False) else ""
    others = Merging(run.args.merge_sarif, run.session, part=part, reading=run.merging)
    return others, context._replace(touched=_telling(context.touched, others.aside))


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
