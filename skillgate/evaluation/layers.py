"""What is asked of models about one skill: judging, sessions and matches."""

from __future__ import annotations

import os
import time
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import settings
from skillgate.errors import UsageError
from skillgate.format import printable
from skillgate.judge.dossier import Unjudged, dossier
from skillgate.judge.layer import judge
from skillgate.judge.subject import Judged, Opinion, Panel, Ratings
from skillgate.llm.extras import missing_extra
from skillgate.model.exchange import Steps, Together
from skillgate.model.layers import Estimate, JudgeLayer, Lift, MonteCarloLayer, RankingLayer, TriggerPrompt

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from skillgate.config import Config
    from skillgate.evaluation.corpus.members import ListedMember
    from skillgate.evaluation.corpus.store import Store
    from skillgate.evaluation.pipeline import SampledSkill
    from skillgate.judge.siblings import Shelves
    from skillgate.llm.answers import Answers
    from skillgate.llm.port import Provider, Watch
    from skillgate.model.corpus import CorpusIndex
    from skillgate.montecarlo.subject import Lifted, Plan, Simulated, Stop
    from skillgate.ranking.corpus import Corpus
    from skillgate.ranking.layer import Arena, Ranked

    Drive = Callable[[Sequence[Callable[[], Steps[Any]]], Watch | None], Iterator[Any]]

NO_CORPUS = "there is no corpus to rank against: skillgate corpus build DIR makes one, skillgate corpus rate rates it"
NEAR_MISSES = 5  # simulations for each near miss, where nothing else is asked for


class Contest(NamedTuple):
    """What skills are ranked against."""

    corpus: Corpus | None
    arena: Arena | None  # how matches are played; None where none are
    siblings: tuple[ListedMember, ...] = ()  # of the corpus, to be listed next to a skill that lies alone


class ModelSetup(NamedTuple):
    """Who judges, simulates and ranks, and who answers."""

    panel: Panel
    stop: threading.Event  # once it is set nothing waits any more
    spent: Callable[[], str | None]  # how the budget ended the run early
    provider: Provider
    answers: Answers | None  # those of earlier runs
    limits: tuple[float | None, int | None]  # the most US dollars and calls
    bound: Callable[[float], None]  # holds the run to so many US dollars where there is no limit
    drive: Drive  # runs layers, and yields their results in order
    plan: Callable[[str], Plan] | None = None  # how sessions are simulated, by shown path; None for a depth without
    contest: Contest | None = None  # what skills are ranked against; None for a depth without
    lift: bool = False  # whether the skill's tasks are done without it too
    is_batch: bool = False  # whether answers come in batches, at their price


class LayerResults(NamedTuple):
    """What came of one skill; None for what was not asked for."""

    judged: Judged
    simulated: Simulated | None = None
    ranked: Ranked | None = None
    lifted: Lifted | None = None


def models_of(panel: Panel, plan: Callable[[str], Plan] | None) -> tuple[str, ...]:
    """Return the models that a run asks, each once: those that judge, then the one under test."""
    tested = [] if plan is None else [plan("").model.model]
    return tuple(dict.fromkeys((*(opinion.model for opinion in panel.opinions), *tested)))


def layer_of(
    skill: SampledSkill, setup: ModelSetup, shelves: Shelves, note: Callable[[str], None] | None = None
) -> Steps[LayerResults]:
    """Return the generator of all that is asked about a skill; what it was asked on before, it is asked on once more.

    ``note`` hears where the skill brings other prompts now.
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
    """Return the generator of a layer that asks nothing."""
    yield Together(())
    return result


def _judged(skill: SampledSkill, panel: Panel, shelves: Shelves, note: Callable[[str], None] | None) -> Steps[Judged]:
    """Return the generator that judges a skill; where it was judged before, on the prompts of then."""
    subject = dossier(skill.source, skill.facts, shelves=shelves)
    if isinstance(subject, Unjudged):
        reason = subject.reason
        layer = JudgeLayer(0, len(panel.opinions), None, reason=reason, provider=panel.provider, live=panel.live)
        return _nothing(Judged(layer, Ratings(), failure=reason))
    before = _earlier_prompts(skill)
    if before is not None:
        both = [{(one.prompt, one.should_trigger) for one in prompts or ()} for prompts in (subject.prompts, before)]
        if note is not None and subject.prompts is not None and both[0] != both[1]:
            why = "is judged on the prompts of its baseline; those of its evals/ hold from the next one on"
            note(f"{subject.path} {why}")
        subject = subject._replace(prompts=before, prompts_source="baseline")
    return judge(subject, panel, time.perf_counter_ns)


def _earlier_prompts(skill: SampledSkill) -> tuple[TriggerPrompt, ...] | None:
    """Return the prompts that the baseline was judged on, without what was predicted then."""
    for layer in skill.before.layers if skill.before else ():
        if isinstance(layer, JudgeLayer) and layer.triggering is not None and layer.triggering.prompts:
            return tuple(prompt._replace(predicted=()) for prompt in layer.triggering.prompts)
    return None


def plans(config: Config, panel: Panel, model: Opinion) -> Callable[[str], Plan]:
    """Return how sessions are simulated, by the skill's shown path: what may end them early differs by path."""
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
    """Return the generator of a skill's sessions; where it was simulated before, with the prompts of then."""
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
    """Return the generator that does a skill's tasks with it and without it."""
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
    """Open the corpus that configuration and options name.

    Args:
        config: the configuration.
        environ: the environment, for the system's place.
        panel: who compares.
        matches: whether skills are ranked; else the corpus gives siblings alone, and its ratings are not looked at.
        note: hears where a project's file chose the corpus: whoever may change the one may choose the other.

    Raises:
        UsageError: there is one that is broken, whose ratings its matches do not give, or none where an option names
            one.
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
        # A file that was found is shown relative to the working directory, the user's own from home or from the root.
        is_users = origin in ("default", "option") or origin.startswith("~") or os.path.isabs(origin)  # noqa: PTH117
        if note is not None and not is_users:
            note(f"the corpus is the one that {origin} names: {printable(folder)}")
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
    """Raise UsageError if ratings are not those that the matches give: what was written by hand is no rating."""
    from skillgate.evaluation.corpus.store import rating_faults

    try:
        faults = tuple(islice(rating_faults(index, store.matches()), 1))
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
    if faults:
        raise UsageError(
            f"the ratings in {store.folder} are not those that its matches give: {printable(faults[0])};"
            " skillgate corpus verify says all, skillgate corpus rate rates it anew"
        )


def _ranked(skill: SampledSkill, contest: Contest, arena: Arena) -> Steps[Ranked]:
    """Return the generator of a skill's matches; without a corpus there are none, and that is no failure."""
    from skillgate.evaluation.corpus.members import entrant_of
    from skillgate.ranking.layer import Ranked, rank

    entrant = None if contest.corpus is None else entrant_of(skill.source)
    if contest.corpus is None or entrant is None:
        reason = NO_CORPUS if contest.corpus is None else "the skill holds no text to compare"
        return _nothing(Ranked(RankingLayer(0, 0, None, None, None, reason=reason, live=arena.live)))
    path = str(skill.source.root.path)
    return rank(entrant, contest.corpus, arena, time.perf_counter_ns, subject=path, path=path)
