"""The form of a comparison's answer: by dimension and for all, the evidence before the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.judge.rubric import HIGHEST
from skillgate.model.score import Dimension

if TYPE_CHECKING:
    from collections.abc import Mapping

FIRST, SECOND, EQUAL = "first", "second", "equal"


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Give the schema of an object with exactly these keys, in this order: models write them as they stand."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


_TEXT = {"type": "string"}
_QUOTATIONS = {"type": "array", "items": _TEXT}
_BETTER = {"type": "string", "enum": [FIRST, SECOND, EQUAL]}
_COMPARED = _object({FIRST: _QUOTATIONS, SECOND: _QUOTATIONS, "reasoning": _TEXT, "better": _BETTER})

MATCH: Mapping[str, Any] = _object(
    {
        "dimensions": _object({dimension.value: _COMPARED for dimension in Dimension}),
        "overall": _object({"reasoning": _TEXT, "better": _BETTER}),
        "control": _object({"score": {"type": "integer", "enum": list(range(HIGHEST + 1))}}),
    }
)
"""Each dimension is a key of its own, so that none can be left out or come twice."""


def is_reasoned(value: Any) -> str | None:  # noqa: ANN401 - decoded JSON that fits the schema
    """Check that no verdict comes without a reason."""
    parts = {**value["dimensions"], "overall": value["overall"]}
    silent = [name for name, part in parts.items() if not part["reasoning"].strip()]
    return f"the reasoning of {', '.join(silent)} is empty" if silent else None
