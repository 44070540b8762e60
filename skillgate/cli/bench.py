"""Who judges and who answers, and what is asked of them about one skill."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from skillgate.judge.dossier import Unjudged, dossier
from skillgate.judge.layer import judge
from skillgate.judge.subject import Judged, Panel, Ratings
from skillgate.model.exchange import Together
from skillgate.model.judging import JudgeLayer

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable

    from skillgate.deepen import Asked
    from skillgate.judge.siblings import Shelves
    from skillgate.llm.answers import Answers
    from skillgate.llm.port import Asker, Provider
    from skillgate.model.exchange import Steps
    from skillgate.model.judging import TriggerPrompt


class Bench(NamedTuple):
    """Who judges and who answers.

    Attributes:
        panel: the judges.
        asker: answers requests.
        in_flight: how many may be on their way at once.
        stop: once it is set nothing waits any more.
        spent: says how the budget ended the run early, None where it did not.
        provider: who answers.
        answers: those of earlier runs, None for none.
        limits: the most that may be spent, in US dollars, and the most calls; None for none.
    """

    panel: Panel
    asker: Asker
    in_flight: int
    stop: threading.Event
    spent: Callable[[], str | None]
    provider: Provider
    answers: Answers | None
    limits: tuple[float | None, int | None]


def layer_of(asked: Asked, panel: Panel, shelves: Shelves, note: Callable[[str], None] | None = None) -> Steps[Judged]:
    """Give the generator that judges a skill; where it was judged before, on the prompts of then.

    ``note`` is told where the skill brings other prompts now.
    """
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
