"""Two skills that their descriptions hardly tell apart.

Why:
    A model chooses among the listed skills by name and description alone. Where two of them say much the same in the
    same words, it has nothing to choose by. Two things are looked for. First, descriptions that share their telling
    words (BM25 over name and description; at least 0.3 of the score each has for itself) while one of the two has no
    word of its own: none that it says twice, name included, and the other never. `paypal-integration` and
    `stripe-integration` may read alike word for word and are still told apart, and so are two of which one names the
    other. Second, a skill more than half of whose
    own lines on when to use it are nearer to a sibling's description, by a clear margin. It measures how distinct the
    texts are and predicts nothing about any model. Skills that are listed together are held against one another; of
    other plugins' it is said for information. Skills that a model never chooses are left out.

Bad:
    cqrs-implementation: Separates read and write models. Use when optimizing queries in event-sourced systems.
    projection-patterns: Builds read models. Use when implementing CQRS or optimizing queries in event-sourced systems.

Good:
    cqrs-implementation: Splits a write model from its reads. Use when commands and queries need different models.
    projection-patterns: Builds and rebuilds projections. Use when a projection lags, is replayed or changes its shape.

Source: skillgate's own measure. The threshold was set on 232 public skills: a reader found all five pairs over it that
are listed together to overlap; at 0.26 the first appeared that do not.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.assessment import CatalogueRule, Clash
from skillgate.model.finding import Hit, Severity
from skillgate.model.skill import Span
from skillgate.scoring.listing import comparable, main_file, shelf
from skillgate.skill.similarity import Index

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.assessment import Listing, Member
    from skillgate.skill.similarity import Likeness

LEAST = 0.3  # share of the score that each of two descriptions has for itself
MARGIN = 1.25  # how many times a line's score for its own skill a sibling's must be to be clearly higher
LEAST_LINES = 3  # on when to use a skill, nearer to one sibling
LEAST_SHARED = 2  # words that such a line and the sibling's description have in common
_NAMED = 6  # shared words that a message names


class _Catalogue(NamedTuple):
    """What is compared: the skills by path, the index of what is listed of them, and who stands on which shelf."""

    members: dict[str, Member]
    bm25: Index
    shelves: dict[tuple[str | None, str], set[str]]


def find(members: Sequence[Member]) -> Iterator[Clash]:
    """Yield one hit for each pair: at the later path, or at the skill whose own lines are nearer to the other."""
    for part in comparable(members):
        listed = [member for member in part if member.listing.listed and member.listing.description]
        twins, single = _apart(listed)
        yield from (_clash(one, other, "the description is, word for word, that of {}") for one, other in twins)
        if len(single) > 1:
            yield from _clashes(_catalogue(single))


def _apart(listed: Sequence[Member]) -> tuple[list[tuple[Member, Member]], list[Member]]:
    """Set the skills aside whose description another has to the letter; the first of each stays with the rest."""
    known: dict[str, dict[tuple[str | None, str], Member]] = {}
    twins, single = [], []
    for member in listed:
        alike = known.setdefault(" ".join(member.listing.description.lower().split()), {})
        other = alike.get(shelf(member)) or next(iter(alike.values()), None)
        alike.setdefault(shelf(member), member)
        if other is None:
            single.append(member)
        elif other.listing.name != member.listing.name:
            twins.append((member, other))
    return twins, single


def _catalogue(listed: Sequence[Member]) -> _Catalogue:
    texts = tuple((member.path, _text(member.listing)) for member in listed)
    shelves: dict[tuple[str | None, str], set[str]] = {}
    for member in listed:
        shelves.setdefault(shelf(member), set()).add(member.path)
    return _Catalogue({member.path: member for member in listed}, Index(texts), shelves)


def _text(listing: Listing) -> str:
    """Give what is compared, with the words of the name as the text writes them: C# for csharp, Spring Boot."""
    said = f"{listing.description} {listing.when_to_use}".lower()
    said = said.replace("c++", "cplusplus").replace("c#", "csharp").replace("f#", "fsharp")
    words = ["".join(filter(str.isalnum, word)) for word in said.split()]
    joined = {one + two for one, two in pairwise(words)}
    again = " ".join(part for part in listing.name.lower().split("-") if part in joined)
    return f"{listing.name} {said} {again}"


def _names(one: Member, other: Member) -> bool:
    """Tell whether a skill's description names another, as one that says which of the two to take does."""
    name = other.listing.name.lower()
    return "-" in name and name in f"{one.listing.description} {one.listing.when_to_use}".lower()


def _clashes(catalogue: _Catalogue) -> Iterator[Clash]:
    seen: set[tuple[str, str]] = set()
    for member in catalogue.members.values():
        for one in _nearest(catalogue, member):
            pair = min(member.path, one.key), max(member.path, one.key)
            if pair not in seen:
                seen.add(pair)
                words = f"the description is hardly told apart from that of {{}}: both say {_words(one.shared)}"
                yield _clash(catalogue.members[pair[1]], catalogue.members[pair[0]], words)
    for member in catalogue.members.values():
        stray = _stray(catalogue, member)
        if stray is not None and (min(member.path, stray[0]), max(member.path, stray[0])) not in seen:
            yield _clash(member, catalogue.members[stray[0]], stray[1])


def _nearest(catalogue: _Catalogue, member: Member) -> Iterator[Likeness]:
    """Give the skill that is not told apart from this one: the nearest listed with it, else the nearest of others."""
    beside = catalogue.shelves[shelf(member)]
    alike = catalogue.bm25.alike(member.path, least=LEAST)
    for one in sorted(alike, key=lambda one: one.key not in beside):
        other = catalogue.members[one.key]
        if _names(member, other) or _names(other, member):
            continue  # one of them says when the other is meant
        if other.listing.name != member.listing.name and not _are_told_apart(catalogue, member.path, one.key):
            yield one
            return


def _are_told_apart(catalogue: _Catalogue, one: str, other: str) -> bool:
    """Tell whether each of two texts says a word twice that the other never says."""
    own_words = catalogue.bm25.own_words
    return bool(own_words(one, beside=other) and own_words(other, beside=one))


def _stray(catalogue: _Catalogue, member: Member) -> tuple[str, str] | None:
    """Find the sibling that most of a skill's own lines on when to use it are nearer to, and say so."""
    siblings = catalogue.shelves[shelf(member)] - {member.path}
    uses = member.told().uses if siblings else ()
    if len(uses) < LEAST_LINES:
        return None
    nearer: dict[str, list[tuple[str, ...]]] = {}
    at_home = 0
    for _, line in uses:
        own, rival = catalogue.bm25.rival(line, member.path, siblings)
        if rival is not None and rival.score >= MARGIN * own and len(rival.shared) >= LEAST_SHARED:
            nearer.setdefault(rival.key, []).append(rival.shared)
        else:
            at_home += 1
            if 2 * at_home >= len(uses):
                return None
    for path, shared in nearer.items():
        if len(shared) >= LEAST_LINES and 2 * len(shared) > len(uses):
            words = _words(tuple(dict.fromkeys(word for words in shared for word in words)))
            return path, f"{len(shared)} of {len(uses)} lines on when to use it are nearer to {{}}: both say {words}"
    return None


def _words(shared: Sequence[str]) -> str:
    return ", ".join([word for word in shared if len(word) > 1 and word != "use"][:_NAMED])


def _clash(member: Member, other: Member, message: str) -> Clash:
    together = shelf(member) == shelf(other)
    hit = Hit(
        Span(line=member.listing.description_line),
        message.format(main_file(other)) + ("" if together else "; the two are listed together if both are installed"),
        severity=None if together else Severity.INFO,
    )
    return Clash(member.path, hit, (member.path, other.path), other.path)


RULE = CatalogueRule(
    id="INDISTINCT",
    severity=Severity.WARNING,
    summary="two skills that their descriptions hardly tell apart",
    fix="say in each description what only this skill is for, or make one skill of the two",
    find=find,
)
