"""Work with saved reports: compare two, join shards, convert to another format."""
# ruff: noqa: PTH119

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from skillgate import settings
from skillgate.bench.publishing import rendered as rendered_bench
from skillgate.bench.reports import KIND, are_benchmarks, bench_of, data_of, is_bench, kinds_of
from skillgate.cli.bench_options import add_gates, merge_policy, named_gates
from skillgate.cli.evaluation import add_certificates, certificate_request, publish, require_places
from skillgate.cli.options import (
    Rare,
    add_allow_empty,
    add_output,
    add_settings,
    at_least_zero,
    format_of_word,
    option_values,
    output_format,
    read_number,
    rendered,
    report_format,
    request_from,
    share,
    style_of,
    suffixes_of,
    write_text,
)
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, UsageError
from skillgate.evaluation.compare import DiffRequest, diff_files
from skillgate.evaluation.request import MergeRequest
from skillgate.files import require_place
from skillgate.format import Style
from skillgate.model.check_report import CheckReport
from skillgate.model.single_report import SingleReport
from skillgate.report.check_report import report_of
from skillgate.report.json import kind_of, shaped
from skillgate.report.rendering import KINDS, formats_of, render, writer

if TYPE_CHECKING:
    from skillgate.console import Console

GROUP = "past"
FORMATS = formats_of("diff")
_SUFFIXES = suffixes_of(FORMATS)
_DIFF = "two score documents, or two benchmark reports: figures, findings, tasks"
_MORE = """\
Skills are paired by path, then by name if only one skill on each side has it. Findings are compared by rule, file
and message (without numbers), on any line. Documents with a different depth, scoring version or models are not
compared. A skill regressed if it lost its badge or more points than allowed. Regressions are always shown; with
--fail-on-regression they make the command exit with 1, or with 3 if a skill was not evaluated in B. Benchmark
reports are compared task by task, with a verdict of PASS, FAIL or INCONCLUSIVE. FAIL means that a golden task is
broken, a task that passed in each of several runs now fails in each, or the completion rate fell by more than chance
explains. With --fail-on-regression, FAIL exits with 1. INCONCLUSIVE does too, unless chance may explain the drop:
then --on-inconclusive decides. Reports of eval-skills, which are lists, are accepted."""


_MERGE = "the shards of one run of certify or eval into one report"
_MERGED = """\
The report equals that of one run over all skills, except for durations and the counts of requests. All shards of the
run are required, with the same version, configuration, depth, models and skills. The gates are those of the shards.
Gate options must match those of the shards; they are only needed if correcting drops over all skills removes a
regression. --baseline REPORT checks that the shards were compared with this report. No skill is read: a certificate
covers the files that the shards scored. A shard that could not search everything exited with 3 itself; its report
does not record that. Exits with 1 if a gate failed, and with 3 if something was not measured. For shards of eval,
every figure is computed again from all results, and the gates of benchmarks are checked."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``convert``, ``diff`` and ``merge``."""
    words = parser.add_subparsers(dest="word", required=True, metavar="convert|diff|merge")
    merging = words.add_parser("merge", help=_MERGE, description=f"Join {_MERGE}.\n\n{_MERGED}")
    merging.add_argument("shards", nargs="+", metavar="FILE", help="the JSON reports of all shards, in any order")
    add_settings(merging, settings.MERGE)
    add_allow_empty(merging)
    add_gates(merging, settings.MERGE)
    add_output(merging, formats_of("score", "bench"))
    add_certificates(merging.add_argument_group("certificate and badges of all skills"))
    comparing = words.add_parser("diff", help=_DIFF, description=f"Say {_DIFF}.\n\n{_MORE}")
    comparing.add_argument("a", metavar="A", help="the old document: a JSON file written by score")
    comparing.add_argument("b", metavar="B", help="the new document")
    comparing.add_argument("others", nargs="*", help=argparse.SUPPRESS)
    comparing.add_argument("--label-a", metavar="TEXT", help=Rare("a label for A (default: its file name)"))
    comparing.add_argument("--label-b", metavar="TEXT", help=Rare("a label for B"))
    comparing.add_argument("--fail-on-regression", action="store_true", help="exit with 1 if a skill got worse")
    comparing.add_argument(
        f"--{settings.MAX_DROP.key}",
        metavar="POINTS",
        type=at_least_zero("a number of at least 0"),
        help="how many points a score may fall before it is a regression (default: as configured, else"
        " 2); only shown without --fail-on-regression",
    )
    comparing.add_argument(
        f"--{settings.ON_INCONCLUSIVE.key}",
        metavar="WHAT",
        choices=settings.ON_INCONCLUSIVE.choices,
        help="with --fail-on-regression: what to do if chance may explain a drop. pass and warn allow it, fail does"
        " not; point allows a score to drop, and fails a benchmark whose rate fell (default: as configured, else"
        " point; for benchmarks warn, or point if a report has one run of each task)",
    )
    _add_limits(comparing)
    _add_format(comparing)
    _add_convert(words)


def run(args: argparse.Namespace, session: Console) -> int:
    """Compare and write the differences to stdout or a file, or join or convert and write the report."""
    if args.word == "merge":
        return _merge(args, session)
    if args.word == "convert":
        return _convert(args, session)
    if args.others:
        named = ", ".join((args.a, args.b, *args.others))
        raise UsageError(f"expected two documents, A and B; found {2 + len(args.others)}: {named}")
    form = report_format(args, FORMATS, _SUFFIXES)
    if args.output is not None:
        require_place(args.output, session.cwd)
    if are_benchmarks(args.a, args.b, session):
        return _diff_benchmarks(args, form, session)
    if _named_limits(args):
        raise UsageError(f"{_named_limits(args)[0]} is for benchmark reports, and these are not")
    label_a, label_b = _labels_of(args)
    request = request_from(DiffRequest, args, label_a=label_a, label_b=label_b, gated=args.fail_on_regression)
    diff = diff_files(request, session)
    _deliver(rendered(diff, "diff", form, _style(args, session), verbose=session.verbose), args.output, session)
    if args.output is not None:
        for outcome in diff.gate.outcomes:
            session.note(f"{outcome.gate}: {outcome.reason}")
    if diff.gate.passed is False:
        return EXIT_GATE_FAILED
    return EXIT_INCOMPLETE if args.fail_on_regression and diff.gate.passed is None else EXIT_PASSED


def _merge(args: argparse.Namespace, session: Console) -> int:
    if KIND in kinds_of(args.shards, session).values():
        return _merge_benchmarks(args, session)
    from skillgate.evaluation.compare import merge
    from skillgate.evaluation.run import exit_code

    _refuse_bench_options(args)
    require_places(args, session)
    values = option_values(args)
    baseline = values.pop(settings.BASELINE.key, None)
    request = MergeRequest(
        tuple(args.shards),
        session.config.with_options(values),
        baseline=None if baseline is None else str(baseline),
        insisted=bool(values),
    )
    outputs = [path for _, path in args.output_file]
    evaluation = merge(request, certificate_request(args), session, outputs=outputs)
    publish(evaluation, args, session, command="score")
    return exit_code(evaluation)


def _style(args: argparse.Namespace, session: Console) -> Style:
    return style_of(session) if args.output is None else Style()


def _deliver(text: str, place: str | None, session: Console, note: str = "") -> None:
    """Print a text, or write it to a file and note that."""
    if place is None:
        session.out(text)
    else:
        write_text(place, text, session)
        session.note(f"wrote {place}{note}")


def _add_format(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    names = ", ".join(FORMATS)
    group.add_argument(
        "--format",
        metavar="FORMAT",
        type=format_of_word(FORMATS, instead="--output"),
        help=f"print {names} (default: the suffix of --output, else text)",
    )
    group.add_argument(
        "--output",
        metavar="PATH",
        type=_place,
        help=f"write to this file, in the format of its suffix ({_SUFFIXES}) unless --format names one",
    )
    # The option of other commands, accepted only to suggest the right one.
    group.add_argument("--output-file", nargs="?", const="", type=_other_option, help=argparse.SUPPRESS)


def _place(text: str) -> str:
    if text in FORMATS:
        raise argparse.ArgumentTypeError(f"expected a path; to print {text} use --format {text} (for a file: ./{text})")
    return text


def _other_option(_: str) -> str:
    raise argparse.ArgumentTypeError("not an option here; use --output PATH and --format FORMAT")


_CHOICES = ("ignore", "warn", "fail")
_UNITS = {"ms": 1.0, "s": 1000.0}


def _add_limits(parser: argparse.ArgumentParser) -> None:
    """Declare the limits of benchmark regressions."""
    group = parser.add_argument_group("benchmark reports: what --fail-on-regression fails for")
    group.add_argument(
        "--max-completion-drop",
        metavar="SHARE",
        type=share,
        help=Rare("maximum drop of the completion rate (default: 0; a drop that chance explains is inconclusive)"),
    )
    for figure in ("partial", "composite"):
        group.add_argument(
            f"--max-{figure}-drop", metavar="SHARE", type=share, help=Rare(f"maximum drop of the {figure} score")
        )
    group.add_argument(
        "--max-p95-increase",
        metavar="SHARE|MS",
        type=_increase,
        help=Rare(
            "maximum growth of the 95th percentile of latencies: 0.25, 25%% or 200ms; growth by less"
            " than 50 ms or a quarter is noise"
        ),
    )
    for word in ("new", "removed"):
        group.add_argument(
            f"--{word}-tasks",
            choices=_CHOICES,
            help=Rare(
                f"what to do about {word} tasks; with ignore or warn, common tasks are compared even"
                " between benchmark versions"
            ),
        )
    group.add_argument(
        "--golden", metavar="ID", action="append", default=[], help=Rare("a task that must keep passing; repeatable")
    )


def _named_limits(args: argparse.Namespace) -> list[str]:
    """List the benchmark options that are used."""
    names = [f"max-{figure}-drop" for figure in ("completion", "partial", "composite")]
    names += ["max-p95-increase", "new-tasks", "removed-tasks", "golden"]
    return [f"--{name}" for name in names if vars(args)[name.replace("-", "_")] not in (None, [])]


def _merge_benchmarks(args: argparse.Namespace, session: Console) -> int:
    """Join shards of a benchmark run, write the report, and return the exit code of the whole run."""
    from skillgate.bench.reports import exit_code, merge

    _refuse_score_options(args)
    forms = [output_format(args), *(form for form, _ in args.output_file)]
    for form in forms:
        if form not in formats_of("bench"):
            raise UsageError(f"a benchmark report has no format {form}; choose {', '.join(formats_of('bench'))}")
        writer("bench", form)  # fail now if a package of a format is missing
    for _, place in args.output_file:
        require_place(place, session.cwd)
    report = merge(args.shards, merge_policy(args, session.config), session)
    for form, place in args.output_file:
        write_text(place, rendered_bench(report, form, session, style=Style()), session)
    session.out(rendered_bench(report, forms[0], session))
    return exit_code(report, allow_skipped=args.allow_skipped)


def _refuse_bench_options(args: argparse.Namespace) -> None:
    """Raise UsageError if an option is about benchmarks."""
    named = [*named_gates(args), *["allow-skipped"] * args.allow_skipped]
    if named:
        raise UsageError(f"--{named[0]} is for benchmark reports, and these are score reports")
    if output_format(args) == "csv" or any(form == "csv" for form, _ in args.output_file):
        raise UsageError("only benchmark reports can be written as CSV, and these are score reports")


def _diff_benchmarks(args: argparse.Namespace, form: str, session: Console) -> int:
    """Compare two benchmark reports, write the differences, and return the exit code."""
    from skillgate.bench.reports import DiffRequest, bench_diff
    from skillgate.bench.request import DiffPolicy

    if args.max_drop is not None:
        option = f"--{settings.MAX_DROP.key}"
        raise UsageError(f"{option} is for scores; for benchmarks use --max-completion-drop with a share such as 0.02")
    growth, ms = args.max_p95_increase or (None, None)
    completion = args.max_completion_drop or 0.0
    policy = request_from(DiffPolicy, args, max_completion_drop=completion, max_p95_share=growth, max_p95_ms=ms)
    request = DiffRequest(args.a, args.b, *_labels_of(args), policy, args.fail_on_regression, args.on_inconclusive)
    diff, code = bench_diff(request, session)
    text = render(diff, "bench-diff", form, _style(args, session), verbose=session.verbose)
    _deliver(text, args.output, session, note=f": {diff.verdict.value}")
    return code


def _labels_of(args: argparse.Namespace) -> tuple[str, str]:
    """Return the labels of both sides: the options, else file names; equal ones get their directory or a letter."""
    names = [os.path.basename(args.a) or args.a, os.path.basename(args.b) or args.b]
    if names[0] == names[1]:
        names = [args.a, args.b]
    if names[0] == names[1]:
        names = [f"{names[0]} (A)", f"{names[1]} (B)"]
    return args.label_a or names[0], args.label_b or names[1]


def _refuse_score_options(args: argparse.Namespace) -> None:
    """Raise UsageError if an option is about scores."""
    of_scores = {setting.key for setting in settings.of_group(settings.GATE)} - {settings.ON_INCONCLUSIVE.key}
    named = [key for key in option_values(args) if key in of_scores]
    written = {"certificate": args.certificate, "certificate-days": args.certificate_days, "badges": args.badges}
    named += [key for key, value in written.items() if value is not None]
    named += ["allow-empty"] * args.allow_empty
    if named:
        raise UsageError(f"--{named[0]} is for score reports, and these are benchmark reports")


def _increase(text: str) -> tuple[float | None, float | None]:
    """Read a relative growth, or milliseconds."""
    unit = next((unit for unit in ("%", "ms", "s") if text.endswith(unit)), "")
    number = read_number(text.removesuffix(unit))
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(
            f"expected a share such as 0.25 or 25%, or a time such as 200ms; found {text!r}"
        )
    if unit in _UNITS:
        return None, number * _UNITS[unit]
    if not unit and number > 10:
        raise argparse.ArgumentTypeError(f"{text!r} has no unit: write {text}ms for milliseconds, or {text}%")
    return (number / 100 if unit else number), None


_CONVERT = "a JSON report to another format"
_CONVERTED = """\
FILE is a JSON document of a kind listed below, or a report of eval-skills, which is a list: values that it
lacks are reported and left out of all figures. Nothing is measured again. Each kind of document has these formats:
{}"""


def _add_convert(words: argparse._SubParsersAction[Any]) -> None:
    """Declare ``convert``."""
    shown = "\n".join(f"  {name:18}{', '.join(formats_of(name))}" for name in KINDS)
    description = f"Write {_CONVERT}.\n\n{_CONVERTED.format(shown)}"
    parser = words.add_parser("convert", help=f"write {_CONVERT}", description=description)
    parser.add_argument("file", metavar="FILE", nargs="?", help="the report")
    parser.add_argument("--input", metavar="FILE", help="the report, as an option")
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format",
        metavar="FORMAT",
        type=format_of_word(formats_of(), instead="--output"),
        help=f"write {', '.join(formats_of())} (default: the suffix of --output, else text)",
    )
    group.add_argument("--output", metavar="PATH", help="write to this file instead of stdout")


def _convert(args: argparse.Namespace, session: Console) -> int:
    """Write the report."""
    if (args.file is None) == (args.input is None):
        raise UsageError("name one report to convert\nTry: skillgate report convert --help")
    name = args.input if args.file is None else args.file
    form = report_format(args, formats_of(), "")
    if args.output is not None:
        require_place(args.output, session.cwd)
    data = data_of(name, session)
    kind = KIND if is_bench(data) else kind_of(data) or ""
    if kind in KINDS:
        writer(kind, form)  # before a large document is read
    document = bench_of(data, name, session) if kind == KIND else shaped(data, source=name)
    if form != "json":
        document = _as_report(document, name)
    _deliver(rendered(document, kind, form, _style(args, session), verbose=session.verbose), args.output, session)
    return EXIT_PASSED


def _as_report(document: Any, shown: str) -> Any:  # noqa: ANN401 - a document of any kind
    """Return a document over one skill, or of a check, as the report that writers expect."""
    if isinstance(document, SingleReport):
        from skillgate.evaluation.compare import spread

        return spread(document, 1, ())
    if isinstance(document, CheckReport):
        return report_of(document, source=shown)
    return document
