"""The words of ``log`` that change what a store holds: ``rescore`` and ``purge``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from skillgate.cli.log_options import rubric_of
from skillgate.errors import EXIT_PASSED, UsageError
from skillgate.store.results import named_store
from skillgate.store.target import require_packages

if TYPE_CHECKING:
    import argparse
    from datetime import datetime

    from skillgate.session import Session
    from skillgate.store.invocations import InvocationStore


def rescore(args: argparse.Namespace, session: Session) -> int:
    """Score what is there again.

    Raises:
        UsageError: the store cannot be used.
        IncompleteError: the database failed.
    """
    from skillgate.invocations.rubric import scorer

    rubric = rubric_of(args, session)
    store, shown = there(args, session)
    try:
        whole = args.skill is None and args.since is None
        count = store.rescore(rubric, scorer(rubric), skill=args.skill, since=args.since, make_current=whole)
    finally:
        store.close()
    if session.json:
        document = {"kind": "log-rescore", "store": shown, "rubric_version": rubric, "rescored": count}
        session.out(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        session.out(f"{_counted(count)} scored by rubric {rubric}")
    return EXIT_PASSED


def purge(args: argparse.Namespace, session: Session) -> int:
    """Delete invocations, after asking.

    Raises:
        UsageError: nothing says which, nobody agreed, or the store cannot be used.
        IncompleteError: the database failed.
    """
    if args.before is None and args.skill is None:
        raise UsageError("log purge needs --before DATE, --skill NAME, or both")
    store, shown = there(args, session)
    try:
        count = store.purge(before=args.before, skill=args.skill, dry_run=True)
        if not args.dry_run:  # also of none: it clears what an earlier one had to leave
            if count and not args.yes:
                _agreed(count, args.before, args.skill, session)
            count = store.purge(before=args.before, skill=args.skill, dry_run=False)
    finally:
        store.close()
    if session.json:
        document = {"kind": "log-purge", "store": shown, "purged": count, "dry_run": args.dry_run}
        session.out(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        session.out(f"{_counted(count)} {'would be ' if args.dry_run else ''}deleted")
    return EXIT_PASSED


def there(args: argparse.Namespace, session: Session) -> tuple[InvocationStore, str]:
    """Open a store that is there, and give its name for messages.

    Raises:
        UsageError: it cannot be used, or there is none.
    """
    target, _ = named_store(args.store, session)
    require_packages(target)
    from skillgate.store.invocations import open_invocations  # brings in the database's packages

    return open_invocations(target, create=False), target.shown


def _agreed(count: int, before: datetime | None, skill: str | None, session: Session) -> None:
    when = "" if before is None else f" that began before {before:%Y-%m-%d %H:%M} UTC"
    which = "" if skill is None else f" of {skill}"
    question = f"delete {_counted(count)}{which}{when}?"
    if not session.interactive:
        raise UsageError(f"{question} nobody is here to ask; say --yes")
    if not session.confirm(question):
        raise UsageError("nothing was deleted")


def _counted(number: int) -> str:
    return f"{number:,} invocation{'s' * (number != 1)}"
