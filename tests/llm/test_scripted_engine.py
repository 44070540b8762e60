"""The scripted model: which rule answers, what is made up without one, and what it refuses as the API would."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from skillgate.judge.document import Library, find_all
from skillgate.llm.providers.scripted import Engine, Failure, Message, scripted_name
from skillgate.llm.scripted.answering import OPENING
from skillgate.llm.scripted.requests import MOST_LEVELS, question_of
from skillgate.llm.scripted.rules import parse
from skillgate.model.exchange import SCRIPTED_PREFIX
from tests.llm.scripted_bodies import SKILL, assessments, dossier, plain, trigger_predictions, trigger_prompts

ALL = assessments()


def engine(rules: str = "rules: []") -> Engine:
    return Engine(parse(rules.encode(), "rules.yaml"))


def said(outcome: Message | Failure) -> str:
    """Give the text of a reply."""
    assert isinstance(outcome, Message)
    return "".join(block["text"] for block in outcome.content)


def value(outcome: Message | Failure) -> Any:
    """Give the decoded JSON of a reply."""
    return json.loads(said(outcome))


def ratings(outcome: Message | Failure) -> dict[str, int]:
    """Give the ratings of a reply, the control's among them."""
    decoded = value(outcome)
    return {entry["dimension"]: entry["score"] for entry in decoded["assessments"]} | {
        "control": decoded["control"]["score"]
    }


def status(outcome: Message | Failure) -> int:
    return outcome.status if isinstance(outcome, Failure) else 200


@pytest.mark.parametrize(
    ("match", "answered"),
    [
        ("{}", True),
        ("{question: greeting}", True),
        ("{question: [other, greeting]}", True),
        ("{question: other}", False),
        ("{model: claude-sonnet-5-5}", True),
        ("{model: 'claude-*'}", True),
        ("{model: claude}", False),
        ("{contains: world}", True),
        ("{contains: [hello, world]}", True),
        ("{contains: [hello, moon]}", False),
        ("{contains: 'you are'}", True),
        ("{contains: max_tokens}", False),
        ("{not_contains: moon}", True),
        ("{not_contains: world}", False),
        ("{contains: world, not_contains: [moon, hello]}", False),
        ("{question: greeting, model: 'claude-*', contains: world, times: 1}", True),
    ],
)
def test_a_rule_answers_what_it_matches(match: str, answered: bool) -> None:
    body = plain("hello world\nQuestion: greeting", system="you are a judge")
    outcome = engine(f"rules: [{{match: {match}, reply: {{text: by rule}}}}]").answer(body)
    assert (said(outcome) == "by rule") is answered
    assert (outcome.rule == 0) is answered


def test_the_first_rule_that_matches_is_the_one() -> None:
    rules = "rules: [{match: {contains: moon}, reply: {text: a}}, {reply: {text: b}}, {reply: {text: c}}]"
    outcome = engine(rules).answer(plain())
    assert (said(outcome), outcome.rule) == ("b", 1)


def test_a_rule_is_used_up_and_the_next_one_answers() -> None:
    model = engine("rules: [{match: {times: 2}, reply: {status: 529}}, {reply: {text: fine}}]")
    assert [status(model.answer(plain())) for _ in range(4)] == [529, 529, 200, 200]


def test_a_rule_is_used_up_exactly_however_many_ask_at_once() -> None:
    model = engine("rules: [{match: {times: 7}, reply: {status: 429}}]")
    with ThreadPoolExecutor(20) as pool:
        found_ = list(pool.map(lambda _: status(model.answer(plain())), range(200)))
    assert sorted(found_) == [200] * 193 + [429] * 7


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (402, "billing_error"),
        (413, "request_too_large"),
        (418, "invalid_request_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (529, "overloaded_error"),
    ],
)
def test_a_failure_has_the_type_of_its_status(code: int, kind: str) -> None:
    outcome = engine(f"rules: [{{reply: {{status: {code}}}}}]").answer(plain())
    assert outcome == Failure(code, kind, "A scripted failure.", rule=0)


def test_a_failure_can_be_spelt_out() -> None:
    rule = "{status: 404, error: odd_error, message: no such model, retry_after_s: 3, delay_ms: 250}"
    outcome = engine(f"rules: [{{reply: {rule}}}]").answer(plain())
    assert outcome == Failure(404, "odd_error", "no such model", 3.0, 0.25, 0)


def test_replies_can_be_bent() -> None:
    refusal = engine("rules: [{reply: {stop_reason: refusal, category: cyber}}]").answer(plain())
    assert isinstance(refusal, Message)
    assert (refusal.content, refusal.stop_reason, refusal.category) == ((), "refusal", "cyber")
    half = engine("rules: [{reply: {text: abcdefgh, truncate: true}}]").answer(plain())
    assert isinstance(half, Message)
    assert (said(half), half.stop_reason) == ("abcd", "max_tokens")
    call = engine("rules: [{reply: {tool_use: Read, input: {path: a}}}]").answer(plain())
    assert isinstance(call, Message)
    assert (call.stop_reason, call.content[0]["name"], call.content[0]["input"]) == ("tool_use", "Read", {"path": "a"})
    cut = engine("rules: [{reply: {text: abc, cut: true, delay_ms: 30}}]").answer(plain())
    assert isinstance(cut, Message)
    assert (cut.cut, cut.delay_s) == (True, 0.03)


def test_a_reply_ends_where_its_tokens_do() -> None:
    outcome = engine("rules: [{reply: {text: 'a long reply of many words'}}]").answer(plain() | {"max_tokens": 3})
    assert isinstance(outcome, Message)
    assert (said(outcome), outcome.stop_reason, outcome.tokens.output) == ("a long ", "max_tokens", 3)


def test_the_model_names_itself_scripted_whatever_was_asked_for() -> None:
    outcome = engine("rules: [{reply: {text: a}}]").answer(plain() | {"model": "claude-opus-5-5"})
    assert isinstance(outcome, Message)
    assert outcome.model == "scripted-claude-opus-5-5"
    hostile = scripted_name("evil\r\n::set-output\u202e" + "x" * 500)
    assert hostile.startswith(SCRIPTED_PREFIX)
    assert hostile.isprintable()
    assert len(hostile) < 100


def test_usage_is_counted_from_characters() -> None:
    outcome = engine("rules: [{reply: {text: '" + "a" * 26 + "'}}]").answer(plain("b" * 260))
    assert isinstance(outcome, Message)
    assert (outcome.tokens.input, outcome.tokens.output) == (100, 10)


@pytest.mark.parametrize("name", sorted(ALL))
def test_what_is_made_up_is_what_was_asked_for(name: str) -> None:
    request = ALL[name]
    outcome = Engine().answer(request.body)
    decoded = value(outcome)
    assert request.check is not None
    assert request.check(decoded) is None
    assert decoded["control"]["score"] == 0
    for entry in decoded["assessments"]:
        assert entry["reasoning"].startswith(OPENING)
        assert 0 <= entry["score"] <= 10
        places, missing = find_all(entry["evidence"], Library(dossier().pages))
        assert places
        assert not missing


def test_what_is_made_up_is_always_the_same_and_depends_on_the_skill_alone() -> None:
    request = ALL["other_dimensions"]
    assert Engine().answer(request.body) == Engine().answer(request.body)
    remeasured = json.loads(json.dumps(request.body).replace("3 of 4", "1 of 4"))
    assert ratings(Engine().answer(remeasured)) == ratings(Engine().answer(request.body))
    longer = [assessments(f"{SKILL}One more line number {n}.\n")["output_quality"].body for n in range(12)]
    others = {ratings(Engine().answer(body))["output_quality"] for body in longer}
    assert len(others) > 1


def test_further_opinions_differ_by_at_most_a_step() -> None:
    first = ratings(Engine().answer(ALL["other_dimensions"].body))
    others = [ratings(Engine().answer(ALL["other_dimensions"].body, sample=sample)) for sample in range(1, 9)]
    assert {abs(first[name] - other[name]) for other in others for name in first} == {0, 1}
    assert all(other["control"] == 0 for other in others)


def test_ratings_can_be_asked_for_by_rule() -> None:
    one = engine("rules: [{match: {contains: ledger}, reply: {rating: 2}}]")
    assert set(ratings(one.answer(ALL["other_dimensions"].body)).values()) == {2, 0}
    some = engine("rules: [{reply: {rating: {robustness: 1, control: 9}}}]")
    given = ratings(some.answer(ALL["other_dimensions"].body))
    plain_ = ratings(Engine().answer(ALL["other_dimensions"].body))
    assert given == plain_ | {"robustness": 1, "control": 9}


def test_a_flaw_far_down_in_a_long_skill_is_seen() -> None:
    model = engine("rules: [{match: {contains: THE FLAW}, reply: {rating: 1}}]")
    pages = SKILL + "A line of a long page that says what to do next.\n" * 3_000
    flawed = pages + "THE FLAW stands here.\n"
    assert ratings(model.answer(assessments(flawed)["output_quality"].body))["output_quality"] == 1
    assert ratings(model.answer(assessments(pages)["output_quality"].body))["output_quality"] > 1


def test_prompts_and_predictions_are_made_up_as_asked() -> None:
    asked = trigger_prompts()
    made = value(Engine().answer(asked.body))
    assert asked.check is not None
    assert asked.check(made) is None
    assert len(made["prompts"]) == 10
    prompts = [entry["prompt"] for entry in made["prompts"]]
    predicting = trigger_predictions(prompts)
    predicted = value(Engine().answer(predicting.body))
    assert predicting.check is not None
    assert predicting.check(predicted) is None
    chosen = [entry["skill"] for entry in predicted["predictions"]]
    assert chosen == [1] * 5 + [0] * 5


def test_a_skill_without_words_gets_prompts_too() -> None:
    asked = trigger_prompts()
    body = json.loads(json.dumps(asked.body).replace("description:", "descr:"))
    body["messages"][0]["content"][0]["text"] = "⟦begin skill ab⟧\n-\n⟦end skill ab⟧"
    assert asked.check is not None
    assert asked.check(value(Engine().answer(body))) is None


def test_an_answer_that_is_asked_for_again_is_given_again() -> None:
    request = ALL["scope_calibration"]
    turns = [
        *request.body["messages"],
        {"role": "assistant", "content": "no JSON"},
        {"role": "user", "content": [{"type": "text", "text": "⟦begin error 1a⟧\nnot JSON\n⟦end error 1a⟧"}]},
    ]
    again = {**request.body, "messages": turns}
    assert value(Engine().answer(again)) == value(Engine().answer(request.body))
    assert question_of(again) == "scope_calibration"


def test_the_question_is_not_read_from_the_skill() -> None:
    request = assessments(f"{SKILL}\nQuestion: trigger_prompts\n")["output_quality"]
    assert question_of(json.loads(json.dumps(request.body))) == "output_quality"


def test_any_schema_gets_something_that_fits() -> None:
    schema = {
        "type": "object",
        "additionalProperties": False,
        "required": ["a", "b", "c", "d", "e", "f"],
        "properties": {
            "a": {"$ref": "#/$defs/leaf"},
            "b": {"type": ["null", "number"]},
            "c": {"const": [1]},
            "d": {"anyOf": [{"type": "boolean"}, {"type": "string"}]},
            "e": {"type": "array", "items": {"$ref": "#/$defs/leaf"}},
            "f": {"type": "string", "enum": ["x", "y"]},
        },
        "$defs": {"leaf": {"type": "integer", "enum": [1, 2, 3]}},
    }
    body = plain(output_config={"format": {"type": "json_schema", "schema": schema}})
    decoded = value(Engine().answer(body))
    assert decoded == {"a": decoded["a"], "b": 0, "c": [1], "d": False, "e": decoded["e"], "f": "x"}
    assert decoded["a"] in (1, 2, 3)
    assert decoded["e"][0] in (1, 2, 3)


def test_a_schema_that_contains_itself_ends() -> None:
    node = {"type": "object", "additionalProperties": False, "properties": {"next": {"$ref": "#/$defs/node"}}}
    itself = {"$ref": "#/$defs/loop"}
    for schema in ({**node, "$defs": {"node": node}}, {**itself, "$defs": {"loop": itself}}):
        outcome = Engine().answer(plain(output_config={"format": {"type": "json_schema", "schema": schema}}))
        assert isinstance(outcome, Message)


def test_a_schema_within_the_text_is_followed_too() -> None:
    text = 'Question: other\nReply with JSON of this schema: {"type": "object", "properties": {"a": {"const": 7}}}'
    assert value(Engine().answer(plain(text))) == {"a": 7}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"temperature": 1.0}, "temperature"),
        ({"top_p": 0.9}, "top_p"),
        ({"favourite": 1}, "favourite: extra inputs"),
        ({"model": ""}, "model"),
        ({"model": 3}, "model"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": True}, "max_tokens"),
        ({"max_tokens": 10**400}, "max_tokens"),
        ({"messages": []}, "messages"),
        ({"messages": "hello"}, "messages"),
        ({"messages": [{"role": "robot", "content": "a"}]}, "messages.0.role"),
        ({"messages": [{"role": "assistant", "content": "a"}]}, "messages.0.role"),
        ({"messages": [{"role": "user", "content": ""}]}, "messages.0.content"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]}, "non-empty"),
        ({"messages": [{"role": "user", "content": [7]}]}, "messages.0.content.0.type"),
        ({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}, "end with a user"),
        ({"system": [{"type": "text", "text": "a", "cache_control": {}}] * 5}, "cache_control"),
        ({"output_config": 3}, "output_config"),
        ({"output_config": {"effort": "huge"}}, "effort"),
        ({"output_config": {"effort": []}}, "effort"),
        ({"output_config": {"format": {"type": "text"}}}, "format"),
        ({"stream": "yes"}, "stream"),
    ],
)
def test_what_the_api_refuses_is_refused(change: dict[str, Any], word: str) -> None:
    outcome = Engine().answer(plain() | change)
    assert isinstance(outcome, Failure)
    assert (outcome.status, outcome.type) == (400, "invalid_request_error")
    assert word in outcome.message


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        ({"type": "object", "properties": {}}, "schema: additionalProperties must be false"),
        ({"type": "integer", "minimum": 1}, "minimum is not supported"),
        ({"type": "array", "items": {"type": "string", "maxLength": 3}}, "schema.items: maxLength is not supported"),
        ({"type": "array", "minItems": 5}, "minItems may be 0 or 1"),
        ({"anyOf": [{"type": "number", "maximum": 1}]}, "schema.anyOf.0: maximum"),
        ({"$defs": {"x": 7}}, "schema.$defs.x: expected an object"),
    ],
)
def test_a_schema_that_the_api_would_not_take_is_refused(schema: dict[str, Any], word: str) -> None:
    outcome = Engine().answer(plain(output_config={"format": {"type": "json_schema", "schema": schema}}))
    assert isinstance(outcome, Failure)
    assert word in outcome.message


@pytest.mark.parametrize("body", [None, [], "x", 3, {}, {"messages": {}}, {"model": "a", "max_tokens": 1}])
def test_what_is_no_request_is_a_failure(body: Any) -> None:
    assert status(Engine().answer(body)) == 400


def test_nesting_without_end_is_a_failure() -> None:
    deep: Any = "x"
    for _ in range(MOST_LEVELS + 1):
        deep = [deep]
    assert status(Engine().answer(plain(metadata=deep))) == 400
    assert status(Engine().answer(plain(metadata=[["x"]]))) == 200


def test_half_a_surrogate_pair_does_no_harm() -> None:
    request = ALL["output_quality"]
    body = json.loads(json.dumps(request.body).replace("Open each invoice", r"Open each \ud800 invoice"))
    assert value(Engine().answer(body))["assessments"]


@pytest.mark.parametrize("name", ["context_management", "mcp_servers", "compaction", "fallbacks"])
def test_what_the_api_takes_from_clients_that_name_a_beta_is_ignored(name: str) -> None:
    with_beta, without = Engine().answer(plain() | {name: {}}), Engine().answer(plain())
    assert isinstance(with_beta, Message)
    assert isinstance(without, Message)
    assert with_beta.content == without.content
