"""The ratings of a corpus, computed from its matches alone, so that anybody can compute them again.

Every pair counts once: by the match that was decided last of those played here, and only where there is none by the
last one that was imported. What a real model said and what stood in for one are never counted together. A skill that
kept the judge from verdicts with several others counts nowhere.
"""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.corpus import LIVE, CorpusIndex, Fit, Indexed, Played, Provoked
from skillgate.ranking.entrant import MEDIAN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

CLOSE = 0.01
"""Elo points: ratings that are nearer were fitted to the same matches, whatever computed them."""
LEAST_PROVOKED = 2
"""Pairs without a verdict before a skill is held to be the cause; of one alone it may be either of both."""


class Standing(NamedTuple):
    """A rating on the Elo scale, and how many decided matches it rests on."""

    rating: float
    matches: int


class Identity(NamedTuple):
    """What makes two matches the same one: nothing is played twice that has the same."""

    first: str
    second: str
    model: str
    prompt_version: str
    source: str


def identity(played: Played) -> Identity:
    """Give what makes a match the same as another."""
    return Identity(played.first, played.second, played.model, played.prompt_version, played.source)


def source_of(*, live: bool, provider: str) -> str:
    """Say whose verdicts a run gives, as :class:`~skillgate.model.corpus.Fit` has it."""
    return LIVE if live else provider


def counted(played: Iterable[Played], source: str, known: Collection[str]) -> tuple[Played, ...]:
    """Give the matches that count: of one source, between skills that are known, one of each pair, sorted.

    That is the last one that was played here, else the last one that was imported.
    """
    latest: dict[tuple[str, str], Played] = {}
    for one in played:
        if one.source != source or one.first not in known or one.second not in known or one.first == one.second:
            continue
        before = latest.get(_pair(one))
        if not one.origin or before is None or before.origin:
            latest[_pair(one)] = one
    return tuple(latest[pair] for pair in sorted(latest))


def resting_on(index: CorpusIndex, played: Sequence[Played]) -> tuple[Played, ...]:
    """Give the matches that the ratings of an index rest on; later ones are not among them."""
    if index.fit is None:
        return ()
    known = {one.digest for one in (*index.members, *index.former) if one.rateable}
    return counted(played[: index.fit.read], index.fit.source, known)


def standing_out(provoked: Iterable[Provoked], played: Iterable[Played]) -> frozenset[str]:
    """Find the skills whose texts keep the judge from verdicts: the digests of those that account for several pairs.

    Those with the most pairs are taken out first, all that have as many, then what is left is looked at again: whoever
    met two of them is not taken for a third. Pairs that were decided all the same do not count.
    """
    decided = {_pair(one) for one in played}
    pairs = {(one.first, one.second) for one in provoked} - decided
    found: set[str] = set()
    while True:
        counts = Counter(digest for pair in pairs for digest in pair)
        most = max(counts.values(), default=0)
        if most < LEAST_PROVOKED:
            return frozenset(found)
        found |= {digest for digest, count in counts.items() if count == most}
        pairs = {pair for pair in pairs if found.isdisjoint(pair)}


def refused_by(index: CorpusIndex, played: Iterable[Played], source: str) -> frozenset[str]:
    """Give the skills that are not rateable by what was recorded and decided here, whatever was imported."""
    own = [one for one in played if one.source == source and not one.origin]
    return standing_out([one for one in index.provoked if one.source == source], own)


def standings(matches: Sequence[Played], anchors: Collection[str]) -> Mapping[str, Standing]:
    """Rate the skills of some matches by Bradley–Terry, the median of the anchors at 1500.

    Args:
        matches: as :func:`counted` gives them.
        anchors: digests; those without a match have no say. Where none has one, all are anchors.

    Returns:
        By digest, for every skill that has a match.
    """
    if not matches:
        return {}
    from skillgate.ranking.ratings import bradley_terry  # numpy

    numbers = {digest: number for number, digest in enumerate(sorted({d for one in matches for d in _pair(one)}))}
    games = [(numbers[one.first], numbers[one.second], one.result) for one in matches]
    found = [float(rating) for rating in bradley_terry(len(numbers), games)]
    chosen = [found[number] for digest, number in numbers.items() if digest in anchors] or found
    shift = MEDIAN - median(chosen)
    times = dict.fromkeys(numbers, 0)
    for one in matches:
        for digest in _pair(one):
            times[digest] += 1
    return {digest: Standing(found[number] + shift, times[digest]) for digest, number in numbers.items()}


def rated(index: CorpusIndex, played: Sequence[Played], source: str) -> CorpusIndex:
    """Rate a corpus anew: its members by all matches of a source; a member without any is put at the median.

    Who is not rateable is found anew, too, and has no part in it.
    """
    refused = refused_by(index, played, source)
    matches = counted(played, source, _known(index) - refused)
    anchors = {digest for one in matches for digest in _pair(one)} & {one.digest for one in index.members}
    found = standings(matches, anchors)

    def placed(one: Indexed) -> Indexed:
        standing = found.get(one.digest, Standing(MEDIAN, 0))
        return one._replace(
            rating=standing.rating,
            matches=standing.matches,
            anchor=one.digest in anchors,
            rateable=one.digest not in refused,
        )

    models = tuple(sorted({one.model for one in matches}))
    return CorpusIndex(
        members=tuple(map(placed, index.members)),
        former=tuple(map(placed, index.former)),
        fit=Fit(source, len(played), len(matches), models) if matches else None,
        provoked=index.provoked,
    )


def misfits(index: CorpusIndex, played: Sequence[Played]) -> tuple[tuple[Indexed, Standing], ...]:
    """Compute the ratings of an index again, and give the skills whose rating is another one, each with the computed.

    Matches that were decided after the ratings were are left out.
    """
    everyone = (*index.members, *index.former)
    found = standings(resting_on(index, played), {one.digest for one in everyone if one.anchor})
    fresh = [(one, found.get(one.digest, Standing(MEDIAN, 0))) for one in everyone]
    return tuple(
        (one, standing)
        for one, standing in fresh
        if one.matches != standing.matches or abs(one.rating - standing.rating) > CLOSE
    )


def _known(index: CorpusIndex) -> frozenset[str]:
    return frozenset(one.digest for one in (*index.members, *index.former))


def _pair(played: Played) -> tuple[str, str]:
    return played.first, played.second
