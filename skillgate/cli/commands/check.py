"""Check skills: one finding per line, and the gate. The commit hooks run this."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.cli.evaluation import add_evaluation, evaluate_request, publish
from skillgate.cli.options import Rare, output_format, section
from skillgate.console import deliver
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, UsageError
from skillgate.evaluation.run import evaluate, exit_code
from skillgate.report.rendering import formats_of

if TYPE_CHECKING:
    import argparse

    from skillgate.console import Console
    from skillgate.evaluation.request import EvaluateRequest
    from skillgate.report.tally import Shown

POSITION = 1
GROUP = "everyday"
FORMATS = formats_of("check")
STYLES = ("concise", "full", "grouped")


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
    parser.add_argument(
        "--stdin-filename",
        metavar="PATH",
        help=Rare("with - as the PATH: where the SKILL.md from standard input lies; its links are looked up there"),
    )
    parser.add_argument("--watch", action="store_true", help="check again whenever a file changes, until Ctrl-C")
    output = section(parser, "output")
    output.add_argument(
        "--output-style",
        metavar="STYLE",
        choices=STYLES,
        help="of text: concise (one line per finding), full (with the source) or grouped (by file)",
    )
    output.add_argument("--statistics", action="store_true", help="count the findings by rule instead of listing them")


def run(args: argparse.Namespace, session: Console) -> int:
    """Check, print, gate; with --fix, fix first; with --watch, again after each change.

    Raises:
        UsageError: an option or a path is not valid.
        IncompleteError: a depth or layer cannot run.
    """
    if not args.watch:
        return _run_once(args, session)
    _require_only_read(args)
    from skillgate.cli.watching import watch  # few runs wait for changes

    return watch(lambda: _run_once(args, session), tuple(args.paths), session)


def _run_once(args: argparse.Namespace, session: Console) -> int:
    shown = _shown(args, session)
    if args.files and "-" not in args.paths:
        from skillgate.evaluation.changed import owning_skills

        args.paths = owning_skills(args.paths, session.cwd, session.config.excluded(()))
        if not args.paths:
            session.note("none of these files belongs to a skill")  # the report is empty, but still written
    if args.diff or args.patch:
        _require_alone(args)
    elif args.unsafe_fixes and not args.fix:
        raise UsageError("--unsafe-fixes has no effect alone; add --fix, --diff or --patch")
    request = evaluate_request(args, session, command="check")
    request = request._replace(scope=request.scope._replace(of_files=args.files))
    if "-" in args.paths:
        request = _of_standard_input(args, request)
        if args.fix:
            return _print_fixed(request, session)
    elif args.stdin_filename is not None:
        raise UsageError("--stdin-filename needs - as the only PATH")
    if args.diff or args.patch:
        return _show_repairs(args, request, session)
    if args.fix:
        from skillgate.evaluation.fix import repair  # parses every skill, and writes

        repair(request, session, unsafe=args.unsafe_fixes)
    evaluation = evaluate(request, session)
    publish(evaluation, args, session, command="check", shown=shown)
    return exit_code(evaluation)


def _shown(args: argparse.Namespace, session: Console) -> Shown | None:
    """Return what text shows; None for the default.

    Raises:
        UsageError: the options go with text alone, or not together.
    """
    option = "--statistics" if args.statistics else "--output-style"
    why = _why if session.environ.get("PRE_COMMIT") and output_format(args) == "text" else None
    if not args.statistics and args.output_style is None and why is None:
        return None
    if why is None and output_format(args) != "text":
        raise UsageError(f"{option} changes only text; leave out {option}, or the other format")
    if args.statistics and args.output_style is not None:
        raise UsageError("--statistics lists no findings; leave out --output-style")
    from skillgate.report.tally import Shown

    if args.statistics:
        from skillgate.fixes.repairs import FIXES, QUOTES, UNSAFE  # loads every fix

        fixable = {rule: "--unsafe-fixes" if rule in UNSAFE else "--fix" for rule in (*FIXES, QUOTES)}
        return Shown(statistics=True, fixable=fixable)
    if args.output_style == "full" and "-" not in args.paths:  # what is on disk may be another text
        from skillgate.cli.excerpts import excerpts

        return Shown(style="full", source=excerpts(session.cwd), why=why)
    return Shown(style=args.output_style or "", why=why)


def _why(rule: str) -> str:
    """Return the first sentence of the reason for a rule; ``""`` for one that is not ours."""
    from skillgate.static.catalogue import reasons  # loads every rule

    return reasons().get(rule, "").partition(". ")[0].rstrip(".")


def _of_standard_input(args: argparse.Namespace, request: EvaluateRequest) -> EvaluateRequest:
    """Read the skill from standard input.

    Raises:
        UsageError: an option needs skills on disk.
    """
    from skillgate.evaluation.standard_input import read_standard_input

    if args.paths != ["-"]:
        raise UsageError("- is standard input; pass no other PATH with it")
    needing = {
        "--files": args.files,
        "--changed": args.changed,
        "--write-known-findings": args.write_known_findings,
        "--output html": output_format(args) == "html" or any(name == "html" for name, _ in args.output_file),
    }
    used = [option for option, value in needing.items() if value]
    if used:
        raise UsageError(f"- is standard input; leave out {', '.join(used)}")
    given = read_standard_input(args.stdin_filename)
    return request._replace(scope=request.scope._replace(given=given), use_cache=False)


def _print_fixed(request: EvaluateRequest, session: Console) -> int:
    """Print the fixed text of standard input, whatever is left to fix in it.

    Raises:
        UsageError: it is not UTF-8.
    """
    from skillgate.evaluation.fix import planned  # parses the skill

    given = request.scope.given
    before = (given.data if given else None) or b""
    changes = planned(request, session).changes
    after = next((change.after for change in changes if change.before == before), before)
    try:
        text = after.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError("standard input is not UTF-8, so nothing can be fixed") from None
    deliver(session.stdout, text)
    return EXIT_PASSED


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


def _require_only_read(args: argparse.Namespace) -> None:
    """Refuse options with --watch that write files, which would be changes, or that read no files."""
    others = {
        "-": "-" in args.paths,
        "--files": args.files,
        "--fix": args.fix,
        "--diff": args.diff,
        "--patch": args.patch,
        "--output-file": args.output_file,
        "--write-known-findings": args.write_known_findings,
    }
    used = [option for option, value in others.items() if value]
    if used:
        raise UsageError(f"--watch only shows findings; leave out {', '.join(used)}")


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
