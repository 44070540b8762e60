"""Fix what is safe to fix, or plan the fixes."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from skillgate.evaluation.known import require_writable
from skillgate.evaluation.request import EvaluateRequest, selections
from skillgate.evaluation.run import find, touching
from skillgate.fixes import Change, apply, plan
from skillgate.format import printable
from skillgate.model.skill import SkillRoot, Unreadable
from skillgate.scoring.listing import harness
from skillgate.skill.find import read
from skillgate.skill.parse import parse
from skillgate.skill.tree import disk_of
from skillgate.static.catalogue import find_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from skillgate.console import Console
    from skillgate.scoring.selection import Selection
    from skillgate.skill.find import Discovery

RENAMES = "NAME_MISMATCH"


class _Plan(NamedTuple):
    """The planned changes of one skill."""

    root: SkillRoot
    selection: Selection
    changes: tuple[Change, ...]

    @property
    def renaming(self) -> Change | None:
        """The change that renames the skill."""
        return next((one for one in self.changes if RENAMES in one.rules and one.skipped is None), None)


class Repairs(NamedTuple):
    """The planned file changes, and whether all of the paths could be searched."""

    changes: tuple[Change, ...]
    complete: bool


def planned(request: EvaluateRequest, session: Console) -> Repairs:
    """Plan fixes without changing anything; note what is skipped.

    Raises:
        UsageError: a path or an option is not valid.
    """
    discovery = find(request.scope, session)
    for notice in discovery.notices:
        session.note(notice)
    changes = [change for one in _plans(request, discovery, session) for change in one.changes]
    return Repairs(_wanted(changes, session), discovery.complete)


def repair(request: EvaluateRequest, session: Console) -> None:
    """Fix, and note what was fixed and what was not.

    Raises:
        UsageError: a path or an option is not valid.
    """
    if request.write_known_findings is not None:
        require_writable(request.write_known_findings, request, session)  # the run afterwards would fail there
    count = 0
    for one in _plans(request, find(request.scope, session), session):
        for result in apply(_wanted(one.changes, session), disk_of(one.root)):
            change = result.change
            if result.written:
                count += 1
                remark = f" ({printable(result.note)})" if result.note else ""
                session.note(f"fixed {change.path}: {', '.join(change.rules)}{remark}")
            else:
                session.note(f"not fixed {change.path}: {result.reason}")
    session.note(f"fixed {count} file{'s' * (count != 1)}")


def _wanted(changes: Iterable[Change], session: Console) -> tuple[Change, ...]:
    """Note skipped changes, and return the others."""
    wanted = []
    for change in changes:
        if change.skipped is None:
            wanted.append(change)
        else:
            session.note(f"skipped {change.path}: {', '.join(change.rules)}: {change.skipped}")
    return tuple(wanted)


def _plans(request: EvaluateRequest, discovery: Discovery, session: Console) -> list[_Plan]:
    """Plan the fixes of each selected skill; with --changed, of those that the change touches."""
    selection_of = selections(request.config)
    touched = touching(request.scope, discovery.roots, session)
    plans = []
    for root in discovery.roots:
        if touched is None or touched(root, None):
            selection = selection_of(root.path)
            plans.append(_Plan(root, selection, plan(root, _is_selected(selection), today=selection.today)))
    return list(_without_clashes(plans, discovery.roots)) if any(one.renaming for one in plans) else plans


def _without_clashes(plans: Iterable[_Plan], roots: Sequence[SkillRoot]) -> Iterator[_Plan]:
    """Keep a skill's name if another skill of the same client has the new name, or will get it."""
    names = {root.path: _name(root) for root in roots}
    for one in plans:
        root, selection, _ = one
        change = one.renaming
        if change is None:
            yield one
            continue
        new = unicodedata.normalize("NFKC", root.name)
        # Copies for several clients are never read by the same client.
        others = (other for other in roots if other is not root and harness(str(other.path)) == harness(str(root.path)))
        bearer = next((other for other in others if names[other.path] == new), None)
        if bearer is None:
            names[root.path] = new
            yield one
            continue
        less = plan(root, _is_selected(selection, but=RENAMES), today=selection.today)
        reason = f"{bearer.path} already has the name {root.name!r}"
        left = change._replace(after=change.before, rules=(RENAMES,), skipped=reason)
        yield one._replace(changes=(*less, left))


def _name(root: SkillRoot) -> str:
    """Return the name that clients use for a skill."""
    source = read(root)
    written = "" if isinstance(source, Unreadable) else parse(source).frontmatter.text("name")
    return unicodedata.normalize("NFKC", written or root.name)


def _is_selected(selection: Selection, *, but: str = "") -> Callable[[str], bool]:
    """Whether a rule is selected and not ignored, by id, group, ``all`` or ``default``. ``but`` is not selected."""

    def is_named(rule: str, words: frozenset[str]) -> bool:
        group, optional = _declared(rule)
        return not words.isdisjoint({rule, group, "all"}) or ("default" in words and not optional)

    return lambda rule: rule != but and is_named(rule, selection.select) and not is_named(rule, selection.ignore)


@cache
def _declared(identifier: str) -> tuple[str, bool]:
    """Return the group of a rule, and whether it is opt-in."""
    rule, kind = find_rule(identifier)
    return rule.group or kind, rule.optional
