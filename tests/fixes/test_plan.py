"""What is mended, what is left alone, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fixes.mending import HEAD, TEXT, mend, planned
from tests.skills import write_bytes, write_skill

if TYPE_CHECKING:
    from pathlib import Path

JSON = '```{tag}\n{{"columns": 2}}\n```\n'


def mended(tmp_path: Path, data: bytes, *, name: str = "merge-sheets") -> bytes:
    """Write, mend and give back the main file of a skill, of which nothing may stay unmended."""
    directory = write_bytes(tmp_path / "skills", name, data)
    done = mend(directory)
    assert all(result.written for result in done.results), done.results
    assert planned(directory) == ()
    return (directory / "SKILL.md").read_bytes()


def test_a_skill_without_defects_is_left_alone(tmp_path: Path) -> None:
    assert planned(write_bytes(tmp_path / "skills", "merge-sheets", (HEAD + TEXT).encode())) == ()


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_become_line_feeds(tmp_path: Path, end: str) -> None:
    assert mended(tmp_path, (HEAD + TEXT).replace("\n", end).encode()) == (HEAD + TEXT).encode()


def test_line_ends_of_every_kind_in_one_file_become_line_feeds(tmp_path: Path) -> None:
    data = HEAD.replace("\n", "\r\n") + "# Merge\r\rRead the header.\r\nThen the rows.\n\r\n"
    assert mended(tmp_path, data.encode()) == f"{HEAD}# Merge\n\nRead the header.\nThen the rows.\n\n".encode()


def test_other_characters_that_break_lines_somewhere_stay(tmp_path: Path) -> None:
    text = f"{HEAD}One\x0btwo\x0cthree\x85four\u2028five\u2029six.\n"
    assert mended(tmp_path, text.replace("\n", "\r\n").encode()) == text.encode()


def test_a_byte_order_mark_goes(tmp_path: Path) -> None:
    assert mended(tmp_path, (HEAD + TEXT).encode("utf-8-sig")) == (HEAD + TEXT).encode()


def test_the_second_of_two_byte_order_marks_is_not_made_the_first(tmp_path: Path) -> None:
    data = ("\ufeff\ufeff" + HEAD + TEXT).encode()
    assert mended(tmp_path, data) == data


def test_a_mark_within_the_text_stays(tmp_path: Path) -> None:
    text = f"{HEAD}Read\ufeff the header.\n"
    assert mended(tmp_path, text.encode("utf-8-sig")) == text.encode()


def test_the_last_line_is_ended_once(tmp_path: Path) -> None:
    assert mended(tmp_path, (HEAD + TEXT).rstrip().encode()) == (HEAD + TEXT).encode()
    assert mended(tmp_path, (HEAD + TEXT + "\n\n").encode()) == (HEAD + TEXT + "\n\n").encode()


@pytest.mark.parametrize("body", ["```\nmerge one two", "```", "<!-- to do", "- a\n- ", "| a |\n|---|\n| b |", "    x"])
def test_a_last_line_is_ended_whatever_block_it_belongs_to(tmp_path: Path, body: str) -> None:
    assert mended(tmp_path, (HEAD + TEXT + body).encode()) == (HEAD + TEXT + body + "\n").encode()


def test_a_line_that_is_added_ends_as_its_file_does_where_that_is_wanted(tmp_path: Path) -> None:
    data = (HEAD + TEXT).rstrip().replace("\n", "\r\n").encode()
    directory = write_bytes(tmp_path, "merge-sheets", data)
    mend(directory, ["NO_FINAL_NEWLINE"])
    assert (directory / "SKILL.md").read_bytes() == data + b"\r\n"


def test_a_tab_behind_a_key_becomes_a_blank(tmp_path: Path) -> None:
    data = "---\nname:\tmerge-sheets\ndescription: \t Merges\tCSV files.\nmetadata:\n  a:  b\n---\n" + TEXT
    expected = "---\nname: merge-sheets\ndescription: Merges\tCSV files.\nmetadata:\n  a:  b\n---\n" + TEXT
    assert mended(tmp_path, data.encode()) == expected.encode()


def test_a_tab_where_only_text_has_a_colon_stays(tmp_path: Path) -> None:
    data = "---\nname: merge-sheets\ndescription: >-\n  Merges:\tCSV files.\n---\nname:\tx\n"
    assert mended(tmp_path, data.encode()) == data.encode()


@pytest.mark.parametrize(
    ("written", "directory", "expected"),
    [
        ("name: join", "merge-sheets", "name: merge-sheets"),
        ("name:  Merge Sheets  # as in the menu", "merge-sheets", "name:  merge-sheets  # as in the menu"),
        ("name:\tjoin", "merge-sheets", "name: merge-sheets"),
        ("name: 'join' # x", "merge-sheets", "name: 'merge-sheets' # x"),
        ('name: "join"', "merge-sheets", 'name: "merge-sheets"'),
        ('name: " join "', "merge-sheets", 'name: "merge-sheets"'),
        ("name: a#b", "merge-sheets", "name: merge-sheets"),
        ("name: join", "2024-01-01", 'name: "2024-01-01"'),
        ("name: join", "007", 'name: "007"'),
        ("name: join", "yes", 'name: "yes"'),
        ("name: 'join'", "null", "name: 'null'"),
    ],
)
def test_a_name_becomes_that_of_the_directory(tmp_path: Path, written: str, directory: str, expected: str) -> None:
    text = "---\ndescription: Merges CSV files.\n{}\n---\n" + TEXT
    assert mended(tmp_path, text.format(written).encode(), name=directory) == text.format(expected).encode()


@pytest.mark.parametrize(
    "written",
    [
        "name: 12",
        "name: >-\n  join",
        "name: join\n  sheets",
        "name: 'it''s'",
        'name: "jo\\x69n"',
        "name: &a join",
        "name: !!str join",
        "name: one\nname: join",
        '"name": join',
        "name:",
        "a: b",
        "{name: join}",
    ],
)
def test_a_name_that_is_not_written_plainly_stays(tmp_path: Path, written: str) -> None:
    data = f"---\n{written}\n---\n{TEXT}".encode()
    assert mended(tmp_path, data) == data


@pytest.mark.parametrize("directory", ["Merge-Sheets", "merge_sheets", "-x", "a--b", "x" * 65, "a b"])
def test_the_name_of_a_directory_that_is_no_valid_one_is_not_taken(tmp_path: Path, directory: str) -> None:
    data = f"---\nname: join\n---\n{TEXT}".encode()
    assert mended(tmp_path, data, name=directory) == data


def test_a_skill_at_the_top_of_its_repository_keeps_its_name(tmp_path: Path) -> None:
    directory = write_skill(tmp_path, "checkout-7", frontmatter="name: merge-sheets\ndescription: Merges.", body=TEXT)
    (directory / ".git").mkdir()
    assert planned(directory) == ()


def test_a_reserved_name_is_not_brought_in(tmp_path: Path) -> None:
    directory = write_bytes(tmp_path / "skills", "claude-helper", f"---\nname: join\n---\n{TEXT}".encode())
    done = mend(directory)
    assert done.after.ids <= done.before.ids
    for change in done.planned:
        assert change.skipped
        assert change.rules == ("NAME_MISMATCH",)


@pytest.mark.parametrize(
    ("opened", "tagged"),
    [
        ("```\n", "```json\n"),
        ("~~~~\n", "~~~~json\n"),
        ("``` \t\n", "```json \t\n"),
    ],
)
def test_a_block_of_certain_language_is_tagged(tmp_path: Path, opened: str, tagged: str) -> None:
    close = opened.strip() + "\n"
    body = TEXT + "\n{}" + '{{"columns": 2}}\n' + close
    assert mended(tmp_path, (HEAD + body.format(opened)).encode()) == (HEAD + body.format(tagged)).encode()


def test_a_block_within_lists_and_quotes_is_tagged(tmp_path: Path) -> None:
    text = '- Read it:\n\n  ```{0}\n  {{"a": 1}}\n  ```\n- ~~~{0}\n  {{"a": 1}}\n  ~~~\n'
    text += '\n> 1. ```{0}\n>    {{"a": 1}}\n>    ```\n'
    assert mended(tmp_path, (HEAD + text.format("")).encode()) == (HEAD + text.format("json")).encode()


@pytest.mark.parametrize(
    "body",
    [
        "```\nmerge one.csv two.csv\n```\n",
        '```text\n{"a": 1}\n```\n',
        '```\n{"a": 1}\n',
        "```\n\n```\n",
        '````markdown\n```\n{"a": 1}\n```\n````\n',
        '<!--\n```\n{"a": 1}\n```\n-->\n',
        '    ```\n    {"a": 1}\n    ```\n',
        "```\n#!/usr/bin/env python3\nprint(\n```\n",
    ],
)
def test_a_block_that_is_tagged_unclosed_uncertain_or_none_at_all_stays(tmp_path: Path, body: str) -> None:
    data = (HEAD + TEXT + "\n" + body).encode()
    assert mended(tmp_path, data) == data


def test_documents_of_the_skill_are_mended_and_its_data_is_not(tmp_path: Path) -> None:
    broken = "\ufeff# Columns\r\n\r\n" + JSON.format(tag="").replace("\n", "\r\n").rstrip()
    names = ("references/columns.md", "assets/sheet.md", "scripts/run.sh", "data.csv", "inner/SKILL.md")
    directory = write_bytes(
        tmp_path, "merge-sheets", (HEAD + TEXT).encode(), files=dict.fromkeys(names, broken.encode())
    )
    done = mend(directory)
    (change,) = done.planned
    assert change.file.endswith("merge-sheets/references/columns.md")
    assert change.path.endswith("merge-sheets/references/columns.md")
    assert change.rules == ("BYTE_ORDER_MARK", "LINE_ENDS", "NO_FINAL_NEWLINE", "UNTAGGED_CODE")
    assert (directory / names[0]).read_bytes() == f"# Columns\n\n{JSON.format(tag='json')}".encode()
    assert all((directory / name).read_bytes() == broken.encode() for name in names[1:])
    assert planned(directory) == ()


def test_only_what_is_wanted_is_mended(tmp_path: Path) -> None:
    data = f"\ufeff---\r\nname:\tjoin\r\n---\r\n{TEXT}".encode().rstrip()
    directory = write_bytes(tmp_path / "skills", "merge-sheets", data)
    assert planned(directory, []) == ()
    for rule in ("BYTE_ORDER_MARK", "FRONTMATTER_TAB", "LINE_ENDS", "NAME_MISMATCH", "NO_FINAL_NEWLINE"):
        (change,) = planned(directory, [rule])
        assert change.rules == (rule,)
    assert planned(directory)[0].rules == (
        *("BYTE_ORDER_MARK", "FRONTMATTER_TAB", "LINE_ENDS", "NAME_MISMATCH", "NO_FINAL_NEWLINE"),
    )


def test_what_a_comment_sets_aside_is_not_mended(tmp_path: Path) -> None:
    aside = "<!-- skillgate: ignore UNTAGGED_CODE: it is shown raw -->\n"
    text = f"{HEAD}{TEXT}\n{aside}{JSON.format(tag='')}\nThen:\n\n{JSON.format(tag='')}"
    directory = write_bytes(tmp_path, "merge-sheets", text.encode())
    mend(directory)
    expected = f"{HEAD}{TEXT}\n{aside}{JSON.format(tag='')}\nThen:\n\n{JSON.format(tag='json')}"
    assert (directory / "SKILL.md").read_text() == expected


def test_a_comment_for_the_file_keeps_its_line_ends(tmp_path: Path) -> None:
    data = f"{HEAD}{TEXT}\n<!-- skillgate: ignore-file LINE_ENDS: a tool wants them -->".replace("\n", "\r\n")
    directory = write_bytes(tmp_path, "merge-sheets", data.encode())
    mend(directory)
    assert (directory / "SKILL.md").read_bytes() == data.encode() + b"\r\n"


def test_a_comment_whose_day_is_over_holds_nothing_up(tmp_path: Path) -> None:
    text = f"{HEAD}{TEXT}\n<!-- skillgate: ignore-file LINE_ENDS until 2026-03-31: mended soon -->\n"
    directory = write_bytes(tmp_path, "merge-sheets", text.replace("\n", "\r\n").encode())
    assert planned(directory) == ()
    assert planned(directory, today="2026-03-31") == ()
    assert planned(directory, today="2026-04-01")[0].after == text.encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\r\n \r\n",
        b"\xef\xbb\xbf",
        b"\xff\xfe#\x00\r\x00\n\x00",
        (HEAD + TEXT).replace("\n", "\r\n").encode() + b"\x00",
        (HEAD + TEXT).replace("\n", "\r\n").encode() + b"\xe9",
        (HEAD + TEXT).replace("\n", "\r\n").encode() + b"x" * 5_000_000,
    ],
    ids=["empty", "blank", "mark", "UTF-16", "NUL", "Latin-1", "large"],
)
def test_what_is_no_text_or_too_large_is_left_alone(tmp_path: Path, data: bytes) -> None:
    directory = write_bytes(tmp_path, "merge-sheets", data, files={"references/a.md": b"# A\r\n"})
    assert planned(directory) == ()


def test_a_document_that_is_no_text_is_left_alone(tmp_path: Path) -> None:
    files = {"references/a.md": b"# A\r\n\xe9", "references/b.md": b"# B\r\n\x00", "references/c.md": b"# C\r\n"}
    (change,) = planned(write_bytes(tmp_path, "merge-sheets", (HEAD + TEXT).encode(), files=files))
    assert change.file.endswith("c.md")


def test_a_skill_that_cannot_be_read_is_left_alone(tmp_path: Path) -> None:
    directory = tmp_path / "merge-sheets"
    (directory / "SKILL.md").mkdir(parents=True)
    assert planned(directory) == ()


def test_a_frontmatter_that_the_new_name_would_push_over_its_limit_keeps_the_old(tmp_path: Path) -> None:
    limit = 65_536
    head = "name: j\nnotes: "
    head += "x" * (limit - len(head))
    data = f"---\n{head}\n---\n{TEXT}".replace("\n", "\r\n").encode()
    directory = write_bytes(tmp_path / "skills", "merge-sheets", data)
    done = mend(directory)
    written, kept = done.results
    assert written.written
    assert written.change.rules == ("LINE_ENDS",)
    assert not kept.written
    assert kept.change.rules == ("NAME_MISMATCH",)
    assert "would change the meaning of the file" in (kept.reason or "")
    assert done.after.skill.frontmatter == done.before.skill.frontmatter


def test_one_harmful_repair_does_not_hold_up_the_others(tmp_path: Path) -> None:
    blocks = f"# A\n\n{JSON.format(tag='')}\n"
    line = "Some words. " * 80 + "\n"
    large = blocks + line * (((1 << 20) - len(blocks)) // len(line))
    large += "y" * ((1 << 20) - len(large) - 1) + "\n"  # a document of more than a megabyte is data
    files = {f"references/{name}.md": blocks for name in "abdefgh"} | {"references/c.md": large}
    directory = write_bytes(tmp_path, "merge-sheets", (HEAD + TEXT).encode(), files=files)
    done = mend(directory)
    assert [result.change.file[-4:] for result in done.results if not result.written] == ["c.md"]
    assert len(done.results) == 8
    assert len(done.after.skill.documents) == len(done.before.skill.documents)
