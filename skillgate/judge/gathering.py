"""Gathers the text of a skill: what a model is sent to when it uses the skill, whatever the files are called.

What cannot be had as text is named with why, so that nothing the skill's pages lead to is passed over in silence.
"""

from __future__ import annotations

import posixpath
from codecs import getincrementaldecoder
from typing import TYPE_CHECKING, NamedTuple

from skillgate.judge.subject import Page
from skillgate.skill.links import target_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from skillgate.model.ports import Tree
    from skillgate.model.skill import Document, Skill

MAX_BYTES = 1 << 20  # of one file beside the main one: a longer one is data
MAX_TOTAL_BYTES = 8 << 20  # of all of them; published skills stay below 1 MB
MAX_PAGES = 300
MAX_UNREAD = 100  # files that are named; those beyond are counted
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".ico", ".avif")  # shown to readers, no instructions
PROGRAMS = ("scripts", "assets")  # a model runs or fills in what lies there, and need not read it


class Gathered(NamedTuple):
    """Text files of a skill, and those that could not be had as text.

    Attributes:
        pages: the main file, then the files of ``references/``, then others, each group by path.
        unread: path and why.
        aside: the paths of those that are not text, and that are pictures or that no page links or names by itself.
    """

    pages: tuple[Page, ...]
    unread: tuple[tuple[str, str], ...]
    aside: frozenset[str]


def gather(skill: Skill, documents: Mapping[str, Document]) -> Gathered:
    """Read the text files of a skill.

    Pages are its documents, all text files of ``references/``, and every other text file of the skill that one of its
    documents links or names, by itself or by a directory it lies in; but for what lies in ``scripts/`` and ``assets/``.

    Args:
        skill: parsed.
        documents: its Markdown files by path relative to the skill, the main one first.
    """
    main = next(iter(documents))
    unread = [
        (inside(skill, problem.file), problem.message.removeprefix("the document is not read: "))
        if problem.file
        else ("references", problem.message)
        for problem in skill.problems_of("document_unread")
    ]
    beside = _Beside(skill, documents, known={path for path, _ in unread})
    pages = [*(Page(path, document.text) for path, document in documents.items()), *beside.pages()]
    pages.sort(key=lambda page: (page.path != main, not page.path.startswith("references/"), page.path))
    unread += beside.unread
    unread += ((page.path, f"it comes after the first {MAX_PAGES} files") for page in pages[MAX_PAGES:])
    return Gathered(tuple(pages[:MAX_PAGES]), *_bounded(unread, beside.aside))


def inside(skill: Skill, path: str) -> str:
    """Give a tree path as one relative to the skill's directory."""
    return path[len(skill.root.directory) + 1 :] if skill.root.directory else path


def _bounded(unread: list[tuple[str, str]], aside: set[str]) -> tuple[tuple[tuple[str, str], ...], frozenset[str]]:
    """Name so many, those that matter first; the others are counted, and matter where one of them does."""
    order = sorted(unread, key=lambda entry: (entry[0] in aside, entry))
    named, rest = order[:MAX_UNREAD], order[MAX_UNREAD:]
    if rest:
        more = f"{len(rest):,} more files"
        named.append((more, "for reasons such as those above"))
        aside = aside | {more} if all(path in aside for path, _ in rest) else aside - {more}
    return tuple(named), frozenset(aside.intersection(path for path, _ in named))


class _Beside:
    """Reads what is no document that was read already; ``unread`` and ``aside`` tell of what it could not read."""

    def __init__(self, skill: Skill, documents: Mapping[str, Document], known: set[str]) -> None:
        self.unread: list[tuple[str, str]] = []
        self.aside: set[str] = set()
        tree = skill.root.tree
        self._skill = skill
        self._told = known
        self._known = {tree.real(document.file) for document in documents.values()}
        self._left = MAX_TOTAL_BYTES - sum(len(document.text) for document in list(documents.values())[1:])
        self._linked = _linked(skill, documents.values())

    def pages(self) -> Iterator[Page]:
        """Give the files that are text, each once whatever links lead to it."""
        tree = self._skill.root.tree
        wanted = {*self._skill.references, *filter(self._is_followed, self._skill.files)}
        for path in sorted(wanted, key=lambda path: (tree.real(path) != path, path)):
            real = tree.real(path)
            if real in self._known or inside(self._skill, path) in self._told:
                continue
            self._known.add(real)
            page = self._page(path, real)
            if page is not None:
                yield page

    def _page(self, path: str, real: str | None) -> Page | None:
        here = inside(self._skill, path)
        if real is None or (self._skill.root.directory and not real.startswith(f"{self._skill.root.directory}/")):
            self.unread.append((here, "it lies outside of the skill"))
            return None
        text, why, is_text = _text(self._skill.root.tree, path, min(MAX_BYTES, self._left))
        if text is None:
            self.unread.append((here, why))
            if not is_text and (path not in self._linked or path.lower().endswith(PICTURES)):
                self.aside.add(here)
            return None
        self._left -= len(text)
        return Page(here, text)

    def _is_followed(self, path: str) -> bool:
        if inside(self._skill, path).partition("/")[0] in PROGRAMS:
            return False
        return path in self._linked or not self._linked.isdisjoint(_directories(self._skill, path))


def _linked(skill: Skill, documents: Iterable[Document]) -> frozenset[str]:
    """Give the tree paths that the skill's documents link or name, of files and of directories in it."""
    found = set(skill.linked)
    for document in documents:
        found.update(link.resolved for link in document.links if link.resolved)
        for word in document.mentions:
            if "/" in word or "." in word:  # a word alone may be anything
                for base in (posixpath.dirname(document.file), skill.root.directory):
                    found.add(posixpath.normpath(posixpath.join(base, target_path(word))))
    found.discard(skill.root.directory)
    return frozenset(found)


def _directories(skill: Skill, path: str) -> Iterator[str]:
    """Give the directories of a file, up to and without the skill's own."""
    directory = path.rpartition("/")[0]
    while directory and directory != skill.root.directory:
        yield directory
        directory = directory.rpartition("/")[0]


def _text(tree: Tree, path: str, limit: int) -> tuple[str | None, str, bool]:
    """Read a text file, its line ends normalised; else None, the reason, and whether it may be text all the same."""
    if limit <= 0:
        return None, f"the files before it have {MAX_TOTAL_BYTES:,} bytes already", True
    try:
        data = tree.read(path, limit=limit + 1)
    except OSError as error:
        return None, f"it cannot be read ({error.strerror or error})", True
    if b"\x00" in data:
        return None, "it is not text: it holds a NUL byte", False
    is_whole = len(data) <= limit
    try:
        text = getincrementaldecoder("utf-8-sig")().decode(data, final=is_whole)
    except UnicodeDecodeError as error:
        return None, f"it is not UTF-8 text (byte 0x{error.object[error.start]:02x} at offset {error.start})", False
    if not is_whole:
        return None, f"it has more than {limit:,} bytes", True
    return text.replace("\r\n", "\n").replace("\r", "\n"), "", True
