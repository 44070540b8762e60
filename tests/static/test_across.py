"""The rules across skills against their case tables, and what they cost on catalogues made to be hard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skillgate.evaluation.pipeline import Criteria, Evaluator, evaluate
from skillgate.model.finding import Client, Severity
from skillgate.scoring.selection import Selection
from skillgate.skill.find import discover, read
from tests.static.cases import Case, declared, tables, write

if TYPE_CHECKING:
    from pathlib import Path

    from skillgate.model.finding import Finding

TABLES = tables("across")
CASES = [case for cases in TABLES.values() for case in cases]


def findings(source: str, folder: Path, *, profile: Client | None = None) -> list[Finding]:
    """Write the skills that an input describes, and evaluate them together as ``skillgate check .`` does."""
    write(source, folder)
    sources = [read(root) for root in discover(["."], cwd=str(folder)).roots]
    asked = Selection(profile=profile)
    report = evaluate(sources, Evaluator(criteria=Criteria(selection=lambda _: asked))).report
    return [finding for result in report.results for finding in result.findings]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_a_rule_says_what_its_table_expects(case: Case, tmp_path: Path) -> None:
    own = [finding for finding in findings(case.source, tmp_path) if finding.id == case.check.upper()]
    said = [f"{one.path}:{one.line}:{one.column} {one.id} {one.message}" for one in own]
    assert sorted(said) == list(case.expected)


def test_every_rule_has_a_table_and_every_table_a_rule() -> None:
    assert set(TABLES) == set(declared("across"))


@pytest.mark.parametrize("check", TABLES)
def test_every_table_has_a_case_that_fires_and_one_that_is_silent(check: str) -> None:
    assert any(case.expected for case in TABLES[check]), "no case fires"
    assert any(not case.expected for case in TABLES[check]), "no case is silent"


TWINS = """\
---
name: pdf-forms
description: Fills PDF forms. Use when a form, a scan or an empty template has to be filled in and checked.
---
=== {place}/SKILL.md
---
name: {name}
description: Fills PDF forms. Use when a form, a scan or an empty template has to be filled in and checked.
---
"""


@pytest.mark.parametrize(
    ("place", "severity"),
    [
        ("../pdf-two", Severity.WARNING),
        ("../group/pdf-two", Severity.WARNING),
        ("../../packages/one/skills/pdf-two", Severity.INFO),
    ],
)
def test_one_name_twice_is_an_error_where_one_folder_holds_both(place: str, severity: Severity, tmp_path: Path) -> None:
    found = findings(TWINS.format(place=place, name="pdf-forms"), tmp_path)
    assert {one.severity for one in found if one.id == "DUPLICATE_NAME"} == {severity}


@pytest.mark.parametrize(
    ("place", "severity"),
    [("../pdf-two", Severity.WARNING), ("../../packages/one/skills/pdf-two", Severity.INFO)],
)
def test_like_descriptions_are_a_warning_where_they_are_listed_together(
    place: str, severity: Severity, tmp_path: Path
) -> None:
    found = findings(TWINS.format(place=place, name="pdf-two"), tmp_path)
    assert [one.severity for one in found if one.id == "INDISTINCT"] == [severity]


@pytest.mark.parametrize("client", [".claude", ".cursor", ".github", ".windsurf"])
def test_a_copy_that_drifted_is_for_information(client: str, tmp_path: Path) -> None:
    two = TWINS.format(place=f"../../{client}/skills/pdf-forms", name="pdf-forms").replace("scan", "letter", 1)
    found = findings(two, tmp_path)
    assert [one.severity for one in found if one.id == "DUPLICATE_NAME"] == [Severity.INFO]


@pytest.mark.parametrize("folder", [".h", ".tools", ".clauded", "..", ".claude/x", "claude"])
def test_below_another_dot_directory_a_copy_is_a_copy(folder: str, tmp_path: Path) -> None:
    two = TWINS.format(place=f"../../top/{folder}/skills/pdf-two", name="pdf-two")
    body = "\n".join(f"In step {number} the form is read by hand." for number in range(12))
    found = findings(two.replace("\n=== ", f"\n{body}\n=== ") + body, tmp_path)
    assert {"INDISTINCT", "DUPLICATED_CONTENT"} <= {one.id for one in found}


def test_one_name_in_two_plugins_is_for_information(tmp_path: Path) -> None:
    two = TWINS.format(place="../../two/skills/pdf-two", name="pdf-forms")
    source = two + "=== ../../.claude-plugin/plugin.json\n{}\n=== ../../two/.claude-plugin/plugin.json\n{}\n"
    found = findings(source, tmp_path)
    assert [one.severity for one in found if one.id == "DUPLICATE_NAME"] == [Severity.INFO, Severity.INFO]


@pytest.mark.parametrize(
    ("profile", "ids"),
    [
        (None, {"LISTING_BUDGET_CLAUDE_CODE", "LISTING_BUDGET_CODEX"}),
        (Client.CLAUDE_CODE, {"LISTING_BUDGET_CLAUDE_CODE"}),
        (Client.CODEX, {"LISTING_BUDGET_CODEX"}),
        (Client.SPEC, set()),
    ],
)
def test_the_profile_of_a_client_asks_for_its_own_budget_alone(
    profile: Client | None, ids: set[str], tmp_path: Path
) -> None:
    head = "---\nname: {name}\ndescription: {{{{chars 1000}}}}\n---\n"
    source = head.format(name="one") + "".join(
        f"=== ../s{number}/SKILL.md\n{head.format(name=f's{number}')}" for number in range(8)
    )
    found = findings(source, tmp_path, profile=profile)
    assert {one.id for one in found if one.id.startswith("LISTING_BUDGET")} == ids
