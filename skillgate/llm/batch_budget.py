"""A budget for batches: half the price, and nobody waits in it.

A request that does not fit now may fit once those that are out have turned out cheaper than feared. With threads it
waits for that; a driver of batches, which is one thread, is told so and asks again when a batch has ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.llm import prices
from skillgate.llm.budget import Budget, Reservation
from skillgate.model.exchange import SCRIPTED_PREFIX

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.model.exchange import Request, Tokens


class BatchBudget(Budget):
    """What a run of batches may spend.

    Attributes:
        later: whether the last refusal of :meth:`reserve` holds only until something that is out has been settled.
    """

    later: bool = False

    def hold(self, request: Request) -> Reservation:
        """Count a request that is out already, sent by a run that was interrupted: it is paid for, whatever is left."""
        model = str(request.body.get("model", ""))
        with self._change:
            return self._reserved(model, self._most(request.body, model))

    def _fits(self, usd: float, *, held: bool = False) -> bool:
        """Say whether one more request may be sent now; never waits. Under the lock."""
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

    def counted(self, reservation: Reservation, tokens: Tokens | None, model: str, *, requests: int = 1) -> float:
        """Give what a reply counts against the limit: at least the price of the model that was asked for."""
        if self.free:
            return 0.0
        names = {reservation.model} if model.startswith(SCRIPTED_PREFIX) else {reservation.model, model}
        costs = [
            None if tokens is None else prices.cost(name, tokens, batch=True, requests=requests)
            for name in names
            if name
        ]
        return max(reservation.usd if cost is None else cost for cost in costs or [None])
