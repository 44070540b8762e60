"""Two skills have the same name.

Why:
    A client that meets a name twice keeps one of the two, and which one depends on the order it looks in: the other
    can neither be chosen nor be called. Within one plugin, or in one folder of skills, that is an error. Skills of
    different plugins carry the plugin's name before their own, and folders of skills may never be installed together:
    there it is said for information. A skill that is there once for each client, as in .claude/skills/pdf and
    .codex/skills/pdf, is one skill.

Bad:
    skills/pdf/SKILL.md and skills/pdf-forms/SKILL.md, both with name: pdf

Good:
    name: pdf and name: pdf-forms

Source: Agent Skills, guide for clients: collisions of names; documentation of Claude Code, skills of plugins.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from skillgate.model.assessment import CatalogueRule, Clash
from skillgate.model.finding import Hit, Severity, Span
from skillgate.scoring.listing import comparable, main_file, shelf

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.assessment import Member

_NAMED = 3  # paths of others that a message names


def find(members: Sequence[Member]) -> Iterator[Clash]:
    """Yield one hit at each name that another skill has too."""
    for part in comparable(members):
        named: dict[str, list[Member]] = {}
        for member in part:
            named.setdefault(unicodedata.normalize("NFKC", member.listing.name), []).append(member)
        for name, bearers in named.items():
            if name and len(bearers) > 1:
                yield from _clashes(bearers)


def _clashes(bearers: Sequence[Member]) -> Iterator[Clash]:
    shelves: dict[tuple[str | None, str], list[Member]] = {}
    for member in bearers:
        shelves.setdefault(shelf(member), []).append(member)
    for beside in shelves.values():
        for member in beside:
            together = len(beside) > 1
            others = _first_others(beside if together else bearers, member)
            yield _clash(member, others, len(beside if together else bearers) - 1, together=together)


def _first_others(bearers: Sequence[Member], member: Member) -> list[Member]:
    return [other for other in bearers[: _NAMED + 1] if other is not member][:_NAMED]


def _clash(member: Member, others: Sequence[Member], count: int, *, together: bool) -> Clash:
    paths = ", ".join(main_file(other) for other in others)
    more = f" and {count - len(others)} more" if count > len(others) else ""
    says = "a client keeps only one of them" if together else "in another plugin or folder of skills"
    message = f"the name {member.listing.name!r} is that of {paths}{more} too: {says}"
    severity = Severity.ERROR if together else Severity.INFO
    fix = None if together else "give one of them another name if both may be installed together"
    hit = Hit(Span(line=member.listing.name_line), message, severity=severity, fix=fix)
    return Clash(member.path, hit, others[0].path if count == 1 else None)


RULE = CatalogueRule(
    id="DUPLICATE_NAME",
    severity=Severity.ERROR,
    summary="two skills have the same name",
    fix="give one of them another name, and its directory with it; or remove it",
    find=find,
)
