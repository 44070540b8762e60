"""Recordings that tests import: lines of JSON with times that are told from one moment."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
AT = "2026-11-20T12:00:00Z"
"""What ``--at`` is given, so that the figures do not move with the calendar."""
GOOD: dict[str, Any] = {
    "skill_category": "analysis",
    "errors": [],
    "tokens_used": 1_000,
    "output_size": 10,
    "tool_calls": ["Read"],
    "duration_ms": 10_000,
    "requested_items": 2,
    "delivered_items": 2,
    "feedback": {"accurate": True},
    "user_accepted": True,
    "user_edit_ratio": 0,
    "follow_ups": [],
}
"""An invocation that has all points by either rubric but for the categories that 1.0 knows no baselines of: 100."""
BAD: dict[str, Any] = {
    **GOOD,
    "errors": ["one"],
    "delivered_items": 0,
    "feedback": {"accurate": False},
    "user_accepted": False,
    "user_edit_ratio": 1,
    "follow_ups": [{"resolved": False}, {"resolved": False}],
}
"""One that has none: 0."""


def line(number: int, *, skill: str = "notes", days: float = 1, **fields: Any) -> dict[str, Any]:
    """Give one record that began so many days before :data:`NOW`."""
    when = (NOW - timedelta(days=days)).isoformat()
    return {"invocation_id": f"{skill}-{number}", "skill_name": skill, "timestamp": when, **fields}


def write(path: Path, records: Iterable[dict[str, Any] | str]) -> Path:
    """Write lines; a text is written as it is."""
    lines = [one if isinstance(one, str) else json.dumps(one) for one in records]
    path.write_text("".join(f"{one}\n" for one in lines), encoding="utf-8")
    return path
