"""Fields that ``log add --update`` set by hand: kept beside an invocation, and laid over whatever an import says of it.

They stand in the column ``added`` as a JSON object of field names, so that an invocation that is read again from its
recording gets them again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from skillgate.store.invocation_rows import FIELDS, ForeignError, from_json, to_json

if TYPE_CHECKING:
    from skillgate.model.invocation import Invocation

_FIXED = frozenset(("invocation_id", "skill_name", "source"))


def added_of(value: object) -> dict[str, Any]:
    """Read the column; empty where nothing was added.

    Raises:
        ForeignError: it is no JSON object of fields.
    """
    if value is None:
        return {}
    try:
        found = json.loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not found.keys() <= set(FIELDS) - _FIXED:
        raise ForeignError(f"added is {str(value)[:50]!r}")
    return {name: from_json(name, inner) for name, inner in found.items()}


def added_text(added: dict[str, Any]) -> str | None:
    """Write the column.

    Raises:
        UsageError: a value is not JSON.
    """
    return to_json(added) if added else None


def combined(added: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Add more fields to those that were added before; the later value of a field wins."""
    found = {**added, **more}
    if "extra" in added and "extra" in more:
        found["extra"] = {**added["extra"], **more["extra"]}
    return found


def merged(invocation: Invocation, added: dict[str, Any]) -> Invocation:
    """Lay added fields over an invocation."""
    if not added:
        return invocation
    fields = dict(added)
    if invocation.extra and "extra" in fields:
        fields["extra"] = {**invocation.extra, **fields["extra"]}
    found = invocation._replace(**fields)
    if found.follow_up_open is not None and found.follow_up_count is not None:
        # A recording may count fewer follow-ups than somebody knows to be open.
        found = found._replace(follow_up_count=max(found.follow_up_count, found.follow_up_open))
    return found
