"""Who judges, simulates and ranks, who answers, and what is asked of them about one skill."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.judge.dossier import Unjudged, dossier
from skillgate.judge.layer import judge
from skillgate.judge.subject import Judged, Panel, Ratings
from skillgate.model.exchange import Together
from skillgate.model.judging import JudgeLayer

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from skillgate.evaluation.deepen import Asked
    from skillgate.evaluation.models.ranking import Contest
    from skillgate.judge.siblings import Shelves
    from skillgate.llm.answers import Answers
    from skillgate.llm.port import Provider, Watch
    from skillgate.model.exchange import Steps
    from skillgate.model.judging import TriggerPrompt
    from skillgate.montecarlo.subject import Lifted, Plan, Simulated
    from skillgate.ranking.entrant import Ranked

    Drive = Callable[[Sequence[Callable[[], Steps[Any]]], Watch | None], Iterator[Any]]


class ModelSetup(NamedTuple):
    """Who judges, simulates and ranks, and who answers.

    Attributes:
        panel: the judges.
        stop: once it is set nothing waits any more.
        spent: says how the budget ended the run early, None where it did not.
        provider: who answers.
        answers: those of earlier runs, None for none.
        limits: the most that may be spent, in US dollars, and the most calls; None for none.
        bound: holds the run to so many US dollars where there is no limit.
        drive: runs layers, and gives their results in order.
        plan: how sessions are simulated, by the skill's shown path; None for a depth without.
        contest: the corpus that skills are ranked against, and how; None for a depth without.
        lift: whether the skill's tasks are done without it too.
        is_batch: whether answers come in batches, at their price.
    """

    panel: Panel
    stop: threading.Event
    spent: Callable[[], str | None]
    provider: Provider
    answers: Answers | None
    limits: tuple[float | None, int | None]
    bound: Callable[[float], None]
    drive: Drive
    plan: Callable[[str], Plan] | None = None
    contest: Contest | None = None
    lift: bool = False
    is_batch: bool = False


def models_of(panel: Panel, plan: Callable[[str], Plan] | None) -> tuple[str, ...]:
    """Give the models that a run asks, each once: those that judge, then the one under test."""
    tested = [] if plan is None else [plan("").model.model]
    return tuple(dict.fromkeys((*(opinion.model for opinion in panel.opinions), *tested)))


class Found(NamedTuple):
    """What came of one skill; None for what was not asked for."""

    judged: Judged
    simulated: Simulated | None = None
    ranked: Ranked | None = None
    lifted: Lifted | None = None


def layer_of(
    asked: Asked, setup: ModelSetup, shelves: Shelves, note: Callable[[str], None] | None = None
) -> Steps[Found]:
    """Give the generator of all that is asked about a skill; what it was asked on before, it is asked on again.

    ``note`` is told where the skill brings other prompts now.
    """
    branches: list[Steps[Any]] = [_judged(asked, setup.panel, shelves, note)]
    names = ["judged"]
    for name, branch in _deeper(asked, setup, shelves):
        names.append(name)
        branches.append(branch)
    results = yield Together(tuple(branches))
    return Found(**dict(zip(names, results, strict=True)))


def _deeper(asked: Asked, setup: ModelSetup, shelves: Shelves) -> Iterator[tuple[str, Steps[Any]]]:
    """Give what goes beyond the judge."""
    if setup.plan is not None:
        from skillgate.evaluation.models.sessions import lifted, simulated  # few runs simulate sessions

        plan = setup.plan(str(asked.source.root.path))
        siblings = setup.contest.siblings if setup.contest is not None else ()
        yield "simulated", simulated(asked, plan, shelves, siblings)
        if setup.lift:
            yield "lifted", lifted(asked, plan, shelves, siblings)
    if setup.contest is not None and setup.contest.arena is not None:
        from skillgate.evaluation.models.ranking import ranked  # fewer rank them

        yield "ranked", ranked(asked, setup.contest)


def _judged(asked: Asked, panel: Panel, shelves: Shelves, note: Callable[[str], None] | None) -> Steps[Judged]:
    """Give the generator that judges a skill; where it was judged before, on the prompts of then."""
    found = dossier(asked.source, asked.facts, shelves=shelves)
    if isinstance(found, Unjudged):
        return _not_judged(found.reason, panel)
    before = _prompts(asked)
    if before is not None:
        if note is not None and found.prompts is not None and _labels(found.prompts) != _labels(before):
            note(
                f"{found.path} is judged on the prompts of its baseline; those of its evals/ hold from the next one on"
            )
        found = found._replace(prompts=before, prompts_source="baseline")
    return judge(found, panel, time.perf_counter_ns)


def _not_judged(reason: str, panel: Panel) -> Steps[Judged]:
    yield Together(())
    layer = JudgeLayer(0, len(panel.opinions), None, reason=reason, provider=panel.provider, live=panel.live)
    return Judged(layer, Ratings(), failure=reason)


def _labels(prompts: Iterable[TriggerPrompt]) -> frozenset[tuple[str, bool]]:
    return frozenset((prompt.prompt, prompt.should_trigger) for prompt in prompts)


def _prompts(asked: Asked) -> tuple[TriggerPrompt, ...] | None:
    """Give the prompts that the baseline was judged on, without what was predicted then."""
    layers = asked.before.layers if asked.before else ()
    for layer in layers:
        if isinstance(layer, JudgeLayer) and layer.triggering is not None and layer.triggering.prompts:
            return tuple(prompt._replace(predicted=()) for prompt in layer.triggering.prompts)
    return None
