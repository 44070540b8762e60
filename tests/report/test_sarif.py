"""SARIF: valid by the official schema, within GitHub's limits, and inert whatever it tells of."""

from __future__ import annotations

import gzip
import json
import random
import unicodedata
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings

from skillgate.model.finding import Client, Page, Severity, Suppressed
from skillgate.model.report import Report
from skillgate.report.findings import marked
from skillgate.report.formats.sarif import RUNS, render
from skillgate.report.merge import read_sarif
from skillgate.report.sarif_uri import artifact
from skillgate.static.catalogue import pages
from tests.report.reports import HOSTILE, a_finding, a_report, a_skill, hostile_reports, unread

SCHEMA = json.loads((Path(__file__).parent / "data" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
PAGE = next(page for page in pages() if page.rule.id == "ORPHAN_REFERENCE")


def log(report: Report, *pages: Page, suppressed: bool = True) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(render(report, pages, suppressed=suppressed))
    VALIDATOR.validate(found)
    for run in found["runs"]:
        rules = run["tool"]["driver"]["rules"]
        assert len({rule["id"] for rule in rules}) == len(rules)
        for result in run["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    return found


def results(report: Report, **options: bool) -> list[dict[str, Any]]:
    return [result for run in log(report, **options)["runs"] for result in run["results"]]


def fingerprints(report: Report) -> list[str]:
    return [result["partialFingerprints"]["skillgateFinding/v1"] for result in results(report)]


def test_a_finding_is_a_result_at_its_place() -> None:
    (result,) = results(a_report(a_skill(a_finding(clients=(Client.CODEX,)))))
    assert result.pop("partialFingerprints").keys() == {"skillgateFinding/v1"}
    assert result == {
        "ruleId": "ORPHAN_REFERENCE",
        "ruleIndex": 0,
        "level": "error",
        "message": {"text": "references/gone.md is not there. To fix: correct the path."},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "skills/one/SKILL.md", "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 7, "startColumn": 5},
                }
            }
        ],
        "properties": {"clients": ["codex"]},
    }


def test_the_tool_says_who_it_is() -> None:
    driver = log(a_report())["runs"][0]["tool"]["driver"]
    assert {key: driver[key] for key in ("name", "version", "semanticVersion")} == {
        "name": "skillgate",
        "version": "1.2.3",
        "semanticVersion": "1.2.3",
    }
    assert "semanticVersion" not in log(a_report(version="1.2.dev1"))["runs"][0]["tool"]["driver"]


def test_a_run_without_findings_has_an_empty_list_of_results() -> None:
    (run,) = log(a_report(a_skill()))["runs"]
    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"] is True


def test_levels_and_order_follow_severity() -> None:
    found = results(a_report(a_skill(*(a_finding(severity=item, id=item.name) for item in reversed(Severity)))))
    assert [(result["ruleId"], result["level"]) for result in found] == [
        ("ERROR", "error"),
        ("WARNING", "warning"),
        ("INFO", "note"),
    ]


def test_a_rule_is_described_by_its_page() -> None:
    (rule,) = log(a_report(a_skill(a_finding())), PAGE)["runs"][0]["tool"]["driver"]["rules"]
    assert rule["name"] == "OrphanReference"
    assert rule["shortDescription"]["text"].rstrip(".").lower() == PAGE.rule.summary.lower()
    assert rule["fullDescription"]["text"].startswith(PAGE.title)
    assert "Fix: " in rule["help"]["text"]
    assert "**Why.**" in rule["help"]["markdown"]
    assert rule["helpUri"] == "https://example.com/rules#orphan_reference"
    assert rule["defaultConfiguration"] == {"level": "error"}
    assert rule["properties"]["tags"][:2] == ["agent-skills", "anti-pattern"]


def test_without_pages_a_rule_is_described_by_its_id_and_fix() -> None:
    (rule,) = log(a_report(a_skill(a_finding())))["runs"][0]["tool"]["driver"]["rules"]
    assert rule["shortDescription"]["text"] == "Orphan reference."
    assert rule["fullDescription"] == rule["help"] == {"text": "correct the path"}


def test_two_results_of_a_rule_share_its_description() -> None:
    found = [a_finding(line=1), a_finding(id="OTHER"), a_finding(line=2)]
    rules = log(a_report(a_skill(*found)))["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["ORPHAN_REFERENCE", "OTHER"]


@pytest.mark.parametrize(
    ("path", "uri", "based"),
    [
        ("skills/one/SKILL.md", "skills/one/SKILL.md", True),
        ("./skills//one/./SKILL.md", "skills/one/SKILL.md", True),
        ("a/../SKILL.md", "SKILL.md", True),
        ("a b/ü#?%41.md", "a%20b/%C3%BC%23%3F%2541.md", True),
        ("a:b/SKILL.md", "a%3Ab/SKILL.md", True),
        ("back\\slash.md", "back%5Cslash.md", True),
        ("caf\udce9/SKILL.md", "caf%E9/SKILL.md", True),
        ("..hidden/SKILL.md", "..hidden/SKILL.md", True),
        ("../other/SKILL.md", "../other/SKILL.md", False),
        ("a/../../SKILL.md", "../SKILL.md", False),
        ("/srv/a b/../SKILL.md", "file:///srv/SKILL.md", False),
        ("//server/share/SKILL.md", "file://server/share/SKILL.md", False),
        ("C:/skills/ü.md", "file:///C:/skills/%C3%BC.md", False),
    ],
)
def test_paths_become_uris_and_only_those_below_the_root_are_relative_to_it(
    path: str, uri: str, *, based: bool
) -> None:
    assert artifact(path) == ({"uri": uri, "uriBaseId": "%SRCROOT%"} if based else {"uri": uri})


def test_a_fingerprint_stays_when_lines_and_counts_move() -> None:
    before = a_report(a_skill(a_finding(message="17 lines are gone"), a_finding(line=20)))
    after = a_report(a_skill(a_finding(message="18 lines are gone", line=9), a_finding(line=31, column=2)))
    assert fingerprints(before) == fingerprints(after)


def test_equal_findings_have_fingerprints_of_their_own() -> None:
    found = fingerprints(a_report(a_skill(*(a_finding(line=line) for line in (3, 3, 9)))))
    assert len(set(found)) == 3


def test_suppressing_a_finding_leaves_the_fingerprints_of_others() -> None:
    first, second = a_finding(line=3), a_finding(line=9)
    before = {item.finding: item.fingerprint for item in marked(a_report(a_skill(first, second)))}
    report = a_report(a_skill(second, suppressed=(Suppressed(first, "comment", "later"),)))
    assert {item.finding: item.fingerprint for item in marked(report)} == before


@pytest.mark.parametrize(
    ("by", "kind", "reason", "until", "told"),
    [
        ("comment", "inSource", "made by the build", None, "made by the build"),
        ("comment", "inSource", "later", "2031-01-31", "later (until 2031-01-31)"),
        ("configuration", "external", None, None, "suppressed by the configuration"),
        ("known", "external", None, None, "suppressed by the known findings"),
    ],
)
def test_what_was_set_aside_says_by_what(by: str, kind: str, reason: str | None, until: str | None, told: str) -> None:
    report = a_report(a_skill(a_finding(line=1), suppressed=(Suppressed(a_finding(), by, reason, until),)))
    standing, aside = results(report)
    assert "suppressions" not in standing
    assert aside["suppressions"] == [{"kind": kind, "status": "accepted", "justification": told}]


def test_what_was_set_aside_can_be_left_out() -> None:
    report = a_report(a_skill(suppressed=(Suppressed(a_finding(), "known"),)))
    (run,) = log(report, suppressed=False)["runs"]
    assert run["results"] == run["tool"]["driver"]["rules"] == []


def test_a_skill_that_could_not_be_read_makes_the_run_unsuccessful() -> None:
    (invocation,) = log(a_report(a_skill(), unread()))["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    (notice,) = invocation["toolExecutionNotifications"]
    assert notice["level"] == "error"
    assert notice["message"]["text"] == "skills/locked: not evaluated: Permission denied"
    assert notice["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "skills/locked"


def test_findings_of_other_tools_are_runs_of_their_own() -> None:
    foreign = a_finding(id="Some-Tool/py/rule", tool="Some Tool", url="")
    ours, theirs = log(a_report(a_skill(a_finding(), foreign), outside=(foreign._replace(path=foreign.path),)))["runs"]
    assert [result["ruleId"] for result in ours["results"]] == ["ORPHAN_REFERENCE"]
    assert theirs["tool"]["driver"]["name"] == "Some Tool"
    assert [result["ruleId"] for result in theirs["results"]] == ["py/rule", "py/rule"]
    assert "helpUri" not in theirs["tool"]["driver"]["rules"][0]


def test_what_is_written_can_be_merged_again() -> None:
    foreign = a_finding(id="Other/rule", tool="Other", path="src/a b.md", severity=Severity.INFO)
    report = a_report(a_skill(a_finding(), suppressed=(Suppressed(a_finding(line=9), "known"),)), outside=(foreign,))
    merged = read_sarif(render(report, suppressed=True), source="it")
    told = [(item.id, item.severity, str(item.path), item.line, item.column, item.tool) for item in merged.findings]
    assert told == [
        ("skillgate/ORPHAN_REFERENCE", Severity.ERROR, "skills/one/SKILL.md", 7, 5, "skillgate"),
        ("Other/rule", Severity.INFO, "src/a b.md", 7, 5, "Other"),
    ]
    assert merged.suppressed == {"skillgate": 1}


def test_there_are_at_most_twenty_runs_and_what_is_left_out_is_said() -> None:
    foreign = tuple(a_finding(id=f"t{index}/r", tool=f"t{index:02}") for index in range(25))
    found = log(a_report(a_skill(a_finding()), outside=foreign))
    assert len(found["runs"]) == RUNS
    notices = found["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert [notice["level"] for notice in notices] == ["warning"] * (25 - (RUNS - 1))


def test_a_run_keeps_the_worst_results_that_github_takes() -> None:
    infos = [a_finding(severity=Severity.INFO, line=line) for line in range(1, 26)]
    (run,) = json.loads(render(a_report(a_skill(*infos, a_finding(line=3))), results=20))["runs"]
    assert len(run["results"]) == 20
    assert run["results"][0]["level"] == "error"
    (notice,) = run["invocations"][0]["toolExecutionNotifications"]
    assert notice["message"]["text"].startswith("6 more findings are left out")


def test_a_file_never_packs_to_more_than_github_takes() -> None:
    noise = "".join(random.Random(7).choices([chr(point) for point in range(0x4E00, 0x9FFF)], k=28_000))
    rare = [a_finding(message=noise[start : start + 700]) for start in range(0, len(noise), 700)]
    text = render(a_report(a_skill(*rare)), packed=20_000)
    assert len(gzip.compress(text.encode(), 6)) <= 20_000
    assert len(json.loads(text)["runs"][0]["results"]) < len(rare)


def test_texts_are_bounded() -> None:
    long = "x" * 9000
    foreign = a_finding(id=f"T/{long}", tool="T", message=long, fix=long)
    found = log(a_report(a_skill(a_finding(message=long, fix=long)), outside=(foreign,)), PAGE)
    for run in found["runs"]:
        assert all(len(result["message"]["text"]) <= 1000 for result in run["results"])
        for rule in run["tool"]["driver"]["rules"]:
            assert len(rule["id"]) <= 255
            assert len(rule.get("name", "")) <= 255
            assert all(len(rule[key]["text"]) <= 1024 for key in ("shortDescription", "fullDescription"))
            assert len(rule["properties"]["tags"]) <= 10


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_no_link_no_placeholder_and_no_command(text: str) -> None:
    report = a_report(a_skill(a_finding(message=text, fix=text), path=text), unread(text, text))
    written = render(report)
    written.encode()
    assert "##[" not in written
    assert not [line for line in written.split("\n") if line.lstrip().startswith("::")]
    messages = [result["message"]["text"] for result in results(report)]
    assert not [message for message in messages if "](" in message or "{0}" in message]
    assert not {unicodedata.category(character) for message in messages for character in message} & {"Cc", "Cs", "Zl"}


@settings(max_examples=50, deadline=None)
@given(hostile_reports())
def test_every_report_is_valid_and_tells_its_results_apart(report: Report) -> None:
    written = render(report)
    written.encode()
    assert "##[" not in written
    for run in log(report)["runs"]:
        prints = [result["partialFingerprints"]["skillgateFinding/v1"] for result in run["results"]]
        assert len(set(prints)) == len(prints)
        for result in run["results"]:
            (location,) = result["locations"]
            uri = location["physicalLocation"]["artifactLocation"]["uri"]
            assert uri.isascii()
            assert not set(uri) & set(' \\"<>^`{}|')
            assert "](" not in result["message"]["text"]


def test_what_was_set_aside_is_left_out_and_counted_unless_asked_for() -> None:
    report = a_report(a_skill(a_finding(), suppressed=(Suppressed(a_finding(line=9), "known"),)))
    run = json.loads(render(report))["runs"][0]
    assert [result["locations"][0]["physicalLocation"]["region"]["startLine"] for result in run["results"]] == [7]
    notices = run["invocations"][0]["toolExecutionNotifications"]
    assert [notice["message"]["text"] for notice in notices] == ["1 suppressed finding left out"]
