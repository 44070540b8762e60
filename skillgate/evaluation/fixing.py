"""Repair what is safe to repair, or plan it."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from skillgate.evaluation.findings import selections
from skillgate.evaluation.known import require_writable
from skillgate.evaluation.run import find, touching
from skillgate.fixes import apply, plan
from skillgate.model.skill import Unreadable
from skillgate.model.text import printable
from skillgate.scoring.listing import harness
from skillgate.skill.parse import parse
from skillgate.skill.read import read
from skillgate.skill.write import disk_of
from skillgate.static.layer import ANTIPATTERNS, DEFECTS, RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from skillgate.evaluation.request import EvaluateRequest
    from skillgate.fixes import Change
    from skillgate.model.skill import SkillRoot
    from skillgate.scoring.selection import Selection
    from skillgate.session import Session
    from skillgate.skill.discover import Discovery

RENAMES = "NAME_MISMATCH"
_GROUPS = ((ANTIPATTERNS, "anti-pattern"), (RULES, "rule"), (DEFECTS, "reading"))


class _Plan(NamedTuple):
    """What would become of one skill."""

    root: SkillRoot
    selection: Selection
    changes: tuple[Change, ...]


class Repairs(NamedTuple):
    """The files that repairing would change, and whether all of the paths could be searched."""

    changes: tuple[Change, ...]
    complete: bool


def planned(request: EvaluateRequest, session: Session) -> Repairs:
    """Plan repairs and change nothing; what is left alone is noted.

    Raises:
        UsageError: a path or an option is not valid.
    """
    discovery = find(request.scope, session)
    for notice in discovery.notices:
        session.note(notice)
    changes = [change for planned in _plans(request, discovery, session) for change in planned.changes]
    _note_skipped(changes, session)
    return Repairs(tuple(change for change in changes if change.skipped is None), discovery.complete)


def repair(request: EvaluateRequest, session: Session) -> None:
    """Repair, and note what was and what was not.

    Raises:
        UsageError: a path or an option is not valid.
    """
    if request.write_known_findings is not None:
        require_writable(request.write_known_findings, request, session)  # the run after it would stop there
    count = 0
    for planned in _plans(request, find(request.scope, session), session):
        _note_skipped(planned.changes, session)
        wanted = tuple(change for change in planned.changes if change.skipped is None)
        for result in apply(wanted, disk_of(planned.root)):
            change = result.change
            if result.written:
                count += 1
                beside = f" ({printable(result.note)})" if result.note else ""
                session.note(f"repaired {change.path}: {', '.join(change.rules)}{beside}")
            else:
                session.note(f"not repaired {change.path}: {result.reason}")
    session.note(f"repaired {count} file{'s' * (count != 1)}")


def _plans(request: EvaluateRequest, discovery: Discovery, session: Session) -> list[_Plan]:
    """Plan the repairs of each skill that is asked about; of a change, by the files it touches."""
    selection_of = selections(request.config)
    touched = touching(request.scope, discovery.roots, session)
    plans = []
    for root in discovery.roots:
        if touched is None or touched(root, None):
            selection = selection_of(root.path)
            plans.append(_Plan(root, selection, plan(root, _wanted(selection), today=selection.today)))
    if any(map(_renaming, plans)):
        plans = list(_without_clashes(plans, discovery.roots))
    return plans


def _without_clashes(plans: Iterable[_Plan], roots: Sequence[SkillRoot]) -> Iterator[_Plan]:
    """Leave a skill its name where another one that the same client reads has the new one, or is about to get it."""
    names = {root.path: _name(root) for root in roots}
    for planned in plans:
        root, selection, _ = planned
        change = _renaming(planned)
        if change is None:
            yield planned
            continue
        new = unicodedata.normalize("NFKC", root.name)
        bearer = next((one for one in roots if one is not root and names[one.path] == new and _beside(one, root)), None)
        if bearer is None:
            names[root.path] = new
            yield planned
            continue
        less = plan(root, _wanted(selection, but=RENAMES), today=selection.today)
        reason = f"{bearer.path} has the name {root.name!r} already"
        left = change._replace(after=change.before, rules=(RENAMES,), skipped=reason)
        yield planned._replace(changes=(*less, left))


def _renaming(planned: _Plan) -> Change | None:
    return next((change for change in planned.changes if RENAMES in change.rules and change.skipped is None), None)


def _name(root: SkillRoot) -> str:
    """Give the name that a client knows a skill by."""
    source = read(root)
    written = "" if isinstance(source, Unreadable) else parse(source).frontmatter.text("name")
    return unicodedata.normalize("NFKC", written or root.name)


def _beside(one: SkillRoot, other: SkillRoot) -> bool:
    """Tell whether one client may read both: copies for several clients are never read by the same."""
    return harness(str(one.path)) == harness(str(other.path))


def _wanted(selection: Selection, *, but: str = "") -> Callable[[str], bool]:
    """Tell whether a rule is selected and not ignored: by its id, its group, or a word for all. ``but`` is not."""

    def wanted(rule: str) -> bool:
        return rule != but and _is_named(rule, selection.select) and not _is_named(rule, selection.ignore)

    return wanted


def _is_named(rule: str, words: frozenset[str]) -> bool:
    group, optional = _declared(rule)
    return not words.isdisjoint({rule, group, "all"}) or ("default" in words and not optional)


@cache
def _declared(identifier: str) -> tuple[str, bool]:
    """Give the group of a rule, and whether it is opt-in."""
    name = identifier.lower()
    for room, kind in _GROUPS:
        if name in room.names():
            rule = room.load(name).RULE
            return rule.group or kind, rule.optional
    raise LookupError(identifier)


def _note_skipped(changes: Iterable[Change], session: Session) -> None:
    for change in changes:
        if change.skipped is not None:
            session.note(f"left alone {change.path}: {', '.join(change.rules)}: {change.skipped}")
