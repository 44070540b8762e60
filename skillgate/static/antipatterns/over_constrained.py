"""More than 15 MUST, ALWAYS or NEVER in capitals.

Why:
    A page of commands leaves a model no room to judge, costs tokens on every load, and makes the few rules that matter
    look like all the others. The words are counted in the text alone, not in code, comments or headings.

Bad:
    You MUST read the file first. You MUST ALWAYS use two spaces. NEVER leave a trailing comma. …

Good:
    Read the file first: the header decides which parser fits. Two spaces keep the diff readable.

Source: PluginEval method, anti-pattern OVER_CONSTRAINED.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.finding import Hit, Rule, Severity
from skillgate.model.skill import Span
from skillgate.static.signals import directives

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import Skill

MOST = 15


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit, at the first word beyond the limit."""
    found = directives(skill)
    if len(found) > MOST:
        message = f"{len(found)} MUST, ALWAYS or NEVER; more than {MOST} stop carrying weight"
        yield Hit(span=Span(line=found[MOST].line), message=message)


RULE = Rule(
    id="OVER_CONSTRAINED",
    severity=Severity.WARNING,
    summary="more than 15 MUST, ALWAYS or NEVER",
    fix="keep capitals for what safety or correctness needs, and give the reason for the rest",
    find=find,
    advice="directives",
)
