"""Skills on disk that are mended through the public functions, as the command line does it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.fixes import apply, plan
from skillgate.model.skill import SkillSource
from skillgate.skill.find import discover, read
from skillgate.skill.parse import parse
from skillgate.skill.tree import disk_of
from skillgate.static import layer

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from skillgate.fixes import Change, Result
    from skillgate.model.skill import Skill, SkillRoot
    from skillgate.static.layer import StaticResult

RULES = (
    *("ALLOWED_TOOLS_SHAPE", "BYTE_ORDER_MARK", "FRONTMATTER_TAB", "LINE_ENDS", "METADATA_SHAPE", "NAME_INVALID"),
    *("NAME_MISMATCH", "NO_FINAL_NEWLINE", "UNTAGGED_CODE"),
)
HEAD = """\
---
name: merge-sheets
description: Clean and merge CSV files into one table. Use this skill when joining exports or fixing encodings.
---
"""
TEXT = "# Merge sheets\n\nRead the header of every file first, because it decides which columns can be joined.\n"


class Mended(NamedTuple):
    """A skill before and after, and what was said of its files."""

    planned: tuple[Change, ...]
    results: tuple[Result, ...]
    before: Judged
    after: Judged


class Judged(NamedTuple):
    """A skill, parsed and judged."""

    skill: Skill
    static: StaticResult

    @property
    def claims(self) -> set[tuple[str, str, int]]:
        """Give what was found: id, file and line."""
        return {(claim.id, claim.file, claim.line) for claim in self.static.claims}

    @property
    def ids(self) -> set[str]:
        """Give the ids of what was found."""
        return {claim.id for claim in self.static.claims}


def root_at(directory: Path) -> SkillRoot:
    """Find the skill in a directory."""
    return next(root for root in discover([str(directory)]).roots if root.name == directory.name)


def judged(directory: Path) -> Judged:
    """Read, parse and judge the skill in a directory."""
    source = read(root_at(directory))
    assert isinstance(source, SkillSource)
    skill = parse(source)
    return Judged(skill, layer.run(skill))


def planned(directory: Path, rules: Collection[str] = RULES, *, today: str = "") -> tuple[Change, ...]:
    """Plan repairs of some rules' findings."""
    return plan(root_at(directory), lambda rule: rule in rules, today=today)


def mend(directory: Path, rules: Collection[str] = RULES, *, today: str = "", unsafe: bool = False) -> Mended:
    """Plan and write repairs."""
    before = judged(directory)
    root = root_at(directory)
    changes = plan(root, lambda rule: rule in rules, today=today, unsafe=unsafe)
    results = apply(changes, disk_of(root))
    return Mended(changes, results, before, judged(directory))
