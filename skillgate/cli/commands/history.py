"""Past results: list the contents of a store, compare them over time, import reports.

Runs are listed newest first. --trend shows a line for each skill on each benchmark, and whether the change is larger
than chance: rising or falling over five or more runs, higher or lower than the run before. Runs with different
benchmark content, scorers, filters or models are never on one line. `history import` imports JSON reports of eval,
score and certify, and the reports and the SQLite database of eval-skills; what is already stored is skipped.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from skillgate.cli.options import json_text, request_from, style_of, whole_number
from skillgate.cli.store_options import add_store, past, time_of
from skillgate.errors import EXIT_PASSED, UsageError
from skillgate.report.rendering import render

if TYPE_CHECKING:
    from skillgate.console import Console

GROUP = "past"
_KINDS = ("bench", "score")
_LIMIT = 20
_IMPORT = "import reports of eval, score and certify, and reports and databases of eval-skills"
_IMPORTS = """\
The content of a file decides what it is. Results that are already stored are skipped, wherever they came from: an
evaluation by eval-skills may be in its report and in its database. What is unreadable is skipped too; all problems are
listed at the end, with exit code 2."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the filters, and ``import``."""
    add_store(parser)
    parser.add_argument("--skill", metavar="ID", help="only this skill: an id; for scores a name or a path")
    parser.add_argument("--benchmark", metavar="ID", help="only this benchmark")
    parser.add_argument("--kind", choices=_KINDS, help="only results of benchmarks, or only scores (default: both)")
    parser.add_argument(
        "--limit",
        metavar="N",
        type=whole_number("a whole number of at least 1", 1, 999_999_999),
        help=f"how many of each kind, newest first (default: {_LIMIT})",
    )
    parser.add_argument(
        "--since", metavar="DATE|30d", type=past, help="only results since this day (UTC), or of the last 12h, 30d, 8w"
    )
    parser.add_argument("--trend", action="store_true", help="compare over time")
    words = parser.add_subparsers(dest="word", metavar="[import]")
    importing = words.add_parser("import", help=_IMPORT, description=f"I{_IMPORT[1:]}.\n\n{_IMPORTS}")
    importing.add_argument("files", metavar="FILE", nargs="+", help="JSON reports, or databases of eval-skills")
    add_store(importing, default=argparse.SUPPRESS)
    importing.add_argument(
        "--at", metavar="TIME", type=time_of, help="when the scores were made, in ISO 8601 (default: now)"
    )
    importing.add_argument("--commit", metavar="SHA", help="the commit that was evaluated")
    importing.add_argument("--branch", metavar="NAME", help="the branch that was evaluated")


def run(args: argparse.Namespace, session: Console) -> int:
    """List, compare or import."""
    if args.word == "import":
        return _import(args, session)
    from skillgate.evaluation.baseline import HistoryRequest, history

    request = request_from(HistoryRequest, args, limit=args.limit if args.trend else args.limit or _LIMIT)
    found = history(request, session)
    style = style_of(session)
    session.out(render(found, "history", "json" if session.json else "text", style))
    return EXIT_PASSED


def _import(args: argparse.Namespace, session: Console) -> int:
    """Import reports."""
    from skillgate.bench.past.importing import HistoryImportRequest, import_reports

    done = import_reports(request_from(HistoryImportRequest, args), session)
    session.out(json_text(done.document()) if session.json else done.line())
    if done.problems:
        raise UsageError("\n".join(done.problems))
    return EXIT_PASSED
