"""The figures of a skill's invocations as columns, from its summaries."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skillgate.model.invocation import DIMENSIONS
from skillgate.store.invocation_rows import ForeignError
from skillgate.store.summaries import LAYOUT, Context, contexts_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from skillgate.model.invocation import Filters
    from skillgate.store.summaries import Summary

RECORD = np.dtype([(name, {"q": "<i8", "d": "<f8", "i": "<i4", "b": "i1"}[kind]) for name, kind in LAYOUT])


class Observations(NamedTuple):
    """Invocations of one skill and their scores by one rubric, by time and key.

    Attributes:
        rows: records of :data:`skillgate.store.summaries.LAYOUT`; unknown values are -1.
        contexts: what ``context`` of a row is an index into.
    """

    skill: str
    rows: npt.NDArray[Any]
    contexts: tuple[Context, ...]

    def since(self, second: int | None) -> Observations:
        """Leave out those before a time in seconds since 1970; None for none."""
        if second is None:
            return self
        return self._replace(rows=self.rows[np.searchsorted(self.rows["at"], second, "left") :])

    def before(self, second: int | None) -> Observations:
        """Leave out those from a time on, in seconds since 1970; None for none."""
        if second is None:
            return self
        return self._replace(rows=self.rows[: np.searchsorted(self.rows["at"], second, "left")])

    def only(self, filters: Filters) -> Observations:
        """Leave out those that do not match."""
        wanted = {name: value for name in DIMENSIONS if (value := getattr(filters, name)) is not None}
        if not wanted:
            return self
        fits = [all(getattr(one, name) == value for name, value in wanted.items()) for one in self.contexts]
        return self._replace(rows=self.rows[np.array(fits, bool)[self.rows["context"]]])


def gathered(skill: str, summaries: Iterable[Summary]) -> Observations:
    """Return the invocations of summaries in order of time.

    Raises:
        ForeignError: a summary is not one of ours.
    """
    codes: dict[Context, int] = {}
    data = bytearray()
    runs = []  # of summaries with the same contexts
    for text, some in groupby(summaries, attrgetter("contexts")):
        start = len(data)
        for one in some:
            data += one.data
        new = [codes.setdefault(one, len(codes)) for one in contexts_of(text)]
        runs.append((slice(start // RECORD.itemsize, len(data) // RECORD.itemsize), new))
    rows = np.frombuffer(data, RECORD)
    for run, new in runs:
        own = rows["context"][run]
        if own.min() < 0 or own.max() >= len(new):
            raise ForeignError(f"contexts of a summary of {skill[:50]!r} are too few")
        if new != list(range(len(new))):
            own[:] = np.array(new)[own]
    return Observations(skill, rows, tuple(codes))


def merged(skill: str, some: Iterable[Observations] = ()) -> Observations:
    """Return the invocations of several as those of one skill, by time; none by default."""
    codes: dict[Context, int] = {}
    parts = [np.empty(0, RECORD)]
    for one in some:
        rows = one.rows.copy()
        rows["context"] = np.array([codes.setdefault(context, len(codes)) for context in one.contexts])[rows["context"]]
        parts.append(rows)
    rows = np.concatenate(parts)
    return Observations(skill, rows[np.argsort(rows["at"], kind="stable")], tuple(codes))
