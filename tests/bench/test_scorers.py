"""Each scorer, by what it gives for answers that are right, wrong, partly right and strange."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from skillgate.bench.documents import prepare_scorer, rules_of
from skillgate.bench.ports import Scored, Surroundings, UnscoredError
from skillgate.errors import CodecError
from skillgate.model.bench import ErrorKind
from skillgate.model.benchmark import Task
from skillgate.model.codec import decode

SURROUNDINGS = Surroundings(
    spawner=None,
    environ={},
    allow_env=frozenset(),
    allow_host=frozenset(),
    guarded=False,
    served={},
    stop=threading.Event(),
)


def scored(expected: dict[str, Any], output: Any, **evaluator: Any) -> Scored:
    whole = {"id": "t", "inputData": {}, "expectedOutput": expected, "evaluator": evaluator}
    task = decode(Task, whole)
    rules = rules_of(task, "exact", "/")
    scorer = prepare_scorer(task, rules, SURROUNDINGS)
    found = scorer.score(output)
    assert isinstance(found, Scored)
    return found


@pytest.mark.parametrize(
    ("expected", "output"),
    [
        ("25", 25.0),
        ("25", "25 "),
        ("true", True),
        ("x", {"result": "x"}),
        ("x", {"result": "x", "more": 1}),
        (2, {"answer": 2, "unit": "m"}),
        (25, 25.0),
        ({"a": [1, {"b": None}]}, {"a": [1.0, {"b": None}]}),
        (None, None),
        (None, {"answer": None}),
        (True, True),
        ("é", "é"),
        ([], []),
    ],
)
def test_exact_takes_what_is_equal(expected: Any, output: Any) -> None:
    assert scored({"value": expected}, output).passed


@pytest.mark.parametrize(
    ("expected", "output"),
    [
        ({"a": 1}, {"b": 2}),  # two objects are not one text
        ({"a": 1}, {"a": 1, "b": 2}),
        (1, True),
        (True, 1),
        ([1, [2]], "1,2"),
        ("undefined", None),
        ("x", {"result": "x", "answer": "x"}),  # which of the two is the answer?
        ({"a": 1}, {"result": {"a": 1}, "more": 1}),
        ("X", "x"),
        ("é", "e\u0301"),
        ([1, 2], [2, 1]),
        (1e308, 1e307),
        ("[object Object]", {"a": 1}),
    ],
)
def test_exact_refuses_what_is_not(expected: Any, output: Any) -> None:
    found = scored({"value": expected}, output)
    assert (found.passed, found.score) == (False, 0.0)
    assert found.reason


def test_exact_says_where_two_values_differ() -> None:
    assert scored({"value": {"a": [1, 2]}}, {"a": [1, 3]}).reason == "/a/1: expected 2, found 3"


def test_exact_folds_case_and_normalises_where_asked() -> None:
    assert scored({"value": "Straße"}, "STRASSE", caseSensitive=False).passed
    assert scored({"value": "é"}, "e\u0301", normalize=True).passed
    assert not scored({"value": "é"}, "e\u0301").passed


def test_exact_has_a_tolerance() -> None:
    near = {"absolute": 0.01}
    assert scored({"value": {"x": 1.0}}, {"x": 1.009}, tolerance=near).passed
    assert not scored({"value": {"x": 1.0}}, {"x": 1.02}, tolerance=near).passed


def test_a_path_says_what_is_scored() -> None:
    assert scored({"value": "b"}, {"a": ["b"], "c": 1}, path="/a/0").passed
    found = scored({"value": "b"}, {"a": []}, path="/a/0")
    assert (found.passed, found.reason) == (False, "the answer has no value at /a/0")


def test_contains_gives_the_share_and_names_what_is_missing() -> None:
    found = scored({"keywords": ["Blue", "red"], "type": "contains"}, {"text": "deep BLUE"})
    assert (found.score, found.passed) == (0.5, False)
    assert '"red"' in found.reason


@pytest.mark.parametrize(
    ("keyword", "output", "scopes"),
    [
        ("result", {"result": "x"}, "output"),  # the wrapper too
        ("n", {"result": "x", "n": 1}, "output json"),
        ('"n":1', {"result": "x", "n": 1}, "output"),
        ('"n": 1', {"result": "x", "n": 1}, "json"),
        ('say "hi"', {"result": {"text": 'say "hi"'}}, "output values"),
        ("two\nlines", {"text": "two\nlines"}, "output values"),
        ("é", ["É"], "output values json"),
        ("25", {"result": 25.0}, "output values json"),
        ("a b", "a b", "output values json"),
    ],
)
def test_what_contains_looks_at(keyword: str, output: Any, scopes: str) -> None:
    expected = {"keywords": [keyword], "type": "contains"}
    found = [scope for scope in ("output", "values", "json") if scored(expected, output, scope=scope).passed]
    assert found == [scope for scope in ("output", "values", "json") if scope in scopes]
    assert scored(expected, output).passed is ("output" in scopes)  # the default


def test_a_path_names_the_part_that_contains_looks_at() -> None:
    expected = {"keywords": ["name"], "type": "contains"}
    assert not scored(expected, {"name": {"first": "x"}}, path="/name").passed
    assert scored(expected, {"a": {"name": "x"}}, path="/a").passed


def test_regex_looks_at_values() -> None:
    assert scored({"type": "regex", "patterns": ["^4[0-9]$"]}, {"result": "42"}).passed
    assert not scored({"type": "regex", "patterns": ["result"]}, {"result": "42"}).passed
    assert (
        scored({"type": "regex", "patterns": ['^{"result":"42"}$']}, {"result": "42"}, scope="output").passed is False
    )
    assert scored({"type": "regex", "patterns": ['"result":"42"']}, {"result": "42"}, scope="output").passed


def test_contains_minds_case_where_asked() -> None:
    assert not scored({"keywords": ["Blue"], "type": "contains"}, "blue", caseSensitive=True).passed


@pytest.mark.parametrize(
    ("output", "passes"),
    [(25, True), ("25.0", True), ("1e2", False), ("25 apples", False), (True, False), (None, False), ("nan", False)],
)
def test_numeric(output: Any, passes: bool) -> None:
    assert scored({"type": "numeric", "value": 25}, output).passed is passes


def test_numeric_within_a_tolerance() -> None:
    assert scored({"type": "numeric", "value": 100, "tolerance": {"relative": 0.01}}, 101).passed
    assert not scored({"type": "numeric", "value": 100, "tolerance": {"relative": 0.01}}, 101.1).passed


def test_regex_gives_the_share() -> None:
    found = scored({"type": "regex", "patterns": ["^a+$", "z"]}, "aaa")
    assert (found.score, found.passed) == (0.5, False)
    assert scored({"type": "regex", "patterns": ["B"]}, "b", caseSensitive=False).passed


def test_a_pattern_that_runs_away_is_ended_and_is_nobodys_wrong_answer() -> None:
    with pytest.raises(UnscoredError) as raised:
        scored({"type": "regex", "patterns": ["^(a+)+$"]}, "a" * 40 + "!", timeoutMs=500)
    assert raised.value.kind is ErrorKind.SCORER


SCHEMA = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("output", "passes"), [({"n": 1}, True), ({"n": "1"}, False), ('{"n": 1}', True), ("n", False)]
)
def test_json_schema(output: Any, passes: bool) -> None:
    assert scored({"type": "json_schema", "schema": SCHEMA}, output).passed is passes


def test_two_tasks_may_share_an_id_of_a_schema() -> None:
    schema = {**SCHEMA, "$id": "urn:x"}
    for _ in range(2):
        assert scored({"type": "schema", "schema": schema}, {"n": 1}).passed


def test_a_schema_that_points_elsewhere_is_not_fetched() -> None:
    schema = {"$ref": "http://127.0.0.1:9/x.json"}
    with pytest.raises(ValueError, match="is broken: nothing is fetched"):
        scored({"type": "json_schema", "schema": schema}, {"n": 1})


def test_json_schema_is_tried_on_large_answers_and_with_patterns_as_on_others() -> None:
    schema = {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}, "uniqueItems": True}
    assert scored({"type": "json_schema", "schema": schema}, ["a", "b"]).passed
    found = scored({"type": "json_schema", "schema": schema}, ["a", "B"])
    assert (found.passed, found.reason) == (False, "/1: 'B' does not match '^[a-z]+$'")
    plain = {"type": "array", "items": {"type": "string"}}
    found = scored({"type": "json_schema", "schema": plain}, [0] * 200_000)
    assert found.reason.endswith("; at least 997 more")
    assert scored({"type": "json_schema", "schema": plain}, ["x"] * 20_000).passed


@pytest.mark.parametrize(
    ("schema", "answer"),
    [({"pattern": "^(a+)+$"}, "a" * 40 + "!"), ({"uniqueItems": True}, [{"a": n} for n in range(50_000)])],
)
def test_json_schema_ends_where_an_answer_takes_it_too_long(schema: dict[str, Any], answer: Any) -> None:
    with pytest.raises(UnscoredError, match="took more than 1 s"):
        scored({"type": "json_schema", "schema": schema}, answer, timeoutMs=1000)


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ({"type": "exact"}, "expectedOutput.value"),
        ({"type": "contains", "value": "x"}, "expectedOutput.keywords"),
        ({"type": "contains", "keywords": ["a", ""]}, r"expectedOutput.keywords\[1\]"),
        ({"type": "regex", "patterns": ["("]}, r"expectedOutput.patterns\[0\]"),
        ({"type": "json_schema"}, "expectedOutput.schema"),
        ({"type": "json_schema", "schema": {"type": "nope"}}, "expectedOutput.schema"),
        ({"type": "numeric", "value": "many"}, "expectedOutput.value"),
        ({"type": "fuzzy", "value": 1}, "unknown scorer 'fuzzy'"),
        ({"type": "llm_judge"}, "expectedOutput.judgePrompt"),
        ({"type": "custom"}, "evaluator.customScorerPath"),
    ],
)
def test_what_cannot_be_scored_is_refused_before_anything_runs(expected: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        scored(expected, 1)


def test_a_path_that_is_no_pointer_is_refused() -> None:
    with pytest.raises(ValueError, match=r"evaluator.path"):
        scored({"value": 1}, 1, path="a.b")


def test_two_scorers_for_one_task_are_refused() -> None:
    with pytest.raises(ValueError, match="remove one"):
        scored({"type": "contains", "keywords": ["a"]}, 1, type="regex")
    assert scored({"type": "exact_match", "value": 1}, 1, type="exact").passed


def test_an_unknown_key_of_an_evaluator_is_refused() -> None:
    with pytest.raises(CodecError, match="casesensitive"):
        scored({"value": 1}, 1, casesensitive=True)


WRAPPED = [
    {"type": "exact", "value": 7},
    {"type": "numeric", "value": 7},
    {"type": "contains", "keywords": ["7"]},
    {"type": "regex", "patterns": ["^7$"]},
    {"type": "json_schema", "schema": {"type": "integer"}},
]


@pytest.mark.parametrize("expected", WRAPPED)
@pytest.mark.parametrize("key", ["result", "output", "answer"])
def test_an_answer_in_a_wrapper_is_unwrapped_for_every_scorer(expected: dict[str, Any], key: str) -> None:
    assert scored(expected, 7).passed
    assert scored(expected, {key: 7}).passed
    assert not scored({**expected, **_other(expected)}, {key: 7}).passed


def _other(expected: dict[str, Any]) -> dict[str, Any]:
    others = {"value": 8, "keywords": ["8"], "patterns": ["^8$"], "schema": {"type": "string"}}
    return {key: others[key] for key in expected if key in others}


def test_json_schema_validates_what_is_in_the_wrapper_unless_the_path_says_the_whole_answer() -> None:
    inside = {"type": "json_schema", "schema": {"required": ["n"]}}
    whole = {"type": "json_schema", "schema": {"type": "object", "required": ["result"]}}
    answer = {"result": {"n": 1}}
    assert scored(inside, answer).passed
    assert scored(whole, answer, path="").passed
    assert not scored(inside, answer, path="").passed
    assert scored(whole, {"result": 1, "source": "x"}).passed  # more than one key is no wrapper
    found = scored({"type": "json_schema", "schema": {"type": "array"}}, answer)
    assert not found.passed
    assert found.reason.endswith(
        'only the value of result was validated; set evaluator.path to "" for the whole answer'
    )


def test_a_schema_of_an_object_or_with_the_wrappers_key_is_of_the_whole_answer() -> None:
    named = {"type": "object", "properties": {"result": {"type": "string", "minLength": 3}}}
    assert scored({"type": "json_schema", "schema": named}, {"result": "abc"}).passed
    assert not scored({"type": "json_schema", "schema": named}, {"result": "ab"}).passed
    assert scored({"type": "json_schema", "schema": {"required": ["result"]}}, {"result": {"n": 1}}).passed
    assert scored({"type": "json_schema", "schema": {"type": "object"}}, {"result": "x"}).passed
    others = {"type": "object", "required": ["n"]}
    assert not scored({"type": "json_schema", "schema": others}, {"result": {"n": 1}}).passed
    assert scored({"type": "json_schema", "schema": others}, {"result": {"n": 1}}, path="/result").passed
    assert scored({"type": "json_schema", "schema": {"type": "array"}}, {"result": []}).passed


def test_a_wrapper_hides_nothing_that_a_schema_forbids() -> None:
    schema = {"not": {"required": ["secret"]}}
    assert not scored({"type": "json_schema", "schema": schema}, {"result": {"secret": 1}}).passed
