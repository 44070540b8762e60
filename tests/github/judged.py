"""Runs at standard depth made by hand, for what a pull request is told of a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.action.comment.subject import Subject
from skillgate.model.report import Verdict
from tests.github.build import HOSTILE, REPOSITORY, RUN_URL, difference, run
from tests.report import judged

if TYPE_CHECKING:
    from skillgate.model.documents import ActionRun
    from skillgate.model.report import Report, SkillResult
    from tests.github.build import Pair

PASSED = Verdict(passed=True)


def before(**changes: Any) -> SkillResult:
    """Give the judged skill as it was: better, by the same judges on the same prompts unless told."""
    layer = judged.a_layer()
    item = judged.an_assessment(0.7, (7, 7, 7), ci_low=0.65, ci_high=0.75)
    found = layer._replace(assessments={**layer.assessments, judged.QUALITY: item}, **changes)
    skill = judged.a_judged_skill(found, gate=PASSED)
    moved = skill.dimensions[judged.QUALITY]._replace(score=0.7, ci_low=0.65, ci_high=0.75)
    dimensions = {**skill.dimensions, judged.QUALITY: moved}
    return skill._replace(composite=skill.composite._replace(score=74.0), dimensions=dimensions)


def told(record: ActionRun, report: Report, *pairs: Pair) -> Subject:
    """Tell of a run; its skills pass unless they say otherwise."""
    return Subject(record, report, difference(*pairs), REPOSITORY, RUN_URL)


def _of(report: Report) -> Report:
    results = tuple(result._replace(gate=PASSED) for result in report.results)
    return report._replace(results=results, gate=PASSED)


def new() -> Subject:
    """A new skill, judged by three."""
    report = _of(judged.three_judges())
    return told(run(), report, (None, report.results[0]))


def no_key() -> Subject:
    """One skill of two could not be judged, and the run passes all the same."""
    report = _of(judged.could_not_be_judged())
    reason = f"skills/silent was not measured: {judged.NO_KEY}"
    return told(run("pass", reason), report, *((None, result) for result in report.results))


def no_key_fails() -> Subject:
    """The same, and the run is not complete."""
    report = _of(judged.could_not_be_judged())
    reason = f"skills/silent was not measured: {judged.NO_KEY}"
    return told(run("error", reason), report, *((None, result) for result in report.results))


def other_judges() -> Subject:
    """The base was judged by another model."""
    report = _of(judged.three_judges())
    return told(run(), report, (before(models=(judged.HAIKU,) * 3), report.results[0]))


def one_judge() -> Subject:
    """One opinion, nothing in the cache."""
    report = _of(judged.one_judge())
    return told(run(), report, (None, report.results[0]))


def scripted() -> Subject:
    """The answers come from a script."""
    report = _of(judged.scripted())
    return told(run(), report, (None, report.results[0]))


def swayed() -> Subject:
    """Sections were cut, answers obeyed the text; the price of a model is not known."""
    report = _of(judged.cut_and_swayed())._replace(usage=judged.price_unknown().usage)
    return told(run(), report, (None, report.results[0]))


def fell() -> Subject:
    """A skill fell, and passes since that may be chance."""
    result = judged.a_fallen_skill()
    report = judged.a_judged_report(result, gate=PASSED)
    layer = judged.a_layer()
    item = judged.an_assessment(0.7, (6, 7, 8))
    then = judged.a_judged_skill(layer._replace(assessments={**layer.assessments, judged.QUALITY: item}), gate=PASSED)
    return told(run(), report, (then._replace(composite=then.composite._replace(score=76.5)), result))


def attacked() -> Subject:
    """Every text of the judge is an attack."""
    report = _of(judged.hostile(HOSTILE))
    return told(run(), report, *((None, result) for result in report.results))


SITUATIONS = {
    make.__name__.strip("_").replace("_", "-"): make
    for make in (new, no_key, no_key_fails, other_judges, one_judge, scripted, swayed, fell, attacked)
}
