"""The name does not match the directory.

Why:
    The specification requires both to be equal, and its validator rejects a skill if they differ. Some clients list the
    name and others the directory, so users who know only one of them cannot find the skill. Silent if the name is
    invalid, which NAME_INVALID reports.

Bad:
    skills/pdf-forms/SKILL.md with name: fill-pdf

Good:
    skills/pdf-forms/SKILL.md with name: pdf-forms

Source: Agent Skills specification, field `name`, and its validator, which compares both after NFKC.
"""

from skillgate.model.finding import Client, Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.skill.frontmatter import name_defect, same_name
from skillgate.static import Hits, rule


def find(skill: Skill) -> Hits:
    """Yield one hit at the name; NAME_INVALID reports one that is no valid name anyway."""
    name = skill.frontmatter.text("name")
    if name and skill.root.name and name_defect(name) is None and not same_name(name, skill.root.name):
        message = f"name {name!r} does not match directory {skill.root.name!r} (required by the specification)"
        yield Hit(Span(skill.frontmatter.line("name")), message)


RULE = rule(
    find,
    Severity.WARNING,
    "spec",
    fix="rename the skill or its directory",
    advice="name",
    refused_by=(Client.SPEC,),
)
