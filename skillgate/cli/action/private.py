"""Makes what a checkout leaves for everybody to read private while a stranger's programs run: git's own settings."""
# ruff: noqa: PTH101, PTH112, PTH114, PTH116, PTH118

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.cli.action.listening import Listening


@contextmanager
def private(top: str, session: Listening) -> Iterator[None]:
    """Keep the repository's ``.git`` from other users, who the programs of skills run as.

    A checkout with ``persist-credentials`` leaves a token there that every user can read. The directory's permissions
    are put back at the end; the token's file keeps its own, without those of others.
    """
    folder = os.path.join(top, ".git")
    switches = hasattr(os, "geteuid") and os.geteuid() == 0  # else the programs run as this very user
    if not switches or not os.path.isdir(folder) or os.path.islink(folder):
        yield
        return
    before = os.stat(folder).st_mode & 0o7777
    try:
        os.chmod(folder, before & 0o700)
    except OSError as error:
        session.note(f"git's own files could not be kept from the skills' programs: {error.strerror}")
        yield
        return
    try:
        yield
    finally:
        with suppress(OSError):
            os.chmod(folder, before)
