"""The description has fewer than 20 characters.

Why:
    Name and description are all that a model sees when it decides whether to load a skill. Without a description every
    client drops the skill (an error); with a few characters it cannot be told from its neighbours (a warning).

Bad:
    description: PDF tools

Good:
    description: Fill, merge and split PDF files. Use when the user has a PDF form, or wants several PDFs as one.

Source: PluginEval method, anti-pattern EMPTY_DESCRIPTION; the Agent Skills specification requires 1 to 1,024
characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.finding import Hit, Rule, Severity
from skillgate.model.skill import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import Skill

LEAST = 20


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit; none where the frontmatter could not be read, for then the description is not known."""
    head = skill.frontmatter
    if not head.valid or not isinstance(head.values.get("description") or "", str):
        return
    description = head.text("description")
    span = Span(line=head.line("description"))
    if not description:
        message = "the description is empty" if "description" in head.values else "there is no description"
        yield Hit(span=span, message=message, severity=Severity.ERROR)
    elif len(description) < LEAST:
        yield Hit(span=span, message=f"the description has {len(description)} characters; {LEAST} are the least")


RULE = Rule(
    id="EMPTY_DESCRIPTION",
    severity=Severity.WARNING,
    summary="the description has fewer than 20 characters",
    fix="say in 60 to 120 characters or more what the skill does and when to use it",
    find=find,
    advice="describe",
    blocks_badge=True,
)
