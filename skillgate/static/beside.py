"""What shows only beside other skills: every rule of ``static/across`` over a catalogue."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from skillgate.model.finding import Claim
from skillgate.static.layer import ACROSS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.assessment import CatalogueRule, Member

_MOST = 20  # skills that a finding lists; each of a thousand namesakes would list them all


@cache
def rules() -> tuple[CatalogueRule, ...]:
    """Load every rule across skills."""
    return tuple(ACROSS.load(name).RULE for name in ACROSS.names())


def claims_across(members: Sequence[Member]) -> tuple[tuple[str, Claim], ...]:
    """Run every rule over the skills; each claim with the shown path of the skill it is about."""
    files = {member.path: member.file for member in members}
    found = []
    for rule in rules():
        for clash in rule.find(members):
            claim = Claim(
                id=rule.id,
                severity=clash.hit.severity or rule.severity,
                message=clash.hit.message,
                file=files[clash.path],
                line=clash.hit.span.line,
                column=clash.hit.span.column,
                fix=clash.hit.fix or rule.fix,
                group=rule.group,
                optional=rule.optional,
                about=rule.about,
                other=clash.other,
                skills=tuple(sorted(clash.skills)) if len(clash.skills) <= _MOST else (),
            )
            found.append((clash.path, claim))
    return tuple(found)
