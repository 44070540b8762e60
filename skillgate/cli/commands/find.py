"""Find skills by words, tags, adapter and what they completed before.

The best match comes first; without --query, what completed most when it was last evaluated. That is the newest whole
evaluation of the skill's version in the store, else what its skill.json says of itself. With --min-completion a skill
that was never evaluated is left out, and counted. A skill that cannot be read stops no other: it is told on stderr, and
the exit code is 2. Here -q is the query; --quiet has no short form behind the command.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from skillgate import __version__
from skillgate.cli.choosing_options import add_looking, add_query, count, past_evidence, share
from skillgate.errors import EXIT_PASSED, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.bench.finding import Wanted
    from skillgate.bench.listing import Listed
    from skillgate.model.choosing import FoundSkill
    from skillgate.session import Session

GROUP = "programs"
_LIMIT = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_query(parser)
    parser.add_argument(
        "--min-completion", metavar="SHARE", type=share, help="completed so much of its tasks when last evaluated"
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


def run(args: argparse.Namespace, session: Session) -> int:
    """Search and list.

    Raises:
        UsageError: there is no such directory; or a skill in it is broken, after the others were listed.
    """
    from skillgate.bench.finding import Wanted, completed, ranked
    from skillgate.bench.listing import list_skills
    from skillgate.model.choosing import FoundSkills
    from skillgate.model.report import Tool

    wanted = Wanted(args.query, args.tag, args.adapter, args.min_completion, args.limit)
    listing = list_skills(args.skills_dir, "--skills-dir", cwd=session.cwd, prose=args.prose)
    found = list(matching(listing.found, wanted))
    skills = ranked(_with_history(found, args, session))
    unknown = 0
    if wanted.min_completion is not None:
        skills, unknown = completed(skills, wanted.min_completion)
    document = FoundSkills(
        tool=Tool(version=__version__),
        skills=tuple(skills[: args.limit]),
        matched=len(skills),
        not_evaluated=unknown,
        not_loaded=listing.broken,
    )
    if session.json:
        from skillgate.report.json import render as as_json

        session.out(as_json(document))
    else:
        from skillgate.report.choosing_text import found_text
        from skillgate.report.terminal import Style

        session.out(found_text(document, Style(width=session.width, color=session.color)))
    if listing.left_out:
        session.note(f"{listing.left_out} prose skills (SKILL.md) were left out; --prose takes them in")
    if listing.broken:
        raise UsageError("\n".join(f"{one.path}: {one.reason}" for one in listing.broken))
    return EXIT_PASSED


def matching(listed: tuple[Listed, ...], wanted: Wanted) -> Iterator[Listed]:
    """Give the skills that match a query, tags and adapter, with how well they match."""
    from skillgate.bench.finding import fits, relevance, words_of

    asked = bool(wanted.query and words_of(wanted.query))
    for one in listed:
        if not fits(one.skill, wanted):
            continue
        if not asked:
            yield one
        elif score := relevance(one.skill, wanted.query or ""):
            yield one._replace(skill=replace(one.skill, relevance=score))


def _with_history(found: list[Listed], args: argparse.Namespace, session: Session) -> Iterator[FoundSkill]:
    from skillgate.bench.evidence import by_skill
    from skillgate.model.choosing import Past

    known = by_skill(past_evidence(args, session, measured=True)) if found else {}
    for one in found:
        some = known.get(one.skill.id, [])
        version = one.version() if some else None
        past = next((past for past in some if past.skill_version == version), None)
        completion = one.own
        if past is not None and past.figures.completion_rate is not None:
            completion = Past(
                completion_rate=past.figures.completion_rate,
                source="store",
                benchmark_id=past.benchmark_id,
                measured_at=past.at,
            )
        yield replace(one.skill, completion=completion)
