"""Reports at deep and certify depth made by hand: a plain one, one cut short, an outage, hostile texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.format import Style
from skillgate.model.layers import (
    COMPLETED,
    FAILED,
    NOT_MEASURED,
    NOT_RUN,
    Arm,
    Estimate,
    Lift,
    LiftTask,
    Match,
    MonteCarloLayer,
    RankingLayer,
    Rating,
    Resumed,
    Simulation,
    Spread,
    TokenSpread,
)
from skillgate.model.report import Verdict
from skillgate.model.score import Badge, Depth, Dimension
from skillgate.report import judge
from skillgate.report import sessions as shown
from skillgate.report.formats import html, markdown, text
from skillgate.report.tally import answers_warning
from skillgate.report.view import Span, View
from tests.report import judged

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.model.report import Report, SkillResult
    from skillgate.report.view import Block

TRIGGERING, QUALITY, ROBUSTNESS = judged.TRIGGERING, judged.QUALITY, judged.ROBUSTNESS
SONNET, HAIKU = judged.SONNET, judged.HAIKU
MISSED = "The numbers from accounting do not load any more"
PASSED = Verdict(passed=True)


def blocks(result: SkillResult) -> tuple[Block, ...]:
    """Build all that is shown of what a model said of a skill."""
    return (*judge.skill_blocks(result), *shown.skill_blocks(result))


def view(report: Report) -> View:
    """Build a view of nothing but what a model said."""
    return View(
        "Sampled",
        facts=" · ".join((*judge.facts(report), *shown.facts(report))),
        reasons=tuple(Span(text, "poor") for text in answers_warning(report.results)),
        notes=(*judge.notes(report), *shown.notes(report)),
        blocks=tuple(block for result in report.results for block in blocks(result)),
        about=(*judge.about(report), *shown.about(report)),
    )


def brief(report: Report, width: int = 100) -> str:
    """Write that view for a terminal."""
    return text.write(view(report), Style(width=width))


def whole(report: Report, width: int = 100) -> str:
    """Write that view for a terminal that shows everything."""
    return text.write(view(report), Style(width=width), verbose=True)


WRITERS: dict[str, Callable[[Report], str]] = {
    "brief": brief,
    "whole": whole,
    "markdown": lambda report: markdown.write(view(report)),
    "html": lambda report: html.write(view(report)),
}


def a_run(prompt: str = "Import this CSV file", **changes: Any) -> Simulation:
    """Give a session in which all went well."""
    plain = Simulation(prompt, True, "direct", COMPLETED, None, True, 0.8, 5200, True, True, 2, ("one",))
    return plain._replace(**changes)


RUNS = (
    a_run(quality=0.9, tokens=5100),
    a_run(quality=0.8, tokens=5300),
    a_run("Load orders.csv", quality=0.3, tokens=7900, delivers=False),
    a_run("Load the feed", quality=0.7, tokens=5200, covers=False),
    a_run("Take these rows in", quality=0.8, tokens=5250),
    a_run(MISSED, style="indirect", activated=False, quality=0.4, tokens=None, loaded=()),
    a_run(MISSED, style="indirect", activated=False, quality=0.4, tokens=None, loaded=()),
    a_run("It stopped", style="indirect", outcome=FAILED, kind="refusal", quality=None, tokens=None, covers=None),
    a_run("It is late", outcome=NOT_MEASURED, kind="server", activated=None, quality=None, tokens=None, covers=None),
    a_run("Export the table as PDF", should_trigger=False, activated=False, quality=None, tokens=None, delivers=None),
    a_run("My spreadsheet is slow", should_trigger=False, quality=0.6, tokens=5150),
)
MEASURES = {
    "activation_rate": Estimate(0.75, 0.35, 0.97, 8),
    "activation_rate_wilson": Estimate(0.75, 0.41, 0.93, 8),
    "false_activation_rate": Estimate(0.5, 0.01, 0.99, 2),
    "precision": Estimate(0.857143, 0.42, 1.0, 7),
    "f1": Estimate(0.666667, 0.4, 0.85, 10),
    "quality": Estimate(0.7, 0.5, 0.82, 5),
    "quality_cv": Estimate(0.307, 0.1, 0.5, 5),
    "failure_rate": Estimate(0.1, 0.0025, 0.445, 10),
    "tokens": Estimate(5250.0, 5100.0, 7900.0, 5),
    "efficiency": Estimate(0.34375, 0.01, 0.36, 5),
    "orchestration": Estimate(0.8, 0.28, 0.99, 5),
    "scope": Estimate(None, n=3, reason="only 3 sessions say so, 5 are needed"),
}


def sessions(**changes: Any) -> MonteCarloLayer:
    """Give what eleven sessions say."""
    plain = MonteCarloLayer(
        duration_ms=12,
        simulations=9,
        completed=9,
        failed=1,
        not_measured=1,
        mc_score=0.7413,
        measures=MEASURES,
        prompts_digest="5f" * 16,
        near_misses=2,
        scores={TRIGGERING: MEASURES["f1"], QUALITY: MEASURES["quality"], ROBUSTNESS: Estimate(0.9, 0.555, 0.9975, 10)},
        tokens=TokenSpread(5250.0, 5200.0, 5300.0, 8, 1),
        spread={
            "activation_rate": Spread("wide", 0.31, "indirect", (MISSED,)),
            "quality": Spread("wide", 0.16, None, ()),
            "efficiency": Spread("stable", 0.02),
        },
        runs=RUNS,
        kinds={"refusal": 1, "server": 1},
        model=SONNET,
        grader=HAIKU,
        siblings=12,
        prompts_source="evals and generated",
        max_turns=10,
        usage=judged.USAGE,
    )
    return plain._replace(**changes)


MATCHES = (
    Match("csv-tools", "a" * 64, 1432.0, 1.0, ("win", "win"), won=(TRIGGERING,)),
    Match("sheet-merge", "b" * 64, 1560.0, 0.5, ("win", "loss"), position_bias=True),
    Match("table-maker", "c" * 64, 1611.0, 0.0, ("loss", "loss"), lost=(QUALITY,)),
    Match("feed-reader", "d" * 64, 1500.0, None, reason="not judged: the model refused"),
)


def ranking(**changes: Any) -> RankingLayer:
    """Give what three decided matches say."""
    plain = RankingLayer(
        duration_ms=3,
        matches=3,
        elo=Rating(1507.2, 1471.0, 1540.0),
        bradley_terry=Rating(1522.9, 1310.0, 1730.0),
        percentile=0.5,
        position_bias=Estimate(1 / 3, 0.01, 0.91, 3),
        nearest="sheet-merge",
        provisional=True,
        reason=None,
        played=MATCHES,
        won=(TRIGGERING,),
        lost=(QUALITY,),
        corpus="e" * 64,
        corpus_size=231,
        model=SONNET,
    )
    return plain._replace(**changes)


def a_task(name: str, with_skill: float | None, without: float | None, preferred: str | None = "with") -> LiftTask:
    """Give a task in both arms."""
    return LiftTask(name, f"Do {name}", Arm(COMPLETED, with_skill), Arm(COMPLETED, without), preferred)


LIFT = Lift(
    lift=Estimate(0.1833, -0.12, 0.46, 3),
    with_skill=Estimate(0.8, 0.6, 0.9, 3),
    without_skill=Estimate(0.6167, 0.4, 0.8, 3),
    wins=2,
    losses=1,
    p=0.25,
    tasks=(a_task("load", 0.9, 0.4), a_task("merge", 1.0, 0.75), a_task("describe", 0.5, 0.7, "without")),
    unsupported=("evals/evals.json: python",),
    model=SONNET,
    grader=HAIKU,
)


def a_simulated_skill(
    layer: MonteCarloLayer | None = None, matches: RankingLayer | None = None, path: str = "skills/one", **changes: Any
) -> SkillResult:
    """Give a skill with a judge's layer and sessions; with matches, an Elo."""
    plain = judged.a_judged_skill(path=path)
    layers = (*plain.layers, layer or sessions(), *((matches,) if matches else ()))
    result = plain._replace(layers=layers)
    if matches is not None:
        elo = None if matches.elo is None else round(matches.elo.rating, 2)
        reason = matches.reason if elo is None else None
        result = result._replace(composite=result.composite._replace(elo=elo, elo_reason=reason))
    return result._replace(**changes)


def a_simulated_report(*results: SkillResult, **changes: Any) -> Report:
    """Give a report at certify depth."""
    plain = judged.a_judged_report(*(results or (a_simulated_skill(matches=ranking()),)))
    return plain._replace(depth=Depth.CERTIFY, coverage=1.0, **changes)


def certified() -> Report:
    """Sessions, matches and lift of one skill."""
    return a_simulated_report(a_simulated_skill(matches=ranking(), lift=LIFT))


def deep() -> Report:
    """Sessions of one skill, no ranking."""
    return a_simulated_report(a_simulated_skill())._replace(depth=Depth.DEEP)


def stopped_early() -> Report:
    """The run ended once the gates were decided: rates are bounds."""
    told = {
        "activation_rate": Estimate(0.25, 0.1, 0.7, 4, "bounds over all sessions"),
        "quality": Estimate(None, reason="the run ended early"),
        "failure_rate": Estimate(0.0, 0.0, 0.6, 4, "bounds over all sessions"),
    }
    left = tuple(a_run(f"prompt {number}", outcome=NOT_RUN, activated=None, quality=None) for number in range(6))
    layer = sessions(
        completed=4,
        failed=0,
        not_measured=0,
        measures=told,
        scores={},
        spread={},
        tokens=None,
        mc_score=None,
        mc_reason="the run ended early",
        stopped_early="after 4 of 10 sessions: min-activation 0.8 cannot be reached any more",
        runs=(*RUNS[:4], *left),
        kinds={},
    )
    return a_simulated_report(a_simulated_skill(layer))._replace(depth=Depth.DEEP)


def outage() -> Report:
    """No session could be measured, and there is no corpus."""
    why = "11 of 11 sessions were not measured (server 11): the server answered 529"
    nothing = dict.fromkeys(MEASURES, Estimate(None, reason=why))
    gone = tuple(run._replace(outcome=NOT_MEASURED, kind="server", activated=None, quality=None) for run in RUNS)
    layer = sessions(
        completed=0, failed=0, not_measured=11, measures=nothing, scores={}, spread={}, tokens=None, mc_score=None
    )
    layer = layer._replace(reason=why, mc_reason=why, runs=gone, kinds={"server": 11})
    without = RankingLayer(0, 0, None, None, None, reason="there is no corpus to rank against", live=False)
    return a_simulated_report(a_simulated_skill(layer, without))


def scripted() -> Report:
    """Answers of sessions and matches come from a script."""
    layer = sessions(provider="scripted", live=False)
    return a_simulated_report(a_simulated_skill(layer, ranking(provider="scripted", live=False)))


def resumed() -> Report:
    """One of four parts, gone on with after it was cut short."""
    return a_simulated_report(resumed=Resumed(230, 3, 1.25), shard="2/4")


def several() -> Report:
    """Two skills, one of which earned its badge with its Elo."""
    best = a_simulated_skill(matches=ranking(provisional=False, elo=Rating(1650.0, 1600.0, 1700.0)), path="skills/two")
    best = best._replace(composite=best.composite._replace(score=91.0, badge=Badge.PLATINUM, badge_reason=None))
    return a_simulated_report(a_simulated_skill(matches=ranking(hindrance="no opponent is above 1,600")), best)


def hostile(text: str, path: str = "skills/one") -> Report:
    """Give a report in which every text of a model, a skill, an opponent or a provider is the given one."""
    run = a_run(text, style=text, kind=text, ungraded=text, loaded=(text,))
    runs = (
        run._replace(outcome=FAILED),
        run._replace(outcome=NOT_MEASURED, activated=None),
        run._replace(activated=False),
        run._replace(quality=None),
        run._replace(quality=0.1, delivers=False, covers=False),
    )
    nothing = Estimate(None, reason=text)
    layer = sessions(
        runs=runs,
        reason=text,
        stopped_early=text,
        short=text,
        mc_score=None,
        mc_reason=text,
        model=text,
        grader=text,
        provider=text,
        live=False,
        runner=text,
        siblings_source=text,
        prompts_source=text,
        answered_by=(text,),
        obeyed=2,
        measures={**MEASURES, "scope": nothing, "quality": nothing},
        spread={"quality": Spread("wide", 0.2, text, (text, text))},
    )
    match = Match(text, text, 1500.0, None, (text,), reason=text)
    matches = ranking(
        played=(match, MATCHES[0]._replace(opponent=text)), nearest=text, reason=text, hindrance=text, corpus=text
    )
    arm = Arm(FAILED, None, reason=text)
    task = LiftTask(text, text, arm, arm, text)
    lift = Lift(nothing, nothing, nothing, tasks=(task, a_task(text, 0.1, 0.9)), reason=text, unsupported=(text,))
    skill = a_simulated_skill(layer, matches, path, lift=lift)
    nowhere = Lift(Estimate(0.1, 0.0, 0.2, 2), nothing, nothing, tasks=(a_task(text, 0.1, 0.9),), source=text)
    other = a_simulated_skill(layer, matches._replace(elo=None), f"{path}/2", lift=nowhere)
    return a_simulated_report(skill, other, shard=text, resumed=Resumed(1, 1, None))


REPORTS = {
    make.__name__.replace("_", "-"): make
    for make in (certified, deep, stopped_early, outage, scripted, resumed, several)
}
SIMULATED = (TRIGGERING, Dimension.ORCHESTRATION_FITNESS, QUALITY, Dimension.SCOPE_CALIBRATION, ROBUSTNESS)
