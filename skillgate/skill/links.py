"""Targets of links: what kind each is, and which path of the tree it leads to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from skillgate.model.skill import EntryKind, LinkKind

if TYPE_CHECKING:
    from skillgate.model.skill import SkillRoot


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_TEMPLATE = frozenset("{}<>*$|")
_OTHERS = ("skills", "agents", "commands")
_PLUGIN_NAME = re.compile(r"(?:[a-z0-9][a-z0-9-]*:)?[a-z0-9][a-z0-9-]*\Z")


class Resolver:
    """Answers, for one skill, what kind a target is and which path of the tree it leads to.

    ``at`` is the directory of the file whose links are followed, None for the skill's own: what is written in a file
    below may mean either.
    """

    def __init__(self, root: SkillRoot, *, at: str | None = None) -> None:
        self._tree = root.tree
        self._at = root.directory if at is None else at
        self._here = root.directory
        self._skills = root.directory.rpartition("/")[0]
        self._plugin = root.plugin
        self._file_name = root.file_name

    def classify(self, target: str) -> LinkKind:
        """Judge a target by its form alone."""
        path = _path(target)
        if path is None:
            return LinkKind.OTHER
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if not parts or (
            _join(self._here, path) is None and _join(self._at, path) is None
        ):  # nothing there is looked at, so nothing is known
            return LinkKind.OTHER
        if parts[0] == "references" and ".." not in parts:
            return LinkKind.REFERENCE
        return LinkKind.SKILL if _points_at_skill(parts) else LinkKind.LOCAL

    def resolve(self, target: str, kind: LinkKind) -> str | None:
        """Find the tree path that a target leads to.

        A link to another skill or agent may start from the skill itself, its plugin or the skills folder; every other
        relative link starts from the skill's directory. Nothing outside the tree is looked at.
        """
        path = _path(target)
        if kind is LinkKind.OTHER or path is None:
            return None
        bases = [self._here] if self._at == self._here else [self._at, self._here]
        if kind is LinkKind.SKILL:
            bases += [
                base for base in (self._plugin, self._skills, self._skills.rpartition("/")[0]) if base is not None
            ]
        for base in bases:
            found = _join(base, path)
            if found is not None and self._exists(found):
                return found
        return None

    def other_skill(self, path: str) -> str | None:
        """Name the other skill or agent that a resolved tree path belongs to; None for this skill's own files."""
        if path == self._here or path.startswith(f"{self._here}/") or not self._here:
            return None
        entry = self._tree.entry(path)
        if entry is None:
            return None
        if entry.kind is EntryKind.FILE and not entry.size:
            return None
        parts = path.split("/")
        if (
            entry.kind is EntryKind.FILE
            and path.endswith(".md")
            and any(part in ("agents", "commands") for part in parts[:-1])
        ):
            return path
        directory = path if entry.kind is EntryKind.DIRECTORY else path.rpartition("/")[0]
        while directory:
            if self._is_skill(directory):
                return None if directory == self._here else directory
            directory = directory.rpartition("/")[0]
        return None

    def sibling(self, name: str) -> str | None:
        """Find a skill beside this one by a name that is plainly one: hyphenated, or with its plugin before a colon."""
        if not _PLUGIN_NAME.match(name) or ("-" not in name and ":" not in name):
            return None
        directory = _join(self._skills, name.rpartition(":")[2])
        return directory if directory and directory != self._here and self._is_skill(directory) else None

    def leads_on(self, word: str) -> bool:
        """Return whether a path or a name in the text leads to another skill or agent."""
        path = self.resolve(word, self.classify(word)) if "/" in word else None
        return self.sibling(word) is not None if path is None else self.other_skill(path) is not None

    def _is_skill(self, directory: str) -> bool:
        entry = self._tree.entry(f"{directory}/SKILL.md")
        return entry is not None and entry.kind is EntryKind.FILE and entry.size > 0

    def _exists(self, path: str) -> bool:
        entry = self._tree.entry(path)
        return entry is not None and entry.kind is not EntryKind.OTHER


def target_path(target: str) -> str:
    """Return the path of a relative target as it is compared: decoded, without anchor, query and ``./``."""
    path = _path(target) or target
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def _path(target: str) -> str | None:
    """Return the path part of a relative target, decoded; None for a URL, an anchor, an absolute path or a template."""
    path = re.split(r"[#?]", target, maxsplit=1)[0].strip()
    if not path or path[0] in "/~\\" or _SCHEME.match(path) or _TEMPLATE.intersection(path) or "..." in path:
        return None
    decoded = unquote(path) if "%" in path else path
    return None if "\x00" in decoded else decoded


def _points_at_skill(parts: list[str]) -> bool:
    if parts[-1].lower() == "skill.md" and len(parts) > 1:
        return True
    climbs = [part for part in parts if part != ".."]
    if len(climbs) == 1 and len(parts) == 2:  # ../sibling, and not ../notes.md
        return "." not in climbs[0] and not climbs[0].isupper()  # nor ../LICENSE
    return len(climbs) > 1 and (climbs[0] in _OTHERS or (parts[0] == ".." and any(p in _OTHERS for p in climbs[:-1])))


def _join(base: str, path: str) -> str | None:
    """Join and normalise; None where the path climbs out of the tree."""
    parts = base.split("/") if base else []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
