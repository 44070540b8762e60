"""From inputs and event to a report of the head, its difference from the base, and the record of the run."""

from __future__ import annotations

import dataclasses
import time
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from skillgate import __version__
from skillgate.action.base.corpus import corpus_changes
from skillgate.action.base.files import read_of_base
from skillgate.action.base.gate_changes import gate_changes
from skillgate.action.base.strictest import strict_policies, strict_selections
from skillgate.action.base.waivers import BaseWaivers, Was
from skillgate.action.certificates import shard_of
from skillgate.action.contents import digests, with_digests
from skillgate.action.context import take_stand
from skillgate.action.current_prompts import require_current_prompts
from skillgate.action.difference import difference
from skillgate.action.discovery import asked, excluded, find
from skillgate.action.models import sampled
from skillgate.action.outcome import judged
from skillgate.action.parts import Evaluated as Evaluated
from skillgate.action.parts import benchmarked, gated, gating, kept, storing
from skillgate.config import config_digest
from skillgate.errors import EXIT_PASSED, UsageError
from skillgate.evaluate import pipeline
from skillgate.evaluate.baseline.loading import BaselineOptions, across_change, load_baseline
from skillgate.evaluate.changed import touched
from skillgate.evaluate.depth import chosen_depth
from skillgate.evaluate.findings import selections, wants_optional
from skillgate.evaluate.keeper import Keeper
from skillgate.evaluate.policies import require_bounds
from skillgate.evaluate.reporting import reported
from skillgate.evaluate.request import EvaluateRequest, Scope
from skillgate.evaluate.run import in_shard, is_unjudged
from skillgate.model.report import Tool
from skillgate.model.run import ActionRun
from skillgate.model.score import Depth

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from skillgate.action.context import Stand
    from skillgate.action.github.event import Event
    from skillgate.action.inputs import Value
    from skillgate.action.listening import Listening
    from skillgate.evaluate.pipeline import Baseline
    from skillgate.model.assessment import Assessment
    from skillgate.model.report import SkillResult
    from skillgate.model.skill import SkillRoot, SkillSource
    from skillgate.scoring.gate import Policy
    from skillgate.session import Session
    from skillgate.skill.discover import Discovery

    Touched = Callable[[SkillRoot, Assessment | None], bool]


class Held(NamedTuple):
    """What a change is held to.

    Attributes:
        waivers: which comments may set findings aside.
        moved: the other places of a skill, where the change began and at the tip of the base branch, by its path now.
        was: what each skill is at the tip, or else was where the change began, by its path now.
    """

    waivers: BaseWaivers
    moved: Mapping[str, Collection[str]]
    was: Mapping[str, SkillResult]


def evaluate(inputs: Mapping[str, Value], event: Event, session: Listening) -> Evaluated:
    """Evaluate what is checked out, beside its base.

    Raises:
        UsageError: an input, the configuration or the checkout does not do.
        IncompleteError: the depth asked for cannot run, or git fails.
    """
    stand = take_stand(inputs, event, session.cwd)
    session.settled = stand.config
    depth = chosen_depth(stand.config)
    is_benchmarked = bool(inputs["benchmark"] or inputs["tasks"])
    require_bounds(stand.config, depth, also=("benchmark",) if is_benchmarked else ())
    require_current_prompts(stand, depth)
    place, asking = storing(stand, session), gating(stand, session)
    changes: tuple[str, ...] = ()
    if stand.base.commit is not None:
        changes = gate_changes(stand.place, inputs, then=stand.then, head=stand.head)
        changes += corpus_changes(stand, session.environ)
    found = find(stand)
    for notice in (*stand.notes, *found.notices):
        session.note(notice)
    keeper = Keeper(None, clock=time.perf_counter_ns, optional=wants_optional(stand.config))
    evaluator = _evaluator(stand, keeper, session, depth)
    with sampled(stand, session, depth) as (layers, models):
        evaluator = evaluator._replace(sampled=layers)
        done = _evaluated(stand, event, session, found, keeper, evaluator, changes)
        done = done if models is None else budgeted(done, models.setup.spent())
    done = done._replace(run=dataclasses.replace(done.run, notices=session.notes))  # also what the models' end brought
    # Before a benchmark, whose programs nothing that decides should lie beside.
    done = benchmarked(gated(done, asking, stand, session), stand, session)
    return done if place is None else kept(done, place, stand, session)


def _evaluated(
    stand: Stand,
    event: Event,
    session: Listening,
    found: Discovery,
    keeper: Keeper,
    evaluator: pipeline.Evaluator,
    changes: tuple[str, ...],
) -> Evaluated:
    """Evaluate head and base, and set them side by side."""
    before, base = _earlier(stand, found, session, evaluator, keeper)
    waived = base.waivers if base is not None else None
    depth = Depth.QUICK if evaluator.sampled is None else evaluator.sampled.depth
    criteria = _criteria(evaluator.criteria, base, stand, session, depth)
    touching: set[str] = set()
    request = _request(stand)
    shard = request.scope.shard
    narrowed = in_shard(shard, found.roots, _touched(stand, found, session))
    files = digests(found.roots, depth, session.cwd)
    evaluated = reported(
        request,
        found,
        evaluator._replace(criteria=criteria),
        session,
        touched=None if narrowed is None else _noting(narrowed, touching),
        baseline=before,
        read_known=stand.reading,
        read_sarif=read_of_base(stand),
    )
    report = evaluated.report._replace(
        config_digest=config_digest(stand.config), shard=None if shard is None else "{}/{}".format(*shard)
    )
    report = with_digests(report, files, digests(found.roots, depth, session.cwd) if files else {})
    if before is not None:
        report = report._replace(across=across_change(report, before, evaluated.across))
    gone = before.gone if before else ()
    if not found.roots and found.complete and not gone and not (stand.inputs["benchmark"] or stand.inputs["tasks"]):
        raise UsageError(f"no skill found in {', '.join(asked(stand))}: a skill is a directory with a SKILL.md")
    removed = len(gone) if stand.base.commit in (None, stand.compared.commit) else 0  # else it may be long ago
    beside = tuple(
        result.skill.path for result in report.results if narrowed is not None and result.skill.path not in touching
    )
    changed = None
    if before is not None:
        then = before if evaluated.baseline is None else before._replace(results=evaluated.baseline)
        changed = difference(stand, report, then, beside, criteria.policy, evaluated.across)
    told_of = (*changes, *(waived.told() if waived else ()))
    for sentence in waived.outdated() if waived else ():
        session.note(sentence)
    told_of_run = dataclasses.replace(
        record(stand, event),
        policy_changes=told_of,
        notices=session.notes,
        touched=len(touching) + removed if stand.changed_only else None,
        beside=beside,
    )
    told_of_run = judged(told_of_run, report, changed, stand, complete=found.complete)
    return Evaluated(told_of_run, report, changed, was=None if base is None else base.was)


def record(stand: Stand, event: Event) -> ActionRun:
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
        policy_commit=stand.base.tip or "",
        changed_only=stand.changed_only,
    )


def _earlier(
    stand: Stand, found: Discovery, session: Session, evaluator: pipeline.Evaluator, keeper: Keeper
) -> tuple[Baseline | None, Held | None]:
    """Evaluate what is compared with, and the base of a change: where it began, and the tip whose policy holds."""
    asking = BaselineOptions(
        reading=read_of_base(stand),
        told=False,
        top=stand.top,
        excluded=excluded(stand),
        committed=True,
        name=stand.name,
    )

    @cache
    def at(value: str) -> tuple[Baseline, Mapping[str, Was]]:
        known: dict[str, Was] = {}
        recording = evaluator._replace(assessor=evaluator.assessor._replace(assess=_recording(keeper.assess, known)))
        config = stand.config.with_options({"baseline": value})
        base = load_baseline(config, found.roots, asked(stand), session, recording, asking)
        return base, {path: known[one.skill.path] for path, one in base.results.items() if one.skill.path in known}

    compared = stand.compared.commit or stand.compared.value
    before = None if compared is None else at(compared)[0]
    if stand.base.commit is None:
        return before, None
    (began, then), (tip, now) = at(stand.base.commit), at(stand.base.tip or stand.base.commit)
    moved: dict[str, set[str]] = {}
    for place, path in (*began.moves.items(), *tip.moves.items()):
        moved.setdefault(path, set()).add(place)
    waivers = BaseWaivers(now, {str(root.path): root for root in found.roots}, began=then)
    return before, Held(waivers, moved, {**began.results, **tip.results})


def _evaluator(stand: Stand, keeper: Keeper, session: Session, depth: Depth) -> pipeline.Evaluator:
    return pipeline.Evaluator(
        assessor=pipeline.Assessor(keeper.assess, keeper.across),
        criteria=pipeline.Criteria(policies_of(stand, session, {}, depth), selections(stand.config)),
    )


def _criteria(
    criteria: pipeline.Criteria, held: Held | None, stand: Stand, session: Session, depth: Depth
) -> pipeline.Criteria:
    """Make what skills are held to as strict as what the base asks of them."""
    if held is None:
        return criteria
    return criteria._replace(
        policy=policies_of(stand, session, held.moved, depth),
        selection=strict_selections(stand.config, held.moved),
        honoured=held.waivers,
    )


def policies_of(
    stand: Stand, session: Session, moved: Mapping[str, Collection[str]], depth: Depth
) -> Callable[[PurePosixPath], Policy]:
    """Give the gate of each skill, as strict as where it was before."""

    def note(text: str) -> None:
        if not text.startswith("baseline "):  # nobody set it: it is what a change is compared with
            session.note(text)

    policy_of = strict_policies(stand.config, moved, note, depth)
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


def _request(stand: Stand) -> EvaluateRequest:
    """Build what the evaluation is asked for."""
    merged = stand.inputs["merge-sarif"]
    return EvaluateRequest(
        stand.config,
        Scope(tuple(asked(stand)), changed=stand.changed_only, shard=shard_of(stand.inputs)),
        merge_sarif=merged if isinstance(merged, tuple) else (),
        use_cache=False,
    )


def _touched(stand: Stand, found: Discovery, session: Session) -> Touched | None:
    """Give the test of whether the change touches a skill; None where all are asked about."""
    if not stand.changed_only:
        return None
    return touched(found.roots, stand.base.commit or stand.compared.commit, session, committed=True)


def budgeted(done: Evaluated, spent: str | None) -> Evaluated:
    """Say first of all that the budget ended a run early: what is not measured for it is no skill's fault."""
    left = sum(is_unjudged(result) for result in done.report.results)
    if spent is None or not left:
        return done
    asked = len(done.report.results) - len(done.run.beside)
    told = f"budget: {spent}; {left} of {asked} skill{'s' * (asked != 1)} could not be wholly measured"
    return done._replace(run=dataclasses.replace(done.run, reasons=(told, *done.run.reasons)))
