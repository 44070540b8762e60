"""Check skills: one finding per line, and the gate. The commit hooks run this."""

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
        help=Rare("each PATH is a file: check the skill that it belongs to; files of no skill are ignored"),
    )
    parser.add_argument("--fix", action="store_true", help="fix what is safe to fix, then check")
    parser.add_argument(
        "--unsafe-fixes",
        action="store_true",
        help=Rare("with --fix, --diff or --patch: also fix what may change the meaning; each such change is shown"),
    )
    parser.add_argument("--diff", action="store_true", help="show what --fix would change; change nothing")
    parser.add_argument("--patch", metavar="FILE", help=Rare("like --diff, and write a file for git apply"))


def run(args: argparse.Namespace, session: Console) -> int:
    """Check, print, gate; with --fix, fix first.

    Raises:
        UsageError: an option or a path is not valid.
        IncompleteError: a depth or layer cannot run.
    """
    if args.files:
        from skillgate.evaluation.changed import owning_skills

        args.paths = owning_skills(args.paths, session.cwd)
        if not args.paths:
            session.note("none of these files belongs to a skill")  # the report is empty, but still written
    if args.diff or args.patch:
        _require_alone(args)
    elif args.unsafe_fixes and not args.fix:
        raise UsageError("--unsafe-fixes has no effect alone; add --fix, --diff or --patch")
    request = evaluate_request(args, session, command="check")
    request = request._replace(scope=request.scope._replace(of_files=args.files))
    if args.diff or args.patch:
        return _show_repairs(args, request, session)
    if args.fix:
        from skillgate.evaluation.fix import repair  # parses every skill, and writes

        repair(request, session, unsafe=args.unsafe_fixes)
    evaluation = evaluate(request, session)
    publish(evaluation, args, session, command="check")
    return exit_code(evaluation)


def _show_repairs(args: argparse.Namespace, request: EvaluateRequest, session: Console) -> int:
    """Print what would be fixed as a patch; return 1 if anything would change, as other formatters do.

    The printed patch has no control or hidden characters; ``--patch`` names a file for the exact one.
    """
    from skillgate.evaluation.fix import planned  # parses every skill
    from skillgate.files import require_place, write
    from skillgate.fixes import diff

    if args.patch:
        require_place(args.patch, session.cwd)
    repairs = planned(request, session, unsafe=args.unsafe_fixes)
    if args.patch:
        write(args.patch, diff(repairs.changes, terminal=False).encode(), cwd=session.cwd)
    if not repairs.changes:
        session.note("nothing to fix")
        return EXIT_PASSED if repairs.complete else EXIT_INCOMPLETE
    session.out(diff(repairs.changes, terminal=True))
    count = len(repairs.changes)
    options = "--fix --unsafe-fixes" if args.unsafe_fixes else "--fix"
    session.note(f"{count} file{'s' * (count != 1)} would change; run with {options} to change them")
    return EXIT_GATE_FAILED


def _require_alone(args: argparse.Namespace) -> None:
    """Refuse options that have no effect if only a patch is shown."""
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
        raise UsageError(f"{option} only shows a patch; leave out {', '.join(used)}")
