"""Two skills have the same name.

Why:
    Some clients keep one of two skills of one name, and which depends on the order they look in; others show both, and
    nobody can tell them apart. Within one plugin, or in one folder of skills, that is a warning. Skills of
    different plugins carry the plugin's name before their own, and folders of skills may never be installed together:
    there it is said for information. A skill that is there once for each client, as in .claude/skills/pdf and
    .codex/skills/pdf, is one skill; where the text of such copies has drifted apart (description, when_to_use or
    prose, white space aside) that is said for information at each copy that differs, since a client's user gets
    instructions that others do not.

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
from skillgate.model.finding import Hit, Severity
from skillgate.model.skill import Span
from skillgate.scoring.listing import comparable, harness, main_file, project, shelf

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
    yield from _drifted(members)


def _clashes(bearers: Sequence[Member]) -> Iterator[Clash]:
    shelves: dict[tuple[str | None, str], list[Member]] = {}
    for member in bearers:
        shelves.setdefault(shelf(member), []).append(member)
    for beside in shelves.values():
        for member in beside:
            together = len(beside) > 1
            yield _clash(member, beside if together else bearers, together=together)


def _first_others(bearers: Sequence[Member], member: Member) -> list[Member]:
    return [other for other in bearers[: _NAMED + 1] if other is not member][:_NAMED]


def _clash(member: Member, alike: Sequence[Member], *, together: bool) -> Clash:
    others, count = _first_others(alike, member), len(alike) - 1
    paths = ", ".join(main_file(other) for other in others)
    more = f" and {count - len(others)} more" if count > len(others) else ""
    says = (
        "clients show both under one name, or keep one of them" if together else "in another plugin or folder of skills"
    )
    message = f"the name {member.listing.name!r} is that of {paths}{more} too: {says}"
    severity = Severity.WARNING if together else Severity.INFO
    fix = None if together else "give one of them another name if both may be installed together"
    hit = Hit(Span(line=member.listing.name_line), message, severity=severity, fix=fix)
    skills = tuple(one.path for one in alike)
    return Clash(member.path, hit, skills, others[0].path if count == 1 else None)


def _drifted(members: Sequence[Member]) -> Iterator[Clash]:
    """Yield one hit at each client's copy of a skill that differs from the one in no client's directory, or the first.

    Copies are skills of one name and one project; of a client that has the name twice, the first.
    """
    copies: dict[tuple[str, str], dict[str, Member]] = {}
    for member in sorted(members, key=lambda member: member.path):
        name = unicodedata.normalize("NFKC", member.listing.name)
        copies.setdefault((project(member.path), name), {}).setdefault(harness(member.path), member)
    for by_client in copies.values():
        original = by_client.get("") or next(iter(by_client.values()))
        for client, member in by_client.items():
            if member is not original and (found := _difference(member, original)):
                line, message = found
                hit = Hit(Span(line=line), f"the copy for {client} {message}", severity=Severity.INFO, fix=_LEVEL)
                yield Clash(member.path, hit, (member.path, original.path), original.path)


def _difference(copy: Member, original: Member) -> tuple[int, str] | None:
    """Say what a copy says otherwise than the original, and in which line; None where both say the same."""
    if copy.mark and copy.mark == original.mark:
        return None
    place, listed = main_file(original), copy.listing
    if _listed(copy) != _listed(original):
        return listed.description_line, f"has another description or when_to_use than {place}"
    here, there = copy.told().lines, original.told().lines
    for (line, text), (_, other) in zip(here, there, strict=False):
        if text != other:
            return line, f"differs from {place} from here on"
    if len(here) == len(there):
        return None
    if len(here) > len(there):
        return here[len(there)][0], f"says more than {place} from here on"
    return listed.name_line, f"lacks what {place} says from line {there[len(here)][0]} on"


def _listed(member: Member) -> tuple[list[str], list[str]]:
    return member.listing.description.split(), member.listing.when_to_use.split()


_LEVEL = "bring the copies to one text, or make them links to one of them"

RULE = CatalogueRule(
    id="DUPLICATE_NAME",
    severity=Severity.WARNING,
    summary="two skills have the same name",
    fix="give one of them another name, and its directory with it; or remove it",
    find=find,
)
