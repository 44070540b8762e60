"""Which skills match a query, and in which order: pure.

Every word of a query must be in the id, the name, the description or a tag. A word that is one there counts more than
the beginning of one, and that more than a part.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from skillgate.model.choosing import FoundSkill

NAME, ID, DESCRIPTION, TAG = 3, 3, 2, 1
"""What a match counts, by where it is."""
EXACT, PREFIX, PART = 3, 2, 1
"""What it is multiplied by: a whole word, the beginning of one, a part."""


class Wanted(NamedTuple):
    """What is asked of skills.

    Attributes:
        query: words; all of them must match.
        tags: all of them, whatever their case.
        adapter: the word for how it is run; None for any.
        min_completion: the least share of tasks, in [0, 1], that it completed when it was last evaluated; None: any.
        limit: how many at most.
    """

    query: str | None = None
    tags: Collection[str] = ()
    adapter: str | None = None
    min_completion: float | None = None
    limit: int | None = None


def fits(skill: FoundSkill, wanted: Wanted) -> bool:
    """Tell whether a skill has the tags and the adapter."""
    has = {folded(tag) for tag in skill.tags}
    return wanted.adapter in (None, skill.adapter_type.value) and {folded(tag) for tag in wanted.tags} <= has


def relevance(skill: FoundSkill, query: str) -> int:
    """Say how well a skill matches a query; 0: not at all."""
    fields = [
        (NAME, folded(skill.name)),
        (ID, folded(skill.id)),
        (DESCRIPTION, folded(skill.description)),
        (TAG, "\n".join(folded(tag) for tag in skill.tags)),
    ]
    total = 0
    for word in words_of(query):
        found = sum(weight * _strength(word, text) for weight, text in fields)
        if not found:
            return 0
        total += found
    return total


def words_of(query: str) -> tuple[str, ...]:
    """Give the words of a query, each once; ``web_search`` stays together and also matches ``web-search``."""
    parts = (folded(word) for word in query.split())
    return tuple(dict.fromkeys(word for word in parts if word))


def folded(text: str) -> str:
    """Give the form in which texts are compared: without case, compatible forms as one, ``-`` and ``_`` as blanks."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(plain.replace("-", " ").replace("_", " ").split())


def ranked(skills: Iterable[FoundSkill]) -> list[FoundSkill]:
    """Put skills in order: by relevance, then by what they completed, the unknown last; then by id and path."""

    def place(skill: FoundSkill) -> tuple[object, ...]:
        rate = -1.0 if skill.completion is None else skill.completion.completion_rate
        return -(skill.relevance or 0), -rate, skill.id, skill.version or "", skill.path

    return sorted(skills, key=place)


def completed(skills: Sequence[FoundSkill], least: float) -> tuple[list[FoundSkill], int]:
    """Give those that completed so much, and count those of which nobody knows."""
    known = [skill for skill in skills if skill.completion is not None]
    enough = [skill for skill in known if skill.completion is not None and skill.completion.completion_rate >= least]
    return enough, len(skills) - len(known)


def _strength(word: str, text: str) -> int:
    if word not in text:
        return 0
    found = re.escape(word)
    if re.search(rf"(?<!\w){found}(?!\w)", text):
        return EXACT
    return PREFIX if re.search(rf"(?<!\w){found}", text) else PART
