"""A link to a file outside the skill's directory.

Why:
    A skill is uploaded, copied and installed as its directory. Other files of the repository stay behind, so the link
    is dead for everyone but its author. Links to other skills, agents and commands of the same plugin are not reported:
    they are installed together. Each target is reported once.

Bad:
    Read [the style guide](../../docs/style.md) first.

Good:
    Read [the style guide](references/style.md) first.     (a copy of it, or all of it)

Source: Agent Skills specification, file references: paths are relative to the skill's directory.
"""

from skillgate.model.finding import Severity
from skillgate.model.skill import Skill
from skillgate.skill.links import Resolver, first_links
from skillgate.static import Hits, rule
from skillgate.static.text import hit


def find(skill: Skill) -> Hits:
    """Yield one hit for each distinct target of each document, at its first link."""
    directory, resolver = skill.root.directory, Resolver(skill.root)
    for document in skill.documents:
        for link in first_links(document.links) if directory else ():
            path = link.resolved
            if path is None or f"{path}/".startswith(f"{directory}/") or _goes_along(skill, resolver, path):
                continue
            message = f"{link.target.partition('#')[0]} is outside the skill's directory and is not installed with it"
            yield hit(document, skill, link.span, message)


def _goes_along(skill: Skill, resolver: Resolver, path: str) -> bool:
    """Whether a path belongs to the real skill, or to another skill or agent that is installed with this one."""
    if resolver.is_next_to_main(path):
        return True
    plugin = skill.root.plugin
    if resolver.other_skill(path) is None:
        return False
    return not plugin or f"{path}/".startswith(f"{plugin}/")


RULE = rule(find, Severity.INFO, "links", fix="move the file into the skill, or copy the part that the skill needs")
