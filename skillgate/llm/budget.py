"""What a run may spend: money, calls or both. What does not fit any more is not sent, and not measured.

A request is let through only while the most that it could cost, with the most that those on their way could cost, fits
into what is left. So the limit holds with any number of them in flight, and is never reached by surprise.

What counts against the limit may be more than what is told as spent: an answer that was lost on its way, or that tells
no tokens, counts with the most that it can have cost, and one that names another model than the one asked for with the
dearer of both prices, since whoever answers says himself who he is.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings
from skillgate.errors import UsageError
from skillgate.llm import prices
from skillgate.llm.ledger import Spent
from skillgate.model.exchange import SCRIPTED_PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from skillgate.model.exchange import Request, Tokens

ENVELOPE_TOKENS = 1_000
"""What the provider adds to a prompt: roles, and its own words that go with a JSON schema."""


class Reservation(NamedTuple):
    """Leave to send one request.

    Attributes:
        number: tells it from the others of its budget.
        model: that is asked.
        usd: the most that it can cost; 0 where nothing limits the cost.
    """

    number: int
    model: str
    usd: float


class Budget:
    """Counts what is spent and holds back what would exceed it. Thread-safe.

    Attributes:
        reason: why a request was refused, None while none was.
        free: whether answers cost nothing.
    """

    def __init__(
        self,
        max_cost_usd: float | None = None,
        max_calls: int | None = None,
        *,
        free: bool = False,
        stop: threading.Event | None = None,
    ) -> None:
        """Take the limits.

        Args:
            max_cost_usd: in US dollars, None for none.
            max_calls: how often a request may be sent, tries again included; None for any number.
            free: whether the provider's answers cost nothing, as scripted and replayed ones.
            stop: once it is set, no request that waits for others is let through.
        """
        self.reason: str | None = None
        self._max_cost_usd = None if free else max_cost_usd
        self._max_calls = max_calls
        self._own_usd: float | None = None  # of the limit that nobody gave
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
        """What has an unknown price, or gave no count of tokens: the models, sorted."""
        with self._change:
            return tuple(sorted(self._unpriced))

    @property
    def calls(self) -> int:
        """How often a request was sent, tries again and those on their way included."""
        with self._change:
            return self._calls

    @property
    def exhausted(self) -> bool:
        """Whether a request was refused."""
        return self.reason is not None

    def require_prices(self, models: Iterable[str]) -> None:
        """Make sure that the limit can be kept.

        Raises:
            UsageError: the cost is limited and the price of one of these models unknown.
        """
        unknown = sorted({model for model in models if prices.price(model) is None})
        if self._max_cost_usd is not None and unknown:
            names = ", ".join(unknown)
            message = (
                f"{settings.MAX_COST_USD.key} cannot be kept: the price of {names} is unknown (table of {prices.DATE})"
            )
            raise UsageError(f"{message}; limit the run with {settings.MAX_CALLS.key} instead")

    def bound(self, usd: float) -> None:
        """Hold the run to a limit of its own where nobody gave one; a lower one than before changes nothing.

        What earlier processes of the run spent does not count against it: the estimate that it comes from is of what
        is left to do. A model without a price is not held back by it.

        Args:
            usd: in US dollars, far more than what the run was estimated to cost.
        """
        with self._change:
            given = self._max_calls is not None or (self._max_cost_usd is not None and self._own_usd is None)
            if self.free or given:
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
        """Ask to send a request; waits while it may still fit, once others have turned out cheaper than feared.

        Returns:
            None where it must not be sent; ``reason`` says why.
        """
        model = str(request.body.get("model", ""))
        usd = self._most(request.body, model)
        with self._change:
            return self._reserved(model, usd) if self._fits(usd) else None

    def again(self, reservation: Reservation, *, lost: bool) -> bool:
        """Ask to send a request once more under its reservation; waits as :meth:`reserve` does.

        Args:
            reservation: what :meth:`reserve` gave.
            lost: whether the last try may have been answered and paid for. Then it stays spent, with the most that it
                can have cost, and as much is held for the next one.

        Returns:
            Whether it may be sent; if not, ``reason`` says why.
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
        """Count what a reply cost.

        Args:
            reservation: under which it was asked for; it ends with this.
            tokens: as the reply tells, None where it does not.
            model: as the reply names it.
            requests: that a session took, whose tokens these are together.

        Returns:
            Its cost in US dollars, None where that is unknown.
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
        """Give a reservation back under which no reply came.

        Args:
            reservation: what :meth:`reserve` gave.
            sent: whether the request was sent in vain, and refused or never got there: then it is a call. One whose
                answer may have been lost is settled, without tokens.
        """
        with self._change:
            if self._open.pop(reservation.number, None) is not None and not sent:
                self._calls -= 1
            self._change.notify_all()

    def _most(self, body: Mapping[str, object], model: str) -> float:
        """Give the most that a request can cost: no token is shorter than a byte of the prompt's UTF-8.

        A session that a runner leads costs what its runner lets it cost.
        """
        if self._max_cost_usd is None:
            return 0.0
        unknown = float("inf") if self._own_usd is None else 0.0
        if "runner" in body:
            turns = body.get("max_turns")
            most = prices.session_most(model, turns if isinstance(turns, int) else 1)
            return unknown if most is None else most
        size = sum(len(text.encode("utf-8", "surrogatepass")) for text in prices.texts(body))
        longest = body.get("max_tokens")
        output = longest if isinstance(longest, int) else prices.context_of(model) or 0
        usd = prices.most(model, size + ENVELOPE_TOKENS, output)
        return unknown if usd is None else usd

    def _cost(self, reservation: Reservation, tokens: Tokens | None, model: str, requests: int) -> float | None:
        if self.free or model.startswith(SCRIPTED_PREFIX):
            return 0.0
        if tokens is None:
            return None
        return prices.cost(model or reservation.model, tokens, requests=requests)

    def counted(self, reservation: Reservation, tokens: Tokens | None, model: str, *, requests: int = 1) -> float:
        """Give what a reply counts against the limit: at least the price of the model that was asked for.

        A session counts as if one of its prompts had been as long as all, up to the most that its runner lets it cost.
        """
        if self.free:
            return 0.0
        names = {reservation.model}
        if not model.startswith(SCRIPTED_PREFIX):
            names.add(model or reservation.model)
        costs = [None if tokens is None else prices.cost(name, tokens, requests=requests) for name in names]
        least = max(reservation.usd if cost is None else cost for cost in costs)
        if requests == 1 or tokens is None:
            return least
        return max(least, min(reservation.usd, *(prices.cost(name, tokens) or 0.0 for name in names)))

    def _fits(self, usd: float, *, held: bool = False) -> bool:
        """Wait until one more request may be sent; False where it may not. Under the lock.

        Args:
            usd: the most that it can cost.
            held: whether that is held already.
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
