"""Find skills by words, tags, adapter and completion rate.

The best match comes first; without --query, the highest completion rate. The rate is from the newest complete
evaluation of the skill's version in the store, else the self-reported one in its skill.json. With --min-completion,
skills that were never evaluated are left out and counted. Unreadable skills are reported on stderr and skipped, and the
exit code is 2. After the command, -q is the query; --quiet has no short form there.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.cli.bench_options import add_query, count
from skillgate.cli.options import share, style_of
from skillgate.cli.store_options import add_looking, store_choice
from skillgate.errors import EXIT_PASSED, UsageError
from skillgate.report.rendering import render

if TYPE_CHECKING:
    from skillgate.console import Console

GROUP = "programs"
_LIMIT = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_query(parser)
    parser.add_argument(
        f"--{settings.MIN_COMPLETION.key}",
        metavar="SHARE",
        type=share,
        help="minimum share of tasks completed in the last evaluation",
    )
    parser.add_argument(
        "--limit", metavar="N", type=count, default=_LIMIT, help=f"maximum number of skills (default: {_LIMIT})"
    )
    parser.add_argument(
        "--prose",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="list SKILL.md files too, which a model runs (default), or only programs",
    )
    add_looking(parser)


def run(args: argparse.Namespace, session: Console) -> int:
    """Search and list.

    Raises:
        UsageError: there is no such directory; or, after the list, a skill in it is broken.
    """
    from skillgate.bench.finding import FindRequest, Wanted, find

    wanted = Wanted(args.query, args.tag, args.adapter, args.min_completion, args.limit)
    document, left_out = find(FindRequest(args.skills_dir, wanted, args.prose, store_choice(args)), session)
    session.out(render(document, "find", "json" if session.json else "text", style_of(session)))
    if left_out:
        session.note(f"{left_out} prose skills (SKILL.md) were left out; use --prose to include them")
    if document.not_loaded:
        raise UsageError("\n".join(f"{one.path}: {one.reason}" for one in document.not_loaded))
    return EXIT_PASSED
