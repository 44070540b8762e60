"""A link into references/ whose file is not there.

Why:
    A model that follows the link gets an error instead of the detail the instructions rely on, and spends tokens on
    finding that out. Targets are compared letter case included, as Linux does; anchors, titles, `./` and
    percent-encoding are understood; links in code and comments are not links. One finding for each target.

Bad:
    See [the dialects](references/dialects.md).     (and no such file)

Good:
    See [the dialects](references/dialects.md).     (and references/dialects.md beside SKILL.md)

Source: PluginEval method, anti-pattern ORPHAN_REFERENCE.
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
    for link in dead_links(skill, LinkKind.REFERENCE):
        yield Hit(span=link.span, message=f"{link.target.partition('#')[0].removeprefix('./')} does not exist")


RULE = Rule(
    id="ORPHAN_REFERENCE",
    severity=Severity.ERROR,
    summary="a link into references/ whose file is not there",
    fix="create the file, or remove the link",
    find=find,
    advice="orphans",
)
