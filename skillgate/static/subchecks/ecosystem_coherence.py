"""Does the skill lead on to its neighbours: other skills and agents that really are there, and a Related section?

It starts at 0.50 and gains 0.08, up to 0.25, for each other skill or agent that a link, a path or a name resolves to,
and 0.25 for a Related or See also section or mention that says something. A dead reference earns nothing, nor does a
word such as "complement" or "related" in running text. Under 40 words of prose it starts at 0.

Source: PluginEval method, sub-check ecosystem_coherence.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.model.score import Dimension, Evidence, Measured, SubCheck
from skillgate.static.signals import base, without_body

if TYPE_CHECKING:
    from skillgate.model.skill import Skill

BASE = 0.50
EACH, MOST = 0.08, 0.25
_SECTION = re.compile(
    r"^(?:\d+[.)]? )?(?:related(?: (?:skills?|agents?|commands?|resources?|reading|topics?|docs|documentation|files?))?"
    r"|see also|(?:companion|sibling) skills?|works (?:well )?with(?: other skills)?|integration with other skills)\W*$"
)
_MENTION = re.compile(r"^\W{0,4}(?:see also\b|related(?: (?:skills?|agents?|commands?))?\s?:)", re.MULTILINE)


def measure(skill: Skill) -> Measured:
    """Score in [0, 1]; 0 without a body."""
    if not skill.has_body:
        return without_body(BASE)
    return Measured.total((base(skill, BASE, "stands by itself"), _related(skill), _section(skill)))


def _related(skill: Skill) -> Evidence:
    count = len(skill.related)
    points = min(MOST, EACH * count)
    possible = min(MOST, EACH * max(count, skill.siblings))
    text = f"{count} other skill{'s' * (count != 1)} or agent{'s' * (count != 1)} referred to"
    return Evidence(text=text, points=points, possible=possible, advice=None if points >= possible else "related-links")


def _section(skill: Skill) -> Evidence:
    thin = None
    for item in skill.headings:
        if item.level > 1 and _SECTION.search(item.text.lower()):
            if item.counts or item.links:
                return Evidence(text=f"section “{item.text}”", points=0.25, possible=0.25, line=item.line)
            thin = thin or item
    for block in skill.blocks:
        match = _MENTION.search(block.text.lower()) if block.leads_on else None
        if match:
            line = block.line + block.text.count("\n", 0, match.start())
            return Evidence(text="a See also line", points=0.25, possible=0.25, line=line)
    text = f"“{thin.text}” holds too little, and leads to no skill" if thin else "no Related section"
    return Evidence(text=text, points=0.0, possible=0.25, line=thin.line if thin else None, advice="related")


SUBCHECK = SubCheck(
    dimension=Dimension.ECOSYSTEM_COHERENCE,
    weight=0.05,
    summary="other skills that are really there, and a Related section",
    measure=measure,
)
