"""The rules across skills: what shows only if several are compared."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from skillgate.model.finding import CatalogueRule, Claim, Clash, Client, Hit, Listing, Member, Severity
from skillgate.model.skill import Span
from skillgate.named_tuple import NamedTuple
from skillgate.scoring.listing import comparable, harness, main_file, over_budget, project, shelf
from skillgate.skill.similarity import Index, Likeness
from skillgate.static import summary_of
from skillgate.static.copies import duplicated_content
from skillgate.static.secrets import hidden_of, without_secrets

_MOST = 20  # skills that a finding lists; each of a thousand namesakes would list them all


def claims_across(members: Sequence[Member]) -> tuple[tuple[str, Claim], ...]:
    """Run every rule over the skills; each claim with the shown path of the skill it is about."""
    files = {member.path: member.file for member in members}
    clashes = [(rule, clash) for rule in RULES for clash in rule.find(members)]
    claims = [_claim(rule, clash, files) for rule, clash in clashes]
    listings = (member.listing for member in members) if claims else ()
    hidden = hidden_of(text for one in listings for text in (one.name, one.description, one.when_to_use))
    return tuple(zip((clash.path for _, clash in clashes), without_secrets(claims, hidden), strict=True))


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


def _across(
    severity: Severity, *, fix: str, about: tuple[Client, ...] = ()
) -> Callable[[Callable[[Sequence[Member]], Iterator[Clash]]], CatalogueRule]:
    """Declare a function as a rule: its name is the id, the first line of its docstring the summary."""

    def declare(find: Callable[[Sequence[Member]], Iterator[Clash]]) -> CatalogueRule:
        return CatalogueRule(find.__name__.upper(), severity, summary_of(find.__doc__), fix, find, about=about)

    return declare


# -- One name twice

_PATHS = 3  # of others that a message names
_ONE_TEXT = "make the copies identical, or link them to one file"


@_across(Severity.WARNING, fix="rename one of them and its directory, or remove it")
def duplicate_name(members: Sequence[Member]) -> Iterator[Clash]:
    """Two skills have the same name.

    Why:
        Some clients keep one of two skills with the same name, depending on the order they search in. Others show both,
        and users cannot distinguish them. Within one plugin, or in one folder of skills, that is a warning. It is an
        info for skills of different plugins, since their names start with the plugin's name, and for separate folders,
        which may never be installed together. A skill that exists once per client, as in .claude/skills/pdf and
        .codex/skills/pdf, is one skill. If such copies differ (description, when_to_use or prose, ignoring white
        space), each differing copy is an info: users of one client get instructions that others do not.

    Bad:
        skills/pdf/SKILL.md and skills/pdf-forms/SKILL.md, both with name: pdf

    Good:
        name: pdf and name: pdf-forms

    Source: Agent Skills, guide for clients: collisions of names; documentation of Claude Code, skills of plugins.
    """
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
    message = f"name {member.listing.name!r} is also used by {paths}{more}"
    if together:
        message += ": clients show both under one name, or keep only one"
        severity, fix = Severity.WARNING, None
    else:
        message += ", in another plugin or folder of skills"
        severity, fix = Severity.INFO, "rename one of them if both may be installed together"
    hit = Hit(Span(member.listing.name_line), message, severity=severity, fix=fix)
    return Clash(member.path, hit, tuple(one.path for one in alike), others[0].path if count == 1 else None)


def _drifted(members: Sequence[Member]) -> Iterator[Clash]:
    """Yield one hit at each client's copy of a skill that differs from the original.

    The original is the copy in no client's directory, else the first one. Copies are skills of one name and one
    project; of a client that has the name twice, the first.
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
    """Return the line at which a copy departs from the original, and how; None if both are equal."""
    if copy.mark and copy.mark == original.mark:
        return None
    place, listed = main_file(original), copy.listing
    if _listed_words(copy) != _listed_words(original):
        return listed.description_line, f"has another description or when_to_use than {place}"
    here, there = copy.texts().lines, original.texts().lines
    for (line, text), (_, other) in zip(here, there, strict=False):
        if text != other:
            return line, f"differs from {place} from this line on"
    if len(here) == len(there):
        return None
    if len(here) > len(there):
        return here[len(there)][0], f"has more text than {place} from this line on"
    return listed.name_line, f"lacks the text of {place} from line {there[len(here)][0]} on"


def _listed_words(member: Member) -> tuple[list[str], list[str]]:
    return member.listing.description.split(), member.listing.when_to_use.split()


# -- Descriptions alike

LEAST = 0.3  # share of the score that each of two descriptions has for itself
CERTAIN = 0.6  # share from which few shared words are enough
LEAST_WORDS = 6  # that two descriptions have in common below that share
MARGIN = 1.25  # how many times a line's score for its own skill a sibling's must be to be clearly higher
LEAST_LINES = 3  # on when to use a skill, nearer to one sibling
LEAST_SHARED = 2  # words that such a line and the sibling's description have in common
_WORDS = 6  # shared words that a message names
_RUN = 6  # words in a row that are a passage
_OWN = 3  # words that a description needs besides such passages to be compared without them
_COMMON = 3  # skills that say a passage for it to describe none of them


class _Catalogue(NamedTuple):
    """What is compared: the skills by path, the index of what is listed of them, and the paths on each shelf."""

    members: dict[str, Member]
    bm25: Index
    shelves: dict[tuple[str | None, str], set[str]]


@_across(Severity.WARNING, fix="say in each description what only this skill is for, or merge the two skills")
def indistinct(members: Sequence[Member]) -> Iterator[Clash]:
    """Two skills with descriptions that are too similar.

    Why:
        A model chooses among the listed skills by name and description alone. If two of them say much the same in the
        same words, it has nothing to choose by. Two cases are reported. First, descriptions share their important words
        (BM25 over name and description; at least 0.3 of the score each has for itself), and one of the two has no
        distinct word: none that it says twice, name included, and the other never. `paypal-integration` and
        `stripe-integration` may read alike word for word and are still distinct; so are two skills if one names the
        other. A passage that three skills share describes none of them and does not count, and fewer than six shared
        words count only in short descriptions that are nearly equal. Second, more than half of a skill's own lines on
        when to use it are closer to a sibling's description, by a clear margin. The measure shows how distinct the
        texts are and predicts nothing about any model. Skills that are listed together are compared; skills of other
        plugins are an info. Skills that a model never chooses are ignored.

    Bad:
        cqrs-implementation: Separates read and write models. Use when optimizing queries in event-sourced systems.
        projection-patterns: Builds read models. Use when implementing CQRS or optimizing queries in event-sourced
        systems.

    Good:
        cqrs-implementation: Splits a write model from its reads. Use when commands and queries need different models.
        projection-patterns: Builds and rebuilds projections. Use when a projection lags, is replayed or changes its
        shape.

    Source: skillgate's own measure. The threshold was set on 232 public skills: a reader found that the pairs over it
    that are listed together overlap; at 0.26 the first pair appeared that does not.
    """
    for part in comparable(members):
        listed = [member for member in part if member.listing.listed and member.listing.description]
        twins, single = _split_twins(listed)
        yield from (_clash(one, other, "description is identical to that of {}") for one, other in twins)
        if len(single) > 1:
            yield from _alike(_catalogue(single))


def _split_twins(listed: Sequence[Member]) -> tuple[list[tuple[Member, Member]], list[Member]]:
    """Separate the skills whose description another has to the letter; the first of each stays with the rest."""
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
    texts = tuple(zip((member.path for member in listed), _own_texts([one.listing for one in listed]), strict=True))
    shelves: dict[tuple[str | None, str], set[str]] = {}
    for member in listed:
        shelves.setdefault(shelf(member), set()).add(member.path)
    return _Catalogue({member.path: member for member in listed}, Index(texts), shelves)


def _own_texts(listings: Sequence[Listing]) -> Iterator[str]:
    """Give what is compared of each skill, without the passages that many have in common and that describe none."""
    spoken = [f"{listing.description} {listing.when_to_use}".split() for listing in listings]
    folded = [[word.lower() for word in words] for words in spoken]
    runs = Counter(run for words in folded for run in set(_runs(words)))
    for listing, words, plain in zip(listings, spoken, folded, strict=True):
        common = {at + step for at, run in enumerate(_runs(plain)) if runs[run] >= _COMMON for step in range(_RUN)}
        own = [word for at, word in enumerate(words) if at not in common]
        yield _text(listing.name, " ".join(own if len(own) >= _OWN else words))


def _runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(words[step:] for step in range(_RUN)), strict=False)


def _text(name: str, spoken: str) -> str:
    """Join what is compared, with the words of the name as the text writes them: C# for csharp, Spring Boot."""
    text = spoken.lower().replace("c++", "cplusplus").replace("c#", "csharp").replace("f#", "fsharp")
    words = ["".join(filter(str.isalnum, word)) for word in text.split()]
    joined = {one + two for one, two in pairwise(words)}
    repeated = " ".join(part for part in name.lower().split("-") if part in joined)
    return f"{name} {text} {repeated}"


_STEERS = r"(?:\b(?:use|using|prefer|see|try|with|via|load|run|invoke|to|than|and|or)[ ](?:the[ ])?)"


def _names(one: Member, other: Member) -> bool:
    """Whether a skill's description names another, as one that says which of the two to use.

    A name of one word may be a word: it counts in "use pdf for …", "the pdf skill" and in quotes.
    """
    name = other.listing.name.lower()
    text = " ".join(f"{one.listing.description} {one.listing.when_to_use}".lower().split())
    if name not in text:
        return False
    word = rf"(?<![\w-]){re.escape(name)}(?![\w-])"
    if "-" in name:
        return re.search(word, text) is not None
    marked = rf"[`'\"/$]{re.escape(name)}[`'\"]"
    return re.search(rf"{_STEERS}[`'\"/$*]{{0,3}}{word}|{marked}|{word} (?:skill|instead)\b", text) is not None


def _alike(catalogue: _Catalogue) -> Iterator[Clash]:
    seen: set[tuple[str, str]] = set()
    for member in catalogue.members.values():
        for one in _nearest(catalogue, member):
            pair = min(member.path, one.key), max(member.path, one.key)
            if pair not in seen:
                seen.add(pair)
                words = f"description is too similar to that of {{}}: both say {_words(one.shared)}"
                yield _clash(catalogue.members[pair[1]], catalogue.members[pair[0]], words)
    for member in catalogue.members.values():
        stray = _stray(catalogue, member)
        if stray is not None and (min(member.path, stray[0]), max(member.path, stray[0])) not in seen:
            yield _clash(member, catalogue.members[stray[0]], stray[1])


def _nearest(catalogue: _Catalogue, member: Member) -> Iterator[Likeness]:
    """Yield the skill that is too similar to this one: the nearest listed with it, else the nearest of others."""
    siblings = catalogue.shelves[shelf(member)]
    alike = catalogue.bm25.alike(member.path, least=LEAST)
    for one in sorted(alike, key=lambda one: one.key not in siblings):
        other = catalogue.members[one.key]
        if _names(member, other) or _names(other, member):
            continue  # one of them says when the other is meant
        few = one.share < CERTAIN and len(_told(one.shared)) < LEAST_WORDS
        if few or other.listing.name == member.listing.name:
            continue
        if not _are_distinct(catalogue, member.path, one.key):
            yield one
            return


def _are_distinct(catalogue: _Catalogue, one: str, other: str) -> bool:
    """Whether each of two texts has a word twice that the other never has."""
    own_words = catalogue.bm25.own_words
    return bool(own_words(one, against=other) and own_words(other, against=one))


def _stray(catalogue: _Catalogue, member: Member) -> tuple[str, str] | None:
    """Find the sibling that most of a skill's lines on when to use it are closer to: its path and the message."""
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
            return path, f"{len(shared)} of {len(uses)} lines on when to use it are closer to {{}}: both say {words}"
    return None


def _words(shared: Sequence[str]) -> str:
    return ", ".join(_told(shared)[:_WORDS])


def _told(shared: Sequence[str]) -> list[str]:
    """Drop the shared words that say nothing."""
    return [word for word in shared if len(word) > 1 and word != "use"]


def _clash(member: Member, other: Member, message: str) -> Clash:
    together = shelf(member) == shelf(other)
    message = message.format(main_file(other))
    message += "" if together else "; the two are listed together if both are installed"
    severity = None if together else Severity.INFO
    hit = Hit(Span(member.listing.description_line), message, severity=severity)
    return Clash(member.path, hit, (member.path, other.path), other.path)


# -- The listing budgets

_SHORTEN = "shorten the longest descriptions, or split the catalogue into plugins that are installed apart"


@_across(Severity.WARNING, fix=_SHORTEN, about=(Client.CLAUDE_CODE,))
def listing_budget_claude_code(members: Sequence[Member]) -> Iterator[Clash]:
    """Together, the skills exceed the characters that Claude Code lists.

    Why:
        Claude Code shows its model the name and the description of every installed skill, in one per cent of the
        context window: 8,000 characters unless another size is known or set. Over that budget the least used skills are
        listed by name alone, so the model has nothing to choose them by. Skills of one plugin are counted together, and
        so are those without a plugin. Skills that only a user or a path starts are not listed and cost nothing.

    Bad:
        40 skills whose names and descriptions take 14,000 characters.

    Good:
        The same 40, each described in 150 characters; or disable-model-invocation for those that only a person starts.

    Source: documentation of Claude Code, skills: `skillListingBudgetFraction` and `skillListingMaxDescChars`.
    """
    return over_budget(Client.CLAUDE_CODE)(members)


@_across(Severity.WARNING, fix=_SHORTEN, about=(Client.CODEX,))
def listing_budget_codex(members: Sequence[Member]) -> Iterator[Clash]:
    """Together, the skills exceed the characters that Codex lists.

    Why:
        Codex shows its model the name and the description of every installed skill, in about two per cent of the
        context window: 8,000 characters if the window is unknown. Over that budget all descriptions are shortened,
        which removes the words that distinguish skills, and a very large catalogue loses whole skills. Skills of one
        plugin are counted together, and so are those without a plugin.

    Bad:
        40 skills whose names and descriptions take 14,000 characters.

    Good:
        The same 40, each described in 150 characters that begin with what only this skill is for.

    Source: documentation of Codex, agent skills: the initial list of skills.
    """
    return over_budget(Client.CODEX)(members)


RULES = (
    duplicate_name,
    _across(Severity.WARNING, fix="keep them in one of the two, or in a separate skill, and link to it")(
        duplicated_content
    ),
    indistinct,
    listing_budget_claude_code,
    listing_budget_codex,
)
