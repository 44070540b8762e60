"""Times as the command line takes them: days, instants, and how long ago something was."""

from __future__ import annotations

import argparse
import re
from datetime import UTC, datetime, timedelta

_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


def past(text: str) -> datetime:
    """Read a day or a time, or how long ago it was, as in ``30d``."""
    match = re.fullmatch(r"(\d{1,5})([hdw])", text)
    if match is None:
        return time_of(text)
    try:
        return datetime.now(UTC) - timedelta(**{_UNITS[match[2]]: int(match[1])})
    except OverflowError:  # before the year 1
        message = f"{text} ago there was no calendar"
        raise argparse.ArgumentTypeError(message) from None


def day_of(text: str) -> datetime:
    """Read a time, or a day, of which the end is meant."""
    found = time_of(text)
    last = found.year == datetime.max.year
    return found + timedelta(days=1) if not last and re.fullmatch(r"\d{4}-\d\d-\d\d", text) else found


def time_of(text: str) -> datetime:
    """Read a day or a time in ISO 8601; one without a zone is UTC."""
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        message = f"expected a date such as 2026-01-31, found {text!r}"
        raise argparse.ArgumentTypeError(message) from None
