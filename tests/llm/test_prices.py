"""The dated table of prices: hand-computed costs, and nothing where nothing is known."""

from __future__ import annotations

import re

import pytest

from skillgate.llm import prices
from skillgate.model.exchange import Tokens

SONNET = "claude-sonnet-5-5"
HAIKU = "claude-haiku-5-5"


@pytest.mark.parametrize(
    ("model", "tokens", "dollars"),
    [
        # 6,368 tokens in and 1,400 out: one judge call on a median skill
        (HAIKU, Tokens(6_368, 1_400), 0.0013368),
        (SONNET, Tokens(6_368, 1_400), 0.026736),
        ("claude-opus-5-5", Tokens(6_368, 1_400), 0.053472),
        ("claude-fable-5-2", Tokens(6_368, 1_400), 0.106944),
        # the prompt cache, written and read: 1,000 x 2 + 500 x 10 + 4,000 x 0.10 + 2,000 x 2.50
        (SONNET, Tokens(1_000, 500, cache_read=4_000, cache_write=2_000), 0.0124),
        # a long prompt costs five times as much, all of it, and what is kept is part of the prompt
        (HAIKU, Tokens(100_000, 1_000), 0.0105),
        (HAIKU, Tokens(100_001, 1_000), 0.0525005),
        (HAIKU, Tokens(1, 1_000, cache_read=100_000), 0.0075005),
        (SONNET, Tokens(200_000, 0), 0.4),
        (SONNET, Tokens(), 0.0),
    ],
)
def test_a_reply_costs_what_the_table_says(model: str, tokens: Tokens, dollars: float) -> None:
    assert prices.cost(model, tokens) == pytest.approx(dollars, rel=1e-9)
    assert prices.cost(model, tokens, batch=True) == pytest.approx(dollars / 2, rel=1e-9)


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        (SONNET, HAIKU),
        ("claude-opus-5-5", "claude-opus-5"),
        ("claude-sonnet-5-5-20261001", "anthropic/claude-haiku-5-5"),
        ("eu.anthropic.claude-sonnet-5-5-20261001-v1:0", "Claude-Haiku-5-5@20261101"),
    ],
)
def test_a_reply_by_another_known_model_is_told(asked: str, answered: str) -> None:
    assert prices.is_other(asked, answered)
    assert prices.is_other(answered, asked)
    assert not prices.is_other(asked, asked)


@pytest.mark.parametrize(
    "answered",
    [
        SONNET,
        f"{SONNET}-20261001",
        f"{SONNET}@20261001",
        f"anthropic/{SONNET}",
        f"eu.anthropic.{SONNET}-20261001-v1:0",
        f"router/anthropic/{SONNET}:beta",
        "Claude-Sonnet-5-5",
        "",
        "gpt-oss-120b",
        "claude-nine",
        "scripted",
        f"scripted-{HAIKU}",
        "a." * 5_000,
    ],
)
def test_a_reply_by_the_same_model_or_one_that_nobody_knows_is_not_by_another(answered: str) -> None:
    assert not prices.is_other(SONNET, answered)
    assert not prices.is_other(answered, SONNET)


@pytest.mark.parametrize("dated", ["claude-sonnet-5-5-20261001", "claude-sonnet-5-5@20261001"])
def test_a_snapshot_costs_what_its_model_does(dated: str) -> None:
    assert prices.price(dated) == prices.price(SONNET) is not None


@pytest.mark.parametrize(
    "model",
    [
        "",
        "claude",
        "claude-sonnet-5-5-fast",
        "claude-sonnet-5-50",
        "claude-sonnet-5-5-1",
        "claude-sonnet-5-5-20261001-x",
        "claude-sonnet-5-5-99999999",
        "vendor/claude-sonnet-5-5",
        "eu.anthropic.claude-sonnet-5-5-v1:0",
        "Claude-Sonnet-5-5",
        "gpt-oss-120b",
        "scripted-judge",
    ],
)
def test_what_another_model_may_be_has_no_price_and_never_costs_nothing(model: str) -> None:
    assert prices.price(model) is None
    assert prices.cost(model, Tokens(1, 1)) is None
    assert prices.cost(model, Tokens()) is None
    assert prices.most(model, 1, 1) is None
    assert prices.effort_of(model) is None
    assert prices.context_of(model) is None


def test_the_default_judge_is_current_of_middle_price_and_takes_an_effort() -> None:
    current = sorted(prices.models()[:4], key=lambda name: prices.price(name) or ())
    assert prices.DEFAULT_JUDGE in current[1:3]
    assert prices.effort_of(prices.DEFAULT_JUDGE) == "medium"
    assert prices.context_of(prices.DEFAULT_JUDGE) == 1_000_000


def test_the_table_is_dated_and_says_where_it_is_from() -> None:
    assert re.fullmatch(r"20\d\d-[01]\d-[0-3]\d", prices.DATE)
    assert len(prices.SOURCE) > 40


@pytest.mark.parametrize("model", prices.models())
def test_every_row_is_plausible(model: str) -> None:
    row = prices.price(model)
    assert row is not None
    assert 0 < row.cache_read < row.input < row.cache_write < row.output
    assert row.cache_write == pytest.approx(1.25 * row.input)
    assert row.output == pytest.approx(5 * row.input)
    assert row.context >= 200_000
    assert row.long_factor >= 1


@pytest.mark.parametrize("model", prices.models())
def test_nothing_costs_more_than_the_most_it_can(model: str) -> None:
    for prompt in (0, 1, 99_999, 100_000, 100_001, 500_000):
        most = prices.most(model, prompt, 8_192)
        assert most is not None
        for used in (
            Tokens(prompt, 8_192),
            Tokens(0, 8_192, cache_write=prompt),
            Tokens(prompt // 2, 8_000, cache_read=prompt - prompt // 2),
        ):
            assert (prices.cost(model, used) or 0.0) <= most


def test_tokens_are_estimated_from_what_the_model_reads() -> None:
    assert prices.about(0) == 0
    assert prices.about(26) == 10
    assert prices.about(27) == 11
    body = {
        "model": "x" * 1_000,
        "max_tokens": 8_192,
        "system": [{"text": "a" * 26}],
        "messages": ({"content": "b" * 26}, {"content": [{"text": "c" * 26}]}),
        "output_config": {"format": {"schema": {"properties": {"d" * 26: {"enum": ["e" * 26, 7, None, True]}}}}},
    }
    keys = len("text" + "content" + "content" + "text" + "format" + "schema" + "properties" + "enum")
    assert prices.prompt_of(body) == prices.about(5 * 26 + keys)


def test_whether_a_prompt_was_long_is_a_matter_of_each_request_of_a_session() -> None:
    session = Tokens(240_000, 4_000, 40_000, 20_000)  # together three times what a long prompt begins with
    each = Tokens(60_000, 1_000, 10_000, 5_000)
    assert prices.cost("claude-haiku-5-5", session, requests=4) == pytest.approx(
        4 * (prices.cost("claude-haiku-5-5", each) or 0.0)
    )
    assert prices.cost("claude-haiku-5-5", session, requests=2) == prices.cost("claude-haiku-5-5", session)
