"""What the page about the store says runs as printed, in its order, and its tables name what there is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.model.documents import Change
from skillgate.store.keeper import _OUTPUT
from skillgate.store.schema import METADATA
from tests.docs.page import Page

if TYPE_CHECKING:
    from pathlib import Path

PAGE = Page("history")


def test_the_commands_of_the_page_pass_one_after_another(tmp_path: Path) -> None:
    said = PAGE.run(tmp_path)
    assert said["skillgate history"].count("calculator") == 1
    assert said[PAGE.commands[-2]] == "2 of 2 imported\n"
    assert "csv-quality-report" in said[PAGE.commands[-1]]
    assert (tmp_path / ".skillgate/.gitignore").read_text() == "*\n"


def test_the_page_names_each_table_and_each_word_of_a_trend() -> None:
    assert re.findall(r"^\| `([a-z_]+)`", PAGE.text, flags=re.MULTILINE) == [
        "documents",
        "bench_evaluations",
        "task_results",
        "score_results",
        "invocations",
        "skill_scores",
        "shown_rubric",
        "origin_salt",
    ]
    assert {f"`{table}`" for table in METADATA.tables} <= set(re.findall(r"`[a-z_]+`", PAGE.text))
    words = re.findall(r"^\| ([a-z, ]+) \|", PAGE.text, flags=re.MULTILINE)
    assert {word for row in words for word in row.split(", ")} >= {change.value for change in Change}
    assert f"the first {_OUTPUT:,} characters" in PAGE.text
