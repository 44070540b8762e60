"""Answers requests: from what was kept, else from a provider, within breaker, budget and retries.

Every request comes out with an :class:`~skillgate.model.exchange.Answer`, whatever the provider did, so that one that
fails leaves a hole in a report and no more.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from skillgate.llm.breaker import Breaker, StoppedError
from skillgate.llm.classify import classify
from skillgate.llm.port import ProviderError
from skillgate.llm.retrying import Policy, persistent
from skillgate.model.exchange import Answer, Cause, Status, Tokens

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from skillgate.llm.answers import Answers
    from skillgate.llm.budget import Budget, Reservation
    from skillgate.llm.port import Provider
    from skillgate.llm.recording import Recorder
    from skillgate.model.exchange import Reply, Request

TIMEOUT_S = 600.0  # of one try, as the SDK's own default: a long answer is given in one piece


class PortAsker:
    """Asks one provider. Thread-safe.

    Attributes:
        breaker: which says whether the run ended early, and ends it: ``asker.breaker.trip("…")``.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        budget: Budget,
        answers: Answers | None = None,
        retrying: Policy = Policy(),  # noqa: B008 - it is a value
        breaker: Breaker | None = None,
        recorder: Recorder | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """Take whom to ask and what to keep to.

        Args:
            provider: sends requests.
            budget: is asked before anything is sent; ``free`` for a provider whose answers cost nothing.
            answers: those of earlier runs, None for none.
            retrying: how long to keep trying.
            breaker: None for one of its own; with an event of the driver's, Ctrl-C ends its waits.
            recorder: writes down what was answered, None for nothing.
            timeout_s: of one try.
        """
        self.breaker = breaker if breaker is not None else Breaker()
        self._provider = provider
        self._budget = budget
        self._answers = answers
        self._policy = retrying
        self._recorder = recorder
        self._timeout_s = timeout_s

    def ask(self, request: Request) -> Answer:
        """Answer a request; blocks until there is an outcome."""
        with self._turn(request) as kept:
            answer = kept if kept is not None else self._asked(request)
        if self._recorder is not None:
            self._recorder.record(request, answer, self._provider)
        return answer

    def _turn(self, request: Request) -> AbstractContextManager[Answer | None]:
        return nullcontext() if self._answers is None else self._answers.turn(request, self._provider)

    def _asked(self, request: Request) -> Answer:
        model = _model(request)
        stopped = self.breaker.reason(model)
        if stopped is not None:
            return _unasked(Cause.STOPPED, stopped)
        reservation = self._budget.reserve(request)
        if reservation is None:
            stopped = self.breaker.reason(model)  # while it waited
            reason = self._budget.reason or "the budget is used up"
            return _unasked(Cause.BUDGET, reason) if stopped is None else _unasked(Cause.STOPPED, stopped)
        tries = _Tries(request, self._provider, self.breaker, self._timeout_s)
        settled = False
        try:
            reply = persistent(tries.send, self._policy, tries.pause)
            answer = self._answer(request, reply, reservation, tries.sent)
            settled = True
        except ProviderError as error:
            self.breaker.failed(error, model)
            cost: float | None = 0.0
            if error.cause is Cause.REPLY:  # something came, and was paid for; how much nobody can tell
                cost, settled = self._budget.settle(reservation, None, model), True
            reason = f"{error} (after {tries.sent} tries)" if tries.sent > 1 else str(error)
            answer = Answer(Status.ERROR, cause=error.cause, reason=reason, sent=tries.sent, cost_usd=cost)
        except StoppedError as error:
            answer = _unasked(Cause.STOPPED, str(error))._replace(sent=tries.sent)
        finally:
            if not settled:
                self._budget.release(reservation, sent=tries.sent > 0)
        return answer

    def _answer(self, request: Request, reply: Reply, reservation: Reservation, sent: int) -> Answer:
        """Count a reply, which was paid for whatever it is worth, and keep it where it is an answer."""
        cost = self._budget.settle(reservation, reply.tokens, reply.model)
        self.breaker.answered()
        found = classify(request, reply)
        if found.status is Status.OK and self._answers is not None:
            self._answers.put(request, self._provider, reply)
            if request.instead_of is not None:
                self._answers.put(request.instead_of, self._provider, reply)
        return Answer(
            found.status,
            found.value,
            reply,
            found.cause,
            found.reason,
            sent=sent,
            cost_usd=cost,
            tokens=reply.tokens or Tokens(),
        )


class _Tries:
    """The tries of one request; ``sent`` counts them."""

    def __init__(self, request: Request, provider: Provider, breaker: Breaker, timeout_s: float) -> None:
        self.sent = 0
        self._request = request
        self._provider = provider
        self._breaker = breaker
        self._timeout_s = timeout_s

    def send(self) -> Reply:
        self._breaker.check(_model(self._request))
        self.sent += 1
        return self._provider.send(self._request, timeout_s=self._timeout_s)

    def pause(self, seconds: float) -> None:
        self._breaker.pause(seconds, _model(self._request))


def _model(request: Request) -> str:
    return str(request.body.get("model", ""))


def _unasked(cause: Cause, reason: str) -> Answer:
    return Answer(Status.ERROR, cause=cause, reason=reason)
