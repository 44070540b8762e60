"""Every published skill of the test data, mended on a copy: as announced, once, and without a new finding."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from skillgate.model.skill import SkillSource
from skillgate.skill.find import discover, read
from skillgate.skill.parse import parse
from tests.cli.running import Done, git, run

Finding = tuple[str, str, int]

DATA = os.environ.get("SKILLGATE_TEST_DATA", "")
SOURCES = ("corpus", "calibration/skills")
with_data = pytest.mark.skipif(not Path(DATA, "corpus").is_dir(), reason="SKILLGATE_TEST_DATA names no test data")


class Mended(NamedTuple):
    """A copy of the data: the bytes of each file as it was, and what a run with --fix said."""

    files: dict[Path, bytes]
    done: Done

    @property
    def changed(self) -> dict[Path, bytes]:
        """Give the bytes of each file that is not as it was."""
        return {path: path.read_bytes() for path, data in self.files.items() if path.read_bytes() != data}


def mended(folder: Path, *words: str) -> Mended:
    """Copy the data, keep the announced changes in a patch, and fix."""
    for source in SOURCES:
        shutil.copytree(Path(DATA, source), folder / source, symlinks=True)
    for path in folder.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)  # the data may be read-only
    files = {path: path.read_bytes() for path in sorted(folder.rglob("*.md")) if path.is_file()}
    run(folder, "check", *SOURCES, "--patch", "all.patch", *words)
    options = ("--select", "all", "--fix", "--fail-on", "never", "--json")
    return Mended(files, run(folder, "check", *SOURCES, *options, *words))


def findings(done: Done) -> set[Finding]:
    """Give id, path and line of each finding."""
    return {(item["id"], item["path"], item["line"]) for item in done.json["findings"]}


@pytest.fixture(scope="module")
def before() -> set[Finding]:
    """Check the data as it is."""
    return findings(run(Path(DATA), "check", *SOURCES, "--select", "all", "--json"))


@with_data
def test_all_skills_are_mended_as_announced_and_once(before: set[Finding], tmp_path: Path) -> None:
    result = mended(tmp_path)
    changed = result.changed
    assert len(changed) >= 20
    lines = [line.removeprefix("fixed ") for line in result.done.err.splitlines() if line.startswith("fixed ")]
    announced = {line.split(": ")[0] for line in lines if ": " in line}
    assert {str(path.relative_to(tmp_path)) for path in changed} == announced
    assert findings(result.done) < before
    again = run(tmp_path, "check", *SOURCES, "--select", "all", "--diff")
    assert (again.code, again.out) == (0, "")
    assert readable(tmp_path) == len(discover([str(tmp_path)]).roots)

    for path in changed:
        path.write_bytes(result.files[path])
    git(tmp_path, "init", "-q")
    git(tmp_path, "apply", "all.patch")
    assert result.changed == changed


@with_data
def test_all_skills_can_be_mended_on_request_without_another_finding(before: set[Finding], tmp_path: Path) -> None:
    result = mended(tmp_path, "--unsafe-fixes")
    assert {item[:2] for item in findings(result.done)} <= {item[:2] for item in before}
    assert run(tmp_path, "check", *SOURCES, "--select", "all", "--diff", "--unsafe-fixes").code == 0


def readable(folder: Path) -> int:
    """Count the skills whose frontmatter can be read."""
    sources = [read(root) for root in discover([str(folder)]).roots]
    return sum(isinstance(source, SkillSource) and parse(source).frontmatter.valid for source in sources)
