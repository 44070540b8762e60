"""The options of a selection, over what a strategy's file says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from skillgate.bench.strategy import read_strategy
from skillgate.cli.choosing_options import adapter, count, milliseconds, share
from skillgate.model.executable import AdapterType
from skillgate.model.strategy import Order, SortKey, Strategy

if TYPE_CHECKING:
    import argparse

    from skillgate.session import Session


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Declare the filters of figures; ``run`` has them as gates."""
    group = parser.add_argument_group("what a skill must have")
    group.add_argument("--min-completion", metavar="SHARE", type=share, help="the least completion rate")
    group.add_argument("--max-error-rate", metavar="SHARE", type=share, help="the largest share of errors and timeouts")
    group.add_argument("--max-p95-ms", metavar="MS", type=milliseconds, help="the largest 95th percentile of latencies")
    group.add_argument(
        "--adapter", metavar="KIND", nargs="+", action="extend", type=adapter, help="run in one of these ways"
    )
    group.add_argument(
        "--allow-skipped", action="store_true", help="select also what was not wholly measured, by what was"
    )


def add_ranking(parser: argparse.ArgumentParser, *, top_k: int | None = None) -> None:
    """Declare the strategy's file, tags, the order and how many."""
    group = parser.add_argument_group("how skills are selected")
    group.add_argument(
        "--strategy", metavar="FILE", help="filters, order and number in YAML or JSON; options hold over it"
    )
    group.add_argument("--require-tag", metavar="TAG", nargs="+", action="extend", help="has all of these tags")
    group.add_argument(
        "--sort-by",
        choices=[key.value for key in SortKey],
        help="what they are ranked by (default: compositeScore)",
    )
    group.add_argument(
        "--order", choices=[order.value for order in Order], help="smallest or largest first (default: the best)"
    )
    default = "all that pass" if top_k is None else top_k
    group.add_argument("--top-k", metavar="N", type=count, help=f"how many are selected at most (default: {default})")


def strategy_of(args: argparse.Namespace, session: Session) -> Strategy:
    """Put together what a file and the options say.

    Raises:
        UsageError: the file is not valid.
    """
    base = Strategy() if args.strategy is None else read_strategy(args.strategy, cwd=session.cwd)
    given = {
        "min_completion_rate": args.min_completion,
        "max_error_rate": args.max_error_rate,
        "max_latency_p95_ms": args.max_p95_ms,
        "required_tags": None if args.require_tag is None else tuple(args.require_tag),
    }
    kinds = args.adapter if isinstance(args.adapter, list) else None  # of run it is one word, and narrows the search
    if kinds is not None:
        given["adapter_types"] = tuple(AdapterType(word) for word in kinds)
    filters = replace(base.filters, **{name: value for name, value in given.items() if value is not None})
    return replace(
        base,
        filters=filters,
        sort_by=base.sort_by if args.sort_by is None else SortKey(args.sort_by),
        order=base.order if args.order is None else Order(args.order),
        top_k=base.top_k if args.top_k is None else args.top_k,
    )
