"""The options that say where results are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.cli.parser import Rare
from skillgate.store.results import StoreChoice
from skillgate.store.target import DEFAULT

if TYPE_CHECKING:
    import argparse


def add_store(parser: argparse._ActionsContainer, *, default: object = None) -> None:
    """Declare ``--store``."""
    parser.add_argument(
        "--store",
        metavar="PATH|URL",
        default=default,
        help=f"where results are kept: a SQLite file, or postgresql://USER@HOST/DATABASE (default: {DEFAULT})",
    )


def add_keeping(parser: argparse.ArgumentParser) -> None:
    """Declare ``--store`` and ``--no-store`` of a command that writes results; :func:`store_choice` reads them."""
    group = parser.add_argument_group("store of results").add_mutually_exclusive_group()
    add_store(group)
    group.add_argument("--no-store", action="store_true", help=Rare("keep nothing there"))


def add_looking(parser: argparse.ArgumentParser) -> None:
    """Declare both of a command that looks past results up; :func:`store_choice` reads them."""
    group = parser.add_argument_group("store of past results").add_mutually_exclusive_group()
    add_store(group)
    group.add_argument("--no-store", action="store_true", help=Rare("look up nothing there"))


def store_choice(args: argparse.Namespace) -> StoreChoice:
    """Return what ``--store`` and ``--no-store`` say."""
    return StoreChoice(args.store, unused=args.no_store)
