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
MOST_TOKENS = 10**9  # of one reply: a thousand times what the largest context takes. A larger count is none
SESSION_PROMPT, SESSION_OUTPUT, SESSION_TURNS = 200_000, 32_000, 10
"""The most tokens that a session of so many turns may take where a runner leads it, all its requests together:
several times what one takes as a rule, since each request holds the ones before."""
_PER = 1_000_000  # tokens that a price is for


class Price(NamedTuple):
    """One model of the table; prices are US dollars for a million tokens."""

    input: float
    output: float  # thinking is output
    cache_read: float  # of the provider's prompt cache
    cache_write: float  # likewise, for five minutes
    context: int  # the most tokens of a prompt and its answer
    min_cacheable: int  # the fewest tokens of a prefix that the provider caches
    effort: bool  # whether the model knows ``output_config.effort``
    long_prompt: int | None = None
    """Tokens of a prompt beyond which every price is ``long_factor`` times as high; None: it never is."""
    long_factor: float = 1.0

    def factor(self, prompt: int) -> float:
        """Return what every price is multiplied with for a prompt of so many tokens, cached ones included."""
        return self.long_factor if self.long_prompt is not None and prompt > self.long_prompt else 1.0


_TABLE: Final[Mapping[str, Any]] = json.loads(files(__package__).joinpath("prices.json").read_text(encoding="utf-8"))
_MODELS: Final = {name: Price(**fields) for name, fields in _TABLE["models"].items()}

DATE: Final[str] = _TABLE["date"]  # of the table, as in 2026-11-21: reports and estimates name it
SOURCE: Final[str] = _TABLE["source"]
DEFAULT_JUDGE: Final[str] = _TABLE["default_judge"]  # the current model of middle size
BATCH_FACTOR: Final[float] = _TABLE["batch_factor"]  # what every price is multiplied with for requests of a batch

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
    """Return what a model costs, None for one that the table does not hold; dated names are those of their model."""
    return _MODELS.get(model) or _MODELS.get(_SNAPSHOT.sub("", model))


def is_other(requested: str, answered: str) -> bool:
    """Return whether a reply is by another known model than the one that was requested.

    Dates, vendors and editions in either name make no difference. False where either is not in the table, as aliases
    and scripted models are not: then it is not known.
    """
    one, other = _known(requested), _known(answered)
    return one is not None and other is not None and one != other


def is_count(value: object) -> bool:
    """Return whether a value can be the count of a reply's tokens: a whole number from 0 to ``MOST_TOKENS``."""
    return type(value) is int and 0 <= value <= MOST_TOKENS


def cost(model: str, tokens: Tokens, *, batch: bool = False, requests: int = 1) -> float | None:
    """Return what one reply cost in US dollars, or a whole session; None where the model's price is unknown.

    The tokens are those of all ``requests`` of a session. Whether a prompt was long is a matter of each request, which
    is taken to have had the same share.
    """
    known = price(model)
    if known is None:
        return None
    prompt = (tokens.input + tokens.cache_read + tokens.cache_write) // requests
    factor = known.factor(prompt) * (BATCH_FACTOR if batch else 1.0)
    total = tokens.input * known.input + tokens.output * known.output
    total += tokens.cache_read * known.cache_read + tokens.cache_write * known.cache_write
    return total * factor / _PER


def most(model: str, prompt: int, output: int) -> float | None:
    """Return the most that a request can cost in US dollars, None where the model's price is unknown.

    ``prompt`` and ``output`` are the most tokens of each; all of the prompt may be written to the prompt cache, which
    costs more than reading.
    """
    known = price(model)
    if known is None:
        return None
    dearest = max(known.input, known.cache_write)
    return (prompt * dearest + output * known.output) * known.factor(prompt) / _PER


def session_most(model: str, turns: int) -> float | None:
    """Return the most that a session may cost in US dollars that a runner leads, None where the price is unknown.

    It grows with ``turns``, the most requests of the session. The runner ends a session at half of it, so that the
    request by which it is passed fits.
    """
    known = price(model)
    if known is None:
        return None
    tokens = SESSION_PROMPT * max(known.input, known.cache_write) + SESSION_OUTPUT * known.output
    return tokens * max(1.0, turns / SESSION_TURNS) / _PER


def effort_of(model: str) -> str | None:
    """Return the effort to ask a judge for, None for a model that is not known to take one."""
    known = price(model)
    return str(_TABLE["judge_effort"]) if known is not None and known.effort else None


def context_of(model: str) -> int | None:
    """Return how many tokens a prompt and its answer may take together, None where that is unknown."""
    known = price(model)
    return None if known is None else known.context


def about(characters: int) -> int:
    """Estimate how many tokens a text of so many characters is."""
    return math.ceil(characters / CHARACTERS_PER_TOKEN)


def texts(body: Mapping[str, Any]) -> Iterator[str]:
    """Yield every text of a request's body that the model reads: of its system prompt, its messages and its schema."""
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


def _known(model: str) -> str | None:
    """Return the name in the table of a model by any of its names, None where it is none of the table's."""
    name = _SNAPSHOT.sub("", _EDITION.sub("", _VENDORS.sub("", model[:_LONGEST_NAME].lower())))
    return name if name in _MODELS else None
