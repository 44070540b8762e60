"""Asking: what was kept comes first, then the budget; whatever happens there is an answer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("tenacity")
pytest.importorskip("jsonschema")
pytest.importorskip("anthropic")

from skillgate.llm.answers import Answers
from skillgate.llm.asker import requests_of
from skillgate.llm.flow import CircuitBreaker, RetryPolicy
from skillgate.llm.port import ProviderError, classify
from skillgate.llm.prices import Budget
from skillgate.model.exchange import Cause, Reply, Request, Status, Tokens
from tests.llm.requests import asking, connected, request
from tests.llm.server import ModelServer, cut, hang, hang_up, message, raw, refusal
from tests.llm.table import DOWN, GOOD, Table, replying

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LOST = ProviderError(Cause.NETWORK, "the connection was cut off", retryable=True, lost=True)


def kept_in(folder: Path) -> Answers:
    return Answers(str(folder), now=time.time, classify=classify)


# What was kept


def test_what_was_answered_once_is_not_sent_again(tmp_path: Path) -> None:
    with ModelServer(message()) as server:
        provider = connected(server.url)
        first = asking(provider, answers=kept_in(tmp_path)).ask(request())
        budget = Budget(max_calls=0)
        second = asking(provider, answers=kept_in(tmp_path), budget=budget).ask(request())
        provider.close()
    assert len(server.seen) == 1
    assert (first.cached, second.cached) == (False, True)
    assert (second.status, second.value, second.cost_usd, second.sent) == (Status.OK, {"score": 7}, 0.0, 0)
    assert second.tokens == Tokens()


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (message('{"score": 11}'), Status.INVALID),
        (message(""), Status.INVALID),
        (message(stop_reason="refusal"), Status.REFUSED),
        (message('{"score": 7}', stop_reason="max_tokens"), Status.TRUNCATED),
        (message(stop_reason="model_context_window_exceeded"), Status.ERROR),
        (refusal(400, "invalid_request_error", "prompt is too long: 1200000 tokens > 1000000"), Status.ERROR),
        (refusal(413, "request_too_large"), Status.ERROR),
    ],
)
def test_what_a_model_did_is_kept_whatever_it_is_worth(
    tmp_path: Path, reply: Callable[..., None], status: Status
) -> None:
    """Else every run would draw the failures anew, and them alone, until they are gone."""
    with ModelServer(reply, message()) as server:
        provider = connected(server.url)
        first = asking(provider, answers=kept_in(tmp_path)).ask(request())
        again = asking(provider, answers=kept_in(tmp_path)).ask(request())
        provider.close()
    assert (first.status, first.cached, again.cached) == (status, False, True)
    assert (again.status, again.cause, again.reason) == (first.status, first.cause, first.reason)
    assert len(server.seen) == 1


@pytest.mark.parametrize("outage", [refusal(400, "invalid_request_error"), refusal(403, "permission_error")])
def test_what_was_not_answered_is_asked_again(tmp_path: Path, outage: Callable[..., None]) -> None:
    with ModelServer(outage, message()) as server:
        provider = connected(server.url)
        first = asking(provider, answers=kept_in(tmp_path)).ask(request())
        again = [asking(provider, answers=kept_in(tmp_path)).ask(request()).status for _ in range(2)]
        provider.close()
    assert first.status is Status.ERROR
    assert again == [Status.OK, Status.OK]
    assert len(server.seen) == 2


def test_a_refreshed_run_draws_failures_anew_too(tmp_path: Path) -> None:
    refused = GOOD._replace(stop_reason="refusal")
    asking(Table(replying(refused)), answers=kept_in(tmp_path)).ask(request())
    answers = Answers(str(tmp_path), now=time.time, classify=classify, refresh=True)
    assert asking(Table(replying(GOOD)), answers=answers).ask(request()).status is Status.OK
    assert asking(Table(replying(DOWN)), answers=kept_in(tmp_path)).ask(request()).status is Status.OK


def test_kept_replies_that_are_no_answers_are_counted(tmp_path: Path) -> None:
    refused = GOOD._replace(stop_reason="refusal")
    answers = kept_in(tmp_path)
    asking(Table(replying(refused)), answers=answers).ask(request())
    assert answers.unusable == 0
    later = kept_in(tmp_path)
    assert [asking(Table(replying(GOOD)), answers=later).ask(request()).status for _ in range(2)] == [
        Status.REFUSED
    ] * 2
    assert later.unusable == 1


def test_a_run_that_is_stopped_still_gives_what_was_kept(tmp_path: Path) -> None:
    answers = kept_in(tmp_path)
    asking(Table(replying(GOOD)), answers=answers).ask(request())
    asker = asking(Table(replying(DOWN)), answers=answers)
    asker.breaker.trip("enough")
    assert asker.ask(request()).cached
    assert asker.ask(request(question="other")).cause is Cause.STOPPED


def test_a_good_answer_to_a_question_asked_again_is_cached_as_the_answer_to_both(tmp_path: Path) -> None:
    first = request()
    again = request(max_tokens=21_333)._replace(instead_of=first)
    asking(Table(replying(GOOD)), answers=kept_in(tmp_path)).ask(again)
    asker = asking(Table(replying(DOWN)), answers=kept_in(tmp_path))
    assert [asker.ask(one).cached for one in (first, again)] == [True, True]


# The budget


def test_nothing_is_sent_beyond_the_budget() -> None:
    budget = Budget(max_calls=2)
    asker = asking(Table(replying(GOOD)), budget=budget)
    answers = [asker.ask(request()) for _ in range(4)]
    assert [answer.cause for answer in answers] == [None, None, Cause.BUDGET, Cause.BUDGET]
    assert [answer.sent for answer in answers] == [1, 1, 0, 0]
    assert "max-calls" in answers[2].reason
    assert asker.breaker.reason("claude-sonnet-5-5") is None


def test_what_is_no_answer_is_paid_for_all_the_same() -> None:
    budget = Budget(max_cost_usd=1.0)
    refused = GOOD._replace(stop_reason="refusal")
    answer = asking(Table(replying(DOWN, refused)), budget=budget).ask(request())
    assert (answer.status, answer.sent) == (Status.REFUSED, 2)
    assert answer.cost_usd == pytest.approx((100 * 2 + 20 * 10) / 1e6) == budget.spent


def test_what_never_came_frees_what_was_held_for_it() -> None:
    most = 0.1  # one request may cost 0.09
    budget = Budget(max_cost_usd=most)
    asker = asking(Table(replying(DOWN, DOWN, DOWN, DOWN, GOOD)), budget=budget)
    assert asker.ask(request()).cause is Cause.SERVER
    assert asker.ask(request()).status is Status.OK


@pytest.mark.parametrize("behaviour", [cut, hang_up, raw(b"<html>"), hang])
def test_every_answer_that_was_lost_stays_spent_and_is_a_call(behaviour: Callable[..., None]) -> None:
    budget = Budget(max_cost_usd=0.2)  # one request may cost 0.09
    with ModelServer(behaviour) as server:
        provider = connected(server.url)
        answer = asking(provider, budget=budget, timeout_s=0.3).ask(request())
        provider.close()
    assert (answer.cause, answer.sent, answer.cost_usd) == (Cause.BUDGET, 2, None)
    assert len(server.seen) == budget.calls == 2
    assert "max-cost-usd" in answer.reason
    assert "(after 2 tries; the last: " in answer.reason
    assert server.url in answer.reason


def test_a_server_that_was_not_reached_costs_nothing() -> None:
    budget = Budget(max_cost_usd=0.1)
    provider = connected("http://127.0.0.1:1")
    answer = asking(provider, budget=budget).ask(request())
    provider.close()
    assert (answer.cause, answer.sent, answer.cost_usd) == (Cause.NETWORK, 4, 0.0)
    assert not budget.exhausted


def test_every_send_is_a_call_and_what_was_answered_keeps_its_own_cost() -> None:
    budget = Budget(max_calls=3)
    asker = asking(Table(replying(LOST, GOOD, DOWN)), budget=budget)
    assert asker.ask(request()).cost_usd == pytest.approx(0.0004)
    answer = asker.ask(request())
    assert (answer.cause, answer.sent, answer.cost_usd, budget.calls) == (Cause.BUDGET, 1, 0.0, 3)
    assert "max-calls" in answer.reason
    assert "the server failed" in answer.reason
    assert budget.unpriced == ("claude-sonnet-5-5",)


def test_a_run_that_ends_between_two_tries_keeps_what_was_lost_as_spent() -> None:
    budget = Budget(max_cost_usd=0.1)
    breaker = CircuitBreaker(100)

    def lost(_: Request) -> Reply:
        breaker.trip("enough")
        raise LOST

    answer = asking(Table(lost), budget=budget, breaker=breaker).ask(request())
    assert (answer.cause, answer.sent, answer.cost_usd) == (Cause.STOPPED, 1, None)
    assert budget.reserve(request()) is None


@pytest.mark.parametrize(
    "broken",
    [
        OverflowError("int too large to convert to float"),
        UnicodeEncodeError("utf-8", "\ud800 sk-secret", 0, 1, "surrogates not allowed"),
        ValueError("Exceeds the limit (4300 digits): sk-secret"),
        RecursionError(),
    ],
)
def test_one_reply_that_nobody_foresaw_is_a_hole_and_not_the_end(broken: Exception) -> None:
    def first_broken(_: Request) -> Reply:
        if not seen:
            seen.append(1)
            raise broken
        return GOOD

    seen: list[int] = []
    budget = Budget(max_cost_usd=0.15)
    asker = asking(Table(first_broken), budget=budget)
    answer = asker.ask(request())
    assert (answer.status, answer.cause, answer.cost_usd) == (Status.ERROR, Cause.REPLY, None)
    assert answer.reason == f"the reply cannot be read ({type(broken).__name__})"
    assert not asker.ask(request()).reply  # the first may have cost 0.09


@pytest.mark.parametrize("tokens", [Tokens(10**400, 1), Tokens(1, 10**4000)])
def test_counts_that_no_price_can_be_taken_times_are_a_hole_and_not_the_end(tokens: Tokens) -> None:
    answer = asking(Table(replying(GOOD._replace(tokens=tokens)))).ask(request())
    assert (answer.status, answer.cause, answer.cost_usd) == (Status.ERROR, Cause.REPLY, None)


@pytest.mark.parametrize("tokens", [10**9 + 1, 10**400])
def test_counts_that_cannot_be_end_nothing(tokens: int) -> None:
    usage = {"input_tokens": tokens, "output_tokens": 5}
    with ModelServer(message(usage=usage)) as server:
        provider = connected(server.url)
        answer = asking(provider, budget=Budget(max_cost_usd=0.1)).ask(request())
        provider.close()
    assert (answer.status, answer.cost_usd, answer.tokens) == (Status.OK, None, Tokens())


def test_an_answer_by_another_known_model_is_not_kept(tmp_path: Path) -> None:
    swapped, ours = GOOD._replace(model="claude-haiku-5-5"), GOOD._replace(model="claude-sonnet-5-5-20261001")
    asker = asking(Table(replying(swapped, ours, DOWN)), answers=kept_in(tmp_path))
    answers = [asker.ask(request()) for _ in range(3)]
    assert [answer.cached for answer in answers] == [False, False, True]
    assert [answer.status for answer in answers] == [Status.OK] * 3


def test_a_200_that_is_no_message_may_have_cost_something() -> None:
    budget = Budget()
    broken = ProviderError(Cause.REPLY, "what is no message", status=200, retryable=False)
    answer = asking(Table(replying(broken)), budget=budget).ask(request())
    assert (answer.cause, answer.cost_usd) == (Cause.REPLY, None)
    assert budget.unpriced == ("claude-sonnet-5-5",)


def test_a_model_without_a_price_has_an_unknown_cost() -> None:
    answer = asking(Table(replying(GOOD._replace(model="nobody-knows")))).ask(request())
    assert (answer.status, answer.cost_usd) == (Status.OK, None)


def test_a_reply_that_tells_no_tokens_has_an_unknown_cost() -> None:
    answer = asking(Table(replying(GOOD._replace(tokens=None)))).ask(request())
    assert (answer.status, answer.cost_usd, answer.tokens) == (Status.OK, None, Tokens())


def test_a_bug_in_a_check_is_not_swallowed_and_holds_no_money() -> None:
    budget = Budget(max_cost_usd=0.1)
    asker = asking(Table(replying(GOOD)), budget=budget)
    with pytest.raises(ZeroDivisionError):
        asker.ask(request(check=lambda value: str(1 / 0)))
    assert asker.ask(request()).status is Status.OK


def test_an_answer_tells_how_long_the_try_took_that_was_answered_and_no_wait(tmp_path: Path) -> None:
    def slow(_: Request) -> Reply:
        tries.append(1)
        if len(tries) == 1:
            raise ProviderError(Cause.SERVER, "overloaded", retryable=True, retry_after_s=0.4)
        time.sleep(0.05)
        return GOOD

    tries: list[int] = []
    answers = Answers(str(tmp_path), now=time.time, classify=classify)
    asker = asking(Table(slow), policy=RetryPolicy(longest_wait_s=1.0), answers=answers)
    began = time.monotonic()
    first = asker.ask(request())
    took = time.monotonic() - began
    again = asker.ask(request())
    assert (first.sent, again.cached) == (2, True)
    assert 0.05 <= first.seconds <= took - 0.4  # the wait that the server asked for is no part of it
    assert again.seconds == 0.0


@pytest.mark.parametrize(
    ("kinds", "requests"),
    [
        (("text",), 1),
        (("text", "tool_use", "tool_result", "text"), 2),
        (("tool_use", "tool_use", "tool_result", "tool_result", "tool_use", "tool_result", "text"), 3),
        (("tool_use", "tool_result", "tool_use", "tool_result"), 2),
        ((), 1),
    ],
)
def test_the_requests_of_a_session_are_counted_by_its_transcript(kinds: tuple[str, ...], requests: int) -> None:
    reply = GOOD._replace(content=tuple({"type": kind} for kind in kinds))
    assert requests_of(request(runner="agent-sdk"), reply) == requests
    assert requests_of(request(), reply) == 1


def test_a_session_with_a_prompt_no_longer_than_others_is_not_told_at_the_price_of_a_long_one() -> None:
    kinds = ("tool_use", "tool_result", "tool_use", "tool_result", "text")
    content = tuple({"type": kind, "text": "Done."} for kind in kinds)
    session = Reply(content, "end_turn", Tokens(240_000, 3_000), "claude-haiku-5-5")
    body = {"model": "claude-haiku-5-5", "runner": "agent-sdk", "max_turns": 8, "prompt": "do"}
    answer = asking(Table(lambda _: session)).ask(Request("simulation", "skills/a", body))
    assert answer.cost_usd == pytest.approx((240_000 * 0.1 + 3_000 * 0.5) / 1e6)
