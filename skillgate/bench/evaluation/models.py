"""The models of a benchmark run: connected only where a prose skill or a judge needs one; what they would cost."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from skillgate import settings
from skillgate.bench.adapters.skillmd import SkillMdAdapter
from skillgate.bench.ports import Call
from skillgate.bench.scorers.llm_judge import Judge
from skillgate.errors import UsageError
from skillgate.evaluation.models.connecting import closed, connect, kept_answers
from skillgate.evaluation.models.driving import budget_of
from skillgate.evaluation.models.spending import UNASKED_USD, bound_of
from skillgate.judge.expense import is_live
from skillgate.llm import dry
from skillgate.llm.asker import PortAsker
from skillgate.llm.breaker import Breaker
from skillgate.llm.prices import DEFAULT_JUDGE
from skillgate.llm.recording import Recorder
from skillgate.model.exchange import Status
from skillgate.montecarlo.session import typical_text
from skillgate.registry import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from skillgate.bench.ports import Adapter, Scorer
    from skillgate.bench.runner import Item
    from skillgate.config import Config
    from skillgate.evaluation.request import ModelOptions
    from skillgate.llm.ledger import Spent
    from skillgate.model.exchange import Answer, Request, Steps
    from skillgate.session import Session


class Models:
    """Who does the tasks of prose skills and who judges, in one run. ``ask`` is thread-safe.

    Attributes:
        model: that prose skills are run by.
        judge_model: that judges where an evaluator names no other.
        unanswered: why the first question without an answer had none, ``""`` where there is none.
    """

    def __init__(self, session: Session, config: Config, options: ModelOptions, stop: threading.Event) -> None:
        """Connect; nothing is sent yet.

        Args:
            session: for its environment, its working directory and its streams.
            config: what configuration and options say.
            options: how models are asked.
            stop: ends every wait.

        Raises:
            UsageError: an option does not fit.
            IncompleteError: a package is missing.
        """
        if PROVIDERS.flag(config.get(settings.PROVIDER), "BATCHES") and options.replay is None:
            raise UsageError(
                "provider batch is for scores: a benchmark waits for every answer; name another --provider"
            )
        name, judges = config.get(settings.MODEL), config.get(settings.JUDGE_MODEL)
        self.model = name if isinstance(name, str) else DEFAULT_JUDGE
        self.judge_model = judges[0] if isinstance(judges, tuple) and judges else DEFAULT_JUDGE
        if isinstance(judges, tuple) and len(judges) > 1:
            session.note(f"one model judges in a benchmark: {judges[0]}, the first of {settings.JUDGE_MODEL.key}")
        self._session = session
        self._limits = (config.get(settings.MAX_COST_USD), config.get(settings.MAX_CALLS))
        self._provider = connect(config, options, session.environ, session.cwd)
        self._budget = budget_of(config, self._provider, stop)
        self._answers = kept_answers(config, session, options, session.environ, stop) if options.keep_answers else None
        self._recorder = Recorder(options.record, cwd=session.cwd, now=time.time) if options.record else None
        self._asker = PortAsker(
            self._provider,
            budget=self._budget,
            answers=self._answers,
            breaker=Breaker(stop=stop),
            recorder=self._recorder,
        )
        self._lock = threading.Lock()
        self._asked = self._kept = self._made_up = 0
        self._carried_usd = 0.0
        self.unanswered = ""

    def ask(self, request: Request) -> Answer:
        """Answer one request."""
        answer = self._asker.ask(request)
        with self._lock:
            self._asked += 1
            self._kept += answer.cached
            self._made_up += answer.reply is not None and not is_live([answer], live=self._provider.live)
            if answer.status is Status.ERROR:
                self.unanswered = self.unanswered or answer.reason
        return answer

    @property
    def spent(self) -> Spent:
        """What was spent so far, with what was carried over."""
        return self._budget.total

    def carry(self, spent: Spent) -> None:
        """Count what earlier runs spent, so that the limits hold over all of them."""
        self._budget.carry(spent)
        self._carried_usd += spent.usd

    def names(self, adapters: Iterable[Adapter], scorers: Iterable[Scorer]) -> tuple[str, ...]:
        """Return the models that a run asks, sorted.

        Raises:
            UsageError: the cost is limited and the price of one of them unknown; or the provider cannot do what a skill
                needs.
        """
        adapters = tuple(adapters)
        if PROVIDERS.flag(self._provider.name, "WITHOUT_TOOLS"):
            for shown in (adapter.reads for adapter in adapters if isinstance(adapter, SkillMdAdapter)):
                if shown is not None:
                    raise UsageError(
                        f"{shown} has files to read, and --provider {self._provider.name} gives models no tools"
                    )
        found = {self.model for adapter in adapters if isinstance(adapter, SkillMdAdapter)}
        found |= {scorer.model for scorer in scorers if isinstance(scorer, Judge)}
        self._budget.require_prices(found)
        return tuple(sorted(found))

    def forecast(
        self,
        items: Sequence[Item],
        adapters: Mapping[str, Adapter],
        scorers: Mapping[str, Scorer],
        added: Mapping[str, Any],
    ) -> dry.Forecast:
        """Say what a run would ask, at most: every answer is judged, though one that fails is not."""
        layers = [partial(_rehearsed, item, adapters[item.skill.key], scorers[item.task.id], added) for item in items]
        found = dry.estimate(layers, answers=self._answers, provider=self._provider)
        return found._replace(layers=len({item.skill.key for item in items}))

    def lines(self, forecast: dry.Forecast) -> Iterator[str]:
        """Say a forecast for people."""
        cost, calls = self._limits
        yield from dry.lines(
            forecast,
            max_cost_usd=cost if isinstance(cost, float) else None,
            max_calls=calls if isinstance(calls, int) else None,
        )

    def require_leave(self, forecast: Callable[[], dry.Forecast]) -> None:
        """Make sure that a run which may cost much is wanted; without a limit of the user's it gets one far above.

        Raises:
            UsageError: the estimate is high, and there is no limit and nobody to ask, or somebody said no.
        """
        if not self._provider.live or any(limit is not None for limit in self._limits):
            return
        cost = forecast().cost_usd
        if cost is None:
            return
        if cost.high <= UNASKED_USD:
            self._budget.bound(bound_of(0.0))
            return
        about = f"this run may cost about ${cost.low:.2f} to ${cost.high:.2f}"
        if not self._session.interactive:
            raise UsageError(f"{about}: give --{settings.MAX_COST_USD.key}, or see what it would ask with --dry-run")
        if not self._session.confirm(f"{about}; go on?"):
            raise UsageError(f"{about}, and was not begun")
        self._budget.bound(bound_of(cost.high))

    def notices(self) -> tuple[str, ...]:
        """Say what was asked, what it cost, and why something was not answered, for the report."""
        if not self._asked:
            return ()
        unpriced = self._budget.unpriced
        spent = self._budget.spent - self._carried_usd
        cost = f"${spent:.4f}" + (f" and what {', '.join(unpriced)} took" if unpriced else "")
        asked = f"models: {self._asked} questions, {self._kept} of the answers kept from before; cost {cost}"
        made_up = f"{self._made_up} of {self._asked} answers are scripted or replayed: no real model gave them"
        unanswered = f"not everything was answered: {self.unanswered}"
        return (asked, *[made_up] * bool(self._made_up), *[unanswered] * bool(self.unanswered))

    def close(self) -> None:
        """Let go of connections and files; what could not be kept is said."""
        self._provider.close()
        failures = []
        if self._recorder is not None:
            self._recorder.close()
            failures.append(self._recorder.failure)
        if self._answers is not None:
            failures += closed(self._answers, self._session)
        for failure in failures:
            if failure:
                self._session.note(failure)


def _rehearsed(item: Item, adapter: Adapter, scorer: Scorer, added: Mapping[str, Any]) -> Steps[None]:
    """Ask what one item asks, as far as that can be known: what a program answers has about the size of a text."""
    output: Any = typical_text()["text"]
    if isinstance(adapter, SkillMdAdapter):
        call = Call(item.task, {**added, **item.task.input_data}, 0.0, item.run)
        output = (yield from adapter.session(call)).answer or output
    if isinstance(scorer, Judge):
        yield from scorer.judging(output)
