"""Answers requests: from the run's journal, from what was kept, else from a provider; within breaker, budget, retries.

Every request comes out with an :class:`~skillgate.model.exchange.Answer`, whatever the provider did, so that one that
fails leaves a hole in a report and no more.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from time import monotonic
from typing import TYPE_CHECKING

from skillgate.llm.breaker import Breaker, StoppedError
from skillgate.llm.classify import classify, outgrown
from skillgate.llm.pace import Pace
from skillgate.llm.port import ProviderError
from skillgate.llm.retrying import Policy, persistent
from skillgate.llm.runners import requests_of
from skillgate.model.exchange import Answer, Cause, Status, Tokens

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from skillgate.llm.answers import Answers
    from skillgate.llm.budget import Budget, Reservation
    from skillgate.llm.journal import Journal
    from skillgate.llm.port import Provider
    from skillgate.llm.recording import Recorder
    from skillgate.model.exchange import Reply, Request

_UNREADABLE = (OverflowError, ValueError, RecursionError)
"""What a reply can cause that nobody foresaw: numbers that are too large, text that cannot be encoded, nesting. One bad
reply must not end the run; any other exception is a bug of this program, and does."""
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
        journal: Journal | None = None,
        retrying: Policy = Policy(),  # noqa: B008 - it is a value
        breaker: Breaker | None = None,
        recorder: Recorder | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """Take whom to ask and what to keep to.

        Args:
            provider: sends requests.
            budget: is asked each time before something is sent; ``free`` for a provider whose answers cost nothing.
            answers: those of earlier runs, None for none.
            journal: of this run, which may have begun in an earlier process; what that spent is charged to the budget.
            retrying: how long to keep trying.
            breaker: None for one of its own; with an event of the driver's, Ctrl-C ends its waits.
            recorder: writes down what was answered, None for nothing.
            timeout_s: of one try.
        """
        self.breaker = breaker if breaker is not None else Breaker()
        self._provider = provider
        self._budget = budget
        self._answers = answers
        self._journal = journal
        if journal is not None:
            journal.charge(budget)
        self._policy = retrying
        self._recorder = recorder
        self._timeout_s = timeout_s
        self._pace = Pace()

    def ask(self, request: Request) -> Answer:
        """Answer a request; blocks until there is an outcome."""
        with self._turn(request) as kept:
            answer = self._again(request) or self._used(request, kept) or self._asked(request)
        if self._recorder is not None:
            self._recorder.record(request, answer, self._provider)
        return answer

    def _turn(self, request: Request) -> AbstractContextManager[Answer | None]:
        return nullcontext() if self._answers is None else self._answers.turn(request, self._provider)

    def _again(self, request: Request) -> Answer | None:
        """Give what this run was answered in an earlier process, and keep it where that could not any more."""
        answer = None if self._journal is None else self._journal.get(request, self._provider)
        if answer is not None and answer.reply is not None:
            self._keep(request, answer.reply, None, status=answer.status)
        return answer

    def _used(self, request: Request, kept: Answer | None) -> Answer | None:
        """Note that what was kept is used, since it may have gone when this run is resumed."""
        if kept is not None and kept.reply is not None and self._journal is not None:
            self._journal.kept(request, self._provider, kept.reply, kept.first_seconds)
        return kept

    def _keep(self, request: Request, reply: Reply, seconds: float | None, *, status: Status) -> None:
        """Keep a reply whatever it is worth, or the next run would draw the bad ones anew, and them alone."""
        if self._answers is None:
            return
        self._answers.put(request, self._provider, reply, seconds=seconds)
        if request.instead_of is not None and status is Status.OK:
            self._answers.put(request.instead_of, self._provider, reply, seconds=seconds)

    def _asked(self, request: Request) -> Answer:
        stopped = self.breaker.reason(*_whom(request))
        if stopped is not None:
            return _unasked(Cause.STOPPED, stopped)
        reservation = self._budget.reserve(request)
        if reservation is None:
            return self._unlet(request)
        tries = _Tries(
            request, self._provider, self.breaker, self._pace, self._timeout_s, self._budget, reservation, self._journal
        )
        try:
            reply = persistent(tries.send, self._policy, tries.pause)
            return self._answer(request, reply, reservation, tries)
        except ProviderError as error:
            self.breaker.failed(error, *_whom(request), session="runner" in request.body)
            reason = f"{error} (after {_times(tries.sent)})" if tries.sent > 1 else str(error)
            answer = Answer(Status.ERROR, cause=error.cause, reason=reason)
        except StoppedError as error:
            answer = _unasked(Cause.STOPPED, str(error))
        except _SpentError:
            answer = self._unlet(request)
            answer = answer._replace(reason=f"{answer.reason} (after {_times(tries.sent)}; the last: {tries.failure})")
        finally:
            cost = self._given_back(reservation, tries)
        return answer._replace(sent=tries.sent, cost_usd=cost)

    def _unlet(self, request: Request) -> Answer:
        """Say why the budget let nothing through."""
        stopped = self.breaker.reason(*_whom(request))  # while it waited
        reason = self._budget.reason or "the budget is used up"
        return _unasked(Cause.BUDGET, reason) if stopped is None else _unasked(Cause.STOPPED, stopped)

    def _given_back(self, reservation: Reservation, tries: _Tries) -> float | None:
        """End a reservation that no reply has ended; give what was spent, None where an answer may have been lost."""
        if not tries.lost:
            self._budget.release(reservation, sent=tries.sent > 0)
        # What a lost answer cost nobody can tell; one before the last try was counted when it was sent again.
        return self._budget.settle(reservation, None, reservation.model) if tries.has_lost else 0.0

    def _answer(self, request: Request, reply: Reply, reservation: Reservation, tries: _Tries) -> Answer:
        """Count a reply, which was paid for whatever it is worth, and keep it."""
        with tries.reading():
            requests = requests_of(request, reply)
            counted = self._budget.counted(reservation, reply.tokens, reply.model, requests=requests)
            cost = self._budget.settle(reservation, reply.tokens, reply.model, requests=requests)
            found = classify(request, reply)
        if self._journal is not None:
            self._journal.got(request, self._provider, reply, cost, counted)
        self.breaker.answered(request.subject)
        self._keep(request, reply, tries.seconds, status=found.status)
        return Answer(
            found.status,
            found.value,
            reply,
            found.cause,
            found.reason,
            sent=tries.sent,
            cost_usd=cost,
            tokens=reply.tokens or Tokens(),
            seconds=tries.seconds,
        )


class _SpentError(Exception):
    """The budget lets no further try through."""


class _Tries:
    """The tries of one request.

    Attributes:
        sent: how many there were.
        lost: whether the last one may have been answered, and paid for, in vain.
        has_lost: whether any was.
        failure: what became of the last one that failed.
        seconds: that the last one took.
    """

    def __init__(
        self,
        request: Request,
        provider: Provider,
        breaker: Breaker,
        pace: Pace,
        timeout_s: float,
        budget: Budget,
        reservation: Reservation,
        journal: Journal | None,
    ) -> None:
        self.sent = 0
        self.lost = self.has_lost = False
        self.failure = ""
        self.seconds = 0.0
        self._request = request
        self._provider = provider
        self._breaker = breaker
        self._pace = pace
        self._timeout_s = timeout_s
        self._budget = budget
        self._reservation = reservation
        self._journal = journal

    def send(self) -> Reply:
        self._breaker.check(*_whom(self._request))
        if self.sent:
            lost, self.lost = self.lost, False
            if not self._budget.again(self._reservation, lost=lost):
                raise _SpentError
            self._breaker.check(*_whom(self._request))  # it may have waited
        with self._pace.turn(lambda: self._breaker.check(*_whom(self._request))), self.reading():
            self.sent += 1
            if self._journal is not None:
                self._journal.sent(self._request, self._provider, self._reservation.usd)
            began = monotonic()
            try:
                reply = self._provider.send(self._request, timeout_s=self._timeout_s)
            except ProviderError as error:
                if error.cause is Cause.RATE:
                    self._pace.refused()
                if error.cause is not Cause.TOO_LONG:
                    raise
                reply = outgrown(self._request, error)
            self.seconds = monotonic() - began
            self._pace.answered()
            return reply

    def pause(self, seconds: float) -> None:
        self._breaker.pause(seconds, *_whom(self._request))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Note what becomes of a try, and take a reply that nothing can be made of for a lost one."""
        try:
            yield
        except ProviderError as error:
            self._note(error)
            raise
        except _UNREADABLE as error:
            # Without the error's own words: it may quote what was sent.
            failure = ProviderError(Cause.REPLY, f"the reply cannot be read ({type(error).__name__})")
            self._note(failure)
            raise failure from None

    def _note(self, error: ProviderError) -> None:
        self.failure = str(error)
        self.lost = error.lost
        self.has_lost = self.has_lost or error.lost
        if self._journal is not None:
            cost = None if error.lost and not self._budget.free else 0.0
            self._journal.lost(self._request, self._provider, cost)


def _whom(request: Request) -> tuple[str, str]:
    """Give the model that is asked and what it is asked about, as the breaker knows both."""
    return str(request.body.get("model", "")), request.subject


def _times(sent: int) -> str:
    return f"{sent} {'try' if sent == 1 else 'tries'}"


def _unasked(cause: Cause, reason: str) -> Answer:
    return Answer(Status.ERROR, cause=cause, reason=reason)
