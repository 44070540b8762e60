"""The keys of a record, each with what it fills and how its value is read: one table, made once.

A value fills one field of an :class:`Invocation`, or, where it says several things at once, a few of them: a list of
tool calls says how many there are and of how many kinds. What such a value says never replaces what stands in a key of
its own. The checks of what stands within are written out here, since a call for each would double the time they take.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from skillgate.invocations.formats import _checks as check
from skillgate.invocations.formats._checks import UnfitError
from skillgate.model.invocation import Accuracy, Invocation

SLOTS = {field: slot for slot, field in enumerate(Invocation._fields)}

Draft: TypeAlias = list[Any]
"""The fields of an invocation to be, in their order."""
Unknown: TypeAlias = list[tuple[str, object]]
"""Paths that nobody knows, with what stands there."""
Filler: TypeAlias = Callable[[Any, Draft, Unknown], None]

_ERRORS, _CRASHED = SLOTS["error_count"], SLOTS["crashed"]
_INPUT, _OUTPUT, _USED = SLOTS["tokens_input"], SLOTS["tokens_output"], SLOTS["tokens_used"]
_CALL_KINDS, _CALLS = SLOTS["tool_call_kinds"], SLOTS["tool_call_count"]
_FOLLOW_UPS, _OPEN = SLOTS["follow_up_count"], SLOTS["follow_up_open"]
_GIVEN, _ACCURACY, _RATING = SLOTS["feedback_given"], SLOTS["accuracy"], SLOTS["rating"]

_KINDS = {"input": "input", "input_tokens": "input", "output": "output", "output_tokens": "output"}
_TOTALS = ("total", "total_tokens")
_SIGNALS = {key: SLOTS[key] for key in ("linter_passed", "types_valid", "tests_passed")}
_WORDS = {
    "accurate": Accuracy.ACCURATE,
    "mostly_accurate": Accuracy.MOSTLY,
    "partially_accurate": Accuracy.PARTIALLY,
}


def _errors(value: Any, draft: Draft, _unknown: Unknown) -> None:  # noqa: ANN401 - JSON
    """Read the list of errors, or how many there were."""
    if draft[_ERRORS] is None:
        draft[_ERRORS] = len(value) if type(value) is list else check.count(value)


def _crash(value: Any, draft: Draft, _unknown: Unknown) -> None:  # noqa: ANN401 - JSON
    """Read that it crashed, hung or timed out: any of the three is enough."""
    draft[_CRASHED] = check.flag(value) or draft[_CRASHED] is True


def _tokens(value: Any, draft: Draft, _unknown: Unknown) -> None:  # noqa: ANN401 - JSON
    """Read tokens as one number or by kind: their sum is a total unless one of input and output is missing."""
    if type(value) is not dict:
        draft[_USED] = check.count(value)
        return
    kinds: dict[str, int] = {}
    total = None
    for key, number in value.items():
        if number is None:
            continue
        if type(number) is not int or not 0 <= number <= check.MOST:
            number = _count(number, f".{check.short_key(key)}")
        if key in _TOTALS:
            total = number
        else:
            kinds[str(_KINDS.get(key, key))] = number
    given, made = kinds.get("input"), kinds.get("output")
    if draft[_INPUT] is None:
        draft[_INPUT] = given
    if draft[_OUTPUT] is None:
        draft[_OUTPUT] = made
    if total is None and kinds and (given is None) is (made is None):
        total = sum(kinds.values())
        if total > check.MOST:
            raise UnfitError("a sum of up to 2^53", total)
    draft[_USED] = total


def _tool_calls(value: Any, draft: Draft, _unknown: Unknown) -> None:  # noqa: ANN401 - JSON
    """Read the list of calls, or how many there were. An entry is one call, or one kind of call with its count."""
    if type(value) is list:
        draft[_CALL_KINDS] = len(value)
        calls = 0
        for place, entry in enumerate(value):
            if type(entry) is str:
                calls += 1
            elif type(entry) is dict:
                number = entry.get("count")
                calls += 1 if number is None else _count(number, f"[{place}].count")
            else:
                raise UnfitError("a tool's name, or an object with tool and count", entry, f"[{place}]")
        check.count(calls)
    else:
        calls = check.count(value)
    if draft[_CALLS] is None:
        draft[_CALLS] = calls


def _follow_ups(value: Any, draft: Draft, _unknown: Unknown) -> None:  # noqa: ANN401 - JSON
    """Read the list of follow-ups, or how many there were. Silence on whether one was resolved says nothing."""
    unresolved = None
    if type(value) is list:
        told = [_resolved(entry, place) for place, entry in enumerate(value)]
        number = len(told)
        if False in told or None not in told:
            unresolved = told.count(False)
    else:
        number = check.count(value)
    if draft[_FOLLOW_UPS] is None:
        draft[_FOLLOW_UPS] = number
    if draft[_OPEN] is None:
        draft[_OPEN] = unresolved


def _resolved(entry: Any, place: int) -> bool | None:  # noqa: ANN401 - JSON
    if type(entry) is dict:
        found = entry.get("resolved")
        if found is None or type(found) is bool:
            return found
        raise UnfitError("true or false", found, f"[{place}].resolved")
    if type(entry) is str:
        return None
    raise UnfitError("an object, or a text", entry, f"[{place}]")


def _feedback(value: Any, draft: Draft, unknown: Unknown) -> None:  # noqa: ANN401 - JSON
    """Read what a user said: a word for the accuracy, or the flags of rubric 1.0: the best that holds counts."""
    if type(value) is not dict:
        raise UnfitError("an object", value)
    draft[_GIVEN] = False
    held = set()
    for key, said in value.items():
        if said is None:
            continue
        draft[_GIVEN] = True
        if key in _WORDS:
            if type(said) is not bool:
                raise UnfitError("true or false", said, f".{key}")
            held.add((key, said))
        elif key == "accuracy":
            draft[_ACCURACY] = _at(check.accuracy, said, ".accuracy")
        elif key == "rating":
            thumb = _at(check.rating, said, ".rating")
            draft[_RATING] = draft[_RATING] or thumb
        else:
            unknown.append((f"feedback.{key}", said))
    if held and draft[_ACCURACY] is None:
        unsaid = Accuracy.INACCURATE if ("accurate", False) in held else None
        draft[_ACCURACY] = next((word for key, word in _WORDS.items() if (key, True) in held), unsaid)


def _code_quality(value: Any, draft: Draft, unknown: Unknown) -> None:  # noqa: ANN401 - JSON
    """Read what linter, type checker and tests said."""
    if type(value) is not dict:
        raise UnfitError("an object", value)
    for key, said in value.items():
        if said is None:
            continue
        slot = _SIGNALS.get(key)
        if slot is None:
            unknown.append((f"code_quality.{key}", said))
        elif type(said) is not bool:
            raise UnfitError("true or false", said, f".{key}")
        elif draft[slot] is None:
            draft[slot] = said


def _count(value: object, step: str) -> int:
    return int(_at(check.count, value, step))


def _at(convert: Callable[[Any], Any], value: object, step: str) -> Any:  # noqa: ANN401 - whatever it converts to
    try:
        return convert(value)
    except UnfitError as unfit:
        raise UnfitError(unfit.expected, value, step) from None


def _other_name(field: str, convert: Callable[[Any], Any]) -> Filler:
    """Read another name of a key: it counts where the key itself does not stand."""
    slot = SLOTS[field]

    def fill(value: Any, draft: Draft, _unknown: Unknown) -> None:  # noqa: ANN401 - JSON
        if draft[slot] is None:
            draft[slot] = convert(value)

    return fill


_PLAIN: dict[str, Callable[[Any], Any]] = {
    "skill_name": check.skill,
    "timestamp": check.moment,
    "invocation_id": check.identifier,
    "session_id": check.identifier,
    **dict.fromkeys(("skill_version", "skill_category", "model", "output_type"), check.name),
    **dict.fromkeys(("recovered", "partial_completion", "workaround_used", "failure_explained"), check.flag),
    **dict.fromkeys(("output_validated", "user_accepted", "user_used_output", *_SIGNALS), check.flag),
    **dict.fromkeys(("error_count", "tokens_input", "tokens_output", "tool_call_count"), check.count),
    **dict.fromkeys(("follow_up_count", "follow_up_open"), check.count),
    **dict.fromkeys(("duration_ms", "output_size", "units", "time_units"), check.amount),
    **dict.fromkeys(("files_changed", "requested_items", "delivered_items"), check.amount_or_list),
    "user_edit_ratio": check.ratio,
}
FIELDS: dict[str, tuple[int, Callable[[Any], Any]]] = {
    **{key: (SLOTS[key], convert) for key, convert in _PLAIN.items()},
    "outcome": (SLOTS["ending"], check.ending),
    "explicit_rating": (SLOTS["rating"], check.rating),
}
"""Keys that fill one field, with its place."""

FILLERS: dict[str, Filler] = {
    "skill": _other_name("skill_name", check.skill),
    "category": _other_name("skill_category", check.name),
    "id": _other_name("invocation_id", check.identifier),
    **dict.fromkeys(("crashed", "timed_out", "hung"), _crash),
    "errors": _errors,
    "tokens_used": _tokens,
    "tool_calls": _tool_calls,
    "follow_ups": _follow_ups,
    "feedback": _feedback,
    "code_quality": _code_quality,
}
"""Keys that fill what nothing else says."""
