"""From inputs and event to a report of the head, its difference from the base, and the record of the run."""

from __future__ import annotations

import argparse
import dataclasses
import os
import time
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from skillgate import __version__, pipeline
from skillgate.cli.action.found import asked, excluded, find
from skillgate.cli.action.gate_changes import gate_changes
from skillgate.cli.action.outcome import judged
from skillgate.cli.action.sampled import sampled
from skillgate.cli.action.stand import take_stand
from skillgate.cli.action.strict import strict_policies, strict_selections
from skillgate.cli.action.waived import BaseWaivers, Was
from skillgate.cli.baseline import Asking, across_change, load_baseline
from skillgate.cli.changed import touched
from skillgate.cli.depth import chosen_depth
from skillgate.cli.findings import read_whole, selections, wants_optional
from skillgate.cli.policies import require_bounds
from skillgate.cli.reporting import Run, reported
from skillgate.config import config_digest
from skillgate.errors import EXIT_PASSED, UsageError
from skillgate.keeper import Keeper
from skillgate.model.diff import DiffSide
from skillgate.model.report import Tool
from skillgate.model.run import ActionRun
from skillgate.report.diff import diff
from skillgate.skill.git import is_tracked
from skillgate.skill.tree import toplevel

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

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
    from skillgate.model.report import Report, SkillResult
    from skillgate.model.skill import SkillRoot, SkillSource
    from skillgate.scoring.gate import Policy
    from skillgate.skill.discover import Discovery

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
    depth = chosen_depth(stand.config)
    require_bounds(stand.config, depth)
    changes: tuple[str, ...] = ()
    if stand.base.commit is not None:
        changes = gate_changes(stand.config, stand.place, inputs, files=stand.files, head=stand.head)
    found = find(stand)
    for notice in (*stand.notes, *found.notices):
        session.note(notice)
    keeper = Keeper(None, clock=time.perf_counter_ns, optional=wants_optional(stand.config))
    context = _context(stand, keeper, session)._replace(depth=depth)
    with sampled(stand, session, depth) as (deepen, models):
        if models is not None:
            context = context._replace(deepen=deepen, models=models.names, judged_as=models.judged_as)
        return _evaluated(stand, event, session, found, keeper, context, changes)


def _evaluated(
    stand: Stand,
    event: Event,
    session: Listening,
    found: Discovery,
    keeper: Keeper,
    context: pipeline.Context,
    changes: tuple[str, ...],
) -> Evaluated:
    """Evaluate head and base, and set them side by side."""
    before, base, waived = _earlier(stand, found, session, context, keeper)
    told: list[tuple[Finding, ...]] = []
    if before is not None:
        before = _remembering(before)
        context = context._replace(
            baseline=before.results, before=before.listing, again=before.again, beside=told.append
        )
    if base is not None:
        moved = {now: then for then, now in base.moves.items()}
        policy_of = _policies(stand, session, moved)
        context = context._replace(policy=policy_of, selection=strict_selections(stand.config, moved))
    touching: set[str] = set()
    if stand.changed_only:
        since = stand.base.commit or stand.compared.commit
        test = touched(found.roots, since, session, committed=True)
        context = context._replace(touched=_noting(test, touching))
    run = Run(_arguments(stand), stand.config, session, found, reading=stand.reading)
    report = reported(run, context._replace(honoured=waived))
    if before is not None:
        report = report._replace(across=across_change(report, before, told[-1]))
    gone = before.gone if before else ()
    if not found.roots and found.complete and not gone:
        raise UsageError(f"no skill found in {', '.join(asked(stand))}: a skill is a directory with a SKILL.md")
    removed = len(gone) if stand.base.commit in (None, stand.compared.commit) else 0  # else it may be long ago
    beside = tuple(
        result.skill.path for result in report.results if stand.changed_only and result.skill.path not in touching
    )
    difference = None if before is None else _diff(stand, report, before, beside, context.policy)
    told_of = (*changes, *(waived.told() if waived else ()))
    record = dataclasses.replace(
        _record(stand, event),
        policy_changes=told_of,
        notices=session.notes,
        touched=len(touching) + removed if stand.changed_only else None,
        beside=beside,
    )
    return Evaluated(judged(record, report, difference, stand, complete=found.complete), report, difference)


def _remembering(before: Baseline) -> Baseline:
    """Make what is measured once more take the place of what was measured first, for the comparison."""
    if before.again is None:
        return before
    results, measure = dict(before.results), before.again

    def again(asked: Collection[str]) -> Mapping[str, SkillResult]:
        results.update(measure(asked))
        return results

    return before._replace(results=results, again=again)


def _record(stand: Stand, event: Event) -> ActionRun:
    """Begin the record of a run with what was known before it."""
    return ActionRun(
        result="pass",
        exit_code=EXIT_PASSED,
        tool=Tool(version=__version__),
        event=event.name,
        head=stand.base.head,
        change=stand.base.change,
        base=stand.compared.commit,
        compared=stand.compared.how,
        policy=stand.source,
        changed_only=stand.changed_only,
    )


def _earlier(
    stand: Stand, found: Discovery, session: Session, context: pipeline.Context, keeper: Keeper
) -> tuple[Baseline | None, Baseline | None, BaseWaivers | None]:
    """Evaluate what is compared with and the base, and tell which comments may set findings aside: without one, all."""
    known: dict[str, Was] = {}
    recording = context._replace(assess=_recording(keeper.assess, known))
    asking = Asking(
        reading=_reports(stand),
        told=False,
        top=stand.top,
        excluded=excluded(stand),
        committed=True,
        name=stand.name,
    )
    before = None
    if stand.compared.value is not None:
        before = load_baseline(stand.config, found.roots, asked(stand), session, recording, asking)
    if stand.base.commit is None:
        return before, None, None
    base = before
    if base is None or stand.compared.commit != stand.base.commit:
        known.clear()
        config = stand.config.with_options({"baseline": stand.base.commit})
        base = load_baseline(config, found.roots, asked(stand), session, recording, asking)
    was = {path: known[result.skill.path] for path, result in base.results.items() if result.skill.path in known}
    return before, base, BaseWaivers(was, {str(root.path): root for root in found.roots})


def _context(stand: Stand, keeper: Keeper, session: Session) -> pipeline.Context:
    return pipeline.Context(
        version=__version__,
        clock=time.perf_counter_ns,
        config_digest=config_digest(stand.config),
        policy=_policies(stand, session, {}),
        selection=selections(stand.config),
        assess=keeper.assess,
        across=keeper.across,
    )


def _policies(stand: Stand, session: Session, moved: Mapping[str, str]) -> Callable[[PurePosixPath], Policy]:
    def note(text: str) -> None:
        if not text.startswith("baseline "):  # nobody set it: it is what a change is compared with
            session.note(text)

    policy_of = strict_policies(stand.config, moved, note)
    if stand.inputs["on-unmeasured"] != "pass":
        return policy_of
    return lambda path: (one := policy_of(path))._replace(fail_on=one.fail_on - {"unmeasured"}, lenient=True)


def _recording(assess: pipeline.Assess, known: dict[str, Was]) -> pipeline.Assess:
    """Keep what is known of each skill by its shown path."""

    def recorded(sources: Sequence[SkillSource]) -> Iterator[Assessment]:
        for source, facts in zip(sources, assess(sources), strict=True):
            known[str(source.root.path)] = Was(source.root, facts)
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
        paths=asked(stand),
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
        owner = toplevel(os.path.dirname(os.path.realpath(place)))  # noqa: PTH120
        if owner not in (None, stand.top) and f"{owner}/".startswith(f"{stand.top}/"):
            raise UsageError(
                f"{what} {shown} lies in a repository inside of this one, whose files the change may choose"
            )
        inside_repository = os.path.relpath(os.path.realpath(place), stand.top).replace(os.sep, "/")
        if not inside_repository.startswith("../") and is_tracked(stand.top, inside_repository):
            raise UsageError(f"{what} {shown} comes with this change; it can be compared with after the merge")
        return read_whole(place, shown, what)

    return read


def _diff(
    stand: Stand,
    report: Report,
    before: Baseline,
    beside: Sequence[str],
    policy_of: Callable[[PurePosixPath], Policy],
) -> Diff:
    """Set both sides side by side, but for skills that the report names only for what they share with another."""
    asked_about = [result for result in report.results if result.skill.path not in beside]
    pairs = [
        *((before.results.get(result.skill.path), result) for result in asked_about),
        *((result, None) for result in before.gone),
    ]
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
