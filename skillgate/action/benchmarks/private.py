"""Make what a checkout and the runner leave for everybody to read private while a stranger's programs run."""
# ruff: noqa: PTH101, PTH112, PTH114, PTH116, PTH117, PTH118

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.action.session import ActionSession

_RUNNERS = ("/github/runner_temp", "/github/home", "/github/file_commands", "/github/workflow")
"""Where the runner's own directories are in a container: its temporary one, steps' settings, commands, the event."""


@contextmanager
def private(top: str, session: ActionSession) -> Iterator[None]:
    """Keep the repository's ``.git`` and the runner's directories from other users, who the programs of skills run as.

    A checkout with ``persist-credentials`` leaves a token that every user can read, in git's settings or, where it is
    newer, in a file of the runner's temporary directory. The directories' permissions are put back at the end.
    """
    switches = hasattr(os, "geteuid") and os.geteuid() == 0  # else the programs run as this very user
    with ExitStack() as closed:
        for folder in _folders(top, session.environ.get("RUNNER_TEMP", "")) if switches else ():
            before = os.stat(folder).st_mode & 0o7777
            try:
                os.chmod(folder, before & 0o700)
            except OSError as error:
                session.note(f"{folder} could not be kept from the skills' programs: {error.strerror}")
                continue
            closed.callback(_put_back, folder, before)
        yield


def _folders(top: str, temporary: str) -> Iterator[str]:
    """Return the directories that are there, but none that programs have to pass through."""
    needed = [os.path.realpath(place) for place in (top, tempfile.gettempdir())]
    for folder in dict.fromkeys((os.path.join(top, ".git"), temporary, *_RUNNERS)):
        if not os.path.isabs(folder) or not os.path.isdir(folder) or os.path.islink(folder):
            continue
        real = os.path.realpath(folder)
        if not any(place == real or place.startswith(os.path.join(real, "")) for place in needed):
            yield folder


def _put_back(folder: str, mode: int) -> None:
    with suppress(OSError):
        os.chmod(folder, mode)
