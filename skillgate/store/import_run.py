"""An import of recorded invocations in one transaction: which are new, known, changed or in conflict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from skillgate.model.invocation import SEEN_UNTIL, Fate, Invocation, InvocationScore, Scored
from skillgate.store.invocation_rows import (
    FIELDS,
    ONCE,
    added_of,
    added_text,
    invocations,
    merged,
    of_invocations,
    of_scores,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from skillgate.store.invocation_rows import Bulk, Columns

    Scorer: TypeAlias = Callable[[Invocation], InvocationScore]


class Import:
    """An import in one transaction; ``broken`` is whether a batch failed, which may be partly written."""

    def __init__(
        self,
        rows: Bulk,
        *,
        update: bool,
        later: bool,
        origin: str | None,
        now: str,
        scorer: Scorer,
        refusing: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._rows, self._update, self._later, self._origin = rows, update, later, origin
        self._now, self._scorer, self._refusing = now, scorer, refusing
        self._added: dict[int, dict[str, Any]] = {}  # fields added by hand to existing invocations, by key
        self.broken = False
        self._fresh = True  # whether all of the last batch was new, as the next may be

    def add(self, batch: Sequence[Scored]) -> tuple[Fate, ...]:
        """Write new invocations; batches of thousands are fastest.

        Returns:
            The fate of each, in order; an id that occurred earlier in the import counts as existing.

        Raises:
            UsageError: One cannot be stored; the import must then be rolled back.
            IncompleteError: The database failed.
        """
        if not batch:
            return ()
        self.broken = True
        with self._refusing():
            fates = self._add(batch)
        self.broken = False
        return fates

    def _add(self, batch: Sequence[Scored]) -> tuple[Fate, ...]:
        reserved = self._rows.reserve(len(batch))
        if self._fresh and self._rows.attempt(reserved, self._columns(batch)):
            self._score(dict(zip(reserved, batch, strict=True)))
            return (Fate.NEW,) * len(batch)
        known = self._rows.known([one.invocation.invocation_id for one in batch])
        keys = iter(reserved)
        fates: list[Fate] = []
        new: dict[int, Scored] = {}
        same: dict[int, Scored] = {}
        changed: dict[int, Scored] = {}
        for one in batch:
            name = one.invocation.invocation_id
            key, digest, added = known.get(name, (0, None, None))
            if added is not None:
                self._added[key] = added_of(added)
            if digest is None:
                key = next(keys)
                new[key] = one
                fates.append(Fate.NEW)
            elif digest == one.digest:
                same[key] = one
                fates.append(Fate.KNOWN)
                continue
            elif self._later and not self._is_later(one, key, new.get(key) or changed.get(key)):
                fates.append(Fate.KNOWN)  # the existing one is more recent
                continue
            elif self._update or self._later:
                if key in new:  # earlier in this batch
                    new[key] = one
                else:
                    changed[key] = one
                fates.append(Fate.UPDATED)
            else:
                fates.append(Fate.CONFLICT)
                continue
            known[name] = (key, one.digest, None)
        self._write(new)
        self._score({key: self._merged(key, one) for key, one in same.items()}, ONCE)
        self._rows.delete(list(changed))  # also scores by other versions, which are outdated
        self._write(changed)
        self._fresh = len(new) == len(batch)
        return tuple(fates)

    def _is_later(self, one: Scored, key: int, waiting: Scored | None) -> bool:
        """Whether an invocation knows more than the existing one, or the one to be written."""
        if waiting is None:
            rows = self._rows.rows(f"SELECT {', '.join(FIELDS)} FROM invocations WHERE id = ?", key)  # noqa: S608
            own = merged(one.invocation, self._added.get(key, {}))  # as the existing one is
            return _known(own) > _known(next(invocations(rows)))
        return _known(one.invocation) > _known(waiting.invocation)

    def _write(self, found: dict[int, Scored]) -> None:
        if found:
            complete = {key: self._merged(key, one) for key, one in found.items()}
            added = [added_text(self._added.get(key, {})) for key in found]
            self._rows.insert("invocations", {"id": found, **self._columns(list(complete.values()), added)})
            self._score(complete)

    def _merged(self, key: int, one: Scored) -> Scored:
        """Return an invocation with its fields added by hand, and their common score."""
        added = self._added.get(key)
        if not added:
            return one
        found = merged(one.invocation, added)
        return Scored(found, self._scorer(found), one.digest)

    def _columns(self, batch: Sequence[Scored], added: Sequence[str | None] = ()) -> Columns:
        return of_invocations(batch, imported_at=self._now, origin=self._origin, added=added)

    def _score(self, found: dict[int, Scored], conflict: str = "") -> None:
        if found:
            columns = of_scores(found, (one.score for one in found.values()), scored_at=self._now)
            self._rows.insert("skill_scores", columns, conflict)


def _known(invocation: Invocation) -> tuple[float, ...]:
    """Return how much a reading knows: until when, how many fields, calls and tokens.

    Parts of a trace may end at the same time, and arrive in any order.
    """
    seen = (invocation.extra or {}).get(SEEN_UNTIL)
    until = seen if isinstance(seen, int | float) else 0.0
    calls = invocation.tool_call_count or invocation.tool_calls_most or 0
    tokens = invocation.tokens_used or invocation.tokens_most or 0
    return until, len(invocation) - invocation.count(None), calls, tokens
