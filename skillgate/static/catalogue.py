"""Every check as it documents itself: for ``rules``, ``explain`` and the generated pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.page import CheckPage, Page
from skillgate.static.layer import ACROSS, ANTIPATTERNS, DEFECTS, JUDGED, RULES, SUBCHECKS

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOMS = ((ANTIPATTERNS, "anti-pattern"), (RULES, "rule"), (ACROSS, "across"), (DEFECTS, "reading"), (JUDGED, "judge"))


def pages() -> tuple[Page, ...]:
    """Load every rule, sorted by kind and id."""
    found = tuple(_pages())
    return tuple(sorted(found, key=lambda page: ([kind for _, kind in _ROOMS].index(page.kind), page.rule.id)))


def check_pages() -> tuple[CheckPage, ...]:
    """Load every sub-check, heaviest first."""
    loaded = [(name, SUBCHECKS.load(name)) for name in SUBCHECKS.names()]
    found = [CheckPage(name, module.SUBCHECK, (module.__doc__ or "").strip()) for name, module in loaded]
    return tuple(sorted(found, key=lambda page: (-page.check.weight, page.name)))


def _pages() -> Iterator[Page]:
    for room, kind in _ROOMS:
        for name in room.names():
            module = room.load(name)
            title, sections = read_docstring(module.__doc__ or "")
            yield Page(rule=module.RULE, kind=kind, title=title, sections=sections)


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """Split a docstring into its first line and its sections: a line ``Why:`` with what is indented below it."""
    lines = text.strip().split("\n")
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in lines[1:]:
        name, colon, rest = line.partition(":")
        if colon and name in ("Why", "Bad", "Good", "Source"):
            current = sections.setdefault(name, [rest.strip()] if rest.strip() else [])
        elif line.strip():
            current.append(line.strip())
        elif current:
            current.append("")
    return lines[0], {name: "\n".join(found).strip() for name, found in sections.items()}
