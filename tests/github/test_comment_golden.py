"""Comments and summaries as they were when somebody last looked at them.

After a change that is meant, ``SKILLGATE_GOLDEN=write python -m pytest tests/github/test_comment_golden.py`` writes
them anew; then read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillgate.action.comment.comment import comment, summary
from tests.github.build import SITUATIONS
from tests.github.rendered import OURS, read, reader, unbalanced

GOLDEN = Path(__file__).parent / "golden"
WRITES = {"comment": comment, "summary": summary}
KEPT = [(name, kind) for name in SITUATIONS for kind in WRITES if (name, kind) != ("many", "summary")]  # a megabyte


@pytest.mark.parametrize(("name", "kind"), KEPT)
def test_it_is_as_it_was_looked_at(name: str, kind: str) -> None:
    text = WRITES[kind](SITUATIONS[name]())
    file = GOLDEN / f"{name}.{kind}.md"
    if os.environ.get("SKILLGATE_GOLDEN") == "write":
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(text.encode())
    assert text == file.read_bytes().decode()


def test_every_file_is_of_a_situation() -> None:
    assert {file.name for file in GOLDEN.glob("*")} == {f"{name}.{kind}.md" for name, kind in KEPT}


@pytest.mark.parametrize(("name", "kind"), [*KEPT, ("many", "summary")])
def test_it_is_read_as_it_is_meant(name: str, kind: str) -> None:
    text = WRITES[kind](SITUATIONS[name]())
    page = read(text)
    assert unbalanced(reader().render(text)) == []
    assert "<h3>" in reader().render(text)
    marks = [piece for piece in page.html if piece not in OURS]
    assert marks == (["<!-- skillgate:v1 key=default -->"] if kind == "comment" else [])
    assert all(len(set(cells)) == 1 for cells in page.rows)
    assert not page.kinds & {"image", "hr", "fence", "code_block", "s_open", "hardbreak"}
