"""Work on reports that were written before: say what differs between two, join shards, write another format."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.bench.evaluation.diffing import are_benchmarks
from skillgate.bench.evaluation.reading import KIND, kinds_of
from skillgate.cli.bench_options import add_gates
from skillgate.cli.bench_reports import (
    add_limits,
    diff_benchmarks,
    labels_of,
    limits_given,
    merge_benchmarks,
    refuse_bench_options,
)
from skillgate.cli.evaluation import add_certificates, certificate_request, publish, require_places
from skillgate.cli.options import (
    add_allow_empty,
    add_output,
    add_settings,
    asked_format,
    format_of_word,
    given_settings,
)
from skillgate.cli.parser import Rare
from skillgate.cli.rendering import rendered
from skillgate.cli.report_converting import add_convert, convert
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, UsageError
from skillgate.evaluation.diffing import DiffRequest, diff_files
from skillgate.evaluation.request import MergeRequest
from skillgate.files import require_place, write
from skillgate.report.rendering import formats_of, suffixes
from skillgate.report.terminal import Style

if TYPE_CHECKING:
    from skillgate.model.diff import Diff
    from skillgate.session import Session

GROUP = "past"
FORMATS = formats_of("diff")
_SUFFIXES = ", ".join(suffix for suffix, form in suffixes().items() if form in FORMATS)
_DIFF = "what differs between two score documents, or two benchmark reports: figures, findings, tasks"
_MORE = """\
Skills are paired by their path, then by their name where only one on each side has it. Findings are compared by rule,
file and message without its numbers, whatever line they stand on. Documents of different depth, scoring version or
models are not compared. A skill regressed where it lost its badge or more points than allowed: that is shown, and only
with --fail-on-regression is the exit code 1 then, and 3 where it could not be decided because a skill was not evaluated
in B. Benchmark reports are compared task by task, with a verdict PASS, FAIL (a golden task is broken, a task passed in
each of several runs before and fails in each now, or the completion rate fell and chance does not explain it) or
INCONCLUSIVE. With --fail-on-regression FAIL ends with 1, and INCONCLUSIVE too unless chance may explain the fall: then
--on-inconclusive decides. They may be the bare lists that an older evaluator wrote."""


_MERGE = "the shards of one run, of certify or of eval, into the report of all of it"
_MERGED = """\
The report is what one run over all skills would have given, but for durations and for how what was asked is counted.
Only all the shards of one run can be joined: same version, configuration, depth, models and skills. Gates are those of
the shards; options of the gate must be those that the shards had, and are needed only where the correction of drops for
all skills undoes a regression. --baseline REPORT makes sure that the shards were compared with that one. No skill is
read: a certificate is about the files that the shards say they scored. What one shard could not search made its own
exit code 3; a report does not hold that. The exit code is 1 where a gate failed, 3 where something was not measured.
Of shards of eval every figure is computed anew from all results, and the gates of benchmarks are asked of them."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``convert``, ``diff`` and ``merge``."""
    words = parser.add_subparsers(dest="word", required=True, metavar="convert|diff|merge")
    merging = words.add_parser("merge", help=_MERGE, description=f"Join {_MERGE}.\n\n{_MERGED}")
    merging.add_argument("shards", nargs="+", metavar="FILE", help="every shard's report, as JSON, in any order")
    add_settings(merging, settings.MERGE)
    add_allow_empty(merging)
    add_gates(merging, settings.MERGE)
    add_output(merging, formats_of("score", "bench"))
    add_certificates(merging.add_argument_group("certificate and badges of all skills"))
    comparing = words.add_parser("diff", help=_DIFF, description=f"Say {_DIFF}.\n\n{_MORE}")
    comparing.add_argument("a", metavar="A", help="the document before, a file that score wrote as JSON")
    comparing.add_argument("b", metavar="B", help="the one after")
    comparing.add_argument("others", nargs="*", help=argparse.SUPPRESS)
    comparing.add_argument("--label-a", metavar="TEXT", help=Rare("what to call A (default: its file's name)"))
    comparing.add_argument("--label-b", metavar="TEXT", help=Rare("what to call B"))
    comparing.add_argument("--fail-on-regression", action="store_true", help="exit 1 where a skill got worse")
    comparing.add_argument(
        f"--{settings.MAX_DROP.key}",
        metavar="POINTS",
        type=_points,
        help="by how many points a score may fall before it is a regression (default: as configured, else 2); fails"
        " nothing without --fail-on-regression",
    )
    comparing.add_argument(
        f"--{settings.ON_INCONCLUSIVE.key}",
        metavar="WHAT",
        choices=settings.ON_INCONCLUSIVE.choices,
        help="what a drop does that chance may explain, with --fail-on-regression: pass and warn let it pass, fail does"
        " not; point lets a score pass, and fails a benchmark whose rate fell (default: as configured, else point; for"
        " benchmarks warn, or point if a report has one run of each task)",
    )
    add_limits(comparing)
    _add_format(comparing)
    add_convert(words)


def run(args: argparse.Namespace, session: Session) -> int:
    """Compare, and write what differs to stdout or to a file; or join, and write the report."""
    if args.word == "merge":
        return _merge(args, session)
    if args.word == "convert":
        return convert(args, session)
    if args.others:
        named = ", ".join((args.a, args.b, *args.others))
        raise UsageError(f"two documents are compared, A and B; {2 + len(args.others)} were given: {named}")
    form = asked_format(args, FORMATS, _SUFFIXES)
    if args.output is not None:
        require_place(args.output, session.cwd)
    if are_benchmarks(args.a, args.b, session):
        return diff_benchmarks(args, form, session)
    if limits_given(args):
        raise UsageError(f"{limits_given(args)[0]} is for reports of benchmarks, and these are no such")
    label_a, label_b = labels_of(args)
    request = DiffRequest(
        a=args.a,
        b=args.b,
        label_a=label_a,
        label_b=label_b,
        max_drop=args.max_drop,
        gated=args.fail_on_regression,
        on_inconclusive=args.on_inconclusive,
    )
    found = diff_files(request, session)
    _publish(found, form, args.output, session)
    if found.gate.passed is False:
        return EXIT_GATE_FAILED
    return EXIT_INCOMPLETE if args.fail_on_regression and found.gate.passed is None else EXIT_PASSED


def _merge(args: argparse.Namespace, session: Session) -> int:
    if KIND in kinds_of(args.shards, session).values():
        return merge_benchmarks(args, session)
    from skillgate.evaluation.run import exit_code
    from skillgate.evaluation.shards import merge

    refuse_bench_options(args)
    require_places(args, session)
    given = given_settings(args)
    baseline = given.pop(settings.BASELINE.key, None)
    request = MergeRequest(
        tuple(args.shards),
        session.config.with_options(given),
        baseline=None if baseline is None else str(baseline),
        insisted=bool(given),
    )
    outputs = [path for _, path in args.output_file]
    evaluation = merge(request, certificate_request(args), session, outputs=outputs)
    publish(evaluation, args, session, command="score")
    return exit_code(evaluation)


def _publish(found: Diff, form: str, place: str | None, session: Session) -> None:
    """Write the diff; where it goes to a file, stderr says where, and what the gate decided."""
    if place is None:
        style = Style(width=session.width, color=session.color)
        session.out(rendered(found, "diff", form, style, verbose=session.verbose))
        return
    text = rendered(found, "diff", form, Style(), verbose=session.verbose)
    write(place, text.encode(errors="backslashreplace"), cwd=session.cwd)
    session.note(f"wrote {place}")
    for outcome in found.gate.outcomes:
        session.note(f"{outcome.gate}: {outcome.reason}")


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
        help=f"write to a file instead, in the format of its suffix ({_SUFFIXES}) unless --format names one",
    )
    # The option of the commands that evaluate, taken only to say which one is meant.
    group.add_argument("--output-file", nargs="?", const="", type=_other_option, help=argparse.SUPPRESS)


def _place(text: str) -> str:
    if text in FORMATS:
        raise argparse.ArgumentTypeError(f"takes a path; to print {text} use --format {text} (for a file: ./{text})")
    return text


def _other_option(_: str) -> str:
    raise argparse.ArgumentTypeError("is no option here; report diff takes --output PATH and --format FORMAT")


def _points(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of at least 0, found {text!r}")
    return number
