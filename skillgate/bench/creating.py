"""Create new skills: a name becomes an id, and its files are written all at once or not at all."""
# ruff: noqa: PTH100, PTH102, PTH103, PTH104, PTH108, PTH112, PTH114, PTH118, PTH120, PTH123

from __future__ import annotations

import os
import re
import shutil
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings
from skillgate.bench.starters import Wanted
from skillgate.errors import UsageError
from skillgate.format import did_you_mean
from skillgate.registry import STARTERS

if TYPE_CHECKING:
    from collections.abc import Mapping

OF_OPENAPI = "python_script"
_MOST_NAME = 64  # characters, as the specification of SKILL.md has it
_MOST_DESCRIPTION = 1_024


class CreateRequest(NamedTuple):
    """Which skill is created."""

    name: str | None  # its id is made of it; required
    template: str | None  # None for the default, or for that of an operation
    openapi: str | None  # an OpenAPI document with the operation that the skill calls
    operation: str | None  # an id, or a method and a path; None where there is one alone
    directory: str  # the one above the skill's
    description: str  # what it does
    force: bool  # whether a starter's files are overwritten


class Created(NamedTuple):
    """What was created."""

    id: str
    template: str
    directory: str  # of the skill, as shown
    files: tuple[str, ...]  # their paths in the directory
    notices: tuple[str, ...]  # what a reader should know


def create(request: CreateRequest, *, cwd: str) -> Created:
    """Write the files of a new skill.

    Raises:
        UsageError: an option does not fit, the document is not valid, or the skill is there already.
    """
    template = _template(request)
    if request.name is None:
        raise UsageError("--name NAME is required\nTry: skillgate create --help")
    identifier = _id_of(request.name, template)
    text = request.description
    if not text.isprintable():
        raise UsageError("--description: expected one line without control characters")
    if len(text) > _MOST_DESCRIPTION:
        raise UsageError(f"--description: expected at most {_MOST_DESCRIPTION:,} characters, found {len(text):,}")
    wanted = Wanted(identifier, request.name.strip(), text.strip())
    files: Mapping[str, str]
    notices: tuple[str, ...] = ()
    if request.openapi is None:
        files = STARTERS.load(template).files(wanted)
    else:
        from skillgate.bench.openapi import from_document  # few skills are made of one

        files, notices = from_document(request.openapi, request.operation, wanted, cwd=cwd)
    place = _write_all(files, wanted.id, request.directory, cwd=cwd, force=request.force)
    return Created(wanted.id, template, place, tuple(files), notices)


def _template(request: CreateRequest) -> str:
    if request.openapi is not None:
        if request.template not in (None, OF_OPENAPI):
            raise UsageError(f"--from-openapi makes a {OF_OPENAPI}; leave --from-template out")
        return OF_OPENAPI
    if request.operation is not None:
        raise UsageError("--operation names one of an OpenAPI document; give --from-openapi FILE too")
    templates = STARTERS.listed(separator="_")
    template = request.template or templates[0]
    if template not in templates:
        near = did_you_mean(template, templates)
        raise UsageError(f"--from-template: unknown {template[:80]!r}{near}; known: {', '.join(templates)}")
    return template


def _id_of(name: str, template: str) -> str:
    """Return the id of a name: lower case, and ``_`` in the place of what an id cannot have.

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
        where = f"--{settings.OUTPUT_DIR.key} says where, and the name is one word"
        raise UsageError(f"--name: {name[:80]!r} is a path; {where}{hint}")
    identifier = re.sub(r"[^a-z0-9_-]", "_", name.strip().lower())
    if STARTERS.flag(template, "HYPHENS"):
        identifier = re.sub(r"[_-]+", "-", identifier).strip("-")
    if not re.search(r"[a-z0-9]", identifier):
        raise UsageError(f"--name: {name[:80]!r} leaves no letter a to z and no digit for an id{hint}")
    if identifier[0] in "_-":
        words = f"gives the id {identifier!r}, which begins with no letter or digit"
        raise UsageError(f"--name: {name[:80]!r} {words}{hint}")
    return identifier


def _write_all(files: Mapping[str, str], identifier: str, folder: str, *, cwd: str, force: bool) -> str:
    """Write a skill's directory, all of it or nothing; return its path as shown.

    A new directory is filled and moved into its place in one step. With ``force`` a directory that is there keeps its
    other files.

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
