"""Past results: list what a store holds, compare it over time, take reports in.

Runs are listed with the newest first. --trend draws a line for each skill on each benchmark and says whether it changed
by more than chance: rising or falling over five runs or more, higher or lower than the run before. Benchmarks of
another content, other scorers, filters or models never stand in one line. `history import` takes in JSON reports of
eval, score and certify; one that is there already is passed over.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from skillgate.cli.options import style_of
from skillgate.cli.store_options import add_store, past, time_of
from skillgate.errors import EXIT_PASSED, UsageError
from skillgate.report.rendering import render

if TYPE_CHECKING:
    from skillgate.console import Console

GROUP = "past"
_KINDS = ("bench", "score")
_LIMIT = 20
_IMPORT = "take JSON reports of eval, score and certify into the store"
_IMPORTS = """\
A report that is in the store already is passed over, wherever it came from. One that cannot be read stops no other:
all problems are told at the end, with exit code 2."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the filters, and ``import``."""
    add_store(parser)
    parser.add_argument("--skill", metavar="ID", help="of this skill alone: an id, for scores a name or a path")
    parser.add_argument("--benchmark", metavar="ID", help="on this benchmark alone")
    parser.add_argument("--kind", choices=_KINDS, help="results of benchmarks, or scores (default: both)")
    parser.add_argument(
        "--limit", metavar="N", type=_whole, help=f"how many of each kind, the newest (default: {_LIMIT})"
    )
    parser.add_argument(
        "--since", metavar="DATE|30d", type=past, help="from a day on (UTC), or of the last 12h, 30d, 8w"
    )
    parser.add_argument("--trend", action="store_true", help="compare over time")
    words = parser.add_subparsers(dest="word", metavar="[import]")
    importing = words.add_parser("import", help=_IMPORT, description=f"T{_IMPORT[1:]}.\n\n{_IMPORTS}")
    importing.add_argument("files", metavar="FILE", nargs="+", help="JSON reports")
    add_store(importing, default=argparse.SUPPRESS)
    importing.add_argument(
        "--at", metavar="TIME", type=time_of, help="when scores were made (default: now), in ISO 8601"
    )
    importing.add_argument("--commit", metavar="SHA", help="what was evaluated")
    importing.add_argument("--branch", metavar="NAME", help="likewise")


def run(args: argparse.Namespace, session: Console) -> int:
    """List, compare or import."""
    if args.word == "import":
        return _import(args, session)
    from skillgate.evaluation.baseline import HistoryRequest, history

    request = HistoryRequest(
        store=args.store,
        skill=args.skill,
        benchmark=args.benchmark,
        kind=args.kind,
        limit=args.limit if args.trend else args.limit or _LIMIT,
        since=args.since,
        trend=args.trend,
    )
    found = history(request, session)
    style = style_of(session)
    session.out(render(found, "history", "json" if session.json else "text", style))
    return EXIT_PASSED


def _import(args: argparse.Namespace, session: Console) -> int:
    """Take reports in."""
    from skillgate.evaluation.baseline import HistoryImportRequest, import_reports

    request = HistoryImportRequest(args.store, tuple(args.files), args.commit, args.branch, args.at)
    done = import_reports(request, session)
    session.out(json.dumps(done.document(), indent=2, ensure_ascii=False) if session.json else done.line())
    if done.problems:
        raise UsageError("\n".join(done.problems))
    return EXIT_PASSED


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text[:9]) > 0):
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, found {text!r}")
    return int(text[:9])
