"""Check skills: findings, one a line, and the gate. What the commit hooks run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.cli.evaluation import add_evaluation, evaluate_request, publish
from skillgate.cli.options import Rare
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, UsageError
from skillgate.evaluation.run import evaluate, exit_code
from skillgate.report.rendering import formats_of

if TYPE_CHECKING:
    import argparse

    from skillgate.console import Console
    from skillgate.evaluation.request import EvaluateRequest

GROUP = "everyday"
FORMATS = formats_of("check")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare paths, depth, gate and output."""
    add_evaluation(parser, settings.CHECK, FORMATS)
    parser.add_argument(
        "--files",
        action="store_true",
        help=Rare("each PATH is a file: check the skill it belongs to, pass over what belongs to none"),
    )
    parser.add_argument("--fix", action="store_true", help="repair what is safe to repair, then check")
    parser.add_argument("--diff", action="store_true", help="show what --fix would do, and change nothing")
    parser.add_argument("--patch", metavar="FILE", help=Rare("as --diff, and write it to a file for git apply"))


def run(args: argparse.Namespace, session: Console) -> int:
    """Check, print, gate; before that, with --fix, repair.

    Raises:
        UsageError: an option or a path is not valid.
        IncompleteError: a depth or layer cannot run.
    """
    if args.files:
        from skillgate.evaluation.changed import owning_skills

        args.paths = owning_skills(args.paths, session.cwd)
        if not args.paths:
            session.note("no file of a skill among them")  # the report is empty, and still goes where it is expected
    if args.diff or args.patch:
        _require_alone(args)
    request = evaluate_request(args, session, command="check")
    request = request._replace(scope=request.scope._replace(of_files=args.files))
    if args.diff or args.patch:
        return _show_repairs(args, request, session)
    if args.fix:
        from skillgate.evaluation.fix import repair  # parses every skill, and writes

        repair(request, session)
    evaluation = evaluate(request, session)
    publish(evaluation, args, session, command="check")
    return exit_code(evaluation)


def _show_repairs(args: argparse.Namespace, request: EvaluateRequest, session: Console) -> int:
    """Print what would be repaired, as a patch to read; 1 where there is something, as other formatters say it.

    What is printed holds no control or hidden character. ``--patch`` names a file for the exact one.
    """
    from skillgate.evaluation.fix import planned  # parses every skill
    from skillgate.files import require_place, write
    from skillgate.fixes import diff

    if args.patch:
        require_place(args.patch, session.cwd)
    repairs = planned(request, session)
    if args.patch:
        write(args.patch, diff(repairs.changes, terminal=False).encode(), cwd=session.cwd)
    if not repairs.changes:
        session.note("nothing to repair")
        return EXIT_PASSED if repairs.complete else EXIT_INCOMPLETE
    session.out(diff(repairs.changes, terminal=True))
    count = len(repairs.changes)
    session.note(f"{count} file{'s' * (count != 1)} would change; --fix changes them")
    return EXIT_GATE_FAILED


def _require_alone(args: argparse.Namespace) -> None:
    """Refuse options that mean nothing where only a patch is shown."""
    others = {
        "--fix": args.fix,
        "--output": args.output,
        "--json": args.json,
        "--output-file": args.output_file,
        "--write-known-findings": args.write_known_findings,
    }
    used = [option for option, value in others.items() if value]
    if used:
        option = "--patch" if args.patch else "--diff"
        raise UsageError(f"{option} shows a patch and does nothing else: leave out {', '.join(used)}")
