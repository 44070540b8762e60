"""Which comments in a change's files may set findings aside: those that the tip of the base branch has.

A comment that a pull request brings takes effect after the merge, as all that it does to its own gate.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.digest import digest
from skillgate.report.known import EXACT, folded
from skillgate.skill.read import MAX_BYTES
from skillgate.skill.walk import join

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from skillgate.model.assessment import Assessment
    from skillgate.model.finding import Claim
    from skillgate.model.skill import SkillRoot, Waiver

    Key = tuple[str, str, str, str]

_MOST = 50  # refused comments that are named one by one


class BaseSkill(NamedTuple):
    """A skill as the base has it."""

    root: SkillRoot
    facts: Assessment


class BaseWaivers:
    """Decide whether a comment may set a claim aside, as ``pipeline.Criteria.honoured`` does.

    A comment for a whole file holds for all that the base's comment held for. One for a place holds only for as many
    findings of the same kind as the base's set aside: else it could be carried to where it hides something else. Of
    what may be an attack (``EXACT``) either holds only for the same text in the same file.
    """

    def __init__(
        self,
        before: Mapping[str, BaseSkill],
        now: Mapping[str, SkillRoot],
        *,
        start: Mapping[str, BaseSkill] | None = None,
    ) -> None:
        """Take what the base has of each skill, and the skills, both by the path that a skill is shown at now.

        Args:
            before: at the tip of the base branch.
            now: what is checked out.
            start: where the change left the base branch.
        """
        self._before, self._now, self._start = before, now, start or {}
        self._left: dict[str, Counter[Key]] = {}
        self._without_effect: dict[tuple[str, Waiver], set[str]] = {}

    def __call__(self, path: str, claim: Claim, waiver: Waiver) -> bool:
        """Return whether a comment of the skill at ``path`` may set a claim aside; each asking counts."""
        if self._holds(path, claim, waiver):
            return True
        self._without_effect.setdefault((path, waiver), set()).add(claim.id)
        return False

    def refused(self) -> tuple[str, ...]:
        """Say which comments that the change brings have no effect yet, in sentences."""
        return _sentences(
            f"{_comment(path, waiver, rules)}: {waiver.reason}"
            for (path, waiver), rules in self._without_effect.items()
            if not self._is_outdated(path, waiver)
        )

    def outdated(self) -> tuple[str, ...]:
        """Say which comments have no effect since the base branch has them no more, in sentences."""
        return _sentences(
            f"{_comment(path, waiver, rules)} is no longer in the base branch, and has no effect; update the branch"
            for (path, waiver), rules in self._without_effect.items()
            if self._is_outdated(path, waiver)
        )

    def _is_outdated(self, path: str, waiver: Waiver) -> bool:
        """Return whether a comment was there where the change began, and is no more at the tip of the base branch."""
        start, tip = ((held[path].facts.waivers if path in held else ()) for held in (self._start, self._before))
        return any(_same(one, waiver) for one in start) and not any(_same(one, waiver) for one in tip)

    def _holds(self, path: str, claim: Claim, waiver: Waiver) -> bool:
        was, root = self._before.get(path), self._now.get(path)
        if was is None or root is None:
            return False
        if claim.group == "across":  # found beside other skills, also in the base: not among a skill's own claims
            return any(_same(one, waiver) and claim.id in one.rules for one in was.facts.waivers)
        likewise = [one for one in was.facts.waivers if _same(one, waiver) and claim.id in one.rules]
        if waiver.whole and claim.id not in EXACT and any(one.whole for one in likewise):
            return True
        if path not in self._left:
            self._left[path] = Counter(_covered(was))
        key = _key(claim, waiver, root)
        if not likewise or not self._left[path][key]:
            return False
        self._left[path][key] -= 1
        return True


def _comment(path: str, waiver: Waiver, rules: Iterable[str]) -> str:
    return f"the comment at {path}/{waiver.file}:{waiver.line} that sets {', '.join(sorted(rules))} aside"


def _sentences(found: Iterable[str]) -> tuple[str, ...]:
    sentences = tuple(found)
    left = len(sentences) - _MOST
    return (*sentences[:_MOST], *([f"{left} more comments that set findings aside"] if left > 0 else []))


def _same(one: Waiver, other: Waiver) -> bool:
    return (one.file, one.reason, one.until, one.whole) == (other.file, other.reason, other.until, other.whole)


def _covered(was: BaseSkill) -> Iterator[Key]:
    """Return the claims of the base that its comments covered, each once for every comment."""
    for waiver in was.facts.waivers:
        for claim in was.facts.claims:
            if claim.file == waiver.file and claim.id in waiver.rules and waiver.first <= claim.line <= waiver.last:
                yield _key(claim, waiver, was.root)


def _key(claim: Claim, waiver: Waiver, root: SkillRoot) -> Key:
    message = folded(claim.message)
    if claim.id in EXACT:
        message = f"{claim.message} {digest(*_around(_lines(root, claim.file), claim, waiver))}"
    return claim.id, claim.file, message, waiver.reason


def _around(lines: list[bytes], claim: Claim, waiver: Waiver) -> list[bytes]:
    """Return the text that a comment sets aside with a claim: what it covers; for a whole file up to a blank line."""
    first, last = waiver.first, waiver.last
    if waiver.whole:
        first = last = claim.line
        while first > 1 and lines[first - 2 : first - 1] and lines[first - 2].strip():
            first -= 1
        while last < len(lines) and lines[last].strip():
            last += 1
    return [line for line in lines[first - 1 : last] if line.strip()]


@cache
def _lines(root: SkillRoot, file: str) -> list[bytes]:
    """Read the lines of a skill's file, without their ends; none where it cannot be read."""
    try:
        return root.tree.read(join(root.directory, file), limit=MAX_BYTES).splitlines()
    except OSError:
        return []
