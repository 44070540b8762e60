"""Writes a report again in another format, for ``report convert``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.bench.evaluation.reading import KIND, bench_of, data_of, is_bench
from skillgate.cli.options import asked_format, format_of_word
from skillgate.cli.rendering import rendered
from skillgate.errors import EXIT_PASSED, UsageError
from skillgate.files import require_place, write
from skillgate.model.documents import CheckReport, SingleReport
from skillgate.report.check_report import report_of
from skillgate.report.json import kind_of, shaped
from skillgate.report.kinds import KINDS
from skillgate.report.rendering import formats_of, writer
from skillgate.report.terminal import Style

if TYPE_CHECKING:
    import argparse

    from skillgate.session import Session

WHAT = "a report that was written as JSON, in another format"
_MORE = """\
FILE is a JSON document of a kind below; also the bare list of reports that an older evaluator wrote: what it does not
say is told, and stands in no figure. Nothing is measured again. A format that cannot show a document is refused, with
the formats that can:

{}"""


def add_convert(words: argparse._SubParsersAction[Any]) -> None:
    """Declare ``convert``."""
    shown = "\n".join(f"  {name:18}{', '.join(formats_of(name))}" for name in KINDS)
    description = f"Write {WHAT}.\n\n{_MORE.format(shown)}"
    parser = words.add_parser("convert", help=f"write {WHAT}", description=description)
    parser.add_argument("file", metavar="FILE", nargs="?", help="the report")
    parser.add_argument("--input", metavar="FILE", help="the report, as an option")
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format",
        metavar="FORMAT",
        type=format_of_word(formats_of(), instead="--output"),
        help=f"write {', '.join(formats_of())} (default: the suffix of --output, else text)",
    )
    group.add_argument("--output", metavar="PATH", help="write to a file and not to stdout")


def convert(args: argparse.Namespace, session: Session) -> int:
    """Write the report.

    Raises:
        UsageError: the file is no report, or its kind has no such format.
    """
    if (args.file is None) == (args.input is None):
        raise UsageError("one report is converted: name its file, once\nTry: skillgate report convert --help")
    name = args.input if args.file is None else args.file
    form = asked_format(args, formats_of(), "")
    if args.output is not None:
        require_place(args.output, session.cwd)
    data = data_of(name, session)
    style = Style(width=session.width, color=session.color) if args.output is None else Style()
    text = _rendered(data, form, name, style, session)
    if args.output is None:
        session.out(text)
    else:
        write(args.output, text.encode(errors="backslashreplace"), cwd=session.cwd)
        session.note(f"wrote {args.output}")
    return EXIT_PASSED


def _rendered(data: Any, form: str, shown: str, style: Style, session: Session) -> str:  # noqa: ANN401 - JSON
    kind = KIND if is_bench(data) else kind_of(data) or ""
    if kind in KINDS:
        writer(kind, form)  # before a large document is read
    document = bench_of(data, shown, session) if kind == KIND else shaped(data, source=shown)
    if form != "json":
        document = _as_report(document, shown)
    return rendered(document, kind, form, style, verbose=session.verbose)


def _as_report(document: Any, shown: str) -> Any:  # noqa: ANN401 - a document of any kind
    """Return a document over one skill, or of a check, as the report over several that writers know."""
    if isinstance(document, SingleReport):
        from skillgate.evaluation.shards import spread

        return spread(document, 1, ())
    if isinstance(document, CheckReport):
        return report_of(document, source=shown)
    return document
