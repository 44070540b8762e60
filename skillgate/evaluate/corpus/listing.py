"""What the words of ``corpus`` say of its members: a document, or what a command did in lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.evaluate.corpus.place import TOOL, written
from skillgate.model.corpus import CorpusList, ListedSkill

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillgate.model.corpus import CorpusIndex, Indexed
    from skillgate.session import Session


def listing(index: CorpusIndex) -> CorpusList:
    """List the members, the best rated first."""
    members = sorted(map(listed, index.members), key=_standing)
    return CorpusList(tool=TOOL, members=tuple(members), fit=index.fit)


def tell(lines: Iterable[str], index: CorpusIndex, session: Session) -> None:
    """Say what was done to a corpus: in lines; with ``--json`` the members as they are now, and the lines as notes."""
    for line in lines:
        (session.note if session.json else session.out)(line)
    if session.json:
        session.out(written(listing(index)))


def _standing(one: ListedSkill) -> tuple[bool, float, str, str]:
    return one.rating is None, -(one.rating or 0.0), one.name, one.digest


def listed(one: Indexed) -> ListedSkill:
    """Give a member as it is shown: without a match it has no rating."""
    return ListedSkill(
        name=one.name,
        digest=one.digest,
        path=one.path,
        category=one.category,
        lines=one.lines,
        composite=one.composite,
        badge=one.badge,
        rating=one.rating if one.matches else None,
        matches=one.matches,
        rateable=one.rateable,
    )
