"""Where a session in the harness takes place: a home and a project of its own, with the skills as files.

Names and paths are hostile. Directories bear names that are made safe, a skill's frontmatter is written here and never
copied, and nothing is written or read outside of the skills' directories.
"""
# ruff: noqa: PTH113, PTH118

from __future__ import annotations

import json
import os
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SHOWN = "/skills"
"""What transcripts call the directory of the skills, which lies elsewhere each time."""
_SAFE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_UNSAFE = re.compile(r"[^a-z0-9]+")
_MOST_NAME = 64  # characters, as a skill's name may have


class Place(NamedTuple):
    """A session's directories.

    Attributes:
        home: all that belongs to the session.
        project: where the harness works; it holds nothing but the skills.
        names: by the name of its directory, the name that each skill is listed by.
    """

    home: Path
    project: Path
    names: Mapping[str, str]

    @property
    def pid_file(self) -> Path:
        """Holds the harness's process id."""
        return self.home / "pid"

    @property
    def skills(self) -> Path:
        """Holds a directory for each skill."""
        return self.project / ".claude" / "skills"

    def found(self, path: object) -> str | None:
        """Give the real path of a skill's file, None for anything else."""
        if not isinstance(path, str) or path != path.strip() or path.startswith("~") or "\0" in path:
            return None
        real = os.path.realpath(os.path.join(self.project, path))
        inside = PurePosixPath(real).is_relative_to(self.skills) and os.path.isfile(real)
        return real if inside else None

    def named(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Give the input of a call for a skill with the name that the skill is listed by."""
        wanted = given.get("skill")
        known = self.names.get(wanted.strip().removeprefix("/")) if isinstance(wanted, str) else None
        return dict(given) if known is None else {**given, "skill": known}

    def masked(self, value: Any) -> Any:  # noqa: ANN401 - any JSON
        """Give a value in which every text names the skills' directories as if they always lay in one place."""
        if isinstance(value, str):
            for directory, name in self.names.items():
                value = value.replace(f"{self.skills}/{directory}/", f"{SHOWN}/{name}/")
                value = value.replace(f".claude/skills/{directory}/", f"{SHOWN}/{name}/")
            return value.replace(str(self.skills), SHOWN).replace(str(self.home), "")
        if isinstance(value, list | tuple):
            return [self.masked(item) for item in value]
        if isinstance(value, dict):
            return {key: self.masked(item) for key, item in value.items()}
        return value


def laid_out(home: Path, body: Mapping[str, Any]) -> Place:
    """Write the skills of a session into its project.

    Args:
        home: a directory of the session's own, which is there.
        body: of the request, with ``skills``.

    Raises:
        OSError: they cannot be written.
    """
    skills = {str(skill["name"]): skill for skill in body["skills"]}
    place = Place(home, home / "project", directories(skills))
    place.skills.mkdir(parents=True)
    (home / "config").mkdir()
    for directory, name in place.names.items():
        _write(place.skills / directory, directory, skills[name])
    return place


def directories(names: Iterable[str]) -> dict[str, str]:
    """Give a directory for each name: the name itself where it is a plain one, else something like it.

    Returns:
        The names by their directories; no two are equal.
    """
    wanted = tuple(dict.fromkeys(names))
    found = {name: name for name in wanted if _SAFE.match(name) and len(name) <= _MOST_NAME}
    for name in wanted:
        if name in found:
            continue
        plain = _UNSAFE.sub("-", name.lower())[: _MOST_NAME - 4].strip("-") or "skill"
        number, directory = 2, plain
        while directory in found:
            directory, number = f"{plain}-{number}", number + 1
        found[directory] = name
    return {directory: found[directory] for directory in sorted(found, key=lambda one: wanted.index(found[one]))}


def _write(directory: Path, name: str, skill: Mapping[str, Any]) -> None:
    """Write one skill; JSON's texts are YAML's, on one line whatever they hold."""
    directory.mkdir()
    told = json.dumps(str(skill["description"]), ensure_ascii=False)
    text = f"---\nname: {name}\ndescription: {told}\n---\n{skill['body']}"
    (directory / "SKILL.md").write_text(text, encoding="utf-8", errors="replace", newline="")
    for path, content in skill["files"].items():
        place = directory / path
        if _is_below(path):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content, encoding="utf-8", errors="replace", newline="")


def _is_below(path: str) -> bool:
    """Say whether a path stays in the skill's directory, and is neither the skill's own file nor a hidden one."""
    parts = path.split("/")
    plain = all(part and not part.startswith(".") and "\0" not in part and "\\" not in part for part in parts)
    return plain and parts[0].upper() != "SKILL.MD"
