"""The budget: it holds whatever runs at once, and what could still fit waits rather than fails."""

from __future__ import annotations

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgate.errors import UsageError
from skillgate.llm import prices
from skillgate.llm.prices import ENVELOPE_TOKENS, BatchBudget, Budget, Spent
from skillgate.model.exchange import Request, Tokens
from tests.llm.askers import MODEL, request

ONE = request("q", text="x" * 1_000)  # with the keys of a message and the envelope
MOST = prices.most(MODEL, 1_000 + len("roleusercontent") + ENVELOPE_TOKENS, 1_000) or 0.0


def session(model: str) -> Request:
    """A session that a runner leads."""
    return Request("simulation", "skills/a", {"runner": "agent-sdk", "model": model, "max_turns": 8})


def asked(budget: Budget, what: Request = ONE) -> bool:
    """Ask for leave and settle at once with what was asked for; gives whether there was leave."""
    leave = budget.reserve(what)
    if leave is not None:
        budget.settle(leave, Tokens(1_000, 1_000), MODEL)
    return leave is not None


def test_the_most_a_request_can_cost_is_held_until_it_is_known() -> None:
    budget = Budget(max_cost_usd=MOST)
    leave = budget.reserve(ONE)
    assert leave is not None
    assert leave.usd == pytest.approx(MOST)
    assert budget.settle(leave, Tokens(1_000, 100), MODEL) == pytest.approx(0.003)
    assert budget.spent == pytest.approx(0.003)
    assert not budget.exhausted


def test_what_does_not_fit_is_refused_with_the_figures() -> None:
    budget = Budget(max_cost_usd=MOST * 1.1)
    assert asked(budget)
    assert not asked(budget)
    assert budget.exhausted
    assert budget.reason == (
        f"${MOST * 1.1 - 0.012:.4f} of max-cost-usd {MOST * 1.1:g} is left, and one more request may cost ${MOST:.4f}"
    )
    assert budget.calls == 1


def test_a_smaller_request_may_still_fit_after_a_larger_one_did_not() -> None:
    budget = Budget(max_cost_usd=MOST * 1.5)
    assert not asked(budget, request("q", text="x" * 100_000))
    assert asked(budget)


def test_a_request_waits_for_others_that_may_turn_out_cheaper() -> None:
    budget = Budget(max_cost_usd=MOST * 1.5)
    first = budget.reserve(ONE)
    assert first is not None
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(budget.reserve, ONE)
        time.sleep(0.05)
        assert not second.done()
        budget.settle(first, Tokens(10, 10), MODEL)
        assert second.result(timeout=120) is not None
    assert not budget.exhausted


def test_a_request_that_waited_in_vain_is_refused() -> None:
    budget = Budget(max_cost_usd=MOST * 1.5)
    first = budget.reserve(ONE)
    assert first is not None
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(budget.reserve, ONE)
        budget.settle(first, None, MODEL)  # it said nothing of its tokens: the most it can be counts
        assert second.result(timeout=120) is None
    assert budget.exhausted


def test_what_was_given_back_is_there_for_others() -> None:
    budget = Budget(max_cost_usd=MOST * 1.5, max_calls=2)
    for sent in (False, True):
        leave = budget.reserve(ONE)
        assert leave is not None
        budget.release(leave, sent=sent)
        budget.release(leave, sent=sent)  # twice is once
    assert (budget.calls, budget.spent) == (1, 0.0)
    assert asked(budget)


def test_a_stopped_run_lets_none_through_that_waits() -> None:
    stop = threading.Event()
    budget = Budget(max_cost_usd=MOST * 1.5, stop=stop)
    first = budget.reserve(ONE)
    assert first is not None
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(budget.reserve, ONE)
        stop.set()
        budget.settle(first, Tokens(), MODEL)
        assert second.result(timeout=120) is None
    assert budget.reserve(ONE) is None
    assert not budget.exhausted  # it was not for want of money


@pytest.mark.parametrize("most", [0, 1, 7])
def test_no_more_calls_than_allowed(most: int) -> None:
    budget = Budget(max_calls=most)
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda _: asked(budget), range(40))) == most
    assert budget.calls == most
    assert budget.reason == f"the {most} calls that max-calls allows are used up"


def test_no_money_is_no_request() -> None:
    budget = Budget(max_cost_usd=0.0)
    assert not asked(budget)
    assert budget.spent == 0.0


def test_without_limits_everything_is_let_through_and_counted() -> None:
    budget = Budget()
    assert sum(asked(budget) for _ in range(100)) == 100
    assert budget.spent == pytest.approx(1.2)
    assert (budget.calls, budget.reason) == (100, None)


def test_an_unknown_price_is_unknown_and_the_limit_says_so_before_anything_is_sent() -> None:
    free_of_limits = Budget(max_calls=9)
    free_of_limits.require_prices(["gpt-oss", MODEL])
    leave = free_of_limits.reserve(request("q", model="gpt-oss"))
    assert leave is not None
    assert free_of_limits.settle(leave, Tokens(1, 1), "gpt-oss") is None
    assert free_of_limits.unpriced == ("gpt-oss",)

    limited = Budget(max_cost_usd=5)
    limited.require_prices([MODEL])
    with pytest.raises(UsageError, match=r"the price of gpt-oss, llama is unknown .*max-calls instead"):
        limited.require_prices(["llama", MODEL, "gpt-oss", "llama"])
    assert limited.reserve(request("q", model="gpt-oss")) is None


def test_an_answer_of_unknown_cost_counts_for_the_limit_with_the_most_it_can_be() -> None:
    budget = Budget(max_cost_usd=MOST * 1.5)
    leave = budget.reserve(ONE)
    assert leave is not None
    assert budget.settle(leave, Tokens(1, 1), "renamed-by-a-gateway") is None
    assert budget.spent == 0.0
    assert budget.unpriced == ("renamed-by-a-gateway",)
    assert not asked(budget)


def test_a_reply_that_names_no_model_costs_what_was_asked_for() -> None:
    budget = Budget()
    leave = budget.reserve(ONE)
    assert leave is not None
    assert budget.settle(leave, Tokens(1_000, 0), "") == pytest.approx(0.002)


def test_scripted_answers_cost_nothing_and_no_limit_of_money_is_in_their_way() -> None:
    budget = Budget(max_cost_usd=0.0, max_calls=1, free=True)
    budget.require_prices(["scripted-judge"])
    leave = budget.reserve(request("q", model="scripted-judge"))
    assert leave is not None
    assert budget.settle(leave, Tokens(1_000, 1_000), "scripted-judge") == 0.0
    assert (budget.spent, budget.unpriced) == (0.0, ())
    assert not asked(budget)  # calls are counted all the same


@pytest.mark.parametrize("tokens", [Tokens(1_000, 1_000), None])
def test_a_scripted_model_at_the_other_end_costs_nothing_but_not_against_the_limit(tokens: Tokens | None) -> None:
    """Whoever answers says himself who he is."""
    budget = Budget(max_cost_usd=MOST * 1.5)
    leave = budget.reserve(ONE)
    assert leave is not None
    assert budget.settle(leave, tokens, "scripted-claude-sonnet-5-5") == 0.0
    assert (budget.spent, budget.unpriced) == (0.0, ())
    assert not asked(budget)


@pytest.mark.parametrize(
    ("named", "counted"),
    [
        (MODEL, 0.012),
        ("", 0.012),
        ("claude-haiku-5-5", 0.012),  # the one that was asked for is dearer
        ("claude-opus-5-5", 0.024),  # and here the one that answered
        ("scripted", 0.012),
        ("nobody-knows", MOST),
    ],
)
def test_against_the_limit_counts_the_dearer_of_who_was_asked_and_who_says_to_answer(
    named: str, counted: float
) -> None:
    def left_after(limit: float) -> bool:
        budget = Budget(max_cost_usd=limit)
        leave = budget.reserve(ONE)
        assert leave is not None
        budget.settle(leave, Tokens(1_000, 1_000), named)
        return budget.reserve(ONE) is not None

    assert left_after(counted + MOST + 1e-9)
    assert not left_after(counted + MOST - 1e-6)


# Tries again


def test_every_try_is_a_call() -> None:
    budget = Budget(max_calls=2)
    leave = budget.reserve(ONE)
    assert leave is not None
    assert budget.reserve_retry(leave, lost=False)
    assert not budget.reserve_retry(leave, lost=False)
    budget.release(leave)
    assert budget.calls == 2
    assert budget.reason == "the 2 calls that max-calls allows are used up"


def test_a_try_after_one_that_was_refused_needs_no_more_money() -> None:
    budget = Budget(max_cost_usd=MOST)
    leave = budget.reserve(ONE)
    assert leave is not None
    assert budget.reserve_retry(leave, lost=False)
    assert budget.settle(leave, Tokens(1_000, 100), MODEL) == pytest.approx(0.003)


def test_an_answer_that_was_lost_stays_spent() -> None:
    budget = Budget(max_cost_usd=MOST * 2.5)
    leave = budget.reserve(ONE)
    assert leave is not None
    assert budget.reserve_retry(leave, lost=True)
    assert not budget.reserve_retry(leave, lost=True)
    assert budget.settle(leave, None, MODEL) is None
    assert (budget.spent, budget.calls, budget.unpriced) == (0.0, 2, (MODEL,))
    assert budget.reason is not None
    assert f"${MOST * 0.5:.4f} of max-cost-usd" in budget.reason


def test_a_try_after_a_lost_one_waits_for_others_as_the_first_did() -> None:
    budget = Budget(max_cost_usd=MOST * 2.5)
    first, second = budget.reserve(ONE), budget.reserve(ONE)
    assert first is not None
    assert second is not None
    with ThreadPoolExecutor(1) as pool:
        again = pool.submit(budget.reserve_retry, first, lost=True)
        time.sleep(0.05)
        assert not again.done()
        budget.settle(second, Tokens(10, 10), MODEL)
        assert again.result(timeout=120)


def test_what_is_free_is_lost_for_nothing() -> None:
    budget = Budget(max_cost_usd=0.0, free=True)
    leave = budget.reserve(ONE)
    assert leave is not None
    assert budget.reserve_retry(leave, lost=True)
    assert budget.settle(leave, None, MODEL) == 0.0
    assert budget.unpriced == ()


@pytest.mark.parametrize("text", ["word " * 400, "日本語の説明" * 200, "🙂" * 300, "a9Zk+/" * 300, "\udc80" * 50])
def test_no_text_can_be_more_tokens_than_were_reserved_for(text: str) -> None:
    """A vocabulary over bytes has no token shorter than one byte."""
    leave = Budget(max_cost_usd=100.0).reserve(request("q", text=text))
    assert leave is not None
    used = Tokens(cache_write=len(text.encode("utf-8", "surrogatepass")), output=1_000)
    assert leave.usd >= (prices.cost(MODEL, used) or 0.0)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), cap=st.floats(0.0, 1.0), workers=st.integers(1, 8))
def test_what_is_spent_never_exceeds_the_limit(seed: int, cap: float, workers: int) -> None:
    budget = Budget(max_cost_usd=cap)
    plans = random.Random(seed).choices(range(4), k=60)

    def work(plan: int) -> None:
        size = (10, 1_000, 20_000, 60_000)[plan]
        leave = budget.reserve(request("q", text="x" * size))
        if leave is None:
            return
        share = random.Random(seed + size).random()
        if plan == 3 and share < 0.3:
            budget.release(leave)
        else:
            budget.settle(leave, Tokens(cache_write=int(size * share), output=int(1_000 * share)), MODEL)
        assert budget.spent <= cap + 1e-9

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, plans))
    assert budget.spent <= cap + 1e-9
    assert budget.exhausted or budget.calls == 60


def test_a_run_without_a_limit_ends_at_its_own_and_says_what_to_give() -> None:
    budget = Budget()
    budget.bound(MOST * 1.1)
    assert asked(budget)
    assert not asked(budget)
    assert budget.reason == (
        f"${MOST * 1.1 - 0.012:.4f} is left of ${MOST * 1.1:.2f}, the maximum cost of a run without --max-cost-usd,"
        f" and one more request may cost ${MOST:.4f}: give --max-cost-usd"
    )


@pytest.mark.parametrize("given", [Budget(max_cost_usd=1_000.0), Budget(max_calls=3), Budget(free=True)])
def test_who_gave_a_limit_or_pays_nothing_gets_no_other_one(given: Budget) -> None:
    given.bound(MOST / 2)
    assert asked(given)


def test_a_lower_limit_of_its_own_does_not_replace_a_higher_one() -> None:
    budget = Budget()
    budget.bound(MOST * 1.1)
    budget.bound(MOST / 2)
    assert asked(budget)
    assert not asked(budget)
    budget.bound(MOST * 2.2)
    assert asked(budget)


def test_a_run_that_is_gone_on_with_may_spend_its_own_limit_beside_what_was_spent() -> None:
    budget = Budget()
    budget.carry(Spent(calls=1, usd=MOST * 5, counted=MOST * 5))
    budget.bound(MOST * 1.1)
    assert asked(budget)
    assert not asked(budget)


def test_a_limit_that_nobody_gave_holds_no_model_back_whose_price_is_unknown() -> None:
    budget = Budget()
    budget.bound(MOST)
    leave = budget.reserve(request("q", model="local-model"))
    assert leave is not None
    assert budget.settle(leave, Tokens(1_000, 1_000), "local-model") is None


def test_batches_keep_to_a_limit_of_their_own_too() -> None:
    budget = BatchBudget()
    budget.bound(MOST * 0.55)
    assert asked(budget)
    assert not asked(budget)
    assert budget.reason is not None
    assert "without --max-cost-usd" in budget.reason


@pytest.mark.parametrize("requests", [4, 1])
def test_a_session_is_told_by_each_request_and_counts_no_less(requests: int) -> None:
    budget = Budget(max_cost_usd=100.0)
    tokens = Tokens(200_000, 1_000)
    leave = budget.reserve(session("claude-haiku-5-5"))
    assert leave is not None
    known, one = prices.cost("claude-haiku-5-5", tokens, requests=requests) or 0.0, leave.usd
    counted = budget.counted(leave, tokens, "claude-haiku-5-5", requests=requests)
    assert budget.settle(leave, tokens, "claude-haiku-5-5", requests=requests) == known
    assert known <= counted <= max(one, known)
