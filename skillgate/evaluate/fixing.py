"""``check --fix`` and ``check --diff``: repair what is safe to repair, or show it."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from skillgate.cli.evaluation import find, require_places, touching
from skillgate.cli.options import gate_options
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, UsageError
from skillgate.evaluate.findings import selections
from skillgate.files import require_place, write
from skillgate.fixes import apply, diff, plan
from skillgate.model.skill import Unreadable
from skillgate.model.text import printable
from skillgate.scoring.listing import harness
from skillgate.skill.parse import parse
from skillgate.skill.read import read
from skillgate.skill.write import disk_of
from skillgate.static.layer import ANTIPATTERNS, DEFECTS, RULES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from skillgate.fixes import Change
    from skillgate.model.skill import SkillRoot
    from skillgate.scoring.selection import Selection
    from skillgate.session import Session
    from skillgate.skill.discover import Discovery

RENAMES = "NAME_MISMATCH"
_GROUPS = ((ANTIPATTERNS, "anti-pattern"), (RULES, "rule"), (DEFECTS, "reading"))
_NOT_BESIDE_DIFF = ("fix", "output", "json", "output_file", "write_known_findings")


class _Plan(NamedTuple):
    """What would become of one skill."""

    root: SkillRoot
    selection: Selection
    changes: tuple[Change, ...]


def show(args: argparse.Namespace, session: Session) -> int:
    """Print what would be repaired, as a patch to read; 1 where there is something, as other formatters say it.

    What is printed holds no control or hidden character, whoever reads it. ``--patch`` names a file for the exact one.

    Raises:
        UsageError: a path or an option is not valid, or asks for something else as well.
    """
    others = [f"--{name.replace('_', '-')}" for name in _NOT_BESIDE_DIFF if getattr(args, name, None)]
    if others:
        asked = "--patch" if args.patch else "--diff"
        raise UsageError(f"{asked} shows a patch and does nothing else: leave out {', '.join(others)}")
    if args.patch:
        require_place(args.patch, session.cwd)
    found = find(args, session)
    for notice in found.notices:
        session.note(notice)
    changes = [change for planned in _planned(args, session, found) for change in planned.changes]
    _tell_skipped(changes, session)
    wanted = [change for change in changes if change.skipped is None]
    if args.patch:
        write(args.patch, diff(wanted, terminal=False).encode(), cwd=session.cwd)
    if not wanted:
        session.note("nothing to repair")
        return EXIT_PASSED if found.complete else EXIT_INCOMPLETE
    session.out(diff(wanted, terminal=True))
    session.note(f"{len(wanted)} file{'s' * (len(wanted) != 1)} would change; --fix changes them")
    return EXIT_GATE_FAILED


def repair(args: argparse.Namespace, session: Session) -> None:
    """Repair, and say on stderr what was and what was not.

    Raises:
        UsageError: a path or an option is not valid.
    """
    require_places(args, session)
    count = 0
    for planned in _planned(args, session, find(args, session)):
        _tell_skipped(planned.changes, session)
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


def _planned(args: argparse.Namespace, session: Session, found: Discovery) -> list[_Plan]:
    """Plan the repairs of each skill that is asked about; of a change, by the files it touches."""
    asked = selections(session.config.with_options(gate_options(args)))
    touched = touching(args, found.roots, session)
    plans = []
    for root in found.roots:
        if touched is None or touched(root, None):
            selection = asked(root.path)
            plans.append(_Plan(root, selection, plan(root, _wanted(selection), today=selection.today)))
    if any(map(_renaming, plans)):
        plans = list(_without_clashes(plans, found.roots))
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


def _tell_skipped(changes: Iterable[Change], session: Session) -> None:
    for change in changes:
        if change.skipped is not None:
            session.note(f"left alone {change.path}: {', '.join(change.rules)}: {change.skipped}")
