"""What holds of the corrected rubric whatever was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgate.invocations.rubric import explainer, scorer
from skillgate.model.invocation import Accuracy, Component, Ending, Invocation
from tests.invocations.rubric_records import EMPTY, MEASURES, changed, full_records, records

if TYPE_CHECKING:
    from collections.abc import Callable

_ENDINGS = tuple(Ending)  # from the best to the worst
_ACCURACIES = tuple(Accuracy)
score, explain = scorer("1.1"), explainer("1.1")


@given(st.one_of(records(), full_records()))
def test_no_score_leaves_its_range(record: Invocation) -> None:
    scored = score(record)
    for component in Component:
        points = getattr(scored, component.value)
        assert points is None or 0 <= points <= component.points
    assert scored.total is None or 0 <= scored.total <= 100
    assert 0 <= scored.coverage <= 1


@given(records())
def test_a_total_is_there_from_a_coverage_of_0_35_and_is_the_share_of_what_is_known(record: Invocation) -> None:
    scored = score(record)
    known = {component: getattr(scored, component.value) for component in Component}
    known = {component: points for component, points in known.items() if points is not None}
    assert (scored.total is None) == (scored.coverage < 0.35)
    if scored.total is not None:
        share = sum(known.values()) / sum(component.points for component in known)
        assert scored.total == pytest.approx(100 * share, abs=0.1)  # the components are rounded


def _next_ending(it: Invocation) -> Invocation | None:
    if it.ending is None or it.ending is _ENDINGS[-1]:
        return None
    return it._replace(ending=_ENDINGS[_ENDINGS.index(it.ending) + 1])


def _less_accurate(it: Invocation) -> Invocation | None:
    if it.accuracy is None or it.accuracy is _ACCURACIES[-1]:
        return None
    return it._replace(accuracy=_ACCURACIES[_ACCURACIES.index(it.accuracy) + 1])


def _fallen(field: str) -> Callable[[Invocation], Invocation | None]:
    return lambda it: changed(it, field, False) if getattr(it, field) else None


def _doubled(field: str) -> Callable[[Invocation], Invocation | None]:
    return lambda it: changed(it, field, 2 * getattr(it, field)) if getattr(it, field) else None


def _one_more(field: str) -> Callable[[Invocation], Invocation | None]:
    return lambda it: None if getattr(it, field) is None else changed(it, field, getattr(it, field) + 1)


def _flagged(field: str) -> Callable[[Invocation], Invocation | None]:
    # Beside errors that nothing excuses, a flag is good news.
    return lambda it: changed(it, field, True) if it.error_count == 0 and not it.failure_explained else None


def _still_open(it: Invocation) -> Invocation | None:
    if it.follow_up_open is None or it.follow_up_open == it.follow_up_count:
        return None
    return it._replace(follow_up_open=it.follow_up_open + 1)


_WORSE: dict[str, Callable[[Invocation], Invocation | None]] = {
    "a worse ending": _next_ending,
    "another error": _one_more("error_count"),
    "crashed": lambda it: it._replace(crashed=True),
    "partial": _flagged("partial_completion"),
    "a workaround": _flagged("workaround_used"),
    "more tokens": _doubled("tokens_used"),
    "more time": _doubled("duration_ms"),
    "another call": lambda it: _one_more("tool_call_count")(it) or _one_more("tool_call_kinds")(it),
    "less delivered": lambda it: it._replace(delivered_items=it.delivered_items / 2) if it.delivered_items else None,
    "nothing delivered": lambda it: it._replace(delivered_items=0) if it.delivered_items else None,
    **{f"not {field}": _fallen(field) for field in ("linter_passed", "types_valid", "tests_passed")},
    "less accurate": _less_accurate,
    "inaccurate": lambda it: it._replace(accuracy=Accuracy.INACCURATE),
    "not accepted": _fallen("user_accepted"),
    "not used": _fallen("user_used_output"),
    "more edits": lambda it: None if it.user_edit_ratio is None else it._replace(user_edit_ratio=1),
    "another follow-up": _one_more("follow_up_count"),
    "one more is open": _still_open,
    "displeased": lambda it: it._replace(rating="negative"),
}


@pytest.mark.parametrize("news", _WORSE)
@given(record=st.one_of(records(), full_records()))
def test_worse_news_raises_no_score(news: str, record: Invocation) -> None:
    worse = _WORSE[news](record)
    if worse is None:
        return
    before, after = score(record), score(worse)
    for name in ("completion", "efficiency", "quality", "satisfaction", "total"):
        was, now = getattr(before, name), getattr(after, name)
        assert was is None or now is None or now <= was


# Flags that tell what went wrong, and what other signals are measured by, are left: without them a score may be higher.
_EARNING = (
    *("error_count", "duration_ms", "tokens_used", "output_validated", "requested_items", "delivered_items"),
    *("linter_passed", "types_valid", "tests_passed", "user_used_output", "user_accepted", "user_edit_ratio"),
    *("follow_up_count", "files_changed"),
)


@settings(max_examples=500)
@given(field=st.sampled_from(_EARNING), record=full_records())
def test_a_signal_that_is_dropped_leaves_none_of_its_points(field: str, record: Invocation) -> None:
    if getattr(record, field) is False or record.rating == "positive":
        return  # what counted against it; and a rating may stand in for acceptance
    before = {part.name: part.points for part in explain(record) if part.most}
    for part in explain(changed(record, field, None)):
        if part.points is not None and part.most:
            was = before[part.name]
            assert was is None or part.points <= was


@settings(max_examples=500)
@given(field=st.sampled_from(MEASURES), record=full_records(), fewer=records())
def test_another_signal_never_lowers_coverage(field: str, record: Invocation, fewer: Invocation) -> None:
    if getattr(fewer, field) is not None or (field == "delivered_items" and fewer.output_size == 0):
        return  # an output of no size that delivered something is no longer nothing
    more = changed(fewer, field, getattr(record, field))
    assert score(more).coverage >= score(fewer).coverage


@given(record=full_records(), kinds=records())
def test_what_an_invocation_is_called_and_when_it_was_earns_nothing(record: Invocation, kinds: Invocation) -> None:
    unseen = EMPTY._replace(skill_category=kinds.skill_category, output_type=kinds.output_type)
    assert score(unseen)[1:7] == (None, None, None, None, None, 0)
    renamed = record._replace(skill_name="another", skill_version="9", model="m", session_id="s", source="otlp")
    assert score(renamed) == score(record)
