"""Recorded invocations for tests of the Action: logs of a skill that does well, or badly, in a repository with it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests.action.pull_request import PullRequest, skill

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_WELL: Mapping[str, Any] = {
    **{"skill_category": "analysis", "error_count": 0, "tokens_used": 200, "output_size": 1, "tool_call_count": 5},
    **{"duration_ms": 20_000, "output_validated": True, "user_accepted": True, "follow_up_count": 0},
}
_BADLY: Mapping[str, Any] = {
    **_WELL,
    **{"error_count": 2, "outcome": "hard_failure", "output_validated": False, "user_accepted": False},
}


def records(name: str, count: int = 12, *, well: bool = True, days_ago: int = 1) -> Iterator[dict[str, Any]]:
    """Give records of a skill: all of 98 to 100 points, or of about 10."""
    when = datetime.now(UTC) - timedelta(days=days_ago)
    for number in range(count):
        yield {
            "invocation_id": f"{name}-{days_ago}-{well}-{number}",
            "skill_name": name,
            "timestamp": (when + timedelta(seconds=number)).isoformat(),
            **(_WELL if well else _BADLY),
            "user_edit_ratio": number % 2 / 4 if well else 1 - number % 2 / 4,
        }


def log(name: str, count: int = 12, *, well: bool = True, days_ago: int = 1) -> str:
    """Write such records as JSON Lines."""
    return "".join(f"{json.dumps(one)}\n" for one in records(name, count, well=well, days_ago=days_ago))


INPUTS = {"invocations": "logs/runs.jsonl", "gate": "publish"}
BETTER = "\nKeep the newest of two rows that share a key.\n"


def touching(name: str = "merge-sheets") -> dict[str, str]:
    """Give the files of a change to a skill that keeps its score."""
    return skill(name, body=BETTER)


def repository(folder: Path, runs: str, files: Mapping[str, str] | None = None) -> PullRequest:
    """Make a repository with a skill and a tracked log."""
    made = PullRequest(folder=folder / "work")
    made.base({**skill("merge-sheets"), "logs/runs.jsonl": runs, **(files or {})})
    return made
