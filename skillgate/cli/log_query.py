"""Answer one of the three queries that were published with the rubric, on SQLite or PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.cli.options import add_output, json_text, output_format, style_of, write_text
from skillgate.errors import EXIT_PASSED
from skillgate.files import require_place
from skillgate.format import Style, plural
from skillgate.invocations.querying import Answer, answer
from skillgate.report.formats import csv
from skillgate.report.formats import text as terminal
from skillgate.report.view import Row, Table, View, columns
from skillgate.store.queries import QUERIES, query_text
from skillgate.store.results import named_store

if TYPE_CHECKING:
    import argparse

    from skillgate.console import Console

DESCRIPTION = """\
QUERY is leaderboard, distribution or opportunities. It reads the view skill_invocations, with the scores of the rubric
that was used last. --sql prints its text for the store's database instead, for a shell such as psql or sqlite3. The
figures differ from the dashboard's: unrated invocations count as uses, and as Poor; there is no tier Failing; only
completion and efficiency are checked for weak areas, and one invocation is enough for one."""
_FORMATS = ("text", "csv", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the query and the output."""
    parser.add_argument("query", metavar="QUERY", choices=tuple(QUERIES), help=", ".join(QUERIES))
    parser.add_argument("--sql", action="store_true", help="print the text of the query, and read nothing")
    add_output(parser, _FORMATS)


def run(args: argparse.Namespace, session: Console) -> int:
    """Print the answer or the text of a query."""
    form, days = output_format(args), args.days
    if days is None and not args.all:
        days = session.config.get(settings.LOG_DAYS)
    target, _ = named_store(args.store, session)
    sql = query_text(args.query, postgres=target.path is None, days=days, until=args.at)
    if args.sql:
        session.out(sql)
        return EXIT_PASSED
    for _, path in args.output_file:
        require_place(path, session.cwd)
    found = answer(args.query, sql, args.store, days, session)
    for file_form, path in args.output_file:
        write_text(path, _written(found, file_form, Style()), session)
    session.out(_written(found, form, style_of(session)))
    return EXIT_PASSED


def _written(found: Answer, form: str, style: Style) -> str:
    if form == "json":
        return json_text(found.document())
    if form == "csv":
        return csv.text([found.columns, *found.rows])
    numbers = {at for row in found.rows for at, value in enumerate(row) if isinstance(value, int | float)}
    heads = columns(*(f"#{name}" if at in numbers else name for at, name in enumerate(found.columns)))
    rows = tuple(Row(tuple(map(_cell, row))) for row in found.rows)
    title = f"{found.query}: {plural(len(rows), 'row')}, rubric {found.rubric or 'unknown'}"
    return terminal.write(View(title, blocks=(Table(heads, rows),) if rows else ()), style, verbose=True)


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
