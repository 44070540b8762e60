"""Map a row of ToolBench's instruction files to a task: choose the APIs that a query needs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from skillgate.bench.importing.fields import LeftOutError, RowError, identifier_of, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_STATEMENT = (
    'Choose the APIs that the query needs. Answer a list of {"tool": tool_name, "api": api_name}, each once, in any '
    "order. Call nothing."
)
_NAMES = (("tool_name", "tool"), ("api_name", "api"))


def toolbench(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return the task of a row: ``query``, the tools, and the expectation.

    Tools are ``api_list``, ``tools`` or ``apis``. The expectation is the first of: ``answer`` (an equal value, if it is
    not blank), ``criteria`` (for a judge), ``relevant APIs`` (pairs of tool and API, in any order). In Parquet, lists
    may be JSON in a string, or one object with a list for each key.

    Raises:
        RowError: A field is missing or has the wrong type.
        LeftOutError: The row is a dialogue for training.
    """
    if "conversations" in row:
        raise LeftOutError("is a dialogue for training, without an expected answer; import an instruction file")
    tools = next((row[key] for key in ("api_list", "tools", "apis") if row.get(key)), None)
    listed = _listed(tools)
    if not listed:
        raise RowError("expected a list in 'api_list', 'tools' or 'apis'")
    key = next((key for key in ("query_id", "id", "task_id") if row.get(key) is not None), None)
    expected = _expected(row)
    data = {"query": text_of(row, "query"), "tools": listed}
    return {
        "id": f"query-{number}" if key is None else identifier_of(row, key),
        "inputData": {"statement": _STATEMENT, **data} if expected["type"] == "json_schema" else data,
        "expectedOutput": expected,
        "tags": ["tool-use"],
    }


def _listed(value: Any) -> list[Any] | None:  # noqa: ANN401 - JSON
    """Return a list that is one, or is written as JSON, or as an object with a list for each key."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if isinstance(value, dict) and value and all(isinstance(column, list) for column in value.values()):
        columns = value
        value = [dict(zip(columns, items, strict=False)) for items in zip(*columns.values(), strict=False)]
    return value if isinstance(value, list) else None


def _expected(row: Mapping[str, Any]) -> dict[str, Any]:
    answer = row.get("answer")
    if answer is not None and (not isinstance(answer, str) or answer.strip()):
        return {"type": "exact", "value": answer}
    if row.get("criteria"):
        return {"type": "llm_judge", "judgePrompt": text_of(row, "criteria")}
    relevant = _listed(row.get("relevant APIs", row.get("relevant_apis")))
    if not relevant:
        raise RowError("expected 'answer', 'criteria' or 'relevant APIs'")
    pairs = list(dict.fromkeys(map(_pair, relevant)))
    items = [{"properties": {"tool": {"const": tool}, "api": {"const": api}}} for tool, api in pairs]
    call = {"type": "object", "required": ["tool", "api"]}
    schema: dict[str, Any] = {
        "type": "array",
        "minItems": len(items),
        "maxItems": len(items),
        "items": call,
        "allOf": [{"contains": item} for item in items],
    }
    return {"type": "json_schema", "schema": schema}


def _pair(item: Any) -> tuple[str, str]:  # noqa: ANN401 - JSON
    if isinstance(item, dict):
        item = [next((item[key] for key in keys if key in item), None) for keys in _NAMES]
    match item:
        case [str() as tool, str() as api]:
            return tool, api
        case _:
            raise RowError("'relevant APIs': expected pairs of tool and API")
