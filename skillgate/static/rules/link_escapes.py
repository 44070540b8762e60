"""A link that leads out of the skill's directory.

Why:
    A skill is uploaded, copied and installed as its directory. What lies beside it in the repository stays behind, and
    the link is dead for everyone but its author. Links to other skills, agents and commands of the same plugin are not
    meant: they are installed together. One finding for each target.

Bad:
    Read [the style guide](../../docs/style.md) first.

Good:
    Read [the style guide](references/style.md) first.     (a copy of it, or all of it)

Source: Agent Skills specification, file references: paths are relative to the skill's directory.
"""

from __future__ import annotations

from collections.abc import Iterator

from skillgate.model.finding import Hit, Rule, Severity
from skillgate.model.skill import Skill
from skillgate.skill.links import Resolver, first_links
from skillgate.static.text import hit


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit for each distinct target of each document, at its first link."""
    directory, resolver = skill.root.directory, Resolver(skill.root)
    for document in skill.documents:
        for link in first_links(document.links) if directory else ():
            path = link.resolved
            if path is None or f"{path}/".startswith(f"{directory}/") or _goes_along(skill, resolver, path):
                continue
            message = f"{link.target.partition('#')[0]} lies outside the skill, which is installed without it"
            yield hit(document, skill, link.span, message)


def _goes_along(skill: Skill, resolver: Resolver, path: str) -> bool:
    """Whether a path belongs to another skill or agent that comes with this one."""
    plugin = skill.root.plugin
    if resolver.other_skill(path) is None:
        return False
    return not plugin or f"{path}/".startswith(f"{plugin}/")


RULE = Rule(
    id="LINK_ESCAPES",
    severity=Severity.INFO,
    summary="a link that leads out of the skill's directory",
    fix="move the file into the skill, or copy what is needed of it",
    find=find,
    group="links",
)
