"""What judging a skill asked of the files around it, and whether they would answer the same today.

A result that was kept holds as long as every question has its old answer: no list of what a check may look at has to be
kept in step with the checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.model.digest import digest
from skillgate.model.skill import Entry, EntryKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.skill import Tree

_CHANGED = "\0"  # no tree answers that: files that change while a skill is judged leave nothing to use again
_EMPTY = digest(b"")


class WatchedTree:
    """A tree that writes down what it is asked and what it answers.

    A size is answered as 0 or 1: nothing that is kept may depend on more.
    """

    def __init__(self, tree: Tree) -> None:
        """Take the tree that answers."""
        self._tree = tree
        self._answers: dict[tuple[Any, ...], str | None] = {}

    def questions(self) -> list[list[Any]]:
        """Return every question once with its answer, as :func:`holds` reads them; plain values, ready for JSON."""
        groups: list[list[Any]] = [[], [], [], [], [], []]
        missing, kinds, plain, links, listings, contents = groups
        read = {key[1] for key, answer in self._answers.items() if key[0] == "b" and answer not in (None, _EMPTY)}
        for (kind, path, *limit), answer in sorted(self._answers.items()):
            if kind == "b":
                contents.append([path, *limit, answer])
            elif kind == "n":
                listings.append([path, answer])
            elif kind == "r":
                plain.append(path) if answer == path else links.append([path, answer])
            elif answer is None:
                missing.append(path)
            elif answer != "f+" or path not in read:  # what is read and not empty is a file that is not empty
                kinds.append([path, answer])
        return groups

    def outside(self, directory: str) -> tuple[str, ...]:
        """Return the paths that were asked for outside a directory, whether something is there or not."""
        inside = f"{directory}/" if directory else ""
        paths = {key[1] for key in self._answers if key[0] in "eb"}
        return tuple(sorted(path for path in paths if not path.startswith(inside)))

    def entry(self, path: str) -> Entry | None:
        """Describe a path, as the tree does."""
        found = self._tree.entry(path)
        self._note(("e", path), _described(found))
        return None if found is None else Entry(found.kind, min(found.size, 1))

    def real(self, path: str) -> str | None:
        """Return the path without symbolic links, as the tree does."""
        found = self._tree.real(path)
        self._note(("r", path), found)
        return found

    def names(self, path: str) -> tuple[str, ...]:
        """List a directory, as the tree does."""
        found = self._tree.names(path)
        self._note(("n", path), _listed(found))
        return found

    def read(self, path: str, *, limit: int) -> bytes:
        """Read a file, as the tree does. Raises OSError: as the tree does."""
        try:
            found = self._tree.read(path, limit=limit)
        except OSError:
            self._note(("b", path, limit), None)
            raise
        self._note(("b", path, limit), digest(found))
        return found

    def _note(self, question: tuple[Any, ...], answer: str | None) -> None:
        if self._answers.setdefault(question, answer) != answer:
            self._answers[question] = _CHANGED


def holds(tree: Tree, questions: Sequence[Sequence[Any]]) -> bool:
    """Return whether a tree gives every question its old answer.

    Raises:
        ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError: these are no questions.
    """
    missing, kinds, plain, links, listings, contents = questions
    entry, real, names = tree.entry, tree.real, tree.names
    return (
        not any(entry(path) for path in missing)
        and all(real(path) == path for path in plain)
        and all(_described(entry(path)) == answer for path, answer in kinds)
        and all(real(path) == answer for path, answer in links)
        and all(_listed(names(path)) == answer for path, answer in listings)
        and all(_content(tree, path, limit) == answer for path, limit, answer in contents)
    )


def _content(tree: Tree, path: str, limit: int) -> str | None:
    try:
        return digest(tree.read(path, limit=limit))
    except OSError:
        return None


_KINDS = {EntryKind.FILE: "f", EntryKind.DIRECTORY: "d", EntryKind.OTHER: "o", EntryKind.UNREADABLE: "u"}


def _described(entry: Entry | None) -> str | None:
    return None if entry is None else _KINDS[entry.kind] + ("+" if entry.size else "")


def _listed(names: Sequence[str]) -> str:
    return digest("/".join(names).encode("utf-8", "surrogatepass"))
