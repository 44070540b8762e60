"""One shard of a benchmark run: the option for it, and the gates, which are asked of all shards together alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.cli.shard_word import shard_of_word
from skillgate.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from skillgate.model.setting import Value

GATES = ("min-completion", "min-partial", "min-composite", "max-error-rate", "max-p95-ms")
"""The settings that are gates."""


def add_shard(parser: argparse.ArgumentParser) -> None:
    """Declare that one of several shards is run."""
    parser.add_argument(
        "--shard",
        metavar="I/N",
        type=shard_of_word,
        help="run the I-th of N parts of the tasks alone; report merge joins the reports, and asks the gates",
    )


def gates_given(args: argparse.Namespace) -> dict[str, Value]:
    """Give the gates that options ask for, by the option's name without its dashes."""
    found = {key: getattr(args, key.replace("-", "_"), None) for key in GATES}
    given = {key: value for key, value in found.items() if value is not None}
    if args.exit_on_fail:
        given["exit-on-fail"] = True
    return {**given, "require-task": tuple(args.require_task)} if args.require_task else given


def shard_asked(args: argparse.Namespace) -> tuple[int, int] | None:
    """Give the shard that an option asks for.

    Raises:
        UsageError: a gate is asked of it.
    """
    shard: tuple[int, int] | None = getattr(args, "shard", None)
    named = next(iter(gates_given(args)), None) if shard is not None else None
    if named is not None:
        raise UsageError(f"--{named} is asked of all results and not of one shard: give it to skillgate report merge")
    return shard
