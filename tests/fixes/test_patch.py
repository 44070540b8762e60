"""Changes shown: as git would for a reader, and as a patch that git itself applies."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgate.fixes import Change, diff
from tests.fixes.mending import HEAD, TEXT, planned
from tests.properties.documents import CI, on_disk
from tests.skills import write_bytes

if TYPE_CHECKING:
    from pathlib import Path

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def changed(before: str, after: str, *, path: str = "a/SKILL.md") -> Change:
    return Change(path, path, before.encode(), after.encode(), ("LINE_ENDS",))


def git_applies(folder: Path, patch: str) -> None:
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    argv = ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-"]
    subprocess.run(argv, cwd=folder, input=patch.encode("utf-8", "surrogateescape"), check=True, capture_output=True)


def test_a_change_is_shown_with_three_lines_around_it() -> None:
    lines = [f"line {number}" for number in range(1, 21)]
    after = list(lines)
    after[4], after[8], after[17] = "new 5", "new 9", "new 18"
    assert diff([changed("\n".join(lines) + "\n", "\n".join(after) + "\n")]) == (
        "--- a/a/SKILL.md\n+++ b/a/SKILL.md\n"
        "@@ -2,11 +2,11 @@\n line 2\n line 3\n line 4\n-line 5\n+new 5\n line 6\n line 7\n line 8\n-line 9\n+new 9\n"
        " line 10\n line 11\n line 12\n"
        "@@ -15,6 +15,6 @@\n line 15\n line 16\n line 17\n-line 18\n+new 18\n line 19\n line 20\n"
    )


def test_a_carriage_return_and_a_missing_end_are_seen() -> None:
    shown = diff([changed("one\r\ntwo\rthree\nfour", "one\ntwo\nthree\nfour\n")])
    assert shown == (
        "--- a/a/SKILL.md\n+++ b/a/SKILL.md\n@@ -1,3 +1,4 @@\n"
        "-one^M\n-two^Mthree\n-four\n\\ No newline at end of file\n+one\n+two\n+three\n+four\n"
    )


def test_a_byte_order_mark_and_a_tab_are_seen() -> None:
    shown = diff([changed("\ufeff---\nname:\tx\n", "---\nname: x\n")])
    assert shown.endswith("@@ -1,2 +1,2 @@\n-\\u{feff}---\n-name:\tx\n+---\n+name: x\n")


def test_what_a_terminal_or_a_runner_would_obey_is_written_out() -> None:
    hostile = "::error::x\n\x1b[2J\u202eback\n##[group]\nlast"
    shown = diff([changed(hostile, hostile + "\n", path="a\x1b[31m\n::warning::/SKILL.md")])
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "##[" not in shown
    assert not [line for line in shown.split("\n") if line.lstrip(" +-").startswith("::")]
    assert shown.count("\n") == len(shown.splitlines())


def test_what_is_skipped_is_not_shown() -> None:
    assert diff([changed("a", "a\n")._replace(skipped="it is a symbolic link")]) == ""
    assert diff([]) == ""


@needs_git
@pytest.mark.parametrize("name", ["merge-sheets", "merge sheets", 'a"b', "表", "a\\b\tc"])
def test_git_applies_what_is_shown_to_no_terminal(tmp_path: Path, name: str) -> None:
    broken = ("\ufeff" + HEAD.replace(": ", ":\t", 1) + TEXT + "One\rtwo\r\r\nthree\n\rEnd").replace("\n", "\r\n")
    broken = broken.replace("\r\r\n", "\r\n", 1)
    folder = tmp_path / "skills" / "x"
    (change,) = planned(write_bytes(folder, "merge-sheets", broken.encode()))
    place = write_bytes(tmp_path, name, broken.encode()) / "SKILL.md"
    git_applies(tmp_path, diff([change._replace(path=f"{name}/SKILL.md")], terminal=False))
    assert place.read_bytes() == change.after


@needs_git
@CI
@given(st.text("ab\n\r\t", max_size=60).filter(bool))
def test_a_patch_of_any_line_ends_gives_what_was_planned(text: str) -> None:
    after = text.replace("\r\n", "\n").replace("\r", "\n")
    after = after if after.endswith("\n") else after + "\n"
    change = changed(text, after, path="x/SKILL.md")
    if text != after:
        with on_disk({"x/SKILL.md": text.encode()}) as folder:
            git_applies(folder, diff([change], terminal=False))
            assert (folder / "x/SKILL.md").read_bytes() == after.encode()


KEY = "gh" + "p_" + "aB3dE5fG7hJ9kL2mN4pQ6rS8tU0vW1xY3zA5"
PEM = (
    "-----BEGIN RSA PRIVATE "
    + "KEY-----\n"
    + "MIIEpAIBAAKCAQEAx3Rk9vLq2ZtYw8Fh5Jd1Ns7Pb0Gc4Xm6Ue\n" * 3
    + "-----END RSA PRIVATE "
    + "KEY-----"
)


def test_a_secret_is_shown_to_no_reader_and_stays_in_the_patch_and_the_file(tmp_path: Path) -> None:
    before = f"---\r\nname: a\r\n---\r\n\r\nLog in with {KEY}.\r\n\r\n{PEM}\r\n\r\nEnd {KEY}"
    change = changed(before, before.replace("\r\n", "\n") + "\n")
    shown = diff([change])
    assert KEY[4:16] not in shown
    assert PEM[32:60] not in shown
    assert "+End ghp_… (40 characters)" in shown
    write_bytes(tmp_path, "a", before.encode())
    git_applies(tmp_path, diff([change], terminal=False))
    assert (tmp_path / "a" / "SKILL.md").read_bytes() == change.after
