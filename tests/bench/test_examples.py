"""Example values from schemas: what a schema declares comes first, and what is made up is known."""

from __future__ import annotations

from typing import Any

import pytest

from skillgate.bench.mcp.examples import example, example_input
from skillgate.bench.schemas import errors_of


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties]}


TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("properties", "value", "invented"),
    [
        ({"a": {"type": "string", "examples": ["x", "y"]}, "b": {"enum": [3, 4]}}, {"a": "x", "b": 3}, ()),
        ({"a": {"const": None}, "b": {"default": False}}, {"a": None, "b": False}, ()),
        ({"a": {"$ref": "#/properties/b"}, "b": {"example": 7}}, {"a": 7, "b": 7}, ()),
        ({"a": {"$ref": "#/nowhere"}, "b": {}}, {"a": None, "b": None}, ("a", "b")),
        ({"source_timezone": TEXT, "of": TEXT}, {"source_timezone": "UTC", "of": "text"}, ("source_timezone", "of")),
        ({"url": {**TEXT, "format": "email"}}, {"url": "someone@example.org"}, ("url",)),
        ({"n": {"type": "integer", "maximum": 0}}, {"n": 0}, ("n",)),
        ({"n": {"type": "number", "exclusiveMinimum": 2.5}}, {"n": 3.5}, ("n",)),
        ({"ids": {"type": "array", "items": {"type": "integer"}, "minItems": 2}}, {"ids": [1, 1]}, ("ids",)),
        ({"none": {"type": "array", "minItems": 0}}, {"none": []}, ()),
        ({"in": schema(path=TEXT, n={"default": 5})}, {"in": {"path": "/srv", "n": 5}}, ("in",)),
        ({"at": {"anyOf": [{"type": "boolean"}, TEXT]}}, {"at": True}, ("at",)),
        ({"two": {"allOf": [schema(x=TEXT), schema(y={"const": 1})]}}, {"two": {"x": "text", "y": 1}}, ("two",)),
    ],
)  # fmt: skip
def test_an_example_is_what_the_schema_declares_or_made_up(
    properties: dict[str, Any], value: dict[str, Any], invented: tuple[str, ...]
) -> None:
    found = example_input(schema(**properties), "/srv")
    assert (found.value, found.invented) == (value, invented)
    if None not in value.values():
        assert not errors_of(schema(**properties), found.value).number


def test_strange_schemas_have_an_example_too() -> None:
    loop: dict[str, Any] = {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}
    assert example(loop, root=loop) is not None
    strange: list[Any] = [
        None,
        True,
        5,
        [],
        {"type": []},
        {"type": "array", "minItems": "x"},
        {"required": [1], "properties": {}},
    ]
    for one in strange:
        example(one, root=one)
    assert example_input({"type": "array"}, None).value == {}
    assert len(example({"type": "array", "items": {"type": "null"}, "minItems": 10**9})) == 10
