"""What a run of ``corpus rate`` says of its pairs: what was decided, what was not and why, and what it cost."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.corpus import LIVE
from skillgate.model.text import printable
from skillgate.ranking.standings import resting_on

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.corpus import CorpusIndex, Played, Provoked

_MOST_REASONS = 5


class Outcome(NamedTuple):
    """One pair of a run: what came of it, the pair where a text may have prevented a verdict, and the cost or None."""

    played: Played | None
    reason: str | None = None
    provoked: Provoked | None = None
    cost_usd: float | None = 0.0


def summary(
    index: CorpusIndex, played: Sequence[Played], outcomes: Sequence[Outcome], before: int, judge: str
) -> Iterator[str]:
    """Yield what a run did, in lines.

    Args:
        index: rated anew.
        played: all matches there are now.
        outcomes: of the pairs of this run.
        before: how many pairs were decided already.
        judge: the model that compares.
    """
    decided = [one for one in outcomes if one.played is not None]
    costs = [one.cost_usd for one in outcomes]
    cost = "cost unknown" if any(one is None for one in costs) else f"${sum(one or 0.0 for one in costs):.2f}"
    yield (
        f"{len(decided)} pairs decided, {before} were before, {len(outcomes) - len(decided)} not judged;"
        f" {cost} now; judge {printable(judge)}"
    )
    refused = [one.name for one in index.members if not one.rateable]
    if refused:
        names = ", ".join(map(printable, refused[:_MOST_REASONS])) + ", …" * (len(refused) > _MOST_REASONS)
        yield f"not rateable, since the judge gives no verdicts on them: {names}; nobody meets them"
    yield from _standing(index, resting_on(index, played), len(refused))


def _standing(index: CorpusIndex, matches: Sequence[Played], refused: int) -> Iterator[str]:
    ratings = [one.rating for one in index.members if one.matches]
    if index.fit is None or not matches or not ratings:
        yield "no pair is decided: nothing is rated"
        return
    from skillgate.stats.intervals import clopper_pearson  # scipy

    biased = sum(one.position_bias for one in matches)
    low, high = clopper_pearson(biased, len(matches))
    yield (
        f"position bias: {biased / len(matches):.1%} of {len(matches)} pairs"
        f" ({low:.1%} to {high:.1%}), which count as draws"
    )
    unrated = len(index.members) - len(ratings) - refused
    rest = f", {unrated} without a match stand at 1500" if unrated else ""
    yield f"rated {len(ratings)} skills from {min(ratings):.0f} to {max(ratings):.0f}, the median at 1500{rest}"
    if index.fit.source != LIVE:
        yield f"these are verdicts of the provider {index.fit.source}, not of a real model: they show how it works"


def unjudged(outcomes: Sequence[Outcome], index: CorpusIndex) -> Iterator[str]:
    """Yield for each cause how many pairs have no result, and whether they are tried again."""
    refused = {one.digest for one in index.members if not one.rateable}

    def said(one: Outcome) -> str:
        pair = one.provoked
        if pair is None:
            return f"{one.reason}; the same command tries again"
        if refused.isdisjoint((pair.first, pair.second)):
            return f"{one.reason} (a text may be the cause); the same command tries again"
        return f"{one.reason} (the text of one that is not rateable is the cause); the others meet the next ones"

    reasons = Counter(said(one) for one in outcomes if one.played is None)
    for reason, count in reasons.most_common(_MOST_REASONS):
        yield f"{count} pair{'s' * (count != 1)} not judged: {reason}"
    if len(reasons) > _MOST_REASONS:
        yield f"and {len(reasons) - _MOST_REASONS} more reasons"
