"""How a skill's sessions are simulated: from configuration and options to a plan, and to the generators."""

from __future__ import annotations

import time
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.judge.dossier import Unjudged
from skillgate.model.exchange import Together
from skillgate.model.judging import Estimate
from skillgate.model.simulating import Lift, MonteCarloLayer
from skillgate.montecarlo.gather import subject
from skillgate.montecarlo.layer import simulate
from skillgate.montecarlo.subject import Lifted, Plan, Simulated, Stop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillgate.config import Config
    from skillgate.evaluation.deepen import Asked
    from skillgate.judge.siblings import Shelves, Stocked
    from skillgate.judge.subject import Opinion, Panel
    from skillgate.model.exchange import Steps

NEAR_MISSES = 5  # simulations for each near miss, where nothing else is asked for


def plans(config: Config, panel: Panel, model: Opinion) -> Callable[[str], Plan]:
    """Give how sessions are simulated, by the skill's shown path: what may end them early differs by path."""
    count, near = config.get(settings.SIMULATIONS), config.get(settings.NEAR_MISSES)
    plan = Plan(
        model=model,
        grader=panel.opinions[0],
        simulations=count,
        near_misses=-(-count // NEAR_MISSES) if near is None else near,
        seed=config.get(settings.SEED),
        max_turns=config.get(settings.MAX_TURNS),
        provider=panel.provider,
        live=panel.live,
        runner=config.get(settings.RUNNER),
    )

    def planned(path: str) -> Plan:
        return plan._replace(stop=_stop(config, PurePosixPath(path)))

    return planned


def _stop(config: Config, path: PurePosixPath) -> Stop | None:
    """Say when sessions may end early, None where they may not, or nothing is asked that could end them."""
    if not config.get(settings.EARLY_STOP):
        return None
    least, most = config.get(settings.MIN_ACTIVATION, path), config.get(settings.MAX_FAILURE_RATE, path)
    if least is None and most is None:
        return None
    return Stop(least, most, config.get(settings.ON_INCONCLUSIVE, path))


def simulated(asked: Asked, plan: Plan, shelves: Shelves, corpus: Sequence[Stocked]) -> Steps[Simulated]:
    """Give the generator of a skill's sessions; where it was simulated before, with the prompts of then."""
    found = subject(asked.source, asked.facts, shelves=shelves, corpus=corpus, before=_before_of(asked))
    if isinstance(found, Unjudged):
        return _not_simulated(found.reason, plan)
    return simulate(found, plan, time.perf_counter_ns)


def lifted(asked: Asked, plan: Plan, shelves: Shelves, corpus: Sequence[Stocked]) -> Steps[Lifted]:
    """Give the generator that does a skill's tasks with it and without it."""
    found = subject(asked.source, asked.facts, shelves=shelves, corpus=corpus)
    if isinstance(found, Unjudged):
        return _not_lifted(found.reason)
    from skillgate.montecarlo.lift import lift  # few runs ask for it

    return lift(found, plan)


def _not_simulated(reason: str, plan: Plan) -> Steps[Simulated]:
    yield Together(())
    layer = MonteCarloLayer(0, plan.simulations, 0, 0, 0, None, reason=reason, provider=plan.provider, live=plan.live)
    return Simulated(layer, failure=reason)


def _not_lifted(reason: str) -> Steps[Lifted]:
    yield Together(())
    nothing = Estimate(None, reason=reason)
    return Lifted(Lift(nothing, nothing, nothing, reason=reason), failure=reason)


def _before_of(asked: Asked) -> MonteCarloLayer | None:
    """Give the sessions of the baseline, None without any."""
    layers = asked.before.layers if asked.before else ()
    return next((layer for layer in layers if isinstance(layer, MonteCarloLayer) and layer.runs), None)
