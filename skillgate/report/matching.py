"""Which findings of two reports are the same: by rule, file, and message without its numbers, whatever line they have.

How many there are of one kind counts. Messages of texts that may be an attack keep their numbers, as in the file of
known findings.
"""

from __future__ import annotations

import re
from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING

from skillgate.report.known import recognised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from skillgate.model.finding import Finding

    Key = tuple[object, ...]
    Keyed = Callable[[Finding], Key]

UNMOVED: Mapping[str, str] = MappingProxyType({})
_WORD = re.compile(r"[^\s,;'\"`()]+")  # may be a path in a message


def unmatched(
    before: Sequence[Finding], after: Sequence[Finding], moves: Mapping[str, str] = UNMOVED
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Give the findings that went and those that came, in their order.

    Args:
        before: the findings of one report, or of one skill in it.
        after: those of the other.
        moves: where the directory of a skill is shown in the other report, by where it was in the first; what is not
            in it is shown alike in both. ``"."`` is the directory that all relative paths start from.
    """
    gone, came = tuple(before), tuple(after)
    for then, now in _passes(moves):
        if not gone or not came:
            break
        gone, came = _left(gone, came, then, now)
    return gone, came


def _passes(moves: Mapping[str, str]) -> Iterator[tuple[Keyed, Keyed]]:
    """Give the ways of telling findings, the surest first: which of several alike is new depends on it."""

    def told(finding: Finding) -> Key:
        return finding.tool, finding.id, str(finding.path)

    def told_then(finding: Finding) -> Key:
        return finding.tool, finding.id, path_now(str(finding.path), moves)

    then = told_then if moves else told
    yield (
        lambda finding: (*then(finding), finding.message, finding.line),
        lambda finding: (*told(finding), finding.message, finding.line),
    )
    yield lambda finding: (*then(finding), finding.message), lambda finding: (*told(finding), finding.message)
    yield (
        lambda finding: (*then(finding), recognised(finding.id, finding.message)),
        lambda finding: (*told(finding), recognised(finding.id, finding.message)),
    )
    if moves:  # last, since a word may look like the path of a skill and be none
        yield (
            lambda finding: (*then(finding), recognised(finding.id, _said_now(finding.message, moves))),
            lambda finding: (*told(finding), recognised(finding.id, finding.message)),
        )


def _left(
    gone: tuple[Finding, ...], came: tuple[Finding, ...], then: Keyed, now: Keyed
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    met = Counter(map(then, gone)) & Counter(map(now, came))
    return _without(gone, then, met), _without(came, now, met)


def _without(findings: tuple[Finding, ...], key: Keyed, met: Counter[Key]) -> tuple[Finding, ...]:
    """Leave out, from the top, as many findings of each key as were met on the other side."""
    left = met.copy()
    kept = []
    for finding in findings:
        mark = key(finding)
        if left[mark]:
            left[mark] -= 1
        else:
            kept.append(finding)
    return tuple(kept)


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
