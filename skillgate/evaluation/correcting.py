"""Corrects what the shards of a run say of drops for the skills of all of them, and asks their gates anew.

A shard corrects for its own skills alone, so that over all of them a drop is never surer than there: what failed may
turn out to be undecided, and nothing else changes.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.model.score import Badge, Outcome
from skillgate.report.joining import decided
from skillgate.scoring.gate import Policy, judge
from skillgate.scoring.regression import REAL, rank, regression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from skillgate.model.judging import DropTest
    from skillgate.model.report import GateOutcome, Report, SkillResult, Verdict
    from skillgate.report.joining import Joined

_LOST = re.compile(r"it lost its badge (\w+) \(")
_ALLOWED = re.compile(r"; allowed: ([^ )]+)\)$")
_SHADE = "inconclusive: "
_OF_FINDINGS = frozenset({"error", "warning"})  # all that may fail a skill which is not asked about


def corrected(whole: Joined, policy: Callable[[PurePosixPath], Policy], *, insisted: bool) -> Report:
    """Correct drops for all skills.

    Args:
        whole: the shards, joined, each with what it said of drops.
        policy: what is asked of a skill here, by its shown path; the shards may have been asked for something else.
        insisted: whether that was said for this very command, which then must not ignore it.

    Raises:
        UsageError: what is asked for here is not what the shards were asked for, and that matters.
    """
    report, drops = whole.report, _drops(whole.report)
    results = []
    for one in report.results:
        asked = _policy(one, policy, beside=one.skill.path in whole.beside)
        fitting = next((each for each in asked if _fits(one, each)), None)
        if fitting is None and insisted:
            raise UsageError(_others(one))
        drop = drops.get(one.skill.path)
        if drop is not None and drop != one.drop:
            gate = _told(one, drop) if fitting is None else _judged(one, fitting, drop)
            one = one._replace(drop=drop, gate=gate)
        results.append(one)
    return decided(report._replace(results=tuple(results)))


def _others(one: SkillResult) -> str:
    return (
        f"the gates of {one.skill.path} are not those that are asked for here: join shards with the configuration and"
        " the options of the gate that they were made with, or without any"
    )


def _drops(report: Report) -> Mapping[str, DropTest]:
    """Give the test of each skill's drop that has a p, corrected for all of them, by path.

    Raises:
        UsageError: a report does not hold what it corrected.
    """
    tested = {one.skill.path: one.drop for one in report.results if one.drop and one.drop.p is not None}
    if not tested:
        return {}
    from skillgate.stats.resampling import holm  # brings in numpy: only where drops were tested

    alone = [drop.p_alone for drop in tested.values() if drop.p_alone is not None]
    if len(alone) < len(tested):
        path = next(path for path, drop in tested.items() if drop.p_alone is None)
        raise UsageError(
            f"what is said of the drop of {path} cannot be corrected for all skills: p_alone is missing; make the"
            " shards anew with this skillgate"
        )
    return {path: drop._replace(p=p) for (path, drop), p in zip(tested.items(), holm(alone), strict=True)}


def _policy(one: SkillResult, policy: Callable[[PurePosixPath], Policy], *, beside: bool) -> Iterator[Policy]:
    """Give what may have been asked of a skill: that a baseline was set, which asks too, is not known here.

    Where both fit, another gate fails, and the drop decides nothing.
    """
    asked = policy(PurePosixPath(one.skill.path))
    if beside:
        yield Policy(fail_on=asked.fail_on & _OF_FINDINGS)
        return
    yield asked
    yield asked._replace(fail_on=asked.fail_on | {"regression"})


def _fits(one: SkillResult, policy: Policy) -> bool:
    """Tell whether a policy gives the verdict that a shard gave."""
    found = outcome_of(one)
    if found is None or _then(one, policy) is not None or found.reason.startswith("no baseline"):
        return _judged(one, policy, one.drop) == one.gate
    others = judge(one, policy, spent=_spent(one)).outcomes
    return others == tuple(outcome for outcome in one.gate.outcomes if outcome is not found)


def _judged(one: SkillResult, policy: Policy, drop: DropTest | None) -> Verdict:
    """Ask every gate, with what a drop is said to be."""
    compared = outcome_of(one) is not None
    return judge(one, policy, _then(one, policy), compared=compared, drop=drop, spent=_spent(one))


def _spent(one: SkillResult) -> str | None:
    return next((o.reason for o in one.gate.outcomes if o.gate == "budget" and o.verdict is Outcome.FAIL), None)


def outcome_of(one: SkillResult) -> GateOutcome | None:
    """Give what came of comparing a skill with a baseline; None where there was none for any skill of its run."""
    return next((outcome for outcome in one.gate.outcomes if outcome.gate == "regression"), None)


def _then(one: SkillResult, policy: Policy) -> SkillResult | None:
    """Give the baseline's result as far as its gate asks about it: its points, and a badge that has been lost.

    None where there was none, or where its points are not known. Which badge was lost decides nothing where the drop
    may be chance; the Elo never, as one that sufficed for the badge suffices for any below.
    """
    drop, now, found = one.drop, one.composite, outcome_of(one)
    if drop is None or drop.drop is None or now.score is None or found is None:
        return None
    badge, lost = now.badge, _LOST.match(found.reason)
    if lost is not None and lost[1] in {each.value for each in Badge}:
        badge = Badge(lost[1])
    elif found.reason.startswith(_SHADE) and drop.reason is None and drop.drop <= policy.max_drop and rank(badge):
        badge = tuple(Badge)[rank(badge) - 1]
    score = round(now.score + drop.drop, 2)
    return one._replace(composite=now._replace(score=score, badge=badge), layers=())


def _told(one: SkillResult, drop: DropTest) -> Verdict:
    """Give the verdict where nobody knows what was asked: as it was, unless the correction may have changed it.

    Raises:
        UsageError: it may.
    """
    found, was = outcome_of(one), one.drop
    if found is None or was is None or was.p is None or drop.p is None:
        return one.gate
    if found.reason.startswith(_SHADE):
        reason = found.reason.replace(f"(p = {was.p:.2f}", f"(p = {drop.p:.2f}")
        return one.gate._replace(
            outcomes=tuple(o._replace(reason=reason) if o is found else o for o in one.gate.outcomes)
        )
    if found.verdict is Outcome.FAIL and was.p <= REAL < drop.p and not _falls_by_itself(one, found, drop):
        raise UsageError(
            f"the drop of {one.skill.path}, with p = {was.p:.4f} in its shard, is not sure beside those of all shards"
            f" (p = {drop.p:.4f}), and no report holds what its gates make of that: give the options of the gate that"
            " the shards were made with, or join them where their configuration is"
        )
    return one.gate


def _falls_by_itself(one: SkillResult, found: GateOutcome, drop: DropTest) -> bool:
    """Tell a drop that the gate fails however sure it is, as far as the outcome says what was allowed."""
    allowed = _ALLOWED.search(found.reason)
    try:
        most = float(allowed[1]) if allowed else float("inf")
    except ValueError:
        return False
    was = _then(one, Policy(max_drop=most))
    if was is None or regression("it", was, one, most, drop=one.drop) != found:
        return False
    return regression("it", was, one, most, drop=drop) == found
