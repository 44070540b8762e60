"""An import: invocations with their scores, in one transaction."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.model.invocation import SEEN_UNTIL, Fate, Scored
from skillgate.store.added import added_of, added_text, merged
from skillgate.store.bulk import ONCE
from skillgate.store.invocation_rows import extra_of, of_invocations, of_scores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from skillgate.model.invocation import Invocation, InvocationScore
    from skillgate.store.bulk import Bulk
    from skillgate.store.invocation_rows import Columns

    Scorer = Callable[[Invocation], InvocationScore]

_SHOWN = "INSERT INTO shown_rubric (id, rubric_version) VALUES (1, ?)"
_SHOW = f"{_SHOWN} ON CONFLICT (id) DO UPDATE SET rubric_version = excluded.rubric_version"
_ORIGIN_DIGITS = 12
_NOTHING: dict[str, Any] = {}


class Origin(NamedTuple):
    """Where the invocations of an import come from.

    Attributes:
        folder: the absolute path of the folder of the recording; only a salted digest of it is stored.
        label: a name that the user gave it; stored as it is, in place of the digest.
    """

    folder: str | None = None
    label: str | None = None


def show(rows: Bulk, rubric: str) -> None:
    """Let the view show the scores of this version of the rubric."""
    rows.run(_SHOW, rubric)


def origin_of(rows: Bulk, origin: Origin) -> str | None:
    """Return what is stored of an origin; the first digest makes the salt of the store."""
    if origin.label is not None or origin.folder is None:
        return origin.label
    salts = rows.rows("SELECT salt FROM origin_salt")
    if not salts:
        salts = [(secrets.token_hex(16),)]
        rows.run("INSERT INTO origin_salt (id, salt) VALUES (1, ?)", salts[0][0])
    key, folder = str(salts[0][0]).encode(), origin.folder.encode("utf-8", "surrogateescape")
    return f"folder-{hmac.new(key, folder, hashlib.sha256).hexdigest()[:_ORIGIN_DIGITS]}"


class Import:
    """What is imported in one transaction, which whoever opened it ends.

    Attributes:
        broken: whether a batch failed, of which some may have been written.
    """

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
        """Take what :meth:`InvocationStore.importing` opened."""
        self._rows, self._update, self._later, self._origin = rows, update, later, origin
        self._now, self._scorer, self._refusing = now, scorer, refusing
        self._added: dict[int, dict[str, Any]] = {}  # by key: what was added by hand to those that are there
        self.broken = False
        self._fresh = True  # whether the last batch was new throughout, so that the next may be, too

    def add(self, batch: Sequence[Scored]) -> tuple[Fate, ...]:
        """Write invocations that are not there yet; thousands at a time are fastest.

        Returns:
            What became of each, in their order. One whose id came before in the same import is dealt with like one that
            was there before.

        Raises:
            UsageError: one cannot be stored: a number is out of its range, or a text is none. Nothing of the import is
                to be kept then.
            IncompleteError: the database failed.
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
        again: dict[int, Scored] = {}
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
                again[key] = one
                fates.append(Fate.KNOWN)
                continue
            elif self._later and not self._is_later(one, key, new.get(key) or changed.get(key)):
                fates.append(Fate.KNOWN)  # and what is there knows more
                continue
            elif self._update or self._later:
                if key in new:  # it came before in this very batch
                    new[key] = one
                else:
                    changed[key] = one
                fates.append(Fate.UPDATED)
            else:
                fates.append(Fate.CONFLICT)
                continue
            known[name] = (key, one.digest, None)
        self._write(new)
        self._score({key: self._merged(key, one) for key, one in again.items()}, ONCE)
        self._rows.delete(list(changed))  # with the scores by other versions, which are of what it said before
        self._write(changed)
        self._fresh = len(new) == len(batch)
        return tuple(fates)

    def _is_later(self, one: Scored, key: int, waiting: Scored | None) -> bool:
        """Tell whether a reading saw more of a recording than the one that is there, or waits to be written."""
        if waiting is not None:
            there = waiting.invocation.extra
        else:
            ((text,),) = self._rows.rows("SELECT extra FROM invocations WHERE id = ?", key)
            there = extra_of(text)
        return _seen(one.invocation.extra) > _seen(there)

    def _write(self, found: dict[int, Scored]) -> None:
        if found:
            complete = {key: self._merged(key, one) for key, one in found.items()}
            added = [added_text(self._added.get(key, _NOTHING)) for key in found]
            self._rows.insert("invocations", {"id": found, **self._columns(list(complete.values()), added)})
            self._score(complete)

    def _merged(self, key: int, one: Scored) -> Scored:
        """Return an invocation with what was added to it by hand, and the score of both together."""
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


def _seen(extra: Mapping[str, object] | None) -> float:
    found = extra.get(SEEN_UNTIL) if extra else None
    return found if isinstance(found, int | float) else 0.0
