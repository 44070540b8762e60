"""Which findings of two reports are the same.

A finding about one skill is known by rule, file, and message without its numbers, whatever line it has; how many there
are of one kind counts. Messages of texts that may be an attack keep their numbers, as in the file of known findings. A
finding across skills is known by its rule and the set of skills that it is about. Its words, and the skills at which it
is reported, depend on what else is in the catalogue.
"""

from __future__ import annotations

import re
from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING

from skillgate.report.known import recognised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from skillgate.model.finding import Finding

    Key = tuple[object, ...]
    Keyed = Callable[[Finding], Key | None]

UNMOVED: Mapping[str, str] = MappingProxyType({})
_WORD = re.compile(r"[^\s,;'\"`()]+")  # may be a path in a message


def unmatched(
    before: Sequence[Finding], after: Sequence[Finding], moves: Mapping[str, str] = UNMOVED
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Return the findings that went and those that came, in their order.

    Args:
        before: the findings of one report, or of one skill in it.
        after: those of the other.
        moves: where the directory of a skill is shown in the other report, by where it was in the first; what is not
            in it is shown alike in both. ``"."`` is the directory that all relative paths start from. For findings
            across skills it may hold folders of skills as well (see :func:`with_folders`).
    """
    gone, came = tuple(before), tuple(after)
    for then, now in (*_passes(moves), *_across_passes(moves)):
        if not gone or not came:
            break
        met = Counter(map(then, gone)) & Counter(map(now, came))
        del met[None]  # recognised in another way
        gone, came = _without(gone, then, met), _without(came, now, met)
    return gone, came


def with_folders(pairs: Iterable[tuple[str, str]], moves: Mapping[str, str]) -> Mapping[str, str]:
    """Return ``moves`` with the folders and plugins that moved as a whole.

    Args:
        pairs: the path before and after of every skill that both reports have.
        moves: where skills moved, as :func:`unmatched` takes it.
    """
    if not moves:
        return moves
    found: dict[str, set[str]] = {}
    for then, now in pairs:
        for folder, below in _ancestors(then):
            found.setdefault(folder, set()).add(now.removesuffix(below) if now.endswith(below) else "")
    whole = {folder: places.pop() for folder, places in found.items() if len(places) == 1}
    return {**{folder: place for folder, place in whole.items() if place not in ("", folder)}, **moves}


def _ancestors(path: str) -> Iterator[tuple[str, str]]:
    """Yield each directory above a path, with what the path has below it."""
    folder = path
    while folder := folder.rpartition("/")[0]:
        yield folder, path[len(folder) :]


def _passes(moves: Mapping[str, str]) -> Iterator[tuple[Keyed, Keyed]]:
    """Yield the ways to recognise a finding about one skill.

    The surest comes first: which of several alike is new depends on it.
    """

    def exact(finding: Finding) -> Key:
        return finding.message, finding.line

    def worded(finding: Finding) -> Key:
        return (finding.message,)

    def kind(finding: Finding) -> Key:
        return (recognised(finding.id, finding.message),)

    def kind_now(finding: Finding) -> Key:
        return (recognised(finding.id, _said_now(finding.message, moves)),)

    def at_place(identity: Callable[[Finding], Key], moved: Mapping[str, str]) -> Keyed:
        return lambda it: None if it.skills else (it.tool, it.id, path_now(str(it.path), moved), *identity(it))

    for identity in (exact, worded, kind):
        yield at_place(identity, moves), at_place(identity, UNMOVED)
    if moves:  # last, since a word may look like the path of a skill and be none
        yield at_place(kind_now, moves), at_place(kind, UNMOVED)


def _across_passes(moves: Mapping[str, str]) -> Iterator[tuple[Keyed, Keyed]]:
    """Yield the ways to recognise a finding across skills: first at the same skill, then at any of them."""

    def between(finding: Finding, moved: Mapping[str, str]) -> Key | None:
        if not finding.skills:
            return None
        return finding.tool, finding.id, *sorted(path_now(path, moved) for path in finding.skills)

    def at_place(moved: Mapping[str, str]) -> Keyed:
        return lambda it: (path_now(str(it.path), moved), *key) if (key := between(it, moved)) else None

    yield at_place(moves), at_place(UNMOVED)
    yield lambda finding: between(finding, moves), lambda finding: between(finding, UNMOVED)


def _without(findings: tuple[Finding, ...], key: Keyed, met: Counter[Key | None]) -> tuple[Finding, ...]:
    """Leave out, from the top, as many findings of each key as were met on the other side."""
    left = met.copy()
    rest = []
    for finding in findings:
        mark = key(finding)
        if left[mark]:
            left[mark] -= 1
        else:
            rest.append(finding)
    return tuple(rest)


def path_now(path: str, moves: Mapping[str, str]) -> str:
    """Give the path that a file or directory has after the moves of skills."""
    head = path
    while head:
        if head in moves:
            return joined(moves[head], path[len(head) :].lstrip("/"))
        head = head.rpartition("/")[0]
    if "." in moves and not path.startswith(("/", "../")):
        return joined(moves["."], path)
    return path


def joined(directory: str, below: str) -> str:
    """Join two paths, of which either may be the directory ``"."`` or empty."""
    return "/".join(part for part in (directory, below) if part not in ("", ".")) or "."


def _said_now(message: str, moves: Mapping[str, str]) -> str:
    """Put the paths of moved skills in a message as they are now, such as that of the other of two alike."""
    words = {old: new for old, new in moves.items() if old != "."}
    return _WORD.sub(lambda found: _word_now(found[0], words), message)


def _word_now(word: str, moves: Mapping[str, str]) -> str:
    path = word.rstrip(":.")
    return path_now(path, moves) + word[len(path) :]
