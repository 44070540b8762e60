"""The configuration of the page on findings does what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli.running import git, run
from tests.docs.page import Page
from tests.skills import BODY, write_skill

if TYPE_CHECKING:
    from pathlib import Path

PAGE = Page("docs/how-to/findings.md")


def test_the_configuration_of_the_page_leaves_out_what_it_says(tmp_path: Path) -> None:
    (text,) = PAGE.of("yaml")
    git(tmp_path, "init", "-q")
    (tmp_path / ".skillgate.yaml").write_text(text, encoding="utf-8")
    folder = write_skill(tmp_path / "skills", body=BODY + "See [it](CHANGELOG.md).\n")
    (folder / "CHANGELOG.md").write_text("# Changes\n\nSee [it](gone.md).\n", encoding="utf-8")
    write_skill(tmp_path / "a" / "vendor")
    write_skill(tmp_path / "legacy" / "b")
    done = run(tmp_path, "check", "--json")
    assert [one["skill"]["path"] for one in done.json["skills"]] == [f"skills/{folder.name}"]
    assert {by for _, by in done.suppressed} <= {"configuration"}
    assert "BROKEN_LINK" not in done.ids
