"""Find skills by words, tags, adapter and what they completed before.

The best match comes first; without --query, what completed most when it was last evaluated. That is the newest whole
evaluation of the skill's version in the store, else what its skill.json says of itself. With --min-completion a skill
that was never evaluated is left out, and counted. A skill that cannot be read stops no other: it is told on stderr, and
the exit code is 2. Here -q is the query; --quiet has no short form behind the command.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.cli.bench_options import add_query, count, share
from skillgate.cli.options import style_of
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
        help="completed so much of its tasks when last evaluated",
    )
    parser.add_argument(
        "--limit", metavar="N", type=count, default=_LIMIT, help=f"how many at most (default: {_LIMIT})"
    )
    parser.add_argument(
        "--prose",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="list SKILL.md files too, which a model runs (default), or programs alone",
    )
    add_looking(parser)


def run(args: argparse.Namespace, session: Console) -> int:
    """Search and list.

    Raises:
        UsageError: there is no such directory; or a skill in it is broken, after the others were listed.
    """
    from skillgate.bench.finding import FindRequest, Wanted, find

    wanted = Wanted(args.query, args.tag, args.adapter, args.min_completion, args.limit)
    document, left_out = find(FindRequest(args.skills_dir, wanted, args.prose, store_choice(args)), session)
    session.out(render(document, "find", "json" if session.json else "text", style_of(session)))
    if left_out:
        session.note(f"{left_out} prose skills (SKILL.md) were left out; --prose takes them in")
    if document.not_loaded:
        raise UsageError("\n".join(f"{one.path}: {one.reason}" for one in document.not_loaded))
    return EXIT_PASSED
