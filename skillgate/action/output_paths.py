"""Check where a run may write: inside the workspace, through no link, over no tracked file."""
# ruff: noqa: PTH107, PTH112, PTH118, PTH120, PTH208

from __future__ import annotations

import os

from skillgate import settings
from skillgate.action.checkout import inside
from skillgate.action.plan import DOCUMENTS
from skillgate.errors import UsageError
from skillgate.files import require_place, toplevel
from skillgate.model.skill import SKILL_FILE

_REPORT_DIR = f"input {settings.REPORT_DIR.key}"


def writable(path: str, workspace: str, *, folder: bool = False) -> str:
    """Return a path that an input names, ``""`` where nothing may be written there."""
    try:
        if path:
            _require(os.path.join(path, DOCUMENTS[0]) if folder else path, workspace, path)
    except UsageError:
        return ""
    return os.path.normpath(path) if path else ""


def require_output_paths(workspace: str, report_dir: str, sarif: str) -> None:
    """Require that a run can write its documents, and overwrites nothing.

    Raises:
        UsageError: something cannot be written where an input says, or git knows a file there, or it is a skill's own
            directory: what is judged must be what the change brings.
    """
    places = [_require(os.path.join(report_dir, name), workspace, _REPORT_DIR) for name in DOCUMENTS]
    if sarif:
        place = _require(sarif, workspace, "input sarif")
        if place in places:
            raise UsageError(
                f"input sarif: {sarif} is one of the documents of {settings.REPORT_DIR.key}; name another file"
            )
        places.append(place)
    folder = os.path.dirname(places[0])
    if os.path.isdir(folder) and any(name.upper() == SKILL_FILE.upper() for name in os.listdir(folder)):
        raise UsageError(f"{_REPORT_DIR}: {report_dir} is a skill; name a directory of its own")
    from skillgate.skill.git import is_tracked  # starts processes

    top = toplevel(os.path.realpath(workspace))
    for place in places if top is not None else ():
        shown = os.path.relpath(place, workspace)
        if os.path.lexists(place) and is_tracked(top or "", os.path.relpath(os.path.realpath(place), top)):
            raise UsageError(f"{shown} is in the repository, and would be overwritten; name another place")


def require_certificate_paths(workspace: str, certificate: str, badges: str, report_dir: str) -> None:
    """Require that certificate and badges lie where nothing of the repository or of the report does.

    Raises:
        UsageError: as said.
    """
    from skillgate.skill.git import is_tracked  # starts processes

    documents = {_require(os.path.join(report_dir, name), workspace, _REPORT_DIR) for name in DOCUMENTS}
    top = toplevel(os.path.realpath(workspace))
    for name, place in (("certificate", certificate), ("badges", badges)):
        if not place:
            continue
        file = _require(os.path.join(place, "x.svg") if name == "badges" else place, workspace, f"input {name}")
        owned = os.path.dirname(file) if name == "badges" else file
        if owned in documents or owned == workspace:
            raise UsageError(f"input {name}: {place} holds something else; name a place of its own")
        if (
            top is not None
            and os.path.lexists(owned)
            and is_tracked(top, os.path.relpath(os.path.realpath(owned), top))
        ):
            raise UsageError(f"input {name}: {place} is in the repository, and would be overwritten")


def remove_old_documents(workspace: str, report_dir: str) -> None:
    """Remove the documents of an earlier run: what this one does not write would be taken for its own.

    Raises:
        UsageError: one cannot be removed.
    """
    for name in DOCUMENTS:
        shown = os.path.join(report_dir, name)
        try:
            os.remove(_require(shown, workspace, _REPORT_DIR))
        except FileNotFoundError:
            continue
        except OSError as error:
            raise UsageError(f"cannot write {shown}: {error.strerror}; remove it, or name another place") from error


def _require(name: str, workspace: str, shown: str) -> str:
    """Return the absolute path of a file that may be written.

    Raises:
        UsageError: it lies outside of the workspace, behind a link, below a file, or is a directory.
    """
    inside(workspace, name, f"{shown}: {name!r}")
    place = require_place(name, workspace)
    above = os.path.dirname(place)
    while not os.path.isdir(above):
        if os.path.lexists(above):
            raise UsageError(f"{shown}: {os.path.relpath(above, workspace)} is a file, and no directory")
        above = os.path.dirname(above)
    if os.path.isdir(place):
        raise UsageError(f"{shown}: {name} is a directory; remove it, or name another place")
    return place
