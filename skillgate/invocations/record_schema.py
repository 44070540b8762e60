"""The JSON Schema of a line of JSON Lines, made from the keys and converters that read it.

A schema cannot say that a day exists and is not in the future, that a sum is at most 2^53, or that no more follow-ups
are open than there were. Nor can it say that a name has no format characters, or that 1.0 is no id and no rating.

It is stricter in two respects. A value is checked even if the same key at the top, or another name of it, overrides
it. And it takes the times of ISO 8601 alone, of which the standard library reads a few odd variants.
"""

from __future__ import annotations

from typing import Any

from skillgate.invocations.formats import _record as record
from skillgate.invocations.formats._input import MOST, NAME_CHARACTERS
from skillgate.model.score import NOT_BLANK, whole
from skillgate.report.schema import _DRAFT, _id

_VISIBLE = r"[^\u0000-\u001f\u007f-\u009f\u2028\u2029]"
_FRACTION = r"(?:[.,][0-9]+)?"
_TIME = rf"(?:[01][0-9]|2[0-3])(?::[0-5][0-9](?::[0-5][0-9]{_FRACTION})?|[0-5][0-9](?:[0-5][0-9]{_FRACTION})?)?"
_DAY = r"(?:19[7-9][0-9]|[2-9][0-9]{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"

_NULL = {"type": "null"}
_FLAG = {"type": "boolean"}
_COUNT = {"type": "integer", "minimum": 0, "maximum": MOST}
_AMOUNT = {"type": "number", "minimum": 0, "maximum": MOST}
_LIST = {"type": "array"}
_NAME = {"type": "string", "maxLength": NAME_CHARACTERS, "pattern": whole(rf"(?:(?=[\s\S]*\S){_VISIBLE}+)?")}
_RATING = {"enum": [*record._RATINGS]}
_MOMENT = {
    "anyOf": [
        {"type": "string", "pattern": whole(rf"{_DAY}[Tt ]{_TIME}(?:[Zz]|[+-]{_TIME})?")},
        {"type": "number", "minimum": 0, "maximum": record._LAST_SECOND * 1000},
    ],
    "description": "ISO 8601 with date and time, UTC without a zone; or seconds or milliseconds since 1970.",
}
_SHAPES: dict[record.Converter, dict[str, Any]] = {
    record.flag: _FLAG,
    record.count: _COUNT,
    record.amount: _AMOUNT,
    record.amount_or_list: {"anyOf": [_AMOUNT, _LIST]},
    record.ratio: {"type": "number", "minimum": 0, "maximum": 1},
    record.name: _NAME,
    record.skill: {"type": "string", "pattern": NOT_BLANK},
    record.identifier: {"anyOf": [_NAME, {"type": "integer", "minimum": -MOST, "maximum": MOST}]},
    record.rating: _RATING,
    record.moment: _MOMENT,
    **{convert: {"enum": [*words]} for convert, words in record.CHOICES.items()},
}


def _or_null(shape: dict[str, Any]) -> dict[str, Any]:
    """Return the shape of a value that may be null, which is the same as missing."""
    return {"anyOf": [shape, _NULL]}


def _object(properties: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {"type": "object", "properties": {key: _or_null(shape) for key, shape in properties.items()}}


def _items(inner: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the shape of a number, or of a list of texts and objects."""
    return {"anyOf": [_COUNT, {"type": "array", "items": {"anyOf": [{"type": "string"}, _object(inner)]}}]}


_FEEDBACK = {
    **dict.fromkeys(record._ACCURACIES, _FLAG),
    "accuracy": _SHAPES[record.accuracy],
    "rating": _RATING,
}
_FILLED: dict[str, dict[str, Any]] = {  # by key of a filler; one without a shape here is another name of a key
    **dict.fromkeys(("crashed", "timed_out", "hung"), _FLAG),
    "errors": {"anyOf": [_COUNT, _LIST]},
    "tokens_used": {"anyOf": [_COUNT, {"type": "object", "additionalProperties": _or_null(_COUNT)}]},
    "tool_calls": _items({"count": _COUNT}),
    "follow_ups": _items({"resolved": _FLAG}),
    "feedback": _object(_FEEDBACK),
    "code_quality": _object(dict.fromkeys(record._SIGNALS, _FLAG)),
}
_OTHER_NAMES = {"skill": "skill_name", "category": "skill_category", "id": "invocation_id"}


def invocation_schema() -> dict[str, Any]:
    """Return the schema."""
    shapes: dict[str, dict[str, Any]] = {key: _SHAPES[convert] for key, (_, convert) in record.FIELDS.items()}
    shapes |= {key: _FILLED[key] if key in _FILLED else shapes[_OTHER_NAMES[key]] for key in record.FILLERS}
    return {
        "$schema": _DRAFT,
        "$id": _id("invocation"),
        "title": "A recorded invocation, one line of JSON Lines",
        "description": "A key that is missing or null was not observed. Unknown keys are read too, but not scored.",
        "type": "object",
        "$ref": "#/$defs/fields",
        "properties": {section: {"$ref": "#/$defs/fields"} for section in record._SECTIONS},
        "allOf": [_anywhere("skill_name", "skill"), _anywhere("timestamp")],
        "$defs": {"fields": {"properties": {key: _or_null(shape) for key, shape in sorted(shapes.items())}}},
    }


def _anywhere(*keys: str) -> dict[str, Any]:
    """Return the condition that one of these keys has a value, at the top or in a section."""
    there = [{"properties": {key: {"not": _NULL}}, "required": [key]} for key in keys]
    within = [
        {"properties": {section: {"type": "object", **one}}, "required": [section]}
        for section in record._SECTIONS
        for one in there
    ]
    return {"anyOf": [*there, *within]}
