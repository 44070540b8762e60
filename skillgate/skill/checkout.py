"""Writes the files of one commit to a directory, as git holds them: no filter, hook or attribute of the repository.

Importing this module imports :mod:`subprocess`.
"""
# ruff: noqa: PTH103, PTH118, PTH123

from __future__ import annotations

import os
import tarfile
import tempfile
from typing import TYPE_CHECKING

from skillgate.errors import IncompleteError
from skillgate.process import run
from skillgate.skill.git import HARDENED, complaint, git

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_BYTES = 2_000_000_000
_TIMEOUT_S = 600.0
_PLAIN = "* -export-ignore -export-subst -filter -text -eol -ident -working-tree-encoding\n"


def check_out(repo_dir: str, commit: str, folder: str) -> None:
    """Write a commit's files into an empty directory.

    A repository of its own, which borrows the objects, stands between: neither the configuration nor the attributes of
    the one that is asked are in force, and nothing is written to it. Links that lead out of the directory, and
    submodules, are left out.

    Args:
        repo_dir: an absolute path anywhere inside the repository.
        commit: its full hash.
        folder: where to write.

    Raises:
        IncompleteError: git is missing or fails, or there are more than 2 GB.
    """
    objects = git(repo_dir, "rev-parse", "--path-format=absolute", "--git-path", "objects")
    if objects.returncode:
        raise IncompleteError(f"git cannot say where its objects are: {complaint(objects)}")
    with tempfile.TemporaryDirectory(prefix="skillgate-git-") as own:
        _require(["git", "init", "--quiet", "--bare", own], "make a repository")
        os.makedirs(os.path.join(own, "info"), exist_ok=True)
        _write(os.path.join(own, "objects", "info", "alternates"), objects.stdout.rstrip(b"\n") + b"\n")
        _write(os.path.join(own, "info", "attributes"), _PLAIN.encode())
        packed = os.path.join(own, "files.tar")
        command = ["git", *HARDENED, "--git-dir", own, "archive", "--format=tar", f"--output={packed}", commit]
        _require(command, f"read the files of {commit[:12]}")
        if os.path.getsize(packed) > MAX_BYTES:  # noqa: PTH202
            raise IncompleteError(f"the files of {commit[:12]} take more than {MAX_BYTES:,} bytes")
        _unpack(packed, folder, commit)


def _unpack(packed: str, folder: str, commit: str) -> None:
    try:
        with tarfile.open(packed, "r:") as archive:
            for member in archive:
                try:
                    archive.extract(member, folder, filter="data")
                except tarfile.FilterError:  # a link out of it: what it leads to is not the commit's
                    continue
    except (OSError, tarfile.TarError) as error:
        raise IncompleteError(f"the files of {commit[:12]} cannot be written: {error}") from error


def _require(command: Sequence[str], what: str) -> None:
    done = run(command, timeout_s=_TIMEOUT_S)
    if done.returncode:
        raise IncompleteError(f"git cannot {what}: {complaint(done)}")


def _write(place: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(place), exist_ok=True)  # noqa: PTH120
    with open(place, "wb") as file:
        file.write(data)
