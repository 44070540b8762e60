"""Probes of reading: each way to be broken has a diagnosis of its own, and none ends in a traceback."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from skillgate.model.score import Badge
from tests.skills import (
    BODY,
    DESCRIPTION,
    NAME,
    RICH_FILES,
    STUB_COMPOSITE,
    STUB_SCORES,
    findings,
    ids,
    rich_body,
    run,
    run_python,
    score,
    sub_check,
    sub_scores,
    write_bytes,
    write_skill,
)

if TYPE_CHECKING:
    from pathlib import Path

HEAD = f"name: {NAME}\ndescription: {DESCRIPTION}"
LONG = rich_body()  # worth a badge even with a frontmatter that earns nothing, were it not broken


@pytest.mark.parametrize(
    ("value", "rule", "message"),
    [
        ("null", "EMPTY_DESCRIPTION", "the description is empty"),
        ("", "EMPTY_DESCRIPTION", "the description is empty"),
        ('""', "EMPTY_DESCRIPTION", "the description is empty"),
        ("123", "FIELD_TYPE", "description must be a string, not a number"),
        ("[a, b]", "FIELD_TYPE", "description must be a string, not a list"),
        ("2024-05-01", "FIELD_TYPE", "description must be a string, not a date"),
        ("{a: b}", "FIELD_TYPE", "description must be a string, not a mapping"),
    ],
)
def test_p33_a_description_that_is_no_text_is_a_finding(value: str, rule: str, message: str, tmp_path: Path) -> None:
    path = write_skill(tmp_path, description=value, body=LONG, files=RICH_FILES)
    result = score(path)
    errors = [(item.id, item.line, item.message) for item in result.findings if item.severity.value == "error"]
    assert errors == [(rule, 3, message)]
    assert sub_check(result, "frontmatter_quality").score == 0.06  # 0.40 × the name's 0.15
    assert result.composite.badge is None
    shown = run("score", path, "--output", "json", cwd=tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert json.loads(shown.stdout)["findings"][0]["id"] == rule
    assert run("check", path, cwd=tmp_path).returncode == 1


@pytest.mark.parametrize("frontmatter", ["- name\n- description", "just some words", "42"])
def test_p34_frontmatter_that_is_no_mapping_is_named_so(frontmatter: str, tmp_path: Path) -> None:
    result = score(write_skill(tmp_path, frontmatter=frontmatter, body=LONG, files=RICH_FILES))
    (finding,) = result.findings
    assert (finding.id, finding.severity.value, finding.line) == ("FRONTMATTER_INVALID", "error", 2)
    assert "mapping" in finding.message
    assert sub_check(result, "frontmatter_quality").score == 0.0
    assert result.composite.badge is None


@pytest.mark.parametrize("mark", ["***", "___", "- - -"])
def test_p34_a_file_that_opens_with_a_thematic_break_has_no_frontmatter(mark: str, tmp_path: Path) -> None:
    result = score(write_bytes(tmp_path, NAME, f"{mark}\n\n{LONG}".encode(), files=RICH_FILES))
    assert ids(result) == ["FRONTMATTER_MISSING"]
    assert result.composite.badge is None


def test_p35_a_yaml_error_is_reported_where_it_stands(tmp_path: Path) -> None:
    line = "description: Use when a form is open: fill it in."
    result = score(write_skill(tmp_path, frontmatter=f"name: {NAME}\n{line}", body=LONG, files=RICH_FILES))
    (finding,) = result.findings
    assert (finding.id, finding.severity.value) == ("FRONTMATTER_INVALID", "error")
    assert (finding.line, finding.column) == (3, line.index(": fill") + 1)
    assert "description contains ': '" in finding.message
    assert result.composite.badge is None


def test_p36_dashes_inside_a_description_end_nothing(tmp_path: Path) -> None:
    description = DESCRIPTION.replace("one table.", "one table --- or two.")
    result = score(write_skill(tmp_path, description=description))
    assert result.findings == ()
    others = {name: found for name, found in sub_scores(result).items() if name != "frontmatter_quality"}
    assert others == {name: STUB_SCORES[name] for name in others}


def test_p37_a_byte_order_mark_is_noted_and_changes_no_score(tmp_path: Path) -> None:
    plain = write_skill(tmp_path)
    marked = write_bytes(tmp_path / "marked", NAME, b"\xef\xbb\xbf" + (plain / "SKILL.md").read_bytes())
    result = score(marked)
    assert [(item.id, item.severity.value, item.line) for item in result.findings] == [
        ("BYTE_ORDER_MARK", "warning", 1)
    ]
    assert sub_scores(result) == STUB_SCORES
    assert result.composite == score(plain).composite


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_p37_other_line_ends_change_no_score(end: str, tmp_path: Path) -> None:
    text = (write_skill(tmp_path) / "SKILL.md").read_bytes().replace(b"\n", end.encode())
    result = score(write_bytes(tmp_path / "other", NAME, text))
    assert ids(result) == ["LINE_ENDS"]
    assert result.composite.score == STUB_COMPOSITE


@pytest.mark.parametrize(
    ("text", "rule", "line"),
    [
        (f"---\n{HEAD}\nname: other\n---\n{LONG}", "DUPLICATE_KEY", 4),
        (f"---\n{HEAD}\n{LONG}", "FRONTMATTER_UNCLOSED", 1),
        (LONG, "FRONTMATTER_MISSING", 1),
    ],
    ids=["duplicate", "unclosed", "none"],
)
def test_p38_defects_of_frontmatter_have_a_diagnosis_each(text: str, rule: str, line: int, tmp_path: Path) -> None:
    result = score(write_bytes(tmp_path, NAME, text.encode(), files=RICH_FILES))
    errors = [(item.id, item.line) for item in result.findings if item.severity.value == "error"]
    assert errors == [(rule, line)]
    assert result.composite.badge is None


TABBED = f"---\nname: {NAME}\ndescription:\t{DESCRIPTION}\n---\n{BODY}".encode()


def test_p38_a_tab_after_a_key_is_a_finding(tmp_path: Path) -> None:
    # PyYAML's own scanner refuses it, libyaml's does not: clients differ, so it must be said.
    result = score(write_bytes(tmp_path, NAME, TABBED))
    (finding,) = result.findings
    assert finding.line == 3
    assert "tab" in finding.message


def test_p38_the_score_does_not_depend_on_libyaml(tmp_path: Path) -> None:
    path = write_bytes(tmp_path, NAME, TABBED)
    code = (
        "import sys; sys.modules['yaml._yaml'] = None\n"  # as in an installation of PyYAML without the extension
        "import yaml, skillgate\nassert not hasattr(yaml, 'CSafeLoader')\n"
        "result = skillgate.evaluate(sys.argv[1]).results[0]\n"
        "print(result.composite.score, *(finding.id for finding in result.findings))"
    )
    result = score(path)
    done = run_python(code, path, cwd=tmp_path)
    assert done.stdout.split() == [str(result.composite.score), *ids(result)], done.stderr


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (f"---\nname: {NAME}\ndescription: Prüft Tabellen.\n---\n{BODY}".encode("latin-1"), 3),
        (f"---\n{HEAD}\n---\n{BODY}".encode("utf-16"), 1),
    ],
    ids=["latin-1", "utf-16"],
)
def test_p39_another_encoding_is_an_error_with_its_place(data: bytes, line: int, tmp_path: Path) -> None:
    path = write_bytes(tmp_path, NAME, data)
    result = score(path)
    assert [(item.id, item.severity.value, item.line) for item in result.findings] == [("NOT_UTF8", "error", line)]
    assert result.evaluated
    assert (result.composite.score, result.composite.badge) == (None, None)
    assert result.composite.reason is not None
    assert "UTF-8" in result.composite.reason
    assert run("check", path, cwd=tmp_path).returncode == 1
    assert run("score", path, cwd=tmp_path).returncode == 0


def test_p40_a_picture_among_the_references_is_no_problem(tmp_path: Path) -> None:
    picture = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\xff\xfe"
    body = f"{BODY}\nSee [the chart](references/chart.png).\n"
    result = score(write_skill(tmp_path, body=body, files={"references/chart.png": picture}))
    assert result.findings == ()
    assert sub_check(result, "progressive_disclosure").score == 0.35


def test_p40_references_that_is_a_file_is_a_finding(tmp_path: Path) -> None:
    result = score(write_skill(tmp_path, files={"references": "not a directory\n"}))
    (finding,) = result.findings
    assert (finding.id, finding.severity.value) == ("NOT_A_DIRECTORY", "warning")
    assert "references is a file" in finding.message
    assert sub_scores(result) == STUB_SCORES


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"---\n---\n", b"\xef\xbb\xbf"], ids=["nothing", "blank", "fences", "mark"]
)
def test_p41_an_empty_file_gets_no_score_and_no_badge(data: bytes, tmp_path: Path) -> None:
    path = write_bytes(tmp_path, NAME, data)
    result = score(path)
    errors = [item.id for item in result.findings if item.severity.value == "error"]
    assert errors == ["EMPTY_FILE"]
    assert (result.composite.score, result.composite.badge) == (None, None)
    assert result.composite.reason
    assert all(dimension.score is None for dimension in result.dimensions.values())
    assert run("check", path, cwd=tmp_path).returncode == 1


def test_p42_the_same_frontmatter_with_instructions_earns_a_badge(tmp_path: Path) -> None:
    result = score(write_skill(tmp_path, body=LONG, files=RICH_FILES))
    assert result.findings == ()
    assert result.composite.badge is Badge.GOLD


def test_p42_frontmatter_alone_earns_its_own_points_and_no_badge(tmp_path: Path) -> None:
    result = score(write_skill(tmp_path, body=""))
    assert ids(result) == ["NO_BODY"]
    scores = sub_scores(result)
    described = scores["frontmatter_quality"] or 0
    assert scores == {
        **dict.fromkeys(STUB_SCORES, 0.0),
        "frontmatter_quality": described,
        "code_template_quality": None,
    }
    assert result.composite.score == pytest.approx(25 * described / 66 * 100, abs=0.01)
    assert result.composite.badge is None
    assert result.composite.badge_reason is not None


@pytest.mark.parametrize("body", ["# Merge sheets\n\n## Steps\n", "<!-- to be written -->\n", "```python\n```\n"])
def test_p42_a_body_that_says_nothing_is_none(body: str, tmp_path: Path) -> None:
    result = score(write_skill(tmp_path, body=body))
    assert len(findings(result, "NO_BODY")) == 1
    described = sub_scores(result)["frontmatter_quality"] or 0
    assert result.composite.score == pytest.approx(25 * described / 66 * 100, abs=0.01)
    assert result.composite.badge is None
