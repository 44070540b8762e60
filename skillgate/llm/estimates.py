"""What a run would ask and cost, before anything is spent: the same layers, given made-up answers. Nothing is sent.

The layers themselves say what they would ask, so that an estimate cannot disagree with the run. Where a question
depends on an answer, as predictions do on generated prompts, the made-up answer has about the size of a real one. Where
it depends on more than that, as a session does on whether a tool is called, the request itself holds a typical answer.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import settings
from skillgate.llm import prices
from skillgate.llm.asker import run
from skillgate.llm.port import schema_of
from skillgate.model.exchange import Answer, Cause, Reply, Status, Tokens

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
"""Of a session that a runner leads: the requests that it usually takes at least, and about what the runner's own prompt
and tools add to each. The latter is a guess, and only in the upper end."""
MOST_ITEMS = 64  # the longest list that is made up to pass a question's own check
_SENTENCE = "made up for an estimate: a text that is about as long as what a person would say to get some work done"


class Span(NamedTuple):
    """A range from the likely minimum to the likely maximum."""

    low: float
    high: float

    def plus(self, other: Span) -> Span:
        """Return the sum of two."""
        return Span(self.low + other.low, self.high + other.high)


class Forecast(NamedTuple):
    """What a run would take."""

    layers: int = 0  # skills, for the judge
    calls: int = 0  # requests that would be sent, retries not counted
    cached: int = 0  # answers that are there from earlier runs
    input_tokens: Span = Span(0, 0)  # of the calls, as is all that follows
    output_tokens: Span = Span(0, 0)
    cost_usd: Span | None = Span(0.0, 0.0)  # None where the price of one of ``unpriced`` is unknown
    models: tuple[tuple[str, int], ...] = ()  # each with its number of calls, sorted
    unpriced: tuple[str, ...] = ()  # models without a price, sorted
    questions: tuple[tuple[str, int], ...] = ()  # each with its number of calls, in the order of the first ones
    batch: bool = False  # whether the cost is that of batches


def estimate(
    layers: Sequence[Callable[[], Steps[Any]]],
    *,
    answers: Answers | None = None,
    provider: Provider | None = None,
    batch: bool = False,
) -> Forecast:
    """Return what a run of these layers would send, without sending it.

    The answers of earlier runs are those of ``provider``; without one none is used. Requests in batches cost less.
    """
    rehearsal = _Rehearsal(answers, provider, batch=batch)
    for _ in run(layers, rehearsal, in_flight=1):
        pass
    return rehearsal.forecast(len(layers))


def fitting(request: Request) -> int | None:
    """Return how long lists must be for a made-up value to pass a request's check; None where none does."""
    schema = schema_of(request.body)
    if schema is None:
        return None
    return next((items for items in range(MOST_ITEMS + 1) if _passes(request, fill(schema, items=items))), None)


def made_up(request: Request, *, items: int | None) -> Answer:
    """Answer a request: as its own typical reply does, else with what fits its schema, with so many items in each list.

    Where that does not pass its check, or ``items`` is None, the answer is an error, as in an outage: then no layer
    asks anything more.
    """
    typical = _typical(request) if request.typical or request.body.get("tools") else None
    if typical is not None:
        return typical
    schema = schema_of(request.body)
    if schema is None:
        return Answer(Status.OK, _SENTENCE)
    value = None if items is None else fill(schema, items=items)
    if items is not None and _passes(request, value):
        return Answer(Status.OK, value)
    return Answer(Status.ERROR, cause=Cause.STOPPED, reason="nothing that passes could be made up for an estimate")


def fill(schema: Mapping[str, Any], *, items: int, number: int = 0) -> Any:  # noqa: ANN401 - any JSON
    """Make a value up that fits a JSON schema of objects, lists, enumerations and plain values.

    Every list has so many ``items``, where the schema does not ask for more. Texts, integers, truths and choices differ
    by their ``number`` among their like.
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


class _Rehearsal:
    """An asker that counts, and answers out of the cache or out of thin air. For one thread."""

    def __init__(self, answers: Answers | None, provider: Provider | None, *, batch: bool) -> None:
        self._answers = answers
        self._batch = batch
        self._provider = provider
        self._total = Forecast(batch=batch)
        self._calls: Counter[str] = Counter()
        self._questions: Counter[str] = Counter()
        self._unpriced: set[str] = set()
        self._warm: set[str] = set()
        self._lengths: dict[str, int | None] = {}  # by question, of the lists that pass; None: none does

    def ask(self, request: Request) -> Answer:
        if self._answers is not None and self._provider is not None:
            cached = self._answers.get(request, self._provider)
            if cached is not None:
                self._total = self._total._replace(cached=self._total.cached + 1)
                return cached
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
        self._calls[model] += 1
        self._questions[request.question] += 1
        total = self._total
        self._total = total._replace(
            calls=total.calls + 1,
            input_tokens=total.input_tokens.plus(Span(_prompt(low), _prompt(high))),
            output_tokens=total.output_tokens.plus(Span(low.output, high.output)),
            cost_usd=(total.cost_usd or Span(0, 0)).plus(Span(costs[0] or 0.0, costs[1] or 0.0)),
        )

    def _tokens(self, request: Request, model: str) -> tuple[Tokens, Tokens]:
        """Return the likely minimum and maximum: with the provider's prompt cache at its best, and without it."""
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
        cached = int(prefix * INPUT_LOW)
        warm = request.prefix != "" and request.prefix in self._warm
        self._warm.add(request.prefix)
        return (
            low._replace(cache_read=cached) if warm else low._replace(cache_write=cached),
            Tokens(
                math.ceil(rest * INPUT_HIGH),
                min(output, most) if isinstance(most, int) else output,
                cache_write=math.ceil(prefix * INPUT_HIGH),
            ),
        )


def lines(forecast: Forecast, *, max_cost_usd: float | None = None, max_calls: int | None = None) -> Iterator[str]:
    """Say it for people, a line each; also where the limits of the run may not suffice."""
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
    """Return it for programs: the numbers that :func:`lines` says, not rounded."""
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
    """Return the likely minimum and maximum of a session that a runner leads: it sends more than it gets."""
    body = {**request.body, "messages": [request.body.get("prompt"), _shown(request.body)]}
    prompt, output = HARNESS_REQUESTS * prices.prompt_of(body), request.typical_output
    high = math.ceil(prompt * INPUT_HIGH) + HARNESS_REQUESTS * HARNESS_TOKENS
    return (Tokens(int(prompt * INPUT_LOW), int(output * OUTPUT_LOW)), Tokens(high, math.ceil(output * OUTPUT_HIGH)))


def _shown(body: Mapping[str, Any]) -> list[object]:
    """Return what a session shows of its skills as a rule: how each is listed, and the text of the one it is about."""
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
    """Return a number of two digits that count: more is not known."""
    size = 10 ** max(0, len(str(int(number))) - 2)
    return f"{round(number / size) * size:,}"


def _typical(request: Request) -> Answer | None:
    """Answer a request with the reply that it holds; None where that does not fit. A session's is in words."""
    content = request.typical or ({"type": "text", "text": _SENTENCE},)
    reason = "tool_use" if any(block.get("type") == "tool_use" for block in content) else "end_turn"
    used = Tokens(input=prices.prompt_of(request.body), output=request.typical_output)
    reply = Reply(content, reason, used, str(request.body.get("model", "")))
    if schema_of(request.body) is None or request.body.get("tools"):
        return Answer(Status.OK, reply.text, reply)
    try:
        value = json.loads(reply.text)
    except ValueError:
        return None
    return Answer(Status.OK, value, reply) if _passes(request, value) else None


def _passes(request: Request, value: Any) -> bool:  # noqa: ANN401 - any JSON
    return request.check is None or request.check(value) is None
