"""Options that the words of ``log`` share: windows and the rubric; and the settings behind them."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from skillgate import settings

if TYPE_CHECKING:
    from skillgate.session import Session

RUBRICS = ("1.0", "1.1")
_LONGEST = 36_500  # days


def add_rubric(parser: argparse.ArgumentParser) -> None:
    """Declare ``--rubric``."""
    parser.add_argument(
        "--rubric", choices=RUBRICS, help="the version of the rubric (default: the configuration's, else 1.1)"
    )


def add_skills(parser: argparse.ArgumentParser) -> None:
    """Declare ``SKILL…``."""
    parser.add_argument(
        "skills", metavar="SKILL", nargs="*", default=[], help="names of skills, before any option (default: all)"
    )


def add_window(parser: argparse.ArgumentParser) -> None:
    """Declare ``--days`` and ``--all``."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--days", metavar="N", type=_days, help="how far to look back (default: the configuration's, else 30)"
    )
    group.add_argument("--all", action="store_true", help="look at all that is there")


def rubric_of(args: argparse.Namespace, session: Session) -> str:
    """Say which rubric holds."""
    return str(args.rubric or session.config.get(settings.RUBRIC))


def days_of(args: argparse.Namespace, session: Session) -> int | None:
    """Say how many days are looked at, None for all."""
    if getattr(args, "all", False):
        return None
    found = args.days if args.days is not None else session.config.get(settings.LOG_DAYS)
    return int(found) if isinstance(found, int | float) else None


def now_of(args: argparse.Namespace) -> datetime:
    """Give the time that windows end at, UTC."""
    given: datetime | None = args.at
    return datetime.now(UTC) if given is None else given


def _days(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= _LONGEST):
        raise argparse.ArgumentTypeError(f"expected a number of days from 1 to {_LONGEST:,}, found {text!r}")
    return int(text)
