"""Makes new skills: a name becomes an id, and its files are put down all at once or not at all."""
# ruff: noqa: PTH100, PTH102, PTH103, PTH104, PTH108, PTH112, PTH114, PTH118, PTH120, PTH123

from __future__ import annotations

import os
import re
import shutil
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.registry import Room

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.bench.starters._wanted import Wanted

STARTERS = Room("skillgate.bench.starters")
TEMPLATES = ("http_request", "python_script", "mcp_tool", "skill_md")
PROSE = "skill_md"
_MOST_NAME = 64  # characters, as the specification of SKILL.md has it
_MOST_DESCRIPTION = 1_024


def id_of(name: str, template: str) -> str:
    """Give the id that a name stands for: lower case, and ``_`` in the place of what an id cannot have.

    The name of a SKILL.md has ``-`` in that place, one at a time and never at an end.

    Raises:
        UsageError: it is empty, no single name, or holds nothing that an id can have.
    """
    hint = "; give it a name such as --name order_status"
    if not name.strip():
        raise UsageError(f"--name: expected a name, found an empty text{hint}")
    if not name.isprintable():
        raise UsageError(f"--name: {name[:80]!r} holds a control character{hint}")
    if len(name) > _MOST_NAME:
        raise UsageError(f"--name: expected at most {_MOST_NAME} characters, found {len(name)}")
    if "/" in name or "\\" in name or name.strip(". ") == "":
        raise UsageError(f"--name: {name[:80]!r} is a path; --output-dir says where, and the name is one word{hint}")
    identifier = re.sub(r"[^a-z0-9_-]", "_", name.strip().lower())
    if template == PROSE:
        identifier = re.sub(r"[_-]+", "-", identifier).strip("-")
    if not re.search(r"[a-z0-9]", identifier):
        raise UsageError(f"--name: {name[:80]!r} leaves no letter a to z and no digit for an id{hint}")
    if identifier[0] in "_-":
        raise UsageError(
            f"--name: {name[:80]!r} gives the id {identifier!r}, which begins with no letter or digit{hint}"
        )
    return identifier


def require_description(text: str) -> str:
    """Give a description back.

    Raises:
        UsageError: it is too long or holds a control character.
    """
    if not text.isprintable():
        raise UsageError("--description: expected one line without control characters")
    if len(text) > _MOST_DESCRIPTION:
        raise UsageError(f"--description: expected at most {_MOST_DESCRIPTION:,} characters, found {len(text):,}")
    return text.strip()


def starter(template: str, wanted: Wanted) -> Mapping[str, str]:
    """Give the files of a template, by their path in the skill's directory.

    Raises:
        UsageError: there is no such template.
    """
    found: Mapping[str, str] = STARTERS.load(template).files(wanted)
    return found


def put_down(files: Mapping[str, str], identifier: str, folder: str, *, cwd: str, force: bool) -> str:
    """Write a skill's directory, all of it or nothing; give its path as shown.

    The files are written beside it and moved into their place in one step. With ``force`` a directory that is there
    keeps what it has beside these files.

    Args:
        files: their text, by their path in the directory.
        identifier: the directory's name.
        folder: the directory above, as it was given; it is made where it is missing.
        cwd: the working directory, absolute.
        force: whether a skill that is there may be overwritten.

    Raises:
        UsageError: it is there already, or cannot be written.
    """
    above = os.path.abspath(os.path.join(cwd, folder))
    place, shown = os.path.join(above, identifier), os.path.join(folder, identifier)
    if os.path.islink(place) or (os.path.lexists(place) and not os.path.isdir(place)):
        raise UsageError(f"cannot write {shown}: it is no directory; move it away, or give another --name")
    if os.path.lexists(place) and not force:
        raise UsageError(f"{shown} is there already; give another --name, or --force to overwrite the starter's files")
    made = ""
    try:
        os.makedirs(above, exist_ok=True)
        made = tempfile.mkdtemp(prefix=f".{identifier}-", dir=above)
        _fill(files, os.path.join(made, "new"), place)
        _swap(place, made)
    except (OSError, ValueError) as error:  # a NUL in a path is a ValueError
        raise UsageError(f"cannot write {shown}: {getattr(error, 'strerror', None) or error}") from error
    finally:
        if made:
            shutil.rmtree(made, ignore_errors=True)
    return shown


def _fill(files: Mapping[str, str], new: str, place: str) -> None:
    if os.path.isdir(place):
        shutil.copytree(place, new, symlinks=True)
    else:
        os.mkdir(new)
    for name, text in files.items():
        path = os.path.join(new, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with suppress(FileNotFoundError):
            os.unlink(path)  # never through a link that lies in its place
        with open(path, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)


def _swap(place: str, made: str) -> None:
    """Move the new directory into its place, and the old one back where that fails."""
    new, old = os.path.join(made, "new"), os.path.join(made, "old")
    if not os.path.isdir(place):
        os.rename(new, place)
        return
    try:
        os.rename(place, old)
        os.rename(new, place)
    finally:  # an interruption too must not lose what was there
        if os.path.isdir(old) and not os.path.lexists(place):
            os.rename(old, place)
