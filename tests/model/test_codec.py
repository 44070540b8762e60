"""The codec: what is encoded reads back equal and fits its schema, and what does not read says where and why."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from skillgate.errors import CodecError
from skillgate.model.codec import decode, encode, schema
from skillgate.model.score import MAX_PROBLEMS, Range

if TYPE_CHECKING:
    from decimal import Decimal


class Grade(Enum):
    A = "a"
    F = "f"


class Level(Enum):
    LOW = 1
    HIGH = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """Compares letter by letter.

    And this paragraph is for programmers.
    """

    TAG: ClassVar[tuple[str, str]] = ("type", "exact")

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    TAG: ClassVar[tuple[str, str]] = ("type", "judge")

    weight: Annotated[float, Range(0, 1)]
    votes: int | None = field(default=None, metadata={"omit_none": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    id: str
    evaluator: Exact | Judged
    timeout_ms: Annotated[int, Range(minimum=100)] = field(
        default=1000, metadata={"json": "timeoutMs", "doc": "How long a run may take."}
    )
    subtasks: tuple[Task, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Every kind of field there is."""

    tasks: tuple[Task, ...]
    grade: Grade
    level: Level | None
    path: PurePosixPath
    made: datetime
    share: Annotated[float | None, Range(0, 1)]
    scalar: bool | int | float | str | None
    number: int | float
    tags: frozenset[str]
    grades: frozenset[Grade]
    counts: Mapping[str, int]
    by_grade: Mapping[Grade, float]
    by_level: Mapping[str, tuple[Level, ...]]
    mode: Literal["auto", 1, True]
    extra: Any
    note: str | tuple[str, ...] | None
    best: Exact | Judged | None
    other: Judged | float | None = field(metadata={"omit_none": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    CLOSED: ClassVar[bool] = True

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Omitting:
    never_none: int = field(metadata={"omit_none": True})
    none: int | None = field(metadata={"omit_none": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    name: str
    length: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(self.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreachable:
    price: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Ambiguous:
    value: str | PurePosixPath


@dataclass(frozen=True, slots=True, kw_only=True)
class Untagged:
    value: Closed | Derived


@dataclass(frozen=True, slots=True, kw_only=True)
class Colliding:
    TAG: ClassVar[tuple[str, str]] = ("name", "x")

    name: str


numbers = st.floats(allow_nan=False, allow_infinity=False)
shares = st.floats(0, 1)
exact = st.builds(Exact, text=st.text())
judged = st.builds(Judged, weight=shares, votes=st.none() | st.integers())
plain_tasks = st.builds(Task, id=st.text(), evaluator=exact | judged, timeout_ms=st.integers(100))
tasks = st.builds(Task, id=st.text(), evaluator=exact | judged, subtasks=st.lists(plain_tasks, max_size=2).map(tuple))
fractions = numbers.filter(lambda number: not number.is_integer())  # JSON Schema cannot tell 1.0 from 1
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | fractions | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
zones = st.builds(timezone, st.timedeltas(timedelta(hours=-23), timedelta(hours=23)))
times = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=zones, allow_imaginary=False)
suites = st.builds(
    Suite,
    tasks=st.lists(tasks, max_size=2).map(tuple),
    grade=st.sampled_from(Grade),
    level=st.none() | st.sampled_from(Level),
    path=st.text().map(PurePosixPath),
    made=times,
    share=st.none() | shares,
    scalar=st.none() | st.booleans() | st.integers() | numbers | st.text(),
    number=st.integers() | numbers,
    tags=st.frozensets(st.text(), max_size=4),
    grades=st.frozensets(st.sampled_from(Grade)),
    counts=st.dictionaries(st.text(), st.integers(), max_size=3),
    by_grade=st.dictionaries(st.sampled_from(Grade), numbers),
    by_level=st.dictionaries(st.text(), st.lists(st.sampled_from(Level)).map(tuple), max_size=2),
    mode=st.sampled_from(("auto", 1, True)),
    extra=json_values,
    note=st.none() | st.text() | st.lists(st.text(), max_size=2).map(tuple),
    best=st.none() | exact | judged,
    other=st.none() | judged | numbers,
)
SUITE_SCHEMA = schema(Suite, title="A suite", schema_id="https://example.org/suite.json")
SUITE_VALIDATOR = Draft202012Validator(SUITE_SCHEMA)
SUITE = Suite(
    tasks=(Task(id="t", evaluator=Exact(text="x")),),
    grade=Grade.A,
    level=None,
    path=PurePosixPath("a/b"),
    made=datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC),
    share=0.5,
    scalar=1,
    number=1,
    tags=frozenset({"b", "a"}),
    grades=frozenset(),
    counts={"n": 1},
    by_grade={Grade.F: 1.0},
    by_level={},
    mode="auto",
    extra=None,
    note=None,
    best=None,
    other=None,
)


def problems(cls: Any, data: Any, *, path: str = "", unknown: Literal["ignore", "error"] = "ignore") -> list[str]:
    with pytest.raises(CodecError) as caught:
        decode(cls, data, path=path, unknown=unknown)
    return str(caught.value).splitlines()


def changed(**keys: Any) -> dict[str, Any]:
    return {**encode(SUITE), **keys}


@given(suites)
def test_what_is_encoded_reads_back_equal_and_fits_its_schema(suite: Suite) -> None:
    document = encode(suite)
    assert decode(Suite, document, unknown="error") == suite
    SUITE_VALIDATOR.validate(document)


@given(suites, st.data())
def test_the_schema_accepts_exactly_what_decoding_accepts(suite: Suite, data: st.DataObject) -> None:
    document = encode(suite)
    key = data.draw(st.sampled_from(sorted(set(document) - {"made"})))  # a time's form is no rule of JSON Schema
    document[key] = data.draw(json_values)
    try:
        decode(Suite, document)
    except CodecError:
        assert not SUITE_VALIDATOR.is_valid(document)
    else:
        assert SUITE_VALIDATOR.is_valid(document)


def test_the_schema_is_a_valid_schema() -> None:
    Draft202012Validator.check_schema(SUITE_SCHEMA)


def test_keys_come_in_field_order_with_the_tag_first_and_sets_sorted() -> None:
    document = encode(SUITE)
    assert list(document)[:4] == ["tasks", "grade", "level", "path"]
    assert list(document["tasks"][0]["evaluator"].items()) == [("type", "exact"), ("text", "x")]
    assert document["tasks"][0]["timeoutMs"] == 1000
    assert document["tags"] == ["a", "b"]
    assert document["by_grade"] == {"f": 1.0}
    assert "other" not in document


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (datetime(2025, 1, 2, 3, 4, 5, 6000, tzinfo=UTC), "2025-01-02T03:04:05.006000Z"),
        (datetime(2025, 1, 2, 3, tzinfo=timezone(timedelta(hours=5))), "2025-01-01T22:00:00Z"),
        (PurePosixPath("a") / "b", "a/b"),
        (Level.HIGH, 2),
        (MappingProxyType({"a": (1, [2.5, None])}), {"a": [1, [2.5, None]]}),
        ({Level.LOW: True}, {"1": True}),
        (frozenset("skillgate"), sorted(set("skillgate"))),
        (frozenset({(2, 0), (10, 0), (9, 0)}), [[2, 0], [9, 0], [10, 0]]),
        (frozenset({"a", None}), ["a", None]),
    ],
)
def test_single_values_encode(value: object, expected: object) -> None:
    assert encode(value) == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("nan"), "the document: expected a finite number, found nan"),
        ({"a": [{"b c": float("inf")}]}, 'a[0]["b c"]: expected a finite number, found inf'),
        ((Judged(weight=float("nan")),), "[0].weight: expected a finite number, found nan"),
        ({"at": datetime(2025, 1, 1)}, "at: expected a time with a time zone, found 2025-01-01T00:00:00 without one"),
        ({"a": {1: 2}}, "a: expected an object with string keys, found the key 1"),
        ([b"x"], "[0]: expected a value with a JSON form, found bytes"),
    ],
)
def test_a_value_without_a_json_form_is_named_with_its_path(value: object, message: str) -> None:
    with pytest.raises(CodecError) as caught:
        encode(value)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"grade": "b"}, 'grade: expected one of "a", "f", found "b"'),
        ({"grade": None}, 'grade: expected one of "a", "f", found null'),
        ({"level": True}, "level: expected one of 1, 2 or null, found true"),
        ({"share": 1.5}, "share: expected a number or null of at least 0 and at most 1, found 1.5"),
        ({"share": float("nan")}, "share: expected a number or null of at least 0 and at most 1, found nan"),
        ({"counts": {"a b": 1.0}}, 'counts["a b"]: expected an integer, found 1.0'),
        ({"counts": {"n": False}}, "counts.n: expected an integer, found false"),
        ({"by_grade": {"b": 1}}, 'by_grade.b: expected one of "a", "f", found "b"'),
        ({"by_grade": {"a": 10**400}}, f"by_grade.a: expected a number, found {10**400}"),
        ({"by_level": {"x": [1, 3]}}, "by_level.x[1]: expected one of 1, 2, found 3"),
        ({"tags": ["a", "a"]}, "tags: expected a list without repeats, found a list with repeats"),
        ({"made": "2025-01-01"}, 'made: expected an ISO 8601 time with a time zone, found "2025-01-01"'),
        ({"made": "soon"}, 'made: expected an ISO 8601 time with a time zone, found "soon"'),
        ({"mode": 1.0}, 'mode: expected one of "auto", 1, true, found 1.0'),
        ({"note": {}}, "note: expected a string or a list or null, found an object"),
        ({"path": "x" * 99, "number": "x" * 99}, f'number: expected an integer or a number, found "{"x" * 57}…"'),
        ({"tasks": {}}, "tasks: expected a list, found an object"),
        ({"best": {"type": "best"}}, 'best.type: expected one of "exact", "judge", found "best"'),
        ({"best": {}}, 'best.type: expected one of "exact", "judge", found nothing (the key is required)'),
        ({"best": {"type": "exact"}}, "best.text: expected a string, found nothing (the key is required)"),
        ({"other": {"type": "exact", "weight": 1}}, 'other.type: expected "judge", found "exact"'),
        (
            {"tasks": [{"id": "t", "evaluator": {"type": "judge", "weight": 0}, "timeoutMs": 99}]},
            "tasks[0].timeoutMs: expected an integer of at least 100, found 99",
        ),
    ],
)
def test_a_problem_names_the_path_the_expected_and_the_found(keys: dict[str, Any], message: str) -> None:
    assert problems(Suite, changed(**keys)) == [message]


def test_all_problems_are_told_at_once_in_document_order() -> None:
    tasks = [{"id": "x", "evaluator": {"type": "exact", "text": ""}}, {"id": 1, "evaluator": {"type": "no"}}, 7]
    assert problems(Suite, changed(tasks=tasks, grade=3), path="suite.json") == [
        "suite.json.tasks[1].id: expected a string, found 1",
        'suite.json.tasks[1].evaluator.type: expected one of "exact", "judge", found "no"',
        "suite.json.tasks[2]: expected an object, found 7",
        'suite.json.grade: expected one of "a", "f", found 3',
    ]


def test_the_list_of_problems_ends_after_twenty() -> None:
    lines = problems(tuple[int, ...], ["x"] * 1000)
    assert lines[MAX_PROBLEMS - 1] == f'[{MAX_PROBLEMS - 1}]: expected an integer, found "x"'
    assert lines[MAX_PROBLEMS:] == ["only the first 20 problems are shown"]


def test_a_document_of_the_wrong_kind_is_said_to_be_so() -> None:
    assert problems(Closed, []) == ["the document: expected an object, found a list"]
    assert problems(Closed, [], path="a.json") == ["a.json: expected an object, found a list"]


def test_missing_keys_take_their_defaults() -> None:
    task = decode(Task, {"id": "t", "evaluator": {"type": "judge", "weight": 1}})
    assert task == Task(id="t", evaluator=Judged(weight=1.0))
    assert isinstance(task.evaluator, Judged)
    assert type(task.evaluator.weight) is float


def test_what_is_left_out_when_none_is_required_only_where_it_cannot_be_none() -> None:
    assert decode(Omitting, encode(Omitting(never_none=1, none=None))) == Omitting(never_none=1, none=None)
    assert schema(Omitting, title="", schema_id="")["$defs"]["Omitting"]["required"] == ["never_none"]
    assert problems(Omitting, {}) == ["never_none: expected an integer, found nothing (the key is required)"]


def test_unknown_keys_are_passed_over_unless_asked() -> None:
    document = {"type": "exact", "text": "x", "txet": 1}
    assert decode(Exact, document) == Exact(text="x")
    assert problems(Exact, document, unknown="error") == [
        'txet: expected a known key (did you mean "text"?), found an unknown key'
    ]
    assert problems(Exact, {"type": "exact", "text": "x", "zzz": 1}, unknown="error") == [
        "zzz: expected one of the keys text, type, found an unknown key"
    ]


def test_a_closed_dataclass_never_takes_unknown_keys() -> None:
    assert problems(Closed, {"name": "x", "b": 1}) == ["b: expected one of the keys name, found an unknown key"]
    assert schema(Closed, title="", schema_id="")["$defs"]["Closed"]["additionalProperties"] is False


def test_a_field_that_the_class_works_out_is_written_and_not_passed_to_it() -> None:
    assert encode(Derived(name="abc")) == {"name": "abc", "length": 3}
    assert decode(Derived, {"name": "abc", "length": 3}) == Derived(name="abc")


def test_a_type_imported_for_annotations_only_is_a_clear_error() -> None:
    with pytest.raises(TypeError, match=r"Unreachable cannot be decoded.*'Decimal'.*import it at the top"):
        decode(Unreachable, {"price": 1})
    with pytest.raises(TypeError, match="'Decimal'"):
        schema(Unreachable, title="", schema_id="")


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (Ambiguous, "two of them take a string"),
        (Untagged, r"Closed \| Derived: each needs a TAG"),
        (Colliding, "two of its JSON keys are the same"),
        (Mapping[int, str], "keys of a JSON object are strings"),
        (bytes, "no JSON form of the type"),
        (tuple[int, str], "no JSON form of the type"),
    ],
)
def test_a_type_that_json_cannot_hold_is_refused(cls: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        decode(cls, {})


def test_a_union_of_dataclasses_is_a_document_too() -> None:
    union = schema(Exact | Judged, title="Evaluator", schema_id="urn:e")
    assert union["oneOf"] == [{"$ref": "#/$defs/Exact"}, {"$ref": "#/$defs/Judged"}]
    assert decode(Exact | Judged, {"type": "exact", "text": ""}) == Exact(text="")
    for value in (Exact(text="x"), Judged(weight=1)):
        Draft202012Validator(union).validate(encode(value))


def test_the_schema_says_what_docstrings_and_metadata_say() -> None:
    assert (SUITE_SCHEMA["$id"], SUITE_SCHEMA["title"]) == ("https://example.org/suite.json", "A suite")
    definitions = SUITE_SCHEMA["$defs"]
    assert definitions["Exact"] == {
        "description": "Compares letter by letter.",
        "type": "object",
        "properties": {"type": {"const": "exact"}, "text": {"type": "string"}},
        "required": ["type", "text"],
        "additionalProperties": True,
    }
    assert "description" not in definitions["Judged"]
    assert definitions["Judged"]["required"] == ["type", "weight"]
    assert definitions["Task"]["properties"]["timeoutMs"] == {
        "type": "integer",
        "minimum": 100,
        "description": "How long a run may take.",
    }
    properties = definitions["Suite"]["properties"]
    assert properties["share"] == {"type": ["number", "null"], "minimum": 0, "maximum": 1}
    assert properties["level"] == {"anyOf": [{"enum": [1, 2]}, {"type": "null"}]}
    assert properties["by_grade"]["propertyNames"] == {"enum": ["a", "f"]}


def test_encoding_loads_nothing_that_only_reading_needs() -> None:
    program = (
        "import sys; before = set(sys.modules); import skillgate.model.codec as codec; codec.encode({'a': [1.5]});"
        "reading = {'skillgate.model.shape', 'skillgate.model.shape'};"
        "reading |= {'difflib', 'pathlib', 'datetime', 'json', 'jsonschema'};"
        "print(sorted(reading & (set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
