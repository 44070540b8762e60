"""Makes new skills: a name becomes an id, and its files are put down all at once or not at all."""
# ruff: noqa: PTH100, PTH102, PTH103, PTH104, PTH108, PTH112, PTH114, PTH118, PTH120, PTH123

from __future__ import annotations

import os
import re
import shutil
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings
from skillgate.bench.starters._wanted import Wanted
from skillgate.errors import UsageError
from skillgate.model.text import did_you_mean
from skillgate.registry import STARTERS

if TYPE_CHECKING:
    from collections.abc import Mapping

OF_OPENAPI = "python_script"
_MOST_NAME = 64  # characters, as the specification of SKILL.md has it
_MOST_DESCRIPTION = 1_024


class CreateRequest(NamedTuple):
    """Which skill is created.

    Attributes:
        name: of the skill; its id is made of it. Required.
        template: None for the default, or for that of an operation.
        openapi: an OpenAPI document, whose ``operation`` the skill calls.
        operation: an id, or a method and a path; None where there is one alone.
        directory: the one above the skill's.
        description: what it does.
        force: whether a starter's files are overwritten.
    """

    name: str | None
    template: str | None
    openapi: str | None
    operation: str | None
    directory: str
    description: str
    force: bool


class Created(NamedTuple):
    """What was created.

    Attributes:
        id: of the skill.
        template: of its files.
        directory: of the skill, as shown.
        files: their paths in the directory.
        notices: what a reader should know.
    """

    id: str
    template: str
    directory: str
    files: tuple[str, ...]
    notices: tuple[str, ...]


def create(request: CreateRequest, *, cwd: str) -> Created:
    """Write the files of a new skill.

    Raises:
        UsageError: an option does not fit, the document is not valid, or the skill is there already.
    """
    template = _template(request)
    if request.name is None:
        raise UsageError("--name NAME is required\nTry: skillgate create --help")
    identifier = id_of(request.name, template)
    wanted = Wanted(identifier, request.name.strip(), require_description(request.description))
    notices: tuple[str, ...] = ()
    if request.openapi is None:
        files = starter(template, wanted)
    else:
        from skillgate.bench.openapi.starter import from_document  # few skills are made of one

        files, notices = from_document(request.openapi, request.operation, wanted, cwd=cwd)
    place = put_down(files, wanted.id, request.directory, cwd=cwd, force=request.force)
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
        raise UsageError(
            f"--name: {name[:80]!r} is a path; --{settings.OUTPUT_DIR.key} says where, and the name is one word{hint}"
        )
    identifier = re.sub(r"[^a-z0-9_-]", "_", name.strip().lower())
    if STARTERS.flag(template, "HYPHENS"):
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
