"""The gate to which the page about writing skills leads stops the change that it warns of, and no other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import yaml

from skillgate.registry import STARTERS
from tests.action.pull_request import PullRequest
from tests.docs.page import Page

if TYPE_CHECKING:
    from pathlib import Path

PAGE = Page("docs/how-to/writing-skills-that-run.md")
TOTAL = "skills/order_total/total.py"


def test_the_pull_request_that_the_page_warns_of_is_stopped_and_a_harmless_one_is_not(tmp_path: Path) -> None:
    pytest.importorskip("scipy", reason="scipy is not installed")
    right, wrong = (block.text for block in PAGE.blocks if block.title == TOTAL)
    files = {block.title: block.text for block in PAGE.blocks if block.title.startswith(("skills/", "benchmarks/"))}
    (workflow,) = (yaml.safe_load(block.text) for block in PAGE.blocks if block.title.startswith(".github/"))
    (step,) = (one for one in workflow["jobs"]["skills"]["steps"] if "skillgate" in one["uses"])
    inputs = {name.replace("-", "_"): value for name, value in step["with"].items()}
    for name, change, code in (("worse", wrong, 1), ("same", right + "# as before\n", 0)):
        repository = PullRequest(folder=tmp_path / name)
        repository.base({**files, TOTAL: right})
        repository.change({TOTAL: change})
        ran = repository.run(**inputs)
        assert ran.code == code, (ran.err, ran.log)
        assert ran.outputs["broken-tasks"] == ("2" if code else "0")
        assert ("half_a_cent" in ran.summary) is bool(code)


def test_the_page_has_a_row_for_each_template() -> None:
    assert sorted(re.findall(r"^\| `([a-z_]+)`", PAGE.text, flags=re.MULTILINE)) == list(STARTERS.names())
