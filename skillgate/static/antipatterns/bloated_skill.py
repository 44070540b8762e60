"""More than 800 lines, or 10,000 estimated tokens, and nothing in references/.

Why:
    The whole file is loaded each time the skill is used, also for the one case that needs a tenth of it. What is needed
    now and then belongs in references/, where a model reads it on demand. Runs of blank lines count once; an empty
    references/ directory, or an empty file in it, changes nothing.

Bad:
    A SKILL.md of 1,100 lines with every table of the vendor's manual.

Good:
    A SKILL.md of 250 lines with the steps, and `references/error-codes.md`, linked where a step needs it.

Source: PluginEval method, anti-pattern BLOATED_SKILL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.finding import Hit, Rule, Severity
from skillgate.model.skill import BLOAT_LINES, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import Skill


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit at the head of the file."""
    if skill.effective_lines > BLOAT_LINES and not skill.references and skill.has_body:
        message = (
            f"{skill.lines:,} lines, about {skill.tokens:,} tokens at 2.6 characters each, and nothing in references/"
        )
        yield Hit(span=Span(), message=message)


RULE = Rule(
    id="BLOATED_SKILL",
    severity=Severity.WARNING,
    summary="more than 800 lines and nothing in references/",
    fix="move what is only sometimes needed to references/ and link it where it is",
    find=find,
    advice="shorter",
)
