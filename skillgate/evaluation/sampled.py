"""Ask models about the skills of a run: cost approval, progress and results."""

from __future__ import annotations

import importlib
import json
import os
import threading
from collections import Counter
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial, reduce
from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings
from skillgate.config import Config, config_digest
from skillgate.errors import UsageError
from skillgate.evaluation import pipeline
from skillgate.evaluation.models import LayerResults, Models, ModelSetup, layer_of, models_of
from skillgate.evaluation.pipeline import Deepened, SampledLayers, SampledSkill, total
from skillgate.evaluation.request import SIMULATED, CompareRequest, EvaluateRequest, ModelOptions, read_whole
from skillgate.files import require_folder, write
from skillgate.format import plural
from skillgate.judge.siblings import Shelves
from skillgate.llm import estimates, prices
from skillgate.model.finding import Claim, Hit, Severity
from skillgate.model.layers import FAILED, Agreement, Estimate, JudgeLayer, MonteCarloLayer, RankingLayer
from skillgate.model.report import Layer, Report, SkillResult, StaticLayer
from skillgate.model.skill import EntryKind, SkillRoot, SkillSource, Unreadable, digest
from skillgate.registry import PROVIDERS
from skillgate.scoring.gate import NOT_RANKED, sampled_layers
from skillgate.scoring.result import Deeper
from skillgate.skill.find import read
from skillgate.static.layer import claim, judged_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from skillgate.console import Console
    from skillgate.judge.subject import Judged, Panel
    from skillgate.llm.port import Progress
    from skillgate.model.exchange import Steps
    from skillgate.model.score import Depth, Dimension
    from skillgate.montecarlo.subject import Simulated
    from skillgate.skill.find import Discovery

UNASKED_USD = 10.0  # estimates up to here need no confirmation
_TIMES_UNASKED, _TIMES_AGREED = 2, 3  # maximum cost without a limit, as multiples of that and of the agreed estimate
_READINGS = 5  # of a skill, by each judge and for the prompts
_QUESTIONS = 8_000  # characters around a skill's text
_OUTPUT = 20_000  # tokens of all answers about a skill, twice what is usual
_LARGE = 1 << 20
_READ_TWICE = ("JUDGE_ADDRESSED", "INSTRUCTION_OVERRIDE", "HIDDEN_UNICODE")

_LOG_S = 15.0  # between two lines where there is no terminal
_WATCH_S = 0.2  # between two drawings of the progress
_BAR = 20  # characters
_PER_PROMPTS = 25  # prompts that one request writes
_PER_SESSION = 3.9  # requests of a session that loads the skill: two turns or a little more, and two grades
_PER_NEAR_MISS = 1.3  # most load nothing, and are not graded
_LIFT = 50  # requests for ten tasks in two arms


class DryRun(NamedTuple):
    """The requests and cost of a run, as text and as JSON."""

    text: str
    document: str


def dry_run(lines: Iterable[str], forecast: estimates.Forecast) -> DryRun:
    """Return a forecast in both forms."""
    document = json.dumps(estimates.document(forecast), indent=2)
    return DryRun("\n".join(lines), document.replace("##[", "\\u0023#["))  # a CI runner would take it for a command


class SpendApproval:
    """Ask before spending much without a limit; estimates of earlier calls are included.

    An estimate can be wrong if a skill makes sessions long, so the run gets a limit far above it.
    """

    def __init__(self, setup: ModelSetup, session: Console) -> None:
        """Store the setup and the session."""
        self._setup, self._session = setup, session
        self._low = self._high = 0.0
        self._is_agreed = False

    def require(self, skills: Sequence[SampledSkill], layers: Sequence[Callable[[], Steps[LayerResults]]]) -> None:
        """Make sure that the user agrees to judging these skills too.

        Raises:
            UsageError: the estimate is high, there is no limit, and the user said no or cannot be asked.
        """
        setup = self._setup
        if self._is_agreed or not setup.provider.live or any(limit is not None for limit in setup.limits):
            return
        rough = _at_most(skills, setup.panel) if setup.plan is None and setup.contest is None else float("inf")
        if self._high + rough <= UNASKED_USD:
            self._high += rough
            setup.bound(bound_of(0.0))
            return
        cost = estimates.estimate(layers, answers=setup.answers, provider=setup.provider, batch=setup.is_batch).cost_usd
        if cost is None:
            return
        self._low, self._high = self._low + cost.low, self._high + cost.high
        if approve(self._low, self._high, setup, self._session, ("this run", "was")):
            self._is_agreed = True


def approve(low: float, high: float, setup: ModelSetup, session: Console, words: tuple[str, str]) -> bool:
    """Limit a run by its estimate in US dollars, once the user agrees to a high one.

    ``words`` are what runs and its verb in the past. Return whether the user was asked.

    Raises:
        UsageError: the user said no, or cannot be asked.
    """
    if high <= UNASKED_USD:
        setup.bound(bound_of(0.0))
        return False
    what, verb = words
    about = f"{what} may cost about ${low:.2f} to ${high:.2f}"
    if not session.interactive:
        raise UsageError(f"{about}; set --{settings.MAX_COST_USD.key}, or use --dry-run for details")
    if not session.confirm(f"{about}; continue?"):
        raise UsageError(f"{about}; {verb} not started")
    setup.bound(bound_of(high))
    return True


def bound_of(agreed: float) -> float:
    """Return the maximum cost of a run without a user's limit, in US dollars: skills can make runs expensive.

    ``agreed`` is the upper end of the agreed estimate; 0 if the user was not asked.
    """
    return max(_TIMES_UNASKED * UNASKED_USD, _TIMES_AGREED * agreed)


def _at_most(skills: Sequence[SampledSkill], panel: Panel) -> float:
    """Return a rough upper bound of the cost of judging, in US dollars, from file sizes.

    Infinite if a price is unknown, or a text addresses its judge and is read twice.
    """
    if any(claim.id in _READ_TWICE for one in skills for claim in one.facts.claims):
        return float("inf")
    tokens = [_READINGS * prices.about(min(_size(one), panel.most_characters) + _QUESTIONS) for one in skills]
    costs = [prices.most(opinion.model, most, _OUTPUT) for opinion in panel.opinions for most in tokens]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else float("inf")


def _size(skill: SampledSkill) -> int:
    """Return the bytes of a skill's main file and its directory, as far as known without reading."""
    root, size = skill.source.root, skill.source.size
    pending = [root.directory]
    while pending and size < _LARGE:
        folder = pending.pop()
        for name in root.tree.names(folder):
            path = f"{folder}/{name}" if folder else name
            entry = root.tree.entry(path)
            if entry is not None and entry.kind is EntryKind.DIRECTORY:
                pending.append(path)
            elif entry is not None:
                size += entry.size
    return size


class Estimator:
    """Estimate requests and cost, as ``SampledLayers.measure``; nothing is sent."""

    def __init__(self, setup: ModelSetup) -> None:
        """Store the setup."""
        planned = setup.plan
        if planned is not None:  # made-up sessions could end earlier than real ones, so there are no early stops
            setup = setup._replace(plan=lambda path: planned(path)._replace(stop=None))
        self._setup = setup
        self._forecasts: list[estimates.Forecast] = []

    def __call__(self, skills: Sequence[SampledSkill]) -> Deepened:
        """Count the requests for these skills; none of them gets a score."""
        setup, shelves = self._setup, Shelves()
        layers = [partial(layer_of, one, setup, shelves) for one in skills if one.facts.unscored is None]
        forecast = estimates.estimate(layers, answers=setup.answers, provider=setup.provider, batch=setup.is_batch)
        self._forecasts.append(forecast)
        return Deepened()

    def forecast(self) -> estimates.Forecast:
        """Return the whole estimate."""
        return _together(self._forecasts)

    def result(self) -> DryRun:
        """Return the whole estimate in both forms."""
        cost, calls = self._setup.limits
        whole = self.forecast()
        return dry_run(estimates.lines(whole, max_cost_usd=cost, max_calls=calls), whole)


def _together(forecasts: Sequence[estimates.Forecast]) -> estimates.Forecast:
    """Add up the forecasts of a run and its baseline."""
    calls: Counter[str] = Counter()
    questions: Counter[str] = Counter()  # in their first order
    for one in forecasts:
        calls.update(dict(one.models))
        questions.update(dict(one.questions))
    known = [one.cost_usd for one in forecasts if one.cost_usd is not None]
    none = estimates.Span(0, 0)
    return estimates.Forecast(
        layers=sum(one.layers for one in forecasts),
        calls=sum(one.calls for one in forecasts),
        cached=sum(one.cached for one in forecasts),
        input_tokens=reduce(estimates.Span.plus, (one.input_tokens for one in forecasts), none),
        output_tokens=reduce(estimates.Span.plus, (one.output_tokens for one in forecasts), none),
        cost_usd=reduce(estimates.Span.plus, known, none) if len(known) == len(forecasts) else None,
        models=tuple(sorted(calls.items())),
        unpriced=tuple(sorted({name for one in forecasts for name in one.unpriced})),
        questions=tuple(questions.items()),
        batch=any(one.batch for one in forecasts),
    )


def expected_calls(setup: ModelSetup, skills: int) -> int:
    """Return about how many answers a run takes, cached ones included, for the remaining time."""
    one = 1.0 + 5 * len(setup.panel.opinions)
    if setup.plan is not None:
        plan = setup.plan("")
        one += -(-plan.simulations // _PER_PROMPTS) + (plan.near_misses > 0)
        one += _PER_SESSION * plan.simulations + _PER_NEAR_MISS * plan.near_misses
    if setup.contest is not None and setup.contest.arena is not None and setup.contest.corpus is not None:
        one += 2 * min(setup.contest.arena.opponents, len(setup.contest.corpus.members))
    return round(skills * (one + _LIFT * setup.lift))


def watching(session: Console, total: int, expected: int, width: int = 99) -> Callable[[Progress], None] | None:
    """Return a progress display on stderr: drawn on a terminal, with ``-v`` as lines elsewhere.

    ``total``: number of layers. ``expected``: about how many answers are needed, 0 if not known. ``width``: characters
    of the drawn line.
    """
    is_drawn = session.stderr.isatty()
    if session.quiet or not (is_drawn or session.verbose):
        return None
    last = [-_WATCH_S if is_drawn else 0.0]  # seconds; infinite once all is done, which is shown once

    def show(now: Progress) -> None:
        is_done = now.layers_done >= now.layers
        if now.elapsed_s - last[0] < (_WATCH_S if is_drawn else _LOG_S) and (not is_done or last[0] == float("inf")):
            return
        last[0] = float("inf") if is_done and not is_drawn else now.elapsed_s
        line = _progress_line(now, total, expected)
        if is_drawn:
            session.show_progress("\r" + line.ljust(width)[:width])
        else:
            session.detail(line)

    return show


def clear(session: Console, width: int = 99) -> None:
    """Clear the line."""
    session.show_progress("\r" + " " * width + "\r")


def _progress_line(now: Progress, total: int, expected: int) -> str:
    """Return the progress of a run: skills, calls, cost and remaining time."""
    cost = "cost unknown" if now.cost_usd is None else f"${now.cost_usd:.2f}"
    failed = f" · {now.failed} failed" if now.failed else ""
    done = now.layers_done / total if total else 1.0
    share = done if done == 1.0 or not expected else max(done, min(0.99, now.calls / expected))
    full = int(share * _BAR)
    bar = "█" * full + "░" * (_BAR - full)
    line = f"{bar} {now.layers_done} of {total} · {now.calls} answers, {now.cached} cached{failed} · {cost}"
    fresh = now.calls - now.cached
    if not 0 < share < 1 or not fresh:
        return line
    # Cached answers take no time, so estimate the rest from the others.
    left = max(expected - now.calls, 1) if expected else fresh / share - fresh
    seconds = int(now.elapsed_s / fresh * left)
    return f"{line} · about {seconds // 60}:{seconds % 60:02d} left"


_MOST_REASONS = 5
_DONE = {JudgeLayer: "judged", MonteCarloLayer: "simulated", RankingLayer: "ranked"}
_LATER = (
    "jsonschema",
    "skillgate.llm.port",
    "skillgate.stats.intervals",
    "skillgate.stats.agreement",
    "skillgate.scoring.sampled",
)


class Sampling(NamedTuple):
    """Connected models, and the layers that ask them."""

    layers: SampledLayers
    models: Models
    estimate: Callable[[], DryRun] | None = None  # the estimate, in a dry run
    fit: Callable[[Callable[[], object]], bool] | None = None  # as :meth:`Deepener.fit`; None in a dry run

    def result(self, results: Iterable[SkillResult], session: Console) -> DryRun | None:
        """Return the estimate of a dry run; else note what could not be measured."""
        if self.estimate is not None:
            return self.estimate()
        for sentence in _unanswered(results):
            session.note(sentence)
        return None


@contextmanager
def sampling(
    config: Config, options: ModelOptions, session: Console, depth: Depth, run: str = ""
) -> Iterator[Sampling]:
    """Connect, and close at the end; an interrupted run with a name can be resumed.

    Raises:
        UsageError: options do not go together, or a file cannot be read.
        IncompleteError: a package is missing.
    """
    models = Models(config, session, options, depth, run=run)
    is_through = False
    try:
        if options.dry_run:
            estimator = Estimator(models.setup)
            measure: Callable[[Sequence[SampledSkill]], Deepened] = estimator
            estimate, fit = estimator.result, None
        else:
            deepener = Deepener(models.setup, session, calibration=options.calibration)
            measure, estimate, fit = deepener, None, deepener.fit
        yield Sampling(SampledLayers(depth, measure, models.names, models.judged_as), models, estimate, fit)
        is_through = True
    finally:
        if not is_through:
            models.leave()
        failure = models.close()
        if failure is not None:
            session.note(failure)


def run_name(request: EvaluateRequest, discovery: Discovery, depth: Depth, session: Console) -> str:
    """Return the name of a run: the same command on the same skills has the same name.

    Only long runs have a name.
    """
    config, scope, options = request.config, request.scope, request.models
    is_batch = PROVIDERS.flag(config.get(settings.PROVIDER), "BATCHES")
    if options.dry_run or (depth not in SIMULATED and not is_batch):
        return ""
    sources = [read(root) for root in discovery.roots]
    contents = [digest(one.data) if isinstance(one, SkillSource) else "" for one in sources]
    scoped = (session.cwd, depth.value, config_digest(config), scope.shard)
    # A run that asks everything again must not resume another one.
    flags = (options.lift, options.calibration, scope.changed, scope.since, options.refresh, not options.keep_answers)
    paths = [str(root.path) for root in discovery.roots]
    return digest(repr((scoped, flags, paths, contents)).encode("utf-8", "surrogatepass"))


def both_sides(
    sources: Sequence[SkillSource | Unreadable], request: CompareRequest, session: Console, *, depth: Depth
) -> tuple[tuple[SkillResult, SkillResult], tuple[str, ...], DryRun | None]:
    """Evaluate two skills; if both have the same name, the second on the prompts of the first.

    Returns:
        Both results, the models, and the estimate of a dry run.

    Raises:
        UsageError: options do not go together, or a file cannot be read.
        IncompleteError: a package is missing.
    """
    with sampling(request.config, request.models, session, depth) as one:
        evaluator = pipeline.Evaluator(sampled=one.layers)
        a = pipeline.evaluate(sources[:1], evaluator).report.results[0]
        # The baseline only provides prompts; a drop is judged once both sides are known.
        named_alike = sources[1].root.name == sources[0].root.name
        baseline = pipeline.Baseline({str(sources[1].root.path): a}) if named_alike else None
        b = pipeline.evaluate(sources[1:], evaluator, baseline=baseline).report.results[0]
    return (a, b), one.models.names, one.result((a, b), session)


def _unanswered(results: Iterable[SkillResult]) -> Iterator[str]:
    """Yield for each cause how many skills have no score."""
    reasons: Counter[str] = Counter()
    lifts: Counter[str] = Counter()
    for result in results:
        how = "not" if result.composite.score is None else "not wholly"
        reasons.update(f"{how} {_DONE[type(one)]}: {one.reason}" for one in sampled_layers(result) if one.reason)
        if result.lift is not None and result.lift.reason:
            lifts[f"without the requested lift: {result.lift.reason}"] += 1
    reasons.update(lifts)
    for reason, count in reasons.most_common(_MOST_REASONS):
        yield f"{count} skill{'s' * (count != 1)} {reason}"
    if len(reasons) > _MOST_REASONS:
        yield f"and {len(reasons) - _MOST_REASONS} more reasons; see the report"


def require_benchmark(options: ModelOptions, session: Console, roots: Sequence[SkillRoot]) -> None:
    """Raise UsageError if ``--benchmark-json`` cannot be written, or there is not exactly one skill."""
    if not options.lift:
        raise UsageError("--benchmark-json needs --lift")
    if len(roots) != 1:
        raise UsageError(f"--benchmark-json needs exactly one skill, found {len(roots)}")
    require_folder(options.benchmark_json or "", session.cwd)


def write_benchmark(path: str, report: Report, session: Console) -> None:
    """Write the lift of one skill in the format of skill-creator's viewer.

    Raises:
        UsageError: it cannot be written.
    """
    from skillgate.report.benchmark_json import benchmark  # few runs write one

    lifted = [result for result in report.results if result.lift is not None]
    if not lifted:
        session.note(f"{path} not written: there is no lift")
        return
    write(path, benchmark(lifted[0], timestamp=datetime.now(UTC)), cwd=session.cwd)


class Deepener:
    """Judge skills, as ``SampledLayers.measure``; may be called several times."""

    def __init__(self, setup: ModelSetup, session: Console, *, calibration: str | None = None) -> None:
        """Store setup and session, and read the calibration file.

        Raises:
            UsageError: the calibration cannot be read, or is not one.
        """
        self._setup, self._session = setup, session
        self._calibration = None
        if calibration is not None:
            from skillgate.judge.calibration import read as read_calibration  # few runs have one

            place = os.path.join(session.cwd, calibration)  # noqa: PTH118
            self._calibration = read_calibration(read_whole(place, calibration, "the calibration"), calibration)
        self._shelves = Shelves()
        self._approval = SpendApproval(setup, session)
        self._rehearsal: Estimator | None = None

    def fit(self, rehearse: Callable[[], object]) -> bool:
        """Use fewer judges, the same number for every skill, if the budget may not pay for all; each model remains.

        ``rehearse`` does the whole run, baseline included; meanwhile nothing is sent. Return whether there are fewer.
        """
        setup, opinions, (limit, _) = self._setup, self._setup.panel.opinions, self._setup.limits
        if limit is None or not setup.provider.live:
            return False
        highs: list[float] = []
        for judges in range(len(opinions), len(set(opinions)) - 1, -1):
            self._setup = setup._replace(panel=setup.panel._replace(opinions=opinions[:judges]))
            self._rehearsal = Estimator(self._setup)
            rehearse()
            cost = self._rehearsal.forecast().cost_usd
            highs.append(0.0 if cost is None else cost.high)
            if highs[-1] <= limit:
                break
        self._rehearsal = None
        name, used = settings.MAX_COST_USD.key, len(self._setup.panel.opinions)
        if used < len(opinions):
            why = f"{len(opinions)} may cost up to ${highs[0]:.2f}, and {name} is {limit:g}"
            self._session.note(f"{plural(used, 'judge')} instead of {len(opinions)} for every skill: {why}")
            self._session.note(f"a drop that {plural(used, 'judge')} cannot distinguish from chance fails this run")
        if highs[-1] > limit:
            self._session.note(f"{name} {limit:g} may not pay for every skill: the run may cost up to ${highs[-1]:.2f}")
        return used < len(opinions)

    def __call__(self, skills: Sequence[SampledSkill]) -> Deepened:
        """Judge all skills concurrently; one that cannot be judged does not stop the others."""
        if self._rehearsal is not None:
            return self._rehearsal(skills)
        setup, panel, session = self._setup, self._setup.panel, self._session
        wanted = [one for one in skills if one.facts.unscored is None]
        layers = [partial(layer_of, one, setup, self._shelves, session.note) for one in wanted]
        self._approval.require(wanted, layers)
        threading.Thread(target=_load_later, daemon=True).start()
        watch = watching(session, len(layers), expected_calls(setup, len(layers)))
        try:
            results: list[LayerResults] = list(setup.drive(layers, watch))
        except KeyboardInterrupt:
            session.note("interrupted: answers so far are saved; run the same command again to resume")
            raise
        finally:
            if watch is not None and session.stderr.isatty():
                clear(session)
        agreed = None
        if len(panel.opinions) > 1:
            from skillgate.judge.calibration import agreement  # numpy: loaded by now

            agreed = agreement([one.judged.ratings for one in results], len(panel.opinions))
        deepened = {
            str(one.source.root.path): Deeper(failure=f"not judged: {one.facts.unscored}")
            for one in skills
            if one.facts.unscored is not None
        }
        trusted = None
        for skill, one in zip(wanted, results, strict=True):
            self._warn(str(skill.source.root.path), one.simulated)
            if self._calibration is not None:
                from skillgate.judge.calibration import calibrate

                calibrated = one.judged._replace(layer=calibrate(self._calibration, one.judged.layer))
                one = one._replace(judged=calibrated)
            deepened[str(skill.source.root.path)] = deeper(one, agreed, skill.source.root)
        if self._calibration is not None:
            from skillgate.judge.calibration import trust

            trusted = trust(self._calibration, [one.judged.layer for one in results])
        return Deepened(deepened, agreed, models_of(panel, setup.plan), setup.spent(), trusted)

    def _warn(self, path: str, simulated: Simulated | None) -> None:
        """Warn if no session meant for the skill completed: then the score only measures failures."""
        layer = None if simulated is None else simulated.layer
        if layer is None or layer.loads is None or layer.loads.completed:
            return
        kinds = Counter(run.kind or "" for run in layer.runs if run.should_trigger and run.outcome == FAILED)
        counts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        many = "the only session" if kinds.total() == 1 else f"all {kinds.total()} sessions"
        self._session.note(f"warning: {path}: {many} meant for the skill failed ({counts})")


def _load_later() -> None:
    """Import what is only needed with the answers while waiting for them."""
    for name in _LATER:
        importlib.import_module(name)


def deeper(results: LayerResults, agreed: Agreement | None, root: SkillRoot) -> Deeper:
    """Return what scoring needs of the sampled layers of a skill."""
    judged, simulated, ranked, lifted = results
    layer = judged.layer._replace(silenced=judged.silenced)
    if agreed is not None:
        layer = layer._replace(
            agreement=agreed, kappa=agreed.kappa, kappa_reason=agreed.kappa_reason, kappa_trigger=agreed.kappa_trigger
        )
    layers: tuple[Layer, ...] = (layer,)
    measured: dict[Dimension, Estimate] = {}
    if simulated is not None:
        measured = {name: one for name, one in simulated.layer.scores.items() if one.value is not None}
        layers += (simulated.layer._replace(silenced=simulated.silenced),)
    if ranked is not None:
        layers += (ranked.layer,)
    lift = None if lifted is None else lifted.lift
    usages = [one.usage for one in (*layers, lift) if not isinstance(one, StaticLayer | None)]
    return Deeper(
        layers=layers,
        scores=layer.assessments,
        simulated=measured,
        failure=_failure(judged) or (None if simulated is None else _not_simulated(simulated)),
        no_badge=judged.partial or _no_badge(results),
        usage=total(usages),
        claims=tuple(_claims(results, root)),
        lift=lift,
    )


def _not_simulated(simulated: Simulated) -> str | None:
    """Return why there is no score at this depth; None if there is one."""
    layer = simulated.layer
    if layer.stopped_early is not None:
        return f"stopped early: {layer.stopped_early}"
    why = simulated.silenced or simulated.failure or (None if layer.scores else layer.reason or "nothing was measured")
    # A blend without it would be a different number: the judge's opinion of what a skill does instead of what it did.
    gaps = [one.reason or name.value for name, one in layer.scores.items() if one.value is None]
    why = why or "; ".join(dict.fromkeys(gaps))
    return f"not simulated: {why}" if why else None


def _no_badge(results: LayerResults) -> str | None:
    """Return why there is no badge whatever the score; None if there may be one.

    Only the composite decides if there was no opponent; if matches were lost, a text could have caused that.
    """
    ranked, simulated = results.ranked, results.simulated
    if ranked is not None and ranked.failure is not None:
        return f"{NOT_RANKED}: {ranked.failure}"
    withheld = (getattr(one, "no_badge", None) for one in (ranked, simulated))
    return next((reason for reason in withheld if reason is not None), None)


def _failure(judged: Judged) -> str | None:
    """Return why a skill has no judged score; None if it has one.

    If an outage stopped one of several judges from answering, the others give the score. If the text may have caused
    the outage, they do not: else a text could choose its judges.
    """
    scores = judged.layer.assessments
    gaps = ", ".join(dimension.value for dimension, one in scores.items() if one.score is None)
    if judged.silenced is None and scores and not gaps:
        return None
    return f"not judged: {judged.silenced or judged.failure or f'no rating of {gaps}'}"


def _claims(results: LayerResults, root: SkillRoot) -> Iterator[Claim]:
    judged = results.judged
    problems = [*((problem, None) for problem in judged.problems), *((note, Severity.INFO) for note in judged.notes)]
    for one in (results.simulated, results.ranked):
        problems += [(problem, None) for problem in (one.problems if one is not None else ())]
    for problem, severity in problems:
        hit = Hit(problem.span, problem.message, severity=severity)
        yield claim(judged_rule(problem.rule), hit, problem.file or root.file_name, "judge")
