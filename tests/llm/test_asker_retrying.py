"""Trying again: how often, how long apart, and never for ever."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

pytest.importorskip("tenacity")
pytest.importorskip("jsonschema")
pytest.importorskip("anthropic")

from skillgate.llm.asker import TIMEOUT_S
from skillgate.llm.flow import RetryPolicy, with_retries
from skillgate.llm.port import ProviderError
from skillgate.model.exchange import Cause, Reply, Status
from tests.llm.requests import QUICK, asking, connected, request
from tests.llm.server import ModelServer, message, refusal
from tests.llm.table import DOWN, GOOD, replying


def waits(policy: RetryPolicy, *outcomes: Reply | ProviderError) -> list[float]:
    """Give what would be waited between the tries; nothing is."""
    waited: list[float] = []
    answer = replying(*outcomes)
    with suppress(ProviderError):
        with_retries(lambda: answer(request()), policy, waited.append)
    return waited


def test_waits_double_with_some_chance_in_them() -> None:
    first, second, third = waits(RetryPolicy(), DOWN)
    assert 0.5 <= first <= 0.75
    assert 1.0 <= second <= 1.25
    assert 2.0 <= third <= 2.25
    assert waits(RetryPolicy(), DOWN) != waits(RetryPolicy(), DOWN)


@pytest.mark.parametrize(("asked_s", "waited_s"), [(0.0, 0.0), (2.0, 2.0), (59.5, 59.5)])
def test_a_server_is_waited_for_as_it_asks(asked_s: float, waited_s: float) -> None:
    busy = ProviderError(Cause.RATE, "busy", retry_after_s=asked_s, retryable=True)
    assert waits(RetryPolicy(), busy, GOOD) == [waited_s]


@pytest.mark.parametrize("asked_s", [61.0, 3_600.0, 86_400.0, 1e300])
def test_a_server_that_asks_for_too_long_a_wait_is_not_asked_again(asked_s: float) -> None:
    busy = ProviderError(Cause.RATE, "busy", retry_after_s=asked_s, retryable=True)
    assert waits(RetryPolicy(deadline_s=1_000.0), busy) == []


def test_no_try_begins_after_the_deadline() -> None:
    busy = ProviderError(Cause.RATE, "busy", retry_after_s=30.0, retryable=True)
    assert waits(RetryPolicy(deadline_s=29.0), busy) == []
    assert waits(RetryPolicy(deadline_s=31.0), busy, GOOD) == [30.0]


def test_retry_after_is_honoured_over_a_socket() -> None:
    busy = refusal(429, "rate_limit_error", headers={"retry-after": "1"})
    with ModelServer(busy, message()) as server:
        provider = connected(server.url)
        began = time.monotonic()
        answer = asking(provider, policy=QUICK._replace(longest_wait_s=60.0)).ask(request())
        took = time.monotonic() - began
        given_up = asking(provider, policy=QUICK._replace(longest_wait_s=0.5))
        server.then(busy)
        hopeless = given_up.ask(request())
        provider.close()
    assert (answer.status, answer.sent) == (Status.OK, 2)
    assert took >= 1.0
    assert (hopeless.status, hopeless.sent) == (Status.ERROR, 1)


def test_the_bounds_are_those_that_the_documents_name() -> None:
    assert RetryPolicy() == RetryPolicy(tries=4, first_wait_s=0.5, longest_wait_s=60.0, deadline_s=180.0)
    assert TIMEOUT_S == 600.0
