"""Options of the commands that find and select skills, and the store that they look into."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from skillgate.bench.evidence import of_past
from skillgate.model.executable import AdapterType
from skillgate.model.text import did_you_mean
from skillgate.store.results import add_store, named_store
from skillgate.store.target import missing_package, require_packages

if TYPE_CHECKING:
    from skillgate.bench.evidence import Evidence
    from skillgate.session import Session

SKILLS_DIR = "./skills"
_ADAPTERS = tuple(kind.value for kind in AdapterType)


def add_query(parser: argparse.ArgumentParser) -> None:
    """Declare what skills are searched for; ``-q`` is the query here, and ``--quiet`` has its long form alone."""
    group = parser.add_argument_group("which skills", conflict_handler="resolve")  # it takes -q from --quiet
    group.add_argument("-q", "--query", metavar="WORDS", help="all of these words, in id, name, description or tags")
    group.add_argument(
        "-t", "--tag", metavar="TAG", nargs="+", action="extend", default=[], help="with all of these tags"
    )
    group.add_argument("-a", "--adapter", metavar="KIND", type=adapter, help=f"run so: {', '.join(_ADAPTERS)}")
    group.add_argument(
        "--skills-dir", metavar="DIR", default=SKILLS_DIR, help=f"where skills are looked for (default: {SKILLS_DIR})"
    )


def add_looking(parser: argparse.ArgumentParser) -> None:
    """Declare where past results are looked up."""
    group = parser.add_argument_group("store of past results").add_mutually_exclusive_group()
    add_store(group)
    group.add_argument("--no-store", action="store_true", help="look up nothing there")


def past_evidence(args: argparse.Namespace, session: Session, *, measured: bool) -> list[Evidence]:
    """Give the newest evaluations that the store holds; nothing where there is no store and none was named.

    Raises:
        UsageError: a store that was named cannot be used.
        IncompleteError: it cannot be read.
    """
    import os  # the one question that is asked of the disk here

    if args.no_store:
        return []
    target, named = named_store(args.store, session)
    if not named:
        if target.path is None or not os.path.isfile(target.path):  # noqa: PTH113
            return []
        missing = missing_package(target)
        if missing is not None:
            session.note(f"past results are not looked up: {missing} (--no-store says no more about it)")
            return []
    require_packages(target)
    from skillgate.store.keeper import open_store

    store = open_store(target, create=False)
    try:
        return [of_past(past) for past in store.newest(measured=measured)]
    finally:
        store.close()


def adapter(text: str) -> str:
    """Read the word for how a skill is run.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    if text not in _ADAPTERS:
        near = did_you_mean(text, _ADAPTERS)
        raise argparse.ArgumentTypeError(f"expected one of {', '.join(_ADAPTERS)}; found {text!r}{near}")
    return text


def share(text: str) -> float:
    """Read a ratio.

    Raises:
        argparse.ArgumentTypeError: it is none; a percentage is told what it was meant to be.
    """
    number = _number(text.removesuffix("%"))
    if text.endswith("%") or not 0 <= number <= 1:
        hint = f"; did you mean {number / 100:g}?" if 0 < number <= 100 else ""
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 1, found {text!r}{hint}")
    return number


def milliseconds(text: str) -> float:
    """Read a time in milliseconds, at least 0.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    number = _number(text)
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"expected milliseconds, found {text!r}")
    return number


def count(text: str) -> int:
    """Read a whole number of at least 1.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    if not (text.isascii() and text.isdigit() and int(text[:9]) > 0 and len(text) < 10):
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, found {text!r}")
    return int(text)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return -1.0
