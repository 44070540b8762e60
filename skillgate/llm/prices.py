"""What models cost and can do: one dated table, ``prices.json``, which says where its figures are from.

A model that is not in it has no price: its cost is unknown, never 0. Prices change; nothing here decides a score.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.exchange import Tokens

CHARACTERS_PER_TOKEN = 2.6
"""Of instructions in English: 2.57 over 181 public skills with the current vocabulary; the median error is 8 %."""
MOST_TOKENS = 10**9
"""Of one reply: a thousand times what the largest context takes. A larger count is none, whoever gives it."""
SESSION_PROMPT, SESSION_OUTPUT, SESSION_TURNS = 200_000, 32_000, 10
"""The most tokens that a session of so many turns is let take where somebody else runs it, all its requests together:
several times what one takes as a rule, since each request holds the ones before."""
_PER = 1_000_000  # tokens that a price is for


class Price(NamedTuple):
    """One model of the table; prices are US dollars for a million tokens.

    Attributes:
        input, output: thinking is output.
        cache_read, cache_write: of the provider's prompt cache; writing for five minutes.
        context: the most tokens of a prompt and its answer.
        min_cacheable: the fewest tokens of a prefix that the provider keeps.
        effort: whether the model knows ``output_config.effort``.
        long_prompt: tokens of a prompt beyond which every price is ``long_factor`` times as high; None: it never is.
        long_factor: at least 1.
    """

    input: float
    output: float
    cache_read: float
    cache_write: float
    context: int
    min_cacheable: int
    effort: bool
    long_prompt: int | None = None
    long_factor: float = 1.0

    def factor(self, prompt: int) -> float:
        """Give what every price is multiplied with for a prompt of so many tokens, kept ones included."""
        return self.long_factor if self.long_prompt is not None and prompt > self.long_prompt else 1.0


_TABLE: Final[Mapping[str, Any]] = json.loads(files(__package__).joinpath("prices.json").read_text(encoding="utf-8"))
_MODELS: Final = {name: Price(**fields) for name, fields in _TABLE["models"].items()}

DATE: Final[str] = _TABLE["date"]
"""Of the table, as in 2026-11-21: reports and estimates name it."""
SOURCE: Final[str] = _TABLE["source"]
DEFAULT_JUDGE: Final[str] = _TABLE["default_judge"]
"""The current model of middle size."""
BATCH_FACTOR: Final[float] = _TABLE["batch_factor"]
"""What every price is multiplied with for requests of a batch."""

# A snapshot of a model bears its date. Only such names are taken to be the same model: a longer or shorter one may be
# another, and the same one elsewhere (`region.vendor.…`, `vendor/…`) may cost something else.
_SNAPSHOT = re.compile(r"[-@]20\d{6}\Z")
# The same model's name elsewhere, which says nothing of its price there: `eu.anthropic.NAME-20261001-v1:0`,
# `vendor/NAME:beta`.
_VENDORS = re.compile(r"\A(?:.*/)?(?:[a-z][a-z0-9-]*\.)*")
_LONGEST_NAME = 200  # that is looked at
_EDITION = re.compile(r"(?:[-@]v\d+)?(?::[\w.-]+)?\Z")


def models() -> tuple[str, ...]:
    """List the models of the table, the current ones first."""
    return tuple(_MODELS)


def price(model: str) -> Price | None:
    """Give what a model costs, None for one that the table does not hold; dated names are those of their model."""
    return _MODELS.get(model) or _MODELS.get(_SNAPSHOT.sub("", model))


def is_other(asked: str, answered: str) -> bool:
    """Say whether a reply is by another known model than the one that was asked for.

    Args:
        asked: the model's name in the request; dates, vendors and editions in either name make no difference.
        answered: as the reply names its model.

    Returns:
        False where either is not in the table, as aliases and scripted models are not: then nobody can tell.
    """
    one, other = _known(asked), _known(answered)
    return one is not None and other is not None and one != other


def is_count(value: object) -> bool:
    """Say whether a value can be the count of a reply's tokens: a whole number from 0 to ``MOST_TOKENS``."""
    return type(value) is int and 0 <= value <= MOST_TOKENS


def cost(model: str, tokens: Tokens, *, batch: bool = False, requests: int = 1) -> float | None:
    """Give what one reply cost in US dollars, or a whole session; None where the model's price is unknown.

    Args:
        model: as it names itself, or as it was asked for.
        tokens: of one reply, or of all in a session.
        batch: whether it was a request of a batch.
        requests: how many there were in a session, at least 1. Whether a prompt was long is a matter of each; where the
            tokens of several are known together alone, each is taken to have had the same share.
    """
    found = price(model)
    if found is None:
        return None
    prompt = (tokens.input + tokens.cache_read + tokens.cache_write) // requests
    factor = found.factor(prompt) * (BATCH_FACTOR if batch else 1.0)
    total = tokens.input * found.input + tokens.output * found.output
    total += tokens.cache_read * found.cache_read + tokens.cache_write * found.cache_write
    return total * factor / _PER


def _known(model: str) -> str | None:
    """Give the name in the table of a model by any of its names, None where it is none of the table's."""
    name = _SNAPSHOT.sub("", _EDITION.sub("", _VENDORS.sub("", model[:_LONGEST_NAME].lower())))
    return name if name in _MODELS else None


def most(model: str, prompt: int, output: int) -> float | None:
    """Give the most that a request can cost in US dollars, None where the model's price is unknown.

    Args:
        model: as it is asked for.
        prompt: the most tokens that it can be; all may be written to the prompt cache, which costs more than reading.
        output: the most tokens that the answer may take.
    """
    found = price(model)
    if found is None:
        return None
    dearest = max(found.input, found.cache_write)
    return (prompt * dearest + output * found.output) * found.factor(prompt) / _PER


def session_most(model: str, turns: int) -> float | None:
    """Give the most that a session may cost in US dollars that a runner leads, None where the price is unknown.

    It grows with the turns. The runner ends a session at half of it, so that the request by which it is passed fits.

    Args:
        model: as it is asked for.
        turns: the most requests of the session.
    """
    found = price(model)
    if found is None:
        return None
    tokens = SESSION_PROMPT * max(found.input, found.cache_write) + SESSION_OUTPUT * found.output
    return tokens * max(1.0, turns / SESSION_TURNS) / _PER


def effort_of(model: str) -> str | None:
    """Give the effort to ask a judge for, None for a model that is not known to take one."""
    found = price(model)
    return str(_TABLE["judge_effort"]) if found is not None and found.effort else None


def context_of(model: str) -> int | None:
    """Give how many tokens a prompt and its answer may take together, None where that is unknown."""
    found = price(model)
    return None if found is None else found.context


def about(characters: int) -> int:
    """Estimate how many tokens a text of so many characters is."""
    return math.ceil(characters / CHARACTERS_PER_TOKEN)


def texts(body: Mapping[str, Any]) -> Iterator[str]:
    """Give every text of a request's body that the model reads: of its system prompt, its messages and its schema."""
    pending = [body.get(key) for key in ("system", "messages", "tools", "output_config")]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            pending.extend(item.keys())
            pending.extend(item.values())
        elif isinstance(item, list | tuple):
            pending.extend(item)


def prompt_of(body: Mapping[str, Any]) -> int:
    """Estimate the tokens of a request's prompt."""
    return about(sum(map(len, texts(body))))
