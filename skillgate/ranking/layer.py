"""Layer 4 for one skill: matches against its opponents, and the ratings they give.

All matches are asked for at once; what they give is counted in an order that the seed and the contents decide, since
Elo depends on it. Where a text may have kept the judge from a verdict, the next opponent is met in the place of that
one; whose verdicts are lost all the same is not rated on the rest, since a text can choose which ones are lost.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from skillgate.judge.expense import is_live, usage
from skillgate.model.digest import digest
from skillgate.model.exchange import Answer, Together
from skillgate.model.judging import Estimate
from skillgate.model.score import Badge, Dimension
from skillgate.model.simulating import Match, RankingLayer
from skillgate.model.text import printable
from skillgate.ranking import trouble
from skillgate.ranking.entrant import MEDIAN, Ranked
from skillgate.ranking.match import PROMPT_VERSION, Settled, cut, played, settled
from skillgate.ranking.opponents import assumed, hindrance, opponents
from skillgate.ranking.trouble import is_silenced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from skillgate.model.exchange import Steps
    from skillgate.model.simulating import Rating
    from skillgate.ranking.entrant import Arena, Corpus, Entrant, Member
    from skillgate.ranking.match import Played

__all__ = ["PROMPT_VERSION", "rank"]

REPLACEMENTS = 4
"""How many opponents more are met at most, in the places of those with whom a text may have prevented a verdict.
Source: decision of this project."""


class Bout(NamedTuple):
    """A match with the opponent it was against."""

    opponent: Member
    shown: Entrant
    played: Played
    settled: Settled


def rank(
    entrant: Entrant,
    corpus: Corpus,
    arena: Arena,
    clock: Callable[[], int],
    *,
    subject: str = "",
    path: str | None = None,
) -> Steps[Ranked]:
    """Rate one skill against a corpus.

    Args:
        entrant: the skill.
        corpus: the skills there are to compare with, and their ratings, which stay as they are.
        arena: how matches are played.
        clock: monotonic nanoseconds.
        subject: what the requests are about, for records and progress: the skill's shown path, else its name.
        path: where the skill lies in the corpus's terms, to leave an earlier state of it out; None: not known.

    Returns:
        The layer for the report, why there is no rating where there could be one, and what to warn of. Without
        opponents there is no rating, and that is no failure.
    """
    started = clock()
    members = opponents(entrant, corpus.members, len(corpus.members), path=path)
    bouts = yield from _bouts(entrant, _field(entrant, corpus, arena, members), arena, subject or entrant.name)
    bouts.sort(key=lambda bout: _turn(arena, bout.opponent))
    lost = trouble.Lost(tuple(bout.settled for bout in bouts))
    answers: tuple[Answer, ...] = tuple(answer for bout in bouts for answer in bout.played.answers)
    layer = RankingLayer(
        duration_ms=(clock() - started) // 1_000_000,
        matches=sum(bout.settled.result is not None for bout in bouts),
        elo=None,
        bradley_terry=None,
        percentile=None,
        reason=lost.failure if bouts else _without(corpus, len(members)),
        played=tuple(_match(bout) for bout in bouts),
        corpus=corpus.digest,
        corpus_size=len(members),
        model=arena.judge.model,
        provider=arena.provider,
        live=is_live(answers, live=arena.live),
        usage=usage(answers),
        prompt_version=PROMPT_VERSION,
        seed=arena.seed,
        silenced=lost.silenced,
    )
    no_badge = None
    if bouts and lost.failure is None:
        decided = [bout for bout in bouts if bout.settled.result is not None]
        no_badge = trouble.unseen(entrant, [bout.shown for bout in decided], arena)
        unrated = sum(not bout.opponent.matches for bout in decided)
        layer = _rated(layer, seed=arena.seed, unrated=unrated, is_whole=no_badge is None)
    found = tuple(trouble.problems(entrant, [bout.shown for bout in bouts], arena, lost))
    return Ranked(layer, lost.failure, found, no_badge)


def _field(
    entrant: Entrant, corpus: Corpus, arena: Arena, members: Sequence[Member]
) -> Iterator[tuple[Member, Entrant]]:
    """Give those of the members that can be met, each with its text, which is read when it is its turn.

    The next one steps in for one whose text is gone, or is too long to be shown whole: to win against a part of a skill
    is to win against another one.
    """
    for member in members:
        other = corpus.entrant(member)
        if other is not None and other.digest != entrant.digest and not cut(other, entrant, arena):
            yield member, other


def _bouts(entrant: Entrant, field: Iterator[tuple[Member, Entrant]], arena: Arena, subject: str) -> Steps[list[Bout]]:
    """Play the matches, and some more in the places of those whose verdict a text may have prevented.

    An opponent may have done so to deny a rating to all that meet it; the skill itself, to be spared a loss, would have
    to do it with every opponent that takes the place. Where too many are lost to be made good, no more is asked.
    """
    bouts: list[Bout] = []
    turn, left = tuple(islice(field, arena.opponents)), REPLACEMENTS
    while True:
        found: tuple[Played, ...] = yield Together(tuple(played(entrant, one, arena, subject) for _, one in turn))
        fresh = [Bout(*pair, one, settled(one.first, one.second)) for pair, one in zip(turn, found, strict=True)]
        bouts += fresh
        lost = sum(bout.settled.provoked for bout in bouts)
        more = 0 if is_silenced(lost, len(bouts) + left) else min(left, sum(bout.settled.provoked for bout in fresh))
        turn, left = tuple(islice(field, more)), left - more
        if not turn:
            return bouts


def _without(corpus: Corpus, size: int) -> str:
    if not corpus.members:
        return "the corpus is empty"
    if not size and any(not member.rateable for member in corpus.members):
        return "no other skill of the corpus is rateable: skillgate corpus verify says which are not"
    if not size:
        return "the corpus holds no other skill than this one"
    return "no skill of the corpus can be shown: their texts are gone, changed or too long"


def _turn(arena: Arena, opponent: Member) -> str:
    """Give a match its place, which nothing in the skill has a say in: else a comment could be tried until it is good.

    Elo depends on the order: nine wins in sixteen give 1489 to 1556.
    """
    return digest(str(arena.seed).encode(), opponent.digest.encode("utf-8", "surrogatepass"))


def _match(bout: Bout) -> Match:
    opponent, result = bout.opponent, bout.settled
    return Match(
        opponent=printable(opponent.name),
        opponent_digest=opponent.digest,
        opponent_rating=opponent.rating,
        result=result.result,
        orders=result.orders,
        position_bias=result.position_bias,
        won=result.won,
        lost=result.lost,
        reason=result.reason,
    )


def _rated(layer: RankingLayer, *, seed: int, unrated: int, is_whole: bool) -> RankingLayer:
    """Count what was decided, in the order in which it stands.

    Args:
        layer: with the matches.
        seed: of the resampling.
        unrated: how many of the opponents stand at a rating that no match bears out.
        is_whole: whether every match showed all of the skill.
    """
    from skillgate.ranking import ratings  # numpy, and below scipy: loaded once the answers are there
    from skillgate.stats.intervals import clopper_pearson

    decided = [match for match in layer.played if match.result is not None]
    results = [(match.opponent_rating, match.result or 0.0) for match in decided]
    strength = ratings.bradley_terry_one(results)
    biased, n = sum(match.position_bias for match in decided), len(decided)
    nearest = min(decided, key=lambda match: (abs(match.opponent_rating - strength.rating), match.opponent_digest))
    return layer._replace(
        elo=ratings.elo_interval(MEDIAN, results, seed=seed),
        bradley_terry=strength,
        percentile=sum(score for _, score in results) / n,
        position_bias=Estimate(biased / n, *clopper_pearson(biased, n), n),
        nearest=nearest.opponent,
        provisional=_straddles(strength) or unrated > 0 or not is_whole,
        unrated=unrated,
        won=_ahead(decided, 1),
        lost=_ahead(decided, -1),
        hindrance="; ".join(filter(None, (assumed(unrated, n), hindrance([rating for rating, _ in results])))) or None,
    )


def _straddles(strength: Rating) -> bool:
    """Tell whether the interval holds the Elo of any badge: which badge the composite asks for is not known here."""
    return any(strength.ci_low < badge.elo <= strength.ci_high for badge in Badge)


def _ahead(decided: Sequence[Match], sign: int) -> tuple[Dimension, ...]:
    """List the dimensions won (1) or lost (-1) against more opponents than the other way round, most first."""
    margins = {
        dimension: sign * sum((dimension in match.won) - (dimension in match.lost) for match in decided)
        for dimension in Dimension
    }
    return tuple(sorted((one for one in Dimension if margins[one] > 0), key=lambda one: -margins[one]))
