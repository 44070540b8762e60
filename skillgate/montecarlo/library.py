"""The skills of a session, as its tools read them: bodies, and the text files of three folders.

A path that a model writes is never followed. What can be read is listed first, by walking the three folders without
leaving them, and a path is looked up in that list; so neither ``..`` nor a link nor a forged name leads anywhere else.
"""

from __future__ import annotations

import posixpath
import re
from codecs import getincrementaldecoder
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.ports import EntryKind
from skillgate.montecarlo.subject import Served
from skillgate.skill import frontmatter
from skillgate.skill.walk import SKIPPED, join, main_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from skillgate.judge.siblings import OnDisk
    from skillgate.model.ports import Tree

FOLDERS = ("references", "assets", "scripts")
"""Whose files a session may read, of a skill that it has loaded."""
ROOT = "/skills"
"""Below which all skills seem to lie: made up, so that no path of any machine gets into a request."""
MOST_BYTES = 200_000  # of one file, and of the main file of a sibling: some 77,000 tokens
MOST_NAMES = 2_000  # names of one skill that are looked through, as many as the static layer looks at
LONGEST_BASE = 64  # characters of a name in a made-up path
_UNSAFE = re.compile(r"[^\w.-]+")

UNKNOWN = "there is no skill of that name"
OUTSIDE = "only files in references/, assets/ and scripts/ of a loaded skill can be read"
_CUT = "[The file goes on: what follows its first {:,} {} is not shown.]"
ABSENT = "the skill has no such file"
FOLDER = "that is a directory, not a file"


class Held(NamedTuple):
    """A skill as the library is given it.

    Attributes:
        name: what a session lists it by.
        body: its text after the frontmatter; None: it is read from ``disk`` when it is first asked for.
        disk: where it lies, None for a skill that has no files.
    """

    name: str
    body: str | None = None
    disk: OnDisk | None = None


class SkillLibrary:
    """A :class:`~skillgate.montecarlo.subject.Library` over trees and given texts; each file is read once.

    Of two skills with one name only the first can be asked for.
    """

    def __init__(self, skills: Iterable[Held]) -> None:
        self._held: dict[str, Held] = {}
        for one in skills:
            self._held.setdefault(one.name, one)
        self._bases = dict(zip(self._held, _bases(list(self._held)), strict=True))
        self._bodies: dict[str, Served] = {}
        self._paths: dict[str, dict[str, str]] = {}
        self._read: dict[tuple[str, str], Served] = {}

    def base(self, skill: str) -> str:
        """Give the directory that a skill seems to lie in, ``/skills/NAME``; ``/skills`` for an unknown one."""
        return self._bases.get(skill, ROOT)

    def body(self, skill: str) -> Served:
        """Give the text of a skill after its frontmatter; of a long sibling its first 200,000 bytes, and says so."""
        held = self._held.get(skill)
        if held is None:
            return Served(None, UNKNOWN)
        if skill not in self._bodies:
            self._bodies[skill] = _body(held)
        return self._bodies[skill]

    def files(self, skill: str) -> tuple[str, ...]:
        """Give the paths of a skill's files in the three folders, relative to it, sorted; text or not."""
        return tuple(sorted(self._files(skill)))

    def file(self, skill: str, path: str) -> Served:
        """Give a text file of a skill, at most its first 200,000 bytes.

        Args:
            skill: as it is listed.
            path: as the model wrote it: relative to the skill, or absolute below :meth:`base`; backslashes count as
                slashes.
        """
        if skill not in self._held:
            return Served(None, UNKNOWN)
        files = self._files(skill)
        inside = path if path in files else _inside(path, self.base(skill))
        if inside is None:
            return Served(None, OUTSIDE)
        if inside not in files:
            return Served(None, FOLDER if any(file.startswith(f"{inside}/") for file in files) else ABSENT)
        key = skill, files[inside]
        disk = self._held[skill].disk
        if key not in self._read and disk is not None:
            self._read[key] = _text(disk.tree, files[inside])
        return self._read[key]

    def _files(self, skill: str) -> Mapping[str, str]:
        """Give the tree path of each file by its path in the skill."""
        held = self._held.get(skill)
        if held is None or held.disk is None:
            return {}
        if skill not in self._paths:
            self._paths[skill] = dict(_walk(held.disk))
        return self._paths[skill]


def bounded(text: str) -> str:
    """Cut a long text that is no file, after its first 200,000 characters, and say so in it."""
    return text if len(text) <= MOST_BYTES else f"{text[:MOST_BYTES]}\n\n{_CUT.format(MOST_BYTES, 'characters')}\n"


def _bases(names: Sequence[str]) -> Iterator[str]:
    """Make up a directory for each name, no two of them equal, letter case aside."""
    taken: set[str] = set()
    for name in names:
        plain = _UNSAFE.sub("-", name).strip("-.")[:LONGEST_BASE] or "skill"
        base, number = plain, 1
        while base.casefold() in taken:
            number += 1
            base = f"{plain}-{number}"
        taken.add(base.casefold())
        yield f"{ROOT}/{base}"


def _body(held: Held) -> Served:
    if held.body is not None:
        return Served(held.body)
    if held.disk is None:
        return Served(None, UNKNOWN)
    found = _text(held.disk.tree, held.disk.file, lenient=True)
    return found if found.text is None else Served(frontmatter.split(found.text).body.lstrip("\n"))


def _walk(disk: OnDisk) -> Iterator[tuple[str, str]]:
    """Give each file of the three folders, by its path in the skill and its tree path without links.

    What a link leads to has to lie in one of the three itself: beside them lie, among others, the expected answers.
    """
    tree = disk.tree
    allowed = tuple(f"{join(disk.directory, folder)}/" for folder in FOLDERS)
    pending = [(folder, join(disk.directory, folder)) for folder in reversed(FOLDERS)]
    entered: set[str] = set()
    left = MOST_NAMES
    while pending:
        path, place = pending.pop()
        real = tree.real(place)
        entry = None if real is None or not f"{real}/".startswith(allowed) else tree.entry(real)
        if real is None or entry is None or not _is_encodable(path):
            continue
        if entry.kind is EntryKind.FILE:
            yield path, real
        elif entry.kind is EntryKind.DIRECTORY and real not in entered:
            entered.add(real)
            names = tree.names(real)[:left]
            left -= len(names)
            if main_file(dict.fromkeys(names)) is None:  # else it is a skill of its own
                pending += [(f"{path}/{name}", f"{real}/{name}") for name in reversed(names) if name not in SKIPPED]


def _is_encodable(path: str) -> bool:
    """Tell whether a path is text: a name on disk need not be, and such a one cannot be sent to a model."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _inside(path: str, base: str) -> str | None:
    """Bring a path to one relative to the skill; None where it leads out of the three folders."""
    whole = posixpath.normpath(posixpath.join(base, path.strip().replace("\\", "/")))
    inside = whole.removeprefix(f"{base}/")
    return inside if whole.startswith(f"{base}/") and inside.partition("/")[0] in FOLDERS else None


def _text(tree: Tree, path: str, *, lenient: bool = False) -> Served:
    """Read a text file, its line ends normalised; with ``lenient`` what is no text is replaced, not refused."""
    try:
        data = tree.read(path, limit=MOST_BYTES + 1)
    except OSError as error:
        return Served(None, f"the file cannot be read ({error.strerror or 'the system does not say why'})")
    is_whole = len(data) <= MOST_BYTES
    if b"\x00" in data and not lenient:
        return Served(None, "the file is binary, not text")
    decoder = getincrementaldecoder("utf-8-sig")("replace" if lenient else "strict")
    try:
        text = decoder.decode(data[:MOST_BYTES], final=is_whole)
    except UnicodeDecodeError:
        return Served(None, "the file is not UTF-8 text")
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "\ufffd")
    return Served(text if is_whole else f"{text}\n\n{_CUT.format(MOST_BYTES, 'bytes')}\n")
