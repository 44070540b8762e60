"""Create a new skill from a template; its files are written all at once or not at all."""
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

    from skillgate.bench.request import Permissions
    from skillgate.console import Console

OF_OPENAPI = "http_request"
OF_MCP = "mcp_tool"
_MOST_NAME = 64  # characters, from the SKILL.md specification
_MOST_DESCRIPTION = 1_024


class CreateRequest(NamedTuple):
    """The skill to create."""

    name: str | None  # the id is derived from it; required, except for an MCP server
    template: str | None  # None: the default, or the one for OpenAPI
    openapi: str | None  # path or address of an OpenAPI document with the operations to call
    operation: tuple[str, ...]  # each an operationId, or method and path; empty if there is only one
    server: str | None  # address of the API; None: that of the document
    mcp: str | None  # the command or address of an MCP server
    call_tools: bool  # whether to call every tool of the server, to see its answer
    token_env: str | None  # variable with the token of the server
    directory: str  # parent directory
    description: str
    force: bool  # whether to overwrite the template's files


class Created(NamedTuple):
    """The created skill."""

    id: str
    template: str
    directory: str  # of the skill, for display
    files: tuple[str, ...]  # relative to the directory
    notices: tuple[str, ...]


def create(request: CreateRequest, permissions: Permissions, session: Console) -> Created:
    """Write the files of a new skill.

    Args:
        request: What to create.
        permissions: What the program of an MCP server may do; no other program is started.
        session: The console.

    Raises:
        UsageError: An option is not valid, the OpenAPI document is not valid, or the skill already exists.
        IncompleteError: The MCP server does not start, or does not list its tools.
    """
    template, cwd = _template(request), session.cwd
    if request.name is None and request.mcp is None:
        raise UsageError("--name NAME is required\nTry: skillgate create --help")
    text = request.description
    if not text.isprintable():
        raise UsageError("--description: expected one line without control characters")
    if len(text) > _MOST_DESCRIPTION:
        raise UsageError(f"--description: expected at most {_MOST_DESCRIPTION:,} characters, found {len(text):,}")

    def named(name: str) -> Wanted:
        return Wanted(_id_of(name, template), name.strip(), text.strip())

    files: Mapping[str, str]
    notices: tuple[str, ...] = ()
    if request.mcp is not None:
        from skillgate.bench.mcp.server import server_skill  # starts programs; rarely needed
        from skillgate.bench.mcp.starters import from_server

        skill = server_skill(request.mcp, request.token_env, cwd=cwd)
        given, named_by = request.name, (lambda name: named(request.name or _name_of(name)))
        if given is not None:
            named(given)  # refuse a wrong name before the server starts
        wanted, files, notices = from_server(skill, named_by, permissions, session, call_tools=request.call_tools)
        place = _write_all(files, wanted.id, request.directory, cwd=cwd, force=request.force)
        return Created(wanted.id, template, place, tuple(files), notices)
    wanted = named(request.name or "")
    if request.openapi is None:
        files = STARTERS.load(template).files(wanted)
    else:
        from skillgate.bench.http.starters import OpenApiSource, from_document  # rarely needed

        source = OpenApiSource(request.openapi, request.operation, request.server, request.token_env)
        files, notices = from_document(source, wanted, permissions, cwd=cwd)
    place = _write_all(files, wanted.id, request.directory, cwd=cwd, force=request.force)
    return Created(wanted.id, template, place, tuple(files), notices)


def _template(request: CreateRequest) -> str:
    if request.openapi is not None:
        if request.mcp is not None:
            raise UsageError("--from-mcp and --from-openapi exclude each other")
        if request.template is not None:
            raise UsageError("--from-openapi uses no template; remove --from-template")
        if request.call_tools:
            raise UsageError("--call-tools requires --from-mcp COMMAND|URL")
        return OF_OPENAPI
    if request.operation or request.server is not None:
        raise UsageError(f"--{'operation' if request.operation else 'server'} requires --from-openapi FILE|URL")
    if request.mcp is not None:
        if request.template is not None:
            raise UsageError("--from-mcp uses no template; remove --from-template")
        return OF_MCP
    if request.call_tools or request.token_env is not None:
        raise UsageError(f"--{'call-tools' if request.call_tools else 'token-env'} requires --from-mcp COMMAND|URL")
    templates = STARTERS.listed(separator="_")
    template = request.template or templates[0]
    if template not in templates:
        near = did_you_mean(template, templates)
        raise UsageError(f"--from-template: unknown {template[:80]!r}{near}; known: {', '.join(templates)}")
    return template


def _name_of(server: str) -> str:
    """Return a name for the skill of an MCP server that calls itself so."""
    return re.sub(r"[^a-z0-9]+", "-", server.lower()).strip("-")[:_MOST_NAME] or "server"


def _id_of(name: str, template: str) -> str:
    """Return the id for a name: lower case, with ``_`` for characters that an id cannot have.

    The name of a SKILL.md has single ``-`` instead, and none at either end.

    Raises:
        UsageError: The name is empty, is a path, or has no letter or digit.
    """
    hint = "; example: --name order_status"
    if not name.strip():
        raise UsageError(f"--name: expected a name, found an empty string{hint}")
    if not name.isprintable():
        raise UsageError(f"--name: {name[:80]!r} contains a control character{hint}")
    if len(name) > _MOST_NAME:
        raise UsageError(f"--name: expected at most {_MOST_NAME} characters, found {len(name)}")
    if "/" in name or "\\" in name or name.strip(". ") == "":
        where = f"use --{settings.OUTPUT_DIR.key} for the directory"
        raise UsageError(f"--name: {name[:80]!r} is a path; {where}{hint}")
    identifier = re.sub(r"[^a-z0-9_-]", "_", name.strip().lower())
    if STARTERS.flag(template, "HYPHENS"):
        identifier = re.sub(r"[_-]+", "-", identifier).strip("-")
    if not re.search(r"[a-z0-9]", identifier):
        raise UsageError(f"--name: {name[:80]!r} contains no letter a to z and no digit{hint}")
    if identifier[0] in "_-":
        words = f"gives the id {identifier!r}, which does not begin with a letter or digit"
        raise UsageError(f"--name: {name[:80]!r} {words}{hint}")
    return identifier


def _write_all(files: Mapping[str, str], identifier: str, folder: str, *, cwd: str, force: bool) -> str:
    """Write a skill's directory completely or not at all; return its path for display.

    A new directory is filled and moved into place in one step. With ``force`` an existing directory keeps its other
    files.

    Raises:
        UsageError: It already exists, or cannot be written.
    """
    above = os.path.abspath(os.path.join(cwd, folder))
    place, shown = os.path.join(above, identifier), os.path.join(folder, identifier)
    if os.path.islink(place) or (os.path.lexists(place) and not os.path.isdir(place)):
        raise UsageError(f"cannot write {shown}: it is not a directory; move it, or choose another --name")
    if os.path.lexists(place) and not force:
        raise UsageError(
            f"{shown} already exists; choose another --name, or use --force to overwrite the template's files"
        )
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
            os.unlink(path)  # never write through a link
        with open(path, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)


def _swap(place: str, made: str) -> None:
    """Move the new directory into place, and restore the old one if that fails."""
    new, old = os.path.join(made, "new"), os.path.join(made, "old")
    if not os.path.isdir(place):
        os.rename(new, place)
        return
    try:
        os.rename(place, old)
        os.rename(new, place)
    finally:  # an interruption must not lose the old directory
        if os.path.isdir(old) and not os.path.lexists(place):
            os.rename(old, place)
