"""How ``check`` shows findings: in one line each, with the source, by file, or counted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from skillgate import homepage
from tests.cli.running import run
from tests.skills import BODY, NAME, write_skill

LINES = BODY.count("\n") + 4
TEXT = "See 漢字 [a](gone.md).\n\n```\nx\n```\n\n```\ny\n```\n"
UNTAGGED = "error UNTAGGED_CODE"


@pytest.fixture
def poor(tmp_path: Path) -> Path:
    """Two skills, one with a dead link, a repeated defect in two files and no last line end in one of them."""
    folder = write_skill(tmp_path / "skills", body=BODY + TEXT)
    (folder / "references").mkdir()
    (folder / "references" / "a.md").write_text("# A\n\nSee [a](gone.md) and [b](gone.md).", encoding="utf-8")
    write_skill(tmp_path / "more", body=BODY + "See [a](gone.md).\n")
    return tmp_path


def lines(cwd: Path, *words: str) -> list[str]:
    return run(cwd, "check", "--select", "BROKEN_LINK,NO_FINAL_NEWLINE,UNTAGGED_CODE", *words).out.splitlines()


def test_concise_has_each_finding_on_a_line_of_its_own(poor: Path) -> None:
    *found, _ = lines(poor, "--output-style", "concise")
    assert [line for line in found if not re.fullmatch(r"\S+:\d+:\d+ [A-Z_]+ .+", line)] == []
    document = run(poor, "check", "--json", "--select", "BROKEN_LINK,NO_FINAL_NEWLINE").json
    active = [one for one in document["findings"] if one["severity"] != "info"]
    links = [line for line in found if "BROKEN_LINK" in line]
    assert len(links) == sum(one["id"] == "BROKEN_LINK" for one in active)
    assert f"more/{NAME}/SKILL.md:{LINES + 1}:9 BROKEN_LINK gone.md does not exist" in found


def test_full_shows_the_source_with_a_caret_below_its_cause(poor: Path) -> None:
    found = lines(poor, "--output-style", "full")
    at = found.index(f"{LINES + 1:>6} │ See 漢字 [a](gone.md).")
    assert found[at - 2].startswith(f"skills/{NAME}/SKILL.md:{LINES + 1}:12: error BROKEN_LINK gone.md does not exist")
    assert found[at + 1] == "       │ " + " " * len("See ____ [a](") + "^"
    assert found[at + 2] == f"{LINES + 2:>6} │"
    assert found[at + 3].startswith("    fix: ")


def test_full_shows_no_commands_and_nothing_behind_a_link(tmp_path: Path) -> None:
    folder = write_skill(tmp_path / "skills", body=BODY + "[a](gone.md) \x1b[31m\n::error::x\n")
    out = run(tmp_path, "check", "--output-style", "full").out
    assert "gone.md does not exist" in out
    assert "\x1b" not in out
    assert "\n::error" not in out
    (tmp_path / "secret.md").write_text((folder / "SKILL.md").read_text(encoding="utf-8") + "token\n", encoding="utf-8")
    (folder / "SKILL.md").unlink()
    (folder / "SKILL.md").symlink_to(tmp_path / "secret.md")
    assert "│" not in run(tmp_path, "check", "--output-style", "full").out


def test_grouped_names_each_file_once(poor: Path) -> None:
    found = lines(poor, "--output-style", "grouped")
    main = f"skills/{NAME}/SKILL.md"
    assert found.count(main) == found.count(f"more/{NAME}/SKILL.md") == 1
    assert found[found.index(main) + 1] == f"  {LINES + 1}:12: error BROKEN_LINK gone.md does not exist"
    assert not any(line.startswith(f"{main}:") for line in found)


def test_equal_findings_of_a_skill_are_one_entry_with_their_number(poor: Path) -> None:
    found = [line for line in lines(poor) if "BROKEN_LINK" in line and "fix:" not in line]
    assert found == [
        f"more/{NAME}/SKILL.md:{LINES + 1}:9: error BROKEN_LINK gone.md does not exist",
        f"skills/{NAME}/SKILL.md:{LINES + 1}:12: error BROKEN_LINK gone.md does not exist"
        f" (2 times; also skills/{NAME}/references/a.md:3)",
    ]
    page = run(poor, "check", "skills", "--output", "markdown").out
    assert page.count("gone.md does not exist (2 times; also references/a.md:3)") == 1
    page = run(poor, "check", "skills", "--output", "html").out
    assert "(2 times; also references/a.md:3)" in page
    for form in ("json", "sarif", "github", "gitlab", "junit", "csv"):
        text = run(poor, "check", "skills", "--select", "BROKEN_LINK", "--output", form).out
        assert "2 times" not in text
        if form in ("json", "gitlab"):
            assert text.count("gone.md does not exist") == 2


def test_many_places_are_counted(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", body=BODY + "It simply works.\n\n" * 7)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".skillgate.yaml").write_text("rules: {ACME_X: {forbidden-phrase: simply}}\n", encoding="utf-8")
    (line,) = [line for line in lines(tmp_path, "--select", "ACME_X") if "simply" in line]
    also = ", ".join(f"line {LINES + number}" for number in (3, 5, 7))
    assert line.endswith(f"(7 times; also {also} and 3 more places)")
    assert len(lines(tmp_path, "--select", "ACME_X", "--output-style", "concise")) == 8


def test_after_many_findings_the_statistics_are_named(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", body=BODY + "".join(f"See [a](gone-{number}.md).\n" for number in range(41)))
    assert lines(tmp_path)[-1].strip() == "note: to count the findings by rule, use --statistics"
    assert "--statistics" not in run(tmp_path, "check", "--statistics").out


def test_statistics_count_by_rule(poor: Path) -> None:
    found = lines(poor, "--statistics")
    assert found[0].split() == ["rule", "findings", "severity", "may", "be", "fixed", "by"]
    rows = [line.split() for line in found[1:] if line and line[0].isupper()]
    assert ["BROKEN_LINK", "3", "error", "--fix"] in rows
    assert [row for row in rows if row[-1] == "--fix"]
    assert [int(row[1]) for row in rows] == sorted((int(row[1]) for row in rows), reverse=True)
    assert found[-1].startswith("3 errors")
    assert "gone.md" not in "\n".join(found)
    done = run(poor, "check", "--statistics", "--select", "NUL_BYTE")
    assert (done.code, done.out) == (0, "No findings in 2 skills.\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--statistics", "--json"), "--statistics changes only text"),
        (("--output-style", "full", "--output", "sarif"), "--output-style changes only text"),
        (("--statistics", "--output-style", "full"), "--statistics lists no findings"),
        (("--output-style", "short"), "concise"),
    ],
)
def test_what_does_not_go_together_is_an_error(poor: Path, words: tuple[str, ...], said: str) -> None:
    done = run(poor, "check", *words)
    assert done.code == 2
    assert said in done.err


def test_in_a_hook_a_finding_says_why_instead_of_naming_a_program_that_is_not_there(
    poor: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("check", "skills", "--select", "BROKEN_LINK")
    assert "(skillgate explain BROKEN_LINK)" in run(poor, *words).out
    done = run(poor, *words, PRE_COMMIT="1")
    at = done.out.splitlines().index("    fix: create the file, correct the path, or remove the link")
    why, page = done.out.splitlines()[at + 1 : at + 3]
    assert why.startswith("    why: A model that follows the link gets an error")
    assert re.fullmatch(r"    https://\S+/docs/rules\.md#broken_link", page)
    assert "skillgate explain" not in done.out
    monkeypatch.setitem(homepage._STATE, "address", homepage.Address())
    assert "http" not in run(poor, *words, "--output-style", "full", "--no-cache", PRE_COMMIT="1").out
    assert run(poor, *words, "--json", PRE_COMMIT="1").json["findings"]
