"""The description never says when to use the skill.

Why:
    A model that reads "Tools for PDF files" knows what the skill is and not when it is wanted. A trigger phrase such as
    "Use when …" names the situations. `when_to_use` counts too. A phrase that is negated ("do not use when") or tells
    of something else ("used before 2019", "events trigger on save") is none. Skills that only the user can start
    (`disable-model-invocation`) and skills bound to `paths` need none; a description in another language is not judged.

Bad:
    description: A collection of helpers for spreadsheets, charts and pivot tables.

Good:
    description: Build spreadsheets with charts. Use when the user asks for an .xlsx file, a pivot table or a chart.

Source: PluginEval method, anti-pattern MISSING_TRIGGER, with the phrases that people really write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.finding import Hit, Rule, Severity
from skillgate.model.routing import Language
from skillgate.model.skill import Span
from skillgate.static.signals import needs_no_trigger

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import Skill


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit at the description."""
    head = skill.frontmatter
    if not head.valid or needs_no_trigger(skill):
        return
    if skill.routing.language is Language.ENGLISH and not skill.routing.triggers:
        yield Hit(span=Span(line=head.line("description")), message="the description never says when to use the skill")


RULE = Rule(
    id="MISSING_TRIGGER",
    severity=Severity.WARNING,
    summary="the description never says when to use the skill",
    fix="add “Use when …” with two or more concrete situations",
    find=find,
    advice="trigger",
)
