"""The Python interface for house rules: what a rule's file imports, and a helper for its tests.

docs/house-rules.md shows a rule and its configuration.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from skillgate.model.finding import Hit, Rule, Severity
from skillgate.model.skill import Skill, SkillSource, Span
from skillgate.static import Hits
from skillgate.static import rule as declared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Hit", "Hits", "Rule", "Severity", "Skill", "Span", "failed_cases", "rule"]

_SKILL = "skills/sample-skill"


def rule(find: Callable[[Skill], Hits], severity: Severity, *, fix: str) -> Rule:
    """Declare the rule of a file, which assigns the result to ``RULE``.

    Args:
        find: yields a :class:`Hit` for each finding in a parsed skill: a place, a message, and the file if it is not
            the main file. It must be pure: its findings are cached until the skill or the rule's file changes.
        severity: the severity, unless the configuration sets another.
        fix: what to do about a finding, as an instruction.

    Returns:
        The rule. Its id is the name in the configuration; its summary is the first line of the file's docstring.
    """
    return declared(find, severity, "house", fix=fix)


def failed_cases(checked: Rule, table: str | Path) -> tuple[str, ...]:
    """Check a rule against a table of cases.

    The table is a text file of cases. A case is a title, a line with a single dot, the text of a ``SKILL.md``, a line
    with a single dot, the expected findings and a line with a single dot. A finding is ``PATH:LINE:COLUMN MESSAGE``,
    with one line each, in the order of the rule. A line ``=== PATH`` in the text begins another file of the skill.

    Returns:
        For each case that fails, its line, title, what was expected and what was found. Empty if all pass.

    Raises:
        ValueError: the table has no case.
    """
    from markdown_it.utils import read_fixture_file

    cases = read_fixture_file(Path(table))
    if not cases:
        raise ValueError(f"{table} has no case")
    failed = []
    for line, title, text, expected in cases:
        found = "".join(f"{one}\n" for one in _found(checked, text))
        if found != expected:
            failed.append(f"{table}:{line} {title}\nexpected:\n{expected}found:\n{found}")
    return tuple(failed)


def _found(checked: Rule, text: str) -> Iterator[str]:
    from skillgate.skill.find import discover, read
    from skillgate.skill.parse import parse

    with tempfile.TemporaryDirectory(prefix="skillgate-case-") as top:
        folder = Path(top, _SKILL)
        name = "SKILL.md"
        lines: list[str] = []
        for line in [*text.splitlines(keepends=True), "=== "]:
            if line.startswith("=== "):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text("".join(lines), encoding="utf-8")
                name, lines = line[4:].strip(), []
            else:
                lines.append(line)
        root = discover([str(folder)]).roots[0]
        source = read(root)
        if isinstance(source, SkillSource):
            for hit in checked.find(parse(source)):
                file = root.file_name if hit.file is None else root.inside(hit.file)
                yield f"{file}:{hit.span.line}:{hit.span.column} {hit.message}"
