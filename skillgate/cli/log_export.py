"""Write recorded invocations with their scores as CSV or Parquet."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from typing import TYPE_CHECKING

from skillgate.cli.options import json_text
from skillgate.console import deliver
from skillgate.errors import EXIT_PASSED, UsageError
from skillgate.files import streamed
from skillgate.format import plural

if TYPE_CHECKING:
    from skillgate.console import Console
    from skillgate.invocations.records import Selection

DESCRIPTION = """\
There is a row for each invocation, with all stored fields and its score by one rubric. What was not observed is an
empty cell or null. Without --output-file, CSV is printed. In CSV, a text that a spreadsheet would take for a formula
begins with an apostrophe, and invisible characters are escaped. Parquet has the texts unchanged, and needs the extra
parquet."""
_SUFFIXES = {".csv": "csv", ".parquet": "parquet"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the files."""
    parser.add_argument(
        "--output-file",
        metavar="PATH",
        action="append",
        default=[],
        type=_file,
        help="write a file ending in .csv or .parquet instead; repeatable",
    )


def _file(text: str) -> tuple[str, str]:
    for suffix, form in _SUFFIXES.items():
        if text.lower().endswith(suffix):
            return form, text
    raise argparse.ArgumentTypeError(f"expected a file ending in {' or '.join(_SUFFIXES)}, found {text!r}")


class _Stdout:
    def __init__(self, session: Console) -> None:
        self._stream = session.stdout

    def write(self, data: bytes) -> None:
        deliver(self._stream, data.decode())


def run(args: argparse.Namespace, selection: Selection, session: Console) -> int:
    """Export to files, or to stdout."""
    from skillgate.invocations.exporting import Sink, export, require_writers

    if session.json and not args.output_file:
        raise UsageError("--json needs --output-file; without it CSV is printed")
    require_writers(form for form, _ in args.output_file)
    with ExitStack() as stack:
        sinks: list[tuple[str, Sink]] = [
            (form, stack.enter_context(streamed(path, cwd=session.cwd))) for form, path in args.output_file
        ]
        done = export(selection, sinks or [("csv", _Stdout(session))], session)
    rubric, paths = selection.rubric, [path for _, path in args.output_file]
    if session.json:
        document = {"kind": "log-export", **done._asdict(), "rubric_version": rubric, "files": paths}
        session.out(json_text(document))
    elif paths:
        session.out(f"{plural(done.rows, 'invocation')}, rubric {rubric}: {', '.join(paths)}")
    if done.unscored:
        session.note(f"{done.unscored:,} of them are not scored by rubric {rubric}; use skillgate log rescore")
    if not done.rows and selection.days is not None:
        session.note(f"no recorded invocation in the last {selection.days:,} days; use --all to export all")
    return EXIT_PASSED
