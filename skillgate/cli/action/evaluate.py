"""From inputs and event to a report of the head, its difference from the base, and the record of the run."""
# ruff: noqa: PTH118

from __future__ import annotations

import argparse
import dataclasses
import os
import time
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from skillgate import __version__, pipeline
from skillgate.cli.action.gate_changes import gate_changes
from skillgate.cli.action.stand import inside, take_stand
from skillgate.cli.action.waived import BaseWaivers
from skillgate.cli.baseline import across_change, load_baseline
from skillgate.cli.changed import touched
from skillgate.cli.evaluation import require_quick
from skillgate.cli.findings import read_whole, selections, wants_optional
from skillgate.cli.policies import policies, require_bounds
from skillgate.cli.reporting import Run, reported
from skillgate.config import config_digest
from skillgate.config_file import DISK
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, UsageError
from skillgate.keeper import Keeper
from skillgate.model.diff import DiffSide
from skillgate.model.report import Tool
from skillgate.model.run import ActionRun
from skillgate.report.diff import diff
from skillgate.report.text import blamed_outside, failures, worst_first
from skillgate.skill.discover import Discovery, discover
from skillgate.skill.git import is_tracked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from skillgate.cli.action.inputs import Value
    from skillgate.cli.action.listening import Listening
    from skillgate.cli.action.stand import Stand
    from skillgate.cli.baseline import Baseline
    from skillgate.cli.findings import Reading
    from skillgate.cli.session import Session
    from skillgate.github.event import Event
    from skillgate.model.assessment import Assessment
    from skillgate.model.diff import Diff
    from skillgate.model.finding import Finding
    from skillgate.model.report import Report
    from skillgate.model.skill import SkillRoot, SkillSource
    from skillgate.scoring.gate import Policy

    Touched = Callable[[SkillRoot, Assessment | None], bool]


class Evaluated(NamedTuple):
    """What came of a run."""

    run: ActionRun
    report: Report
    diff: Diff | None


def evaluate(inputs: Mapping[str, Value], event: Event, session: Listening) -> Evaluated:
    """Evaluate what is checked out, beside its base.

    Raises:
        UsageError: an input, the configuration or the checkout does not do.
        IncompleteError: the depth asked for cannot run, or git fails.
    """
    stand = take_stand(inputs, event, session.cwd)
    require_quick(str(stand.config.get("depth")))
    require_bounds(stand.config)
    found = _found(stand, session)
    for notice in (*filter(None, [stand.base.note]), *found.notices):
        session.note(notice)
    keeper = Keeper(None, clock=time.perf_counter_ns, optional=wants_optional(stand.config))
    context = _context(stand, keeper, session)
    told: list[tuple[Finding, ...]] = []
    before, waived = _earlier(stand, found, session, context, keeper)
    if before is not None:
        context = context._replace(baseline=before.results, before=before.listing, beside=told.append)
    context = context._replace(honoured=waived)
    asked: set[str] = set()
    if stand.changed_only:
        since = stand.base.commit or stand.compared.commit
        context = context._replace(touched=_noting(touched(found.roots, since, session), asked))
    report = reported(Run(_arguments(stand), stand.config, session, found, reading=stand.reading), context)
    if before is not None:
        report = report._replace(across=across_change(report, before, told[-1]))
    if not found.roots and found.complete and not (before and before.gone):
        raise UsageError(f"no skill found in {', '.join(_paths(stand))}: a skill is a directory with a SKILL.md")
    changes: tuple[str, ...] = ()
    if stand.base.commit is not None:
        changes = (
            *gate_changes(stand.config, stand.place, inputs, files=stand.files),
            *(waived.told() if waived else ()),
        )
    run = _record(stand, event, report, session, changes=changes, complete=found.complete)
    if stand.changed_only:
        gone = len(before.gone) if before else 0
        run = dataclasses.replace(run, touched=len(asked) + gone)
    return Evaluated(run, report, None if before is None else _diff(stand, report, before))


def _earlier(
    stand: Stand, found: Discovery, session: Session, context: pipeline.Context, keeper: Keeper
) -> tuple[Baseline | None, BaseWaivers | None]:
    """Evaluate what is compared with, and tell which comments may set findings aside: without a base, all."""
    known: dict[str, Assessment] = {}
    recording = context._replace(assess=_recording(keeper.assess, known))
    before = None
    if stand.compared.value is not None:
        before = load_baseline(
            stand.config, found.roots, _paths(stand), session, recording, reading=_reports(stand), told=False
        )
    if stand.base.commit is None:
        return before, None
    base = before
    if base is None or stand.compared.commit != stand.base.commit:
        known.clear()
        config = stand.config.with_options({"baseline": stand.base.commit})
        base = load_baseline(config, found.roots, _paths(stand), session, recording, told=False)
    facts = {path: known.get(result.skill.path) for path, result in base.results.items()}
    return before, BaseWaivers({path: one for path, one in facts.items() if one is not None})


def _found(stand: Stand, session: Session) -> Discovery:
    """Find the skills; a path that is only in the base was removed by the change, which is no mistake."""
    paths = _paths(stand)
    here = [path for path in paths if DISK.is_there(os.path.join(session.cwd, path)) or not _was(stand, path)]
    if not here:
        return Discovery(roots=(), notices=(), single=False)
    found = discover(here, cwd=session.cwd)
    excluded = [path.removeprefix("!") for path in _listed(stand) if path.startswith("!")]
    folders = [os.path.normpath(os.path.join(stand.place.directory, path)) for path in excluded]

    def is_wanted(root: SkillRoot) -> bool:
        place = os.path.normpath(os.path.join(session.cwd, root.path))
        return not any(place == folder or place.startswith(folder + os.sep) for folder in folders)

    return found._replace(roots=tuple(filter(is_wanted, found.roots)))


def _was(stand: Stand, path: str) -> bool:
    return stand.base.commit is not None and stand.files.is_there(os.path.join(stand.place.workspace, path))


def _listed(stand: Stand) -> tuple[str, ...]:
    listed = stand.inputs["paths"]
    return listed if isinstance(listed, tuple) and listed else (".",)


def _paths(stand: Stand) -> list[str]:
    """Give the paths that are asked about, relative to the workspace.

    Raises:
        UsageError: one leads out of the workspace.
    """
    paths = [path for path in _listed(stand) if not path.startswith("!")] or ["."]
    places = [inside(stand.place.workspace, os.path.join(stand.place.directory, path), path) for path in paths]
    return [os.path.relpath(place, stand.place.workspace) for place in places]


def _context(stand: Stand, keeper: Keeper, session: Session) -> pipeline.Context:
    return pipeline.Context(
        version=__version__,
        clock=time.perf_counter_ns,
        config_digest=config_digest(stand.config),
        policy=_policies(stand, session),
        selection=selections(stand.config),
        assess=keeper.assess,
        across=keeper.across,
    )


def _policies(stand: Stand, session: Session) -> Callable[[PurePosixPath], Policy]:
    policy_of = policies(stand.config, command="action", note=session.note)
    if stand.inputs["on-unmeasured"] != "pass":
        return policy_of
    return lambda path: (one := policy_of(path))._replace(fail_on=one.fail_on - {"unmeasured"})


def _recording(assess: pipeline.Assess, known: dict[str, Assessment]) -> pipeline.Assess:
    """Keep what is known of each skill by its shown path."""

    def recorded(sources: Sequence[SkillSource]) -> Iterator[Assessment]:
        for source, facts in zip(sources, assess(sources), strict=True):
            known[str(source.root.path)] = facts
            yield facts

    return recorded


def _noting(touches: Touched, asked: set[str]) -> Touched:
    """Make a test put the shown paths of what it says yes to into ``asked``."""

    def told(root: SkillRoot, facts: Assessment | None) -> bool:
        is_touched = touches(root, facts)
        if is_touched:
            asked.add(str(root.path))
        return is_touched

    return told


def _arguments(stand: Stand) -> argparse.Namespace:
    """Give what the shared steps of an evaluation read of a command's arguments."""
    merged = stand.inputs["merge-sarif"]
    return argparse.Namespace(
        paths=_paths(stand),
        merge_sarif=list(merged) if isinstance(merged, tuple) else [],
        write_known_findings=None,
        changed=stand.changed_only,
        files=False,
    )


def _reports(stand: Stand) -> Reading:
    """Give what reads a report to compare with: as the base has it, where git knows the file.

    Raises:
        UsageError: when asked for a file that the change itself brings.
    """

    def read(place: str, shown: str, what: str) -> str:
        if stand.base.commit is None:
            return read_whole(place, shown, what)
        if stand.files.is_file(place):
            return stand.reading(place, shown, what)
        inside_repository = os.path.relpath(os.path.realpath(place), stand.top).replace(os.sep, "/")
        if not inside_repository.startswith("../") and is_tracked(stand.top, inside_repository):
            raise UsageError(f"{what} {shown} comes with this change; it can be compared with after the merge")
        return read_whole(place, shown, what)

    return read


def _record(
    stand: Stand, event: Event, report: Report, session: Listening, *, changes: tuple[str, ...], complete: bool
) -> ActionRun:
    reasons = [*_failed(report), *(_unread(report, complete=complete))]
    code = EXIT_GATE_FAILED if report.gate.passed is False else EXIT_PASSED
    if code == EXIT_PASSED and reasons and stand.inputs["on-unmeasured"] != "pass":
        code = EXIT_INCOMPLETE
    return ActionRun(
        result={EXIT_PASSED: "pass", EXIT_GATE_FAILED: "fail"}.get(code, "error"),
        exit_code=code,
        tool=Tool(version=__version__),
        reasons=tuple(reasons),
        event=event.name,
        head=stand.base.head,
        base=stand.compared.commit,
        compared=stand.compared.how,
        policy=stand.source,
        policy_changes=changes,
        notices=tuple(session.notes),
        changed_only=stand.changed_only,
    )


def _failed(report: Report) -> Iterator[str]:
    for result in worst_first(report.results):
        if result.gate.passed is False:
            yield f"{result.skill.path}: {'; '.join(failures(result))}"
    yield from blamed_outside(report)


def _unread(report: Report, *, complete: bool) -> Iterator[str]:
    for result in report.results:
        if result.composite.score is None:
            yield f"{result.skill.path} was not measured: {result.composite.reason}"
    if not complete:
        yield "not all directories could be searched: there may be skills that nobody saw"


def _diff(stand: Stand, report: Report, before: Baseline) -> Diff:
    pairs = [
        *((before.results.get(result.skill.path), result) for result in report.results),
        *((result, None) for result in before.gone),
    ]
    policy_of = policies(stand.config, command="action", note=lambda _: None)
    commit = stand.compared.commit
    label = commit[:12] if commit else stand.compared.how
    return diff(
        pairs,
        a=DiffSide(label=label, commit=commit, tool=__version__),
        b=DiffSide(label=stand.base.head[:12] or "here", commit=stand.base.head or None, tool=__version__),
        max_drop=lambda path: policy_of(PurePosixPath(path)).max_drop,
        listing=report.listing,
        across=report.across,
        profile=report.profile,
        digest=report.config_digest,
        version=__version__,
    )
