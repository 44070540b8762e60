"""The other files of a skill: its Markdown documents, its scripts, and the names of all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.ports import EntryKind
from skillgate.model.skill import Document, TextFile
from skillgate.skill import frontmatter
from skillgate.skill.body import Body
from skillgate.skill.links import Resolver
from skillgate.skill.walk import SKIPPED, main_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.ports import Tree
    from skillgate.model.skill import SkillRoot

MAX_FILES = 2_000  # names that are looked at
MAX_BYTES = 1 << 20  # of one document: a longer one is data
MAX_SCRIPT_BYTES = 1 << 18
MAX_DOCUMENTS = 300
# What lies there is given to users or to programs, not to the model: templates, tests, and papers about the skill.
NOT_INSTRUCTIONS = frozenset(("assets", "templates", "template", "evals", "tests", "test", "fixtures", "examples"))
PAPERS = ("readme", "license", "licence", "changelog", "contributing", "code_of_conduct", "security", "notice")
SCRIPTS = (".py", ".sh", ".bash", ".js", ".mjs", ".ts", ".rb", ".pl", ".ps1", ".txt", ".json", ".yaml", ".yml", ".toml")


def files(root: SkillRoot) -> tuple[str, ...]:
    """List the tree paths of a skill's files, sorted, without those of skills that lie below it.

    A link is followed where it leads to another place below the skill.
    """
    found, pending, seen = [], [root.directory], 0
    entered: set[str] = set()
    while pending and seen < MAX_FILES:
        current = pending.pop()
        for name in root.tree.names(current):
            seen += 1
            path = f"{current}/{name}" if current else name
            kind, real = _kind(root.tree, path), root.tree.real(path)
            if real is None or not f"{real}/".startswith(f"{root.directory}/" if root.directory else ""):
                continue
            if kind is EntryKind.FILE:
                found.append(path)
            elif kind is EntryKind.DIRECTORY and name not in SKIPPED and real not in entered:
                entered.add(real)
                if main_file(dict.fromkeys(root.tree.names(path))) is None:
                    pending.append(path)
    return tuple(sorted(found))


def documents(root: SkillRoot, paths: Sequence[str]) -> Iterator[Document]:
    """Read and parse the Markdown files beside the main one that a model may come to read."""
    main = f"{root.directory}/{root.file_name}" if root.directory else root.file_name
    wanted = (path for path in paths if path != main and _instructs(root, path))
    for path, _ in zip(wanted, range(MAX_DOCUMENTS), strict=False):
        text = _text(root.tree, path, MAX_BYTES)
        if text is not None:
            yield _parsed(root, path, text)


def scripts(root: SkillRoot, paths: Sequence[str]) -> Iterator[TextFile]:
    """Read the text files that are no Markdown; those that are plain ASCII hold nothing that could hide."""
    for path in paths:
        if path.endswith(SCRIPTS):
            text = _text(root.tree, path, MAX_SCRIPT_BYTES)
            if text is not None and not text.isascii():
                yield TextFile(path, text)


def _parsed(root: SkillRoot, path: str, text: str) -> Document:
    cut = frontmatter.split(text)
    body = Body(cut.body, first_line=cut.body_line, resolver=Resolver(root, at=path.rpartition("/")[0]))
    return body.document(path, text)


def _kind(tree: Tree, path: str) -> EntryKind | None:
    entry = tree.entry(path)
    return None if entry is None else entry.kind


def _instructs(root: SkillRoot, path: str) -> bool:
    inside = path[len(root.directory) + 1 :] if root.directory else path
    *folders, name = inside.lower().split("/")
    if not name.endswith(".md") or name.startswith(PAPERS) or NOT_INSTRUCTIONS.intersection(folders):
        return False
    return bool(root.directory) or folders[:1] == [
        "references"
    ]  # the files around a skill at the top are its project's


def _text(tree: Tree, path: str, limit: int) -> str | None:
    """Read a text file, its line ends normalised; None for one that cannot be read, is too large or is no text."""
    try:
        data = tree.read(path, limit=limit + 1)
        text = data.decode("utf-8-sig") if len(data) <= limit else ""
    except (OSError, UnicodeDecodeError):
        return None
    return text.replace("\r\n", "\n").replace("\r", "\n") if len(data) <= limit and "\x00" not in text else None
