"""Writing into a directory that a stranger filled: what is refused, what is kept, what is left behind."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from skillgate.errors import UsageError
from skillgate.fixes import apply, plan
from skillgate.skill.find import discover, discover_commit
from skillgate.skill.tree import DiskWriter, disk_of
from tests.fixes.mending import HEAD, TEXT, mend, planned, root_at
from tests.skills import write_bytes

BROKEN = (HEAD + TEXT).replace("\n", "\r\n").encode()
MENDED = (HEAD + TEXT).encode()
posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions or links")


def skill(base: Path) -> Path:
    """Write a skill whose main file and one document have Windows line ends."""
    return write_bytes(base / "skills", "merge-sheets", BROKEN, files={"references/a.md": b"# A\r\n"})


def left_over(base: Path) -> list[str]:
    """List the temporary files that stayed behind."""
    return [str(path) for path in base.rglob("*.tmp")]


@posix
def test_permissions_stay(tmp_path: Path) -> None:
    directory = skill(tmp_path)
    (directory / "SKILL.md").chmod(0o751)
    (directory / "references/a.md").chmod(0o606)
    assert all(result.written for result in mend(directory).results)
    assert stat.S_IMODE((directory / "SKILL.md").stat().st_mode) == 0o751
    assert stat.S_IMODE((directory / "references/a.md").stat().st_mode) == 0o606
    assert left_over(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_stays(tmp_path: Path) -> None:
    directory = skill(tmp_path)
    os.chown(directory / "SKILL.md", 1234, 4321)
    mend(directory)
    status = (directory / "SKILL.md").stat()
    assert (status.st_uid, status.st_gid) == (1234, 4321)
    assert (directory / "SKILL.md").read_bytes() == MENDED


@posix
def test_a_main_file_that_is_a_link_is_left_alone_and_named(tmp_path: Path) -> None:
    directory = skill(tmp_path)
    (directory / "SKILL.md").rename(directory / "real.txt")
    (directory / "SKILL.md").symlink_to("real.txt")
    assert [bool(change.skipped) for change in planned(directory)] == [True, False]  # so that no diff shows it
    results = {result.change.file[-8:]: result for result in mend(directory).results}
    assert "symbolic link" in (results["SKILL.md"].reason or "")
    assert (directory / "SKILL.md").is_symlink()
    assert (directory / "real.txt").read_bytes() == BROKEN
    assert results["ces/a.md"].written


@posix
def test_a_document_that_is_a_link_or_lies_behind_one_is_left_alone_and_named(tmp_path: Path) -> None:
    directory = skill(tmp_path)
    (directory / "assets/pages").mkdir(parents=True)
    (directory / "assets/one.txt").write_bytes(b"# A\r\n")
    (directory / "assets/pages/two.md").write_bytes(b"# A\r\n")
    (directory / "references/b.md").symlink_to("../assets/one.txt")
    (directory / "guides").symlink_to("assets/pages")
    reasons = {Path(result.change.path).name: result.reason for result in mend(directory).results}
    assert "symbolic link" in (reasons["b.md"] or "")
    assert "symbolic link" in (reasons.get("two.md") or "symbolic link")
    assert reasons["a.md"] is None
    assert (directory / "references/b.md").is_symlink()
    assert (directory / "assets/one.txt").read_bytes() == (directory / "assets/pages/two.md").read_bytes() == b"# A\r\n"


@posix
def test_a_link_that_leads_outside_is_never_written_through(tmp_path: Path) -> None:
    directory = skill(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_bytes(b"# A\r\n")
    (outside / "b.md").write_bytes(b"# A\r\n")
    (directory / "references/out.md").symlink_to(outside / "b.md")
    root = root_at(directory)
    changes = plan(root, lambda _: True)
    shutil.rmtree(directory / "references")  # put there between plan and write
    (directory / "references").symlink_to(outside)
    results = apply(changes, disk_of(root))
    assert [result.written for result in results] == [True, False]
    assert "symbolic link" in (results[1].reason or "")
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == {"a.md": b"# A\r\n", "b.md": b"# A\r\n"}


@posix
def test_a_link_put_in_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    directory = skill(tmp_path)
    root = root_at(directory)
    changes = plan(root, lambda _: True)
    outside = tmp_path / "outside.md"
    outside.write_bytes(BROKEN)  # even with the very bytes that are expected
    (directory / "SKILL.md").unlink()
    (directory / "SKILL.md").symlink_to(outside)
    first, second = apply(changes, disk_of(root))
    assert not first.written
    assert "symbolic link" in (first.reason or "")
    assert outside.read_bytes() == BROKEN
    assert second.written


@posix
def test_a_pipe_in_place_of_the_file_is_not_waited_for(tmp_path: Path) -> None:
    directory = skill(tmp_path)
    root = root_at(directory)
    changes = plan(root, lambda _: True)
    (directory / "SKILL.md").unlink()
    os.mkfifo(directory / "SKILL.md")
    assert not apply(changes, disk_of(root))[0].written


@pytest.mark.parametrize("now", [BROKEN + b"\r\n", BROKEN[:-1], b"", BROKEN.replace(b"Merge", b"Split")])
def test_a_file_that_changed_since_it_was_read_is_left_alone(tmp_path: Path, now: bytes) -> None:
    directory = skill(tmp_path)
    root = root_at(directory)
    changes = plan(root, lambda _: True)
    (directory / "SKILL.md").write_bytes(now)
    first, second = apply(changes, disk_of(root))
    assert (first.written, first.reason) == (False, "it changed since it was read")
    assert (directory / "SKILL.md").read_bytes() == now
    assert second.written
    assert left_over(tmp_path) == []


def test_a_file_that_has_gone_is_reported(tmp_path: Path) -> None:
    directory = skill(tmp_path)
    root = root_at(directory)
    changes = plan(root, lambda _: True)
    (directory / "SKILL.md").unlink()
    first, second = apply(changes, disk_of(root))
    assert not first.written
    assert first.reason
    assert not (directory / "SKILL.md").exists()
    assert second.written


def test_a_read_only_file_is_reported_and_the_others_are_written(tmp_path: Path) -> None:
    directory = skill(tmp_path)
    (directory / "SKILL.md").chmod(0o444)
    first, second = mend(directory).results
    assert (first.written, first.reason) == (False, "it is read-only")
    assert (directory / "SKILL.md").read_bytes() == BROKEN
    assert second.written


@posix
def test_a_file_in_a_read_only_directory_is_reported(tmp_path: Path) -> None:
    directory = skill(tmp_path)
    (directory / "references").chmod(0o555)
    try:
        first, second = mend(directory).results
    finally:
        (directory / "references").chmod(0o755)
    assert first.written
    assert (second.written, second.reason) == (False, "its directory is read-only")


@posix
def test_other_names_of_the_same_file_keep_the_old_text_and_that_is_said(tmp_path: Path) -> None:
    directory = skill(tmp_path)
    (tmp_path / "other.md").hardlink_to(directory / "SKILL.md")
    first, second = mend(directory).results
    assert first.written
    assert "hard links" in (first.note or "")
    assert (tmp_path / "other.md").read_bytes() == BROKEN
    assert second.note is None


@pytest.mark.parametrize("file", ["skills/other/SKILL.md", "skills/merge-sheets/../other/SKILL.md", "SKILL.md"])
def test_nothing_is_written_outside_the_skill(tmp_path: Path, file: str) -> None:
    skill(tmp_path)
    other = write_bytes(tmp_path / "skills", "other", b"before") / "SKILL.md"
    (tmp_path / "SKILL.md").write_bytes(b"before")
    writer = DiskWriter(os.path.realpath(tmp_path), "skills/merge-sheets")
    with pytest.raises(PermissionError, match="outside the skill"):
        writer.replace(file, b"before", b"after")
    assert other.read_bytes() == (tmp_path / "SKILL.md").read_bytes() == b"before"


def test_a_skill_reached_by_a_link_is_written_where_it_lies(tmp_path: Path) -> None:
    directory = skill(tmp_path)
    try:
        (tmp_path / "mirror").symlink_to(directory, target_is_directory=True)
    except OSError:
        pytest.skip("this system makes no symbolic links")
    (root,) = discover([str(tmp_path / "mirror")]).roots
    results = apply(plan(root, lambda _: True), disk_of(root))
    assert all(result.written for result in results)
    assert (directory / "SKILL.md").read_bytes() == MENDED


@pytest.mark.skipif(sys.platform != "linux", reason="only some file systems keep names that are no UTF-8")
def test_names_of_any_bytes_are_written(tmp_path: Path) -> None:
    directory = skill(tmp_path)
    odd = os.fsdecode(os.fsencode(directory / "references") + b"/a\nb \xe9.md")
    Path(odd).write_bytes(b"# B\r\n")
    assert all(result.written for result in mend(directory).results)
    assert Path(odd).read_bytes() == b"# B\n"
    assert planned(directory) == ()


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_commit_can_be_planned_for_and_not_written(tmp_path: Path) -> None:
    directory = skill(tmp_path)
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.invalid", "-c", "core.autocrlf=false")
    for words in (("init", "-q"), ("add", "."), ("-c", "commit.gpgsign=false", "commit", "-q", "-m", "x")):
        subprocess.run(["git", *who, "-C", str(tmp_path), *words], check=True, capture_output=True)
    (directory / "SKILL.md").write_bytes(MENDED)
    (root,) = discover_commit("HEAD", "skills", cwd=str(tmp_path)).roots
    assert [change.after for change in plan(root, lambda _: True)] == [MENDED, b"# A\n"]
    with pytest.raises(UsageError, match="is in a commit"):
        disk_of(root)
