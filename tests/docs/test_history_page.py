"""What the page about the store says runs as printed, in its order, and its tables name what there is."""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
from typing import TYPE_CHECKING

from skillgate.cli.main import main
from skillgate.model.history import Change
from skillgate.store.rows import _OUTPUT
from skillgate.store.schema import METADATA
from tests.architecture.source import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "how-to" / "history.md").read_text(encoding="utf-8")
LINES = [
    line
    for block in re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL)
    for line in block.splitlines()
    if line.startswith("skillgate ")
]


def test_the_commands_of_the_page_pass_one_after_another(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    said = {}
    for line in LINES:
        out, err = io.StringIO(), io.StringIO()
        code = main(shlex.split(line)[1:], stdout=out, stderr=err, environ=environ, cwd=str(tmp_path))
        assert code == 0, (line, err.getvalue())
        said[line] = out.getvalue()
    assert said["skillgate history"].count("calculator") == 1
    assert said[LINES[-2]] == "2 of 2 imported\n"
    assert "csv-quality-report" in said[LINES[-1]]
    assert (tmp_path / ".skillgate/.gitignore").read_text() == "*\n"


def test_the_page_names_each_table_and_each_word_of_a_trend() -> None:
    assert re.findall(r"^\| `([a-z_]+)`", PAGE, flags=re.MULTILINE) == [
        "documents",
        "bench_evaluations",
        "task_results",
        "score_results",
        "invocations",
        "skill_scores",
        "shown_rubric",
        "origin_salt",
    ]
    assert {f"`{table}`" for table in METADATA.tables} <= set(re.findall(r"`[a-z_]+`", PAGE))
    words = re.findall(r"^\| ([a-z, ]+) \|", PAGE, flags=re.MULTILINE)
    assert {word for row in words for word in row.split(", ")} >= {change.value for change in Change}
    assert f"the first {_OUTPUT:,} characters" in PAGE
