"""From configuration and options to who judges: provider, cache, budget, retries, recording."""

from __future__ import annotations

import gc
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from skillgate.cli.bench import Bench
from skillgate.cli.extras import missing_extra
from skillgate.deepen import judged_as
from skillgate.errors import UsageError
from skillgate.judge.layer import PROMPT_VERSION, RUBRIC_VERSION
from skillgate.judge.subject import Opinion, Panel
from skillgate.llm.answers import Answers, folder_of
from skillgate.llm.asker import PortAsker
from skillgate.llm.breaker import Breaker
from skillgate.llm.budget import Budget
from skillgate.llm.classify import classify
from skillgate.llm.port import Connection
from skillgate.llm.prices import DEFAULT_JUDGE, context_of, effort_of
from skillgate.llm.recording import Recorder
from skillgate.registry import Room

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.cli.session import Session
    from skillgate.config import Config
    from skillgate.llm.port import Provider

_UNKNOWN = 300_000  # characters: what fits 200,000 tokens, the least context of the models there are
_MOST = 1_200_000
_BESIDE = 50_000  # tokens
_PER_TOKEN = 1.7  # characters: skills have 2.6 as a rule; code and tables have fewer
_PROVIDERS = Room("skillgate.llm.providers")


class Asking(NamedTuple):
    """What a run says of models beside the configuration.

    Attributes:
        record: a file to write every exchange to.
        replay: a recording that answers in a provider's place.
        refresh: whether answers that are kept are asked for anew.
        keep: whether answers are kept between runs.
    """

    record: str | None = None
    replay: str | None = None
    refresh: bool = False
    keep: bool = True


class Models:
    """Who judges in one run, and what is to be closed after it.

    Attributes:
        provider: who answers.
        panel: who judges.
        budget: what it may cost.
        answers: those of earlier runs, None for none.
        bench: all of it, for whoever drives the layers.
        stop: once it is set nothing waits any more.
    """

    def __init__(self, config: Config, session: Session, asking: Asking, environ: Mapping[str, str]) -> None:
        """Connect.

        Args:
            config: provider, models, budget.
            session: for its streams and working directory.
            asking: what the options say.
            environ: the environment that holds keys.

        Raises:
            UsageError: an option does not fit another.
            IncompleteError: a package is missing.
        """
        self.provider = connect(config, asking, environ, session.cwd)
        # The command line goes without the collector, for runs of a moment. Connections and answers leave cycles
        # behind; what was loaded until now stays, and is not walked again and again.
        gc.freeze()
        gc.enable()
        opinions = _opinions(config)
        self.panel = Panel(
            opinions=tuple(Opinion(model, effort_of(model)) for model in opinions),
            provider=self.provider.name,
            live=self.provider.live,
            most_characters=min(_characters(model) for model in opinions),
        )
        self.stop = threading.Event()
        cost, calls = config.get("max-cost-usd"), config.get("max-calls")
        self.budget = Budget(
            cost if isinstance(cost, float) else None,
            calls if isinstance(calls, int) else None,
            free=not self.provider.live,
            stop=self.stop,
        )
        self.budget.require_prices(self.names)
        self.answers = _answers(config, session, asking, environ, self.stop) if asking.keep else None
        self._recorder = Recorder(asking.record, cwd=session.cwd, now=time.time) if asking.record else None
        in_flight = config.get("in-flight")
        self.bench = Bench(
            panel=self.panel,
            asker=PortAsker(
                self.provider,
                budget=self.budget,
                answers=self.answers,
                breaker=Breaker(stop=self.stop),
                recorder=self._recorder,
            ),
            in_flight=in_flight if isinstance(in_flight, int) else 8,
            stop=self.stop,
            spent=lambda: self.budget.reason if self.budget.exhausted else None,
            provider=self.provider,
            answers=self.answers,
            limits=(cost if isinstance(cost, float) else None, calls if isinstance(calls, int) else None),
        )

    @property
    def judged_as(self) -> tuple[str, ...]:
        """Say how scores come about, as ``pipeline.Context.judged_as``."""
        return judged_as(PROMPT_VERSION, RUBRIC_VERSION, self.provider.name)

    @property
    def names(self) -> tuple[str, ...]:
        """Give the models of the panel, each once."""
        return tuple(dict.fromkeys(opinion.model for opinion in self.panel.opinions))

    def close(self) -> str | None:
        """Let go of connections and files; say what could not be kept or recorded, None for nothing."""
        self.provider.close()
        failures = []
        if self._recorder is not None:
            self._recorder.close()
            failures.append(self._recorder.failure)
        if self.answers is not None:
            self.answers.close()
            failures.append(self.answers.failure)
        return "; ".join(failure for failure in failures if failure) or None


def connect(config: Config, asking: Asking, environ: Mapping[str, str], cwd: str) -> Provider:
    """Connect to the provider that configuration and options name.

    Raises:
        UsageError: an option does not fit another, or a file of it is not valid.
        IncompleteError: a package is missing.
    """
    name = str(config.get("provider"))
    if asking.replay is not None:
        if config.origin("provider") == "option" and name != "replay":
            raise UsageError(f"--replay answers in a provider's place; leave --provider {name} out")
        name = "replay"
    elif name == "replay":
        raise UsageError("--provider replay needs --replay FILE, the recording that answers")
    base, key, script, heat = (config.get(one) for one in ("base-url", "key-variable", "script", "temperature"))
    connection = Connection(
        environ=environ,
        base_url=base if isinstance(base, str) else None,
        key_variable=key if isinstance(key, str) else None,
        temperature=heat if isinstance(heat, float) else None,
        file=asking.replay if name == "replay" else script if isinstance(script, str) else None,
        cwd=cwd if name == "replay" else config.base("script"),
    )
    try:
        module = _PROVIDERS.load(name)
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
    provider: Provider = module.connect(connection)
    return provider


def _opinions(config: Config) -> tuple[str, ...]:
    """Give the model of each judge: the models in turn, each at least once.

    Raises:
        UsageError: there are more models than judges.
    """
    names, count = config.get("judge-model"), config.get("judges")
    models = names if isinstance(names, tuple) and names else (DEFAULT_JUDGE,)
    judges = count if isinstance(count, int) else len(models)
    if judges < len(models):
        raise UsageError(
            f"judges is {judges}, and judge-model names {len(models)} models: {', '.join(models[judges:])} would never"
            f" be asked; give --judges {len(models)} or more, or fewer models"
        )
    return tuple(models[index % len(models)] for index in range(judges))


def _characters(model: str) -> int:
    """Give how much of a skill a model is shown: what surely fits its context, beside question and answer."""
    context = context_of(model)
    return _UNKNOWN if context is None else max(_UNKNOWN, min(_MOST, int((context - _BESIDE) * _PER_TOKEN)))


def _answers(
    config: Config, session: Session, asking: Asking, environ: Mapping[str, str], stop: threading.Event
) -> Answers | None:
    given = config.get("cache-dir")
    folder = folder_of(environ, given if isinstance(given, str) else None, config.base("cache-dir"))
    if not folder:
        session.note("there is no place to keep answers (HOME is not set): give --cache-dir")
        return None
    return Answers(folder, now=time.time, classify=classify, refresh=asking.refresh, stop=stop)
