"""Read a corpus: its members, one of them with its matches, and what a command did to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import UsageError
from skillgate.evaluation.corpus.place import TOOL, require_index, store_of
from skillgate.model.corpus import CorpusList, CorpusShow, ListedSkill, ShownMatch, ShownSkill
from skillgate.model.text import did_you_mean
from skillgate.ranking.standings import resting_on

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillgate.evaluation.corpus.folder import Matches
    from skillgate.model.corpus import CorpusIndex, Indexed, Played
    from skillgate.session import Session

_LEAST_DIGITS = 6


class CorpusChange(NamedTuple):
    """What a command did to a corpus.

    Attributes:
        lines: it in words.
        members: the members as they are now.
        complete: whether all of it was done.
        notes: what is worth knowing besides.
    """

    lines: tuple[str, ...]
    members: CorpusList
    complete: bool = True
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, lines: Iterable[str], index: CorpusIndex, *, complete: bool = True, notes: Iterable[str] = ()
    ) -> CorpusChange:
        """Return it with the members of an index."""
        return cls(tuple(lines), _listing(index), complete, tuple(notes))


def members(corpus_dir: str | None, session: Session) -> CorpusList:
    """List the members of a corpus, the best rated first.

    Raises:
        UsageError: there is no corpus, or it cannot be read.
    """
    return _listing(require_index(store_of(corpus_dir, session)))


def show(name: str, corpus_dir: str | None, session: Session) -> CorpusShow:
    """Return the members of a name, or whose digest begins with it, with their matches.

    Raises:
        UsageError: there is no corpus, it cannot be read, or no member is meant.
    """
    store = store_of(corpus_dir, session)
    index, matches = require_index(store), store.matches()
    found = [one for one in index.members if _is_meant(one, name)]
    if not found:
        near = did_you_mean(name, {one.name for one in index.members})
        raise UsageError(f"there is no skill {name!r} in the corpus in {store.folder}{near}")
    return CorpusShow(tool=TOOL, skills=tuple(_shown(one, index, matches) for one in found))


def _listing(index: CorpusIndex) -> CorpusList:
    found = sorted(map(_listed, index.members), key=_standing)
    return CorpusList(tool=TOOL, members=tuple(found), fit=index.fit)


def _standing(one: ListedSkill) -> tuple[bool, float, str, str]:
    return one.rating is None, -(one.rating or 0.0), one.name, one.digest


def _listed(one: Indexed) -> ListedSkill:
    """Return a member as it is shown: without a match it has no rating."""
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


def _is_meant(one: Indexed, name: str) -> bool:
    return one.name == name or (len(name) >= _LEAST_DIGITS and one.digest.startswith(name))


def _shown(one: Indexed, index: CorpusIndex, matches: Matches) -> ShownSkill:
    """Return a member with the matches that its rating rests on."""
    everyone = {other.digest: other for other in (*index.members, *index.former)}
    played = resting_on(index, matches.played)
    own = [_seen(match, one.digest, everyone) for match in played if one.digest in (match.first, match.second)]
    return ShownSkill(_listed(one), tuple(sorted(own, key=lambda match: (-match.result, match.opponent))))


def _seen(match: Played, digest: str, everyone: dict[str, Indexed]) -> ShownMatch:
    """Return a match as one of its skills has it."""
    is_first = match.first == digest
    opponent = everyone[match.second if is_first else match.first]
    return ShownMatch(
        opponent=opponent.name,
        opponent_digest=opponent.digest,
        opponent_rating=opponent.rating if opponent.matches else None,
        result=match.result if is_first else 1.0 - match.result,
        position_bias=match.position_bias,
        won=match.won if is_first else match.lost,
        lost=match.lost if is_first else match.won,
        model=match.model,
        source=match.source,
        origin=match.origin,
    )
