"""Runs the sampled layers: connects to a provider, drives the judge over all skills, and says what it is doing."""

from __future__ import annotations

import os
import time
from collections import Counter
from functools import partial, reduce
from typing import TYPE_CHECKING, NamedTuple

from skillgate.cli.findings import read_whole
from skillgate.deepen import Deepened
from skillgate.errors import UsageError
from skillgate.judge import calibration
from skillgate.judge.calibration import calibrate
from skillgate.judge.dossier import Unjudged, dossier
from skillgate.judge.layer import judge
from skillgate.judge.pooling import agreement
from skillgate.judge.siblings import Shelves
from skillgate.judge.subject import Judged, Panel, Ratings
from skillgate.judge.trust import trust
from skillgate.llm import driver, dry
from skillgate.model.exchange import Together
from skillgate.model.finding import Hit
from skillgate.model.judging import JudgeLayer
from skillgate.scoring.result import Deeper
from skillgate.static.layer import claim, judged_rule

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Sequence

    from skillgate.cli.session import Session
    from skillgate.deepen import Asked
    from skillgate.llm.answers import Answers
    from skillgate.llm.port import Asker, Progress, Provider
    from skillgate.model.calibration import Calibration
    from skillgate.model.exchange import Steps
    from skillgate.model.finding import Claim
    from skillgate.model.judging import Agreement, TriggerPrompt
    from skillgate.model.skill import SkillRoot

UNASKED_USD = 10.0  # the estimate up to which nobody is asked
WATCH_S = 0.2  # between two drawings of the progress


class Bench(NamedTuple):
    """Who judges and who answers.

    Attributes:
        panel: the judges.
        asker: answers requests.
        in_flight: how many may be on their way at once.
        stop: once it is set nothing waits any more.
        spent: says how the budget ended the run early, None where it did not.
        provider: who answers.
        answers: those of earlier runs, None for none.
        limits: the most that may be spent, in US dollars, and the most calls; None for none.
    """

    panel: Panel
    asker: Asker
    in_flight: int
    stop: threading.Event
    spent: Callable[[], str | None]
    provider: Provider
    answers: Answers | None
    limits: tuple[float | None, int | None]


class Deepener:
    """Judges the skills that are asked about, as ``pipeline.Context.deepen`` asks for; may be called several times."""

    def __init__(self, bench: Bench, session: Session, *, calibration: str | None = None) -> None:
        """Take who judges, where to say how far it is, and a file of ratings that people gave too."""
        self._bench = bench
        self._session = session
        self._calibration = None if calibration is None else load_calibration(calibration, session.cwd)
        self._shelves = Shelves()
        self._agreed = False

    def __call__(self, asked: Sequence[Asked]) -> Deepened:
        """Judge them all, several at a time; what cannot be judged is said so and stops none of the others.

        Raises:
            KeyboardInterrupt: the user wants no more; answers that came are kept.
        """
        bench, panel = self._bench, self._bench.panel
        wanted = [one for one in asked if one.facts.unscored is None]
        layers = [partial(self._layer, one) for one in wanted]
        self._agree(layers)
        watch = _watch(self._session, len(layers))
        try:
            found = list(driver.run(layers, bench.asker, in_flight=bench.in_flight, watch=watch, stop=bench.stop))
        except KeyboardInterrupt:
            self._session.note("interrupted: the answers that came are kept; the same command goes on from them")
            raise
        finally:
            if watch is not None:
                self._session.show_progress("\r" + " " * 79 + "\r")
        judges = len(panel.opinions)
        agreed = agreement([one.ratings for one in found], judges) if judges > 1 else None
        skills = {str(one.source.root.path): _unscored(one) for one in asked if one.facts.unscored is not None}
        for one, judged in zip(wanted, found, strict=True):
            skills[str(one.source.root.path)] = deeper(self._calibrated(judged), agreed, one.source.root)
        models = tuple(dict.fromkeys(opinion.model for opinion in panel.opinions))
        known = None if self._calibration is None else trust(self._calibration, [one.layer for one in found])
        return Deepened(skills, agreed, models, bench.spent(), known)

    def _calibrated(self, judged: Judged) -> Judged:
        return (
            judged if self._calibration is None else judged._replace(layer=calibrate(self._calibration, judged.layer))
        )

    def _agree(self, layers: Sequence[Callable[[], Steps[Judged]]]) -> None:
        """Ask before much is spent without a limit.

        Raises:
            UsageError: the estimate is high, and there is no limit and nobody to ask, or somebody said no.
        """
        bench = self._bench
        if self._agreed or not bench.provider.live or any(limit is not None for limit in bench.limits):
            return
        self._agreed = True
        cost = dry.estimate(layers, answers=bench.answers, provider=bench.provider).cost_usd
        if cost is None or cost.high <= UNASKED_USD:
            return
        about = f"this run may cost about ${cost.low:.2f} to ${cost.high:.2f}"
        if not self._session.interactive:
            raise UsageError(f"{about}: give --max-cost-usd, or see what it would ask with --dry-run")
        if not self._session.confirm(f"{about}; go on?"):
            raise UsageError(f"{about}, and was not begun")

    def _layer(self, asked: Asked) -> Steps[Judged]:
        """Begin to judge one skill: its files are read when its turn comes, and not kept after it."""
        return layer_of(asked, self._bench.panel, self._shelves)


class Estimator:
    """Finds out what judging would ask and cost, in the place of a :class:`Deepener`; nothing is sent."""

    def __init__(self, bench: Bench) -> None:
        """Take who would judge."""
        self._bench = bench
        self._forecasts: list[dry.Forecast] = []

    def __call__(self, asked: Sequence[Asked]) -> Deepened:
        """Count what these skills would ask; none of them gets a score."""
        panel, shelves = self._bench.panel, Shelves()
        wanted = [one for one in asked if one.facts.unscored is None]
        layers = [partial(layer_of, one, panel, shelves) for one in wanted]
        self._forecasts.append(dry.estimate(layers, answers=self._bench.answers, provider=self._bench.provider))
        return Deepened()

    def text(self) -> str:
        """Say it for people."""
        cost, calls = self._bench.limits
        return "\n".join(dry.lines(_together(self._forecasts), max_cost_usd=cost, max_calls=calls))


def _together(forecasts: Sequence[dry.Forecast]) -> dry.Forecast:
    """Add up what a run asks about a baseline and about what is here."""
    calls: Counter[str] = Counter()
    for one in forecasts:
        calls.update(dict(one.models))
    costs = [one.cost_usd for one in forecasts]
    known = [cost for cost in costs if cost is not None]
    none = dry.Span(0, 0)
    return dry.Forecast(
        layers=sum(one.layers for one in forecasts),
        calls=sum(one.calls for one in forecasts),
        cached=sum(one.cached for one in forecasts),
        input_tokens=reduce(dry.Span.plus, (one.input_tokens for one in forecasts), none),
        output_tokens=reduce(dry.Span.plus, (one.output_tokens for one in forecasts), none),
        cost_usd=reduce(dry.Span.plus, known, none) if len(known) == len(costs) else None,
        models=tuple(sorted(calls.items())),
        unpriced=tuple(sorted({name for one in forecasts for name in one.unpriced})),
    )


def load_calibration(path: str, cwd: str) -> Calibration:
    """Read a calibration document.

    Raises:
        UsageError: it cannot be read, or is none.
    """
    return calibration.read(read_whole(os.path.join(cwd, path), path, "the calibration"), path)  # noqa: PTH118


def layer_of(asked: Asked, panel: Panel, shelves: Shelves) -> Steps[Judged]:
    """Give the generator that judges a skill; where it was judged before, on the prompts of then."""
    found = dossier(asked.source, asked.facts, shelves=shelves)
    if isinstance(found, Unjudged):
        return _not_judged(found.reason, panel)
    before = _prompts(asked)
    if before is not None:
        found = found._replace(prompts=before, prompts_source="baseline")
    return judge(found, panel, time.perf_counter_ns)


def _not_judged(reason: str, panel: Panel) -> Steps[Judged]:
    yield Together(())
    layer = JudgeLayer(0, len(panel.opinions), None, reason=reason, provider=panel.provider, live=panel.live)
    return Judged(layer, Ratings(), failure=reason)


def deeper(judged: Judged, agreed: Agreement | None, root: SkillRoot) -> Deeper:
    """Give what scoring needs of a judged skill."""
    layer = judged.layer
    if agreed is not None:
        layer = layer._replace(
            agreement=agreed,
            kappa=agreed.kappa,
            kappa_reason=agreed.kappa_reason,
            kappa_trigger=agreed.kappa_trigger,
        )
    return Deeper(
        layers=(layer,),
        scores=layer.assessments,
        failure=f"not judged: {judged.failure}" if judged.failure and _has_gap(layer) else None,
        usage=layer.usage,
        claims=tuple(_claims(judged, root)),
    )


def _has_gap(layer: JudgeLayer) -> bool:
    """Tell whether a dimension has no score: where one of several judges gave none, the others do."""
    return not layer.assessments or any(one.score is None for one in layer.assessments.values())


def _unscored(asked: Asked) -> Deeper:
    return Deeper(failure=f"not judged: {asked.facts.unscored}")


def _prompts(asked: Asked) -> tuple[TriggerPrompt, ...] | None:
    """Give the prompts that the baseline was judged on, without what was predicted then."""
    layers = asked.before.layers if asked.before else ()
    for layer in layers:
        if isinstance(layer, JudgeLayer) and layer.triggering is not None and layer.triggering.prompts:
            return tuple(prompt._replace(predicted=()) for prompt in layer.triggering.prompts)
    return None


def _claims(judged: Judged, root: SkillRoot) -> Iterator[Claim]:
    for problem in judged.problems:
        hit = Hit(problem.span, problem.message)
        yield claim(judged_rule(problem.rule), hit, problem.file or root.file_name, "judge")


def _watch(session: Session, skills: int) -> Callable[[Progress], None] | None:
    """Draw a line on stderr where somebody is looking."""
    if session.quiet or not session.stderr.isatty():
        return None
    drawn = [-WATCH_S]

    def show(now: Progress) -> None:
        if now.elapsed_s - drawn[0] < WATCH_S and now.layers_done < now.layers:
            return
        drawn[0] = now.elapsed_s
        session.show_progress("\r" + progress_line(now, skills).ljust(79)[:79])

    return show


def progress_line(now: Progress, skills: int) -> str:
    """Say how far a run is: skills, calls, cost, and how long the rest takes if it goes on like this."""
    cost = "cost unknown" if now.cost_usd is None else f"${now.cost_usd:.2f}"
    failed = f" · {now.failed} failed" if now.failed else ""
    left = ""
    if 0 < now.layers_done < skills:
        seconds = int(now.elapsed_s / now.layers_done * (skills - now.layers_done))
        left = f" · about {seconds // 60}:{seconds % 60:02d} left"
    return f"judged {now.layers_done} of {skills} · {now.calls} answers, {now.cached} kept{failed} · {cost}{left}"
