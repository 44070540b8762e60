"""What a check's file says of itself, for the pages that are made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from skillgate.model.assessment import CatalogueRule
    from skillgate.model.finding import Rule
    from skillgate.model.score import SubCheck


class Page(NamedTuple):
    """One rule with its kind and the sections of its file's docstring (``Why``, ``Bad``, ``Good``, ``Source``)."""

    rule: Rule | CatalogueRule
    kind: str
    title: str
    sections: dict[str, str]


class CheckPage(NamedTuple):
    """One sub-check with what its file says of it."""

    name: str
    check: SubCheck
    text: str
