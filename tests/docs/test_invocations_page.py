"""What the page about recorded invocations says runs as printed, in its order, and its tables name what there is."""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
from typing import TYPE_CHECKING

import pytest

from skillgate.cli.main import main
from skillgate.invocations.formats._fields import FIELDS, FILLERS
from skillgate.model.invocation import Component, Ending, Tier
from skillgate.model.invocation_gate import PACKAGED
from skillgate.registry import INVOCATION_FORMATS
from tests.architecture.source import ROOT

pytest.importorskip("sqlalchemy", reason="the extra store is not installed")
pytest.importorskip("jinja2", reason="the extra report is not installed")

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "how-to" / "invocations.md").read_text(encoding="utf-8")
LINES = [
    line
    for block in re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL)
    for line in block.splitlines()
    if line.startswith("skillgate ")
]


def test_the_commands_of_the_page_pass_one_after_another(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (block,) = re.findall(r"```yaml\n(gates:.*?)```", PAGE, flags=re.DOTALL)
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    said = {}
    for line in LINES:
        out, err = io.StringIO(), io.StringIO()
        code = main(shlex.split(line)[1:], stdout=out, stderr=err, environ=environ, cwd=str(tmp_path))
        assert code == 0, (line, err.getvalue())
        said[line] = out.getvalue()
    assert said[LINES[0]].startswith("1 file, 138 new")
    assert "improving" in said["skillgate log trend json-schema-draft --at 2026-11-20"]
    (tmp_path / ".skillgate.yaml").write_text(block, encoding="utf-8")
    words = ["log", "gate", "release", "csv-quality-report", "--at", "2026-11-20"]
    out = io.StringIO()
    assert main(words, stdout=out, stderr=io.StringIO(), environ=environ, cwd=str(tmp_path)) == 0, out.getvalue()


def test_the_page_names_every_form_component_tier_gate_and_ending() -> None:
    assert {f"`{name}`" for name in INVOCATION_FORMATS.listed()} <= set(re.findall(r"`[a-z-]+`", PAGE))
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", PAGE, flags=re.MULTILINE)
    assert {(str(tier.least), tier.value, tier.action) for tier in Tier} <= set(rows)
    points = {name: int(number) for name, number, _ in rows if number.isdigit()}
    assert points == {"output quality" if one is Component.QUALITY else one.value: one.points for one in Component}
    assert {f"`{name}`" for name in PACKAGED} <= {name for name, _, _ in rows}
    assert all(f"`{ending.value}`" in PAGE for ending in Ending)


def test_the_page_names_only_fields_that_are_read() -> None:
    table = PAGE.partition("### The fields")[2].partition("Signals that come later")[0]
    named = set(re.findall(r"`([a-z_]+)`", table))
    values = {ending.value for ending in Ending} | {"code_generation", "analysis", "design", "research", "code"}
    inner = {"linter_passed", "types_valid", "tests_passed", "mostly_accurate", "partially_accurate"}
    assert named - values - inner <= FIELDS.keys() | FILLERS.keys()
