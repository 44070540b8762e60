"""Runs layers over message batches: half the price, for runs that may take hours.

All layers are open at once. What they want goes out together, and when a batch has ended its answers go to the layers,
which then want what comes next; so a run takes as many rounds as the longest of its layers has questions that wait for
one another. A batch that is out when a run ends early is left alone: the same run goes on with it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeVar

from skillgate.llm.batch_asker import BatchAsker
from skillgate.llm.driver import drive

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from skillgate.llm.port import Watch
    from skillgate.model.exchange import Steps

__all__ = ["BatchAsker", "run"]

T = TypeVar("T")


def run(
    layers: Sequence[Callable[[], Steps[T]]],
    sender: BatchAsker[Any],
    *,
    watch: Watch | None = None,
    stop: threading.Event | None = None,
) -> Generator[T, None, None]:
    """Run layers and give their results in their order, as :func:`skillgate.llm.driver.run` does.

    An exception in a layer ends the run where its result would have been taken; so does Ctrl-C, and the caller who
    closes the iterator. Nothing is waited for then, and nothing canceled: with a journal of batches the same run, when
    it is started again, takes what they give.

    Args:
        layers: each makes its generator at the start.
        sender: submits batches.
        watch: is told how far the run is.
        stop: set by whoever wants the run to end: what has no answer by then gets ``Cause.STOPPED``.
    """
    ends = stop if stop is not None else threading.Event()
    sender.begin(ends)
    yield from drive(layers, sender, watch=watch, stop=ends)
