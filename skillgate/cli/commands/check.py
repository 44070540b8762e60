"""Check skills: findings, one a line, and the gate. What the commit hooks run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.cli.evaluation import add_evaluation, evaluate, exit_code, publish
from skillgate.report.kinds import formats_of

if TYPE_CHECKING:
    import argparse

    from skillgate.session import Session

GROUP = "everyday"
FORMATS = formats_of("check")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare paths, depth, gate and output."""
    add_evaluation(parser, FORMATS)
    parser.add_argument(
        "--files",
        action="store_true",
        help="each PATH is a file: check the skill it belongs to, pass over what belongs to none",
    )
    parser.add_argument("--fix", action="store_true", help="repair what is safe to repair, then check")
    parser.add_argument("--diff", action="store_true", help="show what --fix would do, and change nothing")
    parser.add_argument("--patch", metavar="FILE", help="as --diff, and write it to a file for git apply")


def run(args: argparse.Namespace, session: Session) -> int:
    """Check, print, gate; before that, where asked, repair.

    Raises:
        UsageError: an option or a path is not valid.
        IncompleteError: what was asked for cannot run.
    """
    if args.files:
        from skillgate.evaluate.changed import owning_skills

        args.paths = owning_skills(args.paths, session.cwd)
        if not args.paths:
            session.note("no file of a skill among them")  # the report is empty, and still goes where it is expected
    if args.fix or args.diff or args.patch:
        from skillgate.evaluate import fixing  # parses every skill, and writes

        if args.diff or args.patch:
            return fixing.show(args, session)
        fixing.repair(args, session)
    evaluation = evaluate(args, session, command="check")
    publish(evaluation, args, session, command="check")
    return exit_code(evaluation)
