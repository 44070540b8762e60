"""No server holds a request for longer than its time, or has it read more than any message is."""

from __future__ import annotations

import gzip
import json
import threading
import time
import tracemalloc
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("httpx2")
pytest.importorskip("anthropic")

import httpx2

from skillgate.llm import wire
from skillgate.llm.flow import RetryPolicy
from skillgate.llm.port import Connection, Provider
from skillgate.llm.providers import anthropic, openai_compatible
from skillgate.model.exchange import Answer, Cause, Status
from tests.llm.requests import KEY, asking, request
from tests.llm.server import ModelServer, completion, drip, message, raw, without_end

if TYPE_CHECKING:
    from tests.llm.server import Behaviour

ONCE = RetryPolicy(tries=1)
SOON_S = 60.0  # far more than the time of a try here, far less than for ever
CHUNKED = b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
GOOD, BAD = CHUNKED % b"200 OK", CHUNKED % b"400 Bad"

DRIPS = {
    "a header": without_end(b"HTTP/1.1 200 OK\r\nx-a: ", b"a"),
    "interim answers": without_end(b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
    "interim answers at once": without_end(b"", b"HTTP/1.1 102 Processing\r\n\r\n" * 99, pause_s=0),
    "the extension of a chunk": without_end(GOOD + b"5;", b"a"),
    "a body": without_end(GOOD, b"1\r\na\r\n"),
    "a body of a known length": drip,
    "the body of a failure": without_end(BAD, b"1\r\na\r\n"),
    "trailers": without_end(GOOD + b"0\r\n", b"x"),
}


def connected(name: str, url: str) -> Provider:
    environ = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}
    provider: Provider
    if name == "anthropic":
        provider = anthropic.connect(Connection(environ, base_url=url))
    else:
        provider = openai_compatible.connect(Connection(environ, base_url=url))
    return provider


def asked(name: str, *behaviours: Behaviour, timeout_s: float = 20.0, policy: RetryPolicy = ONCE) -> Answer:
    with ModelServer(*behaviours) as server:
        provider = connected(name, server.url)
        answer = asking(provider, timeout_s=timeout_s, policy=policy).ask(request())
        provider.close()
    return answer


@pytest.fixture(params=["anthropic", "openai-compatible"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("what", DRIPS)
def test_a_server_that_sends_without_end_is_left_after_the_time_of_a_try(name: str, what: str) -> None:
    began = time.monotonic()
    answer = asked(name, DRIPS[what], timeout_s=0.3)
    assert time.monotonic() - began < SOON_S
    assert (answer.status, answer.cause) == (Status.ERROR, Cause.NETWORK)
    assert "within 0.3 s" in answer.reason


def test_what_dripped_is_asked_again(name: str) -> None:
    good = message() if name == "anthropic" else completion()
    answer = asked(name, DRIPS["a header"], good, timeout_s=0.5, policy=RetryPolicy(tries=2, first_wait_s=0.001))
    assert (answer.status, answer.sent) == (Status.OK, 2)


@pytest.mark.parametrize("head", [GOOD, BAD])
def test_a_flood_is_neither_kept_nor_waited_for(name: str, head: bytes) -> None:
    flood = without_end(head, b"100000\r\n" + b"a" * (1 << 20) + b"\r\n", pause_s=0)
    tracemalloc.start()
    try:
        answer = asked(name, flood)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert answer.cause is (Cause.REPLY if head == GOOD else Cause.REQUEST)
    assert peak < 6 * wire.MOST_BYTES


def test_interim_answers_are_counted_too(name: str) -> None:
    flood = without_end(b"", b"HTTP/1.1 102 Processing\r\nx-a: " + b"a" * 60_000 + b"\r\n\r\n", pause_s=0)
    answer = asked(name, flood, timeout_s=60)
    assert answer.cause is Cause.NETWORK
    assert "more than 32 MiB" in answer.reason


@pytest.mark.parametrize("status", [200, 400])
def test_a_small_body_does_not_become_a_huge_one(name: str, status: int) -> None:
    bomb = gzip.compress(b" " * (64 << 20))
    tracemalloc.start()
    try:
        answer = asked(name, raw(bomb, status=status, headers={"content-encoding": "gzip"}))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert answer.cause is (Cause.REPLY if status == 200 else Cause.REQUEST)
    assert peak < 6 * wire.MOST_BYTES


@pytest.mark.parametrize("coding", ["gzip, gzip", "br", "zstd"])
def test_a_coding_that_was_not_asked_for_is_not_undone(name: str, coding: str) -> None:
    answer = asked(name, raw(gzip.compress(gzip.compress(b"{}")), headers={"content-encoding": coding}))
    assert answer.cause is Cause.REPLY


def test_a_compressed_answer_is_read(name: str) -> None:
    with ModelServer(message() if name == "anthropic" else completion()) as server:
        plain = httpx2.post(server.url, json={}).content
    answer = asked(name, raw(gzip.compress(plain), headers={"content-encoding": "gzip"}))
    assert (answer.status, answer.value) == (Status.OK, {"score": 7})


def test_what_is_not_compressed_as_it_says_is_lost(name: str) -> None:
    answer = asked(name, raw(b"{}", headers={"content-encoding": "gzip"}))
    assert answer.cause is Cause.NETWORK


def test_the_reason_of_a_failure_that_is_not_large_is_told(name: str) -> None:
    said = {"type": "error", "error": {"type": "invalid_request_error", "message": "m" * 100_000}}
    answer = asked(name, raw(json.dumps(said).encode(), status=400))
    assert "mmmm" in answer.reason


def test_a_proxy_of_the_environment_is_bounded_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)
    with ModelServer(DRIPS["a header"]) as server:
        monkeypatch.setenv("HTTP_PROXY", server.url)
        provider = connected(name, "http://model.example/v1")
        began = time.monotonic()
        answer = asking(provider, timeout_s=0.3, policy=ONCE).ask(request())
        provider.close()
    assert len(server.seen) == 1
    assert time.monotonic() - began < SOON_S
    assert "within 0.3 s" in answer.reason


def test_the_handshake_of_a_connection_is_bounded_too(name: str) -> None:
    with ModelServer(message()) as server:  # it speaks no TLS, and waits for the end of a line
        provider = connected(name, server.url.replace("http:", "https:"))
        began = time.monotonic()
        answer = asking(provider, timeout_s=0.3, policy=ONCE).ask(request())
        provider.close()
    assert time.monotonic() - began < SOON_S
    assert answer.cause is Cause.NETWORK


def test_tries_of_several_threads_have_their_own_time() -> None:
    with ModelServer(DRIPS["a header"]) as server:
        client = wire.client()
        took: dict[float, float] = {}

        def post(timeout_s: float) -> None:
            began = time.monotonic()
            with pytest.raises(httpx2.ReadTimeout):
                wire.post(client, server.url, headers={}, body={}, timeout_s=timeout_s)
            took[timeout_s] = time.monotonic() - began

        threads = [threading.Thread(target=post, args=(timeout_s,)) for timeout_s in (0.2, 1.0)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SOON_S)
        client.close()
    assert 0.2 <= took[0.2] < took[1.0] < SOON_S
    assert took[1.0] >= 1.0
