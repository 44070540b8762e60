"""Compare the invocations of one skill by version, model, project, source and caller, and find the worst."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from skillgate.invocations.figures import (
    ALPHA,
    LEAST,
    change_of,
    change_text,
    flagged,
    known,
    mean_interval,
    rounded,
    share,
    spreads,
    time_of,
)
from skillgate.model.invocation import DIMENSIONS, Group, VersionChange
from skillgate.stats.resampling import benjamini_hochberg, sample

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from skillgate.model.invocation import SkillFigures
    from skillgate.stats.resampling import Sample
    from skillgate.store.observations import Observations

    Rows = npt.NDArray[Any]

MOST_GROUPS = 20
"""Maximum groups of a dimension: those with the most invocations. Also the maximum versions: the last ones."""
MOST_WORST = 5
"""Maximum worst invocations of a skill."""


def with_groups(found: SkillFigures, seen: Observations) -> SkillFigures:
    """Add the groups of each dimension, and the changes between versions."""
    if not len(seen.rows):
        return found
    groups, more = {}, {}
    for dimension in DIMENSIONS:
        parts = _parts(seen, dimension)
        most = sorted(parts, key=lambda value: (-len(parts[value]), value or ""))[:MOST_GROUPS]
        groups[dimension] = tuple(
            _only(value, found) if len(parts) == 1 else _group(value, parts[value]) for value in most
        )
        if len(parts) > len(most):
            more[dimension] = len(parts) - len(most)
    return replace(found, groups=groups, more_groups=more or None, versions=_changes(seen))


def _parts(seen: Observations, dimension: str) -> dict[str | None, Rows]:
    """Return the rows of each value of a dimension."""
    codes: dict[str | None, int] = {}
    new = [codes.setdefault(getattr(one, dimension), len(codes)) for one in seen.contexts]
    of_rows = np.array(new)[seen.rows["context"]]
    numbers = np.bincount(of_rows, minlength=len(codes)).tolist()
    present = {value: code for value, code in codes.items() if numbers[code]}
    if len(present) == 1:
        return dict.fromkeys(present, seen.rows)
    order = np.argsort(of_rows, kind="stable")
    ends = np.cumsum(numbers)
    return {value: seen.rows[order[ends[code] - numbers[code] : ends[code]]] for value, code in present.items()}


def _only(value: str | None, found: SkillFigures) -> Group:
    """Return the group of all invocations."""
    own = {name: getattr(found, name) for name in Group.__dataclass_fields__ if hasattr(found, name)}
    return Group(value=value, rated=found.invocation_count, average=found.avg_score, **own)


def _group(value: str | None, rows: Rows) -> Group:
    totals = sample(known(rows["total"]))
    return Group(
        value=value,
        recorded=len(rows),
        rated=totals.n,
        average=rounded(totals.mean),
        interval=mean_interval(totals),
        error_rate=share(flagged(rows["errors"])),
        unrecovered_rate=share(flagged(rows["unrecovered"])),
        first_seen=time_of(int(rows["at"][0])),
        last_seen=time_of(int(rows["at"][-1])),
        **spreads(rows),
    )


def _changes(seen: Observations) -> tuple[VersionChange, ...]:
    """Compare consecutive known versions in order of first use."""
    parts = _parts(seen, "version")
    first = {value: int(rows["at"][0]) for value, rows in parts.items() if value is not None}
    last = sorted(first, key=lambda value: (first[value], value))[-MOST_GROUPS:]
    totals = {value: sample(known(parts[value]["total"])) for value in last}
    return tuple(_change(before, after, totals[before], totals[after]) for before, after in pairwise(last))


def _change(before: str, after: str, then: Sample, since: Sample) -> VersionChange:
    change = interval = p = None
    enough = then.n >= LEAST and since.n >= LEAST
    reason = f"{since.n} rated with {after} and {then.n} with {before}; a comparison needs {LEAST} of each"
    if enough:
        change, interval, p = change_of(then, since)
        reason = change_text(change, interval, then.n, since.n) + ("; this may be chance" if p >= ALPHA else "")
    return VersionChange(
        before=before,
        after=after,
        n_before=then.n,
        n_after=since.n,
        average_before=rounded(then.mean),
        average_after=rounded(since.mean),
        change=change,
        interval=interval,
        status="ok" if enough else "insufficient_data",
        reason=reason,
        p=p,
    )


def corrected_versions(found: Iterable[SkillFigures]) -> tuple[SkillFigures, ...]:
    """Adjust changes of version that are reported together for their number, as trends are."""
    skills = tuple(found)
    ps = [change.p for one in skills for change in one.versions if change.p is not None]
    adjusted = iter(benjamini_hochberg(ps))
    return tuple(
        replace(
            one, versions=tuple(replace(v, p_adjusted=None if v.p is None else next(adjusted)) for v in one.versions)
        )
        if one.versions
        else one
        for one in skills
    )


def worst(seen: Observations) -> tuple[int, ...]:
    """Return the keys of the invocations with the lowest totals, the worst first; of equal ones the latest."""
    rows = seen.rows[seen.rows["total"] >= 0]
    if len(rows) > MOST_WORST:
        rows = rows[rows["total"] <= np.partition(rows["total"], MOST_WORST - 1)[MOST_WORST - 1]]
    order = np.lexsort((-rows["key"], -rows["at"], rows["total"]))[:MOST_WORST]
    return tuple(rows["key"][order].tolist())
