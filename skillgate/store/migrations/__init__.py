"""The steps from each version of the store's schema to the next."""

from __future__ import annotations

from skillgate.errors import UsageError

TABLE = "skillgate_schema"  # where a store says its version; other programs' migrations may stand in the same database
KNOWN = ("0001", "0002", "0003")  # the revisions in the directory of migrations, the newest last
HEAD = KNOWN[-1]


def require_known(found: str | None, shown: str) -> None:
    """Raise UsageError for a store that a later version of this program made: writing to it could break it."""
    if found is not None and found not in KNOWN:
        raise UsageError(
            f"the store {shown} has schema {str(found)[:50]}, which a later skillgate made; this one knows {HEAD}:"
            " update skillgate, or name another store"
        )
