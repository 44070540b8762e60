"""Rubric 1.0 gives what the method's own functions give: by hand, and beside those functions where they are at hand."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from skillgate.invocations.rubric import explainer, scorer
from skillgate.model.invocation import Accuracy
from tests.invocations.rubric_records import EMPTY, FLAWLESS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skillgate.model.invocation import Invocation

score, explain = scorer("1.0"), explainer("1.0")

_SEED = Path(os.environ.get("SKILLGATE_TEST_DATA", ""), "seeds", "skill-scoring-rubric.md")


@pytest.mark.parametrize(
    ("changes", "components"),
    [
        # 8 × 50 × 120 ÷ 9,000 = 5.33, 6 × 3 × 1 ÷ 5 = 3.6, 6 × 30 ÷ 45 = 4: 12.93. 9 + int(7.5) + 3 + 2.
        # 7 + int(8 × 0.9) + 4.
        pytest.param(
            {
                **{"tokens_used": 9_000, "output_size": 120, "tool_call_kinds": 5, "duration_ms": 45_000},
                **{"accuracy": Accuracy.MOSTLY, "requested_items": 4, "delivered_items": 3, "tests_passed": False},
                **{"user_edit_ratio": 0.1, "follow_up_count": 1},
            },
            (25, 12, 21, 18),
            id="an ordinary run",
        ),
        # 8 × 50 ÷ 400 = 1; 6 × 3 ÷ 9 = 2; 6 × 30 ÷ 90 = 2. 12 + 10 + 8. 5 + int(8 × 0.5) + 7.
        pytest.param(
            {
                **{"error_count": 2, "partial_completion": True, "workaround_used": True, "output_type": None},
                **{"tokens_used": 400, "output_size": None, "tool_call_kinds": 9, "files_changed": None},
                **{"duration_ms": 90_000, "accuracy": None, "feedback_given": None},
                **{"user_accepted": False, "user_edit_ratio": None, "follow_up_count": None, "follow_up_open": None},
            },
            (15, 5, 30, 16),
            id="defaults stand in for what is missing",
        ),
        # Errors, and nobody validated: 0; 10; a linter and types that nobody ran: 5. 0 + 4 + 7.
        pytest.param(
            {
                **{"error_count": 1, "accuracy": None, "feedback_given": None, "output_validated": None},
                **{"linter_passed": None, "types_valid": None, "tests_passed": None},
                **{"user_accepted": None, "user_used_output": None, "user_edit_ratio": None},
            },
            (0, 20, 15, 11),
            id="a failure with few signals",
        ),
    ],
)
def test_points_are_those_of_the_method(changes: dict[str, Any], components: tuple[float, ...]) -> None:
    scored = score(FLAWLESS._replace(**changes))
    assert scored[1:5] == components
    assert scored.total == sum(components)
    assert scored.coverage == 1


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        pytest.param({"tokens_used": None}, "tokens", id="no tokens"),
        pytest.param({"duration_ms": None}, "time", id="no duration"),
        pytest.param({"skill_category": "design"}, "tokens", id="a category without a number per line"),
        pytest.param({"skill_category": "poetry"}, "tool calls", id="an unknown category"),
        pytest.param({"skill_category": None}, "tokens", id="no category"),
    ],
)
def test_where_the_method_stops_with_an_error_there_is_no_score(changes: dict[str, Any], part: str) -> None:
    record = FLAWLESS._replace(**changes)
    assert score(record)[1:7] == (25, None, 30, 25, None, 0.8)
    points, told = next((one.points, one.note) for one in explain(record) if one.name == part)
    assert points is None
    assert told


def test_the_fraction_that_efficiency_drops_is_told() -> None:
    # 8 × 2,000 ÷ 3,200 = 5, 6 × 3 ÷ 8 = 2.25, 6.
    parts = explain(FLAWLESS._replace(tokens_used=3_200, tool_call_kinds=8))
    assert [(part.points, part.most) for part in parts if part.name == "fraction"] == [(-0.25, 0)]


_flags = st.booleans()
_numbers = st.one_of(st.integers(-20, 200_000), st.floats(-1e6, 1e6), st.sampled_from((0, 1, 0.5)))
_ratios = st.one_of(st.floats(-3, 3), st.sampled_from((0, 0.049, 0.05, 1, 2)))
_RECORD: dict[str, st.SearchStrategy[Any]] = {
    "errors": st.lists(st.just("failed"), max_size=3),
    **dict.fromkeys(("recovered", "partial_completion", "workaround_used", "failure_explained"), _flags),
    "tokens_used": st.integers(-20, 200_000),
    "output_size": _numbers,
    "tool_calls": st.lists(st.just({"tool": "Read"}), max_size=12),
    "files_changed": _numbers,
    "duration_ms": _numbers,
    "output_validated": _flags,
    "requested_items": _numbers,
    "delivered_items": _numbers,
    "output_type": st.sampled_from(("code", "text")),
    "code_quality": st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("linter_passed", "types_valid", "tests_passed"), _flags)
    ),
    **dict.fromkeys(("user_accepted", "user_used_output"), _flags),
    "user_edit_ratio": _ratios,
}
_records = st.fixed_dictionaries({}, optional=_RECORD)
_feedback = st.none() | st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("accurate", "mostly_accurate", "partially_accurate", "other"), _flags)
)
_follow_ups = st.none() | st.lists(st.fixed_dictionaries({}, optional={"resolved": _flags}), max_size=3)
_categories = st.sampled_from(("code_generation", "code_generation", "analysis", "design", "research", "poetry"))

_SAME = (
    *("recovered", "partial_completion", "workaround_used", "failure_explained", "tokens_used", "output_size"),
    *("files_changed", "duration_ms", "output_validated", "requested_items", "delivered_items", "output_type"),
    *("user_accepted", "user_used_output", "user_edit_ratio"),
)


def _accuracy(feedback: Mapping[str, bool]) -> Accuracy | None:
    if feedback.get("accurate"):
        return Accuracy.ACCURATE
    if feedback.get("mostly_accurate"):
        return Accuracy.MOSTLY
    if feedback.get("partially_accurate"):
        return Accuracy.PARTIALLY
    return Accuracy.INACCURATE if "accurate" in feedback else None


def _invocation(
    record: Mapping[str, Any],
    category: str,
    feedback: Mapping[str, bool] | None,
    follow_ups: list[Mapping[str, bool]] | None,
) -> Invocation:
    calls = record.get("tool_calls")
    fields: dict[str, Any] = {
        **{name: record[name] for name in _SAME if name in record},
        **record.get("code_quality", {}),
        "skill_category": category,
        "error_count": len(record["errors"]) if "errors" in record else None,
        "tool_call_kinds": None if calls is None else len(calls),
        "feedback_given": bool(feedback),
        "accuracy": _accuracy(feedback or {}),
        "follow_up_count": None if follow_ups is None else len(follow_ups),
        "follow_up_open": None if follow_ups is None else sum(not one.get("resolved") for one in follow_ups),
    }
    return EMPTY._replace(**fields)


def _outcome(function: Callable[..., int], *arguments: object) -> int | None:
    try:
        return function(*arguments)
    except (KeyError, TypeError):
        return None


@pytest.mark.skipif(not _SEED.is_file(), reason="SKILLGATE_TEST_DATA names no test data")
def test_every_component_is_that_of_the_method_itself() -> None:
    method: dict[str, Any] = {}
    for block in MarkdownIt().parse(_SEED.read_text(encoding="utf-8")):
        if block.type == "fence" and block.info.strip() == "python":
            exec(compile(block.content, "method", "exec"), method)
    measured = 0

    @settings(max_examples=2_000)
    @given(_records, _categories, _feedback, _follow_ups)
    def held_against(
        record: Mapping[str, Any],
        category: str,
        feedback: Mapping[str, bool] | None,
        follow_ups: list[Mapping[str, bool]] | None,
    ) -> None:
        nonlocal measured
        scored = score(_invocation(record, category, feedback, follow_ups))
        assert scored.completion == method["score_completion"](record)
        assert scored.quality == method["score_output_quality"](record, feedback)
        assert scored.satisfaction == method["score_user_satisfaction"](record, follow_ups)
        efficiency = _outcome(method["score_efficiency"], record, category)
        assert scored.efficiency == efficiency
        assert (scored.total is None) == (efficiency is None)
        measured += efficiency is not None

    held_against()
    assert measured > 100  # else the efficiency of most records was compared with nothing
