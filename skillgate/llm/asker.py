"""Answers requests: from the run's journal, from the cache, else from a provider; within breaker, budget, retries.

Every request comes out with an :class:`~skillgate.model.exchange.Answer`, whatever the provider did, so that one that
fails leaves a hole in a report and no more.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from itertools import pairwise
from time import monotonic
from typing import TYPE_CHECKING

from skillgate.llm.flow import CircuitBreaker, RateLimiter, RetryPolicy, StoppedError, with_retries
from skillgate.llm.port import ProviderError
from skillgate.llm.replies import UNREADABLE, classify, outgrown
from skillgate.model.exchange import Answer, Cause, Status, Tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.llm.answers import Answers
    from skillgate.llm.budget import Budget, Reservation
    from skillgate.llm.journal import Journal
    from skillgate.llm.port import Provider
    from skillgate.llm.providers.replay import Recorder
    from skillgate.model.exchange import Reply, Request

TIMEOUT_S = 600.0  # of one try, as the SDK's own default: a long answer is given in one piece


class Records:
    """Where a run's answers are stored: its journal, the cache between runs, a recording; each may be None."""

    def __init__(
        self,
        provider: Provider,
        budget: Budget,
        answers: Answers | None,
        journal: Journal | None,
        recorder: Recorder | None,
    ) -> None:
        """Take them; what earlier processes of the run spent is charged to the budget."""
        self.answers = answers
        self.journal = journal
        self._provider = provider
        self._recorder = recorder
        if journal is not None:
            journal.charge(budget)

    def resumed(self, request: Request) -> Answer | None:
        """Return what this run was answered in an earlier process, and cache it where that could not any more."""
        answer = None if self.journal is None else self.journal.get(request, self._provider)
        if answer is not None and answer.reply is not None:
            self.cache(request, answer.reply, answer.status)
        return answer

    def reused(self, request: Request, cached: Answer | None) -> Answer | None:
        """Note that what was cached is used, since it may have gone when this run is resumed."""
        if cached is not None and cached.reply is not None and self.journal is not None:
            self.journal.reused(request, self._provider, cached.reply, cached.first_seconds)
        return cached

    def cache(self, request: Request, reply: Reply, status: Status, seconds: float | None = None) -> None:
        """Cache a reply whatever it is worth, or the next run would draw the bad ones anew, and them alone."""
        if self.answers is None:
            return
        self.answers.put(request, self._provider, reply, seconds=seconds)
        if request.instead_of is not None and status is Status.OK:
            self.answers.put(request.instead_of, self._provider, reply, seconds=seconds)

    def record(self, request: Request, answer: Answer, provider: Provider) -> None:
        """Write an answer down in the recording."""
        if self._recorder is not None:
            self._recorder.record(request, answer, provider)


class PortAsker:
    """Asks one provider. Thread-safe. ``asker.breaker.trip("…")`` ends the run early."""

    def __init__(
        self,
        provider: Provider,
        *,
        budget: Budget,
        answers: Answers | None = None,
        journal: Journal | None = None,
        retrying: RetryPolicy = RetryPolicy(),  # noqa: B008 - it is a value
        breaker: CircuitBreaker | None = None,
        recorder: Recorder | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """Take whom to ask and what to keep to; each try has ``timeout_s``.

        The journal may have begun in an earlier process. A breaker with an event of the driver's ends waits at Ctrl-C.
        """
        self.breaker = breaker if breaker is not None else CircuitBreaker()
        self.provider = provider
        self.budget = budget
        self.records = Records(provider, budget, answers, journal, recorder)
        self._policy = retrying
        self.timeout_s = timeout_s
        self.limiter = RateLimiter()

    def ask(self, request: Request) -> Answer:
        """Answer a request; blocks until there is an outcome."""
        records = self.records
        answers = records.answers
        with nullcontext() if answers is None else answers.exclusive(request, self.provider) as cached:
            answer = records.resumed(request) or records.reused(request, cached) or self._send(request)
        records.record(request, answer, self.provider)
        return answer

    def _send(self, request: Request) -> Answer:
        stopped = self.breaker.reason(*_whom(request))
        if stopped is not None:
            return Answer(Status.ERROR, cause=Cause.STOPPED, reason=stopped)
        reservation = self.budget.reserve(request)
        if reservation is None:
            return self._refused(request)
        tries = _Tries(self, request, reservation)
        try:
            reply = with_retries(tries.send, self._policy, tries.pause)
            return self._answer(request, reply, reservation, tries)
        except ProviderError as error:
            self.breaker.failed(error, *_whom(request), session="runner" in request.body)
            reason = f"{error} (after {tries.count})" if tries.sent > 1 else str(error)
            answer = Answer(Status.ERROR, cause=error.cause, reason=reason)
        except StoppedError as error:
            answer = Answer(Status.ERROR, cause=Cause.STOPPED, reason=str(error))
        except _SpentError:
            answer = self._refused(request)
            answer = answer._replace(reason=f"{answer.reason} (after {tries.count}; the last: {tries.failure})")
        finally:  # ends a reservation that no reply has ended
            if not tries.lost:
                self.budget.release(reservation, sent=tries.sent > 0)
            # What a lost answer cost is not known; one before the last try was counted when it was sent again.
            cost = self.budget.settle(reservation, None, reservation.model) if tries.has_lost else 0.0
        return answer._replace(sent=tries.sent, cost_usd=cost)

    def _refused(self, request: Request) -> Answer:
        """Say why the budget let nothing through."""
        stopped = self.breaker.reason(*_whom(request))  # while it waited
        if stopped is not None:
            return Answer(Status.ERROR, cause=Cause.STOPPED, reason=stopped)
        return Answer(Status.ERROR, cause=Cause.BUDGET, reason=self.budget.reason or "the budget is used up")

    def _answer(self, request: Request, reply: Reply, reservation: Reservation, tries: _Tries) -> Answer:
        """Count a reply, which was paid for whatever it is worth, and store it."""
        with tries.reading():
            requests = requests_of(request, reply)
            counted = self.budget.counted(reservation, reply.tokens, reply.model, requests=requests)
            cost = self.budget.settle(reservation, reply.tokens, reply.model, requests=requests)
            result = classify(request, reply)
        if self.records.journal is not None:
            self.records.journal.got(request, self.provider, reply, cost, counted)
        self.breaker.answered(request.subject)
        self.records.cache(request, reply, result.status, tries.seconds)
        tokens = reply.tokens or Tokens()
        return result.answer(reply)._replace(sent=tries.sent, cost_usd=cost, tokens=tokens, seconds=tries.seconds)


class _SpentError(Exception):
    """The budget lets no further try through."""


class _Tries:
    """The tries of one request."""

    def __init__(self, asker: PortAsker, request: Request, reservation: Reservation) -> None:
        self.sent = 0
        self.lost = self.has_lost = False  # whether the last one, or any, may have been answered and paid for in vain
        self.failure = ""  # of the last one that failed
        self.seconds = 0.0  # of the last one
        self._asker = asker
        self._request = request
        self._reservation = reservation

    @property
    def count(self) -> str:
        return f"{self.sent} {'try' if self.sent == 1 else 'tries'}"

    def send(self) -> Reply:
        self._check()
        if self.sent:
            lost, self.lost = self.lost, False
            if not self._asker.budget.reserve_retry(self._reservation, lost=lost):
                raise _SpentError
            self._check()  # it may have waited
        with self._asker.limiter.slot(self._check), self.reading():
            self.sent += 1
            journal = self._asker.records.journal
            if journal is not None:
                journal.sent(self._request, self._asker.provider, self._reservation.usd)
            began = monotonic()
            try:
                reply = self._asker.provider.send(self._request, timeout_s=self._asker.timeout_s)
            except ProviderError as error:
                if error.cause is Cause.RATE:
                    self._asker.limiter.refused()
                if error.cause is not Cause.TOO_LONG:
                    raise
                reply = outgrown(self._request, error)
            self.seconds = monotonic() - began
            self._asker.limiter.answered()
            return reply

    def pause(self, seconds: float) -> None:
        self._asker.breaker.pause(seconds, *_whom(self._request))

    def _check(self) -> None:
        self._asker.breaker.check(*_whom(self._request))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Note what becomes of a try, and take a reply that nothing can be made of for a lost one."""
        try:
            yield
        except ProviderError as error:
            self._note(error)
            raise
        except UNREADABLE as error:
            # Without the error's own words: it may quote what was sent.
            failure = ProviderError(Cause.REPLY, f"the reply cannot be read ({type(error).__name__})")
            self._note(failure)
            raise failure from None

    def _note(self, error: ProviderError) -> None:
        self.failure = str(error)
        self.lost = error.lost
        self.has_lost = self.has_lost or error.lost
        journal = self._asker.records.journal
        if journal is not None:
            cost = None if error.lost and not self._asker.budget.free else 0.0
            journal.lost(self._request, self._asker.provider, cost)


def requests_of(request: Request, reply: Reply) -> int:
    """Count the requests that a reply took: one, or those of a session, each of which ends with calls or the session.

    Calls of one request whose results came one by one look like several: then there are a few more.
    """
    if "runner" not in request.body:
        return 1
    results = (block.get("type") == "tool_result" for block in reply.content)
    return 1 + sum(1 for is_result, is_next in pairwise(results) if is_result and not is_next)


def _whom(request: Request) -> tuple[str, str]:
    """Return the model that is asked and what it is asked about, as the breaker knows both."""
    return str(request.body.get("model", "")), request.subject
