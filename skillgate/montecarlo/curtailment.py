"""When the rest of a run cannot change the verdict of a gate any more, so that it need not be run.

A session that is still to come counts for the gate, counts against it, or is not measured. The gate's own verdict gets
no worse by one more that counts for it and no better by one more that counts against it, whatever it does with an
interval that holds the bound: the ends of the exact interval move the same way as the share. So of all that can come,
however much of it is not measured, the worst is that all count against it and the best that all count for it; where
these two have one verdict, so has everything between them.

That a layer is unmeasured once more than a fifth of its sessions is not measured is another matter: of what is not run
nobody can tell, so that is decided by the sessions that were.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings
from skillgate.model.score import Outcome
from skillgate.model.simulating import COMPLETED, FAILED
from skillgate.scoring.session_gates import fails_seldom, loads_enough

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.simulating import Simulation
    from skillgate.montecarlo.subject import Stop

_SAID = {Outcome.PASS: "passes", Outcome.FAIL: "fails", Outcome.INCONCLUSIVE: "stays inconclusive"}


class Tally(NamedTuple):
    """What a gate counts.

    Attributes:
        hits: sessions so far that loaded the skill, or that failed.
        measured: sessions so far that it looks at.
        left: sessions to come that it may look at.
    """

    hits: int
    measured: int
    left: int


def decided(runs: Sequence[Simulation], *, fitting_left: int, left: int, stop: Stop) -> str | None:
    """Say how the gates that are asked for are decided, once all of them are; None before.

    Args:
        runs: the sessions that were run.
        fitting_left: sessions to come with a prompt that should load the skill.
        left: all sessions to come.
        stop: the gates; with none of them nothing is ever decided.
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
    known = [f"{gate} {_SAID[verdict]}" for gate, verdict in verdicts.items() if verdict is not None]
    return f"{' and '.join(known)} whatever the rest gives" if known and len(known) == len(verdicts) else None


def activation(tally: Tally, stop: Stop) -> Outcome | None:
    """Give the verdict on sessions that load the skill, None as long as it is open."""
    if stop.min_activation is None or not tally.measured:
        return None  # where nothing more is measured there is no verdict
    hits, n = tally.hits, tally.measured + tally.left
    worst = loads_enough(hits, n, stop.min_activation, stop.on_inconclusive)
    best = loads_enough(hits + tally.left, n, stop.min_activation, stop.on_inconclusive)
    return worst if worst is best else None


def failure(tally: Tally, stop: Stop) -> Outcome | None:
    """Give the verdict on sessions that fail, None as long as it is open."""
    if stop.max_failure_rate is None or not tally.measured:
        return None
    hits, n = tally.hits, tally.measured + tally.left
    worst = fails_seldom(hits + tally.left, n, stop.max_failure_rate, stop.on_inconclusive)
    best = fails_seldom(hits, n, stop.max_failure_rate, stop.on_inconclusive)
    return worst if worst is best else None
