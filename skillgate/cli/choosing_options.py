"""The options of the commands that find and select skills."""

from __future__ import annotations

import argparse

from skillgate import settings
from skillgate.cli.parser import Rare
from skillgate.model.executable import AdapterType
from skillgate.model.strategy import Order, SortKey
from skillgate.model.text import did_you_mean

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


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Declare the filters of figures; ``run`` has them as gates."""
    group = parser.add_argument_group("what a skill must have")
    group.add_argument(
        f"--{settings.MIN_COMPLETION.key}", metavar="SHARE", type=share, help="the least completion rate"
    )
    group.add_argument(
        f"--{settings.MAX_ERROR_RATE.key}", metavar="SHARE", type=share, help="the largest share of errors and timeouts"
    )
    group.add_argument(
        f"--{settings.MAX_P95_MS.key}", metavar="MS", type=milliseconds, help="the largest 95th percentile of latencies"
    )
    group.add_argument(
        "--adapter", metavar="KIND", nargs="+", action="extend", type=adapter, help="run in one of these ways"
    )
    group.add_argument(
        "--allow-skipped", action="store_true", help=Rare("select also what was not wholly measured, by what was")
    )


def add_ranking(parser: argparse.ArgumentParser, *, top_k: int | None = None) -> None:
    """Declare the strategy's file, tags, the order and how many."""
    group = parser.add_argument_group("how skills are selected")
    group.add_argument(
        "--strategy", metavar="FILE", help="filters, order and number in YAML or JSON; options hold over it"
    )
    group.add_argument("--require-tag", metavar="TAG", nargs="+", action="extend", help=Rare("has all of these tags"))
    group.add_argument(
        "--sort-by",
        choices=[key.value for key in SortKey],
        help="what they are ranked by (default: compositeScore)",
    )
    group.add_argument(
        "--order", choices=[order.value for order in Order], help=Rare("smallest or largest first (default: the best)")
    )
    default = "all that pass" if top_k is None else top_k
    group.add_argument("--top-k", metavar="N", type=count, help=f"how many are selected at most (default: {default})")


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
