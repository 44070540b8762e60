"""What a run would ask and cost, before anything is spent: the same layers, given made-up answers. Nothing is sent.

The layers themselves say what they would ask, so that an estimate cannot disagree with the run. Where a question
depends on an answer, as predictions do on generated prompts, the made-up one has about the size of a real one; where it
depends on more than that, as a session does on whether a tool is called, the request itself holds a typical one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import settings
from skillgate.llm import prices
from skillgate.llm.driver import run
from skillgate.llm.made_up import fitting as fitting
from skillgate.llm.made_up import made_up as made_up
from skillgate.model.exchange import Answer, Status, Tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from skillgate.llm.answers import Answers
    from skillgate.llm.port import Provider
    from skillgate.model.exchange import Request, Steps

INPUT_LOW, INPUT_HIGH = 0.8, 1.2
"""Of the estimate from characters: it is within 20 % for 95 of 100 public skills."""
OUTPUT_LOW, OUTPUT_HIGH = 0.2, 2.0
"""Of what an answer takes as a rule: whether and how long a model thinks varies far more than what it says."""
HARNESS_REQUESTS, HARNESS_TOKENS = 2, 20_000
"""Of a session that a runner leads: the requests that it takes at least as a rule, and about what the runner's own
prompt and tools add to each; a guess, which is in the upper end only."""


class Span(NamedTuple):
    """From the least to the most that is likely."""

    low: float
    high: float

    def plus(self, other: Span) -> Span:
        """Add two up."""
        return Span(self.low + other.low, self.high + other.high)


class Forecast(NamedTuple):
    """What a run would take.

    Attributes:
        layers: how many there are; skills, for the judge.
        calls: requests that would be sent, tries again not counted.
        cached: answers that are kept from earlier runs.
        input_tokens, output_tokens: of the calls.
        cost_usd: of the calls; None where the price of one of ``unpriced`` is unknown.
        models: that would be asked, each with its number of calls, sorted.
        unpriced: models without a price, sorted.
        questions: likewise, what would be asked, in the order in which each is asked first.
        batch: whether the cost is that of batches.
    """

    layers: int = 0
    calls: int = 0
    cached: int = 0
    input_tokens: Span = Span(0, 0)
    output_tokens: Span = Span(0, 0)
    cost_usd: Span | None = Span(0.0, 0.0)
    models: tuple[tuple[str, int], ...] = ()
    unpriced: tuple[str, ...] = ()
    questions: tuple[tuple[str, int], ...] = ()
    batch: bool = False


def estimate(
    layers: Sequence[Callable[[], Steps[Any]]],
    *,
    answers: Answers | None = None,
    provider: Provider | None = None,
    batch: bool = False,
) -> Forecast:
    """Find out what a run of these layers would ask, without asking it.

    Args:
        layers: as for :func:`skillgate.llm.driver.run`.
        answers: what is kept from earlier runs, None for nothing.
        provider: that would be asked: what is kept is kept by provider. Nothing is kept without one.
        batch: whether requests would go out in batches, which cost less.
    """
    rehearsal = _Rehearsal(answers, provider, batch=batch)
    for _ in run(layers, rehearsal, in_flight=1):
        pass
    return rehearsal.forecast(len(layers))


class _Rehearsal:
    """An asker that counts, and answers out of the cache or out of thin air. For one thread."""

    def __init__(self, answers: Answers | None, provider: Provider | None, *, batch: bool) -> None:
        self._answers = answers
        self._batch = batch
        self._provider = provider
        self._total = Forecast(batch=batch)
        self._calls: dict[str, int] = {}
        self._questions: dict[str, int] = {}
        self._unpriced: set[str] = set()
        self._warm: set[str] = set()
        self._lengths: dict[str, int | None] = {}  # by question, of the lists that pass; None: none does

    def ask(self, request: Request) -> Answer:
        kept = None
        if self._answers is not None and self._provider is not None:
            kept = self._answers.get(request, self._provider)
        if kept is not None:
            self._total = self._total._replace(cached=self._total.cached + 1)
            return kept
        self._count(request)
        return self._made_up(request)

    def _made_up(self, request: Request) -> Answer:
        """Make an answer up, with lists as long as passed for the question before: trying takes longest."""
        if request.typical:
            return made_up(request, items=0)
        question = request.question
        if question not in self._lengths:
            self._lengths[question] = fitting(request)
        length = self._lengths[question]
        answer = made_up(request, items=length)
        if answer.status is Status.ERROR and length is not None:  # this one asks for more, or for less
            answer = made_up(request, items=fitting(request))
        return answer

    def forecast(self, layers: int) -> Forecast:
        return self._total._replace(
            layers=layers,
            cost_usd=None if self._unpriced else self._total.cost_usd,
            models=tuple(sorted(self._calls.items())),
            unpriced=tuple(sorted(self._unpriced)),
            questions=tuple(self._questions.items()),
        )

    def _count(self, request: Request) -> None:
        model = str(request.body.get("model", ""))
        low, high = self._tokens(request, model)
        costs = [prices.cost(model, tokens, batch=self._batch) for tokens in (low, high)]
        if costs[0] is None or costs[1] is None:
            self._unpriced.add(model)
        self._calls[model] = self._calls.get(model, 0) + 1
        self._questions[request.question] = self._questions.get(request.question, 0) + 1
        told = self._total
        self._total = told._replace(
            calls=told.calls + 1,
            input_tokens=told.input_tokens.plus(Span(_prompt(low), _prompt(high))),
            output_tokens=told.output_tokens.plus(Span(low.output, high.output)),
            cost_usd=(told.cost_usd or Span(0, 0)).plus(Span(costs[0] or 0.0, costs[1] or 0.0)),
        )

    def _tokens(self, request: Request, model: str) -> tuple[Tokens, Tokens]:
        """Give the least and the most that is likely: with the provider's prompt cache at its best, and of no use."""
        if "runner" in request.body:
            return _of_runner(request)
        prompt, prefix = prices.prompt_of(request.body), _prefix(request.body)
        known = prices.price(model)
        if known is None or prefix < known.min_cacheable:
            prefix = 0
        rest = prompt - prefix
        most = request.body.get("max_tokens")
        output = math.ceil(request.typical_output * OUTPUT_HIGH)
        low = Tokens(int(rest * INPUT_LOW), int(request.typical_output * OUTPUT_LOW))
        kept = int(prefix * INPUT_LOW)
        warm = request.prefix != "" and request.prefix in self._warm
        self._warm.add(request.prefix)
        return (
            low._replace(cache_read=kept) if warm else low._replace(cache_write=kept),
            Tokens(
                math.ceil(rest * INPUT_HIGH),
                min(output, most) if isinstance(most, int) else output,
                cache_write=math.ceil(prefix * INPUT_HIGH),
            ),
        )


def lines(forecast: Forecast, *, max_cost_usd: float | None = None, max_calls: int | None = None) -> Iterator[str]:
    """Say it for people, a line each.

    Args:
        forecast: what :func:`estimate` gave.
        max_cost_usd: the limit of the run, to say where it may not suffice.
        max_calls: likewise.
    """
    calls, cached = forecast.calls, forecast.cached
    yield f"Dry run, nothing was sent: {_counted(forecast.layers, 'skill')}, {_counted(calls, 'call')} to make."
    if cached:
        yield f"{_counted(cached, 'answer')} from earlier runs would be used again and cost nothing."
    if not calls:
        return
    if forecast.questions:
        yield "For: " + ", ".join(f"{question} ({number:,})" for question, number in forecast.questions) + "."
    yield "Asked: " + ", ".join(f"{model or 'no model'} ({number:,})" for model, number in forecast.models) + "."
    tokens = f"{_range(forecast.input_tokens)} in, {_range(forecast.output_tokens)} out, thinking included"
    yield f"Tokens, about: {tokens}."
    cost = forecast.cost_usd
    if cost is None:
        yield f"Cost: unknown, since the table of {prices.DATE} has no price for {', '.join(forecast.unpriced)}."
    else:
        about = f"${cost.low:.2f} to ${cost.high:.2f}" if cost.high >= 0.01 else "less than $0.01"
        table = f"the prices of {prices.DATE}{' for batches' if forecast.batch else ''}"
        yield f"Cost, about: {about} by {table}; tries again come on top."
    if max_calls is not None and calls > max_calls:
        yield f"{settings.MAX_CALLS.key} allows {max_calls:,}: the rest would not be measured."
    if max_cost_usd is not None and cost is not None and cost.high > max_cost_usd:
        word = "does not suffice" if cost.low > max_cost_usd else "may not suffice"
        yield f"{settings.MAX_COST_USD.key} {max_cost_usd:g} {word}: what is left then would not be measured."


def document(forecast: Forecast) -> dict[str, Any]:
    """Shape it for programs: the numbers that :func:`lines` says, not rounded.

    Args:
        forecast: what :func:`estimate` gave.

    Returns:
        What ``json.dumps`` takes. Tokens and US dollars are from the least to the most that is likely; the cost is
        None where the price of a model in ``unpriced`` is not known.
    """
    cost = forecast.cost_usd
    return {
        "kind": "estimate",
        "calls": forecast.calls,
        "cached": forecast.cached,
        "by_question": dict(forecast.questions),
        "by_model": dict(forecast.models),
        "input_tokens": forecast.input_tokens._asdict(),
        "output_tokens": forecast.output_tokens._asdict(),
        "cost_usd": None if cost is None else {"low": round(cost.low, 6), "high": round(cost.high, 6)},
        "unpriced": list(forecast.unpriced),
    }


def _of_runner(request: Request) -> tuple[Tokens, Tokens]:
    """Give the least and the most that is likely of a session that a runner leads: it sends more than it is given."""
    given = {**request.body, "messages": [request.body.get("prompt"), _shown(request.body)]}
    prompt, output = HARNESS_REQUESTS * prices.prompt_of(given), request.typical_output
    high = math.ceil(prompt * INPUT_HIGH) + HARNESS_REQUESTS * HARNESS_TOKENS
    return (
        Tokens(int(prompt * INPUT_LOW), int(output * OUTPUT_LOW)),
        Tokens(high, math.ceil(output * OUTPUT_HIGH)),
    )


def _shown(body: Mapping[str, Any]) -> list[object]:
    """Give what a session shows of its skills as a rule: how each is listed, and the text of the one it is about."""
    skills = [skill for skill in body.get("skills") or () if "name" in skill]
    listed: list[object] = [[skill["name"], skill.get("description")] for skill in skills]
    return [*listed, *(skill.get("body") for skill in skills if skill["name"] == body.get("target"))]


def _prefix(body: Mapping[str, Any]) -> int:
    """Estimate the tokens of a body's beginning, up to the last block that is marked for the prompt cache."""
    total = sum(map(len, prices.texts({"tools": body.get("tools"), "system": body.get("system")})))
    marked = total if any("cache_control" in block for block in body.get("system") or ()) else 0
    for message in body.get("messages", ()):
        content = message.get("content", ())
        for block in content if not isinstance(content, str) else ({"text": content},):
            total += sum(map(len, prices.texts({"messages": block})))
            if "cache_control" in block:
                marked = total
    return prices.about(marked)


def _prompt(tokens: Tokens) -> int:
    return tokens.input + tokens.cache_read + tokens.cache_write


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _range(span: Span) -> str:
    return f"{_rounded(span.low)} to {_rounded(span.high)}"


def _rounded(number: float) -> str:
    """Two digits that count: nobody knows more."""
    size = 10 ** max(0, len(str(int(number))) - 2)
    return f"{round(number / size) * size:,}"
