"""Writes a report again in another format, for ``report convert``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.cli.bench_publishing import SUFFIXES
from skillgate.cli.bench_publishing import rendered as rendered_bench
from skillgate.cli.bench_reading import bench_of, data_of, is_bench
from skillgate.cli.options import asked_format, format_of_word
from skillgate.cli.writing import require_place, write
from skillgate.errors import EXIT_PASSED, CodecError, UsageError
from skillgate.registry import Room
from skillgate.report.json import kind_of, shaped
from skillgate.report.terminal import Style

if TYPE_CHECKING:
    import argparse

    from skillgate.cli.session import Session

WHAT = "a report that was written as JSON, in another format"
_MORE = """\
FILE is a report of a benchmark run, what differs between two, or a document of scores; also the bare list of reports
that an older evaluator wrote: what it does not say is told, and stands in no figure. Nothing is measured again."""
FORMATS = ("text", "json", "markdown", "html", "csv", "junit", "sarif", "github", "gitlab")
_RENDERERS = Room("skillgate.report")
_BENCH = ("text", *SUFFIXES)
_BENCH_DIFF = ("text", "json", "markdown", "html")


def add_convert(words: argparse._SubParsersAction[Any]) -> None:
    """Declare ``convert``."""
    parser = words.add_parser("convert", help=f"write {WHAT}", description=f"Write {WHAT}.\n\n{_MORE}")
    parser.add_argument("file", metavar="FILE", nargs="?", help="the report")
    parser.add_argument("--input", metavar="FILE", help="the report, as an option")
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format",
        metavar="FORMAT",
        type=format_of_word(FORMATS, instead="--output"),
        help=f"write {', '.join(FORMATS)} (default: the suffix of --output, else text)",
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
    form = asked_format(args, FORMATS, "")
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
    kind = kind_of(data)
    if is_bench(data):
        _require(form, _BENCH, "a report of benchmarks")
        return rendered_bench(bench_of(data, shown, session), form, session, style=style)
    if kind == "bench-diff":
        from skillgate.cli.bench_diffing import rendered_diff
        from skillgate.model.bench_diff import BenchDiff
        from skillgate.model.codec import decode

        _require(form, _BENCH_DIFF, "a diff of benchmarks")
        try:
            found = decode(BenchDiff, data)
        except CodecError as error:
            raise UsageError(f"{shown} is not a diff of benchmark reports: {error}") from None
        return rendered_diff(found, form, style, verbose=session.verbose)
    return _scores(shaped(data, source=shown), str(kind), form, style, session)


def _scores(document: Any, kind: str, form: str, style: Style, session: Session) -> str:  # noqa: ANN401 - a union
    """Render a document of scores, whose renderers know reports over several skills."""
    from skillgate.cli.shards import spread
    from skillgate.model.documents import SingleReport

    if not _has(form, kind):
        names = ", ".join(name for name in FORMATS if _has(name, kind))
        raise UsageError(f"a document of kind {kind} is not written as {form}; it is as {names}")
    if form == "json":
        text: str = _RENDERERS.load("json").render(document)
        return text
    renderer = _RENDERERS.load(form).RENDERERS[kind]
    if isinstance(document, SingleReport):
        document = spread(document, 1, ())
    if form == "text":
        text = renderer(document, style, verbose=session.verbose)
    elif form == "sarif":
        from skillgate.static.catalogue import pages

        text = renderer(document, pages())
    else:
        text = renderer(document)
    return text


def _has(form: str, kind: str) -> bool:
    """Tell whether a kind has a format; a document of findings holds no skills, which all but JSON are about."""
    return form == "json" or (form != "csv" and kind != "check" and kind in _RENDERERS.load(form).RENDERERS)


def _require(form: str, known: tuple[str, ...], what: str) -> None:
    if form not in known:
        raise UsageError(f"{what} is not written as {form}; it is as {', '.join(known)}")
