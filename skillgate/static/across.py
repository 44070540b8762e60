"""What shows only among several skills: the rules over a catalogue."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from skillgate.model.finding import CatalogueRule, Claim, Clash, Client, Hit, Listing, Member, Severity
from skillgate.model.skill import Span
from skillgate.scoring.listing import comparable, harness, main_file, over_budget, project, shelf
from skillgate.skill.similarity import Index, Likeness
from skillgate.static import documented
from skillgate.static.copies import copied_passages

_MOST = 20  # skills that a finding lists; each of a thousand namesakes would list them all


def claims_across(members: Sequence[Member]) -> tuple[tuple[str, Claim], ...]:
    """Run every rule over the skills; each claim with the shown path of the skill it is about."""
    files = {member.path: member.file for member in members}
    return tuple((clash.path, _claim(rule, clash, files)) for rule in RULES for clash in rule.find(members))


def _claim(rule: CatalogueRule, clash: Clash, files: dict[str, str]) -> Claim:
    hit = clash.hit
    return Claim(
        id=rule.id,
        severity=hit.severity or rule.severity,
        message=hit.message,
        file=files[clash.path],
        line=hit.span.line,
        column=hit.span.column,
        fix=hit.fix or rule.fix,
        group=rule.group,
        optional=rule.optional,
        about=rule.about,
        other=clash.other,
        skills=tuple(sorted(clash.skills)) if len(clash.skills) <= _MOST else (),
    )


# -- One name twice

_PATHS = 3  # of others that a message names
_ONE_TEXT = "bring the copies to one text, or make them links to one of them"


@documented("""Two skills have the same name.

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
""")
def _duplicate_name(members: Sequence[Member]) -> Iterator[Clash]:
    for part in comparable(members):
        named: dict[str, list[Member]] = {}
        for member in part:
            named.setdefault(unicodedata.normalize("NFKC", member.listing.name), []).append(member)
        for name, bearers in named.items():
            if name and len(bearers) > 1:
                yield from _same_name(bearers)
    yield from _drifted(members)


def _same_name(bearers: Sequence[Member]) -> Iterator[Clash]:
    shelves: dict[tuple[str | None, str], list[Member]] = {}
    for member in bearers:
        shelves.setdefault(shelf(member), []).append(member)
    for siblings in shelves.values():
        together = len(siblings) > 1
        for member in siblings:
            yield _name_clash(member, siblings if together else bearers, together=together)


def _name_clash(member: Member, alike: Sequence[Member], *, together: bool) -> Clash:
    others = [other for other in alike[: _PATHS + 1] if other is not member][:_PATHS]
    count = len(alike) - 1
    paths = ", ".join(main_file(other) for other in others)
    more = f" and {count - len(others)} more" if count > len(others) else ""
    message = f"the name {member.listing.name!r} is that of {paths}{more} too: "
    if together:
        message += "clients show both under one name, or keep one of them"
        severity, fix = Severity.WARNING, None
    else:
        message += "in another plugin or folder of skills"
        severity, fix = Severity.INFO, "give one of them another name if both may be installed together"
    hit = Hit(Span(member.listing.name_line), message, severity=severity, fix=fix)
    return Clash(member.path, hit, tuple(one.path for one in alike), others[0].path if count == 1 else None)


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
            if member is not original and (difference := _difference(member, original)):
                line, message = difference
                hit = Hit(Span(line), f"the copy for {client} {message}", severity=Severity.INFO, fix=_ONE_TEXT)
                yield Clash(member.path, hit, (member.path, original.path), original.path)


def _difference(copy: Member, original: Member) -> tuple[int, str] | None:
    """Return the line at which a copy departs from the original, and how; None where both say the same."""
    if copy.mark and copy.mark == original.mark:
        return None
    place, listed = main_file(original), copy.listing
    if _listed_words(copy) != _listed_words(original):
        return listed.description_line, f"has another description or when_to_use than {place}"
    here, there = copy.texts().lines, original.texts().lines
    for (line, text), (_, other) in zip(here, there, strict=False):
        if text != other:
            return line, f"differs from {place} from here on"
    if len(here) == len(there):
        return None
    if len(here) > len(there):
        return here[len(there)][0], f"says more than {place} from here on"
    return listed.name_line, f"lacks what {place} says from line {there[len(here)][0]} on"


def _listed_words(member: Member) -> tuple[list[str], list[str]]:
    return member.listing.description.split(), member.listing.when_to_use.split()


# -- Descriptions alike

LEAST = 0.3  # share of the score that each of two descriptions has for itself
MARGIN = 1.25  # how many times a line's score for its own skill a sibling's must be to be clearly higher
LEAST_LINES = 3  # on when to use a skill, nearer to one sibling
LEAST_SHARED = 2  # words that such a line and the sibling's description have in common
_WORDS = 6  # shared words that a message names


class _Catalogue(NamedTuple):
    """What is compared: the skills by path, the index of what is listed of them, and the paths on each shelf."""

    members: dict[str, Member]
    bm25: Index
    shelves: dict[tuple[str | None, str], set[str]]


@documented("""Two skills that their descriptions hardly tell apart.

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
""")
def _indistinct(members: Sequence[Member]) -> Iterator[Clash]:
    for part in comparable(members):
        listed = [member for member in part if member.listing.listed and member.listing.description]
        twins, single = _set_twins_aside(listed)
        yield from (_clash(one, other, "the description is, word for word, that of {}") for one, other in twins)
        if len(single) > 1:
            yield from _alike(_catalogue(single))


def _set_twins_aside(listed: Sequence[Member]) -> tuple[list[tuple[Member, Member]], list[Member]]:
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
    """Join what is compared, with the words of the name as the text writes them: C# for csharp, Spring Boot."""
    text = f"{listing.description} {listing.when_to_use}".lower()
    text = text.replace("c++", "cplusplus").replace("c#", "csharp").replace("f#", "fsharp")
    words = ["".join(filter(str.isalnum, word)) for word in text.split()]
    joined = {one + two for one, two in pairwise(words)}
    repeated = " ".join(part for part in listing.name.lower().split("-") if part in joined)
    return f"{listing.name} {text} {repeated}"


def _names(one: Member, other: Member) -> bool:
    """Whether a skill's description names another, as one that says which of the two to take does."""
    name = other.listing.name.lower()
    return "-" in name and name in f"{one.listing.description} {one.listing.when_to_use}".lower()


def _alike(catalogue: _Catalogue) -> Iterator[Clash]:
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
    """Yield the skill that reads too much like this one: the nearest listed with it, else the nearest of others."""
    siblings = catalogue.shelves[shelf(member)]
    alike = catalogue.bm25.alike(member.path, least=LEAST)
    for one in sorted(alike, key=lambda one: one.key not in siblings):
        other = catalogue.members[one.key]
        if _names(member, other) or _names(other, member):
            continue  # one of them says when the other is meant
        if other.listing.name != member.listing.name and not _are_distinct(catalogue, member.path, one.key):
            yield one
            return


def _are_distinct(catalogue: _Catalogue, one: str, other: str) -> bool:
    """Whether each of two texts says a word twice that the other never says."""
    own_words = catalogue.bm25.own_words
    return bool(own_words(one, against=other) and own_words(other, against=one))


def _stray(catalogue: _Catalogue, member: Member) -> tuple[str, str] | None:
    """Find the sibling that most of a skill's lines on when to use it are nearer to: its path and the message."""
    siblings = catalogue.shelves[shelf(member)] - {member.path}
    uses = member.texts().uses if siblings else ()
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
    return ", ".join([word for word in shared if len(word) > 1 and word != "use"][:_WORDS])


def _clash(member: Member, other: Member, message: str) -> Clash:
    together = shelf(member) == shelf(other)
    message = message.format(main_file(other))
    message += "" if together else "; the two are listed together if both are installed"
    severity = None if together else Severity.INFO
    hit = Hit(Span(member.listing.description_line), message, severity=severity)
    return Clash(member.path, hit, (member.path, other.path), other.path)


# -- Every rule

_duplicated_content = documented("""Instructions that another skill has word for word.

Why:
    What stands in two places is mended in one: the copies drift apart, and a model that has read both follows either.
    Each copy is also paid for in tokens whenever its skill is used. Counted are lines of prose, folded for white space,
    case and list marker; headings, code and lines of fewer than three words are not. A finding is a run of eight such
    lines, or lines that make up three tenths of a body and have at least forty words. It is reported where the path
    sorts later, once for each skill copied from; a passage that more than twenty skills hold is reported once. Copies
    for several clients, as in .claude/skills and .codex/skills, are one skill.

Bad:
    skills/deploy-web and skills/deploy-api, each with the same twenty lines on how a release is rolled back.

Good:
    skills/roll-back with those twenty lines, and a link to it from both.

Source: skillgate's own; eight lines and three tenths are our choice. In 232 public skills unrelated bodies share at
most 4 lines in a row and 14 per cent of their lines.
""")(copied_passages)
_budget_claude_code = documented("""Listed together, the skills take more characters than Claude Code lists.

Why:
    Claude Code shows its model the name and the description of every installed skill, in one per cent of the context
    window: 8,000 characters where nothing else is known or set. Over it the skills used least keep their name alone,
    so that the model has nothing to choose them by. Skills of one plugin are counted together, those without a plugin
    likewise; skills that only a user or a path starts are not listed and cost nothing.

Bad:
    40 skills whose names and descriptions take 14,000 characters.

Good:
    The same 40, each told in 150 characters; or disable-model-invocation for those that only a person starts.

Source: documentation of Claude Code, skills: `skillListingBudgetFraction` and `skillListingMaxDescChars`.
""")(over_budget(Client.CLAUDE_CODE))
_budget_codex = documented("""Listed together, the skills take more characters than Codex lists.

Why:
    Codex shows its model the name and the description of every installed skill, in about two per cent of the context
    window: 8,000 characters where the window is not known. Over it all descriptions are shortened, which takes the
    words away that tell skills apart, and a very large catalogue loses whole skills. Skills of one plugin are counted
    together, those without a plugin likewise.

Bad:
    40 skills whose names and descriptions take 14,000 characters.

Good:
    The same 40, each told in 150 characters that begin with what only this skill is for.

Source: documentation of Codex, agent skills: the initial list of skills.
""")(over_budget(Client.CODEX))

RULES = (
    CatalogueRule(
        id="DUPLICATE_NAME",
        severity=Severity.WARNING,
        summary="two skills have the same name",
        fix="give one of them another name, and its directory with it; or remove it",
        find=_duplicate_name,
    ),
    CatalogueRule(
        id="DUPLICATED_CONTENT",
        severity=Severity.WARNING,
        summary="instructions that another skill has word for word",
        fix="keep them in one of the two, or in a skill of their own, and link to it",
        find=_duplicated_content,
    ),
    CatalogueRule(
        id="INDISTINCT",
        severity=Severity.WARNING,
        summary="two skills that their descriptions hardly tell apart",
        fix="say in each description what only this skill is for, or make one skill of the two",
        find=_indistinct,
    ),
    CatalogueRule(
        id="LISTING_BUDGET_CLAUDE_CODE",
        severity=Severity.WARNING,
        summary="the skills listed together exceed what Claude Code lists",
        fix="shorten the longest descriptions, or split the catalogue into plugins that are installed apart",
        find=_budget_claude_code,
        about=(Client.CLAUDE_CODE,),
    ),
    CatalogueRule(
        id="LISTING_BUDGET_CODEX",
        severity=Severity.WARNING,
        summary="the skills listed together exceed what Codex lists",
        fix="shorten the longest descriptions, or split the catalogue into plugins that are installed apart",
        find=_budget_codex,
        about=(Client.CODEX,),
    ),
)
