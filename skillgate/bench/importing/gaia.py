"""Map a row of GAIA to a task: ``metadata.jsonl`` or ``metadata.parquet``, with the files next to it."""
# ruff: noqa: PTH113, PTH117, PTH118

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from skillgate.bench.importing.fields import LeftOutError, RowError, field_of, identifier_of, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_STATEMENT = (
    "Answer the question with the answer alone: a number, a few words, or a list of these with commas between them. "
    "Write numbers in digits, without thousands separators or units, unless the question asks for them."
)


def gaia(row: Mapping[str, Any], attachments: str) -> dict[str, Any]:
    """Return the task of a row; ``attachments`` is the directory of the files that rows name.

    Raises:
        RowError: A field is missing or has the wrong type, or the file is outside the directory.
        LeftOutError: There is no answer, or the file is missing.
    """
    answer = field_of(row, "Final answer")
    if not isinstance(answer, str | int | float) or isinstance(answer, bool):
        raise RowError("'Final answer': expected a string or a number")
    text = str(answer).strip()
    if text in ("", "?"):
        raise LeftOutError("has no answer (answers of the test split are not published)")
    task: dict[str, Any] = {
        "id": identifier_of(row, "task_id"),
        "inputData": {"statement": _STATEMENT, "question": text_of(row, "Question")},
        "expectedOutput": {"type": "quasi_exact", "value": text},
        "tags": [f"level-{str(row['Level'])[:20]}"] if row.get("Level") is not None else [],
    }
    name = row.get("file_name")
    if name:
        task["inputData"]["file"] = _attached(str(name), attachments)
        task["tags"].append("attachment")
    return task


def _attached(name: str, attachments: str) -> str:
    outside = RowError(f"'file_name': {name[:120]!r} is outside the attachments directory")
    if os.path.isabs(name) or f"{os.path.normpath(name)}{os.sep}".startswith(f"{os.pardir}{os.sep}"):
        raise outside
    path = os.path.join(attachments, name)
    if not os.path.isfile(path):  # also for names that no file can have
        words = "which is not in the attachments directory; pass it with --attachments DIR"
        raise LeftOutError(f"needs the file {name[:120]!r}, {words}")
    path = os.path.realpath(path)
    if not path.startswith(os.path.join(os.path.realpath(attachments), "")):
        raise outside
    return path
