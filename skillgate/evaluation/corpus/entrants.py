"""From skills to members of a corpus: what is kept of each, and what a new search makes of an index."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.evaluation.corpus.stored import content_digest
from skillgate.judge.gathering import gather, inside
from skillgate.model.corpus import CorpusIndex, Indexed, PageText, SkillText
from skillgate.ranking.entrant import MEDIAN, Entrant, Text
from skillgate.skill.parse import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from skillgate.model.skill import Skill, SkillSource


class Candidate(NamedTuple):
    """A skill that was found and may become a member; fields as of :class:`~skillgate.model.corpus.Indexed`."""

    entrant: Entrant
    path: str
    origin: str
    composite: float | None
    badge: str | None


class Built(NamedTuple):
    """An index after a search.

    Attributes:
        corpus: members and those that have left; ratings are as they were.
        added: how many are new; one that left and is back has its rating and matches again.
        kept: how many of those found were members already.
        changed: how many stand where another text stood.
        dropped: how many are no members any more, those that changed apart.
        doubles: how many were found with the text of one that was found before.
    """

    corpus: CorpusIndex
    added: int
    kept: int
    changed: int
    dropped: int
    doubles: int


def entrant_of(source: SkillSource) -> Entrant | None:
    """Return a skill as it takes part in matches; None where there is nothing to score."""
    skill = parse(source)
    if skill.unscored is not None:
        return None
    documents = {inside(skill, document.file): document for document in skill.documents}
    pages = tuple(Text(page.path, page.text) for page in gather(skill, documents).pages)
    return Entrant(
        name=skill.frontmatter.text("name") or source.root.name,
        digest=content_digest(pages),
        category=_category(skill),
        lines=skill.lines,
        pages=pages,
    )


def text_of(entrant: Entrant) -> SkillText:
    """Return what is kept of a skill's text."""
    return SkillText(entrant.digest, tuple(PageText(page.path, page.text) for page in entrant.pages))


def built(
    index: CorpusIndex,
    candidates: Sequence[Candidate],
    *,
    is_gone: Callable[[str], bool],
    played: Collection[str],
) -> Built:
    """Bring an index up to date with what was found.

    Args:
        index: as it was.
        candidates: what was found, by path; of equal ones the first becomes the member.
        is_gone: tells of a member's origin, where nothing was found, whether it is to leave.
        played: the digests of all skills that have a match; of those that leave, only these are remembered.
    """
    before = {one.digest: one for one in (*index.former, *index.members)}
    members = {one.digest: one for one in index.members}
    found: dict[str, Indexed] = {}
    for candidate in candidates:
        found.setdefault(candidate.entrant.digest, _indexed(candidate, before.get(candidate.entrant.digest)))
    staying = {digest: one for digest, one in members.items() if digest not in found}
    origins = {candidate.origin for candidate in candidates}
    leaving = {digest for digest, one in staying.items() if one.origin in origins or is_gone(one.origin)}
    now = {**{digest: one for digest, one in staying.items() if digest not in leaving}, **found}
    left_origins = {members[digest].origin for digest in leaving}
    changed = {digest for digest, one in found.items() if digest not in members and one.origin in left_origins}
    replaced = {found[digest].origin for digest in changed}
    return Built(
        corpus=CorpusIndex(
            members=tuple(sorted(now.values(), key=_order)),
            former=tuple(sorted((one for key, one in before.items() if key not in now and key in played), key=_order)),
            fit=index.fit,
            provoked=index.provoked,
        ),
        added=len(found.keys() - members.keys() - changed),
        kept=len(found.keys() & members.keys()),
        changed=len(changed),
        dropped=sum(1 for digest in leaving if members[digest].origin not in replaced),
        doubles=len(candidates) - len(found),
    )


def _indexed(candidate: Candidate, before: Indexed | None) -> Indexed:
    entrant = candidate.entrant
    fresh = Indexed(
        name=entrant.name,
        digest=entrant.digest,
        path=candidate.path,
        category=entrant.category,
        lines=entrant.lines,
        composite=candidate.composite,
        badge=candidate.badge,
        origin=candidate.origin,
    )
    if before is None:
        return fresh
    return fresh._replace(rating=before.rating, matches=before.matches, anchor=before.anchor, rateable=before.rateable)


def _order(one: Indexed) -> tuple[str, str]:
    return one.name, one.digest


def _category(skill: Skill) -> str:
    metadata = skill.frontmatter.values.get("metadata")
    category = metadata.get("category") if isinstance(metadata, dict) else None
    return category.strip() if isinstance(category, str) else ""


def joined(index: CorpusIndex, arriving: CorpusIndex) -> CorpusIndex:
    """Take the skills of another corpus in; of one that is known already, what is known stays.

    A rating that is brought along counts nowhere: ratings are fitted anew to the matches of both.
    """
    members = {one.digest: one for one in index.members}
    former = {one.digest: one for one in index.former}
    for one in arriving.members:
        back = former.pop(one.digest, None)
        mine = _arriving(one)
        if back is not None:
            mine = mine._replace(rating=back.rating, matches=back.matches, anchor=back.anchor, rateable=back.rateable)
        members.setdefault(one.digest, mine)
    for one in arriving.former:
        if one.digest not in members:
            former.setdefault(one.digest, _arriving(one))
    return CorpusIndex(
        members=tuple(sorted(members.values(), key=_order)),
        former=tuple(sorted(former.values(), key=_order)),
        fit=index.fit,
        provoked=index.provoked,
    )


def _arriving(one: Indexed) -> Indexed:
    """Leave out all that a stranger's word must not decide."""
    return one._replace(rating=MEDIAN, matches=0, anchor=False, origin="", rateable=True)
