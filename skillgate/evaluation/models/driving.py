"""What runs layers: requests one by one with several on their way at a time, or all that is wanted in batches."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings
from skillgate.llm.asker import PortAsker
from skillgate.llm.breaker import Breaker
from skillgate.llm.budget import Budget
from skillgate.llm.driver import run
from skillgate.registry import PROVIDERS

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from skillgate.config import Config
    from skillgate.evaluation.models.setup import Drive
    from skillgate.llm.answers import Answers
    from skillgate.llm.journal import Journal
    from skillgate.llm.port import Provider
    from skillgate.llm.recording import Recorder

_BESIDE = ".batches"  # what the file of a run's batches is called, after the name of its journal


class Kept(NamedTuple):
    """Where answers are kept: between runs, of this run, and for a recording; None for nowhere."""

    answers: Answers | None
    journal: Journal | None
    recorder: Recorder | None


def budget_of(config: Config, provider: Provider, stop: threading.Event) -> Budget:
    """Give what a run may spend, at the price that its provider takes."""
    kind = Budget
    if PROVIDERS.flag(provider.name, "BATCHES"):
        from skillgate.llm.batch_budget import BatchBudget  # few runs take batches

        kind = BatchBudget
    cost, calls = config.get(settings.MAX_COST_USD), config.get(settings.MAX_CALLS)
    return kind(cost, calls, free=not provider.live, stop=stop)


def drive_of(
    config: Config, provider: Provider, budget: Budget, kept: Kept, stop: threading.Event
) -> tuple[Drive, Callable[[bool], None]]:
    """Give what runs layers, and what ends it: with True where the run need not be gone on from.

    Raises:
        UsageError: the list of a run's batches cannot be kept.
    """
    if PROVIDERS.flag(provider.name, "BATCHES"):
        return _batches(config, provider, budget, kept, stop)
    in_flight = config.get(settings.IN_FLIGHT)
    asker = PortAsker(
        provider,
        budget=budget,
        answers=kept.answers,
        breaker=Breaker(stop=stop),
        recorder=kept.recorder,
        journal=kept.journal,
    )
    return lambda layers, watch: run(layers, asker, in_flight=in_flight, watch=watch, stop=stop), lambda _: None


def _batches(
    config: Config, provider: Provider, budget: Budget, kept: Kept, stop: threading.Event
) -> tuple[Drive, Callable[[bool], None]]:
    import os

    from skillgate.llm import batches
    from skillgate.llm.batch_budget import BatchBudget
    from skillgate.llm.batch_journal import BatchJournal
    from skillgate.llm.batch_post import Polling
    from skillgate.llm.providers.batch import Batches

    if not isinstance(provider, Batches) or not isinstance(budget, BatchBudget):
        message = "batches need a provider and a budget of their own"
        raise TypeError(message)
    place = None if kept.journal is None or kept.journal.failure else f"{kept.journal.path}{_BESIDE}"
    out = None if place is None else BatchJournal(place, now=time.time)
    polling = Polling(first_s=config.get(settings.POLL_SECONDS))
    sender: batches.BatchAsker[object] = batches.BatchAsker(
        provider,
        budget=budget,
        answers=kept.answers,
        journal=kept.journal,
        batches=out,
        recorder=kept.recorder,
        polling=polling,
    )

    def end(done: bool) -> None:
        if out is not None and place is not None:
            out.close()
            if done and os.path.exists(place):  # noqa: PTH110
                os.remove(place)  # noqa: PTH107

    return lambda layers, watch: batches.run(layers, sender, watch=watch, stop=stop), end
