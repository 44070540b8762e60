"""The static layer as a whole: severities, order, what counts in the penalty, what withholds a badge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skillgate.model.finding import Severity, rule_url
from skillgate.model.score import Dimension
from skillgate.static import layer
from tests.published import HOMEPAGE, REF
from tests.static.cases import HEAD, expand, parsed, write

if TYPE_CHECKING:
    from pathlib import Path

    from skillgate.model.finding import Claim
    from skillgate.static.layer import StaticResult

BODY = expand("# Forms\n\n{{words 40}}\n")


def result(source: str, tmp_path: Path) -> StaticResult:
    return layer.run(parsed(write(source, tmp_path)))


def only(found: StaticResult, rule: str) -> Claim:
    (finding,) = (item for item in found.claims if item.id == rule)
    return finding


@pytest.mark.parametrize(
    ("source", "rule", "severity"),
    [
        ("---\nname: sample-skill\n---\n", "EMPTY_DESCRIPTION", Severity.ERROR),
        ('---\nname: sample-skill\ndescription: ""\n---\n', "EMPTY_DESCRIPTION", Severity.ERROR),
        ("---\nname: sample-skill\ndescription: Fills forms\n---\n", "EMPTY_DESCRIPTION", Severity.WARNING),
        ("---\nname: sample-skill\ndescription: 12\n---\n", "FIELD_TYPE", Severity.ERROR),
        ("---\nname: 12\n---\n", "FIELD_TYPE", Severity.ERROR),
        ("---\nname: sample-skill\nlicense: 12\n---\n", "FIELD_TYPE", Severity.WARNING),
        ("---\nname: sample-skill\nuser-invocable: 12\n---\n", "FIELD_TYPE", Severity.WARNING),
        (HEAD + "[x](references/gone.md)\n", "ORPHAN_REFERENCE", Severity.ERROR),
        (HEAD + "[x](../gone/SKILL.md)\n", "DEAD_CROSS_REF", Severity.ERROR),
        (HEAD + "{{lines 801}}\n", "BLOATED_SKILL", Severity.WARNING),
        (HEAD + "{{times 16 MUST}}\n", "OVER_CONSTRAINED", Severity.WARNING),
        (
            "---\nname: sample-skill\ndescription: Fills the forms of the office.\n---\n",
            "MISSING_TRIGGER",
            Severity.WARNING,
        ),
        ("---\nname: other\n---\n", "NAME_MISMATCH", Severity.WARNING),
        ("---\nname: Other\n---\n", "NAME_INVALID", Severity.WARNING),
        ("# Forms\n", "FRONTMATTER_MISSING", Severity.ERROR),
    ],
)
def test_a_finding_has_the_severity_of_what_clients_do(
    source: str, rule: str, severity: Severity, tmp_path: Path
) -> None:
    assert only(result(source, tmp_path), rule).severity is severity


def test_a_finding_says_where_it_is_what_to_do_and_where_to_read_on(tmp_path: Path) -> None:
    finding = only(result(HEAD + "\nSee [x](references/gone.md).\n", tmp_path), "ORPHAN_REFERENCE")
    assert finding.file == "SKILL.md"
    assert (finding.line, finding.column) == (6, 9)
    assert finding.fix
    assert rule_url(finding.id) == f"{HOMEPAGE}/blob/{REF}/docs/rules.md#orphan_reference"


def test_findings_stand_errors_first_then_by_line(tmp_path: Path) -> None:
    body = "See [b](../gone/SKILL.md) and [a](references/gone.md).\n\nThen [c](references/c.md).\n"
    found = result("---\nname: Other\ndescription: Fills in\n---\n" + body, tmp_path).claims
    keys = [(item.severity.rank, item.line, item.column) for item in found]
    assert keys == sorted(keys)
    assert [item.id for item in found][:3] == ["DEAD_CROSS_REF", "ORPHAN_REFERENCE", "ORPHAN_REFERENCE"]


def test_each_anti_pattern_finding_counts_and_no_other(tmp_path: Path) -> None:
    links = "[a](references/a.md) [b](references/b.md) [c](../gone)\n"
    found = result("---\nname: Other\ndescription: Use when asked\n---\n" + BODY + links, tmp_path)
    expected = ["DEAD_CROSS_REF", "EMPTY_DESCRIPTION", "ORPHAN_REFERENCE", "ORPHAN_REFERENCE"]
    assert sorted(found.anti_patterns) == expected
    names = {"NAME_INVALID", "NAME_MISMATCH"} & {item.id for item in found.claims}
    assert names == {"NAME_INVALID"}  # one defect is one finding


def test_the_layer_score_is_the_weighted_mean_times_the_penalty(tmp_path: Path) -> None:
    found = result(HEAD + BODY + "[a](references/a.md) [b](references/b.md)\n", tmp_path)
    weights = (0.35, 0.25, 0.15, 0.10, 0.10, 0.05)
    names = (
        "frontmatter_quality",
        "orchestration_wiring",
        "progressive_disclosure",
        "structural_completeness",
        "token_efficiency",
        "ecosystem_coherence",
    )
    mean = sum(weight * (found.scores[name].score or 0.0) for weight, name in zip(weights, names, strict=True))
    assert found.layer_score == pytest.approx(mean * 0.90)


def test_thirty_nine_words_of_prose_earn_no_badge_and_forty_may(tmp_path: Path) -> None:
    few = result(expand(HEAD + "{{words 39}}\n"), tmp_path / "few").no_badge
    assert few is not None
    assert "39 words" in few
    assert result(expand(HEAD + "{{words 40}}\n"), tmp_path / "enough").no_badge is None


@pytest.mark.parametrize(
    "source",
    [
        BODY,
        "---\nname: sample-skill\n" + BODY,
        "---\nname: sample-skill\ndescription: a: b\n---\n" + BODY,
        "---\n- name\n---\n" + BODY,
        "---\nname: sample-skill\nname: sample-skill\n---\n" + BODY,
        "---\n{{fill 65537}}\n---\n" + BODY,
    ],
    ids=["no frontmatter", "unclosed", "not YAML", "a list", "a key twice", "64 KiB"],
)
def test_what_is_broken_is_scored_and_earns_no_badge(source: str, tmp_path: Path) -> None:
    found = result(source, tmp_path)
    assert found.no_badge is not None
    assert any(item.severity is Severity.ERROR for item in found.claims)
    assert set(found.dimensions) == {check.dimension for _, check in layer.subchecks()}


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"x\x00", b"x" * 5_000_001], ids=["empty", "not UTF-8", "NUL", "over 5 MB"]
)
def test_what_holds_no_document_has_no_score_at_all(data: bytes, tmp_path: Path) -> None:
    directory = write(HEAD, tmp_path)
    (directory / "SKILL.md").write_bytes(data)
    found = layer.run(parsed(directory))
    assert (found.scores, found.dimensions, found.anti_patterns, found.layer_score) == ({}, {}, (), None)
    assert found.no_badge is not None
    assert [item.severity for item in found.claims] == [Severity.ERROR]


def test_without_a_body_only_the_frontmatter_earns_points(tmp_path: Path) -> None:
    found = result(HEAD, tmp_path)
    earned = {dimension for dimension, measured in found.dimensions.items() if measured.score}
    assert earned == {Dimension.TRIGGERING_ACCURACY}


def test_the_same_skill_gives_the_same_result(tmp_path: Path) -> None:
    skill = parsed(write(HEAD + BODY + "[a](references/a.md)\n", tmp_path))
    assert layer.run(skill) == layer.run(skill)


def test_the_findings_that_count_come_with_the_advice_that_mends_them(tmp_path: Path) -> None:
    found = result(HEAD + BODY + "\n[a](references/a.md)\n\n[b](../gone)\n", tmp_path)
    assert sorted(found.penalised) == [("dead-refs", 11), ("orphans", 9)]
