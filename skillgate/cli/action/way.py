"""Makes way for what a run writes: nothing outside the workspace, nothing through a link, nothing left from before."""
# ruff: noqa: PTH107, PTH112, PTH118, PTH120

from __future__ import annotations

import os

from skillgate.cli.action.places import inside
from skillgate.cli.writing import require_place
from skillgate.errors import UsageError
from skillgate.github.plan import DOCUMENTS


def writable(path: str, workspace: str, *, folder: bool = False) -> str:
    """Give a path that an input names, ``""`` where nothing may be written there."""
    try:
        if path:
            _require(os.path.join(path, DOCUMENTS[0]) if folder else path, workspace, path)
    except UsageError:
        return ""
    return os.path.normpath(path) if path else ""


def make_way(workspace: str, report_dir: str, sarif: str) -> None:
    """Remove the documents of an earlier run, or of whoever put such files there: they would be taken for this one's.

    Raises:
        UsageError: something cannot be written where an input says.
    """
    names = [os.path.join(report_dir, name) for name in DOCUMENTS if report_dir]
    places = [_require(name, workspace, "input report-dir") for name in names]
    if sarif:
        places.append(_require(sarif, workspace, "input sarif"))
    for place in places:
        try:
            os.remove(place)
        except FileNotFoundError:
            continue
        except OSError as error:
            shown = os.path.relpath(place, workspace)
            raise UsageError(f"cannot write {shown}: {error.strerror}; remove it, or name another place") from error


def _require(name: str, workspace: str, shown: str) -> str:
    """Give the absolute path of a file that may be written.

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
