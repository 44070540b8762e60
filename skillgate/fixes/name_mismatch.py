"""Give the skill the name of its directory.

Only where the directory's name is a valid one and the name is written plainly on one line. A skill that is the root of
its repository keeps its name: what a checkout is called is nobody's decision.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.fixes._page import Edit, Fix
from skillgate.skill.naming import name_defect, same_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.fixes._page import Page
    from skillgate.model.skill import Skill

# What some YAML reader takes for something else than text.
_NOT_TEXT = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))


def find(page: Page) -> Iterator[Edit]:
    """Yield the one edit."""
    skill = page.skill
    if not page.main or not _differs(skill):
        return
    line = skill.frontmatter.line("name")
    text = page.lines[line - 1]
    key = re.match(r"[ ]*name:[ \t]+", text)
    if key is None:
        return
    for quote in ("", "'", '"'):
        written = f"{quote}{skill.frontmatter.values['name']}{quote}"
        end = key.end() + len(written)
        if text[key.end() : end] == written and re.fullmatch(r"(?:[ \t]+#.*)?[ \t]*", text[end:]):
            start = page.starts[line - 1]
            yield Edit(line, start + key.end(), start + end, _written(skill.root.name, quote))
            return


def _differs(skill: Skill) -> bool:
    head, wanted = skill.frontmatter, skill.root.name
    name, line = head.text("name"), head.line("name")
    if any(problem.span.line == line for problem in skill.problems_of("duplicate_key")):
        return False
    certain = bool(skill.root.directory and wanted) and name_defect(wanted) is None
    return certain and bool(name) and not same_name(name, wanted)


def _written(name: str, quote: str) -> str:
    """Keep the quotes that stand there; add some only where the name alone might be read as no text."""
    if not quote and (not name[0].isalpha() or name in _NOT_TEXT):
        quote = '"'
    return f"{quote}{name}{quote}"


FIX = Fix(find)
