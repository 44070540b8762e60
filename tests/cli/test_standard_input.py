"""``check -`` reads one main file from standard input."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import Done, run
from tests.skills import BODY, DESCRIPTION, NAME, write_skill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Check = Callable[..., Done]

TEXT = f"---\nname: {NAME}\ndescription: {DESCRIPTION}\n---\n{BODY}"
LINK = "See [it](references/a.md) and [that](references/gone.md).\n"


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Run check with a text on standard input."""

    def checked(text: str | bytes, *words: str) -> Done:
        data = text if isinstance(text, bytes) else text.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return run(tmp_path, "check", "-", *words)

    return checked


def test_a_text_alone_is_the_whole_skill(check: Check, tmp_path: Path) -> None:
    (tmp_path / "references").mkdir()
    (tmp_path / "references" / "a.md").write_text("# A\n", encoding="utf-8")
    done = check(TEXT + LINK, "--json")
    assert done.code == 1
    assert [(one["id"], one["path"]) for one in done.json["findings"] if one["severity"] == "error"] == [
        ("ORPHAN_REFERENCE", "SKILL.md"),
        ("ORPHAN_REFERENCE", "SKILL.md"),
    ]
    assert check(TEXT, "--fail-on", "error").code == 0
    assert "NAME_MISMATCH" not in check(TEXT).out
    assert "EMPTY_FILE" in check("").out
    assert "NOT_UTF8" in check(b"\xff\xfe").out
    assert "FILE_TOO_LARGE" in check("x" * 6_000_000).out


def test_a_name_places_the_text_among_the_files_on_disk(check: Check, tmp_path: Path) -> None:
    folder = write_skill(tmp_path / "skills", body="saved\n")
    (folder / "references").mkdir()
    (folder / "references" / "a.md").write_text("# A\n", encoding="utf-8")
    place = f"skills/{NAME}/SKILL.md"
    found = check(TEXT + LINK, "--stdin-filename", place, "--json").json
    errors = [one for one in found["findings"] if one["severity"] == "error"]
    assert [one["path"] for one in errors] == [place]
    assert "references/gone.md" in errors[0]["message"]
    on_disk = folder / "SKILL.md"
    on_disk.write_text(TEXT + LINK, encoding="utf-8")
    same = run(tmp_path, "check", f"skills/{NAME}", "--json").json
    assert found["findings"] == same["findings"]
    assert found["skills"][0]["score"] == same["skills"][0]["score"]


def test_a_name_in_no_directory_names_the_skill(check: Check) -> None:
    done = check(TEXT, "--stdin-filename", "skills/other/SKILL.md")
    assert "skills/other/SKILL.md:2:1: warning NAME_MISMATCH" in done.out


def test_the_fixed_text_is_printed_and_nothing_is_written(check: Check, tmp_path: Path) -> None:
    folder = write_skill(tmp_path / "skills", body=BODY)
    before = (folder / "SKILL.md").read_text(encoding="utf-8")
    unfixed = TEXT.rstrip("\n") + '\n\n```\n{"a": 1}\n```'
    done = check(unfixed, "--fix", "--stdin-filename", f"skills/{NAME}/SKILL.md")
    assert done == (0, unfixed.replace("```\n{", "```json\n{") + "\n", "")
    assert check(TEXT, "--fix").out == TEXT
    assert check(b"\xff\xfe", "--fix").code == 2
    shown = check(unfixed, "--diff")
    assert shown.code == 1
    assert "+```json" in shown.out
    assert (folder / "SKILL.md").read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("skills",), "pass no other PATH with it"),
        (("--changed",), "leave out --changed"),
        (("--files",), "leave out --files"),
        (("--output", "html"), "leave out --output html"),
        (("--write-known-findings", "a.json"), "leave out --write-known-findings"),
        (("--watch",), "--watch only shows findings; leave out -"),
        (("--stdin-filename", "README.md"), "expected the path of a SKILL.md file"),
    ],
)
def test_what_needs_files_is_refused(check: Check, words: tuple[str, ...], said: str) -> None:
    done = check(TEXT, *words)
    assert done.code == 2
    assert said in done.err


def test_a_name_without_standard_input_is_refused(tmp_path: Path) -> None:
    write_skill(tmp_path)
    done = run(tmp_path, "check", "--stdin-filename", "a/SKILL.md")
    assert done.code == 2
    assert "--stdin-filename needs - as the only PATH" in done.err
