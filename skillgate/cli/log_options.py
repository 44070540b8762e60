"""Options that the words of ``log`` share: windows and the rubric."""

from __future__ import annotations

import argparse

from skillgate import settings
from skillgate.cli.parser import Rare

_LONGEST = 36_500  # days


def add_rubric(parser: argparse.ArgumentParser) -> None:
    """Declare ``--rubric``."""
    parser.add_argument(
        "--rubric",
        choices=settings.RUBRIC.choices,
        help=Rare(f"the version of the rubric (default: the configuration's, else {settings.RUBRIC.default})"),
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
        "--days",
        metavar="N",
        type=_days,
        help=f"how far to look back (default: the configuration's, else {settings.LOG_DAYS.default})",
    )
    group.add_argument("--all", action="store_true", help="look at all that is there")


def _days(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= _LONGEST):
        raise argparse.ArgumentTypeError(f"expected a number of days from 1 to {_LONGEST:,}, found {text!r}")
    return int(text)
