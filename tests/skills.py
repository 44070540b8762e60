"""Skills for tests: written to disk as people write them, and evaluated through the public door."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import skillgate
from skillgate.model.report import Report, StaticLayer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.model.finding import Finding
    from skillgate.model.report import SkillResult, SubCheckScore

_ROOT = Path(__file__).parents[1]

NAME = "merge-sheets"
# 144 characters, one trigger phrase, three use cases, one "when …ing" context.
DESCRIPTION = (
    "Clean and merge CSV files into one table. Use this skill when joining exports, fixing broken encodings, or"
    " removing duplicate rows from a sheet."
)
# 62 words that document neither input nor output, link nowhere, and orchestrate nobody.
PROSE = """\
Read the header of every file first, because it decides which columns can be joined.
Sort the rows by date, and keep the newest one where two of them share a key.
Write down what was dropped and why, so that the owner of the data can check it.
Ask before a column is renamed, since other people rely on the names that they know.
"""
PROSE_LINES = 4
BODY = f"# Merge sheets\n\n## Steps\n\n{PROSE}"
STUB_LINES = 12  # four of frontmatter, eight of body

# What the stub earns. The source's part, by hand from the method's tables, is 0.40 × 0.82 for the frontmatter (name
# 0.15, length 0.25, 0.60 × (trigger 0.25, cases 0.20, context 0.15, length 0.10)), 0.40 × 0.70 for the wiring, 0.40 × 1
# for the tokens and 0.50 × 0.50 for the neighbours; the rest is what its text says.
STUB_SCORES = {
    "frontmatter_quality": 0.7103,
    "orchestration_wiring": 0.5655,
    "progressive_disclosure": 0.20,
    "structural_completeness": 0.0,
    "token_efficiency": 0.9373,
    "ecosystem_coherence": 0.25,
    "code_template_quality": None,
}
STUB_COMPOSITE = 56.35  # (25 × 0.7103 + 20 × 0.5655 + 10 × 0.20 + 6 × 0.9373 + 3 × 0 + 2 × 0.25) ÷ 66 × 100

_ORDERS = ("Fill the", "Read any", "Check its", "Keep our", "Send their")
_COLUMNS = (
    *("name", "street", "town", "land", "birth", "tax", "bank", "school", "doctor", "parent", "child", "sister"),
    *("garden", "car", "animal", "policy", "claim", "damage", "guest", "police", "court", "lawyer", "judge"),
    *("harbour", "vessel", "crew", "cargo", "duty", "border", "visa", "ticket", "hotel", "airport"),
)

# What a good skill has, to show that something else keeps it from a badge: instructions with reasons and limits, and
# points in every sub-check.
RICH_FILES = {"references/columns.md": "# Columns\n\nWhat each is called.\n", "assets/sample.csv": "a,b\n1,2\n"}
_RICH_PARTS = """
## Input

It accepts two or more files as input, each with a header.

## Output format

It returns one table, and the output has the format of the first file.

## Examples

```bash
merge one.csv two.csv
```

```python
merge("one.csv", "two.csv")
```

## Troubleshooting

When a file cannot be read, say which one it is, and go on with the others.

- If the header of `two.csv` is missing, stop and ask for it, because a guess would join the wrong columns.
- Never drop a duplicate row silently: write it to `dropped.csv`, where the owner of the sheet can check it.
- Where an export has a broken encoding such as `cp1252`, read it again as UTF-8 before anything is joined.
- Do not sort by date unless each row has one; an empty date comes first and hides the newest row.
- When two files share no column, return the message of `merge --explain` instead of an empty table.
- A key with 2 spellings is not one key: report both, since only the user knows which of them is right.
- Write the table to `merged.csv` and report how many rows of each file it has, so that a loss is seen.
- If a column has more than 5 kinds of values, keep it as text, because numbers would round them.
- Only the newest export decides the order of the columns; the others follow it, with a note in the report.
- When the disk is full, the command fails after the first file: remove `merged.csv` and start again.

See [the columns](references/columns.md) and [a sample](assets/sample.csv).
"""


def rich_body() -> str:
    """Give a body that is worth a badge with any description; it needs ``RICH_FILES``."""
    return BODY + _RICH_PARTS


def write_skill(
    base: Path,
    name: str = NAME,
    *,
    body: str = BODY,
    frontmatter: str | None = None,
    description: str = DESCRIPTION,
    files: Mapping[str, str | bytes] | None = None,
) -> Path:
    """Write a skill below ``base`` and give its directory.

    Args:
        base: the skills folder; made when it is not there.
        name: the directory, and the name in the frontmatter.
        body: what stands below the frontmatter.
        frontmatter: the lines between the ``---`` lines; by default ``name`` and ``description``.
        description: one line, written as it is after ``description:``; unused where ``frontmatter`` is given.
        files: more files by path relative to the skill.
    """
    head = f"name: {name}\ndescription: {description}" if frontmatter is None else frontmatter
    return write_bytes(base, name, f"---\n{head}\n---\n{body}".encode(), files=files)


def write_bytes(base: Path, name: str, data: bytes, *, files: Mapping[str, str | bytes] | None = None) -> Path:
    """Write a skill whose SKILL.md holds exactly these bytes, and give its directory."""
    directory = base / name
    for path, content in {"SKILL.md": data, **(files or {})}.items():
        file = directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return directory


def filler(count: int, *, start: int = 1) -> str:
    """Give so many short lines of prose: 800 of them stay below 10,000 estimated tokens.

    No two share a phrase, and all speak of rows, as the description does: to the static layer they are no filler.
    """
    size = len(_COLUMNS)
    pairs = ((number % size, (number // size + number) % size - 1) for number in range(start, start + count))
    return "".join(
        f"{_ORDERS[(one + two) % len(_ORDERS)]} {_COLUMNS[one]} {_COLUMNS[two]} rows.\n" for one, two in pairs
    )


def body_of(lines: int) -> str:
    """Give a body with which the whole file has so many physical lines, at least those of the stub."""
    return BODY + filler(lines - STUB_LINES)


def score(path: Path) -> SkillResult:
    """Evaluate one skill by its path."""
    report = skillgate.evaluate(path)
    assert isinstance(report, Report)
    (result,) = report.results
    return result


def static(result: SkillResult) -> StaticLayer:
    """Give the static layer of a result."""
    layer = result.layers[0]
    assert isinstance(layer, StaticLayer)
    return layer


def sub_check(result: SkillResult, name: str) -> SubCheckScore:
    """Give one sub-check of a result."""
    return static(result).sub_checks[name]


def sub_scores(result: SkillResult) -> dict[str, float | None]:
    """Give the score of every sub-check."""
    return {name: measured.score for name, measured in static(result).sub_checks.items()}


def earned(result: SkillResult, name: str, text: str) -> float:
    """Give the points of the one piece of evidence whose text holds these words, on the scale of the source's table."""
    (evidence,) = (item for item in sub_check(result, name).evidence if text in item.text)
    return round(evidence.points / SOURCE_SHARES.get(name, 1.0), 4)


SOURCE_SHARES = {  # of a sub-check; the rest is what its text says
    "frontmatter_quality": 0.40,
    "orchestration_wiring": 0.40,
    "token_efficiency": 0.40,
    "ecosystem_coherence": 0.50,
}


def from_table(result: SkillResult, name: str) -> float:
    """Give what the source's table gives to a sub-check, on its scale: evidence that the table names."""
    words = (
        *("name", "description of", "trigger", "“", "use case", "40 characters", "worker", "words of prose"),
        *(
            "document",
            "code block",
            "orchestrates",
            "every line",
            "MUST",
            "lines of prose",
            "is alone",
            "other skill",
        ),
        *("Related", "See also", "section “", "holds too little"),
    )
    ours = ("situation", "specific word", "condition", "when not to use", "statement", "whole sentences", "fit every")
    found = (
        item.points
        for item in sub_check(result, name).evidence
        if any(word in item.text for word in words) and not any(word in item.text for word in ours)
    )
    return round(min(1.0, max(0.0, sum(found) / SOURCE_SHARES.get(name, 1.0))), 4)


def anti_patterns(result: SkillResult) -> tuple[str, ...]:
    """Give the ids that count in the penalty, one for each finding."""
    return static(result).anti_patterns


def findings(result: SkillResult, rule: str) -> tuple[Finding, ...]:
    """Give the findings of one rule."""
    return tuple(finding for finding in result.findings if finding.id == rule)


def ids(result: SkillResult) -> list[str]:
    """Give the id of every finding, in order."""
    return [finding.id for finding in result.findings]


def run(*argv: str | Path, cwd: Path, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, without the user's configuration."""
    return _spawn("-m", "skillgate", *argv, cwd=cwd, timeout_s=timeout_s)


def run_python(code: str, *argv: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a few lines of Python in a process that can import the package."""
    return _spawn("-c", code, *argv, cwd=cwd, timeout_s=60)


def _spawn(*argv: str | Path, cwd: Path, timeout_s: float) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(_ROOT), "HOME": str(cwd), "USERPROFILE": str(cwd), "PYTHONUTF8": "1"}
    environ.pop("XDG_CONFIG_HOME", None)
    return subprocess.run(
        [sys.executable, *map(str, argv)],
        cwd=cwd,
        env=environ,
        check=False,
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        timeout=timeout_s,
    )
