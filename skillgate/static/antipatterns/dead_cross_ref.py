"""A relative link to another skill, agent or command that is not there.

Why:
    Skills that build on each other break silently when one is renamed. The link is looked for from the skill itself,
    its plugin and the skills folder. Words such as "skills/agents" in running text, URLs and paths in code are no
    links.

Bad:
    Then hand over to [the reviewer](../code-reviewer/SKILL.md).     (renamed to ../review-code)

Good:
    Then hand over to [the reviewer](../review-code/SKILL.md).

Source: PluginEval method, anti-pattern DEAD_CROSS_REF.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.finding import Hit, Rule, Severity
from skillgate.model.skill import LinkKind
from skillgate.static.signals import dead_links

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import Skill


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit for each distinct target, at its first link."""
    for link in dead_links(skill, LinkKind.SKILL):
        yield Hit(
            span=link.span, message=f"{link.target.partition('#')[0].rstrip('/')} leads to no skill, agent or command"
        )


RULE = Rule(
    id="DEAD_CROSS_REF",
    severity=Severity.ERROR,
    summary="a relative link to another skill or agent that is not there",
    fix="correct the path, or remove the link",
    find=find,
    advice="dead-refs",
)
