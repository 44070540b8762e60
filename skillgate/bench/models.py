"""The models of a benchmark run, and their estimated cost; connected only for prose skills and judges."""

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
    """The models for prose skills and judges in one run. ``ask`` is thread-safe.

    Attributes:
        model: For prose skills.
        judge_model: Default for judges.
        unanswered: Why the first failed request failed, ``""`` if none did.
    """

    def __init__(self, session: Console, config: Config, options: ModelOptions, stop: threading.Event) -> None:
        """Connect; nothing is sent yet. ``stop`` ends every wait.

        Raises:
            UsageError: An option is not valid.
            IncompleteError: A package is missing.
        """
        if PROVIDERS.flag(config.get(settings.PROVIDER), "BATCHES") and options.replay is None:
            words = "benchmarks need immediate answers; use another --provider"
            raise UsageError(f"provider batch only works for scores: {words}")
        name, judges = config.get(settings.MODEL), config.get(settings.JUDGE_MODEL)
        self.model = name if isinstance(name, str) else DEFAULT_JUDGE
        self.judge_model = judges[0] if isinstance(judges, tuple) and judges else DEFAULT_JUDGE
        if isinstance(judges, tuple) and len(judges) > 1:
            session.note(f"a benchmark uses only one judge: {judges[0]}, the first of {settings.JUDGE_MODEL.key}")
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
        """The amount spent so far, including earlier runs."""
        return self._budget.total

    def carry(self, spent: Spent) -> None:
        """Add what earlier runs spent, so that limits apply to all runs together."""
        self._budget.carry(spent)
        self._carried_usd += spent.usd

    def names(self, adapters: Iterable[Adapter], scorers: Iterable[Scorer]) -> tuple[str, ...]:
        """Return the sorted models that a run uses.

        Raises:
            UsageError: The cost is limited but a price is unknown, or the provider lacks tools that a skill needs.
        """
        prose, name = [adapter for adapter in adapters if isinstance(adapter, SkillMdAdapter)], self._provider.name
        if PROVIDERS.flag(name, "WITHOUT_TOOLS"):
            for shown in (adapter.reads for adapter in prose):
                if shown is not None:
                    raise UsageError(f"{shown} has files to read, but --provider {name} does not support tools")
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
        """Estimate the maximum requests of a run: as if every answer were judged."""
        layers = [partial(_rehearsed, item, adapters[item.skill.key], scorers[item.task.id], added) for item in items]
        found = estimates.estimate(layers, answers=self._answers, provider=self._provider)
        return found._replace(layers=len({item.skill.key for item in items}))

    def lines(self, forecast: estimates.Forecast) -> Iterator[str]:
        """Yield a forecast as text lines."""
        cost, calls = self._limits
        yield from estimates.lines(forecast, max_cost_usd=cost, max_calls=calls)

    def require_approval(self, forecast: Callable[[], estimates.Forecast]) -> None:
        """Require approval for an expensive run; a run without a user's limit gets one far above the estimate.

        Raises:
            UsageError: The estimate is high, and there is neither a limit nor approval.
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
            raise UsageError(f"{about}: set --{settings.MAX_COST_USD.key}, or preview it with --dry-run")
        if not self._session.confirm(f"{about}; continue?"):
            raise UsageError(f"{about}; not started")
        self._budget.bound(bound_of(cost.high))

    def notices(self) -> tuple[str, ...]:
        """Return notices for the report: requests, cost and failures."""
        if not self._requests:
            return ()
        unpriced = self._budget.unpriced
        spent = self._budget.spent - self._carried_usd
        cost = f"${spent:.4f}" + (f" plus the unknown cost of {', '.join(unpriced)}" if unpriced else "")
        total = f"models: {self._requests} requests, {self._cached} answered from the cache; cost {cost}"
        made_up = f"{self._made_up} of {self._requests} answers are scripted or replayed, not from a real model"
        unanswered = f"some model requests failed: {self.unanswered}"
        return (total, *[made_up] * bool(self._made_up), *[unanswered] * bool(self.unanswered))

    def close(self) -> None:
        """Close connections and files, and report what could not be stored."""
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
    """Yield the expected requests of one item, assuming a typical size for a program's answer."""
    output: Any = typical_text()["text"]
    if isinstance(adapter, SkillMdAdapter):
        call = Call(item.task, {**added, **item.task.input_data}, 0.0, item.run)
        output = (yield from adapter.session(call)).answer or output
    if isinstance(scorer, Judge):
        yield from scorer.judging(output)
