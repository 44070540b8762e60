"""What an invocation is worth by each version of the rubric, and what that comes from.

A part is worth points, or None, and carries the words for it: a template that is filled in only on request, so that
scoring a million invocations does not pay for it, and number and words come from the same branch.

Version 1.1, the default: what was not observed earns nothing and costs nothing. A component is worth its points × the
share that its known parts earned, and is None where no part is known; the total is 100 × the share that the known
components earned. Coverage is the share of the points that can apply whose parts are known; below 0.35 there is no
total. Version 1.0, the method's own functions to the letter, is for comparison with what was scored by them.

Source: the skill scoring rubric; R1–R17 in the comments are its defects, which docs/decisions lists with their repairs.
"""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from skillgate.errors import UsageError
from skillgate.model.invocation import Accuracy, Component, Ending, Invocation, InvocationScore, Part

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Scorer: TypeAlias = Callable[[Invocation], InvocationScore]
    Explainer: TypeAlias = Callable[[Invocation], tuple[Part, ...]]

DEFAULT = "1.1"  # 1.0 gives points for what nobody observed
LITERAL = "1.0"


def scorer(version: str = DEFAULT) -> Scorer:
    """Return the function that scores by a version.

    Raises:
        UsageError: there is no such version; the known ones are named.
    """
    return _version(version)[0]


def explainer(version: str = DEFAULT) -> Explainer:
    """Return the function that returns the parts of a score by a version; raise as :func:`scorer`."""
    return _version(version)[1]


def _version(version: str) -> tuple[Scorer, Explainer]:
    if version not in _VERSIONS:
        raise UsageError(f"unknown rubric version {version!r}; known are {', '.join(_VERSIONS)}")
    return _VERSIONS[version]


# What a task of each category is expected to take. Source: the rubric's table of baselines. Its keys differ by category
# (tokens per line, per insight, …); here they are the same (R1).


class Baseline(NamedTuple):
    """What is expected of one category.

    Attributes:
        tokens_per_unit: for each ``unit`` of output.
        calls_per_unit: tool calls for each ``call_unit`` of work.
        time_ms: for one task, however large (R7).
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
    """Return the baseline of a category; of one that the rubric does not know, or none, that of analysis (R1)."""
    return _OTHERWISE if category is None else BASELINES.get(category, _OTHERWISE)


# The parts that a score is made of, the same in every version

Worth: TypeAlias = tuple[float | None, str]
"""Points or None, and a template over the fields of Invocation and Baseline."""

# What each part can give, by component. Source: the rubric's tables.
_PARTS = (
    (("ending", 25),),
    (("tokens", 8), ("tool calls", 6), ("time", 6)),
    (("accuracy", 12), ("completeness", 10), ("code quality", 8)),
    (("acceptance", 10), ("edits", 8), ("follow-ups", 7)),
)
_COMPONENTS = tuple(Component)
_POINTS = tuple(component.points for component in _COMPONENTS)

# Source: the rubric's points for direct feedback.
_ACCURACIES: dict[Accuracy, Worth] = {
    Accuracy.ACCURATE: (12.0, "the user found it accurate"),
    Accuracy.MOSTLY: (9.0, "the user found it mostly accurate"),
    Accuracy.PARTIALLY: (6.0, "the user found it partially accurate"),
    Accuracy.INACCURATE: (0.0, "the user found it inaccurate"),
}

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
    """Put the parts of all components into words, with no text of the record in them.

    Args:
        invocation: what they come from.
        worths: by component, in the order of ``_PARTS``; parts at the end that cannot apply are left out.
        adjustments: by component, what is taken from its points as a whole: points ≤ 0 of 0.
        assumed: by field of Invocation, what the rubric takes where nothing was recorded.
    """
    facts = _facts(invocation, assumed)
    found: list[Part] = []
    for component, parts, row in zip(_COMPONENTS, _PARTS, worths, strict=True):
        found += (
            Part(component, name, points, most, words.format_map(facts))
            for (name, most), (points, words) in zip(parts, row, strict=False)
        )
        found += (adjustments[component],) if component in adjustments else ()
    return tuple(found)


def _facts(invocation: Invocation, assumed: Mapping[str, float]) -> dict[str, str]:
    # Of texts only the baseline's own: a template cannot name one of the record.
    facts = {key: _shown(value) for key, value in invocation._asdict().items() if not isinstance(value, str)}
    facts |= {key: f"{value:g} (assumed)" for key, value in assumed.items() if getattr(invocation, key) is None}
    baseline = baseline_of(invocation.skill_category)._asdict()
    return facts | {key: value if isinstance(value, str) else _shown(value) for key, value in baseline.items()}


def _shown(value: object) -> str:
    if value is None or isinstance(value, bool):
        return _FLAGS[value]
    return f"{value:.12g}" if isinstance(value, int | float) else ""


# Version 1.1

_LEAST_COVERAGE = 0.35  # Source: decision; under it a total says more of the recorder than of the skill
_FAILED = 5  # completion points: at most these, and the invocation failed (R9)
_DISPLEASED = 12  # satisfaction points that a negative rating leaves at most (R17)
_AS_IS = 0.05  # the edit ratio below which an output counts as used without edits
_ASSUMED = {"units": 1, "time_units": 1}  # who counts no units does one task (R2, R7)

_MOST = tuple(tuple(most for _, most in parts) for parts in _PARTS)
_CODE_ONLY = _PARTS[2][2][1]  # points of code quality, which applies to nothing else
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
_LIMITS = {
    Component.EFFICIENCY: "what failed earns nothing for being quick",
    Component.QUALITY: "what failed earns no more than its completeness",
    Component.SATISFACTION: f"a negative rating leaves {_DISPLEASED} points at most",
}


class _Sheet(NamedTuple):
    """By component, in the order of ``Component``: its parts, what they earn, and what limits leave of that."""

    worths: tuple[tuple[Worth, ...], ...]
    earned: list[float | None]
    left: list[float | None]
    coverage: float


def _score(invocation: Invocation) -> InvocationScore:
    """Score by version 1.1; components and total on two decimals, halves up (R6)."""
    baseline = baseline_of(invocation.skill_category)
    _, _, left, coverage = _sheet(invocation, baseline)
    total = None
    if coverage >= _LEAST_COVERAGE:
        got, most = 0.0, 0
        for points, highest in zip(left, _POINTS):  # noqa: B905 - both are four; checking costs time
            if points is not None:
                got += points
                most += highest
        total = _half_up(100 * got / most)
    stored = [None if points is None else _half_up(points) for points in left]
    return InvocationScore(DEFAULT, stored[0], stored[1], stored[2], stored[3], total, coverage, baseline.category)


def _explain(invocation: Invocation) -> tuple[Part, ...]:
    """Return the parts by version 1.1, unrounded; what a limit takes is a part ``limit`` with points below 0 of 0.

    Code quality is left out where the output is no code.
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
        (_acceptance(it), _edits(it), _follow_ups(it)),
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
    if completion is not None and completion <= _FAILED:
        efficiency = None if efficiency is None else 0.0
        quality = None if quality is None else min(quality, completeness)
    if displeased and satisfaction is not None and satisfaction > _DISPLEASED:
        satisfaction = float(_DISPLEASED)
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
    calls, field = it.tool_call_count, "tool_call_count"
    if calls is None:
        calls, field = it.tool_call_kinds, "tool_call_kinds"
    if calls is None:
        return None, "its tool calls were not recorded"
    # R2: code is measured by its files, all else by its units.
    code = baseline is CODE
    units = it.files_changed if code else _ASSUMED["units"] if it.units is None else it.units
    if units is None:
        return None, "the number of files changed was not recorded"
    if units <= 0:
        return None, "there is nothing to measure tool calls by: 0 {call_unit}"
    if calls <= 0:
        return 6.0, "no tool calls"
    by = "files_changed" if code else "units"
    words = f"{{{field}}} tool calls; {{calls_per_unit}} × {{{by}}} ({{call_unit}}) expected"
    return _share(baseline.calls_per_unit * units / calls, 6), words


def _time(it: Invocation, baseline: Baseline) -> Worth:
    spent = it.duration_ms
    if spent is None:
        return None, "its duration was not recorded"
    if spent <= 0:
        return None, "a duration of 0 is no measurement"  # R3
    units = _ASSUMED["time_units"] if it.time_units is None else it.time_units  # R7
    if units <= 0:
        return None, "there is nothing to measure time by: 0 units"
    return _share(baseline.time_ms * units / spent, 6), "{duration_ms} ms; {time_ms} × {time_units} expected"


def _accuracy(it: Invocation) -> Worth:
    if it.accuracy is not None:
        return _ACCURACIES[it.accuracy]
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
        return (10.0, "accepted as it is") if it.user_edit_ratio < _AS_IS else (7.0, "accepted with edits")
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


# Version 1.0. Silence is good news here: no errors recorded means that there were none, and an output without a size
# has one line. Fractions are dropped where the method drops them, and nothing keeps a number in its range. Where the
# method stops with an error (no tokens, no duration, any category but code_generation), the component is None, and the
# total with it. The method gives four functions, and none for the total, which is their sum.

# What the method takes where nothing is recorded. Of the edit ratio it takes 0 where it asks for acceptance (R14).
_LITERAL_ASSUMED = {
    **{"output_size": 1, "files_changed": 1, "tool_call_kinds": 0},
    **{"requested_items": 1, "delivered_items": 1, "user_edit_ratio": 0.5},
}


def _literal_score(invocation: Invocation) -> InvocationScore:
    """Score by version 1.0: points are whole numbers, and total is None where a component is.

    Coverage is the share of the points whose components could be computed: what is missing counts as observed.
    """
    baseline = baseline_of(invocation.skill_category)
    points = [_literal_points(row) for row in _literal_worths(invocation, baseline)]
    known = [point for point in points if point is not None]
    total = sum(known) if len(known) == len(points) else None
    observed = sum(most for most, point in zip(_POINTS, points, strict=True) if point is not None)
    coverage = observed / sum(_POINTS)
    return InvocationScore(LITERAL, points[0], points[1], points[2], points[3], total, coverage, baseline.category)


def _literal_explain(invocation: Invocation) -> tuple[Part, ...]:
    """Return the parts by version 1.0; what efficiency drops is a part ``fraction`` with points below 0."""
    worths = _literal_worths(invocation, baseline_of(invocation.skill_category))
    dropped: dict[Component, Part] = {}
    for component, row in zip(_COMPONENTS, worths, strict=True):
        exact, whole = _literal_sum(row), _literal_points(row)
        if exact is not None and whole is not None and whole != exact:
            dropped[component] = Part(component, "fraction", whole - exact, 0, "the method drops it")
    return _explained(invocation, worths, dropped, _LITERAL_ASSUMED)


def _literal_worths(it: Invocation, baseline: Baseline) -> tuple[tuple[Worth, ...], ...]:
    return (
        (_literal_completion(it),),
        (_literal_tokens(it, baseline), _literal_calls(it, baseline), _literal_time(it, baseline)),
        (_literal_accuracy(it), _literal_completeness(it), _literal_code_quality(it)),
        (_literal_acceptance(it), _literal_edits(it), _literal_follow_ups(it)),
    )


def _literal_sum(row: tuple[Worth, ...]) -> float | None:
    known = [points for points, _ in row if points is not None]
    return sum(known) if len(known) == len(row) else None


def _literal_points(row: tuple[Worth, ...]) -> float | None:
    exact = _literal_sum(row)
    return None if exact is None else float(int(exact))


def _or_assumed(value: float | None, field: str) -> float:
    return _LITERAL_ASSUMED[field] if value is None else value


def _literal_completion(it: Invocation) -> Worth:
    if not it.error_count:
        return 25.0, "no errors are recorded"
    if it.recovered:
        return 20.0, "it recovered from an error"
    if it.partial_completion:
        return 15.0, "it was completed in part"
    if it.workaround_used:
        return 10.0, "it needed a workaround"
    return (5.0, "it failed, and explained why") if it.failure_explained else (0.0, "errors: {error_count}")


def _literal_tokens(it: Invocation, baseline: Baseline) -> Worth:
    if baseline is not CODE:
        return None, "the method has tokens per line for code_generation alone"
    if it.tokens_used is None:
        return None, "its tokens were not recorded"
    expected = baseline.tokens_per_unit * _or_assumed(it.output_size, "output_size")
    words = "{tokens_used} tokens; {tokens_per_unit} × {output_size} ({unit}) expected"
    return 8 * min(1.0, expected / max(it.tokens_used, 1)), words


def _literal_calls(it: Invocation, baseline: Baseline) -> Worth:
    if baseline is not CODE:
        return None, "the method has tool calls per file for code_generation alone"
    # The method counts the entries of the list (R4); where only their number is known, there is no other.
    counted = it.tool_call_kinds is None and it.tool_call_count is not None
    calls = it.tool_call_count if counted else it.tool_call_kinds
    field = "{tool_call_count}" if counted else "{tool_call_kinds}"
    expected = baseline.calls_per_unit * _or_assumed(it.files_changed, "files_changed")
    words = " tool calls; {calls_per_unit} × {files_changed} ({call_unit}) expected"
    return 6 * min(1.0, expected / max(_or_assumed(calls, "tool_call_kinds"), 1)), field + words


def _literal_time(it: Invocation, baseline: Baseline) -> Worth:
    if it.duration_ms is None:
        return None, "its duration was not recorded"
    return 6 * min(1.0, baseline.time_ms / max(it.duration_ms, 1)), "{duration_ms} ms; {time_ms} expected"


def _literal_accuracy(it: Invocation) -> Worth:
    if it.feedback_given or it.accuracy is not None:
        return _ACCURACIES[it.accuracy] if it.accuracy is not None else (0.0, "there is feedback, and none on accuracy")
    if it.output_validated:
        return 12.0, "the output was validated"
    return (0.0, "not validated, with errors") if it.error_count else (8.0, "no errors are recorded")


def _literal_completeness(it: Invocation) -> Worth:
    requested = _or_assumed(it.requested_items, "requested_items")
    delivered = _or_assumed(it.delivered_items, "delivered_items")
    words = "{delivered_items} of {requested_items} items delivered"
    return float(int(10 * min(1.0, delivered / max(requested, 1)))), words


def _literal_code_quality(it: Invocation) -> Worth:
    if it.output_type != "code":
        return 8.0, "the output is no code"
    # The linter and the types pass unless they are known not to; the tests fail unless they are known to pass (R12).
    points = 3 * (it.linter_passed is not False) + 2 * (it.types_valid is not False) + 3 * bool(it.tests_passed)
    return float(points), "linter passed: {linter_passed}; types valid: {types_valid}; tests passed: {tests_passed}"


def _literal_acceptance(it: Invocation) -> Worth:
    if it.user_accepted:
        return (10.0, "accepted as it is") if (it.user_edit_ratio or 0) < 0.05 else (7.0, "accepted with edits")
    return (5.0, "used, but not accepted") if it.user_used_output else (0.0, "neither accepted nor used")


def _literal_edits(it: Invocation) -> Worth:
    ratio = _or_assumed(it.user_edit_ratio, "user_edit_ratio")
    return float(int(8 * (1 - min(ratio, 1.0)))), "an edit ratio of {user_edit_ratio}"


def _literal_follow_ups(it: Invocation) -> Worth:
    count = it.follow_up_count or 0
    if not count:
        return 7.0, "no follow-ups are recorded"
    if count == 1:
        return 4.0, "one follow-up"
    return (
        (2.0, "all follow-ups were resolved") if it.follow_up_open == 0 else (0.0, "not all follow-ups were resolved")
    )


_VERSIONS: dict[str, tuple[Scorer, Explainer]] = {
    LITERAL: (_literal_score, _literal_explain),
    DEFAULT: (_score, _explain),
}
VERSIONS = tuple(_VERSIONS)
