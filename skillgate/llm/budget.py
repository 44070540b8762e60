"""What a run may spend: money, calls or both. What does not fit any more is not sent, and not measured.

A request is let through only while the most that it could cost, with the most that those on their way could cost, fits
into what is left. So the limit holds with any number of them in flight, and is never reached by surprise.

What counts against the limit may be more than what is reported as spent: an answer that was lost on its way, or that
gives no tokens, counts with the most that it can have cost, and one that names another model than the one requested
with the dearer of both prices, since whatever answers names itself.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings
from skillgate.errors import UsageError
from skillgate.llm import prices
from skillgate.model.exchange import SCRIPTED_PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from skillgate.model.exchange import Request, Tokens

ENVELOPE_TOKENS = 1_000  # what the provider adds to a prompt: roles, and its own words that go with a JSON schema


class Reservation(NamedTuple):
    """Leave to send one request, and the most that it can cost; 0 where nothing limits the cost."""

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

        Answers may be ``free``, as scripted and replayed ones. Once ``stop`` is set, none that waits is let through.
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
        unknown = sorted({model for model in models if prices.price(model) is None})
        if self._max_cost_usd is not None and unknown:
            raise UsageError(
                f"{settings.MAX_COST_USD.key} cannot be kept: the price of {', '.join(unknown)} is unknown (table of"
                f" {prices.DATE}); limit the run with {settings.MAX_CALLS.key} instead"
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

        Where the last try was ``lost``, answered and paid for perhaps, it stays spent, with the most that it can have
        cost, and as much is held for the next one. Returns whether it may be sent; if not, ``reason`` says why.
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

        A session counts as if one of its prompts had been as long as all, up to the most that its runner lets it cost.
        """
        if self.free:
            return 0.0
        names = self._names(reservation, model)
        costs = [None if tokens is None else prices.cost(name, tokens, requests=requests) for name in names]
        least = max(reservation.usd if cost is None else cost for cost in costs)
        if requests == 1 or tokens is None:
            return least
        return max(least, min(reservation.usd, *(prices.cost(name, tokens) or 0.0 for name in names)))

    def _names(self, reservation: Reservation, model: str) -> set[str]:
        return (
            {reservation.model}
            if model.startswith(SCRIPTED_PREFIX)
            else {reservation.model, model or reservation.model}
        )

    def _most(self, body: Mapping[str, object], model: str) -> float:
        """Return the most that a request can cost: no token is shorter than a byte of the prompt's UTF-8.

        A session that a runner leads costs what its runner lets it cost.
        """
        if self._max_cost_usd is None:
            return 0.0
        if "runner" in body:
            turns = body.get("max_turns")
            usd = prices.session_most(model, turns if isinstance(turns, int) else 1)
        else:
            size = sum(len(text.encode("utf-8", "surrogatepass")) for text in prices.texts(body))
            longest = body.get("max_tokens")
            output = longest if isinstance(longest, int) else prices.context_of(model) or 0
            usd = prices.most(model, size + ENVELOPE_TOKENS, output)
        if usd is None:
            return float("inf") if self._own_usd is None else 0.0
        return usd

    def _cost(self, reservation: Reservation, tokens: Tokens | None, model: str, requests: int) -> float | None:
        if self.free or model.startswith(SCRIPTED_PREFIX):
            return 0.0
        if tokens is None:
            return None
        return prices.cost(model or reservation.model, tokens, requests=requests)

    def _fits(self, usd: float, *, held: bool = False) -> bool:
        """Wait until one more request may be sent; False where it may not. Under the lock.

        ``usd`` is the most that it can cost, ``held`` whether that is held already.
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
            return f"the price of a model is unknown, so that {settings.MAX_COST_USD.key} cannot be kept"
        left = max(0.0, (self._max_cost_usd or 0.0) - self._spent)
        if self._own_usd is not None:
            option = f"--{settings.MAX_COST_USD.key}"
            about = f"${left:.4f} is left of ${self._own_usd:.2f}, the most that a run without {option} may cost"
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
        costs = [prices.cost(name, tokens, batch=True, requests=requests) for name in names]
        return max((reservation.usd if cost is None else cost for cost in costs), default=reservation.usd)

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
        return super()._most(body, model) * prices.BATCH_FACTOR

    def _cost(self, reservation: Reservation, tokens: Tokens | None, model: str, requests: int) -> float | None:
        full = super()._cost(reservation, tokens, model, requests)
        return None if full is None else full * prices.BATCH_FACTOR
