"""The skills that a client would list beside one: those in its folder, else in its plugin, else a few common ones.

What lies on disk decides, not what a run was asked to look at. How hard a skill is to tell from another is a matter of
these two alone: rarity of words is taken from the common skills, so that no third one has a say in which are listed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from skillgate.judge.subject import Sibling
from skillgate.model.finding import Client
from skillgate.model.ports import EntryKind
from skillgate.model.skill import Skill
from skillgate.scoring.listing import LIMITS
from skillgate.skill import frontmatter
from skillgate.skill.similarity import Index
from skillgate.skill.walk import SKIPPED, join, main_file
from skillgate.static.signals import needs_no_trigger

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillgate.model.ports import Tree
    from skillgate.model.skill import Frontmatter, SkillRoot

MOST_LOOKED_AT = 500  # skills of one folder or plugin
MOST_NAMES = 5_000  # names of one plugin that are looked through for skills
LISTED = LIMITS[Client.CLAUDE_CODE].one  # characters of a description that a model is shown
_READ = frontmatter.MAX_BYTES + 64  # bytes of a main file: its frontmatter, and the lines that enclose it
_OWN = "own"

COMMON = (
    Sibling(
        "spreadsheets",
        "Reads, edits and creates spreadsheets. Use when rows, sheets or formulas of an .xlsx or CSV file are wanted.",
    ),
    Sibling(
        "pdf-files",
        "Works with PDF files. Use when text is to be taken from a PDF, its forms filled in, or pages split or joined.",
    ),
    Sibling(
        "slides",
        "Makes and edits presentations. Use when the user asks for slides, a deck or speaker notes.",
    ),
    Sibling(
        "text-documents",
        "Writes word-processor documents. Use for letters and reports with headings, comments or tracked changes.",
    ),
    Sibling(
        "commit-messages",
        "Writes commit messages from a diff. Use when changes are about to be committed.",
    ),
    Sibling(
        "code-review",
        "Reviews a change for bugs, risks and style. Use when a branch, pull request or patch is to be reviewed.",
    ),
    Sibling(
        "browser-tests",
        "Drives a browser to test web applications. Use when a page is to be clicked through or photographed.",
    ),
    Sibling(
        "database-queries",
        "Writes and explains SQL. Use when a database is to be queried, sped up, or its schema changed.",
    ),
    Sibling(
        "interface-design",
        "Designs user interfaces. Use when a page, a component or a dashboard is to be laid out or styled.",
    ),
    Sibling(
        "deployment", "Sets up builds and releases. Use when a pipeline, a container or a server is to be configured."
    ),
    Sibling(
        "research",
        "Looks facts up and sums them up. Use when the user asks what is known about something, with sources.",
    ),
    Sibling(
        "translation", "Translates texts. Use when a document, a message or an interface is wanted in another language."
    ),
)
"""Skills of the kind that most people have, in our own words: what a skill without neighbours is told apart from."""


class Stocked(Protocol):
    """A skill that is no neighbour on disk but can be listed as one, and brings its text: one of a corpus."""

    @property
    def name(self) -> str:
        """What it is listed by."""

    @property
    def description(self) -> str:
        """Likewise, with ``when_to_use`` where it has one."""

    @property
    def body(self) -> str:
        """Its text after the frontmatter."""


class OnDisk(NamedTuple):
    """Where the text of a neighbour is: its directory without links, and its main file, as paths of a tree."""

    tree: Tree
    directory: str
    file: str


class Neighbour(NamedTuple):
    """A skill that is listed beside one.

    Attributes:
        sibling: as it is listed.
        directory: its directory's own name, ``""`` where it is not on disk.
        text: where its text is, or the text after the frontmatter itself; None for a common one.
    """

    sibling: Sibling
    directory: str = ""
    text: OnDisk | str | None = None


class Neighbours(NamedTuple):
    """The skills that are listed beside one, the hardest to tell apart first, and where they come from.

    ``source`` is ``beside`` (its folder, else its plugin), ``corpus`` or ``common``.
    """

    source: str
    found: tuple[Neighbour, ...]


class _Member(NamedTuple):
    """A skill on a shelf, by the real path of its directory; ``file`` is the path of its main file."""

    place: str
    directory: str
    sibling: Sibling
    file: str

    def beside(self, name: str) -> Sibling:
        """Give it as it is listed beside a skill: under its directory's name where the other has taken its own."""
        if self.sibling.name != name or not self.directory:
            return self.sibling
        return self.sibling._replace(name=self.directory)


class Shelves:
    """Answers for the skills of a run; each folder and each plugin is looked through once."""

    def __init__(self) -> None:
        self._folders: dict[tuple[int, str], tuple[_Member, ...]] = {}
        self._plugins: dict[tuple[int, str], tuple[_Member, ...]] = {}
        self._trees: dict[int, Tree] = {}  # kept, so that no other tree gets the identity of one

    def siblings(self, root: SkillRoot, name: str, description: str, most: int = 15) -> tuple[Sibling, ...]:
        """Give what :func:`siblings` gives."""
        return tuple(one.sibling for one in self.neighbours(root, name, description, most).found)

    def neighbours(
        self, root: SkillRoot, name: str, description: str, most: int = 15, corpus: Sequence[Stocked] = ()
    ) -> Neighbours:
        """Give the same skills, with where their text is.

        Skills of a corpus take the place of the common ones for a skill without neighbours; those of its own name are
        left out, since they are what it was. The rest is as of :func:`siblings`.
        """
        own = root.tree.real(root.directory)
        for members in (self._beside(root), self._plugin(root)):
            others = [
                Neighbour(one.beside(name), one.directory, OnDisk(root.tree, one.place, one.file))
                for one in members
                if one.place != own
            ]
            if others:
                return Neighbours("beside", _hardest(others, name, description, most))
        stocked = [
            Neighbour(Sibling(one.name, listed(one.description, "")), text=one.body)
            for one in corpus
            if one.name != name and one.description.strip()
        ]
        if stocked:
            return Neighbours("corpus", _hardest(stocked, name, description, most))
        common = [Neighbour(one) for one in COMMON if one.name != name]
        return Neighbours("common", _hardest(common, name, description, most))

    def _beside(self, root: SkillRoot) -> tuple[_Member, ...]:
        folder, _, own = root.directory.rpartition("/")
        if not own:
            return ()
        key = self._key(root.tree, folder)
        if key not in self._folders:
            places = (join(folder, name) for name in root.tree.names(folder))
            self._folders[key] = tuple(_members(root, places))
        return self._folders[key]

    def _plugin(self, root: SkillRoot) -> tuple[_Member, ...]:
        if root.plugin is None:
            return ()
        key = self._key(root.tree, root.plugin)
        if key not in self._plugins:
            self._plugins[key] = tuple(_members(root, _below(root.tree, root.plugin)))
        return self._plugins[key]

    def _key(self, tree: Tree, place: str) -> tuple[int, str]:
        self._trees.setdefault(id(tree), tree)
        return id(tree), place


def siblings(root: SkillRoot, name: str, description: str, most: int = 15) -> tuple[Sibling, ...]:
    """Give the skills that a client would list beside one.

    Args:
        root: where the skill lies.
        name: what it is listed by; another of that name is listed by its directory's, and is no less another.
        description: likewise.
        most: at most how many.

    Returns:
        The hardest to tell apart first, ties by name: by BM25 of the description for the other's as a query. Skills
        that a model does not see or that have no description are left out; descriptions are cut as clients cut them.
    """
    return Shelves().siblings(root, name, description, most)


def _members(root: SkillRoot, places: Iterable[str]) -> Iterator[_Member]:
    """Read the skills that lie at some places of a skill's tree, each once whatever links lead to it."""
    seen: set[str] = set()
    tree = root.tree
    for place in places:
        if len(seen) >= MOST_LOOKED_AT:
            return
        real = tree.real(place)
        file = None if real is None or real in seen else main_file(dict.fromkeys(tree.names(place)))
        if real is None or file is None:
            continue
        seen.add(real)
        head = _frontmatter(tree, join(place, file))
        directory = place.rpartition("/")[2]
        sibling = None if head is None else _listed(Skill(root, head), directory)
        if sibling is not None:
            yield _Member(real, directory, sibling, join(place, file))


def _frontmatter(tree: Tree, path: str) -> Frontmatter | None:
    """Read the head of a main file; None where there is none that can be read."""
    try:
        text = tree.read(path, limit=_READ).decode("utf-8-sig", "replace")
    except OSError:
        return None
    yaml = frontmatter.split(text.replace("\r\n", "\n").replace("\r", "\n")).yaml
    return None if yaml is None else frontmatter.parse(yaml)[0]


def _listed(skill: Skill, directory: str) -> Sibling | None:
    """Give a skill, of which the frontmatter is known, as a client lists it; None where it does not."""
    head = skill.frontmatter
    description = listed(head.text("description"), head.text("when_to_use"))
    if not description or needs_no_trigger(skill):
        return None
    return Sibling(head.text("name") or directory, description)


def listed(description: str, when_to_use: str) -> str:
    """Join both as a client lists them, on one line, and cut them where it does."""
    text = " - ".join(" ".join(part.split()) for part in (description, when_to_use) if part)
    return text if len(text) <= LISTED else f"{text[: LISTED - 1]}…"


def _below(tree: Tree, top: str) -> Iterator[str]:
    """Give the directories at and below one, the upper ones first, without following links."""
    pending, left = [top], MOST_NAMES
    for place in pending:  # which grows
        yield place
        names = tree.names(place)[: max(0, left)]
        left -= len(names)
        for name in names:
            below = join(place, name)
            entry = None if name in SKIPPED or tree.real(below) != below else tree.entry(below)
            if entry is not None and entry.kind is EntryKind.DIRECTORY:
                pending.append(below)


def _hardest(others: Iterable[Neighbour], name: str, description: str, most: int) -> tuple[Neighbour, ...]:
    """Choose among neighbours; of those that are listed alike the first counts."""
    index = Index([(_OWN, f"{name}\n{description}"), *((one.name, one.description) for one in COMMON)])
    alike: dict[Sibling, Neighbour] = {}
    for other in others:
        alike.setdefault(other.sibling, other)
    scored = sorted((-_score(index, sibling), sibling) for sibling in alike)
    return tuple(alike[sibling] for _, sibling in scored[:most])


def _score(index: Index, other: Sibling) -> float:
    matches = index.rank(f"{other.name}\n{other.description}", limit=len(COMMON) + 1)
    return next((match.score for match in matches if match.key == _OWN), 0.0)
