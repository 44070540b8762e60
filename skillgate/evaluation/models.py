"""Connect to models: provider, cache, budget, retries, recording."""

from __future__ import annotations

import gc
import os
import threading
import time
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.errors import UsageError
from skillgate.evaluation.layers import ModelSetup, contest, models_of, plans
from skillgate.evaluation.pipeline import judged_as
from skillgate.evaluation.request import SIMULATED, ModelOptions
from skillgate.judge.layer import PROMPT_VERSION, RUBRIC_VERSION
from skillgate.judge.subject import Opinion, Panel
from skillgate.llm.answers import OPENAI_KEY, Answers, Seal, folder_of, seal_of
from skillgate.llm.asker import PortAsker
from skillgate.llm.budget import Budget
from skillgate.llm.driver import run as run_layers
from skillgate.llm.extras import missing_extra
from skillgate.llm.flow import CircuitBreaker
from skillgate.llm.port import Connection, Provider
from skillgate.llm.prices import DEFAULT_JUDGE, context_of, effort_of
from skillgate.llm.providers.replay import Recorder
from skillgate.llm.replies import classify
from skillgate.model.score import Depth
from skillgate.registry import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.config import Config
    from skillgate.console import Console
    from skillgate.evaluation.layers import Drive
    from skillgate.llm.batch_client import BatchJournal
    from skillgate.llm.journal import Journal

_REPLAY = "replay"  # the provider of --replay
MESSAGES = "messages"  # the runner of sessions that is the provider itself
CERTIFYING = 3  # judges, where no number is set
_UNKNOWN = 300_000  # characters: what fits 200,000 tokens, the least context of the models there are
_MOST = 1_200_000
_OTHER_TOKENS = 50_000  # for question and answer
_PER_TOKEN = 1.7  # characters: skills have 2.6 as a rule; code and tables have fewer


class Models:
    """Who judges in one run, and what is to be closed after it.

    Attributes:
        provider: who answers.
        panel: who judges.
        budget: what it may cost.
        answers: those of earlier runs, None for none.
        setup: all of it, for whatever drives the layers.
        stop: once it is set nothing waits any more.
    """

    def __init__(
        self, config: Config, session: Console, options: ModelOptions, depth: Depth = Depth.STANDARD, *, run: str = ""
    ) -> None:
        """Connect; a ``run`` with a name that was cut short is gone on from, others are not stored as runs.

        Raises:
            UsageError: an option does not fit another, or the corpus is broken.
            IncompleteError: a package is missing.
        """
        self._session, environ = session, session.environ
        runner = config.get(settings.RUNNER) if depth in SIMULATED else MESSAGES
        self.provider = connect(config, options, environ, session.cwd, runner=runner)
        # The command line goes without the collector, for runs of a moment. Connections and answers leave cycles
        # behind; what was loaded until now stays, and is not walked each time.
        gc.freeze()
        gc.enable()
        self.panel = _panel(config, self.provider, depth)
        self.stop = threading.Event()
        self.budget = budget_of(config, self.provider, self.stop)
        plan = arena = None
        if depth in SIMULATED:
            model = config.get(settings.MODEL) or DEFAULT_JUDGE
            plan = plans(config, self.panel, Opinion(model, effort_of(model)))
            is_ranked = depth is Depth.CERTIFY
            arena = contest(config, environ, self.panel, matches=is_ranked, note=session.note)
        self.names = models_of(self.panel, plan)  # those that are asked, each once
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
        """How scores come about, as ``SampledLayers.judged_as``."""
        return judged_as(PROMPT_VERSION, RUBRIC_VERSION, _answering(self.provider).name)

    def finish(self) -> None:
        """End the run: its report is written, and it need not be gone on from."""
        self.leave(done=True)

    def leave(self, *, done: bool = False) -> None:
        """End a run that has no report, so that it can be gone on from; where nothing was asked nothing is left."""
        if self._batches is not None:
            listed, place = self._batches
            listed.close()
            if done and os.path.exists(place):  # noqa: PTH110
                os.remove(place)  # noqa: PTH107
        if self.journal is not None:
            self.journal.close(done=done)

    def close(self) -> str | None:
        """Let go of connections and files; say what could not be cached, recorded or trusted, None for nothing."""
        self.provider.close()
        failures = [] if self.journal is None else [self.journal.failure, self.journal.ignored]
        if self._recorder is not None:
            self._recorder.close()
            failures.append(self._recorder.failure)
        if self.answers is not None:
            failures += closed(self.answers, self._session)
        return "; ".join(failure for failure in failures if failure) or None

    def _one_by_one(self, config: Config) -> Drive:
        """Run layers by single requests, with several on their way at a time."""
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
        """Run layers with all that is wanted in batches."""
        from skillgate.llm import batch_queue
        from skillgate.llm.batch_client import BatchJournal
        from skillgate.llm.batch_queue import Polling
        from skillgate.llm.budget import BatchBudget
        from skillgate.llm.providers.batch import Batches

        if not isinstance(self.provider, Batches) or not isinstance(self.budget, BatchBudget):
            message = "batches need a provider and a budget of their own"
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
    """Return what a run may spend, at the price that its provider takes."""
    kind = Budget
    if PROVIDERS.flag(provider.name, "BATCHES"):
        from skillgate.llm.budget import BatchBudget  # few runs take batches

        kind = BatchBudget
    cost, calls = config.get(settings.MAX_COST_USD), config.get(settings.MAX_CALLS)
    return kind(cost, calls, free=not provider.live, stop=stop)


def connect(
    config: Config, options: ModelOptions, environ: Mapping[str, str], cwd: str, *, runner: str = MESSAGES
) -> Provider:
    """Connect to the provider that configuration and options name, and to what runs sessions where it is another.

    Raises:
        UsageError: an option does not fit another, or a file of it is not valid.
        IncompleteError: a package is missing.
    """
    name = config.get(settings.PROVIDER)
    if options.replay is not None:
        if config.origin(settings.PROVIDER) == "option" and name != _REPLAY:
            raise UsageError(f"--replay answers in a provider's place; leave --provider {name} out")
        name = _REPLAY
    elif name == _REPLAY:
        raise UsageError("--provider replay needs --replay FILE, the recording that answers")
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


def _panel(config: Config, provider: Provider, depth: Depth) -> Panel:
    """Return the judges: the models in turn, each at least once; a certificate takes three where no number is set."""
    models, judges = config.get(settings.JUDGE_MODEL) or (DEFAULT_JUDGE,), config.get(settings.JUDGES)
    if judges is None:
        judges = max(len(models), CERTIFYING) if depth is Depth.CERTIFY else len(models)
    if judges < len(models):
        raise UsageError(
            f"judges is {judges}, and {settings.JUDGE_MODEL.key} names {len(models)} models:"
            f" {', '.join(models[judges:])} would never be asked; give --judges {len(models)} or more, or fewer models"
        )
    each = [models[index % len(models)] for index in range(judges)]
    return Panel(
        opinions=tuple(Opinion(model, effort_of(model)) for model in each),
        provider=_answering(provider).name,
        live=provider.live,
        most_characters=min(map(_characters, each)),
    )


def _characters(model: str) -> int:
    """Return how much of a skill a model is shown: what surely fits its context with question and answer."""
    context = context_of(model)
    return _UNKNOWN if context is None else max(_UNKNOWN, min(_MOST, int((context - _OTHER_TOKENS) * _PER_TOKEN)))


def _answering(provider: Provider) -> Provider:
    """Return whose answers these are: those of batches are the provider's that takes them."""
    own: Provider = getattr(provider, "cached_as", provider)
    return own


def _journal(config: Config, session: Console, run: str, environ: Mapping[str, str]) -> Journal | None:
    """Open the journal of a run, which may hold what one that was cut short had asked; None without a place for it."""
    from skillgate.llm.journal import Journal  # only deep runs are long enough

    folder = folder_of(environ, config.get(settings.CACHE_DIR), config.base(settings.CACHE_DIR))
    if not folder:
        session.note("there is no place to keep the run (HOME is not set): if it is cut short it begins anew")
        return None
    return Journal(os.path.join(folder, "runs"), run, now=time.time, seal=_seal(config, environ))  # noqa: PTH118


def open_answers(
    config: Config, session: Console, options: ModelOptions, environ: Mapping[str, str], stop: threading.Event
) -> Answers | None:
    """Open the cache of models' answers; None where there is no place for it, which is noted.

    Raises:
        UsageError: the key that signs them is too short.
    """
    folder = folder_of(environ, config.get(settings.CACHE_DIR), config.base(settings.CACHE_DIR))
    if not folder:
        session.note(f"there is no place to keep answers (HOME is not set): give --{settings.CACHE_DIR.key}")
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
    """Close the cache of answers; return what is to be noted of it, None for nothing."""
    answers.close()
    remark = answers.remark
    return answers.failure, answers.ignored, None if remark is None else f"{remark}; {session.anew}"


def _seal(config: Config, environ: Mapping[str, str]) -> Seal | None:
    """Return what signs cached answers; None without a key."""
    return seal_of(environ, config.get(settings.PROVIDER), config.get(settings.KEY_VARIABLE) or OPENAI_KEY)
