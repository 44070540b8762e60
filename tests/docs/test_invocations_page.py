"""What the page about recorded invocations says runs as printed, in its order, and its tables name what there is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from skillgate.invocations.formats._record import FIELDS, FILLERS
from skillgate.model.invocation import Component, Ending, Tier
from skillgate.model.invocation_gate import PACKAGED
from skillgate.registry import INVOCATION_FORMATS
from tests.docs.page import Page

pytest.importorskip("sqlalchemy", reason="the extra store is not installed")
pytest.importorskip("jinja2", reason="the extra report is not installed")

if TYPE_CHECKING:
    from pathlib import Path

PAGE = Page("invocations")


def test_the_commands_of_the_page_pass_one_after_another(tmp_path: Path) -> None:
    said = PAGE.run(tmp_path)
    assert said[PAGE.commands[0]].startswith("1 file, 138 new")
    assert "improving" in said["skillgate log trend json-schema-draft --at 2026-11-20"]
    (gates,) = (text for text in PAGE.blocks("yaml") if text.startswith("gates:"))
    (tmp_path / ".skillgate.yaml").write_text(gates, encoding="utf-8")
    PAGE.run(tmp_path, "skillgate log gate release csv-quality-report --at 2026-11-20")


def test_the_page_names_every_form_component_tier_gate_and_ending() -> None:
    assert {f"`{name}`" for name in INVOCATION_FORMATS.listed()} <= set(re.findall(r"`[a-z-]+`", PAGE.text))
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", PAGE.text, flags=re.MULTILINE)
    assert {(str(tier.least), tier.value, tier.action) for tier in Tier} <= set(rows)
    points = {name: int(number) for name, number, _ in rows if number.isdigit()}
    assert points == {"output quality" if one is Component.QUALITY else one.value: one.points for one in Component}
    assert {f"`{name}`" for name in PACKAGED} <= {name for name, _, _ in rows}
    assert all(f"`{ending.value}`" in PAGE.text for ending in Ending)


def test_the_page_names_only_fields_that_are_read() -> None:
    table = PAGE.text.partition("### The fields")[2].partition("Signals that come later")[0]
    named = set(re.findall(r"`([a-z_]+)`", table))
    values = {ending.value for ending in Ending} | {"code_generation", "analysis", "design", "research", "code"}
    inner = {"linter_passed", "types_valid", "tests_passed", "mostly_accurate", "partially_accurate"}
    assert named - values - inner <= FIELDS.keys() | FILLERS.keys()
