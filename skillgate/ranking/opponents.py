"""Which skills of a corpus a skill is compared with, and what ratings the matches against them can give at all."""

from __future__ import annotations

import math
from heapq import nsmallest
from typing import TYPE_CHECKING

from skillgate.model.score import Badge
from skillgate.ranking.entrant import MEDIAN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skillgate.ranking.entrant import Entrant, Member

MATCHES = 16
"""How many opponents a skill meets unless told. Source: decision of this project."""
NEAR, FAR = 1.3, 2.0
"""Times as long or as short: what counts as about the same length, and what as not too different. The first is the
PluginEval method's, which compares within 30 %."""


def opponents(
    entrant: Entrant, members: Iterable[Member], n: int = MATCHES, *, path: str | None = None, rating: float = MEDIAN
) -> tuple[Member, ...]:
    """Choose opponents: of the same category first, then of about the same length, then of the nearest rating.

    Those that have no match, so that nobody knows how good they are, come after all that have: else who adds enough of
    them to a corpus chooses the opponents. A skill without a category is compared with those of any. The order of the
    members does not matter. The skill itself, a text that is equal to its own, and what cannot be rated is never among
    them.

    Args:
        entrant: the skill.
        members: of the corpus.
        n: how many at most.
        path: where the skill lies, as shown; a member of the same name and path is an earlier state of it.
        rating: what is known of its own; unknown, it is taken for the median's.

    Returns:
        The opponents, the best suited first; fewer than ``n`` where there are no more.
    """
    others: dict[str, Member] = {}
    for member in members:
        if not member.rateable:
            continue
        if member.digest == entrant.digest or (path is not None and (member.name, member.path) == (entrant.name, path)):
            continue
        twin = others.setdefault(member.digest, member)
        if (member.name, member.path) < (twin.name, twin.path):
            others[member.digest] = member
    category = entrant.category.casefold()

    def distance(member: Member) -> tuple[bool, bool, int, float, float, str]:
        length = _ratio(entrant.lines, member.lines)
        return (
            member.matches == 0,
            category != "" and member.category.casefold() != category,
            (length > NEAR) + (length > FAR),
            abs(member.rating - rating),
            length,
            member.digest,
        )

    return tuple(nsmallest(n, others.values(), key=distance))


def hindrance(ratings: Sequence[float]) -> str | None:
    """Say why the best badge's Elo is out of reach, whatever the matches give; None where it is not.

    Args:
        ratings: of the opponents, in the order in which the matches count.
    """
    from skillgate.ranking.ratings import elo  # numpy: loaded when matches are counted

    best = Badge.PLATINUM
    if not ratings:
        return None
    highest = elo(MEDIAN, [(rating, 1.0) for rating in ratings])
    if highest >= best.elo:
        return None
    many = f"{len(ratings)} opponent{'s' * (len(ratings) != 1)}"
    low, high = f"{min(ratings):.0f}", f"{max(ratings):.0f}"
    rated = low if low == high else f"{low} to {high}"
    return (
        f"whoever wins every match against {many} rated {rated} comes to an Elo of {math.floor(highest)};"
        f" {best.value} needs {best.elo:g}, so more or stronger opponents"
    )


def assumed(unrated: int, decided: int) -> str | None:
    """Say that ratings of opponents are assumed, since they have no match; None where all have some."""
    if not unrated:
        return None
    return (
        f"{unrated} of {decided} opponents have no match of their own, and stand at {MEDIAN:.0f} whatever they are"
        " worth: skillgate corpus rate plays them"
    )


def _ratio(one: int, two: int) -> float:
    """Give how many times as long the longer is, at least 1."""
    short, long = sorted((max(1, one), max(1, two)))
    return long / short
