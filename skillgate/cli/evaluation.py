"""What the evaluating commands share: options, request and output."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from skillgate.cli.options import (
    Rare,
    add_allow_empty,
    add_findings,
    add_output,
    add_paths,
    add_settings,
    house_pages,
    option_values,
    output_format,
    rendered,
    request_from,
    style_of,
    whole_number,
    write_text,
)
from skillgate.evaluation.request import CertificateRequest, EvaluateRequest, ModelOptions, Scope
from skillgate.files import require_folder
from skillgate.format import Style
from skillgate.report.rendering import writer

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from skillgate.console import Console
    from skillgate.evaluation.run import Evaluation
    from skillgate.evaluation.sampled import DryRun
    from skillgate.model.documents import Comparison
    from skillgate.model.report import Report
    from skillgate.report.tally import Shown

_DAYS = 90  # as in report/certificate.py, which is loaded only where one is written
_MOST_DAYS = 3650
BADGES_HELP = "write each skill's badge as NAME.svg, and as NAME.json for shields.io"
_WITH_DIGEST = {"json", "html"}  # formats that show the configuration's digest


def add_evaluation(parser: argparse.ArgumentParser, command: str, formats: Sequence[str]) -> None:
    """Declare the options of every evaluating command."""
    add_paths(parser)
    add_settings(parser, command)
    add_allow_empty(parser)
    add_findings(parser)
    add_output(parser, formats)


def add_certificates(group: argparse._ActionsContainer) -> None:
    """Declare ``--certificate``, ``--certificate-days`` and ``--badges``."""
    group.add_argument("--certificate", metavar="FILE", help="write a certificate that `certificate verify` can check")
    group.add_argument(
        "--certificate-days",
        metavar="N",
        type=whole_number(f"a number of days from 1 to {_MOST_DAYS}", 1, _MOST_DAYS),
        help=Rare(f"validity of the certificate in days (default: {_DAYS})"),
    )
    group.add_argument("--badges", metavar="DIR", help=BADGES_HELP)


def certificate_request(args: argparse.Namespace) -> CertificateRequest:
    """Build the request from the options of :func:`add_certificates`."""
    return CertificateRequest(args.certificate, args.certificate_days, args.badges)


def evaluate_request(args: argparse.Namespace, session: Console, *, command: str) -> EvaluateRequest:
    """Build the request from the options of :func:`add_evaluation`.

    Raises:
        UsageError: an option is not valid, or its file must not be written.
    """
    require_places(args, session)
    formats = {output_format(args), *(name for name, _ in args.output_file)}
    config, paths = session.config.with_options(option_values(args)), tuple(args.paths)
    return EvaluateRequest(
        config=config,
        scope=Scope(
            paths,
            allow_empty=args.allow_empty,
            changed=args.changed,
            since=args.since,
            excluded=config.excluded(paths),
        ),
        command=command,
        merge_sarif=tuple(args.merge_sarif),
        write_known_findings=args.write_known_findings or None,  # an empty name asks for no file
        use_cache=not args.no_cache,
        digest=not formats.isdisjoint(_WITH_DIGEST),
    )


def model_options(args: argparse.Namespace) -> ModelOptions:
    """Build the request from the options of ``add_models`` and ``add_sessions`` that are not settings."""
    return request_from(ModelOptions, args, keep_answers=not args.no_cache)


def score_request(args: argparse.Namespace, session: Console) -> EvaluateRequest:
    """Build the request of a command that also has the options of models and sessions.

    Raises:
        UsageError: an option is not valid, or its file must not be written.
    """
    return evaluate_request(args, session, command="score")._replace(models=model_options(args))


def require_places(args: argparse.Namespace, session: Console) -> None:
    """Refuse formats and files that cannot be written, before anything runs.

    Raises:
        UsageError: with the first problem.
    """
    for name in {output_format(args), *(name for name, _ in args.output_file)}:
        writer("score", name)  # fail on a missing package before anything is paid for
    for _, path in args.output_file:
        require_folder(path, session.cwd)


def publish(
    evaluation: Evaluation, args: argparse.Namespace, session: Console, *, command: str, shown: Shown | None = None
) -> None:
    """Write the report to stdout and to every ``--output-file``; ``shown`` is what text on stdout shows of a check.

    Raises:
        UsageError: a file cannot be written.
    """
    seconds = evaluation.seconds if session.stdout.isatty() else None
    publish_document(
        evaluation.report, args, session, command=command, single=evaluation.single, seconds=seconds, shown=shown
    )


def publish_score(evaluation: Evaluation, args: argparse.Namespace, session: Console) -> None:
    """Write the report as :func:`publish` does, then the lift if a file is named for it.

    Raises:
        UsageError: a file cannot be written.
    """
    publish(evaluation, args, session, command="score")
    if args.benchmark_json is not None:
        from skillgate.evaluation.sampled import write_benchmark  # few runs write one

        write_benchmark(args.benchmark_json, evaluation.report, session)


def publish_estimate(estimate: DryRun, args: argparse.Namespace, session: Console) -> None:
    """Print a dry run: the JSON document if that is the format, else text."""
    session.out(estimate.document if output_format(args) == "json" else estimate.text)


def publish_document(
    document: Report | Comparison,
    args: argparse.Namespace,
    session: Console,
    *,
    command: str,
    single: bool = False,
    seconds: float | None = None,
    shown: Shown | None = None,
) -> None:
    """Write a report or comparison to every ``--output-file``, in the format of its suffix, and to stdout.

    Args:
        document: the report or comparison.
        args: with the options of ``add_output``.
        session: the run.
        command: the kind of document.
        single: whether the report is about one path that is itself a skill.
        seconds: how long the run took, shown in text; None for nothing.
        shown: what text on stdout shows of a check; None for the default.

    Raises:
        UsageError: a file cannot be written.
    """
    for name, path in args.output_file:
        text = _rendered(document, name, Style(), session, command=command, single=single)
        write_text(path, text, session)
    name = output_format(args)
    if shown is not None and name == "text":
        from skillgate.report import tally
        from skillgate.report.formats import text as terminal

        view = tally.view(cast("Report", document), shown)
        session.out(terminal.write(view, style_of(session), verbose=session.verbose, seconds=seconds))
        return
    session.out(_rendered(document, name, style_of(session), session, command=command, single=single, seconds=seconds))


def _rendered(
    document: Report | Comparison,
    name: str,
    style: Style,
    session: Console,
    *,
    command: str,
    single: bool,
    seconds: float | None = None,
) -> str:
    """Write a document in a format; a page shows the source next to findings."""
    if name == "html" and command != "compare":
        from skillgate.cli.excerpts import excerpts  # only for a page
        from skillgate.report import score
        from skillgate.report.formats import html
        from skillgate.report.skill import Context

        return html.write(score.view(cast("Report", document), context=Context(source=excerpts(session.cwd))))
    shown = _shaped(document, name, command, single=single)
    house = partial(house_pages, session)
    return rendered(shown, command, name, style, verbose=session.verbose, seconds=seconds, house=house)


def _shaped(document: Report | Comparison, name: str, command: str, *, single: bool) -> Any:  # noqa: ANN401
    """Return what a format renders: for JSON the document of the command."""
    if name != "json":
        return document
    from skillgate.report.json import document as shaped  # only this format shapes it first

    return shaped(document, command=command, single=single)
