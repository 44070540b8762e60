"""An import of recorded invocations in one transaction: which are new, known, changed or in conflict."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeAlias

from skillgate.model.invocation import SEEN_UNTIL, Fate, Invocation, InvocationScore, Scored
from skillgate.store.invocation_rows import (
    FIELDS,
    ONCE,
    added_of,
    added_text,
    combined,
    invocations,
    merged,
    of_import,
    of_scores,
    rows_of,
    scored_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from skillgate.store.invocation_rows import Bulk, Rows
    from skillgate.store.summaries import NewSummaries

    Scorer: TypeAlias = Callable[[Invocation], InvocationScore]


class Import:
    """An import in one transaction.

    Attributes:
        broken: Whether a batch failed, which may be partly written.
        kept_origins: Number of existing invocations with another origin than the label of this import.
        summaries: Summaries of all that was added, as long as everything is new.
    """

    def __init__(
        self,
        rows: Bulk,
        *,
        update: bool,
        later: bool,
        origin: str | None,
        label: str | None,
        now: str,
        scorer: Scorer,
        refusing: Callable[[], AbstractContextManager[None]],
        summaries: NewSummaries | None = None,
    ) -> None:
        self._rows, self._update, self._later, self._origin = rows, update, later, origin
        self._label, self._now, self._scorer, self._refusing = label, now, scorer, refusing
        self._added: dict[int, dict[str, Any]] = {}  # fields added by hand to existing invocations, by key
        self.broken = False
        self.kept_origins = 0
        self.summaries = summaries
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
        origins = [one.origin or self._origin for one in batch]
        with self._guarded():
            added = [added_text(dict(one.added or {})) for one in batch]
            keys = self._rows.reserve(len(batch))
            return self._attempt(keys, lambda: rows_of(batch), origins, added) or self._add(keys, batch)

    def add_rows(self, rows: Rows) -> tuple[Fate, ...]:
        """Write new invocations that are converted already; as :meth:`add`."""
        with self._guarded():
            keys = self._rows.reserve(len(rows.at))
            origins = [self._origin] * len(keys)
            return self._attempt(keys, lambda: rows, origins, ()) or self._add(keys, tuple(scored_of(rows)))

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        self.broken = True
        with self._refusing():
            yield
        self.broken = False

    def _attempt(
        self, keys: range, convert: Callable[[], Rows], origins: Sequence[str | None], added: Sequence[str | None]
    ) -> tuple[Fate, ...] | None:
        """Write invocations if all are new; else write nothing and return None."""
        if not self._fresh:
            return None
        rows = convert()
        columns = of_import(len(keys), imported_at=self._now, origins=origins, added=added)
        if not self._rows.attempt(keys, {**rows.invocations, **columns}):
            return None
        self._rows.insert("skill_scores", {"invocation_id": keys, **rows.scores, "scored_at": [self._now] * len(keys)})
        if self.summaries is not None and not self.summaries.add(keys, rows, origins):
            self.summaries = None
        return (Fate.NEW,) * len(keys)

    def _add(self, reserved: range, batch: Sequence[Scored]) -> tuple[Fate, ...]:
        self.summaries = None
        known = self._rows.known([one.invocation.invocation_id for one in batch])
        keys = iter(reserved)
        fates: list[Fate] = []
        new: dict[int, Scored] = {}
        same: dict[int, Scored] = {}
        changed: dict[int, Scored] = {}
        for one in batch:
            name = one.invocation.invocation_id
            key, digest, by_hand, origin = known.get(name, (0, None, None, None))
            if by_hand is not None:
                self._added[key] = added_of(by_hand)
            if digest is None:
                key = next(keys)
                new[key] = one
                fates.append(Fate.NEW)
            elif digest == one.digest:
                wanted = self._origin_of(key, origin)
                if not self._adds(key, one):
                    same[key] = one
                    fates.append(Fate.KNOWN if wanted == origin else Fate.UPDATED)
                    known[name] = (key, digest, None, wanted)
                    continue
                changed[key] = one = one._replace(origin=wanted)
                fates.append(Fate.UPDATED)
            elif self._later and not self._is_later(one, key, new.get(key) or changed.get(key)):
                if not self._adds(key, one):
                    self.kept_origins += self._is_kept(origin)
                    fates.append(Fate.KNOWN)  # the existing one is more recent
                    continue
                existing = self._existing(key)
                changed[key] = one = one._replace(invocation=existing, digest=digest, origin=origin)
                fates.append(Fate.UPDATED)
            elif self._update or self._later:
                if key in new:  # earlier in this batch
                    new[key] = one
                else:
                    changed[key] = one
                fates.append(Fate.UPDATED)
            else:
                fates.append(Fate.CONFLICT)
                continue
            if one.added:
                self._added[key] = combined(self._added.get(key, {}), dict(one.added))
            known[name] = (key, one.digest, None, one.origin or self._origin)
        self._write(new)
        if same:
            scores = of_scores(self._merged(key, one).score for key, one in same.items())
            columns = {"invocation_id": same, **scores, "scored_at": repeat(self._now)}
            self._rows.insert("skill_scores", columns, ONCE)
        self._rows.delete(list(changed))  # also scores by other versions, which are outdated
        self._write(changed)
        self._fresh = len(new) == len(batch)
        return tuple(fates)

    def _is_kept(self, origin: str | None) -> bool:
        """Whether an existing invocation keeps another origin than the label of this import."""
        return self._label is not None and self._label != origin

    def _origin_of(self, key: int, origin: str | None) -> str | None:
        """Return the origin of an existing invocation, which a label replaces in an update."""
        if not self._is_kept(origin):
            return origin
        if not self._update:
            self.kept_origins += 1
            return origin
        self._rows.run("UPDATE invocations SET origin = ? WHERE id = ?", self._label, key)
        return self._label

    def _adds(self, key: int, one: Scored) -> bool:
        """Whether an invocation of another store has fields added by hand that the existing one lacks."""
        before = self._added.get(key, {})
        return bool(one.added) and combined(before, dict(one.added or {})) != before

    def _existing(self, key: int) -> Invocation:
        rows = self._rows.rows(f"SELECT {', '.join(FIELDS)} FROM invocations WHERE id = ?", key)  # noqa: S608
        return next(invocations(rows))

    def _is_later(self, one: Scored, key: int, waiting: Scored | None) -> bool:
        """Whether an invocation knows more than the existing one, or the one to be written."""
        if waiting is None:
            own = merged(one.invocation, self._added.get(key, {}))  # as the existing one is
            return _known(own) > _known(self._existing(key))
        return _known(one.invocation) > _known(waiting.invocation)

    def _write(self, found: dict[int, Scored]) -> None:
        if found:
            complete = {key: self._merged(key, one) for key, one in found.items()}
            added = [added_text(self._added.get(key, {})) for key in found]
            origins = [one.origin or self._origin for one in complete.values()]
            rows = rows_of(list(complete.values()))
            columns = of_import(len(found), imported_at=self._now, origins=origins, added=added)
            self._rows.insert("invocations", {"id": found, **rows.invocations, **columns})
            self._rows.insert("skill_scores", {"invocation_id": found, **rows.scores, "scored_at": repeat(self._now)})

    def _merged(self, key: int, one: Scored) -> Scored:
        """Return an invocation with its fields added by hand, and their common score."""
        added = self._added.get(key)
        if not added:
            return one
        found = merged(one.invocation, added)
        return one._replace(invocation=found, score=self._scorer(found))


def _known(invocation: Invocation) -> tuple[float, ...]:
    """Return how much a reading knows: until when, how many fields, calls and tokens.

    Parts of a trace may end at the same time, and arrive in any order.
    """
    seen = (invocation.extra or {}).get(SEEN_UNTIL)
    until = seen if isinstance(seen, int | float) else 0.0
    calls = invocation.tool_call_count or invocation.tool_calls_most or 0
    tokens = invocation.tokens_used or invocation.tokens_most or 0
    return until, len(invocation) - invocation.count(None), calls, tokens
