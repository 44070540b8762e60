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
from skillgate.evaluation.models import budget_of, closed, connect, open_answers
from skillgate.evaluation.sampled import UNASKED_USD, bound_of
from skillgate.judge.asking import is_live
from skillgate.llm import estimates
from skillgate.llm.asker import PortAsker
from skillgate.llm.flow import CircuitBreaker
from skillgate.llm.prices import DEFAULT_JUDGE
from skillgate.llm.providers.replay import Recorder
from skillgate.model.exchange import Status
from skillgate.montecarlo.session import typical_text
from skillgate.registry import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from skillgate.bench.ports import Adapter, Scorer
    from skillgate.bench.runner import Item
    from skillgate.config import Config
    from skillgate.console import Console
    from skillgate.evaluation.request import ModelOptions
    from skillgate.llm.prices import Spent
    from skillgate.model.exchange import Answer, Request, Steps


class Models:
    """The models that do the tasks of prose skills and that judge, in one run. ``ask`` is thread-safe.

    Attributes:
        model: for prose skills.
        judge_model: where an evaluator names no other.
        unanswered: why the first question without an answer had none, ``""`` where there is none.
    """

    def __init__(self, session: Console, config: Config, options: ModelOptions, stop: threading.Event) -> None:
        """Connect; nothing is sent yet. ``stop`` ends every wait.

        Raises:
            UsageError: an option does not fit.
            IncompleteError: a package is missing.
        """
        if PROVIDERS.flag(config.get(settings.PROVIDER), "BATCHES") and options.replay is None:
            words = "a benchmark waits for every answer; name another --provider"
            raise UsageError(f"provider batch is for scores: {words}")
        name, judges = config.get(settings.MODEL), config.get(settings.JUDGE_MODEL)
        self.model = name if isinstance(name, str) else DEFAULT_JUDGE
        self.judge_model = judges[0] if isinstance(judges, tuple) and judges else DEFAULT_JUDGE
        if isinstance(judges, tuple) and len(judges) > 1:
            session.note(f"one model judges in a benchmark: {judges[0]}, the first of {settings.JUDGE_MODEL.key}")
        self._session = session
        self._limits = (config.get(settings.MAX_COST_USD), config.get(settings.MAX_CALLS))
        self._provider = connect(config, options, session.environ, session.cwd)
        self._budget = budget_of(config, self._provider, stop)
        self._answers = open_answers(config, session, options, session.environ, stop) if options.keep_answers else None
        self._recorder = Recorder(options.record, cwd=session.cwd, now=time.time) if options.record else None
        self._asker = PortAsker(
            self._provider,
            budget=self._budget,
            answers=self._answers,
            breaker=CircuitBreaker(stop=stop),
            recorder=self._recorder,
        )
        self._lock = threading.Lock()
        self._requests = self._cached = self._made_up = 0
        self._carried_usd = 0.0
        self.unanswered = ""

    def ask(self, request: Request) -> Answer:
        """Answer one request."""
        answer = self._asker.ask(request)
        with self._lock:
            self._requests += 1
            self._cached += answer.cached
            self._made_up += answer.reply is not None and not is_live([answer], live=self._provider.live)
            if answer.status is Status.ERROR:
                self.unanswered = self.unanswered or answer.reason
        return answer

    @property
    def spent(self) -> Spent:
        """What was spent so far, including what was carried over."""
        return self._budget.total

    def carry(self, spent: Spent) -> None:
        """Count what earlier runs spent, so that the limits hold over all of them."""
        self._budget.carry(spent)
        self._carried_usd += spent.usd

    def names(self, adapters: Iterable[Adapter], scorers: Iterable[Scorer]) -> tuple[str, ...]:
        """Return the models that a run uses, sorted.

        Raises:
            UsageError: the cost is limited and the price of one of them unknown; or the provider cannot do what a skill
                needs.
        """
        prose, name = [adapter for adapter in adapters if isinstance(adapter, SkillMdAdapter)], self._provider.name
        if PROVIDERS.flag(name, "WITHOUT_TOOLS"):
            for shown in (adapter.reads for adapter in prose):
                if shown is not None:
                    raise UsageError(f"{shown} has files to read, and --provider {name} gives models no tools")
        found = {self.model for _ in prose}
        found |= {scorer.model for scorer in scorers if isinstance(scorer, Judge)}
        self._budget.require_prices(found)
        return tuple(sorted(found))

    def forecast(
        self,
        items: Sequence[Item],
        adapters: Mapping[str, Adapter],
        scorers: Mapping[str, Scorer],
        added: Mapping[str, Any],
    ) -> estimates.Forecast:
        """Estimate what a run would ask, at most: every answer is judged, though one that fails is not."""
        layers = [partial(_rehearsed, item, adapters[item.skill.key], scorers[item.task.id], added) for item in items]
        found = estimates.estimate(layers, answers=self._answers, provider=self._provider)
        return found._replace(layers=len({item.skill.key for item in items}))

    def lines(self, forecast: estimates.Forecast) -> Iterator[str]:
        """Write a forecast for people."""
        cost, calls = self._limits
        yield from estimates.lines(forecast, max_cost_usd=cost, max_calls=calls)

    def require_approval(self, forecast: Callable[[], estimates.Forecast]) -> None:
        """Check that a run which may cost much is wanted; without a limit of the user's it gets one far above.

        Raises:
            UsageError: the estimate is high, and there is no limit and no approval.
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
        """Return what was asked, what it cost, and why something was not answered, for the report."""
        if not self._requests:
            return ()
        unpriced = self._budget.unpriced
        spent = self._budget.spent - self._carried_usd
        cost = f"${spent:.4f}" + (f" and what {', '.join(unpriced)} took" if unpriced else "")
        total = f"models: {self._requests} questions, {self._cached} of the answers kept from before; cost {cost}"
        made_up = f"{self._made_up} of {self._requests} answers are scripted or replayed: no real model gave them"
        unanswered = f"not everything was answered: {self.unanswered}"
        return (total, *[made_up] * bool(self._made_up), *[unanswered] * bool(self.unanswered))

    def close(self) -> None:
        """Let go of connections and files, and note what could not be stored."""
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
    """Yield the requests of one item, as far as they can be known: a program's answer has about the size of a text."""
    output: Any = typical_text()["text"]
    if isinstance(adapter, SkillMdAdapter):
        call = Call(item.task, {**added, **item.task.input_data}, 0.0, item.run)
        output = (yield from adapter.session(call)).answer or output
    if isinstance(scorer, Judge):
        yield from scorer.judging(output)
