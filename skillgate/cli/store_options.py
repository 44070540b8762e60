"""Options about the store of results and about times."""

from __future__ import annotations

import argparse
import re
from datetime import UTC, datetime, timedelta

from skillgate.cli.options import Rare
from skillgate.store.results import StoreChoice
from skillgate.store.target import DEFAULT


def add_store(parser: argparse._ActionsContainer, *, default: object = None) -> None:
    """Declare ``--store``."""
    parser.add_argument(
        "--store",
        metavar="PATH|URL",
        default=default,
        help=f"where results are saved: a SQLite file, or postgresql://USER@HOST/DATABASE (default: {DEFAULT})",
    )


def add_keeping(parser: argparse.ArgumentParser) -> None:
    """Declare ``--store`` and ``--no-store`` for a command that saves results; :func:`store_choice` reads them."""
    _add_both(parser, "store of results", "do not save the results")


def add_looking(parser: argparse.ArgumentParser) -> None:
    """Declare both for a command that looks up past results; :func:`store_choice` reads them."""
    _add_both(parser, "store of past results", "do not look up past results")


def _add_both(parser: argparse.ArgumentParser, title: str, without: str) -> None:
    group = parser.add_argument_group(title).add_mutually_exclusive_group()
    add_store(group)
    group.add_argument("--no-store", action="store_true", help=Rare(without))


def store_choice(args: argparse.Namespace) -> StoreChoice:
    """Return the choice of ``--store`` and ``--no-store``."""
    return StoreChoice(args.store, unused=args.no_store)


_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


def past(text: str) -> datetime:
    """Read a day or a time, or a time ago such as ``30d``."""
    match = re.fullmatch(r"(\d{1,5})([hdw])", text)
    if match is None:
        return time_of(text)
    try:
        return datetime.now(UTC) - timedelta(**{_UNITS[match[2]]: int(match[1])})
    except OverflowError:  # before the year 1
        raise argparse.ArgumentTypeError(f"{text} ago is before the year 1") from None


def day_of(text: str) -> datetime:
    """Read a time, or the end of a day."""
    time = time_of(text)
    is_last = time.year == datetime.max.year
    return time + timedelta(days=1) if not is_last and re.fullmatch(r"\d{4}-\d\d-\d\d", text) else time


def time_of(text: str) -> datetime:
    """Read a day or a time in ISO 8601; one without a zone is UTC."""
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(f"expected a date such as 2026-01-31, found {text!r}") from None
