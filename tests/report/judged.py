"""Reports at standard depth made by hand: one judge, three, none that answered, answers of a script, …"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.model.layers import (
    Agreement,
    Assessment,
    Cut,
    DropTest,
    Estimate,
    JudgeLayer,
    Quotation,
    Triggering,
    TriggerPrompt,
    Trust,
    Usage,
)
from skillgate.model.report import (
    Advice,
    Composite,
    DimensionScore,
    GateOutcome,
    StaticLayer,
    SubCheckScore,
    Verdict,
)
from skillgate.model.score import Badge, Depth, Dimension, Evidence, Grade, Outcome
from tests.report.reports import a_finding, a_report, a_skill

if TYPE_CHECKING:
    from skillgate.model.report import Report, SkillResult

SONNET, HAIKU = "claude-sonnet-5-5", "claude-haiku-5-5"
NO_KEY = "not judged: the provider anthropic has no key"
ONE_JUDGE = "one judge gives no interval"
TRIGGERING, QUALITY = Dimension.TRIGGERING_ACCURACY, Dimension.OUTPUT_QUALITY
ORCHESTRATION, ROBUSTNESS = Dimension.ORCHESTRATION_FITNESS, Dimension.ROBUSTNESS

PROMPTS = (
    TriggerPrompt("Import this CSV file into the orders table", True, "direct", (True, True, True)),
    TriggerPrompt("The numbers from accounting do not load any more", True, "indirect", (False, False, True)),
    TriggerPrompt("Export the orders table as a PDF", False, "direct", (False, False, False)),
    TriggerPrompt("My spreadsheet is too slow", False, "indirect", (True, False, False)),
)
AGREEMENT = Agreement(
    judges=3,
    items=84,
    kappa=0.71,
    kappa_ci_low=0.58,
    kappa_ci_high=0.81,
    kappa_trigger=0.8,
    predictions=30,
    icc=0.68,
    agreement=0.62,
    within_one=0.93,
)
USAGE = Usage(calls=4, cached=14, input_tokens=41_000, output_tokens=9_000, cost_usd=0.0312)


def an_assessment(score: float | None = 0.5333, ratings: tuple[int, ...] = (5, 5, 6), **changes: Any) -> Assessment:
    """Give what three judges said of a dimension."""
    plain = Assessment(
        score,
        reasoning=tuple(
            f"The steps never say what a failed import returns. Judge {number} would not know."
            for number, _ in enumerate(ratings, 1)
        ),
        quotations=(Quotation("just retry until it works", "SKILL.md", 88, 2),),
        ratings=ratings,
        ci_low=0.3899,
        ci_high=0.6767,
    )
    return plain._replace(**changes)


def a_triggering(judges: int = 3, prompts: tuple[TriggerPrompt, ...] = PROMPTS) -> Triggering:
    """Give what the predictions say."""
    kept = tuple(prompt._replace(predicted=prompt.predicted[:judges]) for prompt in prompts)
    return Triggering(
        f1=Estimate(0.71, 0.48, 0.9, 12),
        recall=Estimate(0.67, 0.3, 0.93, 6),
        false_alarms=Estimate(0.17, 0.0, 0.64, 6),
        precision=Estimate(0.8, 0.4, 0.97, 5),
        prompts=kept,
        digest="5f" * 32,
        siblings=12,
    )


def a_layer(models: tuple[str, ...] = (SONNET,) * 3, **changes: Any) -> JudgeLayer:
    """Give what judges say of a skill."""
    several = len(models) > 1
    interval: dict[str, Any] = {} if several else {"ci_low": None, "ci_high": None, "ci_reason": ONE_JUDGE}
    given = (5, 5, 6)[: len(models)]
    plain = JudgeLayer(
        duration_ms=12,
        judges=len(models),
        kappa=AGREEMENT.kappa if several else None,
        models=models,
        assessments={
            TRIGGERING: Assessment(0.71, ci_low=0.48, ci_high=0.9),
            ORCHESTRATION: an_assessment(
                0.9,
                (9,) * len(models),
                **{"ci_low": 0.85, "ci_high": 0.95, **interval, "reasoning": ("A worker.",) * len(models)},
            ),
            QUALITY: an_assessment(ratings=given, **interval),
            ROBUSTNESS: an_assessment(None, (), reasoning=(), quotations=(), reason="the model refused", **interval),
        },
        agreement=AGREEMENT if several else None,
        triggering=a_triggering(len(models)),
        prompt_version="1",
        rubric_version="1",
        usage=USAGE,
    )
    return plain._replace(**changes)


def a_judged_skill(layer: JudgeLayer | None = None, path: str = "skills/one", **changes: Any) -> SkillResult:
    """Give a skill with everything that standard depth knows of it."""
    layer = layer or a_layer()
    several = layer.judges > 1
    ends = {"ci_low": 66.4, "ci_high": 78.6} if several else {"ci_reason": ONE_JUDGE}
    check = SubCheckScore(
        0.82,
        TRIGGERING,
        evidence=(Evidence("name", 0.15, 0.15, line=2), Evidence("no sign of “proactively”", 0.0, 0.09, line=3)),
    )
    result = a_skill(
        a_finding(path=f"{path}/SKILL.md"),
        path=path,
        composite=Composite(72.5, Badge.SILVER, badge_reason="Gold needs 7.50 more points", **ends),
        dimensions={
            TRIGGERING: _dimension(0.7513, 0.25, (0.61, 0.87) if several else None),
            ORCHESTRATION: _dimension(0.875, 0.2, (0.86, 0.89) if several else None),
            QUALITY: _dimension(0.5333, 0.15, (0.3899, 0.6767) if several else None),
            ROBUSTNESS: DimensionScore(None, None, weight=0.05, reason="not judged: the model refused"),
        },
        layers=(StaticLayer(duration_ms=1, sub_checks={"frontmatter_quality": check}), layer),
        advice=(Advice("say when to use it", TRIGGERING, 11.8, "low", 0.75, 0.95, line=3, gain_per_hour=11.8),),
        coverage=0.95,
        usage=layer.usage,
    )
    return result._replace(**changes)


def _dimension(score: float, weight: float, ends: tuple[float, float] | None) -> DimensionScore:
    low, high = ends or (None, None)
    reason = None if ends else ONE_JUDGE
    return DimensionScore(score, Grade.of(score), low, high, weight=weight, ci_reason=reason)


def unjudged(path: str = "skills/silent", reason: str = NO_KEY) -> SkillResult:
    """Give a skill that no judge answered about."""
    layer = JudgeLayer(duration_ms=0, judges=3, kappa=None, models=(SONNET,) * 3, reason=reason)
    return a_judged_skill(
        layer,
        path,
        composite=Composite(None, None, reason=reason),
        dimensions={QUALITY: DimensionScore(None, None, weight=0.15, reason=reason)},
        advice=(),
        findings=(),
    )


def a_judged_report(*results: SkillResult, **changes: Any) -> Report:
    """Give a report at standard depth."""
    report = a_report(*(results or (a_judged_skill(),)))
    judged = any(result.composite.score is not None for result in report.results)
    plain = report._replace(
        depth=Depth.STANDARD,
        coverage=0.95 if judged else None,
        models=(SONNET,),
        usage=USAGE,
        agreement=AGREEMENT,
    )
    return plain._replace(**changes)


def one_judge() -> Report:
    """One opinion: no interval, no agreement."""
    return a_judged_report(a_judged_skill(a_layer((SONNET,))), agreement=None)


def three_judges() -> Report:
    """Three opinions of one model on one skill."""
    return a_judged_report()


def could_not_be_judged() -> Report:
    """One skill is judged, for another there is no key."""
    return a_judged_report(a_judged_skill(), unjudged())


def scripted() -> Report:
    """The answers come from a script."""
    return a_judged_report(a_judged_skill(a_layer(provider="scripted", live=False)))


def cut_and_swayed() -> Report:
    """Sections were cut, answers obeyed the text, passages swayed the judge."""
    layer = a_layer(
        cut=(Cut("references/dialects.md", "Every dialect", 120, 900),),
        unread=("references/logo.png",),
        obeyed=2,
        swayed={QUALITY: 0.2, ORCHESTRATION: -0.1},
    )
    return a_judged_report(a_judged_skill(layer))


def all_cached() -> Report:
    """Nothing was asked anew."""
    return a_judged_report(usage=Usage(cached=18))


def price_unknown() -> Report:
    """There is no price for one of two models."""
    models = (SONNET, "house-model", "house-model")
    usage = Usage(calls=18, cost_usd=None, cost_reason="no price for house-model", retries=2)
    return a_judged_report(a_judged_skill(a_layer(models)), usage=usage)


def calibrated() -> Report:
    """A calibration set says what people would give; too few ratings for kappa."""
    layer = a_layer()
    told = layer.assessments[QUALITY]._replace(corrected=Estimate(0.61, 0.48, 0.74, 40), dropped=2)
    agreement = Agreement(judges=3, items=12, kappa_reason="12 ratings, 40 are needed", agreement=0.5)
    skill = a_judged_skill(layer._replace(assessments={**layer.assessments, QUALITY: told}))
    return a_judged_report(skill, agreement=agreement)


BY_CHANCE = "inconclusive: it went 76.50 → 72.50, which the paired test does not distinguish from chance"
DROP = DropTest(4.0, 0.2, 0.2113, 19, 9.04, 0.0357)


def a_fallen_skill(path: str = "skills/one", test: DropTest = DROP) -> SkillResult:
    """Give a skill that fell, and passes since that may be chance."""
    outcome = GateOutcome("regression", Outcome.PASS, f"{BY_CHANCE} (p = 0.21; the least drop it would see is 9.0)")
    return a_judged_skill(path=path, gate=Verdict(passed=True, outcomes=(outcome,)), drop=test)


def fell_by_chance() -> Report:
    """One skill fell, which may be chance; another stands."""
    two = a_judged_skill(path="skills/two", gate=Verdict(passed=True))
    return a_judged_report(a_fallen_skill(), two, gate=Verdict(passed=True))


def a_trust(kappa: float | None = 0.62, acceptable: float | None = 0.64) -> Trust:
    """Give what people say of the judge."""
    return Trust(
        items=40,
        skills=12,
        kappa=Estimate(kappa, kappa - 0.2, kappa + 0.18, 40)
        if kappa is not None
        else Estimate(None, reason="4 labels, 20 are needed"),
        sensitivity=Estimate(0.9, 0.7, 0.98, 25),
        specificity=Estimate(0.71, 0.5, 0.86, 15),
        acceptable=Estimate(acceptable, 0.5, 0.78, 84)
        if acceptable is not None
        else Estimate(None, reason="the judge passes what people do not as often as what they do"),
    )


def people_agree() -> Report:
    """People were asked, and bear the judge out."""
    return a_judged_report(calibration=a_trust())


def people_disagree() -> Report:
    """People were asked, and do not bear the judge out."""
    return a_judged_report(calibration=a_trust(-0.12, None))


def one_judge_is_missing() -> Report:
    """Two of three judges answered about one dimension."""
    layer = a_layer()
    item = layer.assessments[QUALITY]
    fewer = item._replace(reasoning=("Said the first that answered.", "Said the last."), ratings=(5, 6))
    return a_judged_report(a_judged_skill(layer._replace(assessments={**layer.assessments, QUALITY: fewer})))


def nothing_was_judged() -> Report:
    """No judge answered, for a reason that does not fit a line."""
    reason = (
        "not judged: there is no key for the provider anthropic: set ANTHROPIC_API_KEY, or log in as its client does"
    )
    why = reason.removeprefix("not judged: ")
    told = {QUALITY: why, ORCHESTRATION: f"stopped: {why}", ROBUSTNESS: reason}
    gaps = {key: DimensionScore(None, None, weight=0.1, reason=text) for key, text in told.items()}
    return a_judged_report(unjudged(reason=reason)._replace(dimensions=gaps))


def hostile(text: str, path: str = "skills/one") -> Report:
    """Give a report in which every text of a model, a skill or a provider is the given one."""
    said = an_assessment(reasoning=(text, text), quotations=(Quotation(text, text, 3),), ci_low=None, ci_high=None)
    said = said._replace(ci_reason=text, corrected=Estimate(None, reason=text))
    layer = a_layer(
        (text, text),
        reason=text,
        provider=text,
        live=False,
        assessments={QUALITY: said, ROBUSTNESS: Assessment(None, reason=text), TRIGGERING: Assessment(0.3)},
        triggering=a_triggering(prompts=(TriggerPrompt(text, True, text, (False, None)),))._replace(source=text),
        cut=(Cut(text, text, 1, 2),),
        unread=(text,),
        prompt_version=text,
    )
    usage = Usage(calls=1, cost_usd=None, cost_reason=text)
    agreement = Agreement(judges=2, kappa_reason=text, kappa_trigger_reason=text, icc_reason=text)
    outcome = GateOutcome("regression", Outcome.PASS, f"inconclusive: {text}")
    skill = a_judged_skill(layer, path, drop=DropTest(None, reason=text), gate=Verdict(None, (outcome,)))
    skill = skill._replace(composite=Composite(40.0, None, ci_reason=text))
    nothing = Estimate(None, reason=text)
    return a_judged_report(
        skill,
        unjudged(f"{path}/2", text),
        usage=usage,
        agreement=agreement,
        models=(text,),
        calibration=Trust(1, 1, nothing, nothing, nothing, nothing),
    )


REPORTS = {
    make.__name__.replace("_", "-"): make
    for make in (
        one_judge,
        three_judges,
        could_not_be_judged,
        scripted,
        cut_and_swayed,
        all_cached,
        price_unknown,
        calibrated,
        fell_by_chance,
        people_agree,
        people_disagree,
        one_judge_is_missing,
        nothing_was_judged,
    )
}
