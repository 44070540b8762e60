"""Read records in bulk with msgspec, which parses and validates a line faster than the checker.

msgspec reports only the first problem of a line. So lines that are not plainly valid are left to the checker, which
reports all: unknown keys, other names of keys, sections, 3.0 for a count, an outcome of ``interrupted``, and deep
nesting. The result is the same as the checker's.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Annotated, Any

import msgspec

from skillgate.invocations.formats import Options
from skillgate.invocations.formats import _record as record
from skillgate.invocations.formats._input import MOST
from skillgate.model.invocation import Caller, Ending, Evidence, Invocation, Read

_Count = Annotated[int, msgspec.Meta(ge=0, le=MOST)]
_Object = dict[str, str | int | float | bool | None]
_List = list[str | int | float | bool | _Object | None]
_DECODED: dict[Any, Any] = {  # by converter: the type that makes it unnecessary
    record.flag: bool,
    record.count: _Count,
    record.amount: _Count | Annotated[float, msgspec.Meta(ge=0, le=float(MOST))],
    record.ratio: Annotated[int, msgspec.Meta(ge=0, le=1)] | Annotated[float, msgspec.Meta(ge=0, le=1)],
    record.ending: Ending,
    record.evidence: Evidence,
    record.caller: Caller,
}
_CONVERTED: dict[Any, Any] = {  # by converter: the type of its argument
    record.skill: str,
    record.name: str,
    record.identifier: str | int,
    record.moment: str | int | float,
    record.rating: str | int,
    record.amount_or_list: int | float | _List,
}
_FILLED: dict[str, Any] = {  # by key of a filler
    **dict.fromkeys(("crashed", "timed_out", "hung"), bool),
    **dict.fromkeys(("errors", "tool_calls", "follow_ups"), _Count | _List),
    "tokens_used": _Count | _Object,
    **dict.fromkeys(("feedback", "code_quality"), _Object),
}
_TYPES = {key: (_DECODED | _CONVERTED)[convert] for key, (_, convert) in record.FIELDS.items()} | _FILLED
_Record = msgspec.defstruct(
    "_Record", [(key, kind | None, None) for key, kind in _TYPES.items()], forbid_unknown_fields=True, gc=False
)
_DECODER = msgspec.json.Decoder(_Record)
_KEYS = {record.FIELDS[key][0]: place for place, key in enumerate(_TYPES) if key in record.FIELDS}
_DRAFT = itemgetter(*(_KEYS.get(slot, len(_TYPES) + slot) for slot in record.SLOTS.values()))
_CONVERTERS = [(slot, convert) for slot, convert in record.FIELDS.values() if convert in _CONVERTED]
_FILLERS = [(place, record.FILLERS[key]) for place, key in enumerate(_TYPES) if key in _FILLED]


def decoded(line: bytes, options: Options, number: int) -> Read | None:
    """Read a line; None if the checker must read it."""
    try:
        values = msgspec.structs.astuple(_DECODER.decode(line))
    except (ValueError, RecursionError):  # of UTF-8 too
        return None
    draft = list(_DRAFT((*values, *record.EMPTY)))
    unknown: record.Unknown = []
    problems: list[str] = []
    try:
        for slot, convert in _CONVERTERS:
            if draft[slot] is not None:
                draft[slot] = convert(draft[slot])
        for place, fill in _FILLERS:
            if values[place] is not None:
                fill(values[place], draft, unknown)
    except record.UnfitError:
        return None
    if draft[record.ID] is None or len(unknown) > 1:
        return None  # a generated id depends on the whole record, and unknown keys are stored in its order
    warnings = record.finish(draft, unknown, problems, {}, options)
    return None if problems else Read(number, Invocation._make(draft), None, tuple(warnings))
