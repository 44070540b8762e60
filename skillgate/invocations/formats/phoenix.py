"""Read exports of Phoenix: spans of its command line, of its API, or of a data frame, as JSON.

Sources: Phoenix's pages on exports, the types of @arizeai/phoenix-cli and of its API, of October 2026.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from skillgate.invocations.formats import Lines, Options
from skillgate.invocations.formats._input import NotJsonError, parsed
from skillgate.invocations.formats._rows import RowError, identity, nanoseconds, number, read_rows
from skillgate.invocations.formats._span import OURS, SpanData
from skillgate.model.invocation import Read

POSITION = 6
EXPECTED = "an export of Phoenix"
ONE_DOCUMENT = True
GROWS = True
_KIND = re.compile(rb'"span_kind"\s*:')
_CONTEXT = re.compile(rb'"context(?:\.span_id)?"\s*:')
_PREFIX = "attributes."


def is_it(head: bytes) -> bool:
    """Whether a file begins with a span of Phoenix: its kind and its context."""
    first = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return first.startswith((b"{", b"[")) and all(one.search(first) for one in (_KIND, _CONTEXT))


def read(lines: Lines, options: Options) -> Iterator[Read]:
    """Read the uses of skills among spans."""
    yield from read_rows(lines, options, ("spans", "data"), _span)


def _span(row: dict[str, object]) -> SpanData:
    context = row.get("context")
    context = (
        context if isinstance(context, dict) else {key: row.get(f"context.{key}") for key in ("trace_id", "span_id")}
    )
    trace, own = identity(context, "trace_id"), identity(context, "span_id")
    parent, name, kind = row.get("parent_id"), row.get("name"), row.get("span_kind")
    if not isinstance(kind, str):
        raise RowError("span_kind is missing")
    values = _attributes(row)
    values.setdefault("openinference.span.kind", kind)
    return SpanData(
        trace=number(trace),
        id=number(own),
        parent=number(parent) if isinstance(parent, str) and parent else None,
        identity=f"{trace}-{own}",
        shown="a span",
        name=name if isinstance(name, str) else "",
        began=nanoseconds(row.get("start_time")),
        ended=nanoseconds(row.get("end_time")),
        failed=row.get("status_code") == "ERROR",
        get=values.get,
        own={key.removeprefix(OURS): value for key, value in values.items() if key.startswith(OURS)},
        source="phoenix",
    )


def _attributes(row: dict[str, object]) -> dict[str, Any]:
    """Return attributes by their whole names; some exports nest them, or have a column for each."""
    attributes = row.get("attributes")
    if isinstance(attributes, str):
        try:
            attributes = parsed(attributes.encode("utf-8", "replace"))
        except NotJsonError:
            attributes = None
    found: dict[str, Any] = {}
    _flatten("", attributes if isinstance(attributes, dict) else {}, found)
    columns = {key.removeprefix(_PREFIX): value for key, value in row.items() if key.startswith(_PREFIX)}
    _flatten("", columns, found)
    return found


def _flatten(prefix: str, values: Mapping[str, Any], found: dict[str, Any], depth: int = 0) -> None:
    for key, value in values.items():
        found[prefix + key] = value
        if isinstance(value, dict) and depth < 8:
            _flatten(f"{prefix}{key}.", value, found, depth + 1)
