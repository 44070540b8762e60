"""Trees of views as text, and golden files of them.

After an intended change, ``SKILLGATE_GOLDEN=write python -m pytest tests/report`` writes them anew; read what changed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from skillgate.report.charts import Drawing
from skillgate.report.view import Cell, Span, plain, spans

if TYPE_CHECKING:
    from collections.abc import Iterator

GOLDEN = Path(__file__).parent / "golden"


def dump(node: object) -> str:
    """Write a view or a block: one line for each block, row, entry or line, with what is not its default."""
    return "\n".join(_lines(node, 0)) + "\n"


def matches_golden(name: str, text: str, folder: Path = GOLDEN) -> bool:
    """Compare a text with its golden file, or write that if ``SKILLGATE_GOLDEN=write``."""
    file = folder / name
    if os.environ.get("SKILLGATE_GOLDEN") == "write":
        file.write_text(text, encoding="utf-8", newline="\n")
    return file.read_text(encoding="utf-8") == text


def _lines(node: object, indent: int) -> Iterator[str]:
    if not hasattr(node, "_fields"):
        yield " " * indent + _value(node)
        return
    defaults = getattr(node, "_field_defaults", {})
    inline: list[tuple[str, object]] = []
    nested: list[tuple[str, tuple[object, ...]]] = []
    for name in node._fields:
        value = getattr(node, name)
        if name in defaults and value == defaults[name]:
            continue
        is_nested = isinstance(value, tuple) and not _is_line(value) and not hasattr(value, "_fields")
        (nested if is_nested else inline).append((name, value))
    yield " " * indent + " ".join([type(node).__name__, *(f"{name}={_value(value)}" for name, value in inline)])
    for name, value in nested:
        yield f"{' ' * (indent + 1)}{name}:"
        for item in value:
            yield from _row(item, indent + 2)


def _row(item: object, indent: int) -> Iterator[str]:
    if type(item).__name__ == "Row":
        yield " " * indent + "| " + " | ".join(_value(cell) for cell in item.cells)  # type: ignore[attr-defined]
        for block in item.below:  # type: ignore[attr-defined]
            yield from _lines(block, indent + 2)
    elif hasattr(item, "_fields") and not isinstance(item, Span | Cell):
        yield from _lines(item, indent)
    else:
        yield " " * indent + _value(item)


def _is_line(value: tuple[object, ...]) -> bool:
    return (
        bool(value)
        and all(isinstance(part, str | Span) for part in value)
        and any(isinstance(part, Span) for part in value)
    )


def _value(value: object) -> str:
    if isinstance(value, Drawing):
        return f"<drawing of {len(value.shapes)}>"
    if isinstance(value, Span):
        marks = "".join(f" {mark}" for mark in (value.url, value.anchor and f"#{value.anchor}") if mark)
        return f"{value.style or 'span'}‹{value.text}{marks}›" if value.style or marks else value.text
    if isinstance(value, Cell):
        rest = [value.note and f"({value.note})", value.tone and f"[{value.tone}]"]
        return " ".join(
            [_value(value.line), *filter(None, rest), *([_value(value.chart)] if value.chart else [])]
        ).strip()
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        if _is_line(value):
            return "".join(_value(span) for span in spans(value))
        return "(" + ", ".join(_value(part) for part in value) + ")"
    return plain(value) if isinstance(value, str) else repr(value)
