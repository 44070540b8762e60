"""The dry run: what would be asked, counted by the layers themselves, and nothing sent."""

from __future__ import annotations

import time
from functools import partial
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from skillgate.llm import prices
from skillgate.llm.answers import Answers
from skillgate.llm.asker import run
from skillgate.llm.estimates import (
    INPUT_HIGH,
    INPUT_LOW,
    MOST_ITEMS,
    Forecast,
    Span,
    document,
    estimate,
    fill,
    fitting,
    lines,
    made_up,
)
from skillgate.llm.port import Classified
from skillgate.model.exchange import Reply, Request, Status, Together
from tests.llm.askers import MODEL, Named, judge, one, reply, request

if TYPE_CHECKING:
    from skillgate.model.exchange import Answer, Steps

PROMPTS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "prompts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "should_trigger": {"type": "boolean"},
                    "style": {"type": "string", "enum": ["direct", "indirect"]},
                    "prompt": {"type": "string"},
                },
                "required": ["should_trigger", "style", "prompt"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["prompts"],
    "additionalProperties": False,
}


def five_of_each(value: Any) -> str | None:
    prompts = value["prompts"]
    for label in (True, False):
        styles = [each["style"] for each in prompts if each["should_trigger"] is label]
        if len(styles) != 5 or min(styles.count("direct"), styles.count("indirect")) < 2:
            return "five of each, half of them indirect"
    return None if len({each["prompt"] for each in prompts}) == 10 else "two are equal"


def asking(schema: object, check: Any = None, **fields: Any) -> Request:
    body = {**request("q").body, "output_config": {"format": {"type": "json_schema", "schema": schema}}}
    return request("q")._replace(body=body, check=check, **fields)


def shown(skill: str, question: str, *, prefix: str, typical_output: int = 1_000) -> Request:
    """Ask as a judge does: a system text and the skill first, marked for the prompt cache, then the question."""
    body = {
        "model": MODEL,
        "max_tokens": 8_192,
        "system": [{"type": "text", "text": "s" * 2_600}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": skill, "cache_control": {"type": "ephemeral"}},
                    {"type": "text", "text": question},
                ],
            }
        ],
    }
    return Request("q", "s", body, prefix=prefix, typical_output=typical_output)


def counting(request: Request, reply: Reply) -> Classified:
    return Classified(Status.OK, reply.text, "")


def test_a_judges_calls_are_counted_by_model_and_none_is_sent() -> None:
    forecast = estimate([partial(judge, f"s{number}") for number in range(20)])
    assert (forecast.layers, forecast.calls, forecast.cached) == (20, 120, 0)
    assert forecast.models == ((MODEL, 120),)
    assert forecast.cost_usd is not None
    assert 0 < forecast.cost_usd.low < forecast.cost_usd.high


def test_what_is_kept_costs_nothing_and_what_follows_from_it_is_found_too(tmp_path: Path) -> None:
    def follows() -> Steps[object]:
        first: Answer = yield request("first")
        second = yield request("second", text=f"after {first.value}")
        return second.value

    answers = Answers(str(tmp_path), now=time.time, classify=counting)
    answers.put(request("first"), Named(), reply("one"))
    answers.put(request("second", text="after one"), Named(), reply("two"))
    forecast = estimate([follows, partial(one, "new")], answers=answers, provider=Named())
    assert (forecast.calls, forecast.cached) == (1, 2)
    assert estimate([follows], answers=answers, provider=Named()) == Forecast(1, cached=2)


def test_a_cost_is_what_the_table_makes_of_the_tokens() -> None:
    """By hand: 1,000 tokens of system text and 10,000 of the skill are marked; a million cost 2 dollars in, 10 out."""

    def layer() -> Steps[None]:
        for question in ("a" * 13, "b" * 13):
            yield shown("x" * 26_000, question, prefix="p")

    forecast = estimate([layer])
    low_prefix, high_prefix = 11_000 * 0.8, 11_000 * 1.2
    assert forecast.cost_usd is not None
    # at best written once and read once, a fifth of the usual output; at worst written twice, twice the output
    low = (low_prefix * 2.5 + low_prefix * 0.1 + 2 * 200 * 10) / 1e6
    high = (2 * high_prefix * 2.5 + 2 * 2_000 * 10) / 1e6
    assert forecast.cost_usd.low == pytest.approx(low, rel=0.02)
    assert forecast.cost_usd.high == pytest.approx(high, rel=0.02)
    assert forecast.output_tokens == Span(400, 4_000)
    assert forecast.input_tokens.low == pytest.approx(2 * low_prefix, rel=0.02)


def test_a_beginning_too_short_for_the_prompt_cache_is_neither_written_nor_read() -> None:
    def layer() -> Steps[None]:
        for _ in range(2):
            yield short

    marked = {"type": "text", "text": "x" * 520, "cache_control": {"type": "ephemeral"}}  # 200 tokens, 512 are needed
    short = request("q")._replace(prefix="p", typical_output=0)
    short = short._replace(body={**short.body, "messages": [{"role": "user", "content": [marked]}]})
    cost = estimate([layer]).cost_usd
    assert cost is not None
    tokens = prices.prompt_of(short.body)
    assert cost.low == pytest.approx(2 * tokens * INPUT_LOW * 2 / 1e6, rel=0.02)
    assert cost.high == pytest.approx(2 * tokens * INPUT_HIGH * 2 / 1e6, rel=0.02)


def test_requests_that_share_no_beginning_read_nothing_from_the_prompt_cache() -> None:
    def layer(*prefixes: str) -> Steps[None]:
        for prefix in prefixes:
            yield shown("x" * 26_000, "q", prefix=prefix, typical_output=0)

    beginnings = (("p", "p"), ("p", "r"), ("", ""))
    shared, apart, none = (estimate([partial(layer, *prefixes)]).cost_usd for prefixes in beginnings)
    assert shared is not None
    assert apart is not None
    assert apart == none
    assert apart.low == pytest.approx(2 * 11_000 * 0.8 * 2.5 / 1e6, rel=0.02)
    assert shared.low == pytest.approx(apart.low * 2.6 / 5.0, rel=0.02)


def test_no_answer_is_longer_than_it_may_be() -> None:
    assert (
        estimate([lambda: ask_twice(shown("x", "q", prefix="", typical_output=9_000))]).output_tokens.high == 8_192 * 2
    )


def ask_twice(asked: Request) -> Steps[None]:
    yield asked
    yield asked


def test_an_unknown_price_makes_the_cost_unknown_and_names_the_model() -> None:
    def layer() -> Steps[None]:
        yield request("q", model="gpt-oss")
        yield request("q")

    forecast = estimate([layer])
    assert forecast.cost_usd is None
    assert forecast.unpriced == ("gpt-oss",)
    assert forecast.models == ((MODEL, 1), ("gpt-oss", 1))
    assert any("unknown" in line and "gpt-oss" in line for line in lines(forecast))


def test_made_up_prompts_pass_the_check_so_that_predictions_are_counted() -> None:
    asked = asking(PROMPTS, five_of_each)
    answer = made_up(asked, items=fitting(asked))
    assert answer.status is Status.OK
    assert five_of_each(answer.value) is None
    assert len(answer.value["prompts"]) == 10


def test_what_cannot_be_made_up_is_an_outage() -> None:
    never = asking(PROMPTS, lambda value: "never good enough")
    assert fitting(never) is None
    for answer in (
        made_up(never, items=None),
        made_up(never, items=10),
        made_up(asking(PROMPTS, five_of_each), items=9),
    ):
        assert (answer.status, answer.value) == (Status.ERROR, None)


def test_a_request_for_words_is_answered_in_words() -> None:
    answer = made_up(request("q"), items=fitting(request("q")))
    assert (answer.status, type(answer.value)) == (Status.OK, str)


@pytest.mark.parametrize(
    "schema",
    [
        PROMPTS,
        {"const": 7},
        {"enum": [0, 1, 2]},
        {"type": "array", "items": {"type": "integer"}, "minItems": 20},
        {"type": "array", "items": {"type": "array", "items": {"type": "null"}}},
        {"type": "object", "properties": {"a": {"type": "number"}, "b": {"enum": ["x"]}}, "required": ["b", "a"]},
    ],
)
@pytest.mark.parametrize("items", [0, 1, 7])
def test_what_is_made_up_fits_its_schema(schema: dict[str, Any], items: int) -> None:
    assert not list(Draft202012Validator(schema).iter_errors(fill(schema, items=items)))


def test_the_words_for_people() -> None:
    forecast = Forecast(
        layers=20,
        calls=1_086,
        cached=34,
        input_tokens=Span(412_345, 623_456),
        output_tokens=Span(9, 243_210),
        cost_usd=Span(1.234, 6.789),
        models=((MODEL, 1_086),),
    )
    assert list(lines(forecast, max_cost_usd=5.0, max_calls=100)) == [
        "Dry run, nothing was sent: 20 skills, 1,086 calls to make.",
        "34 answers from earlier runs would be used again and cost nothing.",
        "Asked: claude-sonnet-5-5 (1,086).",
        "Tokens, about: 410,000 to 620,000 in, 9 to 240,000 out, thinking included.",
        f"Cost, about: $1.23 to $6.79 by the prices of {prices.DATE}; tries again come on top.",
        "max-calls allows 100: the rest would not be measured.",
        "max-cost-usd 5 may not suffice: what is left then would not be measured.",
    ]
    assert "max-cost-usd 1 does not suffice" in list(lines(forecast, max_cost_usd=1.0))[-1]


def test_the_document_for_programs_has_the_numbers_as_they_are() -> None:
    forecast = Forecast(
        calls=1_086,
        cached=34,
        input_tokens=Span(412_345, 623_456),
        output_tokens=Span(9, 243_210),
        cost_usd=Span(1.23456789, 6.789),
        models=((MODEL, 1_086),),
        questions=(("simulation", 1_000), ("grade", 86)),
    )
    assert document(forecast) == {
        "kind": "estimate",
        "calls": 1_086,
        "cached": 34,
        "by_question": {"simulation": 1_000, "grade": 86},
        "by_model": {MODEL: 1_086},
        "input_tokens": {"low": 412_345, "high": 623_456},
        "output_tokens": {"low": 9, "high": 243_210},
        "cost_usd": {"low": 1.234568, "high": 6.789},
        "unpriced": [],
    }
    unknown = document(forecast._replace(cost_usd=None, unpriced=("gpt-oss",)))
    assert (unknown["cost_usd"], unknown["unpriced"]) == (None, ["gpt-oss"])


def test_a_run_that_has_nothing_to_ask_says_only_that() -> None:
    assert list(lines(Forecast(layers=1, cached=6))) == [
        "Dry run, nothing was sent: 1 skill, 0 calls to make.",
        "6 answers from earlier runs would be used again and cost nothing.",
    ]


def test_a_cost_below_a_cent_is_not_shown_as_nothing() -> None:
    forecast = Forecast(1, 1, cost_usd=Span(0.0001, 0.004), models=((MODEL, 1),))
    assert any("less than $0.01" in line for line in lines(forecast))


def test_branches_are_rehearsed_too() -> None:
    def layer() -> Steps[None]:
        yield Together((one("a"), one("b"), one("c")))

    assert estimate([layer]).calls == 3


def test_a_question_that_nothing_passes_for_is_tried_once() -> None:
    tries = 0

    def never(value: object) -> str:
        nonlocal tries
        tries += 1
        return "no"

    def layer() -> Steps[None]:
        for _ in range(50):
            yield asking(PROMPTS, never)

    assert estimate([layer]).calls == 50
    assert tries == MOST_ITEMS + 1


# Sessions


def session_turn(
    messages: list[Any], *typical: dict[str, Any], system: str = "s" * 2_600, typical_output: int = 100
) -> Request:
    """Ask as a session does: tools and a marked system text, then all that was said so far."""
    body = {
        "model": MODEL,
        "max_tokens": 16_000,
        "system": [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}],
        "messages": messages,
        "tools": [{"name": "Skill", "description": "d" * 260}],
    }
    return Request("simulation", "s", body, prefix=system, typical=tuple(typical), typical_output=typical_output)


CALL = {"type": "tool_use", "id": "toolu_1", "name": "Skill", "input": {"skill": "pdf"}}


def session(prompt: str, loaded: str) -> Steps[str]:
    """Ask until no tool is called any more."""
    messages: list[Any] = [{"role": "user", "content": prompt}]
    first: Answer = yield session_turn(messages, CALL)
    assert first.reply is not None
    assert first.reply.stop_reason == "tool_use"
    messages += [{"role": "assistant", "content": list(first.reply.content)}]
    messages += [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": loaded}]}]
    last: Answer = yield session_turn(messages, {"type": "text", "text": "Done."}, typical_output=600)
    assert last.reply is not None
    assert (last.reply.stop_reason, last.value) == ("end_turn", "Done.")
    return last.reply.text


def test_a_session_is_rehearsed_with_its_typical_replies_and_its_whole_context() -> None:
    forecast = estimate([partial(session, "p" * 260, "b" * 26_000)])
    assert (forecast.calls, forecast.questions) == (2, (("simulation", 2),))
    # 1,000 of the system text, 100 of the tool and of the prompt, in both; the body in the second alone.
    middle = sum(forecast.input_tokens) / 2
    assert middle == pytest.approx(2 * 1_200 + 10_000, rel=0.03)
    assert forecast.output_tokens == Span(140, 1_400)


def test_a_rehearsed_session_counts_what_the_same_session_then_sends() -> None:
    """A run that gets other answers of about the same size sends as many calls, and input tokens within 15 %."""
    sent: list[int] = []

    class Counting:
        def ask(self, request: Request) -> Answer:
            sent.append(prices.prompt_of(request.body))
            return made_up(request, items=None)

    layers = [partial(session, f"{number} " + "p" * 100 * number, "b" * 3_000 * number) for number in range(1, 9)]
    forecast = estimate(layers)
    for _ in run(layers, Counting(), in_flight=3):
        pass
    assert forecast.calls == len(sent)
    assert sum(forecast.input_tokens) / 2 == pytest.approx(sum(sent), rel=0.01)


def test_tools_are_a_part_of_what_the_prompt_cache_keeps() -> None:
    def layer(description: str) -> Steps[None]:
        for _ in range(2):
            asked = session_turn([{"role": "user", "content": "p"}], typical_output=0)
            yield asked._replace(body={**asked.body, "tools": [{"name": "Skill", "description": description}]})

    short, long = (estimate([partial(layer, text)]).cost_usd for text in ("", "d" * 26_000))
    assert short is not None
    assert long is not None
    # 10,000 tokens more are written once and read once: 2.5 and 0.2 dollars a million.
    assert long.low - short.low == pytest.approx(10_000 * INPUT_LOW * (2.5 + 0.2) / 1e6, rel=0.05)


def test_a_session_without_a_typical_reply_ends_in_words() -> None:
    answer = made_up(session_turn([]), items=None)
    assert answer.status is Status.OK
    assert answer.reply is not None
    assert answer.reply.text == answer.value != ""


def test_a_typical_answer_of_a_question_is_decoded_and_held_to_its_check() -> None:
    few = {"prompts": [{"should_trigger": True, "style": "direct", "prompt": "p"}] * 7}
    typical = ({"type": "text", "text": dumps(few)},)

    def seven(value: Any) -> str | None:
        return None if len(value["prompts"]) == 7 else "seven"

    assert made_up(asking(PROMPTS, seven, typical=typical), items=None).value == few
    for text in ("no JSON", "{}"):
        unfit = asking(PROMPTS, lambda value: None if value.get("prompts") else "none", typical=typical)
        unfit = unfit._replace(typical=({"type": "text", "text": text},))
        answer = made_up(unfit, items=3)
        assert (answer.status, len(answer.value["prompts"])) == (Status.OK, 3)


def test_requests_of_one_question_may_ask_for_lists_of_different_lengths() -> None:
    def exactly(many: int) -> Any:
        return lambda value: None if len(value["prompts"]) == many else f"{many} are wanted"

    found: list[Answer] = []

    def layer() -> Steps[None]:
        for many in (25, 25, 10, 60):
            answer = yield asking(PROMPTS, exactly(many))
            found.append(answer)

    estimate([layer])
    assert [len(answer.value["prompts"]) for answer in found] == [25, 25, 10, 60]


def test_a_batch_costs_half_and_says_so() -> None:
    layers = [partial(judge, "s")]
    full, half = estimate(layers), estimate(layers, batch=True)
    assert full.cost_usd is not None
    assert half.cost_usd is not None
    assert half.cost_usd == pytest.approx([cost * prices.BATCH_FACTOR for cost in full.cost_usd])
    assert half.input_tokens == full.input_tokens
    assert any("for batches" in line for line in lines(half))
    assert not any("for batches" in line for line in lines(full))


def test_a_long_run_says_what_its_calls_are_for() -> None:
    questions = (("simulation", 2_200), ("grade", 1_000), ("match", 800))
    forecast = Forecast(20, 4_000, cost_usd=Span(12.0, 48.0), models=((MODEL, 4_000),), questions=questions)
    assert list(lines(forecast))[1] == "For: simulation (2,200), grade (1,000), match (800)."


def test_a_session_of_a_runner_is_counted_with_what_it_is_given_and_its_output() -> None:
    skills = [
        {"name": "pdf", "description": "d" * 260, "body": "b" * 2_600, "files": {"references/a.md": "f" * 90_000}},
        {"name": "other", "description": "d" * 260, "body": "o" * 90_000, "files": {}},
    ]
    body = {"runner": "agent-sdk", "model": MODEL, "prompt": "p" * 260, "system": "s" * 2_600, "max_turns": 10}
    asked = Request("simulation", "s", {**body, "skills": skills, "target": "pdf"}, typical_output=1_000)

    forecast = estimate([lambda: ask_twice(asked)])
    told = 4 * (1_000 + 1_000 + 100 + 200)
    assert forecast.input_tokens.low == pytest.approx(told * INPUT_LOW, rel=0.03)
    assert forecast.input_tokens.high == pytest.approx(told * INPUT_HIGH + 80_000, rel=0.03)
    assert forecast.output_tokens == Span(400, 4_000)


def test_a_rehearsal_of_three_hundred_calls_takes_a_moment() -> None:
    layers = [partial(session, f"{number}", "b" * 20_000) for number in range(150)]
    began = time.process_time()
    assert estimate(layers).calls == 300
    assert time.process_time() - began < 1.0
