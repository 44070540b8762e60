"""Score an invocation by each version of the rubric, and explain the score.

Each part yields points (or None) and a text template from the same branch. Templates are filled in only on request, so
that scoring a million invocations does not pay for them.

Version 1.1, the default, ignores what was not observed. A component is its points × the share earned by its known
parts, or None without known parts. The total is 100 × the share earned by the known components. Coverage is the share
of the applicable points with known parts; below 0.35 there is no total. Version 1.0 is the method's own functions to
the letter, for comparison with older scores.

Source: the skill scoring rubric; R1–R17 in the comments are its defects, listed with their fixes in docs/decisions.
"""

from __future__ import annotations

from math import floor
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from skillgate.errors import UsageError
from skillgate.model.invocation import Accuracy, Component, Ending, Invocation, InvocationScore, Part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Scorer: TypeAlias = Callable[[Invocation], InvocationScore]
    Explainer: TypeAlias = Callable[[Invocation], tuple[Part, ...]]

DEFAULT = "1.1"  # 1.0 gives points for unobserved parts
LITERAL = "1.0"


def scorer(version: str = DEFAULT) -> Scorer:
    """Return the scoring function of a version; raise UsageError for an unknown version."""
    return _version(version)[0]


def explainer(version: str = DEFAULT) -> Explainer:
    """Return the function that lists the parts of a score; raise UsageError for an unknown version."""
    return _version(version)[1]


def _version(version: str) -> tuple[Scorer, Explainer]:
    if version not in _VERSIONS:
        raise UsageError(f"unknown rubric version {version!r}; known versions: {', '.join(_VERSIONS)}")
    return _VERSIONS[version]


# The expected effort of a task by category. Source: the rubric's table of baselines. Its keys differ by category
# (tokens per line, per insight, …); here they are the same (R1).


class Baseline(NamedTuple):
    """The expected effort in one category.

    Attributes:
        tokens_per_unit: per ``unit`` of output.
        calls_per_unit: tool calls per ``call_unit`` of work.
        time_ms: per task of any size (R7).
    """

    category: str
    tokens_per_unit: int
    unit: str
    calls_per_unit: int
    call_unit: str
    time_ms: int


_BASELINES = (
    Baseline("code_generation", 50, "lines of code", 3, "files changed", 30_000),
    Baseline("analysis", 200, "insights", 5, "analyses", 20_000),
    Baseline("design", 150, "components", 4, "designs", 45_000),
    Baseline("research", 100, "findings", 8, "searches", 60_000),
)
BASELINES = {baseline.category: baseline for baseline in _BASELINES}
CODE = BASELINES["code_generation"]
_OTHERWISE = BASELINES["analysis"]


def baseline_of(category: str | None) -> Baseline:
    """Return the baseline of a category; that of analysis for None and unknown categories (R1)."""
    return _OTHERWISE if category is None else BASELINES.get(category, _OTHERWISE)


# The parts of a score, the same in every version

Worth: TypeAlias = tuple[float | None, str]
"""Points or None, and a text template over the fields of Invocation and Baseline."""
Rule: TypeAlias = "tuple[Callable[[Invocation], object], Worth]"
"""A condition, and what it is worth. Of a list of rules the first that applies counts; the last always applies."""


def _always(_invocation: Invocation) -> bool:
    return True


def _first(rules: Iterable[Rule], invocation: Invocation) -> Worth:
    worth: Worth = (None, "")
    for applies, worth in rules:  # noqa: B007 - the last one always applies
        if applies(invocation):
            break
    return worth


PARTS = (
    (("ending", 25),),
    (("tokens", 8), ("tool calls", 6), ("time", 6)),
    (("accuracy", 12), ("completeness", 10), ("code quality", 8)),
    (("acceptance", 10), ("edits", 8), ("follow-ups", 7)),
)
"""The maximum points of each part, in the order of :class:`Component`. Source: the rubric's tables."""
CODE_SIGNALS = {"linter_passed": 3, "types_valid": 2, "tests_passed": 3}
"""The points of code quality, by signal. Source: the rubric's function for output quality."""
_COMPONENTS = tuple(Component)
_POINTS = tuple(component.points for component in _COMPONENTS)

# Source: the rubric's points for direct feedback.
_ACCURACIES: dict[Accuracy, Worth] = {
    Accuracy.ACCURATE: (12.0, "the user found it accurate"),
    Accuracy.MOSTLY: (9.0, "the user found it mostly accurate"),
    Accuracy.PARTIALLY: (6.0, "the user found it partially accurate"),
    Accuracy.INACCURATE: (0.0, "the user found it inaccurate"),
}

_VALIDATED: Worth = (12.0, "the output was validated")

_FLAGS = {True: "yes", False: "no", None: "unknown"}
_ALMOST = 1e-9  # a product such as 1.005 × 100 ends just below its half


def _half_up(points: float) -> float:
    """Round to two decimals, halves up (R6)."""
    return floor(points * 100 + 0.5 + _ALMOST) / 100


def _explained(
    invocation: Invocation,
    worths: Sequence[Sequence[Worth]],
    adjustments: Mapping[Component, Part],
    assumed: Mapping[str, float],
) -> tuple[Part, ...]:
    """Explain the parts of all components, without any text of the record.

    Args:
        invocation: the scored invocation.
        worths: by component, in the order of ``PARTS``; trailing parts that do not apply are omitted.
        adjustments: deductions from a whole component: points ≤ 0 of 0.
        assumed: values that the rubric assumes for missing fields of Invocation.
    """
    facts = _facts(invocation, assumed)
    found: list[Part] = []
    for component, parts, row in zip(_COMPONENTS, PARTS, worths, strict=True):
        found += (
            Part(component, name, points, most, words.format_map(facts))
            for (name, most), (points, words) in zip(parts, row, strict=False)
        )
        found += (adjustments[component],) if component in adjustments else ()
    return tuple(found)


def _facts(invocation: Invocation, assumed: Mapping[str, float]) -> dict[str, str]:
    # No strings but the baseline's: a template must not show text of the record.
    facts = {key: _shown(value) for key, value in invocation._asdict().items() if not isinstance(value, str)}
    facts |= {key: f"{value:g} (assumed)" for key, value in assumed.items() if getattr(invocation, key) is None}
    baseline = baseline_of(invocation.skill_category)._asdict()
    return facts | {key: value if isinstance(value, str) else _shown(value) for key, value in baseline.items()}


def _shown(value: object) -> str:
    if value is None or isinstance(value, bool):
        return _FLAGS[value]
    return f"{value:.12g}" if isinstance(value, int | float) else ""


# Version 1.1

LEAST_COVERAGE = 0.35  # Source: decision; below it a total describes the recorder more than the skill
FAILED = 5  # maximum completion points of a failed invocation (R9)
DISPLEASED = 12  # maximum satisfaction points with a negative rating (R17)
AS_IS = 0.05  # below this edit ratio an output counts as used without edits
_ASSUMED = {"units": 1, "time_units": 1}  # a record without units counts as one task (R2, R7)

_MOST = tuple(tuple(most for _, most in parts) for parts in PARTS)
_CODE_ONLY = PARTS[2][2][1]  # points of code quality, which applies to nothing else
_ALL = sum(map(sum, _MOST))

_ENDINGS: dict[Ending, Worth] = {
    Ending.COMPLETE: (25.0, "recorded as complete"),
    Ending.RECOVERED: (20.0, "recorded as recovered from an error"),
    Ending.PARTIAL: (15.0, "recorded as partial"),
    Ending.WORKAROUND: (10.0, "recorded as completed with a workaround"),
    Ending.EXPLAINED_FAILURE: (5.0, "recorded as an explained failure"),
    Ending.HARD_FAILURE: (0.0, "recorded as a hard failure"),
}
_SEVERAL = "{follow_up_count} follow-ups, "
_LIMITS = {
    Component.EFFICIENCY: "a failure gets no points for efficiency",
    Component.QUALITY: "a failure gets points for completeness only",
    Component.SATISFACTION: f"limited to {DISPLEASED} points by a negative rating",
}


class _Sheet(NamedTuple):
    """Per component, in the order of ``Component``: its parts, the points earned, and the points after limits."""

    worths: tuple[tuple[Worth, ...], ...]
    earned: list[float | None]
    left: list[float | None]
    coverage: float


def _score(invocation: Invocation) -> InvocationScore:
    """Score by version 1.1; components and total have two decimals, halves rounded up (R6)."""
    baseline = baseline_of(invocation.skill_category)
    _, _, left, coverage = _sheet(invocation, baseline)
    total = None
    if coverage >= LEAST_COVERAGE:
        got, most = 0.0, 0
        for points, highest in zip(left, _POINTS):  # noqa: B905 - both are four; checking costs time
            if points is not None:
                got += points
                most += highest
        total = _half_up(100 * got / most)
    stored = [None if points is None else _half_up(points) for points in left]
    return InvocationScore(DEFAULT, stored[0], stored[1], stored[2], stored[3], total, coverage, baseline.category)


def _explain(invocation: Invocation) -> tuple[Part, ...]:
    """Return the parts by version 1.1, unrounded; a limit is a part ``limit`` with negative points of 0.

    Code quality is omitted unless the output is code.
    """
    sheet = _sheet(invocation, baseline_of(invocation.skill_category))
    limits = {
        component: Part(component, "limit", after - before, 0, _LIMITS[component])
        for component, before, after in zip(_COMPONENTS, sheet.earned, sheet.left, strict=True)
        if before is not None and after is not None and after < before
    }
    return _explained(invocation, sheet.worths, limits, _ASSUMED)


def _sheet(it: Invocation, baseline: Baseline) -> _Sheet:
    completeness = _completeness(it)
    code = it.output_type == "code"
    worths = (
        (_completion(it),),
        (_tokens(it, baseline), _calls(it, baseline), _time(it, baseline)),
        (_accuracy(it), completeness, _code_quality(it)) if code else (_accuracy(it), completeness),
        (_first(_ACCEPTANCE, it), _edits(it), _first(_FOLLOW_UPS, it)),
    )
    observed = 0
    earned: list[float | None] = []
    for row, mosts, highest in zip(worths, _MOST, _POINTS):  # noqa: B905 - all are four; checking costs time
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


def _nothing_produced(it: Invocation) -> bool:
    return it.output_size == 0 and not (it.delivered_items or 0) > 0


# R8: a recorded ending first, then the worst of the other signals.
_SIGNS: tuple[Rule, ...] = (
    (attrgetter("crashed"), (0.0, "crashed, hung or timed out")),
    (_nothing_produced, (0.0, "no output")),
    (attrgetter("workaround_used"), (10.0, "needed a workaround")),
    (attrgetter("partial_completion"), (15.0, "partly completed")),
    (attrgetter("recovered"), (20.0, "recovered from an error")),
    (attrgetter("failure_explained"), (5.0, "failed and explained why")),
    (attrgetter("error_count"), (0.0, "errors: {error_count}, no recovery recorded")),
    (lambda it: it.error_count == 0, (25.0, "no errors")),
    (_always, (None, "neither the ending nor errors were recorded")),
)


def _completion(it: Invocation) -> Worth:
    return _first(_SIGNS, it) if it.ending is None else _ENDINGS[it.ending]


def _tokens(it: Invocation, baseline: Baseline) -> Worth:
    used, size = it.tokens_used, it.output_size
    if used is None:
        return None, "tokens not recorded"
    if used <= 0:
        return None, "0 tokens recorded, which is not a measurement"  # R3
    if size is None:
        return None, "output size not recorded"
    if size <= 0:
        return None, "no output to compare tokens with"
    expected = "{tokens_used} tokens; {tokens_per_unit} × {output_size} ({unit}) expected"
    return _share(baseline.tokens_per_unit * size / used, 8), expected


def _calls(it: Invocation, baseline: Baseline) -> Worth:
    # R4: the count is of calls; the list may name each tool once.
    calls, field = it.tool_call_count, "tool_call_count"
    if calls is None:
        calls, field = it.tool_call_kinds, "tool_call_kinds"
    if calls is None:
        return None, "tool calls not recorded"
    # R2: code is measured by its files, all else by its units.
    code = baseline is CODE
    units = it.files_changed if code else _ASSUMED["units"] if it.units is None else it.units
    if units is None:
        return None, "number of changed files not recorded"
    if units <= 0:
        return None, "0 {call_unit}, nothing to compare tool calls with"
    if calls <= 0:
        if it.tool_calls_most:
            return None, "0 to {tool_calls_most} tool calls: its end is uncertain, and none is surely its own"
        return 6.0, "no tool calls"
    by = "files_changed" if code else "units"
    words = f"{{{field}}} tool calls; {{calls_per_unit}} × {{{by}}} ({{call_unit}}) expected"
    return _share(baseline.calls_per_unit * units / calls, 6), words


def _time(it: Invocation, baseline: Baseline) -> Worth:
    spent = it.duration_ms
    if spent is None:
        return None, "duration not recorded"
    if spent <= 0:
        return None, "a duration of 0 is not a measurement"  # R3
    units = _ASSUMED["time_units"] if it.time_units is None else it.time_units  # R7
    if units <= 0:
        return None, "0 units, nothing to compare time with"
    return _share(baseline.time_ms * units / spent, 6), "{duration_ms} ms; {time_ms} × {time_units} expected"


_CHECKED: tuple[Rule, ...] = (
    (attrgetter("output_validated"), _VALIDATED),
    (_always, (None, "accuracy was neither rated nor checked")),  # R11
)


def _accuracy(it: Invocation) -> Worth:
    return _first(_CHECKED, it) if it.accuracy is None else _ACCURACIES[it.accuracy]


def _completeness(it: Invocation) -> Worth:
    requested, delivered = it.requested_items, it.delivered_items
    if requested is None or delivered is None:
        return None, "requested and delivered items not both recorded"
    if requested <= 0:
        return None, "no number of requested items"  # R13
    return _share(delivered / requested, 10), "{delivered_items} of {requested_items} items delivered"


def _code_quality(it: Invocation) -> Worth:
    # R12: a missing signal neither passes nor fails.
    got = known = 0
    for field, points in CODE_SIGNALS.items():
        passed = getattr(it, field)
        if passed is not None:
            known += points
            got += points if passed else 0
    if not known:
        return None, "no results of linter, types or tests recorded"
    return 8 * got / known, "linter passed: {linter_passed}; types valid: {types_valid}; tests passed: {tests_passed}"


def _accepted(it: Invocation) -> bool:
    return it.user_accepted or (it.user_accepted is None and it.rating == "positive")  # R17


_ACCEPTANCE: tuple[Rule, ...] = (
    (lambda it: _accepted(it) and it.user_edit_ratio is None, (7.0, "accepted; edits unknown")),  # R14
    (lambda it: _accepted(it) and (it.user_edit_ratio or 0) < AS_IS, (10.0, "accepted without edits")),
    (_accepted, (7.0, "accepted with edits")),
    (attrgetter("user_used_output"), (5.0, "used, but not accepted")),
    (lambda it: it.user_accepted is False or it.user_used_output is False, (0.0, "neither accepted nor used")),
    # Otherwise a negative rating alone would give a better total than a positive one.
    (lambda it: it.rating == "negative", (0.0, "negative rating")),
    (_always, (None, "acceptance and use unknown")),  # R15
)


def _edits(it: Invocation) -> Worth:
    if it.user_edit_ratio is None:
        return None, "edit ratio unknown"
    return _share(1 - it.user_edit_ratio, 8), "edit ratio {user_edit_ratio}"


# R16: one open follow-up is no better than several resolved ones. If several of unknown state gave None, a second
# follow-up could raise the score.
_FOLLOW_UPS: tuple[Rule, ...] = (
    (lambda it: it.follow_up_count is None, (None, "number of follow-ups unknown")),
    (lambda it: (it.follow_up_count or 0) <= 0, (7.0, "no follow-ups")),
    (lambda it: it.follow_up_count == 1 and it.follow_up_open, (2.0, "one follow-up, still open")),
    (lambda it: it.follow_up_count == 1, (4.0, "one follow-up")),
    (lambda it: it.follow_up_open == 0, (2.0, _SEVERAL + "all resolved")),
    (_always, (0.0, _SEVERAL + "not all known to be resolved")),
)


# Version 1.0. Missing data counts as good: no recorded errors means no errors, and an output without a size has one
# line. Fractions are dropped where the method drops them, and numbers may leave their range. Where the method stops
# with an error (no tokens, no duration, any category but code_generation), the component and the total are None. The
# method has four functions but none for the total, which is their sum.

# What the method assumes for missing fields. For acceptance it assumes an edit ratio of 0 instead (R14).
LITERAL_ASSUMED = {
    **{"output_size": 1, "files_changed": 1, "tool_call_kinds": 0},
    **{"requested_items": 1, "delivered_items": 1, "user_edit_ratio": 0.5},
}


def _literal_score(invocation: Invocation) -> InvocationScore:
    """Score by version 1.0: points are whole numbers; the total is None if a component is.

    Coverage is the share of the points whose components could be computed; missing data counts as observed.
    """
    baseline = baseline_of(invocation.skill_category)
    points = [_literal_points(row) for row in _literal_worths(invocation, baseline)]
    known = [point for point in points if point is not None]
    total = sum(known) if len(known) == len(points) else None
    observed = sum(most for most, point in zip(_POINTS, points, strict=True) if point is not None)
    coverage = observed / sum(_POINTS)
    return InvocationScore(LITERAL, points[0], points[1], points[2], points[3], total, coverage, baseline.category)


def _literal_explain(invocation: Invocation) -> tuple[Part, ...]:
    """Return the parts by version 1.0; the fraction that efficiency drops is a part with negative points."""
    worths = _literal_worths(invocation, baseline_of(invocation.skill_category))
    dropped: dict[Component, Part] = {}
    for component, row in zip(_COMPONENTS, worths, strict=True):
        exact, whole = _literal_sum(row), _literal_points(row)
        if exact is not None and whole is not None and whole != exact:
            dropped[component] = Part(component, "fraction", whole - exact, 0, "the method drops it")
    return _explained(invocation, worths, dropped, LITERAL_ASSUMED)


def _literal_worths(it: Invocation, baseline: Baseline) -> tuple[tuple[Worth, ...], ...]:
    return (
        (_first(_LITERAL_SIGNS, it),),
        (_literal_tokens(it, baseline), _literal_calls(it, baseline), _literal_time(it, baseline)),
        (_literal_accuracy(it), _literal_completeness(it), _literal_code_quality(it)),
        (_first(_LITERAL_ACCEPTANCE, it), _literal_edits(it), _first(_LITERAL_FOLLOW_UPS, it)),
    )


def _literal_sum(row: tuple[Worth, ...]) -> float | None:
    known = [points for points, _ in row if points is not None]
    return sum(known) if len(known) == len(row) else None


def _literal_points(row: tuple[Worth, ...]) -> float | None:
    exact = _literal_sum(row)
    return None if exact is None else float(int(exact))


def _or_assumed(value: float | None, field: str) -> float:
    return LITERAL_ASSUMED[field] if value is None else value


_LITERAL_SIGNS: tuple[Rule, ...] = (
    (lambda it: not it.error_count, (25.0, "no errors recorded")),
    (attrgetter("recovered"), (20.0, "recovered from an error")),
    (attrgetter("partial_completion"), (15.0, "partly completed")),
    (attrgetter("workaround_used"), (10.0, "needed a workaround")),
    (attrgetter("failure_explained"), (5.0, "failed and explained why")),
    (_always, (0.0, "errors: {error_count}")),
)


def _literal_tokens(it: Invocation, baseline: Baseline) -> Worth:
    if baseline is not CODE:
        return None, "the method has tokens per line for code_generation only"
    if it.tokens_used is None:
        return None, "tokens not recorded"
    expected = baseline.tokens_per_unit * _or_assumed(it.output_size, "output_size")
    words = "{tokens_used} tokens; {tokens_per_unit} × {output_size} ({unit}) expected"
    return 8 * min(1.0, expected / max(it.tokens_used, 1)), words


def _literal_calls(it: Invocation, baseline: Baseline) -> Worth:
    if baseline is not CODE:
        return None, "the method has tool calls per file for code_generation only"
    # The method counts the entries of the list (R4); use the number if that is all there is.
    counted = it.tool_call_kinds is None and it.tool_call_count is not None
    calls = it.tool_call_count if counted else it.tool_call_kinds
    field = "{tool_call_count}" if counted else "{tool_call_kinds}"
    expected = baseline.calls_per_unit * _or_assumed(it.files_changed, "files_changed")
    words = " tool calls; {calls_per_unit} × {files_changed} ({call_unit}) expected"
    return 6 * min(1.0, expected / max(_or_assumed(calls, "tool_call_kinds"), 1)), field + words


def _literal_time(it: Invocation, baseline: Baseline) -> Worth:
    if it.duration_ms is None:
        return None, "duration not recorded"
    return 6 * min(1.0, baseline.time_ms / max(it.duration_ms, 1)), "{duration_ms} ms; {time_ms} expected"


_LITERAL_CHECKED: tuple[Rule, ...] = (
    (attrgetter("feedback_given"), (0.0, "feedback without accuracy")),
    (attrgetter("output_validated"), _VALIDATED),
    (attrgetter("error_count"), (0.0, "not validated, with errors")),
    (_always, (8.0, "no errors recorded")),
)


def _literal_accuracy(it: Invocation) -> Worth:
    return _first(_LITERAL_CHECKED, it) if it.accuracy is None else _ACCURACIES[it.accuracy]


def _literal_completeness(it: Invocation) -> Worth:
    requested = _or_assumed(it.requested_items, "requested_items")
    delivered = _or_assumed(it.delivered_items, "delivered_items")
    words = "{delivered_items} of {requested_items} items delivered"
    return float(int(10 * min(1.0, delivered / max(requested, 1)))), words


def _literal_code_quality(it: Invocation) -> Worth:
    if it.output_type != "code":
        return 8.0, "the output is not code"
    # The linter and the types pass unless they are known not to; the tests fail unless they are known to pass (R12).
    linter, types, tests = CODE_SIGNALS.values()
    points = linter * (it.linter_passed is not False) + types * (it.types_valid is not False)
    points += tests * bool(it.tests_passed)
    return float(points), "linter passed: {linter_passed}; types valid: {types_valid}; tests passed: {tests_passed}"


_LITERAL_ACCEPTANCE: tuple[Rule, ...] = (
    (lambda it: it.user_accepted and (it.user_edit_ratio or 0) < AS_IS, (10.0, "accepted without edits")),
    (attrgetter("user_accepted"), (7.0, "accepted with edits")),
    (attrgetter("user_used_output"), (5.0, "used, but not accepted")),
    (_always, (0.0, "neither accepted nor used")),
)


def _literal_edits(it: Invocation) -> Worth:
    ratio = _or_assumed(it.user_edit_ratio, "user_edit_ratio")
    return float(int(8 * (1 - min(ratio, 1.0)))), "edit ratio {user_edit_ratio}"


_LITERAL_FOLLOW_UPS: tuple[Rule, ...] = (
    (lambda it: not it.follow_up_count, (7.0, "no follow-ups recorded")),
    (lambda it: it.follow_up_count == 1, (4.0, "one follow-up")),
    (lambda it: it.follow_up_open == 0, (2.0, "all follow-ups resolved")),
    (_always, (0.0, "not all follow-ups resolved")),
)


_VERSIONS: dict[str, tuple[Scorer, Explainer]] = {
    LITERAL: (_literal_score, _literal_explain),
    DEFAULT: (_score, _explain),
}
VERSIONS = tuple(_VERSIONS)


def _worths(known: Mapping[Any, Worth], rules: Sequence[Rule]) -> tuple[Worth, ...]:
    return (*known.values(), *(worth for _, worth in rules))


CHOICES: dict[str, dict[str, tuple[Worth, ...]]] = {
    DEFAULT: {
        "ending": _worths(_ENDINGS, _SIGNS),
        "accuracy": _worths(_ACCURACIES, _CHECKED),
        "acceptance": _worths({}, _ACCEPTANCE),
        "follow-ups": _worths({}, _FOLLOW_UPS),
    },
    LITERAL: {
        "ending": _worths({}, _LITERAL_SIGNS),
        "accuracy": _worths(_ACCURACIES, _LITERAL_CHECKED),
        "acceptance": _worths({}, _LITERAL_ACCEPTANCE),
        "follow-ups": _worths({}, _LITERAL_FOLLOW_UPS),
    },
}
"""What the parts that are a choice are worth, by version and part, in the order in which they are tried."""
