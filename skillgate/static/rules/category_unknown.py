"""The method does not know the value of metadata.category.

Why:
    The method names six kinds of skills: reference, workflow, generator, diagnostic, integration and coordination. The
    judge reads the category, and ranking compares a skill with others of its kind; a value of one's own is compared
    with nothing. It changes no static score.

Bad:
    metadata:
      category: bogus

Good:
    metadata:
      category: workflow

Source: PluginEval method, category norms of its rubrics.
"""

from __future__ import annotations

from collections.abc import Iterator

from skillgate.model.finding import Hit, Rule, Severity
from skillgate.model.skill import Skill, Span
from skillgate.scoring.composite import SIZE_BANDS
from skillgate.static.text import excerpt


def find(skill: Skill) -> Iterator[Hit]:
    """Yield a hit where there is a category and the method does not know it."""
    metadata = skill.frontmatter.values.get("metadata")
    category = metadata.get("category") if isinstance(metadata, dict) else None
    if isinstance(category, str) and category.strip() and category.strip().lower() not in SIZE_BANDS:
        known = ", ".join(SIZE_BANDS)
        span = Span(skill.frontmatter.line("metadata"))
        yield Hit(span, f"metadata.category is '{excerpt(category)}'; the categories are {known}")


RULE = Rule(
    id="CATEGORY_UNKNOWN",
    severity=Severity.INFO,
    summary="metadata.category is not one of the method's",
    fix="use one of the six, or another key for categories of your own",
    find=find,
    group="spec",
)
