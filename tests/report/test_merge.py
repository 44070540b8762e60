"""Findings of other tools: read from SARIF as it stands in the wild, and put to the skills they are about."""

from __future__ import annotations

import json
import time
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgate.errors import UsageError
from skillgate.model.finding import Severity
from skillgate.model.report import Report
from skillgate.report.merge import Merged, attach, read_sarif
from skillgate.report.sarif_reader import RESULTS, SIZE
from tests.report.reports import HOSTILE, a_finding, a_report, a_skill, hostile_text

Json = dict[str, Any]


def location(uri: str | None = "skills/one/SKILL.md", *, base: str | None = None, **region: object) -> Json:
    artifact = {key: value for key, value in (("uri", uri), ("uriBaseId", base)) if value is not None}
    physical: Json = {"artifactLocation": artifact}
    if region:
        physical["region"] = region
    return {"physicalLocation": physical}


def a_result(*, uri: str | None = "skills/one/SKILL.md", base: str | None = None, **parts: object) -> Json:
    plain = {"ruleId": "R1", "message": {"text": "found"}, "locations": [location(uri, base=base, startLine=3)]}
    return {key: value for key, value in {**plain, **parts}.items() if value is not None}


def a_log(*results: Json, rules: list[Json] | None = None, name: object = "Other", **run: object) -> Json:
    driver = {"name": name, "rules": rules or []}
    return {"version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": list(results), **run}]}


def merged(*results: Json, **parts: Any) -> Merged:
    return read_sarif(json.dumps(a_log(*results, **parts)), source="other.sarif")


def severities(*results: Json, **parts: Any) -> list[str]:
    return [item.severity.value for item in merged(*results, **parts).findings]


def paths(*results: Json, **parts: Any) -> list[str]:
    return [str(item.path) for item in merged(*results, **parts).findings]


def test_a_result_is_a_finding_of_its_tool() -> None:
    rules = [{"id": "R1", "helpUri": "https://example.com/R1"}]
    given_location = location("skills/one/a%20b.md", startLine=3, startColumn=9)
    (finding,) = merged(a_result(level="error", locations=[given_location]), rules=rules).findings
    assert finding == a_finding(
        id="Other/R1",
        message="found",
        path="skills/one/a b.md",
        line=3,
        column=9,
        fix="see https://example.com/R1",
        url="https://example.com/R1",
        tool="Other",
    )


def test_the_id_holds_one_slash_between_tool_and_rule_and_no_blank() -> None:
    (finding,) = merged(a_result(ruleId="py/a rule"), name="Some / Tool").findings
    assert finding.id == "Some---Tool/py/a-rule"
    assert finding.tool == "Some / Tool"


@pytest.mark.parametrize(
    ("parts", "rule", "severity"),
    [
        ({"level": "error"}, {}, "error"),
        ({"level": "warning"}, {"defaultConfiguration": {"level": "error"}}, "warning"),
        ({"level": "note"}, {}, "info"),
        ({}, {"defaultConfiguration": {"level": "error"}}, "error"),
        ({}, {"defaultConfiguration": {"level": "note"}, "properties": {"security-severity": "9.8"}}, "info"),
        ({}, {"properties": {"security-severity": "9.8"}}, "error"),
        ({}, {"properties": {"security-severity": 5}}, "warning"),
        ({}, {"properties": {"security-severity": "3.9"}}, "info"),
        ({}, {"properties": {"security-severity": "0.0"}}, "warning"),
        ({}, {"properties": {"security-severity": "very"}}, "warning"),
        ({}, {"properties": {"security-severity": "nan"}}, "warning"),
        ({}, {}, "warning"),
        ({"kind": "review", "level": "error"}, {}, "error"),
    ],
)
def test_the_level_is_the_results_the_rules_or_the_scores(parts: Json, rule: Json, severity: str) -> None:
    assert severities(a_result(**parts), rules=[{"id": "R1", **rule}]) == [severity]


@pytest.mark.parametrize(
    "parts",
    [
        {"level": "none"},
        {"kind": "pass"},
        {"kind": "notApplicable", "level": "error"},
        {"kind": "informational"},
        {"kind": "open"},
        {"baselineState": "absent"},
    ],
)
def test_what_passed_or_is_gone_is_left_out(parts: Json) -> None:
    found = merged(a_result(**parts), a_result())
    assert len(found.findings) == 1
    assert found.suppressed == {}


def test_a_rule_that_is_off_by_default_speaks_only_where_the_result_does() -> None:
    rules = [{"id": "R1", "defaultConfiguration": {"level": "none"}}]
    assert severities(a_result(), a_result(level="error"), rules=rules) == ["error"]


@pytest.mark.parametrize(
    ("suppressions", "standing"),
    [
        ([{"kind": "inSource"}], 0),
        ([{"kind": "external", "status": "accepted"}], 0),
        ([{"kind": "external", "status": "underReview"}], 1),
        ([{"kind": "external", "status": "rejected"}], 1),
        ([], 1),
    ],
)
def test_suppressed_results_are_left_out_and_counted(suppressions: list[Json], standing: int) -> None:
    found = merged(a_result(suppressions=suppressions))
    assert len(found.findings) == standing
    assert found.suppressed == ({} if standing else {"Other": 1})


def test_a_rule_is_found_by_id_hierarchy_index_or_extension() -> None:
    rules = [{"id": "R1", "helpUri": "https://a.example/1"}, {"id": "R2", "helpUri": "https://a.example/2"}]
    extension = {"name": "more", "rules": [{"id": "E1", "helpUri": "https://a.example/e"}]}
    results = [
        a_result(ruleId="R2"),
        a_result(ruleId="R2/special"),
        a_result(ruleId=None, ruleIndex=1),
        a_result(ruleId="E1"),
        a_result(ruleId=None, rule={"index": 0, "toolComponent": {"index": 0}}),
        a_result(ruleId=None),
    ]
    log = a_log(*results, rules=rules)
    log["runs"][0]["tool"]["extensions"] = [extension]
    found = read_sarif(json.dumps(log), source="it").findings
    assert [(item.id.partition("/")[2], item.url[-1:]) for item in found] == [
        ("R2", "2"),
        ("R2/special", "2"),
        ("R2", "2"),
        ("E1", "e"),
        ("E1", "e"),
        ("unnamed", ""),
    ]


def test_a_message_may_stand_with_its_rule_and_take_arguments() -> None:
    rules = [{"id": "R1", "messageStrings": {"m": {"text": "{0} calls {1}, {{0}} and {7}"}}}]
    message = {"id": "m", "arguments": ["{1}", "eval"]}
    (finding,) = merged(a_result(message=message), rules=rules).findings
    assert finding.message == "{1} calls eval, {0} and {7}"


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ({"markdown": "**bad**"}, "**bad**"),
        ({}, "what R1 finds"),
        ({"text": "a\nb\x1b[31m"}, "a b\\x1b[31m"),
        ({"text": "x" * 3000}, "x" * 999 + "…"),
    ],
)
def test_a_message_is_one_bounded_line(message: Json, told: str) -> None:
    rules = [{"id": "R1", "shortDescription": {"text": "what R1 finds"}}]
    assert [item.message for item in merged(a_result(message=message), rules=rules).findings] == [told]


@pytest.mark.parametrize(
    "url", ["http://example.com", "javascript:alert(1)", "https://a b", "https://\x1b[0m", "https://" + "x" * 3000]
)
def test_only_a_plain_https_page_becomes_a_link(url: str) -> None:
    (finding,) = merged(a_result(), rules=[{"id": "R1", "helpUri": url}]).findings
    assert finding.url == ""
    assert finding.fix == "see what Other says of R1"


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("skills/one/SKILL.md", "skills/one/SKILL.md"),
        ("./skills/one/../two/SKILL.md", "skills/two/SKILL.md"),
        ("skills/%C3%BC%20b/SKILL.md", "skills/ü b/SKILL.md"),
        ("skills\\one\\SKILL.md", "skills/one/SKILL.md"),
        ("file:///srv/skills/SKILL.md", "/srv/skills/SKILL.md"),
        ("file://localhost/srv/SKILL.md", "/srv/SKILL.md"),
        ("file://server/share/SKILL.md", "//server/share/SKILL.md"),
        ("file:///C:/skills/SKILL.md", "C:/skills/SKILL.md"),
        ("FILE:///c%3A/skills/SKILL.md", "c:/skills/SKILL.md"),
        ("/srv/SKILL.md", "/srv/SKILL.md"),
        ("C:\\skills\\SKILL.md", "C:/skills/SKILL.md"),
        ("caf%E9.md", "caf\udce9.md"),
        ("a%2541.md", "a%41.md"),
        ("a.md#L3", "a.md"),
        ("https://example.com/a.md", "."),
        ("pkg:npm/x@1", "."),
        ("a%00b.md", "."),
        ("a\0b.md", "."),
        ("a\ud800b.md", "."),
        ("a/" * 2048, "a" + "/a" * 2047),
        ("a/" * 2048 + "b", "."),
        ("", "."),
        (None, "."),
    ],
)
def test_uris_become_paths(uri: str | None, path: str) -> None:
    assert paths(a_result(uri=uri)) == [path]


def test_bases_are_resolved_one_in_another() -> None:
    bases = {
        "TOP": {"uri": "file:///work%20dir"},
        "SRC": {"uri": "src/", "uriBaseId": "TOP"},
        "LOOP": {"uri": "x/", "uriBaseId": "LOOP"},
        "BARE": {"description": {"text": "the root"}},
    }
    results = [a_result(uri="a.md", base=base) for base in ("SRC", "BARE", "NONE", "%SRCROOT%")]
    assert paths(*results, originalUriBaseIds=bases) == ["/work dir/src/a.md", "a.md", "a.md", "a.md"]
    (looped,) = paths(a_result(uri="a.md", base="LOOP"), originalUriBaseIds=bases)
    assert looped.endswith("x/a.md")


def test_a_path_that_is_too_long_with_its_base_is_none() -> None:
    bases = {"TOP": {"uri": "file:///" + "b/" * 1500}}
    found = paths(a_result(uri="a/" * 1500, base="TOP"), a_result(uri="a", base="TOP"), originalUriBaseIds=bases)
    assert found == [".", "/" + "b/" * 1500 + "a"]


def test_a_location_may_point_into_the_artifacts() -> None:
    artifacts = [{"location": {"uri": "one.md"}}, {"location": {"uri": "two.md"}}]
    pointing = {"physicalLocation": {"artifactLocation": {"index": 1}}}
    assert paths(a_result(locations=[pointing]), artifacts=artifacts) == ["two.md"]


@pytest.mark.parametrize(
    ("region", "line", "column"),
    [
        ({}, 1, 1),
        ({"startLine": 4}, 4, 1),
        ({"charOffset": 90}, 1, 1),
        ({"startLine": -3, "startColumn": 0}, 1, 1),
        ({"startLine": "4"}, 1, 1),
        ({"startLine": True}, 1, 1),
        ({"startLine": 10**30}, 2**31 - 1, 1),
    ],
)
def test_a_region_that_says_no_line_is_the_first(region: Json, line: int, column: int) -> None:
    (finding,) = merged(a_result(locations=[location(**region)])).findings
    assert (finding.line, finding.column) == (line, column)


def test_a_result_without_a_location_is_kept() -> None:
    assert paths(a_result(locations=None), a_result(locations=[])) == [".", "."]


def test_every_run_is_read() -> None:
    log = a_log(a_result(), name="One")
    log["runs"] += a_log(a_result(), name="Two")["runs"]
    assert [item.tool for item in read_sarif(json.dumps(log), source="it").findings] == ["One", "Two"]


def test_a_byte_order_mark_is_no_matter() -> None:
    assert len(read_sarif("\ufeff" + json.dumps(a_log(a_result())), source="it").findings) == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "other.sarif is not JSON: "),
        ("[" * 100_000, "other.sarif is not JSON: "),
        ("[]", "other.sarif is not SARIF 2.1.0: the document: expected an object, found an array"),
        ("{}", "version: expected '2.1.0', found None"),
        ('{"version": "2.0.0"}', "version: expected '2.1.0', found '2.0.0'"),
        ('{"version": "2.1.0"}', "runs: expected an array"),
        ('{"version": "2.1.0", "runs": [3]}', "runs[]: expected an object, found a number"),
        (json.dumps(a_log(name="  ")), "runs[0].tool.driver.name: expected the tool's name"),
        (json.dumps(a_log(name=None)), "runs[0].tool.driver.name: expected the tool's name"),
        (json.dumps(a_log(a_result(message="text"))), "runs[0].results[0].message: expected an object, found a string"),
        (json.dumps(a_log(a_result(level=3))), "runs[0].results[0].level: expected a string, found a number"),
        (json.dumps(a_log(a_result(locations={}))), "runs[0].results[0].locations: expected an array, found an object"),
    ],
)
def test_what_is_not_sarif_is_refused_with_its_place(text: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_sarif(text, source="other.sarif")
    assert told in str(caught.value)
    assert str(caught.value).startswith("other.sarif ")


def test_what_is_too_large_is_refused() -> None:
    with pytest.raises(UsageError, match="at most 50,000,000 are read"):
        read_sarif(" " * (SIZE + 1), source="it")
    many = '{"version": "2.1.0", "runs": [{"results": [' + ",".join(["{}"] * (RESULTS + 1)) + "]}]}"
    with pytest.raises(UsageError, match="holds 25,001 results"):
        read_sarif(many, source="it")


def test_arguments_cannot_make_a_message_explode() -> None:
    rules = [{"id": "R1", "messageStrings": {"m": {"text": "{0}" * 100_000}}}]
    message = {"id": "m", "arguments": ["{0}" * 100_000]}
    started = time.process_time()
    (finding,) = merged(a_result(message=message), rules=rules).findings
    assert len(finding.message) <= 1000
    assert time.process_time() - started < 5


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | hostile_text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(hostile_text(most=8), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(
            ["ruleId", "ruleIndex", "rule", "level", "kind", "message", "locations", "suppressions", "baselineState"]
        ),
        JSON,
    ),
    JSON,
)
def test_no_result_gives_more_than_findings_or_a_refusal(result: Json, rule: Any) -> None:
    log = a_log(result)
    log["runs"][0]["tool"]["driver"]["rules"] = [rule]
    try:
        found = read_sarif(json.dumps(log), source="it").findings
    except UsageError:
        return
    for finding in found:
        assert len(finding.message) <= 1000
        assert "\n" not in finding.message + finding.id + finding.fix


# Attaching


def placed(report: Report) -> tuple[dict[str, list[str]], list[str]]:
    """Give the paths of findings by skill, and those of no skill."""
    by_skill = {result.skill.path: [str(item.path) for item in result.findings] for result in report.results}
    return by_skill, [str(item.path) for item in report.outside]


def test_a_finding_goes_to_the_deepest_skill_that_holds_its_file() -> None:
    report = a_report(a_skill(path="skills/one"), a_skill(path="skills/one/inner"), a_skill(path="skills/onerous"))
    uris = ("skills/one/a.md", "skills/one/inner/b.md", "skills/onerous/c.md", "skills/d.md", "skills/one")
    found = attach(report, merged(*(a_result(uri=uri) for uri in uris)), cwd="/repo")
    assert placed(found) == (
        {
            "skills/one": ["skills/one", "skills/one/a.md"],
            "skills/one/inner": ["skills/one/inner/b.md"],
            "skills/onerous": ["skills/onerous/c.md"],
        },
        ["skills/d.md"],
    )


@pytest.mark.parametrize(
    ("skill", "uri", "cwd", "shown"),
    [
        ("skills/one", "file:///repo/skills/one/a.md", "/repo", "skills/one/a.md"),
        (".", "file:///repo/a.md", "/repo", "a.md"),
        (".", "a.md", "/repo", "a.md"),
        ("..", "file:///repo/a.md", "/repo/sub", "../a.md"),
        ("/repo/skills/one", "skills/one/a.md", "/repo", "/repo/skills/one/a.md"),
        ("../one", "../one/a.md", "/repo/sub", "../one/a.md"),
        ("one", "file:///C:/repo/one/a.md", "C:\\repo", "one/a.md"),
        ("skills/one", "file:///skills/one/a.md", "/", "skills/one/a.md"),
        ("./skills/one/", "skills/one/a.md", "/repo", "skills/one/a.md"),
    ],
)
def test_paths_meet_however_either_side_writes_them(skill: str, uri: str, cwd: str, shown: str) -> None:
    found = attach(a_report(a_skill(path=skill)), merged(a_result(uri=uri)), cwd=cwd)
    assert [str(item.path) for item in found.results[0].findings] == [shown]
    assert found.outside == ()


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("file:///repo/src/a.py", "src/a.py"),
        ("src/a.py", "src/a.py"),
        ("file:///elsewhere/a.py", "/elsewhere/a.py"),
        ("../a.py", "../a.py"),
        (None, "."),
    ],
)
def test_what_is_about_no_skill_stands_outside(uri: str | None, shown: str) -> None:
    found = attach(a_report(a_skill()), merged(a_result(uri=uri)), cwd="/repo")
    assert placed(found) == ({"skills/one": []}, [shown])


def test_a_tool_that_ran_in_another_directory_is_believed_by_its_relative_paths() -> None:
    bases = {"ROOT": {"uri": "file:///github/workspace/"}}
    results = [a_result(uri=uri, base="ROOT") for uri in ("skills/one/a.md", "src/b.py")]
    found = attach(a_report(a_skill()), merged(*results, originalUriBaseIds=bases), cwd="/home/me/repo")
    assert placed(found) == ({"skills/one": ["skills/one/a.md"]}, ["src/b.py"])


def test_findings_are_sorted_as_others_are_and_counted() -> None:
    ours = a_finding(severity=Severity.WARNING)
    results = [
        a_result(level="note"),
        a_result(level="error", suppressions=[{"kind": "inSource"}]),
        a_result(level="error"),
    ]
    outside = a_result(uri="src/a.py", level="error")
    report = attach(a_report(a_skill(ours)), merged(*results, outside), cwd="/repo")
    assert [item.severity for item in report.results[0].findings] == [Severity.ERROR, Severity.WARNING, Severity.INFO]
    assert report.summary.findings == {"error": 2, "warning": 1, "info": 1}
    assert report.summary.suppressed == {"Other": 1}


def test_several_files_add_up() -> None:
    first = merged(a_result(), a_result(uri="b.py", suppressions=[{"kind": "inSource"}]))
    second = merged(a_result(uri="a.py"), a_result(suppressions=[{"kind": "inSource"}]), name="Second")
    report = attach(attach(a_report(a_skill()), first, cwd="/repo"), second, cwd="/repo")
    assert placed(report) == ({"skills/one": ["skills/one/SKILL.md"]}, ["a.py"])
    assert report.summary.suppressed == {"Other": 1, "Second": 1}


def test_what_is_about_a_skill_that_is_not_asked_about_is_left_out() -> None:
    uris = ("skills/one/a.md", "skills/one/inner/b.md", "skills/two/c.md", "d.md")
    report = a_report(a_skill(path="skills/one"), a_skill(path="skills/two"))
    aside = {"skills/one/inner", "skills/two"}  # the second has a result all the same
    found = attach(report, merged(*(a_result(uri=uri) for uri in uris)), cwd="/repo", aside=aside)
    assert placed(found) == ({"skills/one": ["skills/one/a.md"], "skills/two": []}, ["d.md"])
    assert sum(found.summary.findings.values()) == 2


def test_long_and_deep_paths_cost_no_more_than_others() -> None:
    long = [a_result(uri="a/" * 200_000 + "b.md")] * 3
    deep = [a_result(uri=f"{number}/" + "a/" * 2000 + "b.md") for number in range(3000)]
    started = time.process_time()
    found = attach(a_report(a_skill(path="skills/one")), merged(*long, *deep), cwd="/repo")
    assert time.process_time() - started < 5
    assert len(found.outside) == 3003


def test_nothing_to_merge_changes_nothing() -> None:
    report = a_report(a_skill(a_finding()))
    assert attach(report, merged(), cwd="/repo") == report


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_are_names(text: str) -> None:
    (finding,) = merged(a_result(ruleId=text, message={"text": text}), name=f"T{text}").findings
    shown = finding.id + finding.message + finding.tool + finding.fix
    assert not [character for character in shown if ord(character) < 32 or 0xD800 <= ord(character) < 0xE000]
    report = attach(a_report(a_skill()), merged(a_result(), name=f"T{text}"), cwd="/repo")
    assert isinstance(report.results[0].findings[0].path, PurePosixPath)
