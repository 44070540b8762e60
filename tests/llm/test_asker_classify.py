"""What a reply is worth: only what is complete and fits to the last key is an answer."""

from __future__ import annotations

import time
from typing import Any

import pytest

pytest.importorskip("jsonschema")
pytest.importorskip("tenacity")

from skillgate.llm.port import classify
from skillgate.model.exchange import Reply, Request, Status, Tokens
from tests.llm.requests import SCHEMA, request


def reply(text: str, *, stop_reason: str = "end_turn") -> Reply:
    return Reply(({"type": "text", "text": text},), stop_reason, Tokens(1, 1), "m")


@pytest.mark.parametrize(
    "text",
    [
        '{"score": 7}',
        ' \n{"score":7}\n',
        '```json\n{"score": 7}\n```',
        '```\n{"score": 7}```',
        '\n```JSON  \r\n{"score": 7}\n```\n\n',
        '{"score": 7.0}',
        '{"score": 0.7e1}',
    ],
)
def test_json_that_fits_is_an_answer(text: str) -> None:
    found = classify(request(), reply(text))
    assert (found.status, found.value, found.reason) == (Status.OK, {"score": 7}, "")
    assert type(found.value["score"]) is int


def test_a_key_among_many_that_stands_twice_is_found_at_once() -> None:
    began = time.process_time()
    keys = ",".join(f'"{number}":0' for number in range(8_000))
    found = classify(request(), reply(f'{{{keys},"7999":1}}'))
    assert 'the key "7999" stands twice' in found.reason
    assert time.process_time() - began < 5


@pytest.mark.parametrize(("most_tokens", "most"), [(8_192, 131_072), (100, 65_536), (None, 65_536)])
def test_a_text_that_no_tokens_were_given_for_is_not_decoded(most_tokens: int | None, most: int) -> None:
    text = '{"score": 7}'
    asked = request(max_tokens=most_tokens)
    assert classify(asked, reply(text + " " * (most - len(text)))).status is Status.OK
    found = classify(asked, reply(text + " " * (most - len(text) + 1)))
    assert (found.status, found.value) == (Status.INVALID, None)
    assert f"longer than {most} characters" in found.reason


def test_many_items_that_do_not_fit_take_no_longer_than_a_few() -> None:
    schema = {"type": "array", "items": {"type": "string", "enum": ["a"], "minLength": 9}}
    began = time.process_time()
    found = classify(request(schema=schema), reply(f"[{'1,' * 60_000}1]"))
    assert (found.status, found.value) == (Status.INVALID, None)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no text"),
        ("7 of 10", "not one JSON value"),
        ('Here it is: {"score": 7}', "not one JSON value"),
        ('{"score": 7} I hope this helps', "not one JSON value"),
        ('{"score": 7}{"score": 7}', "not one JSON value"),
        ('```python\n{"score": 7}\n```', "not one JSON value"),
        ('```json\n{"score": 7}\n```\n```json\n{"score": 7}\n```', "not one JSON value"),
        ("```", "not one JSON value"),
        ('{"score": 7, "score": 2}', '"score" stands twice'),
        ('{"score": NaN}', "NaN is no number"),
        ('{"score": -Infinity}', "-Infinity is no number"),
        ('{"score": 1e999}', "1e999 is no number"),
        ('{"score": 7.5}', "$.score"),
        ('{"score": true}', "$.score"),
        ('{"score": "7"}', "$.score"),
        ('{"score": null}', "$.score"),
        ('{"score": 11}', "$.score"),
        ('{"score": -1}', "$.score"),
        ("{}", "'score' is a required property"),
        ("[7]", "$: "),
        ("7", "$: "),
        ('{"score": 7, "more": 1}', "$: Additional properties"),
        ('{"score": ' + "9" * 5_000 + "}", "not one JSON value"),
        ("[" * 100_000, "not one JSON value"),
    ],
)
def test_anything_else_is_not(text: str, said: str) -> None:
    found = classify(request(), reply(text))
    assert (found.status, found.value) == (Status.INVALID, None)
    assert said in found.reason
    assert len(found.reason) < 400


def test_a_deep_fault_is_named_by_its_path() -> None:
    schema = {"type": "object", "properties": {"items": {"type": "array", "items": SCHEMA}}, "required": ["items"]}
    found = classify(request(schema=schema), reply('{"items": [{"score": 1}, {"score": 12}]}'))
    assert found.reason.startswith("$.items[1].score: 12")


def test_booleans_are_no_numbers_in_an_enumeration_either() -> None:
    schema = {"enum": [0, 1]}
    assert classify(request(schema=schema), reply("true")).status is Status.INVALID
    assert classify(request(schema=schema), reply("1")).status is Status.OK


def test_half_a_character_is_refused() -> None:
    schema = {"type": "string"}
    assert classify(request(schema=schema), reply(r'"\ud83d\ude00"')).value == "😀"
    assert "half of a character" in classify(request(schema=schema), reply(r'"\ud83d"')).reason
    assert "half of a character" in classify(request(schema=None), reply("\ud83d")).reason


def test_the_request_s_own_check_has_the_last_word() -> None:
    def odd(value: Any) -> str | None:
        return None if value["score"] % 2 else f"{value['score']} is even"

    assert classify(request(check=odd), reply('{"score": 7}')).status is Status.OK
    found = classify(request(check=odd), reply('{"score": 8}'))
    assert (found.status, found.value, found.reason) == (Status.INVALID, None, "8 is even")


def test_without_a_schema_the_text_is_the_answer() -> None:
    assert classify(request(schema=None), reply("```json\n{}\n```")).value == "```json\n{}\n```"


def test_a_tool_is_called_only_where_one_was_offered() -> None:
    called = Reply(({"type": "tool_use", "name": "Skill", "input": {}},), "tool_use", Tokens(1, 1), "m")
    assert classify(request(), called).status is Status.INVALID
    assert classify(request(schema=None, tools=[{"name": "Skill"}]), called).status is Status.OK


SKILL_CALL = {"type": "tool_use", "id": "toolu_1", "name": "Skill", "input": {"skill": "pdf"}}
TOOLS = [{"name": "Skill"}, {"name": "Read"}]


def turn(*blocks: Any, stop_reason: str = "end_turn") -> Reply:
    return Reply(tuple(blocks), stop_reason, Tokens(1, 1), "m")


def said(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


@pytest.mark.parametrize(
    ("found", "status", "value"),
    [
        (turn(SKILL_CALL, stop_reason="tool_use"), Status.OK, ""),
        (turn(said("I load it."), SKILL_CALL, stop_reason="tool_use"), Status.OK, "I load it."),
        (turn(SKILL_CALL), Status.OK, ""),
        (turn(said("Done: no JSON.")), Status.OK, "Done: no JSON."),
        (turn(said("Done."), stop_reason="stop_sequence"), Status.OK, "Done."),
        (turn(), Status.INVALID, None),
        (turn(said(" \n")), Status.INVALID, None),
        (turn({"type": "thinking", "thinking": "hm"}), Status.INVALID, None),
        (turn(said("I load it."), stop_reason="tool_use"), Status.INVALID, None),
        (turn(stop_reason="tool_use"), Status.INVALID, None),
        (turn(said("a"), SKILL_CALL, stop_reason="refusal"), Status.REFUSED, None),
        (turn(said("a"), SKILL_CALL, stop_reason="max_tokens"), Status.TRUNCATED, None),
        (turn(said("a"), stop_reason="model_context_window_exceeded"), Status.ERROR, None),
        (turn(said("a"), stop_reason="max_turns"), Status.INVALID, None),
        (turn(said("a"), stop_reason="pause_turn"), Status.INVALID, None),
        (turn({**SKILL_CALL, "input": {"skill": "\ud83d"}}, stop_reason="tool_use"), Status.INVALID, None),
        (turn(said("a" * 200_000)), Status.INVALID, None),
    ],
)
@pytest.mark.parametrize("schema", [None, SCHEMA])
def test_a_turn_of_a_session_calls_tools_or_says_something(
    found: Reply, status: Status, value: str | None, schema: dict[str, Any] | None
) -> None:
    classified = classify(request(schema=schema, tools=TOOLS), found)
    assert (classified.status, classified.value) == (status, value)


@pytest.mark.parametrize("tools", [None, [], ()])
def test_where_no_tool_is_offered_none_is_called(tools: Any) -> None:
    found = classify(request(schema=None, tools=tools), turn(SKILL_CALL, stop_reason="tool_use"))
    assert (found.status, found.reason) == (Status.INVALID, "the reply calls a tool, and none was offered")


@pytest.mark.parametrize(
    ("found", "status"),
    [
        (turn(SKILL_CALL, {"type": "tool_result", "content": "body"}, said("Done.")), Status.OK),
        (turn(SKILL_CALL, said("still at it"), stop_reason="max_turns"), Status.OK),
        (turn(stop_reason="max_turns"), Status.OK),
        (turn(said("x" * 1_000_000)), Status.OK),
        (turn(), Status.INVALID),
        (turn(said("no"), stop_reason="refusal"), Status.REFUSED),
        (turn(said("no"), stop_reason="error_during_execution"), Status.INVALID),
        (turn(said("no"), stop_reason="tool_use"), Status.INVALID),
    ],
)
def test_a_session_of_a_runner_is_its_transcript(found: Reply, status: Status) -> None:
    asked = request(schema=None)._replace(body={"runner": "agent-sdk", "model": "m", "prompt": "p", "max_turns": 10})
    assert classify(asked, found).status is status


@pytest.mark.parametrize("text", ["```" * 200_000, "```\n" + " \n" * 300_000 + "x", "{" + '"a":' * 100_000])
def test_no_reply_takes_long_to_refuse(text: str) -> None:
    began = time.process_time()
    assert classify(request(), reply(text)).status is Status.INVALID
    assert time.process_time() - began < 2.0


def test_a_session_that_was_cut_off_names_no_number_of_tokens_that_nobody_gave() -> None:
    session = Request("simulation", "skills/a", {"runner": "agent-sdk", "model": "claude-sonnet-5-5", "prompt": "do"})
    found = classify(session, Reply(({"type": "text", "text": "So"},), "max_tokens", None, "claude-sonnet-5-5"))
    assert found.status is Status.TRUNCATED
    assert "None" not in found.reason
    assert "session" in found.reason
