"""Asking: what was kept comes first, then the budget; whatever happens there is an answer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("tenacity")
pytest.importorskip("jsonschema")
pytest.importorskip("anthropic")

from skillgate.llm.answers import Answers
from skillgate.llm.budget import Budget
from skillgate.llm.classify import classify
from skillgate.llm.port import ProviderError
from skillgate.model.exchange import Cause, Status, Tokens
from tests.llm.requests import asking, connected, request
from tests.llm.server import ModelServer, message, refusal
from tests.llm.table import DOWN, GOOD, Table, replying

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


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
    "bad",
    [
        message('{"score": 11}'),
        message(stop_reason="refusal"),
        message('{"score": 7}', stop_reason="max_tokens"),
        refusal(400, "invalid_request_error"),
    ],
)
def test_only_good_answers_are_kept(tmp_path: Path, bad: Callable[..., None]) -> None:
    with ModelServer(bad, message()) as server:
        provider = connected(server.url)
        asker = asking(provider, answers=kept_in(tmp_path))
        statuses = [asker.ask(request()).status for _ in range(3)]
        provider.close()
    assert statuses[0] is not Status.OK
    assert statuses[1:] == [Status.OK, Status.OK]
    assert len(server.seen) == 2


def test_a_run_that_is_stopped_still_gives_what_was_kept(tmp_path: Path) -> None:
    answers = kept_in(tmp_path)
    asking(Table(replying(GOOD)), answers=answers).ask(request())
    asker = asking(Table(replying(DOWN)), answers=answers)
    asker.breaker.trip("enough")
    assert asker.ask(request()).cached
    assert asker.ask(request(question="other")).cause is Cause.STOPPED


def test_a_good_answer_to_a_question_asked_again_is_kept_as_the_answer_to_both(tmp_path: Path) -> None:
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


def test_a_200_that_is_no_message_may_have_cost_something() -> None:
    budget = Budget()
    broken = ProviderError(Cause.REPLY, "what is no message", status=200, again=False)
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
