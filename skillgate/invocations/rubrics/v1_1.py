"""Rubric 1.1: what was not observed earns nothing and costs nothing.

A component is worth its points × the share that its known parts earned, and is None where no part is known; the total
is 100 × the share that the known components earned. Coverage is the share of the points that can apply whose parts are
known; below 0.35 there is no total.

Source: the skill scoring rubric; R1–R17 in the comments are its defects, which docs/decisions tells with their repairs.
"""

from __future__ import annotations

from typing import NamedTuple

from skillgate.invocations.rubrics._baselines import CODE, Baseline, baseline_of
from skillgate.invocations.rubrics._parts import ACCURACIES, COMPONENTS, PARTS, POINTS, Adjustment, Worth, half_up, tell
from skillgate.model.invocation import Component, Ending, Invocation, InvocationScore, Part

VERSION = "1.1"
LEAST_COVERAGE = 0.35  # Source: decision; under it a total says more of the recorder than of the skill
FAILED = 5  # completion points: at most these, and the invocation failed (R9)
DISPLEASED = 12  # satisfaction points that a negative rating leaves at most (R17)
AS_IS = 0.05  # the edit ratio below which an output counts as used without edits
ASSUMED = {"units": 1, "time_units": 1}  # who counts no units does one task (R2, R7)

_MOST = tuple(tuple(most for _, most in parts) for parts in PARTS)
_CODE_ONLY = PARTS[2][2][1]  # points of code quality, which applies to nothing else
_ALL = sum(map(sum, _MOST))

_ENDINGS: dict[Ending, Worth] = {
    Ending.COMPLETE: (25.0, "recorded as complete"),
    Ending.RECOVERED: (20.0, "recorded as recovered from an error"),
    Ending.PARTIAL: (15.0, "recorded as partial"),
    Ending.WORKAROUND: (10.0, "recorded as reached by a workaround"),
    Ending.EXPLAINED_FAILURE: (5.0, "recorded as a failure that was explained"),
    Ending.HARD_FAILURE: (0.0, "recorded as a hard failure"),
}
_SEVERAL = "{follow_up_count} follow-ups, "
_TOLD = {
    Component.EFFICIENCY: "what failed earns nothing for being quick",
    Component.QUALITY: "what failed earns no more than its completeness",
    Component.SATISFACTION: f"a negative rating leaves {DISPLEASED} points at most",
}


class _Sheet(NamedTuple):
    """By component, in the order of ``Component``: its parts, what they earn, and what limits leave of that."""

    worths: tuple[tuple[Worth, ...], ...]
    earned: list[float | None]
    left: list[float | None]
    coverage: float


def score(invocation: Invocation) -> InvocationScore:
    """Give the score; components and total on two decimals, halves up (R6)."""
    baseline = baseline_of(invocation.skill_category)
    _, _, left, coverage = _sheet(invocation, baseline)
    total = None
    if coverage >= LEAST_COVERAGE:
        got, most = 0.0, 0
        for points, highest in zip(left, POINTS):  # noqa: B905 - both are four; checking costs time
            if points is not None:
                got += points
                most += highest
        total = half_up(100 * got / most)
    stored = [None if points is None else half_up(points) for points in left]
    return InvocationScore(VERSION, stored[0], stored[1], stored[2], stored[3], total, coverage, baseline.category)


def explain(invocation: Invocation) -> tuple[Part, ...]:
    """Give the parts, unrounded; what a limit takes from a component is a part ``limit`` with points below 0 of 0.

    Code quality is left out where the output is no code.
    """
    baseline = baseline_of(invocation.skill_category)
    sheet = _sheet(invocation, baseline)
    limits = {
        component: Adjustment("limit", after - before, _TOLD[component])
        for component, before, after in zip(COMPONENTS, sheet.earned, sheet.left, strict=True)
        if before is not None and after is not None and after < before
    }
    return tell(invocation, baseline, sheet.worths, limits, ASSUMED)


def _sheet(it: Invocation, baseline: Baseline) -> _Sheet:
    completeness = _completeness(it)
    code = it.output_type == "code"
    worths = (
        (_completion(it),),
        (_tokens(it, baseline), _calls(it, baseline), _time(it, baseline)),
        (_accuracy(it), completeness, _code_quality(it)) if code else (_accuracy(it), completeness),
        (_acceptance(it), _edits(it), _follow_ups(it)),
    )
    observed = 0
    earned: list[float | None] = []
    for row, mosts, highest in zip(worths, _MOST, POINTS):  # noqa: B905 - all are four; checking costs time
        got, known = 0.0, 0
        for (points, _), most in zip(row, mosts):  # noqa: B905 - code quality may be left out
            if points is not None:
                got += points
                known += most
        earned.append(highest * got / known if known else None)
        observed += known
    left = _limited(earned, completeness[0] or 0.0, displeased=it.rating == "negative")
    return _Sheet(worths, earned, left, observed / (_ALL if code else _ALL - _CODE_ONLY))


def _limited(earned: list[float | None], completeness: float, *, displeased: bool) -> list[float | None]:
    completion, efficiency, quality, satisfaction = earned
    if completion is not None and completion <= FAILED:
        efficiency = None if efficiency is None else 0.0
        quality = None if quality is None else min(quality, completeness)
    if displeased and satisfaction is not None and satisfaction > DISPLEASED:
        satisfaction = float(DISPLEASED)
    return [completion, efficiency, quality, satisfaction]


def _share(share: float, most: int) -> float:
    # R5: no part leaves its range, whatever the numbers.
    return float(most) if share >= 1 else most * share if share > 0 else 0.0


def _completion(it: Invocation) -> Worth:
    # R8: what is said outright, then what is the worst of what is known.
    if it.ending is not None:
        return _ENDINGS[it.ending]
    if it.crashed:
        return 0.0, "it crashed, hung or timed out"
    if it.output_size == 0 and not (it.delivered_items or 0) > 0:
        return 0.0, "it produced nothing"
    if it.workaround_used:
        return 10.0, "it needed a workaround"
    if it.partial_completion:
        return 15.0, "it was completed in part"
    if it.recovered:
        return 20.0, "it recovered from an error"
    if it.failure_explained:
        return 5.0, "it failed, and explained why"
    if it.error_count is None:
        return None, "neither how it ended nor its errors were recorded"
    return (0.0, "errors: {error_count}, and it got over none") if it.error_count else (25.0, "no errors")


def _tokens(it: Invocation, baseline: Baseline) -> Worth:
    used, size = it.tokens_used, it.output_size
    if used is None:
        return None, "its tokens were not recorded"
    if used <= 0:
        return None, "no tokens were counted, which is no measurement"  # R3
    if size is None:
        return None, "the size of its output was not recorded"
    if size <= 0:
        return None, "there is no output to measure tokens by"
    expected = "{tokens_used} tokens; {tokens_per_unit} × {output_size} ({unit}) expected"
    return _share(baseline.tokens_per_unit * size / used, 8), expected


def _calls(it: Invocation, baseline: Baseline) -> Worth:
    # R4: the count is of calls; the list may name each tool once.
    calls, given = it.tool_call_count, "tool_call_count"
    if calls is None:
        calls, given = it.tool_call_kinds, "tool_call_kinds"
    if calls is None:
        return None, "its tool calls were not recorded"
    # R2: code is measured by its files, all else by its units.
    code = baseline is CODE
    units = it.files_changed if code else ASSUMED["units"] if it.units is None else it.units
    if units is None:
        return None, "the number of files changed was not recorded"
    if units <= 0:
        return None, "there is nothing to measure tool calls by: 0 {call_unit}"
    if calls <= 0:
        return 6.0, "no tool calls"
    by = "files_changed" if code else "units"
    words = f"{{{given}}} tool calls; {{calls_per_unit}} × {{{by}}} ({{call_unit}}) expected"
    return _share(baseline.calls_per_unit * units / calls, 6), words


def _time(it: Invocation, baseline: Baseline) -> Worth:
    spent = it.duration_ms
    if spent is None:
        return None, "its duration was not recorded"
    if spent <= 0:
        return None, "a duration of 0 is no measurement"  # R3
    units = ASSUMED["time_units"] if it.time_units is None else it.time_units  # R7
    if units <= 0:
        return None, "there is nothing to measure time by: 0 units"
    return _share(baseline.time_ms * units / spent, 6), "{duration_ms} ms; {time_ms} × {time_units} expected"


def _accuracy(it: Invocation) -> Worth:
    if it.accuracy is not None:
        return ACCURACIES[it.accuracy]
    if it.output_validated:
        return 12.0, "the output was validated"
    return None, "nobody said or checked whether it is accurate"  # R11


def _completeness(it: Invocation) -> Worth:
    requested, delivered = it.requested_items, it.delivered_items
    if requested is None or delivered is None:
        return None, "what was requested and what was delivered are not both recorded"
    if requested <= 0:
        return None, "nothing was requested by number"  # R13
    return _share(delivered / requested, 10), "{delivered_items} of {requested_items} items delivered"


def _code_quality(it: Invocation) -> Worth:
    # R12: a signal that nobody gave neither passes nor fails.
    got = known = 0
    for passed, points in ((it.linter_passed, 3), (it.types_valid, 2), (it.tests_passed, 3)):
        if passed is not None:
            known += points
            got += points if passed else 0
    if not known:
        return None, "neither linter, types nor tests were reported"
    return 8 * got / known, "linter passed: {linter_passed}; types valid: {types_valid}; tests passed: {tests_passed}"


def _acceptance(it: Invocation) -> Worth:
    accepted = it.user_accepted
    if accepted is None and it.rating == "positive":
        accepted = True  # R17
    if accepted:
        if it.user_edit_ratio is None:
            return 7.0, "accepted; whether it was edited is unknown"  # R14
        return (10.0, "accepted as it is") if it.user_edit_ratio < AS_IS else (7.0, "accepted with edits")
    if it.user_used_output:
        return 5.0, "used, but not accepted as such"
    if accepted is None and it.user_used_output is None:
        if it.rating == "negative":
            return 0.0, "the user was displeased"  # else a bad word alone would leave a better total than a good one
        return None, "whether it was accepted or used is unknown"  # R15
    return 0.0, "neither accepted nor used"


def _edits(it: Invocation) -> Worth:
    if it.user_edit_ratio is None:
        return None, "how much of it was edited is unknown"
    return _share(1 - it.user_edit_ratio, 8), "an edit ratio of {user_edit_ratio}"


def _follow_ups(it: Invocation) -> Worth:
    # R16: one that stays open is no better than several that were resolved.
    count, still_open = it.follow_up_count, it.follow_up_open
    if count is None:
        return None, "whether there were follow-ups is unknown"
    if count <= 0:
        return 7.0, "no follow-ups"
    if count == 1:
        return (2.0, "one follow-up, still open") if still_open else (4.0, "one follow-up")
    # Two that nobody knows to be resolved: were the part None, a second follow-up could raise the score.
    resolved = still_open == 0
    return (2.0, _SEVERAL + "all resolved") if resolved else (0.0, _SEVERAL + "not all known to be resolved")
