"""The skills that a client would list with one: those in its folder, else in its plugin, else a few common ones.

The files on disk decide, not the paths that a run was given. How hard it is to distinguish two skills depends on these
two alone: rarity of words is taken from the common skills.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from skillgate.judge.subject import Sibling
from skillgate.model.finding import Client
from skillgate.model.skill import EntryKind, Skill
from skillgate.scoring.listing import LIMITS
from skillgate.skill import frontmatter
from skillgate.skill.similarity import Index
from skillgate.skill.walk import SKIPPED, join, main_file
from skillgate.static.text import needs_no_trigger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from skillgate.model.skill import Frontmatter, SkillRoot, Tree

MOST_LOOKED_AT = 500  # skills of one folder or plugin
MOST_NAMES = 5_000  # names of one plugin that are looked through for skills
LISTED = LIMITS[Client.CLAUDE_CODE].one  # characters of a description that a model is shown
_READ = frontmatter.MAX_BYTES + 64  # bytes of a main file: its frontmatter, and the lines that enclose it
_OWN = "own"

# Skills of the kind that most people have, in our own words: what a skill without neighbours is told apart from.
_COMMON = """\
spreadsheets: Reads, edits and creates spreadsheets. Use when rows, sheets or formulas of an .xlsx or CSV file are \
wanted.
pdf-files: Works with PDF files. Use when text is to be taken from a PDF, its forms filled in, or pages split or \
joined.
slides: Makes and edits presentations. Use when the user asks for slides, a deck or speaker notes.
text-documents: Writes word-processor documents. Use for letters and reports with headings, comments or tracked \
changes.
commit-messages: Writes commit messages from a diff. Use when changes are about to be committed.
code-review: Reviews a change for bugs, risks and style. Use when a branch, pull request or patch is to be reviewed.
browser-tests: Drives a browser to test web applications. Use when a page is to be clicked through or photographed.
database-queries: Writes and explains SQL. Use when a database is to be queried, sped up, or its schema changed.
interface-design: Designs user interfaces. Use when a page, a component or a dashboard is to be laid out or styled.
deployment: Sets up builds and releases. Use when a pipeline, a container or a server is to be configured.
research: Looks facts up and sums them up. Use when the user asks what is known about something, with sources.
translation: Translates texts. Use when a document, a message or an interface is wanted in another language.
"""
COMMON = tuple(Sibling(*line.split(": ", 1)) for line in _COMMON.splitlines())


class Stocked(Protocol):
    """A skill that is no neighbour on disk but can be listed as one, with its text: one of a corpus."""

    @property
    def name(self) -> str:
        """What it is listed by."""

    @property
    def description(self) -> str:
        """Its description, with ``when_to_use`` if it has one."""

    @property
    def body(self) -> str:
        """Its text after the frontmatter."""


class OnDisk(NamedTuple):
    """Where the text of a neighbour is: its directory without links, and its main file, as paths of a tree."""

    tree: Tree
    directory: str
    file: str


class Neighbour(NamedTuple):
    """A skill that is listed with one."""

    sibling: Sibling  # as it is listed
    directory: str = ""  # its directory's own name, "" where it is not on disk
    text: OnDisk | str | None = None  # where its text is, or the text after the frontmatter; None for a common one


class Neighbours(NamedTuple):
    """The skills that are listed with one, the hardest to tell apart first.

    ``source`` is ``beside`` (its folder, else its plugin), ``corpus`` or ``common``.
    """

    source: str
    found: tuple[Neighbour, ...]


class _Member(NamedTuple):
    """A skill of a folder or plugin."""

    place: str  # its directory, without links
    directory: str
    sibling: Sibling
    file: str  # the path of its main file


class Shelves:
    """Answers for the skills of a run; each folder and each plugin is looked through once."""

    def __init__(self) -> None:
        self._members: dict[tuple[int, str, bool], tuple[_Member, ...]] = {}
        self._trees: dict[int, Tree] = {}  # held, so that no other tree gets the identity of one

    def siblings(self, root: SkillRoot, name: str, description: str, most: int = 15) -> tuple[Sibling, ...]:
        """Return the skills that a client would list with one.

        The hardest to tell apart come first, ties by name: by BM25 of the description for the other's as a query.
        Another of the same name is listed by its directory's. Skills that a model does not see or that have no
        description are left out.
        """
        return tuple(one.sibling for one in self.neighbours(root, name, description, most).found)

    def neighbours(
        self, root: SkillRoot, name: str, description: str, most: int = 15, corpus: Sequence[Stocked] = ()
    ) -> Neighbours:
        """Return the same skills, with where their text is.

        Skills of a corpus replace the common ones for a skill without neighbours, but for those of its own name: that
        is what it was.
        """
        own = root.tree.real(root.directory)
        for members in (self._in_folder(root), self._in_plugin(root)):
            others = []
            for one in members:
                taken = one.sibling.name == name and one.directory  # then it is listed by its directory
                sibling = one.sibling._replace(name=one.directory) if taken else one.sibling
                if one.place != own:
                    others.append(Neighbour(sibling, one.directory, OnDisk(root.tree, one.place, one.file)))
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

    def _in_folder(self, root: SkillRoot) -> tuple[_Member, ...]:
        folder, _, own = root.directory.rpartition("/")
        if not own:
            return ()
        return self._read(root, folder, lambda: (join(folder, name) for name in root.tree.names(folder)))

    def _in_plugin(self, root: SkillRoot) -> tuple[_Member, ...]:
        plugin = root.plugin
        return () if plugin is None else self._read(root, plugin, lambda: _below(root.tree, plugin), deep=True)

    def _read(
        self, root: SkillRoot, top: str, places: Callable[[], Iterable[str]], *, deep: bool = False
    ) -> tuple[_Member, ...]:
        self._trees.setdefault(id(root.tree), root.tree)
        key = id(root.tree), top, deep
        if key not in self._members:
            self._members[key] = tuple(_members(root, places()))
        return self._members[key]


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
        description = "" if head is None else listed(head.text("description"), head.text("when_to_use"))
        if head is not None and description and not needs_no_trigger(Skill(root, head)):
            yield _Member(real, directory, Sibling(head.text("name") or directory, description), join(place, file))


def _frontmatter(tree: Tree, path: str) -> Frontmatter | None:
    """Read the head of a main file; None where there is none that can be read."""
    try:
        text = tree.read(path, limit=_READ).decode("utf-8-sig", "replace")
    except OSError:
        return None
    yaml = frontmatter.split(text.replace("\r\n", "\n").replace("\r", "\n")).yaml
    return None if yaml is None else frontmatter.parse(yaml)[0]


def listed(description: str, when_to_use: str) -> str:
    """Join both as a client lists them, on one line, and cut them where it does."""
    text = " - ".join(" ".join(part.split()) for part in (description, when_to_use) if part)
    return text if len(text) <= LISTED else f"{text[: LISTED - 1]}…"


def _below(tree: Tree, top: str) -> Iterator[str]:
    """Yield the directories at and below one, the upper ones first, without following links."""
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
