"""The tables of the page about the store name what there is."""

from __future__ import annotations

import re

from skillgate.model.documents import Change
from skillgate.store.keeper import _OUTPUT
from skillgate.store.schema import METADATA
from tests.docs.page import Page

PAGE = Page("docs/how-to/history.md")


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
        "invocation_summaries",
        "synced_files",
    ]
    assert {f"`{table}`" for table in METADATA.tables} <= set(re.findall(r"`[a-z_]+`", PAGE.text))
    words = re.findall(r"^\| ([a-z, ]+) \|", PAGE.text, flags=re.MULTILINE)
    assert {word for row in words for word in row.split(", ")} >= {change.value for change in Change}
    assert f"the first {_OUTPUT:,} characters" in PAGE.text
