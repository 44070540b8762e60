"""Comments as views, and two of them as Markdown, as they were when somebody last looked at them.

After an intended change, ``SKILLGATE_GOLDEN=write python -m pytest tests/github/test_comment_golden.py`` writes them
again; then read the difference.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgate.action.comment.comment import comment, summary, view
from tests.github import judged
from tests.github.build import SITUATIONS
from tests.github.rendered import OURS, read, reader, unbalanced
from tests.report.tree import dump, matches_golden

GOLDEN = Path(__file__).parent / "golden"
EVERY = {**SITUATIONS, **judged.SITUATIONS}
PAGES = {"regression": comment, "hostile": comment, "new": summary}
_LONG = ("many", "hostile", "attacked")  # of many findings, or of long texts; other tests look at them


@pytest.mark.parametrize(("name", "situations"), [("comment", SITUATIONS), ("judged", judged.SITUATIONS)])
def test_every_view_is_as_it_was_looked_at(name: str, situations: dict[str, object]) -> None:
    told = "\n".join(f"# {key}\n{dump(view(EVERY[key]()))}" for key in situations if key not in _LONG)
    assert matches_golden(f"{name}.tree", told, GOLDEN)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_as_it_was_looked_at(name: str) -> None:
    assert matches_golden(f"{name}.md", PAGES[name](EVERY[name]()), GOLDEN)


def test_every_file_is_looked_at() -> None:
    assert {file.name for file in GOLDEN.glob("*")} == {"comment.tree", "judged.tree", *(f"{one}.md" for one in PAGES)}


@pytest.mark.parametrize("kind", ["comment", "summary"])
@pytest.mark.parametrize("name", EVERY)
def test_it_is_read_as_it_is_meant(name: str, kind: str) -> None:
    text = {"comment": comment, "summary": summary}[kind](EVERY[name]())
    page = read(text)
    assert unbalanced(reader().render(text)) == []
    assert "<h3>" in reader().render(text)
    marks = [piece for piece in page.html if piece not in OURS]
    assert marks == (["<!-- skillgate:v1 key=default -->"] if kind == "comment" else [])
    assert all(len(set(cells)) == 1 for cells in page.rows)
    assert not page.kinds & {"image", "hr", "fence", "code_block", "s_open", "hardbreak"}
