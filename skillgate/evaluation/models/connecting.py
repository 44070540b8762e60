"""From configuration and options to who judges: provider, cache, budget, retries, recording."""

from __future__ import annotations

import gc
import os
import threading
import time
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.errors import UsageError
from skillgate.evaluation.deepen import judged_as
from skillgate.evaluation.models.driving import Kept, budget_of, drive_of
from skillgate.evaluation.models.setup import ModelSetup, models_of
from skillgate.judge.layer import PROMPT_VERSION, RUBRIC_VERSION
from skillgate.judge.subject import Opinion, Panel
from skillgate.llm.answers import Answers, folder_of
from skillgate.llm.classify import classify
from skillgate.llm.extras import missing_extra
from skillgate.llm.port import Connection
from skillgate.llm.prices import DEFAULT_JUDGE, context_of, effort_of
from skillgate.llm.recording import Recorder
from skillgate.llm.seal import OPENAI_KEY, seal_of
from skillgate.model.score import Depth
from skillgate.registry import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skillgate.config import Config
    from skillgate.evaluation.models.ranking import Contest
    from skillgate.evaluation.request import ModelOptions
    from skillgate.llm.journal import Journal
    from skillgate.llm.port import Provider
    from skillgate.llm.seal import Seal
    from skillgate.montecarlo.subject import Plan
    from skillgate.session import Session

_REPLAY = "replay"  # the provider of --replay
MESSAGES = "messages"  # the runner of sessions that is the provider itself
_SIMULATED = (Depth.DEEP, Depth.CERTIFY)
CERTIFYING = 3  # judges, where nobody says how many
_UNKNOWN = 300_000  # characters: what fits 200,000 tokens, the least context of the models there are
_MOST = 1_200_000
_BESIDE = 50_000  # tokens
_PER_TOKEN = 1.7  # characters: skills have 2.6 as a rule; code and tables have fewer


class Models:
    """Who judges in one run, and what is to be closed after it.

    Attributes:
        provider: who answers.
        panel: who judges.
        budget: what it may cost.
        answers: those of earlier runs, None for none.
        setup: all of it, for whoever drives the layers.
        stop: once it is set nothing waits any more.
    """

    def __init__(
        self,
        config: Config,
        session: Session,
        options: ModelOptions,
        environ: Mapping[str, str],
        depth: Depth = Depth.STANDARD,
        *,
        run: str = "",
    ) -> None:
        """Connect.

        Args:
            config: provider, models, budget.
            session: for its streams and working directory.
            options: how models are asked.
            environ: the environment that holds keys.
            depth: which layers there are.
            run: which run it is, so that one that was cut short is gone on from; ``""``: it is not kept as a run.

        Raises:
            UsageError: an option does not fit another.
            IncompleteError: a package is missing.
        """
        self._session = session
        runner = config.get(settings.RUNNER) if depth in _SIMULATED else MESSAGES
        self.provider = connect(config, options, environ, session.cwd, runner=runner)
        # The command line goes without the collector, for runs of a moment. Connections and answers leave cycles
        # behind; what was loaded until now stays, and is not walked again and again.
        gc.freeze()
        gc.enable()
        self.panel = _panel(config, self.provider, depth)
        self.stop = threading.Event()
        self.budget = budget_of(config, self.provider, self.stop)
        self._plan, self._contest = _deeper(config, session, environ, self.panel, depth)
        self.budget.require_prices(self.names)
        self.answers = kept_answers(config, session, options, environ, self.stop) if options.keep_answers else None
        self._recorder = Recorder(options.record, cwd=session.cwd, now=time.time) if options.record else None
        self.journal = _journal(config, session, run, environ) if run else None
        kept = Kept(self.answers, self.journal, self._recorder)
        drive, self._end = drive_of(config, self.provider, self.budget, kept, self.stop)
        self.setup = ModelSetup(
            panel=self.panel,
            stop=self.stop,
            spent=lambda: self.budget.reason if self.budget.exhausted else None,
            provider=_answering(self.provider),
            answers=self.answers,
            limits=(config.get(settings.MAX_COST_USD), config.get(settings.MAX_CALLS)),
            bound=self.budget.bound,
            drive=drive,
            plan=self._plan,
            contest=self._contest,
            lift=options.lift,
            is_batch=PROVIDERS.flag(self.provider.name, "BATCHES"),
        )

    @property
    def judged_as(self) -> tuple[str, ...]:
        """Say how scores come about, as ``SampledLayers.judged_as``."""
        return judged_as(PROMPT_VERSION, RUBRIC_VERSION, _answering(self.provider).name)

    @property
    def names(self) -> tuple[str, ...]:
        """Give the models that are asked, each once: those that judge, then the one under test."""
        return models_of(self.panel, self._plan)

    def finish(self) -> None:
        """End the run: its report is written, and it need not be gone on from."""
        self._end(True)
        if self.journal is not None:
            self.journal.close(done=True)

    def leave(self) -> None:
        """End a run that has no report, so that it can be gone on from; where nothing was asked nothing is left."""
        self._end(False)
        if self.journal is not None:
            self.journal.close(done=False)

    def close(self) -> str | None:
        """Let go of connections and files; say what could not be kept, recorded or trusted, None for nothing."""
        self.provider.close()
        failures = [] if self.journal is None else [self.journal.failure, self.journal.ignored]
        if self._recorder is not None:
            self._recorder.close()
            failures.append(self._recorder.failure)
        if self.answers is not None:
            failures += closed(self.answers, self._session)
        return "; ".join(failure for failure in failures if failure) or None


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
    from skillgate.llm.runners import with_runner  # few runs have one

    return with_runner(provider, connection, runner)


def _panel(config: Config, provider: Provider, depth: Depth) -> Panel:
    models = _opinions(config, depth)
    return Panel(
        opinions=tuple(Opinion(model, effort_of(model)) for model in models),
        provider=_answering(provider).name,
        live=provider.live,
        most_characters=min(map(_characters, models)),
    )


def _opinions(config: Config, depth: Depth) -> tuple[str, ...]:
    """Give the model of each judge: the models in turn, each at least once; a certificate takes three where not told.

    Raises:
        UsageError: there are more models than judges.
    """
    models, judges = config.get(settings.JUDGE_MODEL) or (DEFAULT_JUDGE,), config.get(settings.JUDGES)
    if judges is None:
        judges = max(len(models), CERTIFYING) if depth is Depth.CERTIFY else len(models)
    if judges < len(models):
        raise UsageError(
            f"judges is {judges}, and {settings.JUDGE_MODEL.key} names {len(models)} models:"
            f" {', '.join(models[judges:])} would never be asked; give --judges {len(models)} or more, or fewer models"
        )
    return tuple(models[index % len(models)] for index in range(judges))


def _answering(provider: Provider) -> Provider:
    """Give whose answers these are: those of batches are the provider's that takes them."""
    own: Provider = getattr(provider, "kept_as", provider)
    return own


def _deeper(
    config: Config, session: Session, environ: Mapping[str, str], panel: Panel, depth: Depth
) -> tuple[Callable[[str], Plan] | None, Contest | None]:
    """Give how sessions are simulated and skills ranked, as far as the depth goes.

    Raises:
        UsageError: the corpus is broken.
    """
    if depth not in _SIMULATED:
        return None, None
    from skillgate.evaluation.models.ranking import contest
    from skillgate.evaluation.models.sessions import plans

    model = config.get(settings.MODEL) or DEFAULT_JUDGE
    plan = plans(config, panel, Opinion(model, effort_of(model)))
    found = contest(config, environ, panel, matches=depth is Depth.CERTIFY, note=session.note)
    return plan, found


def _journal(config: Config, session: Session, run: str, environ: Mapping[str, str]) -> Journal | None:
    """Open the journal of a run, which may hold what one that was cut short had asked; None without a place for it."""
    from skillgate.llm.journal import Journal  # only deep runs are long enough

    folder = folder_of(environ, config.get(settings.CACHE_DIR), config.base(settings.CACHE_DIR))
    if not folder:
        session.note("there is no place to keep the run (HOME is not set): if it is cut short it begins anew")
        return None
    return Journal(os.path.join(folder, "runs"), run, now=time.time, seal=_seal(config, environ))  # noqa: PTH118


def _characters(model: str) -> int:
    """Give how much of a skill a model is shown: what surely fits its context, beside question and answer."""
    context = context_of(model)
    return _UNKNOWN if context is None else max(_UNKNOWN, min(_MOST, int((context - _BESIDE) * _PER_TOKEN)))


def kept_answers(
    config: Config, session: Session, options: ModelOptions, environ: Mapping[str, str], stop: threading.Event
) -> Answers | None:
    """Open what is kept of models' answers between runs; None where there is no place for it, which is said.

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


def closed(answers: Answers, session: Session) -> tuple[str | None, ...]:
    """Close what is kept between runs; give what is to be said of it, None for nothing."""
    answers.close()
    remark = answers.remark
    return answers.failure, answers.ignored, None if remark is None else f"{remark}; {session.anew}"


def _seal(config: Config, environ: Mapping[str, str]) -> Seal | None:
    """Return what signs kept answers; None without a key.

    Raises:
        UsageError: the key is too short.
    """
    return seal_of(environ, config.get(settings.PROVIDER), config.get(settings.KEY_VARIABLE) or OPENAI_KEY)
