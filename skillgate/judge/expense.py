"""What judging a skill took, and which model did it, if one did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.llm.prices import is_other
from skillgate.model.exchange import SCRIPTED_PREFIX, Tokens
from skillgate.model.judging import Usage
from skillgate.model.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skillgate.model.exchange import Answer


def usage(answers: Sequence[Answer]) -> Usage:
    """Add up what was asked for; the cost of all is unknown where that of one is.

    An answer that took several sends is one call with retries. What was sent and never answered is no call.
    """
    tokens = Tokens()
    for answer in answers:
        tokens = tokens.plus(answer.tokens)
    sent = [answer for answer in answers if answer.sent]
    unpriced = tuple(dict.fromkeys(_why_unpriced(answer) for answer in answers if answer.cost_usd is None))
    return Usage(
        calls=sum(answer.reply is not None for answer in sent),
        cached=sum(answer.cached for answer in answers),
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cost_usd=None if unpriced else sum((answer.cost_usd or 0.0 for answer in answers), 0.0),
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_write,
        retries=sum(answer.sent - 1 for answer in sent),
        cost_reason="; ".join(unpriced) or None,
    )


def is_live(answers: Sequence[Answer], *, live: bool) -> bool:
    """Tell whether all answers are a real model's, given now or kept; ``live`` is what the provider says of itself."""
    return live and not any(
        answer.reply is not None and _model(answer).startswith(SCRIPTED_PREFIX) for answer in answers
    )


def answered_by(asked: Iterable[tuple[str, Answer]]) -> tuple[str, ...]:
    """Name the known models that answered where another was asked for, sorted.

    Args:
        asked: answers, each with the model that was asked for.
    """
    replies = ((model, answer.reply.model) for model, answer in asked if answer.reply is not None)
    return tuple(sorted({printable(answered) for model, answered in replies if is_other(model, answered)}))


def _why_unpriced(answer: Answer) -> str:
    if answer.reply is None:
        return "an answer was lost, and what it cost is unknown"
    if answer.reply.tokens is None:
        return f"{printable(answer.reply.model)} did not say how many tokens it took"
    return f"the price of {printable(answer.reply.model)} is unknown"


def _model(answer: Answer) -> str:
    return answer.reply.model if answer.reply is not None else "the model"
