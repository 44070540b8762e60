"""An import of recorded invocations in one transaction: which are new, known, changed or in conflict."""

from __future__ import annotations

from contextlib import contextmanager
from hashlib import blake2b
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeAlias

from skillgate.model.invocation import SEEN_UNTIL, Evidence, Fate, Invocation, InvocationScore, Scored
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
    second,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from datetime import timedelta

    from skillgate.store.invocation_rows import Bulk, Rows
    from skillgate.store.summaries import NewSummaries

    Scorer: TypeAlias = Callable[[Invocation], InvocationScore]


class Import:
    """An import in one transaction.

    Attributes:
        broken: Whether a batch failed, which may be partly written.
        origin: Origin of invocations without one.
        kept_origins: Number of existing invocations with another origin than the label of this import.
        reopened: Number of invocations that have continued since a model judged their ending.
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
        self._rows, self._update, self._later, self.origin = rows, update, later, origin
        self._label, self._now, self._scorer, self._refusing = label, now, scorer, refusing
        self._added: dict[int, dict[str, Any]] = {}  # fields added by hand to existing invocations, by key
        self.broken = False
        self.kept_origins = self.reopened = 0
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
        origins = [one.origin or self.origin for one in batch]
        with self._guarded():
            added = [added_text(dict(one.added or {})) for one in batch]
            keys = self._rows.reserve(len(batch))
            return self._attempt(keys, lambda: rows_of(batch), origins, added) or self._add(keys, batch)

    def add_rows(self, rows: Rows) -> tuple[Fate, ...]:
        """Write new invocations that are converted already; as :meth:`add`."""
        with self._guarded():
            keys = self._rows.reserve(len(rows.at))
            origins = [self.origin] * len(keys)
            fates = self._attempt(keys, lambda: rows, origins, ()) or self._unchanged(rows)
            return fates or self._add(keys, tuple(scored_of(rows)))

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        self.broken = True
        with self._refusing():
            yield
        self.broken = False

    def existing(self, names: Sequence[str]) -> dict[str, tuple[Invocation, str | None]]:
        """Return the existing invocations by id, each with its origin."""
        known = self._rows.known(names)
        return {name: (self._existing(key), origin) for name, (key, _, _, origin) in known.items()}

    def uses_near(self, one: Invocation, *, within: timedelta) -> list[tuple[str, str | None]]:
        """Return id and source of the uses of the same skill in the same session at about the same time."""
        query = (
            "SELECT invocation_id, source FROM invocations"
            " WHERE skill_name = ? AND timestamp >= ? AND timestamp <= ? AND session_id = ?"
        )
        first, last = second(one.timestamp - within), second(one.timestamp + within)
        return [tuple(row) for row in self._rows.rows(query, one.skill_name, first, last, one.session_id)]

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

    def _unchanged(self, rows: Rows) -> tuple[Fate, ...] | None:
        """Write missing scores if all invocations exist as they are; else write nothing and return None."""
        names, digests = rows.invocations["invocation_id"], rows.invocations["digest"]
        known = self._rows.known(names)
        found = [known.get(name, (0, None, None, None)) for name in names]
        if any(one[1:3] != (digest, None) or self._is_kept(one[3]) for one, digest in zip(found, digests, strict=True)):
            return None
        columns = {"invocation_id": [key for key, *_ in found], **rows.scores, "scored_at": repeat(self._now)}
        self._rows.insert("skill_scores", columns, ONCE)
        self.summaries, self._fresh = None, False
        return (Fate.KNOWN,) * len(found)

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
            elif self._later and not self._is_later(
                one, key, waiting := new.get(key) or changed.get(key), before := self._before(key, waiting)
            ):
                if not self._adds(key, one):
                    self.kept_origins += self._is_kept(origin)
                    fates.append(Fate.KNOWN)  # the existing one is more recent
                    continue
                existing = self._existing(key)
                changed[key] = one = one._replace(invocation=existing, digest=digest, origin=origin)
                fates.append(Fate.UPDATED)
            elif self._update or self._later:
                one = self._with_grade(one, before) if self._later else one
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
            known[name] = (key, one.digest, None, one.origin or self.origin)
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

    def _before(self, key: int, waiting: Scored | None) -> Invocation:
        """Return the invocation to be written, or else the existing one."""
        return self._existing(key) if waiting is None else waiting.invocation

    def _is_later(self, one: Scored, key: int, waiting: Scored | None, before: Invocation) -> bool:
        """Whether an invocation knows more than the existing one, or the one to be written."""
        added = self._added.get(key, {}) if waiting is None else {}  # as the existing one has them
        return _known(merged(one.invocation, added)) > _known(before)

    def _with_grade(self, one: Scored, before: Invocation) -> Scored:
        """Return a later reading with the outcome that a model judged before, if the use ends as it did then."""
        found = one.invocation
        if not before.graded or found.ending is not None:
            return one
        if not _ends_alike(before, found):
            self.reopened += 1
            return one
        found = found._replace(**{name: getattr(before, name) for name in _JUDGED})
        digest = blake2b(f"{one.digest} graded".encode(), digest_size=16).hexdigest()
        return one._replace(invocation=found, score=self._scorer(found), digest=digest)

    def _write(self, found: dict[int, Scored]) -> None:
        if found:
            complete = {key: self._merged(key, one) for key, one in found.items()}
            added = [added_text(self._added.get(key, {})) for key in found]
            origins = [one.origin or self.origin for one in complete.values()]
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


_JUDGED = ("ending", "error_count", "failure_explained", "outcome_evidence", "follow_up_count", "graded")
_EFFORT = (
    *("tool_call_count", "tool_calls_most", "tool_error_count", "tokens_used", "tokens_most"),
    *("duration_ms", "duration_most_ms"),
)


def _ends_alike(before: Invocation, later: Invocation) -> bool:
    """Whether two readings of a use have the same end: no more work, and no more reactions of the user."""
    follow_ups = later.follow_up_count
    if before.outcome_evidence is Evidence.USER_REJECTED and follow_ups is not None:
        follow_ups = max(1, follow_ups)  # as the model's judgement counts
    same_work = all(getattr(before, name) == getattr(later, name) for name in _EFFORT)
    return same_work and before.follow_up_count == follow_ups


def _known(invocation: Invocation) -> tuple[float, ...]:
    """Return how much a reading knows: until when, how many fields, calls and tokens.

    Parts of a trace may end at the same time, and arrive in any order.
    """
    seen = (invocation.extra or {}).get(SEEN_UNTIL)
    until = seen if isinstance(seen, int | float) else 0.0
    calls = invocation.tool_call_count or invocation.tool_calls_most or 0
    tokens = invocation.tokens_used or invocation.tokens_most or 0
    return until, len(invocation) - invocation.count(None), calls, tokens
