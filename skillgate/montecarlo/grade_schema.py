"""The form of each grade, as JSON schemas that the API can hold a model to, and what else is checked."""

from __future__ import annotations

from typing import Any

from skillgate.judge.rubric import HIGHEST

WORK, HANDED_ON, NEITHER = "work", "handed on", "neither"
COVERED = "yes"
_COVERS = (COVERED, "partly", "no", "outside")


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    """Give the schema of an object with exactly these keys, in this order: models write them as they stand."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_SCORE: dict[str, Any] = {"type": "integer", "enum": list(range(HIGHEST + 1))}
_CONTROL = _object(score=_SCORE)
_REASONED: dict[str, dict[str, Any]] = {
    "evidence": {"type": "array", "items": {"type": "string"}},
    "reasoning": {"type": "string"},
}

GRADE = _object(
    **_REASONED,
    quality=_SCORE,
    delivers={"type": "string", "enum": [WORK, HANDED_ON, NEITHER]},
    control=_CONTROL,
)
SCOPE = _object(**_REASONED, covers={"type": "string", "enum": list(_COVERS)}, control=_CONTROL)


def reasons(value: Any) -> str | None:  # noqa: ANN401 - decoded JSON
    """Check that a grade is reasoned."""
    return None if value["reasoning"].strip() else "the reasoning is empty"
