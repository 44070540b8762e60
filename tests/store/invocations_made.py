"""Invocations that the tests of the store share, and a program that imports them from a process of its own."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from skillgate.invocations.rubric import scorer
from skillgate.model.invocation import Accuracy, Ending, Fate, Invocation, InvocationScore, Scored
from skillgate.store.invocations import InvocationStore, Origin, open_invocations
from skillgate.store.summaries import LAYOUT
from skillgate.store.target import target_of
from tests.architecture.source import ROOT
from tests.invocations.observed import Observation

if TYPE_CHECKING:
    from collections.abc import Iterable

_CONTEXT = [name for name, _ in LAYOUT].index("context")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
WRITER = """
import sys
from skillgate.invocations.rubric import scorer
from skillgate.store.invocations import Origin
from tests.store.invocations_made import opened, scored
place, first, batches, size = sys.argv[1], *map(int, sys.argv[2:5])
print("ready", flush=True)
sys.stdin.readline()
store = opened(place)
with store.importing("1.1", scorer("1.1"), origin=Origin(label="made")) as run:
    for start in range(first, first + batches * size, size):
        run.add([scored(number) for number in range(start, start + size)])
        print("added", flush=True)
print("done", flush=True)
"""


def invocation(number: int, **changes: Any) -> Invocation:
    """An invocation unlike that of any other number; those of one skill in five are alike in much."""
    values: dict[str, Any] = {"skill_category": "analysis", "error_count": number % 3, "duration_ms": 1500.25}
    values |= {"skill_name": f"skill-{number % 5}", "timestamp": NOON + timedelta(seconds=number), "tokens_used": 10}
    # Ids that do not lie in the order of numbers, as random ones.
    return Invocation(**{"invocation_id": hashlib.md5(b"%d" % number).hexdigest(), **values, **changes})


def full(number: int, **changes: Any) -> Invocation:
    """An invocation of which everything is known."""
    values: dict[str, Any] = {
        **dict.fromkeys(("recovered", "workaround_used", "crashed", "linter_passed", "tests_passed"), True),
        **dict.fromkeys(("partial_completion", "failure_explained", "output_validated", "types_valid"), False),
        **dict.fromkeys(("feedback_given", "user_accepted", "user_used_output"), True),
        **dict.fromkeys(("tokens_input", "tokens_output", "tokens_used", "tool_call_kinds", "tool_call_count"), 2**62),
        **dict.fromkeys(("output_size", "files_changed", "units", "time_units", "requested_items"), 0.1 + 0.2),
        "delivered_items": 1.7976931348623157e308,
        "user_edit_ratio": 1 / 3,
        **dict.fromkeys(("skill_version", "session_id", "model", "output_type"), "é, “quoted” '; --\t\u202e\U0001f600"),
        "source": "claude-code",
        "ending": Ending.EXPLAINED_FAILURE,
        "accuracy": Accuracy.MOSTLY,
        "follow_up_count": 3,
        "follow_up_open": 2,
        "rating": "negative",
        "extra": {"n": 1, "x": 0.5, "flag": True, "text": "\0\ud800 ü", "none": None},
    }
    return invocation(number, **{**values, **changes})


def score(rubric: str = "1.1", **changes: Any) -> InvocationScore:
    """A score: 25, 10, 15 and 20 of 25, 20, 30 and 25 points."""
    values: dict[str, Any] = {"completion": 25.0, "efficiency": 10.0, "quality": 15.0, "satisfaction": 20.0}
    values |= {"total": 70.0, "coverage": 0.9, "baseline": "analysis"}
    return InvocationScore(rubric, **{**values, **changes})


def scored(what: int | Invocation, found: InvocationScore | None = None) -> Scored:
    """An invocation with a score, and the digest of all that it says."""
    one = invocation(what) if isinstance(what, int) else what
    return Scored(one, score() if found is None else found, hashlib.md5(repr(one).encode()).hexdigest())


def opened(place: str) -> InvocationStore:
    """Open a store, made where it is missing."""
    return open_invocations(target_of(place, cwd="/"), create=True)


def observed(store: InvocationStore, rubric: str = "1.1", **selected: Any) -> list[Observation]:
    """Give what the summaries of a store say of each invocation: the errors as 0 or 1, the ending as failed or not."""
    found = []
    for seen in store.observations(rubric, **selected):
        for row in seen.rows.tolist():
            values: dict[str, Any] = {
                name: None if value == -1 else value for (name, _), value in zip(LAYOUT, row, strict=True)
            }
            context = seen.contexts[row[_CONTEXT]]
            ending = {0: "complete", 1: "hard_failure"}.get(row[_CONTEXT + 2])
            flags: dict[str, Any] = {
                "error_count": values.pop("errors"),
                "ending": ending,
                "cost_estimated": values.pop("estimated"),
            }
            for name in ("key", "context", "unrecovered"):
                del values[name]
            found.append(Observation(skill=seen.skill, **values, **flags, **context._asdict()))
    return found


def put(store: InvocationStore, found: Iterable[Scored], *, rubric: str = "1.1", update: bool = False) -> list[Fate]:
    """Import some as one batch."""
    with store.importing(rubric, scorer(rubric), update=update, origin=Origin(label="made")) as run:
        return list(run.add(list(found)))


def writer(place: str, first: int, *, batches: int, size: int) -> subprocess.Popen[str]:
    """Start a process that imports so many when it is told to."""
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", WRITER, place, str(first), str(batches), str(size)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def go(process: subprocess.Popen[str]) -> None:
    """Tell it."""
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()
