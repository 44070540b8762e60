"""Reading a skill's main file: its bytes, or the reason there are none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillgate.model.skill import SkillSource, Unreadable
from skillgate.skill.find import MAX_BYTES, discover, read


def outcome(skill: Path) -> SkillSource | Unreadable:
    (root,) = discover([str(skill)]).roots
    return read(root)


def reason(skill: Path) -> str:
    unreadable = outcome(skill)
    assert isinstance(unreadable, Unreadable)
    return unreadable.reason


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    directory = tmp_path / "skills" / "one"
    directory.mkdir(parents=True)
    return directory


@pytest.mark.parametrize("data", [b"", b"# One\n", b"\xef\xbb\xbf# \xe4\r\n", b"\0\xff\xfe"])
def test_bytes_come_as_they_are(skill: Path, data: bytes) -> None:
    (skill / "SKILL.md").write_bytes(data)
    source = outcome(skill)
    assert isinstance(source, SkillSource)
    assert (source.data, source.size, source.root.name) == (data, len(data), "one")


def test_a_file_at_the_limit_is_read_whole(skill: Path) -> None:
    (skill / "SKILL.md").write_bytes(b"x" * MAX_BYTES)
    source = outcome(skill)
    assert isinstance(source, SkillSource)
    assert (len(source.data), source.size) == (MAX_BYTES, MAX_BYTES)


def test_a_file_beyond_the_limit_is_read_no_further_and_keeps_its_size(skill: Path) -> None:
    with (skill / "SKILL.md").open("wb") as file:
        file.truncate(50_000_000)
    source = outcome(skill)
    assert isinstance(source, SkillSource)
    assert (len(source.data), source.size) == (MAX_BYTES + 1, 50_000_000)


def test_a_directory_in_place_of_the_file_is_unreadable(skill: Path) -> None:
    (skill / "SKILL.md").mkdir()
    assert reason(skill) == "SKILL.md is a directory, not a file"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_in_place_of_the_file_is_unreadable_and_does_not_block(skill: Path) -> None:
    os.mkfifo(skill / "SKILL.md")
    assert reason(skill).startswith("SKILL.md is not a regular file")


@pytest.mark.skipif(os.name == "nt", reason="permissions and links differ here")
@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("../../../secret", "outside the skill"),
        ("/dev/null", "outside the skill"),
    ],
)
def test_a_link_that_leads_elsewhere_is_unreadable_and_not_read(skill: Path, target: str, said: str) -> None:
    (skill.parents[2] / "secret").write_text("secret", encoding="utf-8")
    (skill / "SKILL.md").symlink_to(target)
    assert reason(skill).startswith("SKILL.md ")
    assert "symbolic link" in reason(skill)
    assert said in reason(skill)


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege here")
@pytest.mark.parametrize("target", ["nowhere", "SKILL.md"])
def test_a_link_that_leads_nowhere_is_a_skill_without_text(skill: Path, target: str) -> None:
    (skill / "SKILL.md").symlink_to(target)
    source = outcome(skill)
    assert isinstance(source, SkillSource)
    assert (source.data, source.dangling) == (b"", True)


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege here")
def test_a_link_inside_the_tree_is_read(skill: Path) -> None:
    (skill.parent / "shared.md").write_bytes(b"shared")
    (skill / "SKILL.md").symlink_to("../shared.md")
    source = outcome(skill)
    assert isinstance(source, SkillSource)
    assert source.data == b"shared"


@pytest.mark.skipif(
    os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind here (root, or no POSIX modes)"
)
def test_a_file_without_permission_is_unreadable(skill: Path) -> None:
    (skill / "SKILL.md").write_bytes(b"x")
    (skill / "SKILL.md").chmod(0)
    assert reason(skill) == "SKILL.md cannot be read: Permission denied"


def test_a_file_that_went_away_since_it_was_found_is_unreadable(skill: Path) -> None:
    (skill / "SKILL.md").write_bytes(b"x")
    (root,) = discover([str(skill)]).roots
    (skill / "SKILL.md").unlink()
    gone = read(root)
    assert isinstance(gone, Unreadable)
    assert "no longer exists" in gone.reason
