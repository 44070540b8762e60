"""What a run would ask and cost, before anything is spent: the same layers, given made-up answers. Nothing is sent.

The layers themselves say what they would ask, so that an estimate cannot disagree with the run. Where a question
depends on an answer, as predictions do on generated prompts, the made-up one has about the size of a real one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.llm import prices
from skillgate.llm.driver import run
from skillgate.model.exchange import Answer, Cause, Status, Tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from skillgate.llm.answers import Answers
    from skillgate.llm.port import Provider
    from skillgate.model.exchange import Request, Steps

INPUT_LOW, INPUT_HIGH = 0.8, 1.2
"""Of the estimate from characters: it is within 20 % for 95 of 100 public skills."""
OUTPUT_LOW, OUTPUT_HIGH = 0.5, 2.0
"""Of what an answer takes as a rule; how long a model thinks varies more than what it says."""
MOST_ITEMS = 32
"""The longest list that is made up to pass a question's own check."""
_SENTENCE = "made up for an estimate: a text that is about as long as what a person would say to get some work done"


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
    """

    layers: int = 0
    calls: int = 0
    cached: int = 0
    input_tokens: Span = Span(0, 0)
    output_tokens: Span = Span(0, 0)
    cost_usd: Span | None = Span(0.0, 0.0)
    models: tuple[tuple[str, int], ...] = ()
    unpriced: tuple[str, ...] = ()


def estimate(
    layers: Sequence[Callable[[], Steps[Any]]], *, answers: Answers | None = None, provider: Provider | None = None
) -> Forecast:
    """Find out what a run of these layers would ask, without asking it.

    Args:
        layers: as for :func:`skillgate.llm.driver.run`.
        answers: what is kept from earlier runs, None for nothing.
        provider: that would be asked: what is kept is kept by provider. Nothing is kept without one.
    """
    rehearsal = _Rehearsal(answers, provider)
    for _ in run(layers, rehearsal, in_flight=1):
        pass
    return rehearsal.forecast(len(layers))


class _Rehearsal:
    """An asker that counts, and answers out of the cache or out of thin air. For one thread."""

    def __init__(self, answers: Answers | None, provider: Provider | None) -> None:
        self._answers = answers
        self._provider = provider
        self._total = Forecast()
        self._calls: dict[str, int] = {}
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
        question = request.question
        if question not in self._lengths:
            self._lengths[question] = fitting(request)
        return made_up(request, items=self._lengths[question])

    def forecast(self, layers: int) -> Forecast:
        return self._total._replace(
            layers=layers,
            cost_usd=None if self._unpriced else self._total.cost_usd,
            models=tuple(sorted(self._calls.items())),
            unpriced=tuple(sorted(self._unpriced)),
        )

    def _count(self, request: Request) -> None:
        model = str(request.body.get("model", ""))
        low, high = self._tokens(request, model)
        costs = prices.cost(model, low), prices.cost(model, high)
        if costs[0] is None or costs[1] is None:
            self._unpriced.add(model)
        self._calls[model] = self._calls.get(model, 0) + 1
        told = self._total
        self._total = told._replace(
            calls=told.calls + 1,
            input_tokens=told.input_tokens.plus(Span(_prompt(low), _prompt(high))),
            output_tokens=told.output_tokens.plus(Span(low.output, high.output)),
            cost_usd=(told.cost_usd or Span(0, 0)).plus(Span(costs[0] or 0.0, costs[1] or 0.0)),
        )

    def _tokens(self, request: Request, model: str) -> tuple[Tokens, Tokens]:
        """Give the least and the most that is likely: with the provider's prompt cache at its best, and of no use."""
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
    yield "Asked: " + ", ".join(f"{model or 'no model'} ({number:,})" for model, number in forecast.models) + "."
    tokens = f"{_range(forecast.input_tokens)} in, {_range(forecast.output_tokens)} out, thinking included"
    yield f"Tokens, about: {tokens}."
    cost = forecast.cost_usd
    if cost is None:
        yield f"Cost: unknown, since the table of {prices.DATE} has no price for {', '.join(forecast.unpriced)}."
    else:
        about = f"${cost.low:.2f} to ${cost.high:.2f}" if cost.high >= 0.01 else "less than $0.01"
        yield f"Cost, about: {about} by the prices of {prices.DATE}; tries again come on top."
    if max_calls is not None and calls > max_calls:
        yield f"max-calls allows {max_calls:,}: the rest would not be measured."
    if max_cost_usd is not None and cost is not None and cost.high > max_cost_usd:
        word = "does not suffice" if cost.low > max_cost_usd else "may not suffice"
        yield f"max-cost-usd {max_cost_usd:g} {word}: what is left then would not be measured."


def fitting(request: Request) -> int | None:
    """Find how long lists must be for a made-up value to pass a request's check; None where none does."""
    schema = _schema(request)
    if schema is None:
        return None
    return next((items for items in range(MOST_ITEMS + 1) if _passes(request, fill(schema, items=items))), None)


def made_up(request: Request, *, items: int | None) -> Answer:
    """Answer a request out of thin air: something that fits its schema, with so many items in each list.

    Where that does not pass its check, or ``items`` is None, the answer is an error, as in an outage: then no layer
    asks anything more.
    """
    schema = _schema(request)
    if schema is None:
        return Answer(Status.OK, _SENTENCE)
    value = None if items is None else fill(schema, items=items)
    if items is not None and _passes(request, value):
        return Answer(Status.OK, value)
    return Answer(Status.ERROR, cause=Cause.STOPPED, reason="nothing that passes could be made up for an estimate")


def fill(schema: Mapping[str, Any], *, items: int, number: int = 0) -> Any:  # noqa: ANN401 - any JSON
    """Make a value up that fits a JSON schema of objects, lists, enumerations and plain values.

    Args:
        schema: as a model is given it.
        items: of every list, where the schema does not ask for more.
        number: of the value among its like: texts, integers, truths and choices differ by it.
    """
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        choices = schema["enum"]
        return choices[number // 2 % len(choices)]  # by pairs, so that all go with either truth
    match schema.get("type"):
        case "object":
            return {key: fill(part, items=items, number=number) for key, part in schema.get("properties", {}).items()}
        case "array":
            many = max(items, schema.get("minItems", 0))
            return [fill(schema.get("items", {}), items=items, number=each) for each in range(many)]
        case "boolean":
            return number % 2 == 0
        case "integer" | "number":
            return number + 1
        case "null":
            return None
        case _:
            return f"Number {number + 1}, {_SENTENCE}"


def _schema(request: Request) -> Mapping[str, Any] | None:
    found: Mapping[str, Any] | None = ((request.body.get("output_config") or {}).get("format") or {}).get("schema")
    return found


def _passes(request: Request, value: Any) -> bool:  # noqa: ANN401 - any JSON
    return request.check is None or request.check(value) is None


def _prefix(body: Mapping[str, Any]) -> int:
    """Estimate the tokens of a body's beginning, up to the last block that is marked for the prompt cache."""
    total = sum(map(len, prices.texts({"system": body.get("system")})))
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
