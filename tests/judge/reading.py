"""How whoever receives a prompt may read it: which fences are real, and what stands outside of them.

Written from the description of the form alone, so that the tests do not believe the code that they check.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_BEGIN = re.compile(r"^⟦begin ([a-z][a-z0-9 ]*) ([0-9a-f]{32})⟧\n", re.MULTILINE)
_POINTS = re.compile(r"⟦(U\+[0-9A-F]{4,6}(?:×\d+)?(?: U\+[0-9A-F]{4,6}(?:×\d+)?)*)⟧")
_POINT = re.compile(r"U\+([0-9A-F]+)(?:×(\d+))?")


class Fenced(NamedTuple):
    """A fence whose nonce is the digest of what is in it, and where it stands."""

    kind: str
    nonce: str
    text: str
    start: int
    end: int


def fences(prompt: str) -> tuple[Fenced, ...]:
    """Find the real fences of a prompt, from its begin on: one that lies in another is part of that one's text."""
    return tuple(_fences(prompt))


def outside(prompt: str) -> str:
    """Give what stands outside of every real fence."""
    parts, done = [], 0
    for found in _fences(prompt):
        parts.append(prompt[done : found.start])
        done = found.end
    return "".join([*parts, prompt[done:]])


def plain(shown: str) -> str:
    """Give back the characters whose code points are written out."""
    return _POINTS.sub(_characters, shown)


def unfenced(prompt: str) -> str:
    """Give the prompt as it would be if authors' texts were simply put into it: no fences, nothing written out."""
    parts, done = [], 0
    for found in _fences(prompt):
        parts += [prompt[done : found.start], plain(found.text)]
        done = found.end
    return "".join([*parts, prompt[done:]])


def _fences(prompt: str) -> Iterator[Fenced]:
    place = 0
    while (opening := _BEGIN.search(prompt, place)) is not None:
        kind, nonce = opening.groups()
        closer = f"\n⟦end {kind} {nonce}⟧"
        end = prompt.find(closer, opening.end() - 1)
        text = prompt[opening.end() : end]
        if end < 0 or _digest(kind, text) != nonce:
            place = opening.end()
            continue
        place = end + len(closer)
        yield Fenced(kind, nonce, text, opening.start(), place)


def _digest(kind: str, text: str) -> str:
    found = hashlib.blake2b(digest_size=16)
    for part in (kind.encode(), text.encode("utf-8", "surrogatepass")):
        found.update(len(part).to_bytes(8, "little"))
        found.update(part)
    return found.hexdigest()


def _characters(match: re.Match[str]) -> str:
    return "".join(chr(int(point, 16)) * int(count or 1) for point, count in _POINT.findall(match[1]))
