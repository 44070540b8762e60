"""One record of an invocation in the rubric's own field names, checked and turned into a value.

This runs a million times in an import: one walk over the keys that are there, one look-up for each, and nothing built
that is not kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, timedelta
from hashlib import sha256
from operator import itemgetter
from typing import Any, NamedTuple

from skillgate.invocations.formats._checks import INTERRUPTED, UnfitError, shown
from skillgate.invocations.formats._extra import kept
from skillgate.invocations.formats._fields import FIELDS, FILLERS, SLOTS, Draft, Unknown
from skillgate.invocations.formats._names import (
    HASHED_WARNING,
    REPLACED_WARNING,
    is_label,
    is_model,
    skill_name,
    stored_id,
)
from skillgate.invocations.ports import Options
from skillgate.model.invocation import Invocation, Read

MAX_PROBLEMS = 10  # of one record, in one message
_SECTIONS = ("input", "execution", "output")  # of the record that skills are told to write
_DAY = timedelta(days=1)  # clocks differ, and somebody's zone may be wrong; more than a day is a mistake
_NAIVE = "times without a zone are taken for UTC"
_MADE_IDS = "records without invocation_id get one made of their content: of exactly equal ones, one counts"
_HALF = "tokens_input without tokens_output, or the other way round, is no total: tokens_used is left open"

_EMPTY = [Invocation._field_defaults.get(field) for field in Invocation._fields]
_ID, _NAME, _WHEN, _CATEGORY = (SLOTS[key] for key in ("invocation_id", "skill_name", "timestamp", "skill_category"))
_USED, _INPUT, _OUTPUT = (SLOTS[key] for key in ("tokens_used", "tokens_input", "tokens_output"))
_COUNT, _OPEN = SLOTS["follow_up_count"], SLOTS["follow_up_open"]
_ON_THE_WAY = tuple(
    SLOTS[key]
    for key in ("error_count", "recovered", "partial_completion", "workaround_used", "failure_explained", "crashed")
)
_LABELS = {
    SLOTS[key]: (is_model if key == "model" else is_label, f"{key} does not look like a name: left out")
    for key in ("skill_version", "skill_category", "session_id", "model", "output_type")
}
_SESSION, _SOURCE, _EXTRA = SLOTS["session_id"], SLOTS["source"], SLOTS["extra"]
_WORDS = itemgetter(_NAME, *(slot for slot in _LABELS if slot != _SESSION))
_PLAIN: set[tuple[str | None, ...]] = set()
"""Such words of records that were read, which all look like names: a log says the same ones over and over."""
_MOST_PLAIN = 1_000


def invocation_of(data: object, options: Options, line: int, *, source: str = "log", unit: str = "line") -> Read:
    """Read an invocation from a mapping in the rubric's field names; a null is the same as no key.

    Args:
        data: what JSON gave. All keys but ``skill_name`` and ``timestamp`` are optional.
        options: how it is read.
        line: where it stands.
        source: how it came to us.
        unit: what ``line`` counts.
    """
    if not isinstance(data, dict):
        return Read(line, None, f"expected an object, found {shown(data)}", (), unit)
    origins: dict[str, str] = {}
    if "execution" in data or "output" in data or "input" in data:
        data, origins = _flattened(data)
    found = _walked(data, origins)
    warnings = _finish(found, data, options)
    if found.problems:
        return Read(line, None, _told(found.problems), tuple(warnings), unit)
    draft = found.draft
    draft[_SOURCE] = source
    return Read(line, Invocation._make(draft), None, tuple(warnings), unit)


class _Found(NamedTuple):
    """What one record says: the fields, paths and values that nobody knows, and what is wrong."""

    draft: Draft
    unknown: Unknown
    problems: list[str]


def _walked(data: dict[str, Any], origins: dict[str, str]) -> _Found:
    found = _Found(_EMPTY.copy(), [], [])
    draft, unknown, problems = found
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
    return found


def _finish(found: _Found, data: dict[str, Any], options: Options) -> list[str]:
    """Fill in what follows from the rest, note what does not go together, and give the warnings."""
    draft, problems, warnings = found.draft, found.problems, []
    problems += _missing(draft, data)
    when = draft[_WHEN]
    if when is not None:
        if when.tzinfo is None:
            draft[_WHEN] = when = when.replace(tzinfo=UTC)
            warnings.append(_NAIVE)
        if when > options.now + _DAY:
            problems.append(f"timestamp: expected no more than a day after now, found {when:%Y-%m-%d %H:%M:%S} UTC")
    if draft[_USED] is None:
        given, made = draft[_INPUT], draft[_OUTPUT]
        draft[_USED] = None if given is None or made is None else given + made
        warnings += () if (given is None) is (made is None) else (_HALF,)
    if draft[_OPEN] is not None and draft[_COUNT] is not None and draft[_OPEN] > draft[_COUNT]:
        problems.append(f"follow_up_open: expected at most follow_up_count, {draft[_COUNT]}, found {draft[_OPEN]}")
    if data.get("outcome") == INTERRUPTED:  # nobody knows how it would have ended, whatever had happened by then
        for slot in _ON_THE_WAY:
            draft[slot] = None
    warnings += _without_text(draft, options)
    if draft[_CATEGORY] is None:
        draft[_CATEGORY] = options.category
    if draft[_ID] is None and not problems:
        draft[_ID] = _made_id(data, problems)
        warnings.append(_MADE_IDS)
    if found.unknown:
        draft[_EXTRA], told = kept(found.unknown, text=options.keep_text)
        warnings += told
    return warnings


def _without_text(draft: Draft, options: Options) -> list[str]:
    """Take out of a draft what may be a person's words, and say so."""
    words, session, identity = _WORDS(draft), draft[_SESSION], draft[_ID]
    if words in _PLAIN and (session is None or is_label(session)) and (identity is None or is_label(identity)):
        return []
    warnings = list(_replaced(draft, options))
    if not warnings and not options.keep_text and draft[_NAME] not in options.names:
        if len(_PLAIN) >= _MOST_PLAIN:
            _PLAIN.clear()
        _PLAIN.add(words)
    return warnings


def _replaced(draft: Draft, options: Options) -> Iterator[str]:
    """Replace or leave out each field that does not look like a name, and say so."""
    name = draft[_NAME]
    keep = options.keep_text or name in options.names
    if name is not None and (stored := skill_name(name, keep_text=keep)) != name:
        draft[_NAME] = stored
        yield REPLACED_WARNING
    if options.keep_text:
        return
    for slot, (fits, warning) in _LABELS.items():
        if draft[slot] is not None and not fits(draft[slot]):
            draft[slot] = None
            yield warning
    if draft[_ID] is not None and (identity := stored_id(draft[_ID])) != draft[_ID]:
        draft[_ID] = identity
        yield HASHED_WARNING


def _missing(draft: Draft, data: dict[str, Any]) -> Iterator[str]:
    """Name what must be said and is not; what is said wrongly has been told."""
    if draft[_NAME] is None and data.get("skill_name") is None and data.get("skill") is None:
        yield "skill_name is missing"
    if draft[_WHEN] is None and data.get("timestamp") is None:
        yield "timestamp is missing"


def _made_id(data: dict[str, Any], problems: list[str]) -> str:
    """Make an id that is the same whenever the record is read again: of its JSON with sorted keys, without nulls."""
    said = {key: value for key, value in data.items() if value is not None}
    try:
        text = json.dumps(said, sort_keys=True, separators=(",", ":"))
    except RecursionError:
        problems.append("its JSON is nested too deeply")
        return ""
    return f"auto-{sha256(text.encode()).hexdigest()[:32]}"


def _flattened(data: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Lift the keys of the three sections to the top, where they stand before; give their paths too."""
    flat = {key: value for key, value in data.items() if key not in _SECTIONS or not isinstance(value, dict)}
    origins: dict[str, str] = {}
    for section in _SECTIONS:
        inner = data.get(section)
        for key, value in inner.items() if isinstance(inner, dict) else ():
            if flat.get(key) is None:
                flat[key] = value
                origins[key] = f"{section}.{key}"
    return flat, origins


def _told(problems: list[str]) -> str:
    more = len(problems) - MAX_PROBLEMS
    return "; ".join(problems[:MAX_PROBLEMS]) + (f"; and {more} more" if more > 0 else "")
