"""The file of known findings: what is recognised again, and what it looks like."""

from __future__ import annotations

import json
from pathlib import PurePosixPath

import pytest

from skillgate.errors import UsageError
from skillgate.model.finding import Finding, Severity
from skillgate.model.report import Tool
from skillgate.report.known import Known, Seen, folded, read, render

TOOL = Tool(version="1.2.3")


def finding(
    message: str = "it has 900 lines", path: str = "skills/pdf/SKILL.md", rule: str = "BLOATED_SKILL"
) -> Finding:
    return Finding(rule, Severity.WARNING, message, PurePosixPath(path), 7, 1, "mend it", "https://example.org")


def seen(found: Finding) -> Seen:
    return Seen(f"../{found.path}", found.message)


def known(*findings: Finding, whole: bool = True) -> Known:
    """Write findings to a file and read them again."""
    return Known(read(render(findings, seen, TOOL), source="known.json"), seen, whole=whole)


def test_the_file_holds_each_kind_once_sorted_and_with_its_number() -> None:
    text = render([finding(), finding("it has 10 lines"), finding(rule="A_RULE")], seen, TOOL)
    assert text.endswith("}\n")
    document = json.loads(text)
    assert document == {
        "kind": "known-findings",
        "tool": {"version": "1.2.3", "name": "skillgate"},
        "findings": [
            {"id": "A_RULE", "path": "../skills/pdf/SKILL.md", "message": "it has # lines", "times": 1, "skills": []},
            {
                "id": "BLOATED_SKILL",
                "path": "../skills/pdf/SKILL.md",
                "message": "it has # lines",
                "times": 2,
                "skills": [],
            },
        ],
        "schema_version": 1,
    }


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (finding(), True),
        (finding("it has 1,024 lines"), True),
        (finding()._replace(line=90, column=4, severity=Severity.ERROR, fix="other"), True),
        (finding("it has many lines"), False),
        (finding(path="skills/pdfs/SKILL.md"), False),
        (finding(rule="OTHER"), False),
    ],
)
def test_a_finding_is_known_by_rule_file_and_message(other: Finding, *, expected: bool) -> None:
    assert known(finding())(other) is expected


@pytest.mark.parametrize("rule", ["HIDDEN_UNICODE", "INSTRUCTION_OVERRIDE", "JUDGE_ADDRESSED"])
def test_numbers_count_where_a_text_may_be_an_attack(rule: str) -> None:
    asked = known(finding("8 variation selectors", rule=rule))
    assert not asked(finding("800 variation selectors", rule=rule))
    assert asked(finding("8 variation selectors", rule=rule)._replace(line=90))


def test_what_is_kept_of_an_earlier_file_stays_beside_what_is_new() -> None:
    earlier = read(render([finding(), finding(path="other/SKILL.md")], seen, TOOL), source="known.json")
    text = render([finding("it has 10 lines")], seen, TOOL, earlier)
    times = {item["path"]: item["times"] for item in json.loads(text)["findings"]}
    assert times == {"../skills/pdf/SKILL.md": 2, "../other/SKILL.md": 1}


def test_each_known_finding_is_met_once() -> None:
    asked = known(finding(), finding())
    assert [asked(finding()) for _ in range(3)] == [True, True, False]


def test_entries_that_stand_twice_count_together() -> None:
    entry = {"id": "A", "path": "b", "message": "c 5"}
    text = json.dumps({"kind": "known-findings", "tool": {"version": "1"}, "findings": [entry, entry]})
    asked = Known(read(text, source="x"), lambda found: Seen("b", found.message))
    assert [asked(finding("c 6", rule="A")) for _ in range(3)] == [True, True, False]


def test_what_was_not_met_is_counted_where_the_run_asked_about_everything() -> None:
    findings = (finding(), finding(rule="A"), finding(rule="A"))
    asked, partial = known(*findings), known(*findings, whole=False)
    assert asked(finding(rule="A"))
    assert (asked.unmet, partial.unmet) == (2, 0)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("12 of 1,024 lines (80%, 3.5 ×), see 10–20.", "# of # lines (#%, # ×), see #."),
        ("SKILL.md:12:5 says 7", "SKILL.md:#:# says #"),
        ("references/2.md does not exist", "references/2.md does not exist"),
        (
            "'step-2.md' and v1.2, gpt-4, sha256, 3rd, U+202E, page_3",
            "'step-2.md' and v1.2, gpt-4, sha256, 3rd, U+202E, page_3",
        ),
        ("2026-11-22", "#"),
        ("no number", "no number"),
    ],
)
def test_numbers_by_themselves_are_left_out(message: str, expected: str) -> None:
    assert folded(message) == expected


def test_any_text_survives() -> None:
    odd = finding('a "quoted" \n \x1b \ud800 文 \u2028', path="skills/a b\udcff/SKILL.md")
    assert known(odd)(odd)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "1", "[" * 100_000, '{"kind": "score"}', "<sarif>"])
def test_another_document_is_refused_by_its_name(text: str) -> None:
    with pytest.raises(UsageError, match=r"^known\.json is no file of known findings .*--write-known-findings$"):
        read(text, source="known.json")


def test_a_later_form_is_refused() -> None:
    text = render([], seen, Tool(version="9.0")).replace('"schema_version": 1', '"schema_version": 2')
    with pytest.raises(UsageError, match=r"known\.json was written by a later skillgate \(9\.0\)"):
        read(text, source="known.json")
