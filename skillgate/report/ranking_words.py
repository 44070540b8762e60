"""What every format says of matches against a corpus, and of the Elo that a badge asks for, in plain words.

Names of other skills are bounded and on one line; whoever shows them makes them inert for where they stand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import plural
from skillgate.model.layers import Estimate, RankingLayer
from skillgate.model.score import Badge
from skillgate.report.simulated_words import ends, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.layers import Match, Rating
    from skillgate.model.report import SkillResult
    from skillgate.model.score import Dimension

_NAMED = 3  # dimensions that are named
_NAME = 60  # characters of another skill's name
_RESULTS = {1.0: "won", 0.5: "drawn", 0.0: "lost"}


def ranking_of(result: SkillResult) -> RankingLayer | None:
    """Give a skill's matches, None where no ranking was asked for."""
    return next((layer for layer in result.layers if isinstance(layer, RankingLayer)), None)


def rated(layer: RankingLayer) -> Iterator[str]:
    """Say how the skill is rated, what that rests on, and how sure it is; or why there is no rating."""
    if layer.elo is None or layer.bradley_terry is None:
        yield f"no Elo: {short(layer.reason)}"
    ratings = (_rating("Elo", layer.elo, "resampled "), _rating("Bradley–Terry", layer.bradley_terry, ""))
    if any(ratings):
        yield ", ".join(filter(None, ratings))
    if layer.matches:
        yield _matches(layer)
    if layer.won or layer.lost:
        both = (("wins on", layer.won), ("loses on", layer.lost))
        yield "; ".join(f"{word} {_dimensions(names)}" for word, names in both if names)


def _rating(name: str, found: Rating | None, how: str) -> str:
    if found is None:
        return ""
    return f"{name} {found.rating:,.0f} ({how}{found.ci_low:,.0f} to {found.ci_high:,.0f})"


def _matches(layer: RankingLayer) -> str:
    parts = [f"{plural(layer.matches, 'match')}: {tally(layer.played)}"]
    if layer.percentile is not None:
        parts.append(f"win rate {100 * layer.percentile:.0f} %")
    if (bias := layer.position_bias) is not None and bias.value is not None:
        written = ends(Estimate(*bias[:4]), scale=100.0, digits=0, unit=" %")
        parts.append(f"position bias {100 * bias.value:.0f} %{' ' * bool(written)}{written}")
    if layer.nearest:
        parts.append(f"nearest “{short(layer.nearest, _NAME)}”")
    return "; ".join(parts)


def tally(played: Sequence[Match]) -> str:
    """Count matches by result, as in ``7 won, 3 drawn, 2 lost, 1 not decided``."""
    words = [result_of(match) for match in played]
    order = (*_RESULTS.values(), "not decided")
    return ", ".join(f"{words.count(word)} {word}" for word in order if word in words)


def result_of(match: Match) -> str:
    """Say how a match went: ``won``, ``drawn``, ``lost`` or ``not decided``."""
    return "not decided" if match.result is None else _RESULTS.get(match.result, f"{match.result:g}")


def _dimensions(names: Sequence[Dimension]) -> str:
    left = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(name.value for name in names[:_NAMED]) + left


def doubts(layer: RankingLayer) -> Iterator[str]:
    """Say what a rating alone would hide: that it may lie on either side, or that the best is out of reach."""
    if layer.elo is not None and layer.reason:
        yield f"not wholly judged: {short(layer.reason)}"
    if layer.unrated:
        yield f"provisional: {layer.unrated} of its opponents have no rating that matches bear out"
    elif layer.provisional:
        yield "provisional: the interval of Bradley–Terry holds the Elo that the badge asks for"
    if layer.hindrance:
        yield short(layer.hindrance)


def against(match: Match) -> str:
    """Write one match on a line, as in ``won against “x” (1,432)``."""
    text = f"{result_of(match)} against “{short(match.opponent, _NAME)}” ({match.opponent_rating:,.0f})"
    if match.position_bias:
        text += ", the orders disagree"
    return f"{text}: {short(match.reason)}" if match.result is None else text


def elo_condition(result: SkillResult) -> str:
    """Say how the Elo stands to the badge; ``""`` where no ranking was asked for.

    What already is in the reason for the badge is not said again.
    """
    layer, composite = ranking_of(result), result.composite
    if layer is None or composite.score is None:
        return ""
    if composite.elo is None:
        return "without an Elo it rests on the composite alone" if composite.badge else ""
    sought = Badge.from_scores(composite.score) or Badge.BRONZE
    if composite.badge is not None and composite.badge is sought:
        return f"{sought.value} asks for an Elo of {sought.elo:,.0f}, and it has {composite.elo:,.0f}"
    if " Elo " in f" {composite.badge_reason or ''} ":
        return ""
    word = "reached" if composite.elo >= sought.elo else "not reached"
    return f"the Elo of {sought.elo:,.0f} that {sought.value} asks for is {word}: {composite.elo:,.0f}"
