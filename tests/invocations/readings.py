"""Recorded invocations as bytes, and what a form makes of them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillgate.invocations.formats import Options, reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.invocation import Invocation, Read

NOW = datetime(2026, 7, 20, 12, 0, tzinfo=UTC)
OPTIONS = Options(NOW)
SAMPLES = Path(__file__).parent / "samples"
LEAST: dict[str, Any] = {"skill_name": "csv-merge", "timestamp": "2026-05-04T10:00:00Z", "invocation_id": "i-1"}


def lines_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Number the lines of a file, as the door to the disk does."""
    return ((number, line.rstrip(b"\r")) for number, line in enumerate(data.split(b"\n"), 1))


def read(form: str, data: bytes, options: Options = OPTIONS) -> list[Read]:
    """Read a file in a form."""
    return list(reader(form)(lines_of(data), options))


def one(found: list[Read]) -> Invocation:
    """Give the only invocation that was read."""
    assert [read.problem for read in found] == [None]
    assert found[0].invocation is not None
    return found[0].invocation


def record(**said: Any) -> bytes:
    """Write a record with a name, a time and an id, and what else is said."""
    return json.dumps({**LEAST, **said}).encode()


def taken(**said: Any) -> Invocation:
    """Read such a record as a line of JSON Lines."""
    return one(read("jsonl", record(**said)))


def problem(data: bytes | dict[str, Any], form: str = "jsonl") -> str:
    """Give why the only line of a file is rejected."""
    (found,) = read(form, data if isinstance(data, bytes) else record(**data))
    assert found.invocation is None
    return found.problem or ""
