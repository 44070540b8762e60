"""Probes of the description: what says when to use the skill, and what only looks as if it did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.skills import (
    BODY,
    NAME,
    STUB_COMPOSITE,
    anti_patterns,
    earned,
    findings,
    from_table,
    score,
    write_skill,
)

if TYPE_CHECKING:
    from pathlib import Path


def quoted(text: str) -> str:
    """Write a description as YAML reads it, whatever signs it holds."""
    return "'" + text.replace("'", "''") + "'"


@pytest.mark.parametrize(
    "phrase",
    [
        "Use this when a form has to be filled in.",
        "Use it when a form has to be filled in.",
        "Use for forms that have to be filled in.",
        "Activate when a form has to be filled in.",
        "Invoke when a form has to be filled in.",
        "Apply when a form has to be filled in.",
        "Load this skill when a form has to be filled in.",
        "If the user mentions a form, use this skill.",
        "Use this skill any time a form is involved.",
        "TRIGGERS: form, fill in, signature.",
        "TRIGGER: the user opens a form.",
        "Use whenever a form turns up.",
    ],
)
def test_p28_every_common_trigger_phrase_is_one(phrase: str, tmp_path: Path) -> None:
    result = score(write_skill(tmp_path, description=quoted(f"Reads and fills PDF forms. {phrase}")))
    assert anti_patterns(result) == ()
    assert earned(result, "frontmatter_quality", "a trigger phrase") == 0.15


@pytest.mark.parametrize(
    "description",
    [
        "A library used before 2019 by most of the teams that read PDF forms.",
        "Reads and fills PDF forms. Never used when the form is a scan.",
        "Reads and fills PDF forms. Do NOT use when the form is a scan.",
        "Reads and fills PDF forms, where events trigger on save of the file.",
    ],
)
def test_p29_denials_and_talk_of_other_things_are_no_trigger(description: str, tmp_path: Path) -> None:
    result = score(write_skill(tmp_path, description=quoted(description)))
    assert anti_patterns(result) == ("MISSING_TRIGGER",)
    (finding,) = findings(result, "MISSING_TRIGGER")
    assert (finding.line, finding.severity.value) == (3, "warning")
    assert earned(result, "frontmatter_quality", "a trigger phrase") == 0.0


@pytest.mark.parametrize(
    "description",
    [
        "读取并填写 PDF 表单。当用户需要填写表单、合并文件或提取文字时使用此技能。",
        "Remplit et fusionne des formulaires PDF. À utiliser lorsque l'utilisateur veut remplir un formulaire.",
    ],
)
def test_p30_a_language_that_is_not_known_is_not_flagged(description: str, tmp_path: Path) -> None:
    result = score(write_skill(tmp_path, description=quoted(description)))
    assert anti_patterns(result) == ()
    assert result.findings == ()


def test_p31_a_trigger_in_when_to_use_counts(tmp_path: Path) -> None:
    head = f"name: {NAME}\ndescription: Reads PDF forms of any kind."
    assert anti_patterns(score(write_skill(tmp_path / "without", frontmatter=head))) == ("MISSING_TRIGGER",)
    told = f"{head}\nwhen_to_use: Use when the user opens a form."
    result = score(write_skill(tmp_path / "with", frontmatter=told))
    assert anti_patterns(result) == ()
    assert earned(result, "frontmatter_quality", "a trigger phrase") == 0.15


@pytest.mark.parametrize(
    ("field", "findings_expected"),
    [
        ("paths: ['*.pdf', 'forms/**']", []),
        ("paths:\n  - '*.pdf'", []),
        ("paths: '*.pdf'", []),
        ("disable-model-invocation: true", []),
        ('disable-model-invocation: "true"', [("FIELD_TYPE", "warning", 4)]),
    ],
)
def test_p32_skills_that_no_model_chooses_need_no_trigger(
    field: str, findings_expected: list[tuple[str, str, int]], tmp_path: Path
) -> None:
    head = f"name: {NAME}\ndescription: Reads and fills PDF forms of any kind.\n{field}"
    result = score(write_skill(tmp_path, frontmatter=head))
    assert anti_patterns(result) == ()
    told = [("UNKNOWN_FIELD", "info", 4)]  # the specification does not know the field
    assert [(item.id, item.severity.value, item.line) for item in result.findings] == findings_expected + told


@pytest.mark.parametrize("field", ["paths: []", "disable-model-invocation: false"])
def test_p32_an_exemption_that_is_off_exempts_nothing(field: str, tmp_path: Path) -> None:
    head = f"name: {NAME}\ndescription: Reads and fills PDF forms of any kind.\n{field}"
    assert anti_patterns(score(write_skill(tmp_path, frontmatter=head))) == ("MISSING_TRIGGER",)


@pytest.mark.parametrize(
    ("description", "score_expected", "flags"),
    [
        # name 0.15, length band, 0.60 × pushiness
        ("Tools", 0.15, ("EMPTY_DESCRIPTION",)),
        ("Reads PDF forms of any kind.", 0.20, ("MISSING_TRIGGER",)),
        ("Reads forms. Use when a form is to be filled in.", 0.51, ()),  # length 0.15, trigger 0.25, 40 characters 0.10
        ("Use proactively when filling, merging, or signing the forms of a user.", 0.86, ()),
        (
            "Use this skill automatically for any form.",
            0.57,
            (),
        ),  # length 0.15; trigger 0.25, insistence 0.10, length 0.10
    ],
)
def test_p28_the_points_of_a_description(
    description: str, score_expected: float, flags: tuple[str, ...], tmp_path: Path
) -> None:
    result = score(write_skill(tmp_path, description=quoted(description)))
    assert from_table(result, "frontmatter_quality") == score_expected
    for flag in flags:
        assert flag in anti_patterns(result)
    assert flags or not anti_patterns(result)


@pytest.mark.parametrize(
    ("name", "reason"), [("SomeOther Name!!", "capital"), ("N" * 80, "80 characters"), ("merge_sheets", "other than")]
)
def test_p43_a_name_that_breaks_the_rule_costs_points_and_is_named(name: str, reason: str, tmp_path: Path) -> None:
    path = write_skill(tmp_path)
    kept = (path / "SKILL.md").read_text(encoding="utf-8").partition("description:")[2]
    (path / "SKILL.md").write_text(f'---\nname: "{name}"\ndescription:{kept}', encoding="utf-8", newline="\n")
    result = score(path)
    (finding,) = findings(result, "NAME_INVALID")
    assert reason in finding.message
    assert finding.line == 2
    assert not findings(result, "NAME_MISMATCH")  # one defect is one finding
    assert from_table(result, "frontmatter_quality") == 0.77  # 0.05 less than for the directory's own name
    less = 25 * 0.40 * 0.05 / 66 * 100
    assert result.composite.score == pytest.approx(STUB_COMPOSITE - less, abs=0.01)
    assert score(write_skill(tmp_path / "good", body=BODY)).composite.score == STUB_COMPOSITE
