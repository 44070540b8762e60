"""A corpus that is read: its members with their ratings, and their texts when they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import UsageError
from skillgate.evaluation.corpus.folder import Store
from skillgate.judge.siblings import listed
from skillgate.model.digest import digest
from skillgate.model.skill import Skill
from skillgate.ranking.entrant import Entrant, Member, Text
from skillgate.skill import frontmatter
from skillgate.static.signals import needs_no_trigger

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillgate.model.corpus import CorpusIndex, Indexed, PageText
    from skillgate.model.skill import SkillRoot


class Beside(NamedTuple):
    """A member as a client would list it: name, description (with ``when_to_use``), and what a model loads of it."""

    name: str
    description: str
    body: str


class StoredCorpus:
    """A corpus on disk, as its index says now; :class:`~skillgate.ranking.entrant.Corpus`.

    Attributes:
        digest: of members and ratings.
        members: all of them, by name and digest.
        store, index: its files, and the index as it was read.
    """

    def __init__(self, store: Store, index: CorpusIndex) -> None:
        """Take the files and their index."""
        self.store = store
        self.index = index
        self.members = tuple(sorted(map(member, index.members), key=lambda one: (one.name, one.digest)))
        self.digest = ratings_digest(self.members)

    def entrant(self, member: Member) -> Entrant | None:
        """Return a member with its text; None where its text is gone or is another one now."""
        kept = self.store.text(member.digest)
        if kept is None or not kept.pages or content_digest(kept.pages) != member.digest:
            return None
        pages = tuple(Text(page.path, page.text) for page in kept.pages)
        return Entrant(member.name, member.digest, member.category, member.lines, pages)


def open_corpus(folder: str) -> StoredCorpus | None:
    """Read the corpus in a folder; None where there is none.

    Raises:
        UsageError: it is broken.
    """
    store = Store(folder)
    index = store.index() if folder else None
    if index is None:
        return None
    digests = [one.digest for one in index.members]
    if len(set(digests)) != len(digests):
        raise UsageError(f"the corpus in {folder} names a skill twice: skillgate corpus verify says which")
    return StoredCorpus(store, index)


def siblings(corpus: StoredCorpus) -> Iterator[Beside]:
    """Yield the members as skills that a client lists beside a lone one, by name.

    Left out are those that a model does not see, or that have no description or no text any more.
    """
    for one in corpus.members:
        entrant = corpus.entrant(one)
        found = None if entrant is None else _beside(entrant)
        if found is not None:
            yield found


def member(indexed: Indexed) -> Member:
    """Return what matches need to know of a skill of the index."""
    return Member(
        name=indexed.name,
        digest=indexed.digest,
        path=indexed.path,
        category=indexed.category,
        lines=indexed.lines,
        composite=indexed.composite,
        badge=indexed.badge,
        rating=indexed.rating,
        matches=indexed.matches,
        rateable=indexed.rateable,
    )


def content_digest(pages: Iterable[Text | PageText]) -> str:
    """Return the digest of a skill: of the paths and texts of all its pages, in their order."""
    parts = (part for page in pages for part in (page.path, page.text))
    return digest(*(part.encode("utf-8", "surrogatepass") for part in parts))


def ratings_digest(members: Iterable[Member]) -> str:
    """Return the digest of members and ratings: matches against equal ones may be compared."""
    parts = sorted(f"{one.digest} {one.rating!r} {one.matches}{'' if one.rateable else ' -'}" for one in members)
    return digest(*(part.encode("ascii") for part in parts))


def _beside(entrant: Entrant) -> Beside | None:
    parts = frontmatter.split(entrant.pages[0].text)
    if parts.yaml is None:
        return None
    head = frontmatter.parse(parts.yaml)[0]
    description = listed(head.text("description"), head.text("when_to_use"))
    root: SkillRoot | None = None  # it lies nowhere, and only its head is asked about
    if not description or needs_no_trigger(Skill(root, head)):  # type: ignore[arg-type]
        return None
    return Beside(entrant.name, description, parts.body)
