"""The options of ``log sync``, and its run as a hook of Claude Code."""
# ruff: noqa: PTH111, PTH117, PTH118 - pathlib costs start-up time

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.cli.grading_options import (
    add_grading,
    grade_endings,
    grade_request,
    new_endings,
    require_answers,
    show_cost,
)
from skillgate.cli.options import Rare, json_text, request_from
from skillgate.errors import EXIT_PASSED, SkillgateError, UsageError
from skillgate.invocations.records import ImportRequest

if TYPE_CHECKING:
    import argparse

    from skillgate.console import Console

SUMMARY = "import what is new in directories, for a job that runs every night"
DESCRIPTION = """\
DIR contains sessions of Claude Code or other recordings; without one, the directories of the setting sync are read.
Files that have not changed since the last time are not read, and files that are no recordings are skipped. A line that
is still being written waits for the next time. Nothing is printed if nothing is new, and a broken line is reported
once. With --hook, this is the command of a SessionEnd hook of Claude Code: it reads which session has ended from the
standard input, imports it in the background, prints nothing, and always exits with 0. It runs in your home directory,
so that only your own configuration applies, not that of the project."""
_MOST_INPUT = 1_000_000  # bytes of a hook's input


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("files", metavar="DIR", nargs="*", help="directories or files; put them before any option")
    parser.add_argument("--hook", action="store_true", help="import the session that a hook of Claude Code names")
    parser.add_argument(
        "--rubric",
        choices=settings.RUBRIC.choices,
        help=Rare(f"the version of the rubric (default: the configuration's, else {settings.RUBRIC.default})"),
    )
    parser.add_argument("--skill-category", metavar="NAME", help=Rare("the category of invocations that name none"))
    parser.add_argument(
        "--project",
        metavar="LABEL",
        help=Rare("store this name as the origin, instead of a digest of the files' directory"),
    )
    add_grading(parser, settings.LOG_SYNC)


def run(args: argparse.Namespace, session: Console) -> int:
    """Run the command."""
    if args.hook:
        return _run_hook()
    from skillgate.invocations.syncing import SUFFIXES, finish, sync

    require_label(args.project)
    request = request_from(
        ImportRequest,
        args,
        form="auto",
        files=tuple(args.files) or _directories(session),
        rubric=args.rubric or session.config.get(settings.RUBRIC),
        category=args.skill_category,
        keep_text=False,
        update=False,
        strict=False,
    )
    wanted = grade_request(args)
    if wanted is not None and wanted.models.dry_run:
        return show_cost(request, wanted, SUFFIXES, session)
    endings = new_endings(wanted)
    result = sync(request, session, endings)
    graded = grade_endings(endings, request, wanted, session)
    finish(result, request, session, graded.paths if graded is not None else ())
    if session.json:
        session.out(json_text({**result.document(), **({"graded": graded.document()} if graded is not None else {})}))
    elif result.is_new or result.rejected or session.verbose:
        session.out(result.line())
    if graded is not None and not session.json:
        session.out(graded.line())
    result.require_all()
    require_answers(graded)
    return EXIT_PASSED


def require_label(project: str | None) -> None:
    """Raise UsageError if a project's label is not a name."""
    from skillgate.invocations.formats._input import fit_name

    if project is not None and not fit_name(project):
        raise UsageError("--project: expected a name of at most 200 visible characters")


def _directories(session: Console) -> tuple[str, ...]:
    """Return the directories of the configuration, else the one where Claude Code stores sessions."""
    config = session.config
    named = config.get(settings.SYNC)
    if named is None:
        return (os.path.join(session.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude", "projects"),)
    return tuple(os.path.join(config.base(settings.SYNC), os.path.expanduser(one)) for one in named)


def _run_hook() -> int:
    """Import the session that a hook names, in a process that outlives Claude Code; never fail."""
    from skillgate.process import start_detached

    with suppress(AttributeError, KeyError, OSError, RecursionError, SkillgateError, TypeError, ValueError):
        # Claude Code would show an error to the user; the nightly run reports what is wrong.
        path = json.loads(sys.stdin.buffer.read(_MOST_INPUT))["transcript_path"]
        words = [word for word in sys.argv[1:] if word != "--hook"]
        if os.path.isabs(path):
            words.insert(words.index("sync", words.index("log")) + 1, path)
            home = os.path.expanduser("~")  # not the project, whose files must not decide anything
            start_detached([sys.executable, "-P", "-m", "skillgate", *words], cwd=home)
    return EXIT_PASSED
