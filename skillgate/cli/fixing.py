"""``check --fix`` and ``check --diff``: repair what is safe to repair, or show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.cli.findings import selections
from skillgate.cli.options import gate_options
from skillgate.errors import EXIT_GATE_FAILED, EXIT_PASSED
from skillgate.fixes import apply, diff, plan
from skillgate.model.text import printable
from skillgate.skill.discover import discover
from skillgate.skill.write import disk_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from skillgate.cli.session import Session
    from skillgate.fixes import Change
    from skillgate.model.skill import SkillRoot
    from skillgate.scoring.selection import Selection


def show(args: argparse.Namespace, session: Session) -> int:
    """Print what would be repaired, as a patch; 1 where there is something, as other formatters say it.

    Raises:
        UsageError: a path or an option is not valid.
    """
    changes = [change for _, planned in _planned(args, session) for change in planned]
    _tell_skipped(changes, session)
    wanted = [change for change in changes if change.skipped is None]
    if not wanted:
        session.note("nothing to repair")
        return EXIT_PASSED
    session.out(diff(wanted, terminal=session.stdout.isatty()))
    session.note(f"{len(wanted)} file{'s' * (len(wanted) != 1)} would change; --fix changes them")
    return EXIT_GATE_FAILED


def repair(args: argparse.Namespace, session: Session) -> None:
    """Repair, and say on stderr what was and what was not.

    Raises:
        UsageError: a path or an option is not valid.
    """
    count = 0
    for root, changes in _planned(args, session):
        _tell_skipped(changes, session)
        for result in apply(tuple(change for change in changes if change.skipped is None), disk_of(root)):
            change = result.change
            if result.written:
                count += 1
                beside = f" ({printable(result.note)})" if result.note else ""
                session.note(f"repaired {change.path}: {', '.join(change.rules)}{beside}")
            else:
                session.note(f"not repaired {change.path}: {result.reason}")
    session.note(f"repaired {count} file{'s' * (count != 1)}")


def _planned(args: argparse.Namespace, session: Session) -> list[tuple[SkillRoot, tuple[Change, ...]]]:
    asked = selections(session.config.with_options(gate_options(args)))
    roots = discover(args.paths, cwd=session.cwd).roots
    return [(root, plan(root, _wanted(asked(root.path)), today=asked(root.path).today)) for root in roots]


def _wanted(selection: Selection) -> Callable[[str], bool]:
    """Tell whether a rule is selected and not ignored, by its id or by a word for all."""

    def wanted(identifier: str) -> bool:
        named = identifier in selection.select or not selection.select.isdisjoint({"default", "all"})
        return named and identifier not in selection.ignore and "all" not in selection.ignore

    return wanted


def _tell_skipped(changes: tuple[Change, ...] | list[Change], session: Session) -> None:
    for change in changes:
        if change.skipped is not None:
            session.note(f"left alone {change.path}: {', '.join(change.rules)}: {change.skipped}")
