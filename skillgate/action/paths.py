"""What lies in the workspace."""
# ruff: noqa: PTH118

from __future__ import annotations

import os
from pathlib import PurePath

from skillgate.errors import UsageError


def inside(workspace: str, path: str, shown: str) -> str:
    """Give the absolute path of a place in the workspace, links left as they are.

    Raises:
        UsageError: it lies outside, by its name or by a link on its way; or in git's own directory.
    """
    place = os.path.normpath(os.path.join(workspace, path))
    for one, top in ((place, workspace), (os.path.realpath(place), os.path.realpath(workspace))):
        if one != top and not one.startswith(top.rstrip(os.sep) + os.sep):
            raise UsageError(f"{shown} leads out of the workspace")
        if ".git" in PurePath(os.path.relpath(one, top)).parts:
            raise UsageError(f"{shown} is git's own")
    return place
