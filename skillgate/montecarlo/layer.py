"""Layer 3 for one skill: prompts, a session per prompt, a grade per answer, and the measures.

Sessions wait neither for each other nor for grades. If the run may end early, sessions run in waves, and the rest is
not run once it cannot change the verdict of the active gates.

An outage counts neither for nor against the skill. If the skill's own text may have caused it, far fewer are tolerated:
otherwise a text could choose what is measured.
"""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings
from skillgate.format import plural
from skillgate.judge.asking import answered_by, is_live, usage
from skillgate.judge.subject import SWAYED
from skillgate.model.exchange import Together
from skillgate.model.layers import (
    COMPLETED,
    FAILED,
    LEAST_LOADS,
    NOT_MEASURED,
    NOT_RUN,
    Estimate,
    MonteCarloLayer,
    Simulation,
)
from skillgate.model.score import Outcome
from skillgate.model.skill import Problem, Span
from skillgate.montecarlo.grading import NOT_GRADED, RUBRIC_VERSION, Grade, Run, graded
from skillgate.montecarlo.prompts import prompts
from skillgate.montecarlo.session import RUNNER, named_file, session, transcript
from skillgate.montecarlo.subject import Simulated
from skillgate.montecarlo.tools import ORDERS, PROMPT_VERSION
from skillgate.scoring.gate import fails_seldom, loads_enough

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from skillgate.model.exchange import Answer, Steps
    from skillgate.model.layers import Loads, TriggerPrompt
    from skillgate.montecarlo.prompts import Prompts
    from skillgate.montecarlo.subject import Plan, Stop, Subject

    Rows = tuple[Simulation, ...]

WAVE = 8  # sessions between two checks of the gates, usually as many as run at once; no verdict depends on it
MOST_LOST = 0.2  # maximum lost share of sessions or grades; beyond it the rest is not representative
MOST_SILENCED = 0.05  # maximum share of sessions or graded answers that their text may have prevented
LEAST_SILENCED = 2  # minimum of one kind of sessions: a single lost session may be chance
MOST_FAILED = 0.2  # maximum failed share of the sessions that loaded the skill: failures have no quality
UNMEASURED = "not measured: see the reason of the layer"
_RESTS_ON_QUALITY, _RESTS_ON_SCOPE = ("quality", "quality_cv", "orchestration"), ("scope",)
_RESTS_ON_NEAR_MISSES = ("false_activation_rate", "precision", "f1")
_VERDICTS = {Outcome.PASS: "passes", Outcome.FAIL: "fails", Outcome.INCONCLUSIVE: "stays inconclusive"}


class Gap(NamedTuple):
    """A missing part of a layer."""

    reason: str
    measures: tuple[str, ...] | None  # names of the measures that are missing; None for all
    silenced: bool  # whether the text in the sessions may be the cause


class Tally(NamedTuple):
    """The counts of a gate."""

    hits: int  # sessions so far that loaded the skill, or that failed
    measured: int  # sessions so far that count for the gate
    left: int  # future sessions that may count for the gate


def simulate(subject: Subject, plan: Plan, clock: Callable[[], int]) -> Steps[Simulated]:
    """Simulate one skill's sessions; ``clock`` returns monotonic nanoseconds.

    Provider failures do not raise; a missing answer is None with the reason.
    """
    started = clock()
    found = yield from prompts(subject, plan)
    cases = sorted(found.cases, key=lambda case: not case.should_trigger)
    runs: tuple[Run, ...] = ()
    stopped: str | None = None
    if _lacking(found) is None:
        runs, stopped = yield from _run(subject, plan, cases)
    left = (Simulation(case.prompt, case.should_trigger, case.style, NOT_RUN) for case in cases[len(runs) :])
    rows = (*map(row, runs), *left)
    return _simulated(subject, plan, found, runs, rows, stopped, (clock() - started) // 1_000_000)


def _run(subject: Subject, plan: Plan, cases: Sequence[TriggerPrompt]) -> Steps[tuple[tuple[Run, ...], str | None]]:
    """Run all sessions, or as many as the gates need; the second value says why not all.

    Sessions with the same prompt differ by their sample, since with few siblings two orders can be equal.
    """
    seen: Counter[str] = Counter()
    branches = []
    file = named_file(subject)
    for index, case in enumerate(cases):
        branches.append(_graded(subject, plan, case, index, sample=seen[case.prompt], file=file))
        seen[case.prompt] += 1
    if plan.stop is None:
        everything: tuple[Run, ...] = yield Together(tuple(branches))
        return everything, None
    runs: tuple[Run, ...] = ()
    while len(runs) < len(cases):
        wave: tuple[Run, ...] = yield Together(tuple(branches[len(runs) : len(runs) + WAVE]))
        runs += wave
        rest = cases[len(runs) :]
        fitting = sum(case.should_trigger for case in rest)
        why = decided([row(run) for run in runs], fitting_left=fitting, left=len(rest), stop=plan.stop)
        if rest and why is not None:
            return runs, f"after {len(runs)} of {len(cases)} sessions: {why}"
    return runs, None


def _graded(
    subject: Subject, plan: Plan, case: TriggerPrompt, index: int, *, sample: int, file: str | None
) -> Steps[Run]:
    """Run a session, then grade its answer if a measure needs it."""
    order = index % ORDERS
    if plan.runner == RUNNER:
        went = yield from transcript(subject, plan, case, order, sample=sample)
    else:
        went = yield from session(subject, plan, case, order, index, sample=sample, file=file)
    if went.outcome != COMPLETED:
        return Run(case, went, Grade())
    if not case.should_trigger and not went.activated:
        return Run(case, went, Grade(ungraded=NOT_GRADED))
    grade = yield from graded(subject, plan, case, went.answer)
    return Run(case, went, grade)


def row(run: Run) -> Simulation:
    """Return a session as the report has it."""
    case, went, grade = run
    return Simulation(
        prompt=case.prompt,
        should_trigger=case.should_trigger,
        style=case.style,
        outcome=went.outcome,
        kind=went.kind,
        activated=went.activated,
        quality=grade.quality,
        tokens=went.tokens,
        delivers=grade.delivers,
        covers=grade.covers,
        turns=went.turns,
        loaded=went.loaded,
        ungraded=grade.ungraded,
    )


def decided(runs: Sequence[Simulation], *, fitting_left: int, left: int, stop: Stop) -> str | None:
    """Return the verdicts of the gates of ``stop`` once all are decided; None before, and without gates.

    A future session counts for the gate, counts against it, or is not measured. The verdict is monotonic in both
    counts, since the ends of the exact interval move with the share. So the extremes are that all count against it or
    all for it; if both give the same verdict, so does everything between. Whether too many sessions are not measured is
    decided by those that were run.
    """
    measured = [run for run in runs if run.outcome in (COMPLETED, FAILED)]
    verdicts: dict[str, Outcome | None] = {}
    if stop.min_activation is not None:
        fitting = [run for run in measured if run.should_trigger]
        tally = Tally(sum(run.activated is True for run in fitting), len(fitting), fitting_left)
        verdicts[f"{settings.MIN_ACTIVATION.key} {stop.min_activation:g}"] = activation(tally, stop)
    if stop.max_failure_rate is not None:
        tally = Tally(sum(run.outcome == FAILED for run in measured), len(measured), left)
        verdicts[f"{settings.MAX_FAILURE_RATE.key} {stop.max_failure_rate:g}"] = failure(tally, stop)
    known = [f"{gate} {_VERDICTS[verdict]}" for gate, verdict in verdicts.items() if verdict is not None]
    return f"{' and '.join(known)} regardless of the rest" if known and len(known) == len(verdicts) else None


def activation(tally: Tally, stop: Stop) -> Outcome | None:
    """Return the verdict on sessions that load the skill, None as long as it is open."""
    return None if stop.min_activation is None else _verdict(tally, stop, loads_enough, stop.min_activation)


def failure(tally: Tally, stop: Stop) -> Outcome | None:
    """Return the verdict on sessions that fail, None as long as it is open."""
    return None if stop.max_failure_rate is None else _verdict(tally, stop, fails_seldom, stop.max_failure_rate)


def _verdict(tally: Tally, stop: Stop, gate: Callable[[int, int, float, str], Outcome], bound: float) -> Outcome | None:
    if not tally.measured:
        return None  # where nothing more is measured there is no verdict
    n = tally.measured + tally.left
    none = gate(tally.hits, n, bound, stop.on_inconclusive)
    return none if none is gate(tally.hits + tally.left, n, bound, stop.on_inconclusive) else None


def _simulated(
    subject: Subject, plan: Plan, found: Prompts, runs: Sequence[Run], rows: Rows, stopped: str | None, duration_ms: int
) -> Simulated:
    """Return the layer of the report; ``rows`` are all sessions, ``runs`` those that were run, in the same order."""
    from skillgate.montecarlo.measures import measured  # numpy: loaded while answers were awaited

    fitting = sum(one.should_trigger for one in rows)
    near = len(rows) - fitting
    figures = measured(rows, simulations=fitting, near_misses=near, seed=plan.seed, stopped=stopped is not None)
    gaps = tuple(_gaps(subject, found, runs, rows))
    reason = "; ".join(gap.reason for gap in gaps) or None
    silenced = "; ".join(gap.reason for gap in gaps if gap.silenced) or None
    if silenced is not None:
        silenced += "; the skill's text can cause this, so the rest gives no score"
    # A baseline has as many prompts as it requested sessions.
    of_baseline = subject.prompts_source == "baseline"
    requested = subject.requested or (fitting, near) if of_baseline else (plan.simulations, plan.near_misses)
    outcomes = Counter(one.outcome for one in rows)
    kinds = Counter(one.kind for one in rows if one.kind is not None)
    obeyed = sum(run.grade.obeyed for run in runs)
    layer = MonteCarloLayer(
        duration_ms=duration_ms,
        simulations=requested[0],
        near_misses=requested[1],
        completed=outcomes[COMPLETED],
        failed=outcomes[FAILED],
        not_measured=outcomes[NOT_MEASURED],
        mc_score=figures.mc_score,
        runs=rows,
        kinds=MappingProxyType(dict(kinds.most_common())),
        measures=MappingProxyType(dict(figures.measures)),
        scores=MappingProxyType(dict(figures.scores)),
        tokens=figures.tokens,
        spread=MappingProxyType(dict(figures.spread)),
        loads=figures.loads,
        prompts_digest=found.digest,
        prompts_source=found.source,
        stopped_early=stopped,
        reason=reason,
        mc_reason=figures.reason,
        short=found.short,
        siblings=len(subject.siblings),
        siblings_source=subject.siblings_source,
        silenced=silenced,
        obeyed=obeyed,
    )
    problem = Problem(
        SWAYED,
        Span(1),
        f"ignored {plural(obeyed, 'grade')} of simulated sessions that failed the control question; an answer may have"
        " asked for good grades, as instructed by the skill",
    )
    no_badge = unearned(figures.loads, rows)
    layer = _run_by(_without(layer, gaps), plan, tuple(_answers(plan, found, runs)))
    return Simulated(layer, reason, silenced, (problem,) if obeyed else (), no_badge)


def _run_by(layer: MonteCarloLayer, plan: Plan, named: Sequence[tuple[str, Answer]]) -> MonteCarloLayer:
    """Add the models, settings and usage."""
    answers = [answer for _, answer in named]
    return layer._replace(
        model=plan.model.model,
        grader=plan.grader.model,
        provider=plan.provider,
        live=is_live(answers, live=plan.live),
        runner=plan.runner,
        seed=plan.seed,
        max_turns=plan.max_turns,
        prompt_version=PROMPT_VERSION,
        rubric_version=RUBRIC_VERSION,
        usage=usage(answers),
        answered_by=answered_by(named),
    )


def _answers(plan: Plan, found: Prompts, runs: Sequence[Run]) -> Iterator[tuple[str, Answer]]:
    """Yield every answer with the requested model."""
    yield from ((plan.grader.model, answer) for answer in found.answers)
    for run in runs:
        yield from ((plan.model.model, answer) for answer in run.session.answers)
        yield from ((plan.grader.model, answer) for answer in run.grade.answers)


def _without(layer: MonteCarloLayer, gaps: Sequence[Gap]) -> MonteCarloLayer:
    """Remove the measures that depend on missing data, and all scores; the layer has the reason."""
    if not gaps:
        return layer
    lost = {name for gap in gaps for name in (layer.measures if gap.measures is None else gap.measures)}
    measures: Mapping[str, Estimate] = {
        name: Estimate(None, n=one.n, reason=UNMEASURED) if name in lost else one
        for name, one in layer.measures.items()
    }
    left = {name for name, one in measures.items() if one.value is not None}
    return layer._replace(
        mc_score=None,
        mc_reason=layer.mc_reason or UNMEASURED,
        measures=MappingProxyType(measures),
        scores=MappingProxyType({}),
        tokens=layer.tokens if "tokens" in left else None,
        spread=MappingProxyType({name: one for name, one in layer.spread.items() if name in left}),
    )


def _lacking(found: Prompts) -> str | None:
    """Return why there are too few prompts to simulate anything; None if there are enough."""
    if found.missing is not None:
        return found.missing
    return None if any(case.should_trigger for case in found.cases) else "no prompts should load the skill"


def _gaps(subject: Subject, found: Prompts, runs: Sequence[Run], rows: Sequence[Simulation]) -> Iterator[Gap]:
    """Yield the gaps that prevent measures."""
    few = _lacking(found)
    if few is not None:
        yield Gap(few if subject.unlisted else f"no sessions without prompts: {few}", None, found.provoked)
        return
    yield from _lost(runs, rows)
    yield from _ungraded(runs)


def _lost(runs: Sequence[Run], rows: Sequence[Simulation]) -> Iterator[Gap]:
    """Yield a gap if too many sessions were not measured: of all, of the fitting ones, or of the near misses.

    Near misses are checked separately: they are few, and all could be lost within the limits for all sessions.
    """
    lost = [run for run in runs if run.session.outcome == NOT_MEASURED]
    fitting, near = ([run for run in lost if run.case.should_trigger is kind] for kind in (True, False))
    wanted = sum(one.should_trigger for one in rows)
    silenced = _provoked(lost) > MOST_SILENCED * len(rows) or _is_silenced(fitting, wanted)
    if silenced or len(lost) > MOST_LOST * len(rows) or len(fitting) > MOST_LOST * wanted:
        yield Gap(_unmeasured(lost, f"{len(rows)} sessions"), None, silenced)
        return
    misses = len(rows) - wanted
    silenced = _is_silenced(near, misses)
    if silenced or len(near) > MOST_LOST * misses:
        yield Gap(_unmeasured(near, f"{misses} near misses"), _RESTS_ON_NEAR_MISSES, silenced)


def _provoked(lost: Sequence[Run]) -> int:
    return sum(run.session.provoked for run in lost)


def _is_silenced(lost: Sequence[Run], sessions: int) -> bool:
    """Return whether their text may have prevented too many sessions of one kind."""
    return _provoked(lost) >= LEAST_SILENCED and _provoked(lost) > MOST_SILENCED * sessions


def _unmeasured(lost: Sequence[Run], of: str) -> str:
    kinds = Counter(run.session.kind or "" for run in lost).most_common()
    named = ", ".join(f"{kind} {count}" for kind, count in kinds)
    return f"{len(lost)} of {of} were not measured ({named}): {lost[0].session.reason}"


def _ungraded(runs: Sequence[Run]) -> Iterator[Gap]:
    """Yield a gap if too many answers have no grade; fewer are tolerated if the answers may be the cause.

    Quality and coverage are two questions, checked separately.
    """
    wanted = [run for run in runs if run.grade.requested]
    fitting = [run for run in wanted if run.case.should_trigger]
    unrated = [run.grade for run in wanted if run.grade.quality is None or run.grade.delivers is None]
    unheld = [run.grade for run in fitting if run.grade.covers is None]
    for missing, of, measures in ((unrated, wanted, _RESTS_ON_QUALITY), (unheld, fitting, _RESTS_ON_SCOPE)):
        lost = [grade for grade in missing if grade.lost]
        silenced = len(lost) > MOST_SILENCED * len(of)
        if silenced or len(missing) > MOST_LOST * len(of):
            grades = lost if silenced else missing
            why = Counter(grade.ungraded or "" for grade in grades).most_common(1)[0][0]
            reason = f"{len(grades)} of {len(of)} answers have no valid grade: {why}"
            yield Gap(reason, measures, silenced)


def unearned(loads: Loads | None, rows: Sequence[Simulation]) -> str | None:
    """Return why there is no badge: too few sessions loaded the skill, or too many failed; None if neither."""
    few = loads is not None and loads.few
    if loads is not None and few and loads.completed:
        return loads.words
    loaded = [one for one in rows if one.activated]
    failed = sum(one.outcome == FAILED for one in loaded)
    if failed > MOST_FAILED * len(loaded):
        return f"{failed} of {len(loaded)} sessions that loaded the skill failed, so they have no graded answers"
    if loads is not None and few:
        return loads.words
    if loads is None or loads.loaded >= min(LEAST_LOADS, loads.measured):
        return None
    # A badge would depend on the few sessions that loaded the skill, since most failed before.
    return f"{loads.words}, and the others of {loads.measured} failed"
