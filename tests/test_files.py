"""Replacing a file as a whole."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from skillgate import files


def test_replaces_the_file_and_leaves_no_other(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_bytes(b"old")
    files.replace(str(file), b"new")
    assert file.read_bytes() == b"new"
    assert [one.name for one in tmp_path.iterdir()] == ["report.json"]


def test_makes_a_file_that_is_missing(tmp_path: Path) -> None:
    files.replace(str(tmp_path / "new"), b"data")
    assert (tmp_path / "new").read_bytes() == b"data"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no permissions of this kind")
def test_takes_the_permissions_of_another_file(tmp_path: Path) -> None:
    file = tmp_path / "script.sh"
    file.write_bytes(b"old")
    file.chmod(0o751)
    files.replace(str(file), b"new", status=file.stat())
    assert stat.S_IMODE(file.stat().st_mode) == 0o751


def test_replaces_a_link_and_not_what_it_leads_to(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"kept")
    link.symlink_to(target)
    files.replace(str(link), b"new")
    assert target.read_bytes() == b"kept"
    assert not link.is_symlink()


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    folder.mkdir()
    (folder / "inside").write_bytes(b"")
    with pytest.raises((IsADirectoryError, PermissionError)):
        files.replace(str(folder), b"new")
    assert [one.name for one in tmp_path.iterdir()] == ["report"]


def test_a_change_that_is_called_off_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_bytes(b"old")
    with files.prepared(str(file), b"new"):
        pass
    assert file.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["report.json"]
