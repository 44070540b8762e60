"""Files in UTF-16, as PowerShell writes them, are read like others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.running import run

if TYPE_CHECKING:
    from pathlib import Path

KEY = "AKIAQ4WD7XN2KTB6VZ3J"
TEXT = f"# set up\r\n$key = '{KEY}'\r\n"
HEAD = "---\nname: own\ndescription: Fills PDF forms. Use when the user has a form.\n---\nRun scripts/a.ps1.\n"


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_a_key_in_a_file_of_windows_is_found(tmp_path: Path, coding: str) -> None:
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(coding, b"")
    (tmp_path / "own/scripts").mkdir(parents=True)
    (tmp_path / "own/SKILL.md").write_text(HEAD, encoding="utf-8")
    (tmp_path / "own/scripts/a.ps1").write_bytes(mark + TEXT.encode(coding))
    done = run(tmp_path, "check", "own", "--output", "json")
    (found,) = (one for one in done.json["findings"] if one["id"] == "SECRET")
    assert (found["path"].endswith("scripts/a.ps1"), found["line"], found["column"]) == (True, 2, 9)


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"\xff\xfe\x00\xd8\x41\x00", b"\xfe\xff\x00\x00", b"\xff\xff\x00"])
def test_what_is_no_text_is_not_read(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "own/scripts").mkdir(parents=True)
    (tmp_path / "own/SKILL.md").write_text(HEAD, encoding="utf-8")
    (tmp_path / "own/scripts/a.ps1").write_bytes(data)
    assert run(tmp_path, "check", "own", "--output", "json").code in (0, 1)
