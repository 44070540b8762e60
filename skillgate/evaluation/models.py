"""The models of a run: provider and limits, judging, sessions and matches."""

from __future__ import annotations

import gc
import os
import threading
import time
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import settings
from skillgate.errors import UsageError
from skillgate.evaluation.pipeline import judged_as
from skillgate.evaluation.request import SIMULATED, ModelOptions
from skillgate.format import printable
from skillgate.judge.dossier import Unjudged, dossier
from skillgate.judge.layer import PROMPT_VERSION, RUBRIC_VERSION, judge
from skillgate.judge.subject import Judged, Opinion, Panel, Ratings
from skillgate.llm import missing_extra
from skillgate.llm.answers import OPENAI_KEY, Answers, Seal, folder_of, seal_of
from skillgate.llm.asker import PortAsker
from skillgate.llm.asker import run as run_layers
from skillgate.llm.flow import CircuitBreaker
from skillgate.llm.port import Connection, Provider, classify
from skillgate.llm.prices import DEFAULT_JUDGE, Budget, context_of, effort_of
from skillgate.llm.providers.replay import Recorder
from skillgate.model.exchange import Steps, Together
from skillgate.model.layers import Estimate, JudgeLayer, Lift, MonteCarloLayer, RankingLayer, TriggerPrompt
from skillgate.model.score import Depth
from skillgate.registry import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from skillgate.config import Config
    from skillgate.console import Console
    from skillgate.evaluation.corpus.members import ListedMember
    from skillgate.evaluation.corpus.store import Store
    from skillgate.evaluation.pipeline import SampledSkill
    from skillgate.judge.siblings import Shelves
    from skillgate.llm.journal import BatchJournal, Journal
    from skillgate.llm.port import Watch
    from skillgate.model.corpus import CorpusIndex
    from skillgate.montecarlo.subject import Lifted, Plan, Simulated, Stop
    from skillgate.ranking.corpus import Corpus
    from skillgate.ranking.layer import Arena, Ranked

    Drive = Callable[[Sequence[Callable[[], Steps[Any]]], Watch | None], Iterator[Any]]

NO_CORPUS = "no corpus to rank against; create one with skillgate corpus build DIR and skillgate corpus rate"
NEAR_MISSES = 5  # default simulations per near miss


class Contest(NamedTuple):
    """The corpus and rules for ranking skills."""

    corpus: Corpus | None
    arena: Arena | None  # how matches are played; None for no matches
    siblings: tuple[ListedMember, ...] = ()  # of the corpus, listed next to a single skill


class ModelSetup(NamedTuple):
    """The judges, sessions and matches of a run, and who answers."""

    panel: Panel
    stop: threading.Event  # once set, all waiting ends
    spent: Callable[[], str | None]  # why the budget ended the run early
    provider: Provider
    answers: Answers | None  # the cache of answers
    limits: tuple[float | None, int | None]  # maximum US dollars and calls
    bound: Callable[[float], None]  # limits the run to so many US dollars if there is no limit
    drive: Drive  # runs layers, and yields their results in order
    plan: Callable[[str], Plan] | None = None  # how sessions are simulated, by shown path; None for depths without
    contest: Contest | None = None  # None for depths without ranking
    lift: bool = False  # whether to do the skill's tasks without it too
    is_batch: bool = False  # whether answers come in batches, at batch prices


class LayerResults(NamedTuple):
    """The results of one skill; None for what was not requested."""

    judged: Judged
    simulated: Simulated | None = None
    ranked: Ranked | None = None
    lifted: Lifted | None = None


def models_of(panel: Panel, plan: Callable[[str], Plan] | None) -> tuple[str, ...]:
    """Return the models of a run without duplicates: the judges, then the one under test."""
    tested = [] if plan is None else [plan("").model.model]
    return tuple(dict.fromkeys((*(opinion.model for opinion in panel.opinions), *tested)))


def layer_of(
    skill: SampledSkill, setup: ModelSetup, shelves: Shelves, note: Callable[[str], None] | None = None
) -> Steps[LayerResults]:
    """Return the steps of all layers for a skill, on the same prompts as in the baseline.

    ``note`` is called if the skill has different prompts now.
    """
    branches: dict[str, Steps[Any]] = {"judged": _judged(skill, setup.panel, shelves, note)}
    contest = setup.contest
    if setup.plan is not None:
        plan = setup.plan(str(skill.source.root.path))
        siblings = contest.siblings if contest is not None else ()
        branches["simulated"] = _simulated(skill, plan, shelves, siblings)
        if setup.lift:
            branches["lifted"] = _lifted(skill, plan, shelves, siblings)
    if contest is not None and contest.arena is not None:
        branches["ranked"] = _ranked(skill, contest, contest.arena)
    results = yield Together(tuple(branches.values()))
    return LayerResults(**dict(zip(branches, results, strict=True)))


def _nothing(result: Any) -> Steps[Any]:  # noqa: ANN401 - of any layer
    """Return the steps of a layer without requests."""
    yield Together(())
    return result


def _judged(skill: SampledSkill, panel: Panel, shelves: Shelves, note: Callable[[str], None] | None) -> Steps[Judged]:
    """Return the steps that judge a skill, on the prompts of its baseline if there are any."""
    subject = dossier(skill.source, skill.facts, shelves=shelves)
    if isinstance(subject, Unjudged):
        reason = subject.reason
        layer = JudgeLayer(0, len(panel.opinions), None, reason=reason, provider=panel.provider, live=panel.live)
        return _nothing(Judged(layer, Ratings(), failure=reason))
    before = _earlier_prompts(skill)
    if before is not None:
        both = [{(one.prompt, one.should_trigger) for one in prompts or ()} for prompts in (subject.prompts, before)]
        if note is not None and subject.prompts is not None and both[0] != both[1]:
            why = "is judged on the prompts of its baseline; new prompts in its evals/ apply from the next baseline on"
            note(f"{subject.path} {why}")
        subject = subject._replace(prompts=before, prompts_source="baseline")
    return judge(subject, panel, time.perf_counter_ns)


def _earlier_prompts(skill: SampledSkill) -> tuple[TriggerPrompt, ...] | None:
    """Return the prompts of the baseline, without their predictions."""
    for layer in skill.before.layers if skill.before else ():
        if isinstance(layer, JudgeLayer) and layer.triggering is not None and layer.triggering.prompts:
            return tuple(prompt._replace(predicted=()) for prompt in layer.triggering.prompts)
    return None


def plans(config: Config, panel: Panel, model: Opinion) -> Callable[[str], Plan]:
    """Return the session plan by shown path; early stops may differ by path."""
    from skillgate.montecarlo.subject import Plan, Stop

    count, near = config.get(settings.SIMULATIONS), config.get(settings.NEAR_MISSES)
    plan = Plan(
        model=model,
        grader=panel.opinions[0],
        simulations=count,
        near_misses=-(-count // NEAR_MISSES) if near is None else near,
        seed=config.get(settings.SEED),
        max_turns=config.get(settings.MAX_TURNS),
        provider=panel.provider,
        live=panel.live,
        runner=config.get(settings.RUNNER),
    )

    def stop(path: PurePosixPath) -> Stop | None:
        least, most = config.get(settings.MIN_ACTIVATION, path), config.get(settings.MAX_FAILURE_RATE, path)
        if not config.get(settings.EARLY_STOP) or (least is None and most is None):
            return None
        return Stop(least, most, config.get(settings.ON_INCONCLUSIVE, path))

    return lambda path: plan._replace(stop=stop(PurePosixPath(path)))


def _simulated(skill: SampledSkill, plan: Plan, shelves: Shelves, siblings: Sequence[ListedMember]) -> Steps[Simulated]:
    """Return the steps of a skill's sessions, with the prompts of its baseline if there are any."""
    from skillgate.montecarlo.layer import simulate
    from skillgate.montecarlo.library import subject
    from skillgate.montecarlo.subject import Simulated

    layers = skill.before.layers if skill.before else ()
    before = next((layer for layer in layers if isinstance(layer, MonteCarloLayer) and layer.runs), None)
    gathered = subject(skill.source, skill.facts, shelves=shelves, corpus=siblings, before=before)
    if isinstance(gathered, Unjudged):
        reason, provider, live = gathered.reason, plan.provider, plan.live
        layer = MonteCarloLayer(0, plan.simulations, 0, 0, 0, None, reason=reason, provider=provider, live=live)
        return _nothing(Simulated(layer, failure=reason))
    return simulate(gathered, plan, time.perf_counter_ns)


def _lifted(skill: SampledSkill, plan: Plan, shelves: Shelves, siblings: Sequence[ListedMember]) -> Steps[Lifted]:
    """Return the steps that do a skill's tasks with and without it."""
    from skillgate.montecarlo.library import subject
    from skillgate.montecarlo.lift import lift  # few runs ask for it
    from skillgate.montecarlo.subject import Lifted

    gathered = subject(skill.source, skill.facts, shelves=shelves, corpus=siblings)
    if isinstance(gathered, Unjudged):
        nothing = Estimate(None, reason=gathered.reason)
        return _nothing(Lifted(Lift(nothing, nothing, nothing, reason=gathered.reason), failure=gathered.reason))
    return lift(gathered, plan)


def contest(
    config: Config,
    environ: Mapping[str, str],
    panel: Panel,
    *,
    matches: bool,
    note: Callable[[str], None] | None = None,
) -> Contest:
    """Open the corpus of configuration and options.

    Args:
        config: the configuration.
        environ: the environment, for the system's directory.
        panel: the judges.
        matches: whether to rank skills; else the corpus only provides siblings, and its ratings are not checked.
        note: called if a project's file chooses the corpus, since anyone who can change the file can choose the corpus.

    Raises:
        UsageError: the corpus is broken, its ratings do not follow from its matches, or an option names a missing one.
        IncompleteError: there are ratings, and numpy is not installed.
    """
    from skillgate.evaluation.corpus.members import open_corpus, siblings
    from skillgate.evaluation.corpus.store import place_of
    from skillgate.ranking.layer import Arena

    folder = place_of(environ, config.get(settings.CORPUS_DIR), config.base(settings.CORPUS_DIR))
    corpus = open_corpus(folder) if folder else None
    if corpus is not None:
        if matches:
            _require_borne_out(corpus.index, corpus.store)
        origin = config.origin(settings.CORPUS_DIR)
        # A found file is shown relative to the working directory, the user's own from home or the root.
        is_users = origin in ("default", "option") or origin.startswith("~") or os.path.isabs(origin)  # noqa: PTH117
        if note is not None and not is_users:
            note(f"the corpus is set in {origin}: {printable(folder)}")
    arena = Arena(
        judge=panel.opinions[0],
        seed=config.get(settings.SEED),
        opponents=config.get(settings.OPPONENTS),
        provider=panel.provider,
        live=panel.live,
        most_characters=panel.most_characters,
    )
    return Contest(corpus, arena if matches else None, () if corpus is None else tuple(siblings(corpus)))


def _require_borne_out(index: CorpusIndex, store: Store) -> None:
    """Raise UsageError if ratings do not follow from the matches, such as ratings edited by hand."""
    from skillgate.evaluation.corpus.store import rating_faults

    try:
        faults = tuple(islice(rating_faults(index, store.matches()), 1))
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
    if faults:
        raise UsageError(
            f"the ratings in {store.folder} do not follow from its matches: {printable(faults[0])}; run skillgate"
            " corpus verify for all problems, or skillgate corpus rate to rate again"
        )


def _ranked(skill: SampledSkill, contest: Contest, arena: Arena) -> Steps[Ranked]:
    """Return the steps of a skill's matches; without a corpus there are none, which is not a failure."""
    from skillgate.evaluation.corpus.members import entrant_of
    from skillgate.ranking.layer import Ranked, rank

    entrant = None if contest.corpus is None else entrant_of(skill.source)
    if contest.corpus is None or entrant is None:
        reason = NO_CORPUS if contest.corpus is None else "the skill has no text to compare"
        return _nothing(Ranked(RankingLayer(0, 0, None, None, None, reason=reason, live=arena.live)))
    path = str(skill.source.root.path)
    return rank(entrant, contest.corpus, arena, time.perf_counter_ns, subject=path, path=path)


_REPLAY = "replay"  # the provider of --replay
MESSAGES = "messages"  # the runner that uses the provider itself
CERTIFYING = 3  # default number of judges
_UNKNOWN = 300_000  # characters that fit 200,000 tokens, the smallest context of current models
_MOST = 1_200_000
_OTHER_TOKENS = 50_000  # for question and answer
_PER_TOKEN = 1.7  # characters: skills usually have 2.6; code and tables have fewer


class Models:
    """The connected models of one run.

    Attributes:
        provider: answers requests.
        panel: the judges.
        budget: the limits on cost and calls.
        answers: the cache of answers, None for none.
        setup: all of this, for driving the layers.
        stop: once set, all waiting ends.
    """

    def __init__(
        self, config: Config, session: Console, options: ModelOptions, depth: Depth = Depth.STANDARD, *, run: str = ""
    ) -> None:
        """Connect; an interrupted ``run`` with a name is resumed, others are not stored as runs.

        Raises:
            UsageError: options do not go together, or the corpus is broken.
            IncompleteError: a package is missing.
        """
        self._session, environ = session, session.environ
        runner = config.get(settings.RUNNER) if depth in SIMULATED else MESSAGES
        self.provider = connect(config, options, environ, session.cwd, runner=runner)
        # The command line disables the garbage collector for short runs. Connections and answers leave cycles behind,
        # so enable it here; freeze what was loaded so far.
        gc.freeze()
        gc.enable()
        self.panel = _panel(
            config, self.provider, max(options.default_judges, CERTIFYING if depth is Depth.CERTIFY else 1)
        )
        self.stop = threading.Event()
        self.budget = budget_of(config, self.provider, self.stop)
        plan = arena = None
        if depth in SIMULATED:
            model = config.get(settings.MODEL) or DEFAULT_JUDGE
            plan = plans(config, self.panel, Opinion(model, effort_of(model)))
            is_ranked = depth is Depth.CERTIFY
            arena = contest(config, environ, self.panel, matches=is_ranked, note=session.note)
        self.names = models_of(self.panel, plan)  # without duplicates
        self.budget.require_prices(self.names)
        self.answers = open_answers(config, session, options, environ, self.stop) if options.keep_answers else None
        self._recorder = Recorder(options.record, cwd=session.cwd, now=time.time) if options.record else None
        self.journal = _journal(config, session, run, environ) if run else None
        self._batches: tuple[BatchJournal, str] | None = None  # the list of a run's batches, and its path
        is_batch = PROVIDERS.flag(self.provider.name, "BATCHES")
        self.setup = ModelSetup(
            panel=self.panel,
            stop=self.stop,
            spent=lambda: self.budget.reason if self.budget.exhausted else None,
            provider=_answering(self.provider),
            answers=self.answers,
            limits=(config.get(settings.MAX_COST_USD), config.get(settings.MAX_CALLS)),
            bound=self.budget.bound,
            drive=self._in_batches(config) if is_batch else self._one_by_one(config),
            plan=plan,
            contest=arena,
            lift=options.lift,
            is_batch=is_batch,
        )

    @property
    def judged_as(self) -> tuple[str, ...]:
        """How scores are made, as in ``SampledLayers.judged_as``."""
        return judged_as(PROMPT_VERSION, RUBRIC_VERSION, _answering(self.provider).name)

    def finish(self) -> None:
        """End the run: its report is written, so it need not be resumed."""
        self.leave(done=True)

    def leave(self, *, done: bool = False) -> None:
        """End a run without a report, so that it can be resumed; if nothing was asked, nothing is left."""
        if self._batches is not None:
            listed, place = self._batches
            listed.close()
            if done and os.path.exists(place):  # noqa: PTH110
                os.remove(place)  # noqa: PTH107
        if self.journal is not None:
            self.journal.close(done=done)

    def close(self) -> str | None:
        """Close connections and files; return what could not be cached, recorded or trusted, None for nothing."""
        self.provider.close()
        failures = [] if self.journal is None else [self.journal.failure, self.journal.ignored]
        if self._recorder is not None:
            self._recorder.close()
            failures.append(self._recorder.failure)
        if self.answers is not None:
            failures += closed(self.answers, self._session)
        return "; ".join(failure for failure in failures if failure) or None

    def _one_by_one(self, config: Config) -> Drive:
        """Run layers with concurrent single requests."""
        asker = PortAsker(
            self.provider,
            budget=self.budget,
            answers=self.answers,
            breaker=CircuitBreaker(stop=self.stop),
            recorder=self._recorder,
            journal=self.journal,
        )
        in_flight = config.get(settings.IN_FLIGHT)
        return lambda layers, watch: run_layers(layers, asker, in_flight=in_flight, watch=watch, stop=self.stop)

    def _in_batches(self, config: Config) -> Drive:
        """Run layers with all requests in batches."""
        from skillgate.llm import batch_queue
        from skillgate.llm.batch_queue import Polling
        from skillgate.llm.journal import BatchJournal
        from skillgate.llm.prices import BatchBudget
        from skillgate.llm.providers.batch import Batches

        if not isinstance(self.provider, Batches) or not isinstance(self.budget, BatchBudget):
            message = "batches need their own provider and budget"
            raise TypeError(message)
        listed = None
        if self.journal is not None and not self.journal.failure:
            place = f"{self.journal.path}.batches"
            listed = BatchJournal(place, now=time.time)
            self._batches = listed, place
        asker: batch_queue.BatchQueue[object] = batch_queue.BatchQueue(
            self.provider,
            budget=self.budget,
            answers=self.answers,
            journal=self.journal,
            batches=listed,
            recorder=self._recorder,
            polling=Polling(first_s=config.get(settings.POLL_SECONDS)),
        )
        return lambda layers, watch: batch_queue.run(layers, asker, watch=watch, stop=self.stop)


def budget_of(config: Config, provider: Provider, stop: threading.Event) -> Budget:
    """Return the budget of a run, at the prices of its provider."""
    kind = Budget
    if PROVIDERS.flag(provider.name, "BATCHES"):
        from skillgate.llm.prices import BatchBudget  # few runs take batches

        kind = BatchBudget
    cost, calls = config.get(settings.MAX_COST_USD), config.get(settings.MAX_CALLS)
    return kind(cost, calls, free=not provider.live, stop=stop)


def connect(
    config: Config, options: ModelOptions, environ: Mapping[str, str], cwd: str, *, runner: str = MESSAGES
) -> Provider:
    """Connect to the provider of configuration and options, and to the session runner if it is another one.

    Raises:
        UsageError: options do not go together, or a file is not valid.
        IncompleteError: a package is missing.
    """
    name = config.get(settings.PROVIDER)
    if options.replay is not None:
        if config.origin(settings.PROVIDER) == "option" and name != _REPLAY:
            raise UsageError(f"--replay replaces the provider; leave out --provider {name}")
        name = _REPLAY
    elif name == _REPLAY:
        raise UsageError("--provider replay needs --replay FILE")
    connection = Connection(
        environ=environ,
        base_url=config.get(settings.BASE_URL),
        key_variable=config.get(settings.KEY_VARIABLE),
        temperature=config.get(settings.TEMPERATURE),
        file=options.replay if name == _REPLAY else config.get(settings.SCRIPT),
        cwd=cwd if name == _REPLAY else config.base(settings.SCRIPT),
    )
    try:
        module = PROVIDERS.load(name)
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
    provider: Provider = module.connect(connection)
    if runner == MESSAGES:
        return provider
    from skillgate.llm.agent_session import with_runner  # few runs have one

    return with_runner(provider, connection, runner)


def _panel(config: Config, provider: Provider, default: int) -> Panel:
    """Return the judges: the models in turn, each at least once; ``default``: how many unless configured."""
    models, judges = config.get(settings.JUDGE_MODEL) or (DEFAULT_JUDGE,), config.get(settings.JUDGES)
    if judges is None:
        judges = max(len(models), default)
    if judges < len(models):
        raise UsageError(
            f"judges is {judges}, but {settings.JUDGE_MODEL.key} names {len(models)} models:"
            f" {', '.join(models[judges:])} would never be asked; use --judges {len(models)} or more, or fewer models"
        )
    each = [models[index % len(models)] for index in range(judges)]
    return Panel(
        opinions=tuple(Opinion(model, effort_of(model)) for model in each),
        provider=_answering(provider).name,
        live=provider.live,
        most_characters=min(map(_characters, each)),
    )


def _characters(model: str) -> int:
    """Return how many characters of a skill a model gets: what safely fits its context with question and answer."""
    context = context_of(model)
    return _UNKNOWN if context is None else max(_UNKNOWN, min(_MOST, int((context - _OTHER_TOKENS) * _PER_TOKEN)))


def _answering(provider: Provider) -> Provider:
    """Return the provider of the answers: for batches, the one that runs them."""
    own: Provider = getattr(provider, "cached_as", provider)
    return own


def _journal(config: Config, session: Console, run: str, environ: Mapping[str, str]) -> Journal | None:
    """Open the journal of a run, which may have the answers of an interrupted one; None without a directory for it."""
    from skillgate.llm.journal import Journal  # only deep runs are long enough

    folder = folder_of(environ, config.get(settings.CACHE_DIR), config.base(settings.CACHE_DIR))
    if not folder:
        session.note("no directory to save the run (HOME is not set): an interrupted run will start again from scratch")
        return None
    return Journal(os.path.join(folder, "runs"), run, now=time.time, seal=_seal(config, environ))  # noqa: PTH118


def open_answers(
    config: Config, session: Console, options: ModelOptions, environ: Mapping[str, str], stop: threading.Event
) -> Answers | None:
    """Open the cache of model answers; None, with a note, without a directory for it.

    Raises:
        UsageError: the key that signs them is too short.
    """
    folder = folder_of(environ, config.get(settings.CACHE_DIR), config.base(settings.CACHE_DIR))
    if not folder:
        session.note(f"answers are not cached (HOME is not set); use --{settings.CACHE_DIR.key}")
        return None
    return Answers(
        folder,
        now=time.time,
        classify=classify,
        refresh=options.refresh,
        stop=stop,
        seal=_seal(config, environ),
        signed_only=session.signed_only,
    )


def closed(answers: Answers, session: Console) -> tuple[str | None, ...]:
    """Close the cache of answers; return notes on it, None for nothing."""
    answers.close()
    remark = answers.remark
    return answers.failure, answers.ignored, None if remark is None else f"{remark}; {session.anew}"


def _seal(config: Config, environ: Mapping[str, str]) -> Seal | None:
    """Return the seal of cached answers; None without a key."""
    return seal_of(environ, config.get(settings.PROVIDER), config.get(settings.KEY_VARIABLE) or OPENAI_KEY)
