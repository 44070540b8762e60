"""The name is not the name of the directory.

Why:
    The specification requires both to be equal, and its validator refuses a skill where they differ. Clients differ in
    which of the two they list, so a skill under two names is found under neither by people who were told the other.

Bad:
    skills/pdf-forms/SKILL.md with name: fill-pdf

Good:
    skills/pdf-forms/SKILL.md with name: pdf-forms

Source: Agent Skills specification, field `name`, and its validator, which compares both after NFKC.
"""

from __future__ import annotations

from collections.abc import Iterator

from skillgate.model.finding import Client, Hit, Rule, Severity
from skillgate.model.skill import Skill, Span
from skillgate.skill.frontmatter import same_name


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit at the name."""
    name = skill.frontmatter.text("name")
    if name and skill.root.name and not same_name(name, skill.root.name):
        message = f"the name {name!r} is not that of the directory, {skill.root.name!r}; the specification wants one"
        yield Hit(Span(skill.frontmatter.line("name")), message)


RULE = Rule(
    id="NAME_MISMATCH",
    severity=Severity.WARNING,
    summary="the name is not the name of the directory",
    fix="rename one of the two",
    find=find,
    advice="name",
    group="spec",
    refused_by=(Client.SPEC,),
)
