"""The tables of the page about recorded invocations name what there is."""

from __future__ import annotations

import re

from skillgate.invocations.formats._record import FIELDS, FILLERS
from skillgate.model.invocation import Caller, Component, Ending, Tier
from skillgate.model.invocation_gate import PACKAGED
from skillgate.registry import INVOCATION_FORMATS
from tests.docs.page import Page

PAGE = Page("docs/how-to/invocations.md")


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
    values = {choice.value for choices in (Ending, Caller) for choice in choices}
    values |= {"code_generation", "analysis", "design", "research", "code"}
    inner = {"linter_passed", "types_valid", "tests_passed", "mostly_accurate", "partially_accurate"}
    assert named - values - inner <= FIELDS.keys() | FILLERS.keys()
