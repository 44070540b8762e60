"""The forms of the answers that lift asks for, as JSON schemas, and what else is checked of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.judge.rubric import HIGHEST

if TYPE_CHECKING:
    from collections.abc import Callable

YES, NO, UNKNOWN = "yes", "no", "cannot tell"
FIRST, SECOND, EQUAL = "first", "second", "equal"


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    """Give the schema of an object with exactly these keys, in this order: models write them as they stand."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_TEXT: dict[str, Any] = {"type": "string"}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}
_CONTROL = _object(score={"type": "integer", "enum": list(range(HIGHEST + 1))})

TASKS = _object(tasks={"type": "array", "items": _object(prompt=_TEXT, expectations=_TEXTS)})
EXPECTATIONS = _object(
    expectations={
        "type": "array",
        "items": _object(
            number={"type": "integer"},
            evidence=_TEXTS,
            reasoning=_TEXT,
            met={"type": "string", "enum": [YES, NO, UNKNOWN]},
        ),
    },
    control=_CONTROL,
)
PREFERENCE = _object(
    evidence=_object(first=_TEXTS, second=_TEXTS),
    reasoning=_TEXT,
    better={"type": "string", "enum": [FIRST, SECOND, EQUAL]},
    control=_CONTROL,
)


def answers_all(many: int) -> Callable[[Any], str | None]:
    """Make a check that each of so many expectations, numbered from 1, is answered once and with a reason."""

    def check(value: Any) -> str | None:  # noqa: ANN401 - decoded JSON
        found = value["expectations"]
        if sorted(entry["number"] for entry in found) != list(range(1, many + 1)):
            return f"expectations must hold each number from 1 to {many} once"
        silent = [entry["number"] for entry in found if not entry["reasoning"].strip()]
        return f"the reasoning of number {silent[0]} is empty" if silent else None

    return check


def reasons(value: Any) -> str | None:  # noqa: ANN401 - decoded JSON
    """Check that a comparison is reasoned."""
    return None if value["reasoning"].strip() else "the reasoning is empty"
