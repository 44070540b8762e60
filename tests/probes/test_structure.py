"""Probes of headings, sections and code blocks: what is parsed as one counts, what looks like one does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.skills import BODY, anti_patterns, earned, from_table, score, sub_check, write_skill

if TYPE_CHECKING:
    from pathlib import Path

SENTENCES = (  # no two alike: what is said twice counts once
    "This is what one has to know of it before the rows are read.",
    "Dates go below the line that the owner of the sheet drew.",
    "Names that nobody can read stay as they are in the file.",
    "Each column with a cross in its header counts as a key.",
    "Pages without a stamp go back to the sender of the export.",
    "A wide margin holds what the owner has to add by hand.",
)
SENTENCE = "Every one of these lines says what to do when a file cannot be read."


def test_p04_one_code_block_is_counted_once(tmp_path: Path) -> None:
    result = score(write_skill(tmp_path, body=f"{BODY}\n```python\nprint(1)\n```\n"))
    assert sub_check(result, "structural_completeness").score == 0.10
    assert earned(result, "structural_completeness", "1 code block") == 0.10
    assert earned(result, "orchestration_wiring", "1 code block") == 0.0
    assert from_table(result, "orchestration_wiring") == 0.70
    two = score(write_skill(tmp_path, "two", body=f"{BODY}\n```python\nprint(1)\n```\n\n```python\nprint(2)\n```\n"))
    assert from_table(two, "orchestration_wiring") == 0.75


def test_p05_a_tilde_fence_is_a_code_block(tmp_path: Path) -> None:
    result = score(write_skill(tmp_path, body=f"{BODY}\n~~~python\nprint(1)\n~~~\n"))
    assert earned(result, "structural_completeness", "1 code block") == 0.10
    assert sub_check(result, "code_template_quality").score == 0.7  # tagged 0.50, introduced 0.20


def test_p06_fence_markers_named_in_prose_are_no_code_blocks(tmp_path: Path) -> None:
    line = (
        "Mark the blocks with ```json or ```yaml or ```toml and close them with ``` or with ``` or ``` or ``` or ```.\n"
    )
    result = score(write_skill(tmp_path, body=f"{BODY}\n{line}"))
    assert earned(result, "structural_completeness", "0 code blocks") == 0.0
    assert earned(result, "structural_completeness", "0 languages") == 0.0
    assert sub_check(result, "structural_completeness").score == 0.0
    assert sub_check(result, "code_template_quality").score is None


def test_p07_headings_inside_a_code_sample_are_no_sections(tmp_path: Path) -> None:
    titles = ("Example", "Troubleshooting", "A", "B", "C", "D")
    sample = "\n".join(f"## {title}\n\n{said}\n" for title, said in zip(titles, SENTENCES, strict=False))
    result = score(write_skill(tmp_path, body=f"{BODY}\n```markdown\n{sample}\n```\n"))
    assert sub_check(result, "structural_completeness").score == 0.10  # for the one code block
    written = score(write_skill(tmp_path, "written", body=f"{BODY}\n{sample}"))
    assert sub_check(written, "structural_completeness").score == 0.50  # 0.20 for seven sections, 0.15 twice


@pytest.mark.parametrize("title", ["Worked examples", "Examples", "Usage", "Example: two sheets"])
def test_p08_a_section_of_examples_is_recognised(title: str, tmp_path: Path) -> None:
    result = score(write_skill(tmp_path, body=f"{BODY}\n## {title}\n\n{SENTENCE}\n"))
    assert earned(result, "structural_completeness", f"section “{title}”") == 0.15
    assert sub_check(result, "structural_completeness").score == 0.25  # and 0.10 for two sections


@pytest.mark.parametrize(
    "title", ["Edge cases", "Common pitfalls", "Error handling", "Troubleshooting", "Common issues", "FAQ"]
)
def test_p08_a_section_on_troubles_is_recognised(title: str, tmp_path: Path) -> None:
    result = score(write_skill(tmp_path, body=f"{BODY}\n## {title}\n\n{SENTENCE}\n"))
    assert earned(result, "structural_completeness", f"section “{title}”") == 0.15
    assert sub_check(result, "structural_completeness").score == 0.25


def test_p08_all_four_sections_together_credit_both_kinds_once(tmp_path: Path) -> None:
    titles = ("Worked examples", "Edge cases", "Common pitfalls", "Error handling")
    sections = "\n".join(f"## {title}\n\n{said}\n" for title, said in zip(titles, SENTENCES, strict=False))
    result = score(write_skill(tmp_path, body=f"{BODY}\n{sections}"))
    assert (
        sub_check(result, "structural_completeness").score == 0.45
    )  # five sections 0.15, examples 0.15, troubles 0.15


def test_p09_languages_with_signs_in_their_names_are_told_apart(tmp_path: Path) -> None:
    blocks = "\n\n".join(
        f"```{language}\nint in_{number} = 1;\n```" for number, language in enumerate(("c++", "c", "c#"))
    )
    result = score(write_skill(tmp_path, body=f"{BODY}\n{blocks}\n"))
    assert earned(result, "structural_completeness", "3 languages") == 0.15
    assert earned(result, "structural_completeness", "3 code blocks") == 0.15


def test_p01_capitals_in_code_are_no_instructions(tmp_path: Path) -> None:
    columns = "\n".join(f"  c{n} int GENERATED ALWAYS AS (a + {n})," for n in range(16))
    result = score(write_skill(tmp_path, body=f"{BODY}\n```sql\nCREATE TABLE t (\n{columns}\n  a int);\n```\n"))
    assert anti_patterns(result) == ()
    assert earned(result, "token_efficiency", "0 MUST, NEVER or ALWAYS") == 0.0
    assert from_table(result, "token_efficiency") == 1.0


def test_p50_closing_fences_are_no_repeated_lines(tmp_path: Path) -> None:
    blocks = "\n\n".join(f"```bash\nsort file{n}.csv\n```" for n in range(40))
    result = score(write_skill(tmp_path, body=f"{BODY}\n{blocks}\n"))
    assert from_table(result, "token_efficiency") == 1.0
    assert earned(result, "structural_completeness", "40 code blocks") == 0.20
