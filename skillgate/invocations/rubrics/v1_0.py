"""Rubric 1.0: the method's own functions to the letter, for comparison with what was scored by them.

Silence is good news here: no errors recorded means that there were none, and an output without a size has one line.
Fractions are dropped where the method drops them, and nothing keeps a number in its range. Where the method stops with
an error (no tokens, no duration, any category but code_generation), the component is None, and the total with it.

Source: the skill scoring rubric, its four functions; it gives none for the total, which is their sum.
"""

from __future__ import annotations

from skillgate.invocations.rubrics._baselines import CODE, Baseline, baseline_of
from skillgate.invocations.rubrics._parts import ACCURACIES, COMPONENTS, POINTS, Adjustment, Worth, tell
from skillgate.model.invocation import Component, Invocation, InvocationScore, Part

VERSION = "1.0"
# What the method takes where nothing is recorded. Of the edit ratio it takes 0 where it asks for acceptance (R14).
ASSUMED = {
    **{"output_size": 1, "files_changed": 1, "tool_call_kinds": 0},
    **{"requested_items": 1, "delivered_items": 1, "user_edit_ratio": 0.5},
}


def score(invocation: Invocation) -> InvocationScore:
    """Give the score; points are whole numbers, and total is None where a component is.

    Coverage is the share of the points whose components could be computed: what is missing counts as observed.
    """
    baseline = baseline_of(invocation.skill_category)
    points = [_points(row) for row in _worths(invocation, baseline)]
    known = [point for point in points if point is not None]
    total = sum(known) if len(known) == len(points) else None
    observed = sum(most for most, point in zip(POINTS, points, strict=True) if point is not None)
    coverage = observed / sum(POINTS)
    return InvocationScore(VERSION, points[0], points[1], points[2], points[3], total, coverage, baseline.category)


def explain(invocation: Invocation) -> tuple[Part, ...]:
    """Give the parts; the fraction that efficiency drops is a part ``fraction`` with points below 0 of 0."""
    baseline = baseline_of(invocation.skill_category)
    worths = _worths(invocation, baseline)
    dropped: dict[Component, Adjustment] = {}
    for component, row in zip(COMPONENTS, worths, strict=True):
        exact, whole = _sum(row), _points(row)
        if exact is not None and whole is not None and whole != exact:
            dropped[component] = Adjustment("fraction", whole - exact, "the method drops it")
    return tell(invocation, baseline, worths, dropped, ASSUMED)


def _worths(it: Invocation, baseline: Baseline) -> tuple[tuple[Worth, ...], ...]:
    return (
        (_completion(it),),
        (_tokens(it, baseline), _calls(it, baseline), _time(it, baseline)),
        (_accuracy(it), _completeness(it), _code_quality(it)),
        (_acceptance(it), _edits(it), _follow_ups(it)),
    )


def _sum(row: tuple[Worth, ...]) -> float | None:
    known = [points for points, _ in row if points is not None]
    return sum(known) if len(known) == len(row) else None


def _points(row: tuple[Worth, ...]) -> float | None:
    exact = _sum(row)
    return None if exact is None else float(int(exact))


def _or_assumed(value: float | None, field: str) -> float:
    return ASSUMED[field] if value is None else value


def _completion(it: Invocation) -> Worth:
    if not it.error_count:
        return 25.0, "no errors are recorded"
    if it.recovered:
        return 20.0, "it recovered from an error"
    if it.partial_completion:
        return 15.0, "it was completed in part"
    if it.workaround_used:
        return 10.0, "it needed a workaround"
    return (5.0, "it failed, and explained why") if it.failure_explained else (0.0, "errors: {error_count}")


def _tokens(it: Invocation, baseline: Baseline) -> Worth:
    if baseline is not CODE:
        return None, "the method has tokens per line for code_generation alone"
    if it.tokens_used is None:
        return None, "its tokens were not recorded"
    expected = baseline.tokens_per_unit * _or_assumed(it.output_size, "output_size")
    words = "{tokens_used} tokens; {tokens_per_unit} × {output_size} ({unit}) expected"
    return 8 * min(1.0, expected / max(it.tokens_used, 1)), words


def _calls(it: Invocation, baseline: Baseline) -> Worth:
    if baseline is not CODE:
        return None, "the method has tool calls per file for code_generation alone"
    # The method counts the entries of the list (R4); where only their number is known, there is no other.
    counted = it.tool_call_kinds is None and it.tool_call_count is not None
    calls = it.tool_call_count if counted else it.tool_call_kinds
    given = "{tool_call_count}" if counted else "{tool_call_kinds}"
    expected = baseline.calls_per_unit * _or_assumed(it.files_changed, "files_changed")
    words = " tool calls; {calls_per_unit} × {files_changed} ({call_unit}) expected"
    return 6 * min(1.0, expected / max(_or_assumed(calls, "tool_call_kinds"), 1)), given + words


def _time(it: Invocation, baseline: Baseline) -> Worth:
    if it.duration_ms is None:
        return None, "its duration was not recorded"
    return 6 * min(1.0, baseline.time_ms / max(it.duration_ms, 1)), "{duration_ms} ms; {time_ms} expected"


def _accuracy(it: Invocation) -> Worth:
    if it.feedback_given or it.accuracy is not None:
        return ACCURACIES[it.accuracy] if it.accuracy is not None else (0.0, "there is feedback, and none on accuracy")
    if it.output_validated:
        return 12.0, "the output was validated"
    return (0.0, "not validated, with errors") if it.error_count else (8.0, "no errors are recorded")


def _completeness(it: Invocation) -> Worth:
    requested = _or_assumed(it.requested_items, "requested_items")
    delivered = _or_assumed(it.delivered_items, "delivered_items")
    words = "{delivered_items} of {requested_items} items delivered"
    return float(int(10 * min(1.0, delivered / max(requested, 1)))), words


def _code_quality(it: Invocation) -> Worth:
    if it.output_type != "code":
        return 8.0, "the output is no code"
    # The linter and the types pass unless they are known not to; the tests fail unless they are known to pass (R12).
    points = 3 * (it.linter_passed is not False) + 2 * (it.types_valid is not False) + 3 * bool(it.tests_passed)
    return float(points), "linter passed: {linter_passed}; types valid: {types_valid}; tests passed: {tests_passed}"


def _acceptance(it: Invocation) -> Worth:
    if it.user_accepted:
        return (10.0, "accepted as it is") if (it.user_edit_ratio or 0) < 0.05 else (7.0, "accepted with edits")
    return (5.0, "used, but not accepted") if it.user_used_output else (0.0, "neither accepted nor used")


def _edits(it: Invocation) -> Worth:
    ratio = _or_assumed(it.user_edit_ratio, "user_edit_ratio")
    return float(int(8 * (1 - min(ratio, 1.0)))), "an edit ratio of {user_edit_ratio}"


def _follow_ups(it: Invocation) -> Worth:
    count = it.follow_up_count or 0
    if not count:
        return 7.0, "no follow-ups are recorded"
    if count == 1:
        return 4.0, "one follow-up"
    return (
        (2.0, "all follow-ups were resolved") if it.follow_up_open == 0 else (0.0, "not all follow-ups were resolved")
    )
