"""The workspace of a run: its checkout, where it may write, and the notes that are collected."""
# ruff: noqa: PTH107, PTH112, PTH118, PTH120, PTH208

from __future__ import annotations

import os
from copy import copy
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings
from skillgate.action.plan import DOCUMENTS
from skillgate.console import Console
from skillgate.errors import UsageError
from skillgate.files import require_place, toplevel
from skillgate.format import printable
from skillgate.model.skill import SKILL_FILE

if TYPE_CHECKING:
    from skillgate.action.protocol import Redactor
    from skillgate.config import Config, Files


_REPORT_DIR = f"input {settings.REPORT_DIR.key}"
_MOST = 50  # notes that are collected; all are written


class Checkout(NamedTuple):
    """Where a run works; directories are absolute."""

    workspace: str  # that a step may read and write
    directory: str  # in it, that paths and configuration are relative to
    top: str  # the repository's, the workspace without one
    name: str = ""  # of a skill at the top, whose directory on a runner may be called anything; "" where not known

    def inside(self, path: str, shown: str) -> str:
        """Return the absolute path of a place that an input names relative to the directory.

        Raises:
            UsageError: it lies outside of the workspace, or in git's own directory.
        """
        return inside(self.workspace, os.path.join(self.directory, path), shown)


class Versions(NamedTuple):
    """The files that a run reads policy from and compares; without a change, all of them are the disk's."""

    tip: Files  # those of the base branch's tip
    start: Files  # those of the commit that the change is compared with, where it left the base branch
    head: Files  # the working tree's; of a change, never through a link that leads out of it

    def is_removed(self, place: str) -> bool:
        """Whether the base branch has removed an absolute path since the change began."""
        return self.start is not self.tip and self.start.is_there(place) and not self.tip.is_there(place)


def inside(workspace: str, path: str, shown: str) -> str:
    """Return the absolute path of a place in the workspace, links left as they are.

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


def require_untracked(checkout: Checkout, path: str, shown: str) -> None:
    """Refuse a place, relative to the workspace, that a change could have filled.

    Raises:
        UsageError: it lies outside the workspace or behind a link, or git knows it.
    """
    workspace, top = checkout.workspace, checkout.top
    place = inside(workspace, path, shown)
    from skillgate.files import toplevel
    from skillgate.skill.git import is_tracked  # starts processes

    real = os.path.realpath(place)
    if real != os.path.join(os.path.realpath(workspace), os.path.relpath(place, workspace)):
        raise UsageError(f"{shown} is, or lies behind, a symbolic link, which a change may have made")
    below = os.path.relpath(real, top).replace(os.sep, "/")
    folder = real if os.path.isdir(real) else os.path.dirname(real)
    if below == "." or is_tracked(top, below) or toplevel(folder) not in (None, top):
        raise UsageError(
            f"{shown} holds files of the repository, so a change could bring what is in it; name a place that only"
            " actions/cache fills"
        )


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
    """Return the absolute path of a file that may be written."""
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


class ActionSession(Console):
    """A session in the workspace whose notes are redacted and collected.

    Attributes:
        redactor: takes secrets out of what is noted.
    """

    signed_only = True  # a pull request may have filled the cache
    anew = f"a run whose {settings.CACHE_DIR.key} is empty asks everything again"

    def __init__(self, session: Console, *, workspace: str, redactor: Redactor) -> None:
        """Take over the streams and the environment of ``session``."""
        super().__init__(
            stdout=session.stdout,
            stderr=session.stderr,
            environ=session.environ,
            cwd=workspace,
            no_color=True,
            verbose=session.verbose,
            quiet=session.quiet,
        )
        self.redactor = redactor
        self._notes: list[str] = []

    @property
    def notes(self) -> tuple[str, ...]:
        """What was noted, in its order, each once."""
        return tuple(self._notes)

    def with_config(self, config: Config) -> ActionSession:
        """Return the same session with the configuration that holds; notes of both are collected together."""
        session = copy(self)
        session._config = config
        return session

    def note(self, text: str) -> None:
        """Write to stderr, and collect."""
        text = self.redactor.clean(text)
        shown = " ".join(printable(line) for line in text.split("\n"))
        if shown not in self._notes and len(self._notes) < _MOST:
            self._notes.append(shown)
        super().note(text)
