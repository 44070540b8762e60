"""Asking once more where that can help: after an answer of the wrong form, and after one that was cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.judge.fence import fenced
from skillgate.judge.wording import NO_TEXT, UNUSABLE
from skillgate.model.exchange import Answer, Request, Status, Tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillgate.model.exchange import Steps

LONGER = 4  # times the tokens, after an answer that they did not suffice for
MOST_TOKENS = 21_333  # beyond, the SDK refuses a request that is not streamed
_MOST_QUOTED = 20_000  # characters of a bad answer that it is shown again


def ask(request: Request) -> Steps[Answer]:
    """Ask, once more with the error after an invalid answer, and once more with more tokens after a truncated one.

    Returns:
        The last answer, with the tokens, the cost and the number of sends of all.
    """
    first = request
    left: dict[Status, Callable[[Request, Answer], Request | None]]
    left = {Status.INVALID: _corrected, Status.TRUNCATED: _longer}
    answers: list[Answer] = [(yield request)]
    while (amend := left.pop(answers[-1].status, None)) is not None:
        amended = amend(request, answers[-1])
        if amended is None:
            break
        request = amended._replace(instead_of=first)
        answers.append((yield request))
    return _summed(answers)


def asked_better(request: Request, wish: Callable[[Any], str | None]) -> Steps[Answer]:
    """Ask, and once more where a usable answer could be better; what is usable is never given up for it.

    Args:
        request: its own check says what is usable, so both answers are kept between runs.
        wish: says what is to be better of a value, None for nothing.

    Returns:
        The second answer where it is usable, else the first, with the tokens, the cost and the sends of both.
    """
    first = yield from ask(request)
    fault = wish(first.value) if first.status is Status.OK else None
    if fault is None:
        return first
    second = yield from ask(_corrected(request, first._replace(reason=fault)))
    return _summed((first, second) if second.status is Status.OK else (second, first))


def _corrected(request: Request, answer: Answer) -> Request:
    text = answer.reply.text.strip()[:_MOST_QUOTED] if answer.reply is not None else ""
    turns: tuple[dict[str, Any], ...] = (
        {"role": "assistant", "content": text or NO_TEXT},
        {"role": "user", "content": [{"type": "text", "text": f"{UNUSABLE}\n{fenced('error', answer.reason)}"}]},
    )
    return request._replace(body={**request.body, "messages": [*request.body["messages"], *turns]})


def _longer(request: Request, _answer: Answer) -> Request | None:
    given = int(request.body["max_tokens"])
    if given >= MOST_TOKENS:
        return None
    return request._replace(body={**request.body, "max_tokens": min(LONGER * given, MOST_TOKENS)})


def _summed(answers: Sequence[Answer]) -> Answer:
    costs = [answer.cost_usd for answer in answers]
    known = [cost for cost in costs if cost is not None]
    tokens = Tokens()
    for answer in answers:
        tokens = tokens.plus(answer.tokens)
    sent = sum(answer.sent for answer in answers)
    return answers[-1]._replace(
        tokens=tokens,
        cost_usd=sum(known) if len(known) == len(costs) else None,
        sent=sent,
        cached=answers[-1].cached and not sent,
    )
