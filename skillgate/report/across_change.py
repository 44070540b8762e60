"""What a change does to skills together: findings across skills that came and went, and lists that grew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.finding import AcrossChange
from skillgate.report.matching import UNMOVED, unmatched, with_folders

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from skillgate.model.finding import Finding, ListingUse
    from skillgate.model.report import SkillResult


def across_findings(results: Iterable[SkillResult]) -> tuple[Finding, ...]:
    """Return the findings that are about several skills."""
    return tuple(finding for result in results for finding in result.findings if finding.skills)


def across_change(
    before: Sequence[Finding],
    after: Sequence[Finding],
    pairs: Iterable[tuple[str, str]] = (),
    moves: Mapping[str, str] = UNMOVED,
) -> AcrossChange:
    """Say which findings across skills came and which went.

    Args:
        before: those of the first report.
        after: those of the second.
        pairs: the path before and after of every skill that both have.
        moves: as :func:`skillgate.report.matching.unmatched` takes it.
    """
    gone, came = unmatched(before, after, with_folders(pairs, moves))
    return AcrossChange(new=came, fixed=gone)


def listing_change(
    before: Sequence[ListingUse], after: Sequence[ListingUse], start: tuple[str, str] | None = None
) -> tuple[ListingUse, ...]:
    """Add to each client's list what it took before; a list that was not there took nothing.

    Args:
        before: the lists of the first report; if there are none, they were not counted, and nothing is added.
        after: the lists of the second.
        start: as :class:`skillgate.scoring.pairing.Pairs` has it.
    """
    taken = {(use.client, _place(use.place, start)): use.characters for use in before}
    nothing = 0 if before and start is None else None  # a list may be called otherwise where the paths begin otherwise
    return tuple(use._replace(before=taken.get((use.client, _place(use.place, None)), nothing)) for use in after)


def _place(place: str, start: tuple[str, str] | None) -> str:
    """Name a plugin or folder of the first report as the second one would."""
    place = "" if place == "." else place.strip("/")
    if start is None:
        return place
    old, new = (text.strip("/") for text in start)
    if old and place != old and not place.startswith(f"{old}/"):
        return place
    return "/".join(part for part in (new, place[len(old) :].strip("/")) if part)
