"""Errors are never hidden: skills that have some come first, the badge names them, and the last line counts them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import run
from tests.skills import BODY, RICH_FILES, body_of, rich_body, write_bytes, write_skill

if TYPE_CHECKING:
    from pathlib import Path

GONE = "\nSee [one](references/gone.md) and [two](references/lost.md).\n"
UNREAD = re.compile(r"(?i)not evaluated: 60\b")


@pytest.fixture
def forty(tmp_path: Path) -> Path:
    """Forty skills of which the one with the most points has two errors, and some without errors have few points."""
    for number in range(39):
        write_skill(tmp_path / "skills", f"plain-{number:02}", body=body_of(40 + 5 * number))
    write_skill(tmp_path / "skills", "rich", body=rich_body() + GONE, files=RICH_FILES)
    return tmp_path


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Write a file outside of all that is searched: a link to it is not followed."""
    file = tmp_path.with_name(f"{tmp_path.name}-outside.md")
    file.write_text(BODY, encoding="utf-8")
    return file


@pytest.fixture
def linked(tmp_path: Path, outside: Path) -> Path:
    """Sixty skills whose main file is a link to a file outside, and three that can be read."""
    for number in range(60):
        directory = tmp_path / "skills" / f"link-{number:02}"
        directory.mkdir(parents=True)
        (directory / "SKILL.md").symlink_to(outside)
    for name in ("one", "two", "three"):
        write_skill(tmp_path / "skills", name, body=BODY)
    return tmp_path


def rows(text: str) -> list[str]:
    """Return the rows of the table of a text report."""
    return [line for line in text.splitlines() if re.match(r"(. )?skills/\S+ .* (\d+\.\d\d|—)  ", line)]


def test_skills_with_errors_come_first_whatever_their_score(forty: Path) -> None:
    text = run(forty, "score", "skills").out
    assert "skills/rich" in rows(text)[0]
    assert "references/gone.md does not exist" in text
    table = [
        line
        for line in run(forty, "score", "skills", "--output", "markdown").out.splitlines()
        if line.startswith("| `")
    ]
    assert table[0].startswith("| `skills/rich`")
    assert run(forty, "score", "skills", "--output-file", "report.html").code == 0
    page = (forty / "report.html").read_text(encoding="utf-8")
    assert page.index("skills/rich", page.index("Every skill")) < page.index("skills/plain", page.index("Every skill"))


def test_skills_left_out_are_said_to_have_no_errors(forty: Path) -> None:
    text = run(forty, "score", "skills").out
    assert re.search(r"… 20 more skills without errors, all at \d+\.\d\d or above; -v", " ".join(text.split()))


def test_what_fails_a_gate_still_comes_before_other_errors(forty: Path) -> None:
    text = run(forty, "score", "skills", "--threshold", "60").out
    assert "skills/plain-" in rows(text)[0]


def test_the_last_line_counts_findings_and_the_skills_that_have_them(forty: Path) -> None:
    said = re.compile(r"2 errors in 1 skill, \d+ warnings in \d+ skills")
    flat = " ".join(run(forty, "score", "skills").out.split())
    assert said.search(flat[flat.rindex("40 skills") :])
    assert said.search(run(forty, "score", "skills", "--output", "markdown").out)


def test_the_last_line_of_one_skill_counts_its_findings(forty: Path) -> None:
    assert "skills/rich: 2 errors" in run(forty, "score", "skills/rich").out
    assert "skills/plain-00: " in run(forty, "score", "skills/plain-00").out


def test_a_badge_names_the_errors_beside_it(forty: Path) -> None:
    rich = "skills/rich"
    (badge,) = {
        one["composite"]["badge"] for one in run(forty, "score", rich, "skills/plain-38", "--json").json["results"]
    } - {None}
    said = f"{badge}, 2 errors"
    assert said in run(forty, "score", rich).out
    assert f"badge **{said}**" in run(forty, "score", rich, "--output", "markdown").out
    assert f"({said})" in run(forty, "check", rich).out
    assert said in run(forty, "check", rich, "--output", "junit").out
    compared = run(forty, "compare", "skills/plain-38", rich).out
    assert re.search(r"^errors +0 +2 *$", compared, re.MULTILINE)
    assert badge in run(forty, "compare", "skills/plain-38", rich, "--output", "markdown").out
    run(forty, "score", rich, "--output-file", "report.html")
    page = (forty / "report.html").read_text(encoding="utf-8")
    assert f"{badge}, 2 errors</dd>" in page


def test_a_badge_without_errors_keeps_its_stars(forty: Path) -> None:
    write_skill(forty / "skills", "tidy", body=rich_body(), files=RICH_FILES)
    assert re.search(r"(Silver ★★★|Gold ★★★★|Bronze ★★)", run(forty, "score", "skills/tidy").out)


@pytest.mark.parametrize("width", ["40", "80", "120"])
def test_the_table_keeps_its_width_with_errors_in_it(width: str, forty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", width)
    assert max(map(len, run(forty, "score", "skills").out.splitlines())) <= 120


def test_skills_that_could_not_be_read_leave_the_scores_on_the_screen(linked: Path) -> None:
    done = run(linked, "score", "skills")
    assert done.code == 3
    assert all(name in done.out for name in ("skills/one", "skills/two", "skills/three"))
    assert len(rows(done.out)) == 3
    assert UNREAD.search(done.out)
    assert "a symbolic link to a file outside" in done.out
    assert done.out.count("skills/link-") == 3
    assert "57 more" in done.out
    assert "not evaluated 60" in " ".join(done.out.split())
    assert run(linked, "score", "skills", "-v").out.count("skills/link-") == 60


def test_files_without_text_leave_the_scores_on_the_screen_and_their_errors_counted(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_skill(tmp_path / "skills", name)
    for number in range(30):
        write_skill(tmp_path / "skills", f"blob-{number:02}")
        (tmp_path / f"skills/blob-{number:02}/SKILL.md").write_bytes(b"\xff\xfe" * (number % 2))
    for words in ((), ("--output", "markdown")):
        done = run(tmp_path, "score", "skills", *words)
        assert all(re.search(rf"{name}\b", done.out) for name in ("skills/one", "skills/two"))
        assert re.search(r"(?i)errors, no text to score: 30", done.out)
        assert re.search(r"15[:*]*  ?the file is empty: .*blob-00", done.out)
        assert re.search(r"15[:*]*  ?the file is not UTF-8: .*blob-01", done.out)
        assert "30 errors in 30 skills" in done.out
    assert len(set(re.findall(r"skills/blob-\d\d", run(tmp_path, "score", "skills", "-v").out))) == 30
    alone = run(tmp_path, "score", "skills/blob-00", "skills/blob-01")
    assert (len(rows(alone.out)), "no text to score" in alone.out) == (2, False)


def test_they_are_one_line_in_markdown_and_one_reason_on_the_page(linked: Path) -> None:
    text = run(linked, "score", "skills", "--output", "markdown").out
    assert text.index("skills/one") < text.index("Not evaluated: 60")
    assert text.count("skills/link-") == 60  # all but three are folded
    run(linked, "score", "skills", "--output-file", "report.html")
    page = (linked / "report.html").read_text(encoding="utf-8")
    assert "Not evaluated: 60" in page
    table = page[page.index("Every skill") :]
    assert table.index("skills/two") < table.index("skills/link-00")


def test_a_gate_that_fails_for_them_says_so_in_one_line(linked: Path) -> None:
    done = run(linked, "score", "skills", "--fail-on", "unmeasured")
    assert "60 of 63 skills could not be evaluated" in done.out
    assert done.out.count("skills/link-") == 3


def test_one_skill_that_cannot_be_read_is_named_with_its_reason(tmp_path: Path, outside: Path) -> None:
    (tmp_path / "skills" / "link").mkdir(parents=True)
    (tmp_path / "skills" / "link" / "SKILL.md").symlink_to(outside)
    done = run(tmp_path, "score", "skills/link")
    assert done.code == 3
    assert re.search(r"SKILL\.md .*symbolic link to a file outside.*: skills/link", " ".join(done.out.split()))


def test_a_link_that_leads_nowhere_is_an_error_with_an_id(tmp_path: Path) -> None:
    (tmp_path / "skills" / "link").mkdir(parents=True)
    (tmp_path / "skills" / "link" / "SKILL.md").symlink_to("gone.md")
    write_skill(tmp_path / "skills", "one", body=BODY)
    done = run(tmp_path, "check", "skills", "--json")
    assert done.code == 1
    (found,) = json.loads(done.out)["findings"]
    assert (found["id"], found["severity"], found["path"]) == ("DANGLING_SKILL", "error", "skills/link/SKILL.md")
    assert run(tmp_path, "check", "skills", "--ignore", "DANGLING_SKILL").code == 0
    assert run(tmp_path, "check", "skills", "--write-known-findings", "known.json").code == 0
    assert run(tmp_path, "check", "skills", "--known-findings", "known.json").code == 0


def test_a_hostile_name_stays_one_line_in_the_list(tmp_path: Path, outside: Path) -> None:
    for name in ("a\n| x |", "b`c", "\x1b[31mred"):
        (tmp_path / "skills" / name).mkdir(parents=True)
        (tmp_path / "skills" / name / "SKILL.md").symlink_to(outside)
    write_bytes(tmp_path / "skills", "good", b"x")
    assert "\x1b" not in run(tmp_path, "score", "skills").out
    lines = run(tmp_path, "score", "skills", "--output", "markdown").out.splitlines()
    (told,) = (line for line in lines if line.startswith("- **3** "))
    assert "\x1b" not in told
