"""Probes that try to win without saying anything: keywords, empty files, very long lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.skills import BODY, NAME, STUB_SCORES, ids, run, score, sub_check, sub_scores, write_skill

if TYPE_CHECKING:
    from pathlib import Path

SALAD_DESCRIPTION = (
    "Use proactively when building, testing, deploying, or debugging anything. Automatically trigger and always use for"
    " creating, implementing, configuring things."
)
KEYWORDS = """\
input output format returns parameters arguments produces generates

companion complement decision comparison tradeoff

| a | b |
| - | - |

```python
```
```json
```
```yaml
```

skills/merge-sheets skills/merge-sheets skills/merge-sheets
[self](SKILL.md) [self](../merge-sheets/SKILL.md) [ref](references/a.md) [asset](assets/a.txt)
"""
HEADS = """
## Example
## Troubleshooting
## When to use
## Output format
## Input parameters
## Related
"""
EMPTY_FILES = {"references/a.md": "", "assets/a.txt": ""}


def test_p53_a_keyword_salad_ends_at_the_bottom(tmp_path: Path) -> None:
    result = score(write_skill(tmp_path, description=SALAD_DESCRIPTION, body=KEYWORDS + HEADS, files=EMPTY_FILES))
    scores = sub_scores(result)
    assert scores.pop("frontmatter_quality") is not None  # what the description deserves is another question
    assert scores == {
        "orchestration_wiring": 0.0,
        "progressive_disclosure": 0.20,  # for being short
        "structural_completeness": 0.0,
        "token_efficiency": 0.0,
        "ecosystem_coherence": 0.0,
        "code_template_quality": None,
    }
    assert result.composite.score is not None
    assert result.composite.score < 35
    assert result.composite.badge is None
    assert result.composite.badge_reason is not None
    assert "words of prose" in result.composite.badge_reason


@pytest.mark.parametrize(
    "line",
    [
        "output format, input, returns, parameters, example, related\n",
        "item {n}, output {n}, format {n}, returns {n}\n",
        "- keyword {n}\n",
        "word{n}\n",
    ],
)
def test_p53_filler_lines_earn_the_salad_no_badge(line: str, tmp_path: Path) -> None:
    lines = "".join(line.format(n=n) for n in range(250))
    result = score(
        write_skill(tmp_path, description=SALAD_DESCRIPTION, body=f"{KEYWORDS}\n{lines}{HEADS}", files=EMPTY_FILES)
    )
    scores = sub_scores(result)
    assert (scores["orchestration_wiring"], scores["token_efficiency"], scores["ecosystem_coherence"]) == (
        0.0,
        0.0,
        0.0,
    )
    assert result.composite.badge is None


def test_p53_empty_sections_and_files_add_nothing_to_honest_instructions(tmp_path: Path) -> None:
    titles = ("Example", "Troubleshooting", "When to use", "Output format", "Input", "Related")
    heads = "".join(f"\n## {title}\n" for title in titles)
    links = "\n[one](references/a.md) and [two](assets/a.txt)\n"
    result = score(write_skill(tmp_path, body=f"{BODY}{links}{heads}", files=EMPTY_FILES))
    scores = sub_scores(result).items()
    assert all(found <= (STUB_SCORES[name] or 0) + 0.002 for name, found in scores if found is not None)


@pytest.mark.parametrize("link", [f"[this](../{NAME}/SKILL.md)", "[this](SKILL.md)", "[one](references/a.md)"])
def test_p53_a_related_section_that_leads_nowhere_else_earns_nothing(link: str, tmp_path: Path) -> None:
    result = score(write_skill(tmp_path, body=f"{BODY}\n## Related\n\n- {link}\n", files=EMPTY_FILES))
    assert sub_check(result, "ecosystem_coherence").score == 0.25


def test_p53_links_to_itself_are_no_neighbours(tmp_path: Path) -> None:
    line = f"Go to [this](../{NAME}/SKILL.md) or [this](SKILL.md) or `skills/{NAME}` again.\n"
    result = score(write_skill(tmp_path / "skills", body=f"{BODY}\n{line}"))
    assert sub_check(result, "ecosystem_coherence").score == STUB_SCORES["ecosystem_coherence"]
    assert ids(result) == []


@pytest.mark.parametrize(
    ("word", "size"),
    [
        ("output ", 1_000_000),
        ("input format ", 1_000_000),
        ("use when ", 1_000_000),
        ("coordinate agents ", 1_000_000),
        ("returns a ", 1_000_000),
        ("`", 1_000_000),
        ("<!-- ", 1_000_000),
        ("[a](x) ", 300_000),
    ],
)
def test_p52_a_very_long_line_is_read_in_linear_time(word: str, size: int, tmp_path: Path) -> None:
    # Quadratic work on lines of this length takes minutes, linear work seconds; the limit only tells the two apart.
    path = write_skill(tmp_path, body=f"# Title\n\n{word * (size // len(word))}\n")
    done = run("score", path, cwd=tmp_path, timeout_s=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\nmerge-sheets: " in done.stdout
