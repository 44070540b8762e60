"""Probes of links: into references/, and to other skills and agents. Only a link in Markdown is judged as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.skills import (
    BODY,
    STUB_COMPOSITE,
    STUB_LINES,
    STUB_SCORES,
    anti_patterns,
    earned,
    findings,
    score,
    sub_check,
    write_skill,
)

if TYPE_CHECKING:
    from pathlib import Path

GUIDE = "# Guide\n\nHow the columns are named.\n"


def orphans(path: Path) -> list[tuple[int, str]]:
    """Give line and message of each dead link into references/."""
    return [(finding.line, finding.message) for finding in findings(score(path), "ORPHAN_REFERENCE")]


def test_p10_links_shown_as_code_are_not_links(tmp_path: Path) -> None:
    sample = "Write `[text](references/one.md)` for a link.\n\n```markdown\n[text](references/two.md)\n```\n"
    body = f"{BODY}\nSee the [guide](references/guide.md).\n\n{sample}"
    result = score(write_skill(tmp_path, body=body, files={"references/guide.md": GUIDE}))
    assert anti_patterns(result) == ()
    assert earned(result, "progressive_disclosure", "1 linked in references/") == 0.15


def test_p11_dead_references_are_found_without_a_references_directory(tmp_path: Path) -> None:
    body = f"{BODY}\nSee [one](references/one.md) and\n[two](references/two.md).\n"
    path = write_skill(tmp_path, body=body)
    first = STUB_LINES + 2
    assert orphans(path) == [
        (first, "references/one.md does not exist"),
        (first + 1, "references/two.md does not exist"),
    ]
    result = score(path)
    assert anti_patterns(result) == ("ORPHAN_REFERENCE",) * 2
    assert result.composite.penalty == 0.90


def test_p12_a_reference_in_a_nested_folder_resolves(tmp_path: Path) -> None:
    body = f"{BODY}\nSee the [guide](references/sub/guide.md).\n"
    result = score(write_skill(tmp_path, body=body, files={"references/sub/guide.md": GUIDE}))
    assert anti_patterns(result) == ()
    assert sub_check(result, "progressive_disclosure").score == 0.35


def test_p13_the_whole_path_must_exist_not_a_file_of_that_name(tmp_path: Path) -> None:
    body = f"{BODY}\nSee the [guide](references/no/such/dir/guide.md).\n"
    path = write_skill(tmp_path, body=body, files={"references/guide.md": GUIDE})
    assert orphans(path) == [(STUB_LINES + 2, "references/no/such/dir/guide.md does not exist")]
    assert sub_check(score(path), "progressive_disclosure").score == 0.20


# Whether an anchor exists in the file it points into is checked by a later version; here the file decides.
@pytest.mark.parametrize(
    ("target", "file"),
    [
        ("references/guide.md#setup", "references/guide.md"),
        ('references/guide.md "The guide"', "references/guide.md"),
        ("references/my%20guide.md", "references/my guide.md"),
        ("<references/my guide.md>", "references/my guide.md"),
        ("./references/guide.md", "references/guide.md"),
    ],
)
def test_p14_anchor_title_and_encoding_belong_to_the_link_not_the_file(target: str, file: str, tmp_path: Path) -> None:
    body = f"{BODY}\nSee the [guide]({target}).\n"
    result = score(write_skill(tmp_path, body=body, files={file: GUIDE}))
    assert anti_patterns(result) == ()
    assert sub_check(result, "progressive_disclosure").score == 0.35


@pytest.mark.parametrize("target", ["references/guide.md#setup", 'references/guide.md "T"', "references/my%20guide.md"])
def test_p14_the_same_forms_are_dead_where_no_file_is(target: str, tmp_path: Path) -> None:
    assert len(orphans(write_skill(tmp_path, body=f"{BODY}\nSee the [guide]({target}).\n"))) == 1


def test_p15_a_dead_reference_is_found_behind_a_leading_dot(tmp_path: Path) -> None:
    # Dead links that lead elsewhere than into references/ are findings of a later rule.
    path = write_skill(tmp_path, body=f"{BODY}\nSee [x](./references/x.md) and [x](references/x.md).\n")
    assert [line for line, _ in orphans(path)] == [STUB_LINES + 2]


def test_p16_letter_case_must_match_as_on_linux(tmp_path: Path) -> None:
    body = f"{BODY}\nSee the [guide](references/GUIDE.MD).\n"
    path = write_skill(tmp_path, body=body, files={"references/guide.md": GUIDE})
    assert orphans(path) == [(STUB_LINES + 2, "references/GUIDE.MD does not exist")]


def test_p17_a_reference_that_nothing_links_earns_nothing(tmp_path: Path) -> None:
    # The study calls the unlinked file an orphan; the method's ORPHAN_REFERENCE is a dead link, and stays one.
    result = score(write_skill(tmp_path, files={"references/guide.md": GUIDE}))
    assert anti_patterns(result) == ()
    assert sub_check(result, "progressive_disclosure").score == 0.20
    assert result.composite.score == STUB_COMPOSITE


@pytest.mark.parametrize(
    "comment",
    [
        "<!-- [gone](references/gone.md) -->",
        "<!--\nSee [gone](references/gone.md).\n-->",
        "Go on <!-- [x](references/x.md) -->.",
    ],
)
def test_p18_a_link_in_a_comment_is_no_link(comment: str, tmp_path: Path) -> None:
    assert anti_patterns(score(write_skill(tmp_path, body=f"{BODY}\n{comment}\n"))) == ()


def test_p19_words_with_a_slash_between_them_are_no_path(tmp_path: Path) -> None:
    body = f"{BODY}\nThis holds for skills/agents and skills/commands alike, and for sub-skills/tools too.\n"
    result = score(write_skill(tmp_path, body=body))
    assert anti_patterns(result) == ()
    assert sub_check(result, "ecosystem_coherence").score == STUB_SCORES["ecosystem_coherence"]


@pytest.mark.parametrize(
    "text",
    [
        "https://github.com/example/skills/tree/main/skills/pdf",
        "<https://github.com/example/skills/tree/main/skills/pdf>",
        "[the source](https://github.com/example/skills/tree/main/skills/pdf)",
        "~/.claude/skills/my-tool/",
        "[the tool](~/.claude/skills/my-tool/)",
    ],
)
def test_p20_a_url_or_a_home_path_is_no_cross_reference(text: str, tmp_path: Path) -> None:
    result = score(write_skill(tmp_path, body=f"{BODY}\nIt was installed from {text} by hand.\n"))
    assert anti_patterns(result) == ()
    assert sub_check(result, "ecosystem_coherence").score == 0.25


def test_p21_a_dead_target_is_one_finding_and_earns_nothing(tmp_path: Path) -> None:
    lines = "".join(f"Row {n} goes to [the next one](../gone/SKILL.md) when it is done.\n" for n in range(12))
    result = score(write_skill(tmp_path, body=f"{BODY}\n{lines}"))
    assert anti_patterns(result) == ("DEAD_CROSS_REF",)
    (finding,) = findings(result, "DEAD_CROSS_REF")
    assert (finding.line, finding.severity.value) == (STUB_LINES + 2, "error")
    assert "../gone/SKILL.md" in finding.message
    assert result.composite.penalty == 0.95
    assert sub_check(result, "ecosystem_coherence").score == STUB_SCORES["ecosystem_coherence"]


def test_p22_dead_skills_and_agents_are_found_by_any_relative_path(tmp_path: Path) -> None:
    targets = ("../gone/SKILL.md", "../../agents/gone.md", "skills/Gone-Upper")
    lines = "".join(f"Go on with [this]({target}) next.\n" for target in targets)
    result = score(write_skill(tmp_path / "skills", body=f"{BODY}\n{lines}"))
    found = findings(result, "DEAD_CROSS_REF")
    assert [finding.line for finding in found] == [STUB_LINES + 2, STUB_LINES + 3, STUB_LINES + 4]
    assert all(target in finding.message for target, finding in zip(targets, found, strict=True))
    assert sub_check(result, "ecosystem_coherence").score == 0.25


@pytest.mark.parametrize("target", ["../p_09sib/SKILL.md", "../p_09sib", "../p_09sib/", "skills/p_09sib"])
def test_p23_a_sibling_with_an_unusual_name_resolves(target: str, tmp_path: Path) -> None:
    (tmp_path / ".claude-plugin").mkdir()
    (tmp_path / ".claude-plugin" / "plugin.json").write_text("{}", encoding="utf-8")
    write_skill(tmp_path / "skills", "p_09sib")
    result = score(write_skill(tmp_path / "skills", body=f"{BODY}\nGo on with [the sibling]({target}) next.\n"))
    assert anti_patterns(result) == ()
    assert earned(result, "ecosystem_coherence", "1 other skill ") == 0.08


def test_p24_relative_links_to_siblings_are_credited(tmp_path: Path) -> None:
    write_skill(tmp_path, "sort-rows")
    write_skill(tmp_path, "split-rows")
    links = "## Siblings\n\n- [Sort](../sort-rows/SKILL.md)\n- [Split](../split-rows/SKILL.md)\n"
    result = score(write_skill(tmp_path, body=f"{BODY}\n{links}"))
    assert anti_patterns(result) == ()
    assert sub_check(result, "ecosystem_coherence").score == 0.33  # half of 0.50 and 0.08 for each


def test_p24_a_related_section_earns_its_points_beside_its_links(tmp_path: Path) -> None:
    write_skill(tmp_path, "sort-rows")
    result = score(write_skill(tmp_path, body=f"{BODY}\n## Related\n\n- [Sort](../sort-rows/SKILL.md)\n"))
    assert sub_check(result, "ecosystem_coherence").score == 0.415  # half of 0.50 + 0.08 + 0.25


def test_p25_the_words_related_and_complement_earn_nothing(tmp_path: Path) -> None:
    body = f"{BODY}\nThe two's complement of a number is kept, and so is every security-related column.\n"
    assert sub_check(score(write_skill(tmp_path, body=body)), "ecosystem_coherence").score == 0.25
