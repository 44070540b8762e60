"""What went wrong in a skill's matches: verdicts that are missing, and what a report must warn of."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.skill import Problem, Span
from skillgate.model.text import printable
from skillgate.ranking.match import OBEYED, cut

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.judging import Cut
    from skillgate.ranking.entrant import Arena, Entrant
    from skillgate.ranking.match import Settled

MOST_LOST = 0.20
"""Of the matches, that may have no result. Source: decision of this project, as for simulated sessions."""
MOST_PROVOKED = 0.05
"""Of the matches, whose result a text may have kept from being: so few cannot move a rating by much."""
LEAST_PROVOKED = 2
"""Opponents with whom that came about before the skill is held to be the cause: with one, it may be the opponent's."""
SWAYED, PARTLY = "judge_swayed", "partly_judged"  # files of `static/judged`
_MOST_NAMED = 5
_STOPPED = ("stopped: ", "stopped for this model: ")  # before the reason of the first failure, in those after it


def is_silenced(provoked: int, matches: int) -> bool:
    """Tell whether so many of so many matches, lost to what a text may have done, are too many for a rating."""
    return provoked >= LEAST_PROVOKED and provoked > MOST_PROVOKED * matches


class Lost(NamedTuple):
    """The matches of a skill, and what is to be said of those without a result."""

    matches: tuple[Settled, ...]

    @property
    def silenced(self) -> str | None:
        """Say what verdicts a text may have kept from being given, where they are too many to be passed over."""
        provoked = [match for match in self.matches if match.provoked]
        if not is_silenced(len(provoked), len(self.matches)):
            return None
        return f"{self._said(provoked)}; a text can bring that about, so the other matches make no rating"

    @property
    def failure(self) -> str | None:
        """Say why there is no rating; None where the matches suffice for one."""
        gaps = [match for match in self.matches if match.result is None]
        return self.silenced or (self._said(gaps) if len(gaps) > MOST_LOST * len(self.matches) else None)

    def obeyed(self) -> int:
        """Count the matches with a verdict that followed a text."""
        return sum(OBEYED in (match.reason or "") for match in self.matches)

    def _said(self, gaps: Sequence[Settled]) -> str:
        reasons: dict[str, None] = {}
        for gap in gaps:
            reason = gap.reason or ""
            for before in _STOPPED:
                reason = reason.removeprefix(before)
            reasons[reason] = None
        named = list(reasons)[:_MOST_NAMED]
        more = f" and {len(reasons) - len(named)} more reasons" if len(reasons) > len(named) else ""
        return f"{len(gaps)} of {len(self.matches)} matches have no result: {'; '.join(named)}{more}"


def problems(entrant: Entrant, opponents: Sequence[Entrant], arena: Arena, lost: Lost) -> Iterator[Problem]:
    """Yield what the report must tell at the severity of its rule.

    An opponent's text may be what a verdict followed: the skill is blamed where that came about with more than one
    opponent, or with the only one there was.
    """
    obeyed = lost.obeyed()
    if obeyed >= min(2, len(lost.matches)) > 0:
        message = f"in {obeyed} of {len(lost.matches)} matches {OBEYED}; they count nowhere"
        yield Problem(SWAYED, Span(), message)
    cuts = _cuts(entrant, opponents, arena)
    if cuts:
        first, main = next(iter(cuts)), entrant.pages[0].path
        names = ", ".join(_place(one) for one in list(cuts)[:_MOST_NAMED])
        more = f" and {len(cuts) - _MOST_NAMED} more" if len(cuts) > _MOST_NAMED else ""
        message = f"not shown to the judge in matches, since two skills together are too long: {names}{more}"
        yield Problem(PARTLY, Span(first.first), message, None if first.path == main else first.path)


def unseen(entrant: Entrant, opponents: Sequence[Entrant], arena: Arena) -> str | None:
    """Say why a rating earns no badge, None where it may: what was not shown may be what would have lost."""
    cuts = _cuts(entrant, opponents, arena)
    if not cuts:
        return None
    many = f"{len(cuts)} section{'s' * (len(cuts) != 1)}"
    return f"its rating is of a part of the skill: {many} did not fit into the matches"


def _cuts(entrant: Entrant, opponents: Sequence[Entrant], arena: Arena) -> dict[Cut, None]:
    """List what of a skill was not shown in some match, each section once."""
    return dict.fromkeys(one for other in opponents for one in cut(entrant, other, arena))


def _place(one: Cut) -> str:
    lines = str(one.first) if one.first == one.last else f"{one.first}–{one.last}"
    heading = f' "{printable(one.heading)}"' if one.heading else ""
    return f"{printable(one.path)}:{lines}{heading}"
