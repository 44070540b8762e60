"""Which shard asks about a skill: a matter of its path alone, so that others that come and go leave it where it is."""

from __future__ import annotations

from skillgate.model.digest import digest


def dealt(path: str, of: int) -> int:
    """Give the shard of a skill, from 1.

    Answers are kept by shard between runs, and a skill that changed its shard would be paid for again.

    Args:
        path: as shown.
        of: how many shards there are.
    """
    return int(digest(path.encode("utf-8", "surrogatepass"))[:8], 16) % of + 1
