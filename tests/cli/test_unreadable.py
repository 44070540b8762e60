"""Directories that may not be read: what lies in them is not called dead, and is said to be unchecked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.skills import BODY, write_skill

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = sys.platform != "win32" and os.geteuid() == 0
# Root without these two capabilities is bound by the permissions of its own files.
BOUND = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search") if ROOT else ()
pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or (ROOT and shutil.which("setpriv") is None), reason="no permissions bind here"
)
LINKS = (
    "\nSee [one](references/one.md), [two](references/deep/two.md), [run](scripts/run.py)"
    " and [gone](references2/x.md).\n"
)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A directory whose permissions are given back in the end, so that it can be removed."""
    yield tmp_path
    for directory, names, _ in os.walk(tmp_path):
        for name in names:
            Path(directory, name).chmod(0o755)


def check(place: Path, *words: str) -> Any:
    """Check as somebody whom permissions bind, and give the document."""
    done = subprocess.run(
        [*BOUND, sys.executable, "-m", "skillgate", "check", "s", "--json", "--fail-on", "never", *words],
        cwd=place,
        env={"PATH": os.environ["PATH"], "HOME": str(place), "PYTHONPATH": str(Path(__file__).parents[2])},
        check=False,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("mode", [0o000, 0o444, 0o111])
@pytest.mark.parametrize("cached", [True, False])
def test_a_link_into_a_directory_that_may_not_be_read_is_not_dead(mode: int, place: Path, *, cached: bool) -> None:
    files = {"references/one.md": "One.\n", "references/deep/two.md": "Two.\n", "scripts/run.py": "x = 1\n"}
    skill = write_skill(place, "s", body=BODY + LINKS, files=files)
    words = () if cached else ("--no-cache",)
    assert "ORPHAN_REFERENCE" not in {item["id"] for item in check(place, *words)["findings"]}
    for name in ("references", "scripts"):
        (skill / name).chmod(mode)
    found = check(place, *words)["findings"]
    assert [item["message"] for item in found if item["id"] in ("ORPHAN_REFERENCE", "BROKEN_LINK")] == [
        "references2/x.md does not exist"
    ]
    unread = [item["path"] for item in found if item["id"] == "DOCUMENT_UNREAD"]
    assert unread == ["s/references", "s/scripts"]


def test_a_dead_link_beside_them_is_still_dead(place: Path) -> None:
    skill = write_skill(
        place, "s", body=BODY + "\nSee [x](references/gone.md).\n", files={"references/one.md": "One.\n"}
    )
    (skill / "scripts").mkdir(mode=0)
    assert "ORPHAN_REFERENCE" in {item["id"] for item in check(place)["findings"]}
