"""Records for the tests of the rubric: one without a flaw, one with nothing in it, and any at all."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from skillgate.model.invocation import Accuracy, Ending, Invocation

if TYPE_CHECKING:
    from collections.abc import Mapping

EMPTY = Invocation("run-1", "merge-sheets", datetime(2025, 3, 4, 5, 6, 7, tzinfo=UTC))

# 100 points by both versions: 50 × 40 tokens, 3 × 1 calls and 30 s are what code generation is expected to take.
FLAWLESS = EMPTY._replace(
    skill_category="code_generation",
    error_count=0,
    tokens_used=2_000,
    output_size=40,
    tool_call_kinds=3,
    tool_call_count=3,
    files_changed=1,
    duration_ms=30_000,
    output_type="code",
    output_validated=True,
    requested_items=2,
    delivered_items=2,
    linter_passed=True,
    types_valid=True,
    tests_passed=True,
    accuracy=Accuracy.ACCURATE,
    feedback_given=True,
    user_accepted=True,
    user_used_output=True,
    user_edit_ratio=0,
    follow_up_count=0,
    follow_up_open=0,
)

_flags = st.booleans()
_counts = st.integers(0, 6)
_sizes = st.sampled_from((0, 0.5, 1, 3, 40, 250.5))
_MEASURES: dict[str, st.SearchStrategy[Any]] = {
    "ending": st.sampled_from(Ending),
    "error_count": _counts,
    **dict.fromkeys(("recovered", "partial_completion", "workaround_used", "failure_explained", "crashed"), _flags),
    "duration_ms": st.sampled_from((0, 1, 900.5, 20_000, 90_000)),
    "tokens_used": st.sampled_from((0, 1, 150, 2_000, 90_000)),
    "tool_call_kinds": _counts,
    "tool_call_count": st.integers(0, 40),
    "output_size": _sizes,
    "files_changed": _sizes,
    "units": st.sampled_from((0.5, 1, 4)),
    "time_units": st.sampled_from((0.5, 1, 4)),
    "requested_items": _sizes,
    "delivered_items": _sizes,
    **dict.fromkeys(("output_validated", "linter_passed", "types_valid", "tests_passed"), _flags),
    "accuracy": st.sampled_from(Accuracy),
    **dict.fromkeys(("feedback_given", "user_accepted", "user_used_output"), _flags),
    "user_edit_ratio": st.one_of(st.sampled_from((0, 0.04, 0.05, 1)), st.floats(0, 1)),
    "follow_up_count": _counts,
    "follow_up_open": _counts,
    "rating": st.sampled_from(("positive", "negative")),
}
MEASURES = tuple(_MEASURES)
_KINDS: dict[str, st.SearchStrategy[Any]] = {
    "skill_category": st.sampled_from((None, "code_generation", "analysis", "design", "research", "poetry")),
    "output_type": st.sampled_from((None, "code", "text")),
}


def changed(record: Invocation, field: str, value: object) -> Invocation:
    """Give the record with another value in one field."""
    fields: dict[str, Any] = {field: value}
    return record._replace(**fields)


def _record(fields: Mapping[str, Any]) -> Invocation:
    drawn = EMPTY._replace(**fields)
    if drawn.follow_up_open is not None and drawn.follow_up_open > (drawn.follow_up_count or 0):
        return drawn._replace(follow_up_open=drawn.follow_up_count)
    return drawn


def records() -> st.SearchStrategy[Invocation]:
    """Draw an invocation in which any of the measures are there."""
    measures = {name: st.none() | measure for name, measure in _MEASURES.items()}
    return st.fixed_dictionaries(_KINDS | measures).map(_record)


def full_records() -> st.SearchStrategy[Invocation]:
    """Draw an invocation in which every measure is there."""
    return st.fixed_dictionaries(_KINDS | _MEASURES).map(_record)
