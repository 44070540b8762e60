"""How one line of a published data set becomes a task."""
# ruff: noqa: PTH113, PTH118

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,300}|[0-9]{1,3}(?:,[0-9]{3}){1,90})(?:\.[0-9]{1,300})?")


class LineError(Exception):
    """A line is no task of its kind; the message says why."""


class LeftOutError(Exception):
    """A line is well formed and makes no task; the message says why."""


class FieldMap(NamedTuple):
    """Which fields of a line are what; None for none."""

    input: str
    expected: str
    id: str | None = None
    tags: str | None = None
    description: str | None = None

    def task(self, row: Mapping[str, Any], number: int) -> dict[str, Any]:
        """Map one line; an input that is no object becomes ``{"input": …}``.

        Raises:
            LineError: a field is not there.
        """
        given = _field(row, self.input)
        task: dict[str, Any] = {
            "id": f"line-{number}" if self.id is None else _identifier(row, self.id),
            "inputData": given if isinstance(given, dict) else {"input": given},
            "expectedOutput": {"type": "exact", "value": _field(row, self.expected)},
        }
        if self.tags is not None:
            tags = _field(row, self.tags)
            task["tags"] = [str(tag) for tag in (tags if isinstance(tags, list) else [tags])]
        if self.description is not None:
            task["description"] = str(_field(row, self.description))
        return task


def gaia(row: Mapping[str, Any], attachments: str | None) -> dict[str, Any]:
    """Map a line of GAIA: ``task_id``, ``Question``, ``Final answer``, ``Level``, ``file_name``.

    A number is compared as a number, any other answer as a text whatever its case.

    Raises:
        LineError: a field is not there or of another kind.
        LeftOutError: its file is not at hand, or its answer is not published.
    """
    answer = _field(row, "Final answer")
    if not isinstance(answer, str | int | float) or isinstance(answer, bool):
        raise LineError("'Final answer': expected a text")
    text = str(answer).strip()
    if text in ("", "?"):
        raise LeftOutError("has no answer: that of the test split is not published")
    task: dict[str, Any] = {
        "id": _identifier(row, "task_id"),
        "inputData": {"question": _text(row, "Question")},
        "expectedOutput": {"type": "exact", "value": text, "caseSensitive": False},
        "tags": [f"level-{str(row['Level'])[:20]}"] if row.get("Level") is not None else [],
    }
    if _NUMBER.fullmatch(text):
        task["expectedOutput"] = {"type": "numeric", "value": _number(text)}
    name = row.get("file_name")
    if name:
        task["inputData"]["file"] = _attached(str(name), attachments)
        task["tags"].append("attachment")
    return task


def _number(text: str) -> int | float:
    plain = text.replace(",", "")
    return float(plain) if "." in plain else int(plain)


def _attached(name: str, attachments: str | None) -> str:
    if attachments is None:
        raise LeftOutError(f"needs the file {name[:120]!r}; --attachments DIR says where it is")
    path = os.path.join(attachments, name)
    if not os.path.isfile(path):  # also where no file can have such a name
        raise LeftOutError(f"needs the file {name[:120]!r}, which is not in the directory of attachments")
    path = os.path.realpath(path)
    if not path.startswith(os.path.join(os.path.realpath(attachments), "")):
        raise LineError(f"'file_name': {name[:120]!r} leads out of the directory of attachments")
    return path


def toolbench(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Map a line of ToolBench's kind: ``query``, the tools, and what is expected.

    Tools are ``api_list``, ``tools`` or ``apis``, and are handed on as they are. What is expected is the first of:
    ``answer`` (a value to equal), ``criteria`` (for a judge), ``relevant APIs`` (one pair of tool and API).

    Raises:
        LineError: a field is not there or of another kind.
        LeftOutError: it needs more than one call.
    """
    tools = next((row[key] for key in ("api_list", "tools", "apis") if row.get(key)), None)
    if not isinstance(tools, list):
        raise LineError("expected a list 'api_list', 'tools' or 'apis'")
    key = next((key for key in ("query_id", "id", "task_id") if row.get(key) is not None), None)
    return {
        "id": f"query-{number}" if key is None else _identifier(row, key),
        "inputData": {"query": _text(row, "query"), "tools": tools},
        "expectedOutput": _called(row),
        "tags": ["tool-use"],
    }


def _called(row: Mapping[str, Any]) -> dict[str, Any]:
    if row.get("answer") is not None:
        return {"type": "exact", "value": row["answer"]}
    if row.get("criteria"):
        return {"type": "llm_judge", "judgePrompt": _text(row, "criteria")}
    pairs = row.get("relevant APIs", row.get("relevant_apis"))
    if not isinstance(pairs, list) or not pairs:
        raise LineError("expected 'answer', 'criteria' or 'relevant APIs'")
    if len(pairs) > 1:
        raise LeftOutError(f"needs {len(pairs)} calls in turn, and an answer is one")
    match pairs[0]:
        case [str() as tool, str() as api]:
            return {"type": "exact", "value": {"tool": tool, "api": api}}
        case _:
            raise LineError("'relevant APIs': expected pairs of tool and API")


def _field(row: Mapping[str, Any], key: str) -> Any:  # noqa: ANN401 - JSON
    if key not in row:
        raise LineError(f"{key!r} is missing; there are: {', '.join(map(str, list(row)[:12]))}"[:400])
    return row[key]


def _text(row: Mapping[str, Any], key: str) -> str:
    value = _field(row, key)
    if not isinstance(value, str) or not value.strip():
        raise LineError(f"{key!r}: expected a text that is not empty")
    return value


def _identifier(row: Mapping[str, Any], key: str) -> str:
    value = _field(row, key)
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise LineError(f"{key!r}: expected a text or a whole number")
    return str(value).strip()
