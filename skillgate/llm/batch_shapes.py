"""What the Message Batches API says, read without trust: how a batch is, and the lines of its results."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from skillgate.llm.failures import no_message

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillgate.llm.failures import Place

MOST_LINE_BYTES = 8 << 20
"""Of one result: as much as one message may take."""
MOST_RESULT_BYTES = 1 << 30
"""Of all results of a batch."""
_ID = re.compile(r"[A-Za-z0-9_-]{1,200}")  # it becomes a part of addresses


class State(NamedTuple):
    """How a batch is.

    Attributes:
        batch: its id.
        ended: whether its results can be read.
        requests: how many it holds.
        created_s: when it was made, in seconds since 1970, on the server's clock; 0.0 where it does not say.
        retry_after_s: when to look again, None where the server does not say.
    """

    batch: str
    ended: bool
    requests: int
    created_s: float = 0.0
    retry_after_s: float | None = None


class Line(NamedTuple):
    """A line of results.

    Attributes:
        key: the request's, ``""`` where the line is none that can be read.
        result: as the API gives it.
    """

    key: str
    result: Mapping[str, Any]


def is_id(value: object) -> TypeGuard[str]:
    """Say whether a value can be the id of a batch."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def state_of(document: object) -> State | None:
    """Read a batch; None for what is none, whatever it is."""
    if not isinstance(document, dict):
        return None
    batch, status, counts = (document.get(name) for name in ("id", "processing_status", "request_counts"))
    if not is_id(batch) or not isinstance(status, str):
        return None
    numbers = counts.values() if isinstance(counts, dict) else ()
    total = sum(number for number in numbers if type(number) is int)
    return State(batch, status == "ended", total, _seconds(document.get("created_at")))


def _seconds(date: object) -> float:
    try:
        found = datetime.fromisoformat(date) if isinstance(date, str) else None
        return found.timestamp() if found is not None and found.tzinfo is not None else 0.0
    except (ValueError, OverflowError):
        return 0.0


def lines(pieces: Iterator[bytes], place: Place) -> Iterator[bytes]:
    """Put pieces of results together to lines that are not blank.

    Raises:
        ProviderError: one of them, or all together, are more than can be.
    """
    kept: list[bytes] = []
    long = total = 0
    for piece in pieces:
        first, *more = piece.split(b"\n")
        total += len(piece)
        for following in more:
            text = b"".join((*kept, first))
            kept, long, first = [], 0, following
            if text.strip():
                yield text
        kept.append(first)
        long += len(first)
        if long > MOST_LINE_BYTES or total > MOST_RESULT_BYTES:
            raise no_message("more results than a batch can have", place)
    text = b"".join(kept)
    if text.strip():
        yield text


def line_of(text: bytes) -> Line:
    """Read a line of results, whatever is in it."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return Line("", {})
    if not isinstance(found, dict):
        return Line("", {})
    key, result = found.get("custom_id"), found.get("result")
    if not isinstance(key, str):
        return Line("", {})
    return Line(key, result if isinstance(result, dict) else {})
