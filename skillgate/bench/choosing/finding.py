"""Find skills by words, tags, adapter and what they completed before: what ``find`` does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from skillgate import __version__
from skillgate.bench.choosing.evidence import by_skill, of_past
from skillgate.bench.choosing.listing import list_skills
from skillgate.bench.choosing.matching import completed, fits, ranked, relevance, words_of
from skillgate.model.choosing import FoundSkills, Past
from skillgate.model.report import Tool
from skillgate.store.results import past_evaluations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillgate.bench.choosing.listing import Listed
    from skillgate.bench.choosing.matching import Wanted
    from skillgate.model.choosing import FoundSkill
    from skillgate.session import Session
    from skillgate.store.results import StoreChoice


class FindRequest(NamedTuple):
    """What is searched for, and where.

    Attributes:
        directory: where skills are searched for.
        wanted: what they must match.
        prose: whether SKILL.md files are listed too.
        store: where past evaluations are looked up.
    """

    directory: str
    wanted: Wanted
    prose: bool
    store: StoreChoice


def find(request: FindRequest, session: Session) -> tuple[FoundSkills, int]:
    """Return the skills that match, the best first, and how many prose skills were left out.

    Raises:
        UsageError: there is no such directory, or a store that was named cannot be used.
        IncompleteError: the store cannot be read.
    """
    wanted = request.wanted
    listing = list_skills(request.directory, "--skills-dir", cwd=session.cwd, prose=request.prose)
    skills = ranked(_with_history(list(matching(listing.found, wanted)), request, session))
    unknown = 0
    if wanted.min_completion is not None:
        skills, unknown = completed(skills, wanted.min_completion)
    document = FoundSkills(
        tool=Tool(version=__version__),
        skills=tuple(skills[: wanted.limit]),
        matched=len(skills),
        not_evaluated=unknown,
        not_loaded=listing.broken,
    )
    return document, listing.left_out


def matching(listed: Iterable[Listed], wanted: Wanted) -> Iterator[Listed]:
    """Yield the skills that match a query, tags and adapter, with how well they match."""
    has_words = bool(wanted.query and words_of(wanted.query))
    for one in listed:
        if not fits(one.skill, wanted):
            continue
        if not has_words:
            yield one
        elif score := relevance(one.skill, wanted.query or ""):
            yield one._replace(skill=replace(one.skill, relevance=score))


def _with_history(found: list[Listed], request: FindRequest, session: Session) -> Iterator[FoundSkill]:
    """Yield skills with what they completed when they were last evaluated."""
    known = by_skill(map(of_past, past_evaluations(request.store, session, measured=True))) if found else {}
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
