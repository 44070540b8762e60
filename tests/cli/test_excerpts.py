"""A page shows the source beside findings, and never what lies behind a link."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("jinja2")

from skillgate.cli.excerpts import excerpts
from tests.cli.running import run
from tests.skills import BODY, write_skill

if TYPE_CHECKING:
    from pathlib import Path


def test_a_line_is_shown_with_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one\ntwo\nthree\n", encoding="utf-8")
    around = excerpts(str(tmp_path))
    assert around("a.md", 1) == [(1, "one"), (2, "two")]
    assert around("a.md", 3) == [(2, "two"), (3, "three")]
    assert around("a.md", 9) == []
    assert around("gone.md", 1) == []


def test_what_is_behind_a_link_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("token\n", encoding="utf-8")
    (tmp_path / "a.md").symlink_to(tmp_path / "secret")
    assert excerpts(str(tmp_path))("a.md", 1) == []


def test_the_page_of_a_check_shows_the_line_of_an_error(tmp_path: Path) -> None:
    write_skill(tmp_path, "poor", body=BODY + "\nSee [<b>x</b>](references/gone.md).\n")
    page = run(tmp_path, "check", "poor", "--output", "html").out
    assert "See [&lt;b&gt;x&lt;/b&gt;](references/gone.md)." in page
