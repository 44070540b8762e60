"""The Messages API over a real socket with the real SDK: what goes out, what comes back, and every way it can fail."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("anthropic")

from skillgate.model.exchange import Answer, Cause, Status, Tokens
from tests.llm.requests import KEY, SCHEMA, asking, connected, request
from tests.llm.server import (
    USAGE,
    ModelServer,
    cut,
    cut_off,
    document,
    drip,
    hang,
    hang_up,
    message,
    raw,
    refusal,
)

if TYPE_CHECKING:
    from skillgate.model.exchange import Request
    from tests.llm.server import Behaviour


def asked(*behaviours: Behaviour, timeout_s: float = 20.0, what: Request | None = None) -> tuple[Answer, ModelServer]:
    """Ask one request of a server that behaves so; give the answer and the server, closed."""
    with ModelServer(*behaviours) as server:
        provider = connected(server.url)
        answer = asking(provider, timeout_s=timeout_s).ask(what or request())
        provider.close()
    return answer, server


# What goes out


def test_a_request_goes_out_as_it_was_built() -> None:
    answer, server = asked(message())
    assert answer.status is Status.OK
    (seen,) = server.seen
    assert seen.path == "/v1/messages"
    assert seen.body == dict(request().body)
    assert seen.body["output_config"] == {"effort": "medium", "format": {"type": "json_schema", "schema": SCHEMA}}
    assert seen.body["messages"][0]["content"][0]["cache_control"] == {"type": "ephemeral"}
    assert not {"temperature", "top_p", "top_k", "tools", "tool_choice", "stream"} & set(seen.body)
    assert KEY in seen.headers["authorization"]


def test_a_reply_comes_back_with_all_that_is_counted() -> None:
    answer, _ = asked(message())
    assert answer.value == {"score": 7}
    assert answer.reply is not None
    assert [block["type"] for block in answer.reply.content] == ["thinking", "text"]
    assert answer.reply.text == '{"score": 7}'
    assert answer.tokens == Tokens(100, 20, 7, 3)
    assert (answer.reply.model, answer.reply.request_id) == ("claude-sonnet-5-5", "req_1")
    assert answer.cost_usd == pytest.approx((100 * 2 + 20 * 10 + 7 * 0.1 + 3 * 2.5) / 1e6)


# Every way it can fail: status, cause, how often it was sent

FINAL = [
    (refusal(401, "authentication_error", "invalid x-api-key"), Cause.CREDENTIALS),
    (refusal(403, "permission_error"), Cause.CREDENTIALS),
    (refusal(402, "billing_error"), Cause.BILLING),
    (refusal(400, "invalid_request_error", "Your credit balance is too low"), Cause.BILLING),
    (refusal(404, "not_found_error", "model: claude-nine"), Cause.MODEL),
    (refusal(400, "invalid_request_error", "messages: at least one is required"), Cause.REQUEST),
    (refusal(422, "invalid_request_error"), Cause.REQUEST),
    (refusal(413, "request_too_large"), Cause.TOO_LONG),
    (refusal(400, "invalid_request_error", "prompt is too long: 1200000 tokens > 1000000"), Cause.TOO_LONG),
    (refusal(429, "rate_limit_error", headers={"retry-after": "3600"}), Cause.RATE),
    (raw(b"", status=501), Cause.SERVER),
    (refusal(529, "overloaded_error", headers={"x-should-retry": "false"}), Cause.SERVER),
]


@pytest.mark.parametrize(("behaviour", "cause"), FINAL)
def test_what_cannot_succeed_is_sent_once(behaviour: Behaviour, cause: Cause) -> None:
    answer, server = asked(behaviour, message())
    assert (answer.status, answer.cause, answer.value) == (Status.ERROR, cause, None)
    assert answer.sent == len(server.seen) == 1
    assert answer.reason.startswith(("the ", "there ", f"{server.url} "))


AGAIN = [
    (refusal(429, "rate_limit_error"), Cause.RATE),
    (refusal(429, "rate_limit_error", headers={"retry-after": "0"}), Cause.RATE),
    (refusal(429, "rate_limit_error", headers={"retry-after": "soon"}), Cause.RATE),
    (refusal(500, "api_error"), Cause.SERVER),
    (refusal(503, "api_error", headers={"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}), Cause.SERVER),
    (refusal(529, "overloaded_error"), Cause.SERVER),
    (raw(b"<html>bad gateway</html>", status=502), Cause.SERVER),
    (refusal(408, "timeout"), Cause.SERVER),
    (hang_up, Cause.NETWORK),
    (cut, Cause.NETWORK),
    (cut_off(500), Cause.NETWORK),
    (raw(b"<html>hello</html>", headers={"content-type": "text/html"}), Cause.REPLY),
    (raw(b'{"type": "message", "content": ['), Cause.REPLY),
    (raw(b"\xff\xfe"), Cause.REPLY),
    (raw(b""), Cause.REPLY),
    (raw(b"[" * 200_000), Cause.REPLY),
    (document([1, 2]), Cause.REPLY),
    (document({"ok": True}), Cause.REPLY),
    (message(content=None), Cause.REPLY),
    (message(content="text"), Cause.REPLY),
    (message(content=[1]), Cause.REPLY),
    (message(usage=None), Cause.REPLY),
    (message(stop_reason=None), Cause.REPLY),
]


@pytest.mark.parametrize(("behaviour", "cause"), AGAIN)
def test_what_may_succeed_is_sent_four_times(behaviour: Behaviour, cause: Cause) -> None:
    answer, server = asked(behaviour)
    assert (answer.status, answer.cause, answer.value) == (Status.ERROR, cause, None)
    assert answer.sent == len(server.seen) == 4
    assert answer.reason.endswith("(after 4 tries)")


@pytest.mark.parametrize(("behaviour", "cause"), AGAIN)
def test_what_passes_leaves_no_trace_but_the_tries(behaviour: Behaviour, cause: Cause) -> None:
    answer, server = asked(behaviour, behaviour, message())
    assert (answer.status, answer.cause, answer.value) == (Status.OK, None, {"score": 7})
    assert answer.sent == len(server.seen) == 3


def test_a_server_that_is_not_there_is_a_failure_of_the_network() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        provider = connected(f"http://127.0.0.1:{free.getsockname()[1]}")
        answer = asking(provider).ask(request())
    provider.close()
    assert (answer.status, answer.cause, answer.sent) == (Status.ERROR, Cause.NETWORK, 4)
    assert "cannot reach http://127.0.0.1" in answer.reason


def test_a_server_that_says_nothing_is_left_after_the_time_of_a_try() -> None:
    answer, server = asked(hang, timeout_s=0.5)
    assert (answer.status, answer.cause) == (Status.ERROR, Cause.NETWORK)
    assert answer.sent == len(server.seen) == 4
    assert "within 0.5 s" in answer.reason


def test_a_server_that_never_ends_is_left_too() -> None:
    answer, _ = asked(drip, timeout_s=0.2)
    assert (answer.status, answer.cause, answer.sent) == (Status.ERROR, Cause.NETWORK, 4)
    assert "within 0.2 s" in answer.reason


def test_an_answer_that_is_too_large_is_not_taken_in() -> None:
    answer, _ = asked(raw(b" " * ((8 << 20) + 1)), message())
    assert (answer.status, answer.sent) == (Status.OK, 2)


def test_a_redirect_takes_neither_key_nor_skill_elsewhere() -> None:
    with ModelServer(message()) as elsewhere:
        answer, server = asked(raw(b"", status=307, headers={"location": f"{elsewhere.url}/v1/messages"}))
        assert elsewhere.seen == []
    assert (answer.cause, answer.sent, len(server.seen)) == (Cause.REQUEST, 1, 1)
    assert "elsewhere" in answer.reason


# Replies that are no answers: paid for, never a number

NO_ANSWER = [
    (message(stop_reason="refusal", content=[], stop_details={"category": "cyber"}), Status.REFUSED, None, "(cyber)"),
    (message(stop_reason="refusal", stop_details=None), Status.REFUSED, None, "refused"),
    (message('{"score"', stop_reason="max_tokens"), Status.TRUNCATED, None, "8192 tokens"),
    (message(stop_reason="model_context_window_exceeded"), Status.ERROR, Cause.TOO_LONG, "too long"),
    (message(stop_reason="tool_use", content=[{"type": "tool_use", "name": "x"}]), Status.INVALID, None, "a tool"),
    (message(stop_reason="pause_turn"), Status.INVALID, None, "pause_turn"),
    (message(content=[]), Status.INVALID, None, "no text"),
    (message(" \n"), Status.INVALID, None, "no text"),
    (message("I give it a 7."), Status.INVALID, None, "not one JSON value"),
    (message('{"score": 11}'), Status.INVALID, None, "$.score"),
]


@pytest.mark.parametrize(("behaviour", "status", "cause", "said"), NO_ANSWER)
def test_a_reply_that_is_no_answer_is_paid_for_and_not_a_number(
    behaviour: Behaviour, status: Status, cause: Cause | None, said: str
) -> None:
    answer, server = asked(behaviour)
    assert (answer.status, answer.cause, answer.value) == (status, cause, None)
    assert said in answer.reason
    assert answer.sent == len(server.seen) == 1
    assert answer.tokens == Tokens(100, 20, 7, 3)
    assert answer.cost_usd


@pytest.mark.parametrize(
    "usage",
    [
        {},
        {"input_tokens": 0, "output_tokens": 0},
        {**USAGE, "input_tokens": True},
        {**USAGE, "output_tokens": -5},
        {**USAGE, "cache_read_input_tokens": "7"},
        {**USAGE, "input_tokens": 1.5},
        {**USAGE, "input_tokens": 10**9 + 1},
        {**USAGE, "cache_creation_input_tokens": 10**400},
    ],
)
def test_counts_that_cannot_be_are_an_unknown_cost_and_not_a_small_one(usage: dict[str, object]) -> None:
    answer, _ = asked(message(usage=usage))
    assert (answer.status, answer.cost_usd, answer.tokens) == (Status.OK, None, Tokens())
    assert answer.reply is not None
    assert answer.reply.tokens is None


def test_what_was_not_read_from_a_cache_need_not_be_told() -> None:
    answer, _ = asked(message(usage={"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": None}))
    assert answer.tokens == Tokens(5, 2)
