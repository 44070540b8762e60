"""Fewer requests at once for a provider that says that there are too many."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("jsonschema")
pytest.importorskip("tenacity")

from skillgate.llm.asker import PortAsker
from skillgate.llm.flow import STEADY, CircuitBreaker, RateLimiter, RetryPolicy
from skillgate.llm.port import ProviderError
from skillgate.llm.prices import Budget
from skillgate.model.exchange import Cause, Reply, Request, Status, Tokens

if TYPE_CHECKING:
    from collections.abc import Callable


def free() -> None:
    """The run goes on."""


def test_half_as_many_after_a_refusal_and_one_more_after_several_replies() -> None:
    pace = RateLimiter()
    turns = [pace.slot(free) for _ in range(8)]
    for turn in turns:
        turn.__enter__()
    pace.refused()
    assert pace.limit == 4
    pace.refused()
    assert pace.limit == 2
    for turn in turns:
        turn.__exit__(None, None, None)
    for _ in range(STEADY):
        pace.answered()
    assert pace.limit == 3
    for _ in range(9):
        pace.refused()
    assert pace.limit == 1


def test_who_waits_for_room_hears_that_the_run_has_ended() -> None:
    pace = RateLimiter()
    pace.limit = 1

    def ended() -> None:
        raise InterruptedError

    with pace.slot(free), pytest.raises(InterruptedError), pace.slot(ended):
        pytest.fail("there was no room")


class Narrow:
    """A provider that refuses whoever comes while two are being answered."""

    name, endpoint, variant, live = "narrow", "", "", True

    def __init__(self) -> None:
        self.most = self.refusals = self._now = 0
        self._lock = threading.Lock()

    def send(self, request: Request, *, timeout_s: float) -> Reply:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
            too_many = self._now > 2
            self.refusals += too_many
        threading.Event().wait(0.01)
        with self._lock:
            self._now -= 1
        if too_many:
            raise ProviderError(Cause.RATE, "too many", retryable=True)
        return Reply(({"type": "text", "text": "well"},), "end_turn", Tokens(1, 1), "m")

    def close(self) -> None:
        """Nothing is open."""


def _in_threads(count: int, work: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_an_account_below_what_is_sent_at_once_loses_no_answer() -> None:
    provider = Narrow()
    policy = RetryPolicy(tries=6, first_wait_s=0.01, longest_wait_s=1.0, deadline_s=60.0)
    asker = PortAsker(provider, budget=Budget(), retrying=policy, breaker=CircuitBreaker())
    found: list[Status] = []

    def ask_some(number: int) -> None:
        for turn in range(6):
            body = {"model": "m", "max_tokens": 8, "messages": [{"role": "user", "content": f"{number} {turn}"}]}
            found.append(asker.ask(Request("q", "s", body)).status)

    _in_threads(8, ask_some)
    assert found == [Status.OK] * 48
    assert provider.refusals < 24
