"""What models cost and can do, and what a run may spend.

The table, ``prices.json``, is dated and says where its figures are from. A model that is not in it has no price: its
cost is unknown, never 0. Prices change; nothing here decides a score.

A run may be limited in money, calls or both; what does not fit any more is not sent, and not measured. A request is
sent only if its maximum cost, together with that of those on their way, fits into what is left. So the limit holds with
any number of them in flight, and is never reached by surprise.

What counts against the limit may be more than what is reported as spent. An answer that was lost on its way, or that
gives no tokens, counts with its maximum cost. One that names another model than the one requested counts with the
higher of both prices, since the name in an answer is self-reported.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from skillgate import settings
from skillgate.errors import UsageError
from skillgate.model.exchange import SCRIPTED_PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from skillgate.model.exchange import Request, Tokens

CHARACTERS_PER_TOKEN = 2.6
"""Of instructions in English: 2.57 over 181 public skills with the current vocabulary; the median error is 8 %."""
MOST_TOKENS = 10**9  # of one reply: a thousand times what the largest context takes. A larger count is none
SESSION_PROMPT, SESSION_OUTPUT, SESSION_TURNS = 200_000, 32_000, 10
"""Maximum tokens of a session of so many turns that a runner leads, all its requests together. It is several times what
a session usually takes, since each request holds the ones before."""
_PER = 1_000_000  # tokens that a price is for
_HOUR_FACTOR = 2.0  # what the price of input is multiplied with for tokens that the cache keeps for an hour


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


def cost(model: str, tokens: Tokens, *, batch: bool = False, requests: int = 1, for_an_hour: int = 0) -> float | None:
    """Return what one reply cost in US dollars, or a whole session; None where the model's price is unknown.

    The tokens are those of all ``requests`` of a session. Whether a prompt was long is a matter of each request, which
    is taken to have had the same share. Of the tokens written to the cache, ``for_an_hour`` stay there for an hour.
    """
    known = price(model)
    if known is None:
        return None
    prompt = (tokens.input + tokens.cache_read + tokens.cache_write) // requests
    factor = known.factor(prompt) * (BATCH_FACTOR if batch else 1.0)
    total = tokens.input * known.input + tokens.output * known.output
    total += tokens.cache_read * known.cache_read + tokens.cache_write * known.cache_write
    total += for_an_hour * (_HOUR_FACTOR * known.input - known.cache_write)
    return total * factor / _PER


def most(model: str, prompt: int, output: int) -> float | None:
    """Return the maximum cost of a request in US dollars, None where the model's price is unknown.

    ``prompt`` and ``output`` are the most tokens of each; all of the prompt may be written to the prompt cache, which
    costs more than reading.
    """
    known = price(model)
    if known is None:
        return None
    dearest = max(known.input, known.cache_write)
    return (prompt * dearest + output * known.output) * known.factor(prompt) / _PER


def session_most(model: str, turns: int) -> float | None:
    """Return the maximum cost in US dollars of a session that a runner leads, None where the price is unknown.

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
    """Return the name in the table of a model by any of its names, None if it is not in the table."""
    name = _SNAPSHOT.sub("", _EDITION.sub("", _VENDORS.sub("", model[:_LONGEST_NAME].lower())))
    return name if name in _MODELS else None


ENVELOPE_TOKENS = 1_000  # what the provider adds to a prompt: roles, and its own words that go with a JSON schema


class Reservation(NamedTuple):
    """Permission to send one request, and its maximum cost; 0 if nothing limits the cost."""

    number: int
    model: str
    usd: float


class Spent(NamedTuple):
    """What a run has spent."""

    calls: int = 0
    usd: float = 0.0  # as far as it is known
    counted: float = 0.0  # against a limit of the cost, which may be more
    unpriced: tuple[str, ...] = ()  # models of which some cost is unknown, sorted


class Budget:
    """Counts what is spent and holds back what would exceed it. Thread-safe."""

    def __init__(
        self,
        max_cost_usd: float | None = None,
        max_calls: int | None = None,
        *,
        free: bool = False,
        stop: threading.Event | None = None,
    ) -> None:
        """Take the limits, None for none; retries are calls, too.

        Answers may be ``free``, as scripted and replayed ones. Once ``stop`` is set, no waiting request is sent.
        """
        self.reason: str | None = None  # why a request was refused
        self._max_cost_usd = None if free else max_cost_usd
        self._max_calls = max_calls
        self._own_usd: float | None = None  # of the limit that no option set
        self._before = 0.0  # what earlier processes had spent when that began to hold
        self.free = free
        self._stop = stop if stop is not None else threading.Event()
        self._change = threading.Condition()
        self._open: dict[int, float] = {}
        self._unpriced: set[str] = set()
        self._spent = 0.0  # what counts against the limit
        self._known = 0.0
        self._calls = 0
        self._numbers = 0

    @property
    def spent(self) -> float:
        """What was spent as far as prices are known, in US dollars; less than all where ``unpriced`` is not empty."""
        with self._change:
            return self._known

    @property
    def unpriced(self) -> tuple[str, ...]:
        """The models that have an unknown price, or gave no count of tokens, sorted."""
        with self._change:
            return tuple(sorted(self._unpriced))

    @property
    def calls(self) -> int:
        """How often a request was sent, retries and those on their way included."""
        with self._change:
            return self._calls

    @property
    def exhausted(self) -> bool:
        """Whether a request was refused."""
        return self.reason is not None

    def require_prices(self, models: Iterable[str]) -> None:
        """Raise UsageError where the cost is limited and the price of one of these models unknown."""
        unknown = sorted({model for model in models if price(model) is None})
        if self._max_cost_usd is not None and unknown:
            raise UsageError(
                f"{settings.MAX_COST_USD.key} cannot be enforced: the price of {', '.join(unknown)} is unknown"
                f" (table of {DATE}); limit the run with {settings.MAX_CALLS.key} instead"
            )

    def bound(self, usd: float) -> None:
        """Hold the run to a limit of its own where no option sets one; a lower one than before changes nothing.

        What earlier processes of the run spent does not count against it: the estimate that it comes from, which is far
        lower, is of what is left to do. A model without a price is not held back by it.
        """
        with self._change:
            has_limit = self._max_calls is not None or (self._max_cost_usd is not None and self._own_usd is None)
            if self.free or has_limit:
                return
            if self._own_usd is None:
                self._before = self._spent
            self._own_usd = max(usd, self._own_usd or 0.0)
            self._max_cost_usd = self._before + self._own_usd
            self._change.notify_all()

    @property
    def total(self) -> Spent:
        """All that was spent, what was carried over included; what is on its way counts with the most it can cost."""
        with self._change:
            counted = self._spent + sum(self._open.values())
            return Spent(self._calls, self._known, counted, tuple(sorted(self._unpriced)))

    def carry(self, spent: Spent) -> None:
        """Count what earlier processes of the same run spent, so that the limits hold over all of it."""
        with self._change:
            self._calls += spent.calls
            self._known += spent.usd
            self._spent += spent.counted
            self._unpriced.update(spent.unpriced)

    def reserve(self, request: Request) -> Reservation | None:
        """Ask to send a request, None for no, then ``reason`` says why; waits while others may turn out cheaper."""
        model = str(request.body.get("model", ""))
        usd = self._most(request.body, model)
        with self._change:
            return self._reserved(model, usd) if self._fits(usd) else None

    def reserve_retry(self, reservation: Reservation, *, lost: bool) -> bool:
        """Ask to send a request once more under its reservation; waits as :meth:`reserve` does.

        If the last try was ``lost``, it may have been answered and paid for. So its maximum cost stays spent, and as
        much is reserved for the next one. Returns whether it may be sent; if not, ``reason`` says why.
        """
        with self._change:
            held = self._open.pop(reservation.number, 0.0) if lost else 0.0
            self._spent += held
            if lost and not self.free:
                self._unpriced.add(reservation.model)
            self._change.notify_all()
            if not self._fits(held, held=not lost):
                return False
            self._calls += 1
            if lost:
                self._open[reservation.number] = held
            return True

    def settle(self, reservation: Reservation, tokens: Tokens | None, model: str, *, requests: int = 1) -> float | None:
        """Count what a reply cost, and end its reservation; return US dollars, None where that is unknown.

        Tokens and model are as the reply says; of a session the tokens are those of all its ``requests`` together.
        """
        paid = self._cost(reservation, tokens, model, requests)
        counted = self.counted(reservation, tokens, model, requests=requests)
        with self._change:
            if self._open.pop(reservation.number, None) is not None:
                self._spent += counted
                self._known += paid or 0.0
                if paid is None:
                    self._unpriced.add(model or reservation.model)
            self._change.notify_all()
        return paid

    def release(self, reservation: Reservation, *, sent: bool = True) -> None:
        """End a reservation under which no reply came.

        One that was ``sent`` in vain, and refused or never got there, is a call. One whose answer may have been lost is
        settled instead, without tokens.
        """
        with self._change:
            if self._open.pop(reservation.number, None) is not None and not sent:
                self._calls -= 1
            self._change.notify_all()

    def counted(self, reservation: Reservation, tokens: Tokens | None, model: str, *, requests: int = 1) -> float:
        """Return what a reply counts against the limit: at least the price of the model that was requested.

        A session counts as if one of its prompts had been as long as all, up to the maximum that its runner allows.
        """
        if self.free:
            return 0.0
        names = self._names(reservation, model)
        costs = [None if tokens is None else cost(name, tokens, requests=requests) for name in names]
        least = max(reservation.usd if usd is None else usd for usd in costs)
        if requests == 1 or tokens is None:
            return least
        return max(least, min(reservation.usd, *(cost(name, tokens) or 0.0 for name in names)))

    def _names(self, reservation: Reservation, model: str) -> set[str]:
        return (
            {reservation.model}
            if model.startswith(SCRIPTED_PREFIX)
            else {reservation.model, model or reservation.model}
        )

    def _most(self, body: Mapping[str, object], model: str) -> float:
        """Return the maximum cost of a request: no token is shorter than a byte of the prompt's UTF-8.

        A session that a runner leads costs what its runner lets it cost.
        """
        if self._max_cost_usd is None:
            return 0.0
        if "runner" in body:
            turns = body.get("max_turns")
            usd = session_most(model, turns if isinstance(turns, int) else 1)
        else:
            size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts(body))
            longest = body.get("max_tokens")
            output = longest if isinstance(longest, int) else context_of(model) or 0
            usd = most(model, size + ENVELOPE_TOKENS, output)
        if usd is None:
            return float("inf") if self._own_usd is None else 0.0
        return usd

    def _cost(self, reservation: Reservation, tokens: Tokens | None, model: str, requests: int) -> float | None:
        if self.free or model.startswith(SCRIPTED_PREFIX):
            return 0.0
        if tokens is None:
            return None
        return cost(model or reservation.model, tokens, requests=requests)

    def _fits(self, usd: float, *, held: bool = False) -> bool:
        """Wait until one more request may be sent; False where it may not. Under the lock.

        ``usd`` is its maximum cost, ``held`` whether that is reserved already.
        """
        while not self._stop.is_set():
            if self._max_calls is not None and self._calls >= self._max_calls:
                self._refuse(f"the {self._max_calls} calls that {settings.MAX_CALLS.key} allows are used up")
                return False
            if held or self._max_cost_usd is None:
                return True
            if self._spent + sum(self._open.values()) + usd <= self._max_cost_usd:
                return True
            if not self._open:
                self._refuse(self._too_dear(usd))
                return False
            self._change.wait()
        return False

    def _reserved(self, model: str, usd: float) -> Reservation:
        self._numbers += 1
        self._calls += 1
        self._open[self._numbers] = usd
        return Reservation(self._numbers, model, usd)

    def _refuse(self, reason: str) -> None:
        self.reason = self.reason or reason

    def _too_dear(self, usd: float) -> str:
        if usd == float("inf"):
            return f"the price of a model is unknown, so {settings.MAX_COST_USD.key} cannot be enforced"
        left = max(0.0, (self._max_cost_usd or 0.0) - self._spent)
        if self._own_usd is not None:
            option = f"--{settings.MAX_COST_USD.key}"
            about = f"${left:.4f} is left of ${self._own_usd:.2f}, the maximum cost of a run without {option}"
            return f"{about}, and one more request may cost ${usd:.4f}: give {option}"
        limit = f"{settings.MAX_COST_USD.key} {self._max_cost_usd:g}"
        return f"${left:.4f} of {limit} is left, and one more request may cost ${usd:.4f}"


class BatchBudget(Budget):
    """A budget for batches: half the price, and no waiting.

    A request that does not fit now may fit once those that are out have turned out cheaper than feared. A driver of
    batches, which is one thread, cannot wait for that; it tries once more when a batch has ended.
    """

    later: bool = False  # whether the last refusal holds only until something that is out has been settled

    def hold(self, request: Request) -> Reservation:
        """Count a request that is out already, sent by a run that was interrupted: it is paid for, whatever is left."""
        model = str(request.body.get("model", ""))
        with self._change:
            return self._reserved(model, self._most(request.body, model))

    def counted(self, reservation: Reservation, tokens: Tokens | None, model: str, *, requests: int = 1) -> float:
        """Return what a reply counts against the limit: at least the price of the model that was requested."""
        if self.free:
            return 0.0
        if tokens is None:
            return reservation.usd
        names = filter(None, self._names(reservation, model))
        costs = [cost(name, tokens, batch=True, requests=requests) for name in names]
        return max((reservation.usd if usd is None else usd for usd in costs), default=reservation.usd)

    def _fits(self, usd: float, *, held: bool = False) -> bool:
        """Return whether one more request may be sent now; never waits. Under the lock."""
        self.later = False
        limit = self._max_cost_usd
        if held or limit is None or not self._open or self._stop.is_set():
            return super()._fits(usd, held=held)
        if self._max_calls is not None and self._calls >= self._max_calls:
            return super()._fits(usd)
        if self._spent + sum(self._open.values()) + usd <= limit:
            return True
        self.later = self._spent + usd <= limit
        if not self.later:
            self._refuse(self._too_dear(usd))
        return False

    def _most(self, body: Mapping[str, object], model: str) -> float:
        return super()._most(body, model) * BATCH_FACTOR

    def _cost(self, reservation: Reservation, tokens: Tokens | None, model: str, requests: int) -> float | None:
        full = super()._cost(reservation, tokens, model, requests)
        return None if full is None else full * BATCH_FACTOR
