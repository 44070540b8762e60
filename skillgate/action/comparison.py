"""Evaluate the base of a change, and compare the head with it."""

from __future__ import annotations

from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from skillgate import __version__, settings
from skillgate.action.base.files import read_of_base
from skillgate.action.base.waivers import BaseSkill, BaseWaivers
from skillgate.action.discovery import excluded_paths, requested_paths
from skillgate.evaluation.baseline.loading import BaselineOptions, load_baseline
from skillgate.model.diff import DiffSide
from skillgate.report.across_change import across_findings
from skillgate.report.diff import Siblings, diff

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from skillgate.action.context import RunContext
    from skillgate.evaluation import pipeline
    from skillgate.evaluation.pipeline import Baseline
    from skillgate.model.assessment import Assessment
    from skillgate.model.diff import Diff
    from skillgate.model.finding import Finding
    from skillgate.model.report import Report, SkillResult
    from skillgate.model.skill import SkillSource
    from skillgate.scoring.gate import Policy
    from skillgate.session import Session
    from skillgate.skill.discover import Discovery


class BaseSkills(NamedTuple):
    """What the base of a change knows of its skills.

    Attributes:
        waivers: which comments may set findings aside.
        moved: the other places of a skill, where the change began and at the tip of the base branch, by its path now.
        results: what each skill is at the tip, or else was where the change began, by its path now.
    """

    waivers: BaseWaivers
    moved: Mapping[str, Collection[str]]
    results: Mapping[str, SkillResult]


def evaluate_base(
    context: RunContext, found: Discovery, session: Session, evaluator: pipeline.Evaluator
) -> tuple[Baseline | None, BaseSkills | None]:
    """Evaluate what is compared with, and the base of a change: where it began, and the tip whose policy holds."""
    options = BaselineOptions(
        reading=read_of_base(context),
        notes_missing=False,
        top=context.checkout.top,
        excluded=excluded_paths(context),
        committed=True,
        name=context.checkout.name,
    )

    @cache
    def at(value: str) -> tuple[Baseline, Mapping[str, BaseSkill]]:
        known: dict[str, BaseSkill] = {}
        config = context.config.with_options({settings.BASELINE.key: value})
        assessor = evaluator.assessor._replace(assess=_recording(evaluator.assessor.assess, known))
        recording = evaluator._replace(assessor=assessor)
        base = load_baseline(config, found.roots, requested_paths(context), session, recording, options)
        return base, {path: known[one.skill.path] for path, one in base.results.items() if one.skill.path in known}

    compared = context.compared.commit or context.compared.value
    baseline = None if compared is None else at(compared)[0]
    if context.base.commit is None:
        return baseline, None
    (start, before), (tip, now) = at(context.base.commit), at(context.base.tip or context.base.commit)
    moved: dict[str, set[str]] = {}
    for place, path in (*start.moves.items(), *tip.moves.items()):
        moved.setdefault(path, set()).add(place)
    waivers = BaseWaivers(now, {str(root.path): root for root in found.roots}, start=before)
    return baseline, BaseSkills(waivers, moved, {**start.results, **tip.results})


def difference(
    context: RunContext,
    report: Report,
    baseline: Baseline,
    beside: Sequence[str],
    policy_of: Callable[[PurePosixPath], Policy],
    across: Sequence[Finding],
) -> Diff:
    """Compare both sides, but for skills that the report names only for what they share with another (``beside``).

    ``across`` holds every finding across skills at the head, whether or not the report is about its skills.
    """
    results = [result for result in report.results if result.skill.path not in beside]
    pairs = [
        *((baseline.results.get(result.skill.path), result) for result in results),
        *((result, None) for result in baseline.gone),
    ]
    shown = {result.skill.path for result in results}
    others = Siblings(
        before=across_findings(result for path, result in baseline.results.items() if path not in shown),
        after=tuple(finding for finding in across if str(finding.path.parent) not in shown),
        paths=tuple((result.skill.path, path) for path, result in baseline.results.items() if path not in shown),
    )
    commit, head = context.compared.commit, context.base.head
    label = commit[:12] if commit else context.compared.how
    return diff(
        pairs,
        a=DiffSide(label=label, commit=commit, tool=__version__),
        b=DiffSide(label=head[:12] or "here", commit=head or None, tool=__version__),
        max_drop=lambda path: policy_of(PurePosixPath(path)).max_drop,
        listing=report.listing,
        across=report.across,
        profile=report.profile,
        digest=report.config_digest,
        version=__version__,
        beside=others,
    )


def _recording(assess: pipeline.Assess, known: dict[str, BaseSkill]) -> pipeline.Assess:
    """Record what is known of each skill by its shown path."""

    def recorded(sources: Sequence[SkillSource]) -> Iterator[Assessment]:
        for source, facts in zip(sources, assess(sources), strict=True):
            known[str(source.root.path)] = BaseSkill(source.root, facts)
            yield facts

    return recorded
