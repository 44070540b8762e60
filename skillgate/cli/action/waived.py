"""Which comments in a change's files may set findings aside: those that its base had.

A comment that a pull request brings takes effect after the merge, as all that it does to its own gate.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from skillgate.report.known import EXACT, folded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.model.assessment import Assessment
    from skillgate.model.finding import Claim
    from skillgate.model.skill import Waiver

_MOST = 50  # refused comments that are told one by one


class BaseWaivers:
    """Tells whether a comment may set a claim aside, as ``pipeline.Context.honoured`` asks.

    A comment for a whole file holds for all that the base's comment held for. One for a place holds only for as many
    findings of the same kind as the base's set aside: else it could be carried to where it hides something else.
    """

    def __init__(self, before: Mapping[str, Assessment]) -> None:
        """Take what is known of each skill of the base, by the path that the skill is shown at now."""
        self._before = before
        self._kept: dict[str, Counter[tuple[str, str, str, str]]] = {}
        self._refused: dict[tuple[str, Waiver], set[str]] = {}

    def __call__(self, path: str, claim: Claim, waiver: Waiver) -> bool:
        """Tell whether a comment of the skill at ``path`` may set a claim aside; each asking counts."""
        if self._holds(path, claim, waiver):
            return True
        self._refused.setdefault((path, waiver), set()).add(claim.id)
        return False

    def told(self) -> tuple[str, ...]:
        """Say which comments have no effect yet, in sentences."""
        sentences = [
            f"the comment at {path}/{waiver.file}:{waiver.line} that sets {', '.join(sorted(rules))} aside: "
            f"{waiver.reason}"
            for (path, waiver), rules in self._refused.items()
        ]
        left = len(sentences) - _MOST
        return (*sentences[:_MOST], *([f"{left} more comments that set findings aside"] if left > 0 else []))

    def _holds(self, path: str, claim: Claim, waiver: Waiver) -> bool:
        facts = self._before.get(path)
        if facts is None:
            return False
        likewise = [one for one in facts.waivers if _same(one, waiver) and claim.id in one.rules]
        if any(_is_for_file(one) for one in likewise) and _is_for_file(waiver):
            return True
        if path not in self._kept:
            self._kept[path] = Counter(_covered(facts))
        key = _key(claim, waiver)
        if not likewise or not self._kept[path][key]:
            return False
        self._kept[path][key] -= 1
        return True


def _same(one: Waiver, other: Waiver) -> bool:
    return (one.file, one.reason, one.until) == (other.file, other.reason, other.until)


def _is_for_file(waiver: Waiver) -> bool:
    """Tell a comment for its whole file by what it covers: a comment for a place covers nothing above itself."""
    return waiver.first < waiver.line


def _covered(facts: Assessment) -> list[tuple[str, str, str, str]]:
    """List the claims of the base that its comments covered, each once for every comment."""
    return [
        _key(claim, waiver)
        for waiver in facts.waivers
        for claim in facts.claims
        if claim.file == waiver.file and claim.id in waiver.rules and waiver.first <= claim.line <= waiver.last
    ]


def _key(claim: Claim, waiver: Waiver) -> tuple[str, str, str, str]:
    message = claim.message if claim.id in EXACT else folded(claim.message)
    return claim.id, claim.file, message, waiver.reason
