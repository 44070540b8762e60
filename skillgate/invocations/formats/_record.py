"""Check one record with the rubric's field names, and convert it to an invocation.

This runs a million times in an import: one pass over the keys, one look-up for each, and no intermediate objects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum
from hashlib import sha256
from operator import itemgetter
from typing import Any, TypeAlias

from skillgate.format import plural
from skillgate.invocations.formats import Options, short, short_key
from skillgate.invocations.formats._input import (
    MOST,
    NAME_CHARACTERS,
    REPLACED_WARNING,
    fit_name,
    is_label,
    is_model,
    sifted,
    skill_name,
    stored_id,
)
from skillgate.model.invocation import Accuracy, Caller, Ending, Evidence, Invocation, Read

MAX_PROBLEMS = 10  # maximum problems of one record in a message
_HASHED_WARNING = "invocation_id does not look like an id; a digest of it is stored"
_NAIVE = "times without a time zone are read as UTC"
_MADE_IDS = "records without invocation_id get an id from their content, so equal records count once"
_HALF = "tokens_used is unknown: only one of tokens_input and tokens_output is recorded"

_SECTIONS = ("input", "execution", "output")  # sections of a portable record
_INTERRUPTED = "interrupted"  # an outcome that is not an ending
_DAY = timedelta(days=1)  # clocks differ, and a time zone may be wrong; more than a day is a mistake
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_SECOND = 253_402_300_799  # of the year 9999, where the calendar of the standard library ends
_MILLISECONDS = 1e11  # seconds beyond it lie after the year 5000, milliseconds below it before 1973
_WORD = re.compile(r"[A-Za-z0-9_.:+-]{0,32}|[0-9/:.+ TZ-]{0,40}|\s+")  # anything else may be words, or a path
_MOST_PLAIN = 1_000

SLOTS = {field: slot for slot, field in enumerate(Invocation._fields)}
EMPTY = [Invocation._field_defaults.get(field) for field in Invocation._fields]
"""The fields of an invocation without known values."""

Draft: TypeAlias = list[Any]
"""The fields of an invocation under construction, in order."""
Unknown: TypeAlias = list[tuple[str, object]]
"""Paths of unknown keys, with their values."""
Converter: TypeAlias = Callable[[object], Any]
Filler: TypeAlias = Callable[[object, Draft, Unknown], None]


class UnfitError(Exception):
    """An invalid value of a key; ``step`` is the path below the key, such as ``[2].count``."""

    def __init__(self, expected: str, value: object, step: str = "") -> None:
        super().__init__(expected, step)
        self.expected, self.value, self.step = expected, value, step

    def line(self, key: str) -> str:
        """Return the message about a key."""
        return f"{key}{self.step}: expected {self.expected}, found {shown(self.value)}"


def shown(value: object) -> str:
    """Return a JSON value for a message: short, on one line, no invisible characters; containers by kind.

    Of a string that is not a single plain word only the length is shown, since it may be a user's.
    """
    if isinstance(value, str):
        return f'"{short(value)}"' if _WORD.fullmatch(value) else f"a string of {plural(len(value), 'character')}"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return short(str(value))


# Single values: each function returns the value to store, or raises UnfitError


def flag(value: object) -> bool:
    """Return true or false."""
    if value is True or value is False:
        return bool(value)
    raise UnfitError("true or false", value)


def count(value: object) -> int:
    """Return a whole number; 3.0 is one, since some writers print 3 that way."""
    if type(value) is int:
        if 0 <= value <= MOST:
            return value
    elif type(value) is float and value.is_integer() and 0 <= value <= MOST:
        return int(value)
    raise UnfitError("a whole number from 0 to 2^53", value)


def amount(value: object) -> float:
    """Return a number of at least 0; integers stay integers."""
    if (type(value) is int or type(value) is float) and 0 <= value <= MOST:  # NaN is in no range
        return value
    raise UnfitError("a number from 0 to 2^53", value)


def amount_or_list(value: object) -> float:
    """Return a number of at least 0, or the length of a list."""
    return len(value) if type(value) is list else amount(value)


def ratio(value: object) -> float:
    """Return a number in [0, 1]."""
    if (type(value) is int or type(value) is float) and 0 <= value <= 1:
        return value
    raise UnfitError("a number from 0 to 1", value)


def name(value: object) -> str | None:
    """Return a name; None for an empty one."""
    if type(value) is str and (fit_name(value) or not value):
        return value or None
    raise UnfitError(f"a name of at most {NAME_CHARACTERS} characters, none of them hidden", value)


def skill(value: object) -> str:
    """Return any non-blank string; what is stored of it is decided later."""
    if type(value) is str and value.strip():
        return value
    raise UnfitError("a non-empty name", value)


def identifier(value: object) -> str | None:
    """Return a name, or a whole number as a string."""
    return str(value) if type(value) is int and abs(value) <= MOST else name(value)


CHOICES: dict[Converter, tuple[str, ...]] = {}
"""The words of converters that accept a few."""


def _choice(members: type[Enum], nothing: str) -> Converter:
    known = {**{member.value: member for member in members}, nothing: None}

    def convert(value: object) -> Enum | None:
        if type(value) is str and value in known:
            return known[value]
        raise UnfitError(f"one of {', '.join(known)}", value)

    CHOICES[convert] = tuple(known)
    return convert


ending = _choice(Ending, _INTERRUPTED)  # an interrupted invocation has none
accuracy = _choice(Accuracy, "unknown")
evidence = _choice(Evidence, "none")
caller = _choice(Caller, "none")
_RATINGS = {
    **dict.fromkeys(("positive", "up", "+1", 1), "positive"),
    **dict.fromkeys(("negative", "down", "-1", -1), "negative"),
}


def rating(value: object) -> str:
    """Return ``positive`` or ``negative``."""
    if (type(value) is str or type(value) is int) and value in _RATINGS:
        return _RATINGS[value]
    raise UnfitError("up, down, positive, negative, +1 or -1", value)


def moment(value: object) -> datetime:
    """Return a time, truncated to seconds: ISO 8601 with date and time, or seconds or ms since 1970.

    A string without an offset gives a naive time.
    """
    try:
        found = _written(value) if type(value) is str else _counted(value)
    except (ValueError, OverflowError):
        found = None
    if found is None or found.year < _EPOCH.year:
        raise UnfitError("a time from 1970 on, such as 2026-01-02T03:04:05Z", value)
    return found


def _written(text: str) -> datetime | None:
    if text[4:5] != "-" or text[7:8] != "-" or text[10:11] not in ("T", " ", "t"):
        return None  # the standard library accepts far more formats
    found = datetime.fromisoformat(text.upper())
    if found.microsecond:
        found = found.replace(microsecond=0)
    return found if found.tzinfo is UTC or found.tzinfo is None else found.astimezone(UTC)


def _counted(value: object) -> datetime | None:
    if not (type(value) is int or type(value) is float) or not 0 <= value <= _LAST_SECOND * 1000:
        return None
    return _EPOCH + timedelta(seconds=int(value / 1000 if value > _MILLISECONDS else value))


def _at(convert: Converter, value: object, step: str) -> Any:  # noqa: ANN401 - whatever it converts to
    try:
        return convert(value)
    except UnfitError as unfit:
        raise UnfitError(unfit.expected, value, step) from None


# Keys that fill several fields, or a field that has its own key too. They never replace the value of a field's own key.
# Checks of nested values are written out, since a call for each would double their time.

_ERRORS, _CRASHED = SLOTS["error_count"], SLOTS["crashed"]
_INPUT, _OUTPUT, _USED = SLOTS["tokens_input"], SLOTS["tokens_output"], SLOTS["tokens_used"]
_CALL_KINDS, _CALLS = SLOTS["tool_call_kinds"], SLOTS["tool_call_count"]
_FOLLOW_UPS, _OPEN = SLOTS["follow_up_count"], SLOTS["follow_up_open"]
_HAS_FEEDBACK, _ACCURACY, _RATING = SLOTS["feedback_given"], SLOTS["accuracy"], SLOTS["rating"]
_KINDS = {"input": "input", "input_tokens": "input", "output": "output", "output_tokens": "output"}
_SIGNALS = {key: SLOTS[key] for key in ("linter_passed", "types_valid", "tests_passed")}
_ACCURACIES = {
    "accurate": Accuracy.ACCURATE,
    "mostly_accurate": Accuracy.MOSTLY,
    "partially_accurate": Accuracy.PARTIALLY,
}


def _errors(value: object, draft: Draft, _unknown: Unknown) -> None:
    """Read the list or number of errors."""
    if draft[_ERRORS] is None:
        draft[_ERRORS] = len(value) if type(value) is list else count(value)


def _crash(value: object, draft: Draft, _unknown: Unknown) -> None:
    """Read whether it crashed, hung or timed out; any of the three is enough."""
    draft[_CRASHED] = flag(value) or draft[_CRASHED] is True


def _tokens(value: object, draft: Draft, _unknown: Unknown) -> None:
    """Read tokens as one number or by kind; the sum is the total unless only one of input and output is there."""
    if type(value) is not dict:
        draft[_USED] = count(value)
        return
    kinds: dict[str, int] = {}
    total = None
    for key, number in value.items():
        if number is None:
            continue
        if type(number) is not int or not 0 <= number <= MOST:
            number = _at(count, number, f".{short_key(key)}")
        if key in ("total", "total_tokens"):
            total = number
        else:
            kinds[str(_KINDS.get(key, key))] = number
    incoming, outgoing = kinds.get("input"), kinds.get("output")
    if draft[_INPUT] is None:
        draft[_INPUT] = incoming
    if draft[_OUTPUT] is None:
        draft[_OUTPUT] = outgoing
    if total is None and kinds and (incoming is None) is (outgoing is None):
        total = sum(kinds.values())
        if total > MOST:
            raise UnfitError("a sum of up to 2^53", total)
    draft[_USED] = total


def _tool_calls(value: object, draft: Draft, _unknown: Unknown) -> None:
    """Read the list or number of calls. An entry is one call, or a kind of call with its count."""
    if type(value) is list:
        draft[_CALL_KINDS] = len(value)
        calls = 0
        for place, entry in enumerate(value):
            if type(entry) is str:
                calls += 1
            elif type(entry) is dict:
                number = entry.get("count")
                calls += 1 if number is None else _at(count, number, f"[{place}].count")
            else:
                raise UnfitError("a tool name, or an object with tool and count", entry, f"[{place}]")
        count(calls)
    else:
        calls = count(value)
    if draft[_CALLS] is None:
        draft[_CALLS] = calls


def _follow_ups(value: object, draft: Draft, _unknown: Unknown) -> None:
    """Read the list or number of follow-ups. One without ``resolved`` is of unknown state."""
    unresolved = None
    if type(value) is list:
        resolved = [_resolved(entry, place) for place, entry in enumerate(value)]
        number = len(resolved)
        if False in resolved or None not in resolved:
            unresolved = resolved.count(False)
    else:
        number = count(value)
    if draft[_FOLLOW_UPS] is None:
        draft[_FOLLOW_UPS] = number
    if draft[_OPEN] is None:
        draft[_OPEN] = unresolved


def _resolved(entry: object, place: int) -> bool | None:
    if type(entry) is dict:
        found = entry.get("resolved")
        if found is None or type(found) is bool:
            return found
        raise UnfitError("true or false", found, f"[{place}].resolved")
    if type(entry) is str:
        return None
    raise UnfitError("an object or a string", entry, f"[{place}]")


def _feedback(value: object, draft: Draft, unknown: Unknown) -> None:
    """Read a user's feedback: an accuracy, or the flags of rubric 1.0, of which the best true one counts."""
    if type(value) is not dict:
        raise UnfitError("an object", value)
    draft[_HAS_FEEDBACK] = False
    held = set()
    for key, inner in value.items():
        if inner is None:
            continue
        draft[_HAS_FEEDBACK] = True
        if key in _ACCURACIES:
            held.add((key, _at(flag, inner, f".{key}")))
        elif key == "accuracy":
            draft[_ACCURACY] = _at(accuracy, inner, ".accuracy")
        elif key == "rating":
            thumb = _at(rating, inner, ".rating")
            draft[_RATING] = draft[_RATING] or thumb
        else:
            unknown.append((f"feedback.{key}", inner))
    if held and draft[_ACCURACY] is None:
        unsaid = Accuracy.INACCURATE if ("accurate", False) in held else None
        draft[_ACCURACY] = next((word for key, word in _ACCURACIES.items() if (key, True) in held), unsaid)


def _code_quality(value: object, draft: Draft, unknown: Unknown) -> None:
    """Read the results of linter, type checker and tests."""
    if type(value) is not dict:
        raise UnfitError("an object", value)
    for key, inner in value.items():
        if inner is None:
            continue
        slot = _SIGNALS.get(key)
        if slot is None:
            unknown.append((f"code_quality.{key}", inner))
        elif type(inner) is not bool:
            raise UnfitError("true or false", inner, f".{key}")
        elif draft[slot] is None:
            draft[slot] = inner


def _other_name(field: str, convert: Converter) -> Filler:
    """Return the filler for another name of a key; it is used if the key itself has no value."""
    slot = SLOTS[field]

    def fill(value: object, draft: Draft, _unknown: Unknown) -> None:
        if draft[slot] is None:
            draft[slot] = convert(value)

    return fill


_PLAIN: dict[str, Converter] = {
    "skill_name": skill,
    "timestamp": moment,
    "invocation_id": identifier,
    "session_id": identifier,
    **dict.fromkeys(("skill_version", "skill_category", "model", "output_type"), name),
    **dict.fromkeys(("recovered", "partial_completion", "workaround_used", "failure_explained"), flag),
    **dict.fromkeys(("output_validated", "user_accepted", "user_used_output", "shared", *_SIGNALS), flag),
    **dict.fromkeys(("cost_estimated", "graded"), flag),
    **dict.fromkeys(("error_count", "tokens_input", "tokens_output", "tool_call_count"), count),
    **dict.fromkeys(("follow_up_count", "follow_up_open"), count),
    **dict.fromkeys(("tool_error_count", "tool_calls_most", "tokens_most"), count),
    **dict.fromkeys(("duration_ms", "duration_most_ms", "output_size", "units", "time_units", "cost_usd"), amount),
    **dict.fromkeys(("files_changed", "requested_items", "delivered_items"), amount_or_list),
    "user_edit_ratio": ratio,
}
FIELDS: dict[str, tuple[int, Converter]] = {
    **{key: (SLOTS[key], convert) for key, convert in _PLAIN.items()},
    "outcome": (SLOTS["ending"], ending),
    "explicit_rating": (SLOTS["rating"], rating),
    "outcome_evidence": (SLOTS["outcome_evidence"], evidence),
    "called_by": (SLOTS["called_by"], caller),
}
"""Keys that fill one field: its slot and converter."""
FILLERS: dict[str, Filler] = {
    "skill": _other_name("skill_name", skill),
    "category": _other_name("skill_category", name),
    "id": _other_name("invocation_id", identifier),
    **dict.fromkeys(("crashed", "timed_out", "hung"), _crash),
    "errors": _errors,
    "tokens_used": _tokens,
    "tool_calls": _tool_calls,
    "follow_ups": _follow_ups,
    "feedback": _feedback,
    "code_quality": _code_quality,
}
"""Keys that fill several fields, or a field that has its own key too."""


# Whole records


def invocation_of(data: object, options: Options, line: int, *, source: str = "log", unit: str = "line") -> Read:
    """Read an invocation from a mapping with the rubric's field names; null is the same as a missing key.

    Args:
        data: decoded JSON. All keys but ``skill_name`` and ``timestamp`` are optional.
        options: how to read it.
        line: its number, for messages.
        source: where it comes from.
        unit: what ``line`` counts.
    """
    if not isinstance(data, dict):
        return Read(line, None, f"expected an object, found {shown(data)}", (), unit)
    origins: dict[str, str] = {}
    if "execution" in data or "output" in data or "input" in data:
        data, origins = _flattened(data)
    draft: Draft = EMPTY.copy()
    unknown: Unknown = []
    problems: list[str] = []
    for key, value in data.items():
        if value is None:
            continue
        try:
            if key in FIELDS:
                slot, convert = FIELDS[key]
                draft[slot] = convert(value)
            elif key in FILLERS:
                FILLERS[key](value, draft, unknown)
            else:
                unknown.append((origins.get(key, key), value))
        except UnfitError as unfit:
            problems.append(unfit.line(origins.get(key, key)))
    warnings = finish(draft, unknown, problems, data, options)
    if problems:
        more = len(problems) - MAX_PROBLEMS
        message = "; ".join(problems[:MAX_PROBLEMS]) + (f"; and {more} more" if more > 0 else "")
        return Read(line, None, message, tuple(warnings), unit)
    draft[_SOURCE] = source
    return Read(line, Invocation._make(draft), None, tuple(warnings), unit)


def _flattened(data: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Move the keys of the three sections to the top, unless they are there; return their paths too."""
    flat = {key: value for key, value in data.items() if key not in _SECTIONS or not isinstance(value, dict)}
    origins: dict[str, str] = {}
    for section in _SECTIONS:
        inner = data.get(section)
        for key, value in inner.items() if isinstance(inner, dict) else ():
            if flat.get(key) is None:
                flat[key] = value
                origins[key] = f"{section}.{key}"
    return flat, origins


ID, NAME, WHEN, CATEGORY = (SLOTS[key] for key in ("invocation_id", "skill_name", "timestamp", "skill_category"))
_SESSION, _SOURCE, _EXTRA = SLOTS["session_id"], SLOTS["source"], SLOTS["extra"]
_COMPLETION = tuple(
    SLOTS[key]
    for key in ("error_count", "recovered", "partial_completion", "workaround_used", "failure_explained", "crashed")
)
_LABELS = {
    SLOTS[key]: (is_model if key == "model" else is_label, f"{key} does not look like a name; not stored")
    for key in ("skill_version", "skill_category", "session_id", "model", "output_type")
}
_WORDS = itemgetter(NAME, *(slot for slot in _LABELS if slot != _SESSION))
_plain: set[tuple[str | None, ...]] = set()  # such values of earlier records, all valid: a log repeats them


def finish(
    draft: Draft, unknown: Unknown, problems: list[str], data: Mapping[str, object], options: Options
) -> list[str]:
    """Derive missing fields, add problems of inconsistent ones, and return the warnings."""
    problems += _missing(draft, data)
    warnings: list[str] = []
    when = draft[WHEN]
    if when is not None:
        if when.tzinfo is None:
            draft[WHEN] = when = when.replace(tzinfo=UTC)
            warnings.append(_NAIVE)
        if when > options.now + _DAY:
            problems.append(f"timestamp: expected at most a day after now, found {when:%Y-%m-%d %H:%M:%S} UTC")
    if draft[_USED] is None:
        incoming, outgoing = draft[_INPUT], draft[_OUTPUT]
        draft[_USED] = None if incoming is None or outgoing is None else incoming + outgoing
        warnings += () if (incoming is None) is (outgoing is None) else (_HALF,)
    follow_ups, still_open = draft[_FOLLOW_UPS], draft[_OPEN]
    if still_open is not None and follow_ups is not None and still_open > follow_ups:
        problems.append(f"follow_up_open: expected at most follow_up_count, {follow_ups}, found {still_open}")
    if data.get("outcome") == _INTERRUPTED:  # how it would have ended is unknown, whatever happened before
        for slot in _COMPLETION:
            draft[slot] = None
    warnings += _without_text(draft, options)
    if draft[CATEGORY] is None:
        draft[CATEGORY] = options.category
    if draft[ID] is None and not problems:
        draft[ID] = _made_id(data, problems)
        warnings.append(_MADE_IDS)
    if unknown:
        draft[_EXTRA], more = sifted(unknown, text=options.keep_text)
        warnings += more
    return warnings


def _missing(draft: Draft, data: Mapping[str, object]) -> Iterator[str]:
    """Report missing required fields; invalid values are reported already."""
    if draft[NAME] is None and data.get("skill_name") is None and data.get("skill") is None:
        yield "skill_name is missing"
    if draft[WHEN] is None and data.get("timestamp") is None:
        yield "timestamp is missing"


def _made_id(data: Mapping[str, object], problems: list[str]) -> str:
    """Make a reproducible id: a digest of the record's JSON with sorted keys, without nulls."""
    stated = {key: value for key, value in data.items() if value is not None}
    try:
        text = json.dumps(stated, sort_keys=True, separators=(",", ":"))
    except RecursionError:
        problems.append("JSON nested too deeply")
        return ""
    return f"auto-{sha256(text.encode()).hexdigest()[:32]}"


def _without_text(draft: Draft, options: Options) -> list[str]:
    """Remove values that may be a user's words from a draft, and return the warnings."""
    words, session, identity = _WORDS(draft), draft[_SESSION], draft[ID]
    if words in _plain and (session is None or is_label(session)) and (identity is None or is_label(identity)):
        return []
    warnings = list(_replaced(draft, options))
    if not warnings and not options.keep_text and draft[NAME] not in options.names:
        if len(_plain) >= _MOST_PLAIN:
            _plain.clear()
        _plain.add(words)
    return warnings


def _replaced(draft: Draft, options: Options) -> Iterator[str]:
    """Replace or remove fields that do not look like names, and yield the warnings."""
    own = draft[NAME]
    keep = options.keep_text or own in options.names
    if own is not None and (stored := skill_name(own, keep_text=keep)) != own:
        draft[NAME] = stored
        yield REPLACED_WARNING
    if options.keep_text:
        return
    for slot, (fits, warning) in _LABELS.items():
        if draft[slot] is not None and not fits(draft[slot]):
            draft[slot] = None
            yield warning
    if draft[ID] is not None and (identity := stored_id(draft[ID])) != draft[ID]:
        draft[ID] = identity
        yield _HASHED_WARNING
