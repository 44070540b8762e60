"""Choose opponents from a corpus, and rate its skills by all of their matches.

Every pair counts once: by the last match played here, else by the last imported one. Verdicts of real models and of
their replacements are never combined. A skill that prevented verdicts with several others is ignored.
"""

from __future__ import annotations

from collections import Counter
from heapq import nsmallest
from statistics import median
from typing import TYPE_CHECKING, NamedTuple, Protocol

from skillgate.model.corpus import LIVE, CorpusIndex, Fit, Indexed, Played, Provoked
from skillgate.ranking import MEDIAN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

MATCHES = 16  # default number of opponents. Source: decision of this project.
NEAR, FAR = 1.3, 2.0  # ratios of length: about the same (PluginEval method: within 30 %), and not too different
CLOSE = 0.01  # Elo points: smaller differences are rounding errors of the same fit
LEAST_PROVOKED = 2  # minimum pairs without a verdict before a skill counts as the cause; of one pair it may be either


class Text(NamedTuple):
    """A text file of a skill; ``path`` is relative to its directory, with ``/``."""

    path: str
    text: str


class Entrant(NamedTuple):
    """A skill in a match. All of its text is the author's, and data."""

    name: str  # as clients list it
    digest: str  # of all its pages; equal digests mean the same skill
    category: str  # metadata.category, "" without one
    lines: int  # of its main file
    pages: tuple[Text, ...]  # the main file first, frontmatter included, then its other instructions


class Member(NamedTuple):
    """A skill of a corpus."""

    name: str
    digest: str
    path: str  # where it was found, as shown then
    category: str
    lines: int
    composite: float | None = None  # of the static layer when it was indexed
    badge: str | None = None  # of the static layer when it was indexed, in lower case; None for none
    rating: float = MEDIAN  # on the Elo scale
    matches: int = 0  # decided matches behind the rating; 0 if its quality is unknown
    rateable: bool = True  # whether it can be compared at all; see model.corpus.Indexed


class Corpus(Protocol):
    """The available skills for comparisons."""

    digest: str  # of members and ratings: results are comparable only for equal digests
    members: tuple[Member, ...]  # all of them, by name and digest

    def entrant(self, member: Member) -> Entrant | None:
        """Return a member with its text; None if the text is missing or changed."""


def opponents(
    entrant: Entrant, members: Iterable[Member], n: int = MATCHES, *, path: str | None = None, rating: float = MEDIAN
) -> tuple[Member, ...]:
    """Choose opponents by category, then similar length, then nearest rating.

    Members without matches come last: otherwise anyone could choose the opponents by adding many of them. A skill
    without a category meets all categories. Never chosen: the skill itself, an equal text, the member at its ``path``,
    and members that are not rateable.
    """
    others: dict[str, Member] = {}
    for member in members:
        if not member.rateable or member.digest == entrant.digest:
            continue
        if path is not None and (member.name, member.path) == (entrant.name, path):
            continue
        twin = others.setdefault(member.digest, member)
        if (member.name, member.path) < (twin.name, twin.path):
            others[member.digest] = member
    category = entrant.category.casefold()

    def distance(member: Member) -> tuple[bool, bool, int, float, float, str]:
        short, long = sorted((max(1, entrant.lines), max(1, member.lines)))
        return (
            member.matches == 0,
            category != "" and member.category.casefold() != category,
            (long / short > NEAR) + (long / short > FAR),
            abs(member.rating - rating),
            long / short,
            member.digest,
        )

    return tuple(nsmallest(n, others.values(), key=distance))


class Standing(NamedTuple):
    """A rating on the Elo scale, and the number of decided matches behind it."""

    rating: float
    matches: int


class Identity(NamedTuple):
    """The identity of a match: matches with the same identity are not played twice."""

    first: str
    second: str
    model: str
    prompt_version: str
    source: str


def identity(played: Played) -> Identity:
    """Return the identity of a match."""
    return Identity(played.first, played.second, played.model, played.prompt_version, played.source)


def source_of(*, live: bool, provider: str) -> str:
    """Return the source of a run's verdicts, as in :class:`~skillgate.model.corpus.Fit`."""
    return LIVE if live else provider


def counted(played: Iterable[Played], source: str, known: Collection[str]) -> tuple[Played, ...]:
    """Return the matches that count: of one source, between known skills, one per pair, sorted."""
    latest: dict[tuple[str, str], Played] = {}
    for one in played:
        if one.source != source or one.first not in known or one.second not in known or one.first == one.second:
            continue
        before = latest.get(_pair(one))
        if not one.origin or before is None or before.origin:
            latest[_pair(one)] = one
    return tuple(latest[pair] for pair in sorted(latest))


def resting_on(index: CorpusIndex, played: Sequence[Played]) -> tuple[Played, ...]:
    """Return the matches behind the ratings of an index, without later ones."""
    if index.fit is None:
        return ()
    known = {one.digest for one in (*index.members, *index.former) if one.rateable}
    return counted(played[: index.fit.read], index.fit.source, known)


def provoking(provoked: Iterable[Provoked], played: Iterable[Played]) -> frozenset[str]:
    """Return the digests of skills whose texts prevent verdicts: those that account for several pairs.

    Skills with the most pairs are removed first, then the remaining pairs are counted again: a skill that met two of
    them is not one itself. Pairs that were decided later do not count.
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
    """Return the skills that are not rateable by the records of this corpus, ignoring imported ones."""
    own = [one for one in played if one.source == source and not one.origin]
    return provoking([one for one in index.provoked if one.source == source], own)


def standings(matches: Sequence[Played], anchors: Collection[str]) -> Mapping[str, Standing]:
    """Rate the skills of some matches by Bradley–Terry, by digest, with the median of the anchors at 1500.

    Anchors without a match are ignored; if none has one, all skills are anchors.
    """
    if not matches:
        return {}
    from skillgate.ranking.ratings import bradley_terry  # numpy

    times = Counter(digest for one in matches for digest in _pair(one))
    numbers = {digest: number for number, digest in enumerate(sorted(times))}
    games = [(numbers[one.first], numbers[one.second], one.result) for one in matches]
    found = [float(rating) for rating in bradley_terry(len(numbers), games)]
    chosen = [found[number] for digest, number in numbers.items() if digest in anchors] or found
    shift = MEDIAN - median(chosen)
    return {digest: Standing(found[number] + shift, times[digest]) for digest, number in numbers.items()}


def rated(index: CorpusIndex, played: Sequence[Played], source: str) -> CorpusIndex:
    """Rate a corpus from scratch by all matches of a source; skills without matches get the median."""
    refused = refused_by(index, played, source)
    everyone = frozenset(one.digest for one in (*index.members, *index.former))
    matches = counted(played, source, everyone - refused)
    anchors = {digest for one in matches for digest in _pair(one)} & {one.digest for one in index.members}
    found = standings(matches, anchors)

    def placed(one: Indexed) -> Indexed:
        standing = found.get(one.digest, Standing(MEDIAN, 0))
        return one._replace(**standing._asdict(), anchor=one.digest in anchors, rateable=one.digest not in refused)

    models = tuple(sorted({one.model for one in matches}))
    return CorpusIndex(
        members=tuple(map(placed, index.members)),
        former=tuple(map(placed, index.former)),
        fit=Fit(source, len(played), len(matches), models) if matches else None,
        provoked=index.provoked,
    )


def misfits(index: CorpusIndex, played: Sequence[Played]) -> tuple[tuple[Indexed, Standing], ...]:
    """Return the skills whose stored rating differs from the computed one, each with the latter."""
    everyone = (*index.members, *index.former)
    found = standings(resting_on(index, played), {one.digest for one in everyone if one.anchor})
    fresh = [(one, found.get(one.digest, Standing(MEDIAN, 0))) for one in everyone]
    return tuple(
        (one, standing)
        for one, standing in fresh
        if one.matches != standing.matches or abs(one.rating - standing.rating) > CLOSE
    )


def _pair(played: Played) -> tuple[str, str]:
    return played.first, played.second
