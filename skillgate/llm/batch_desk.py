"""What becomes of the requests of batches: answered from what is kept, paid for, written down, given to who wants them.

The same rules as for single requests, without threads; a request may have several who want it.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from skillgate.llm.classify import classify, outgrown
from skillgate.llm.crew import Outcome
from skillgate.llm.port import ProviderError
from skillgate.model.exchange import Answer, Cause, Status, Tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.llm.answers import Answers
    from skillgate.llm.batch_budget import BatchBudget
    from skillgate.llm.batch_post import BatchProvider
    from skillgate.llm.budget import Reservation
    from skillgate.llm.journal import Journal
    from skillgate.llm.recording import Recorder
    from skillgate.llm.waiting import Place
    from skillgate.model.exchange import Reply, Request

Owner = TypeVar("Owner")

UNREADABLE = (OverflowError, ValueError, RecursionError)
"""What a reply can cause that nobody foresaw, as with single requests; any other exception is a bug of this program."""


class Wish(Generic[Owner]):
    """A request without an answer, and all who want it.

    Attributes:
        key: of the request.
        places: of all who want it, the first to ask first.
        reservation: under which it is submitted, None where it is not.
        sent: how often it was submitted.
        has_lost: whether an answer to it may have been paid for in vain.
    """

    __slots__ = ("has_lost", "key", "places", "request", "reservation", "sent")

    def __init__(self, key: str, place: Place[Owner]) -> None:
        """Begin with the first who wants it."""
        self.key = key
        self.request = place.request
        self.places = [place]
        self.reservation: Reservation | None = None
        self.sent = 0
        self.has_lost = False

    @property
    def model(self) -> str:
        """The model that is asked."""
        return str(self.request.body.get("model", ""))


class Desk(Generic[Owner]):
    """Keeps account of requests. For one thread.

    Attributes:
        ready: answers that were not taken yet.
    """

    def __init__(
        self,
        provider: BatchProvider,
        budget: BatchBudget,
        answers: Answers | None,
        journal: Journal | None,
        recorder: Recorder | None,
    ) -> None:
        """Take what to keep account with; what earlier processes of the run spent is charged to the budget."""
        self.ready: deque[tuple[Place[Owner], Outcome]] = deque()
        self._provider = provider
        self._whom = provider.kept_as
        self._budget = budget
        self._answers = answers
        self._journal = journal
        if journal is not None:
            journal.charge(budget)
        self._recorder = recorder

    def read(self, wish: Wish[Owner], result: Mapping[str, Any]) -> Reply:
        """Read the result of a request.

        Raises:
            ProviderError: it is no reply, or none that can be read.
        """
        try:
            return self._provider.reply(wish.request, result)
        except ProviderError as error:
            if error.cause is Cause.TOO_LONG:
                return outgrown(wish.request, error)
            raise
        except UNREADABLE as error:
            why = f"the reply cannot be read ({type(error).__name__})"  # its own words may quote what was sent
        raise ProviderError(Cause.REPLY, why)

    def lost(self, wish: Wish[Owner], error: ProviderError) -> None:
        """Note that a request was submitted and got no reply."""
        wish.has_lost = wish.has_lost or error.lost
        if self._journal is not None and wish.reservation is not None:
            self._journal.sent(wish.request, self._whom, wish.reservation.usd)
            cost = None if error.lost and not self._budget.free else 0.0
            self._journal.lost(wish.request, self._whom, cost)

    def kept(self, request: Request) -> Answer | None:
        """Give what this run was answered in an earlier process, or what another run kept."""
        if self._journal is not None and (answer := self._journal.get(request, self._whom)) is not None:
            self._keep(request, answer)
            return answer
        answer = None if self._answers is None else self._answers.get(request, self._whom)
        if answer is not None and answer.reply is not None and self._journal is not None:
            self._journal.kept(request, self._whom, answer.reply)
        return answer

    def fail(self, wish: Wish[Owner], error: ProviderError) -> None:
        """Answer all who want a request with why there is no reply."""
        cost: float | None = 0.0
        if wish.reservation is not None:
            if wish.has_lost:  # what a lost answer cost nobody can tell
                cost = self._budget.settle(wish.reservation, None, wish.model)
            else:
                self._budget.release(wish.reservation, sent=wish.sent > 0)
        reason = f"{error} (after {wish.sent} tries)" if wish.sent > 1 else str(error)
        answer = Answer(Status.ERROR, cause=error.cause, reason=reason, sent=wish.sent, cost_usd=cost)
        for place in wish.places:
            self.give(place, answer)
            answer = answer._replace(sent=0, cost_usd=0.0)

    def answered(self, wish: Wish[Owner], reply: Reply) -> None:
        """Count a reply, which was paid for whatever it is worth, keep it, and give it to all who want it."""
        assert wish.reservation is not None
        counted = self._budget.counted(wish.reservation, reply.tokens, reply.model)
        cost = self._budget.settle(wish.reservation, reply.tokens, reply.model)
        if self._journal is not None:
            self._journal.sent(wish.request, self._whom, wish.reservation.usd)
            self._journal.got(wish.request, self._whom, reply, cost, counted)
        for number, place in enumerate(wish.places):
            answer = _judged(place.request, reply)
            if number:
                answer = answer._replace(cached=True)
                if self._journal is not None:
                    self._journal.kept(place.request, self._whom, reply)
            else:
                answer = answer._replace(sent=wish.sent, cost_usd=cost, tokens=reply.tokens or Tokens())
            self._keep(place.request, answer)
            self.give(place, answer)

    def _keep(self, request: Request, answer: Answer) -> None:
        """Keep a reply that can be read, whatever it is worth, as for single requests."""
        if self._answers is None or answer.reply is None or answer.cause is Cause.REPLY:
            return
        self._answers.put(request, self._whom, answer.reply)
        if request.instead_of is not None and answer.status is Status.OK:
            self._answers.put(request.instead_of, self._whom, answer.reply)

    def give(self, place: Place[Owner], answer: Answer) -> None:
        """Have an answer taken by whoever wants it, and write it down."""
        if self._recorder is not None:
            self._recorder.record(place.request, answer, self._provider)
        self.ready.append((place, Outcome(answer)))


def _judged(request: Request, reply: Reply) -> Answer:
    try:
        found = classify(request, reply)
    except UNREADABLE as error:
        why = f"the reply cannot be read ({type(error).__name__})"
        return Answer(Status.ERROR, None, reply, Cause.REPLY, why)
    return Answer(found.status, found.value, reply, found.cause, found.reason)
