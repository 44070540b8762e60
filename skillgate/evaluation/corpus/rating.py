"""Play the skills of a corpus against one another, and rate them: every decided match is on disk at once."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings
from skillgate.errors import UsageError
from skillgate.evaluation.corpus.listing import CorpusChange
from skillgate.evaluation.corpus.outcome import Outcome, summary, unjudged
from skillgate.evaluation.corpus.place import require_index, rerated, store_of
from skillgate.evaluation.corpus.stored import StoredCorpus, member
from skillgate.evaluation.models.connecting import Models
from skillgate.evaluation.models.progress import LOG_S, WATCH_S, progress_line
from skillgate.evaluation.models.spending import UNASKED_USD, DryRun, bound_of, dry_run
from skillgate.judge.expense import is_live
from skillgate.llm import dry
from skillgate.llm.extras import require_packages
from skillgate.model.corpus import LIVE, CorpusIndex, Played, Provoked
from skillgate.model.exchange import SCRIPTED_PREFIX, Together
from skillgate.model.text import printable
from skillgate.ranking.entrant import MEDIAN, Arena, Entrant
from skillgate.ranking.match import PROMPT_VERSION, played, settled
from skillgate.ranking.opponents import opponents
from skillgate.ranking.standings import Identity, identity, source_of, standing_out

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from skillgate.config import Config
    from skillgate.evaluation.corpus.folder import Store
    from skillgate.evaluation.corpus.request import RateRequest
    from skillgate.evaluation.models.setup import ModelSetup
    from skillgate.llm.port import Progress
    from skillgate.model.corpus import Fit
    from skillgate.model.exchange import Steps
    from skillgate.ranking.entrant import Member
    from skillgate.session import Session

_REASON = 300  # characters of what is kept of a reason
_SAMPLED = 64  # pairs from which the cost of all is estimated before leave is asked for


class _Rating(NamedTuple):
    """What a run plays with."""

    store: Store
    corpus: StoredCorpus
    arena: Arena
    source: str


def rate(request: RateRequest, session: Session) -> CorpusChange | DryRun:
    """Play what was not played yet, then rate; with ``dry_run`` return what it would cost.

    Raises:
        UsageError: an option does not fit, there is no corpus, or much would be spent that nobody agreed to.
        IncompleteError: a package is missing, or another run writes the corpus.
        KeyboardInterrupt: the user wants no more; what was decided is kept.
    """
    require_packages()
    config = _config(request, session)
    store = store_of(request.corpus_dir, session, writes=True)
    require_index(store)
    with store.writing():
        models = Models(config, session, request.models, session.environ)
        try:
            return _rate(request, config, session, store, models)
        finally:
            failure = models.close()
            if failure is not None:
                session.note(failure)


def pairs(members: Sequence[Member], n: int) -> tuple[tuple[Member, Member], ...]:
    """Return every pair to be played once, the lesser digest first: each skill with its ``n`` nearest.

    Ratings have no say, so that a run that goes on plays the pairs that the first one would have.
    """
    level = [one._replace(rating=MEDIAN, matches=0, rateable=True) for one in members]
    found = {}
    for one in level:
        entrant = Entrant(one.name, one.digest, one.category, one.lines, ())
        for other in opponents(entrant, level, n):
            first, second = sorted((one, other), key=lambda skill: skill.digest)
            found[first.digest, second.digest] = (first, second)
    return tuple(found[key] for key in sorted(found))


def _rate(
    request: RateRequest, config: Config, session: Session, store: Store, models: Models
) -> CorpusChange | DryRun:
    index, matches = require_index(store), store.matches()
    source = source_of(live=models.provider.live, provider=models.provider.name)
    _require_source(index.fit, source, store)
    rating = _Rating(store, StoredCorpus(store, index), _arena(config, models), source)
    known = {identity(one) for one in matches.played}
    refused = _refused(rating, index, matches.played)
    level = tuple(member(one) for one in index.members if one.digest not in refused)
    wanted = pairs(level, rating.arena.opponents)
    missing = [pair for pair in wanted if _identity(rating, *pair) not in known]
    layers = [partial(_layer, rating, *pair) for pair in missing]
    if request.models.dry_run:
        return _forecast(layers, len(wanted), models.setup)
    _require_leave(layers, models.setup, session)
    outcomes = _play([partial(_kept, rating, layer, known) for layer in layers], models.setup, session)
    source = _answered_by(outcomes, source)
    _require_source(index.fit, source, store)
    index = rerated(_recorded(index, outcomes), store.matches().played, source)
    store.put_index(index)
    before, judge = len(wanted) - len(missing), rating.arena.judge.model
    return CorpusChange.of(
        summary(index, store.matches().played, outcomes, before, judge),
        index,
        complete=all(one.played is not None for one in outcomes),
        notes=unjudged(outcomes, index),
    )


def _layer(rating: _Rating, one: Member, two: Member) -> Steps[Outcome]:
    """Have one pair judged; texts are read when its turn comes."""
    first, second = rating.corpus.entrant(one), rating.corpus.entrant(two)
    if first is None or second is None:
        yield Together(())
        gone = one if first is None else two
        return Outcome(None, f"the text of {gone.name} is gone or changed: skillgate corpus verify says more")
    found = yield from played(first, second, rating.arena, one.path)
    costs = [answer.cost_usd for answer in found.answers]
    cost = None if any(one is None for one in costs) else sum(one for one in costs if one is not None)
    result = settled(found.first, found.second)
    key = _identity(rating, one, two)
    if key.source == LIVE and not is_live(found.answers, live=True):
        key = key._replace(source=SCRIPTED_PREFIX)
    if result.result is None:
        said = printable(result.reason or "")[:_REASON]
        return Outcome(None, result.reason, Provoked(**key._asdict(), reason=said) if result.provoked else None, cost)
    match = Played(
        **key._asdict(),
        result=result.result,
        orders=result.orders,
        position_bias=result.position_bias,
        won=result.won,
        lost=result.lost,
    )
    return Outcome(match, cost_usd=cost)


def _refused(rating: _Rating, index: CorpusIndex, played: Sequence[Played]) -> frozenset[str]:
    """Return the skills that this judge cannot compare: asked again, it would say the same."""

    def is_own(one: Played | Provoked) -> bool:
        return (one.model, one.prompt_version, one.source) == (
            rating.arena.judge.model,
            PROMPT_VERSION,
            rating.source,
        )

    return standing_out(filter(is_own, index.provoked), filter(is_own, played))


def _recorded(index: CorpusIndex, outcomes: Sequence[Outcome]) -> CorpusIndex:
    """Note the pairs that a text may have kept from a verdict, each once for each judge."""
    found = {one._replace(reason=""): one for one in index.provoked}
    found |= {one.provoked._replace(reason=""): one.provoked for one in outcomes if one.provoked is not None}
    return replace(index, provoked=tuple(found[key] for key in sorted(found)))


def _answered_by(outcomes: Sequence[Outcome], source: str) -> str:
    """Return whose verdicts a run gave: a scripted model's, where a server that passes for a live one is none."""
    found = {one.played.source for one in outcomes if one.played is not None}
    return found.pop() if len(found) == 1 else source


def _kept(rating: _Rating, layer: Callable[[], Steps[Outcome]], known: Collection[Identity]) -> Steps[Outcome]:
    """Have a pair judged, and write what was decided down before anything else is asked for."""
    outcome = yield from layer()
    if outcome.played is not None and identity(outcome.played) not in known:
        rating.store.add([outcome.played])
    return outcome


def _play(layers: Sequence[Callable[[], Steps[Outcome]]], setup: ModelSetup, session: Session) -> list[Outcome]:
    watch = _watch(session, len(layers))
    try:
        return list(setup.drive(layers, watch))
    except KeyboardInterrupt:
        session.note("interrupted: decided matches are kept; the same command goes on from them, and rates")
        raise
    finally:
        if watch is not None and session.stderr.isatty():
            session.show_progress("\r" + " " * 79 + "\r")


def _config(request: RateRequest, session: Session) -> Config:
    """Return the configuration with what was asked for: one judge.

    Raises:
        UsageError: an option means nothing here, or asks for several judges.
    """
    refused = [f"--{one.key}" for one in (settings.LAYERS, settings.JUDGES) if one.key in request.options]
    refused += ["--calibration"] if request.models.calibration else []
    if refused:
        raise UsageError(f"corpus rate has one judge, and takes no {', '.join(refused)}")
    config = session.config.with_options(request.options)
    names = config.get(settings.JUDGE_MODEL)
    if not names:
        return config.with_options({settings.JUDGES.key: 1})
    if len(names) > 1:
        if config.origin(settings.JUDGE_MODEL) == "option":
            raise UsageError(f"corpus rate has one judge: give one --{settings.JUDGE_MODEL.key}, not {len(names)}")
        session.note(f"of the models that judge, {names[0]} compares")
    return config.with_options({settings.JUDGE_MODEL.key: names[:1], settings.JUDGES.key: 1})


def _arena(config: Config, models: Models) -> Arena:
    return Arena(
        judge=models.panel.opinions[0],
        opponents=config.get(settings.OPPONENTS),
        provider=models.provider.name,
        live=models.provider.live,
        most_characters=models.panel.most_characters,
    )


def _require_source(fit: Fit | None, source: str, store: Store) -> None:
    """Keep ratings of a real model from being replaced by those of what stands in for one.

    Raises:
        UsageError: they would be.
    """
    if fit is not None and fit.source == LIVE != source:
        raise UsageError(
            f"the ratings in {store.folder} are a real model's, and the provider {source} asks none:"
            f" give another --{settings.CORPUS_DIR.key}, or another --{settings.PROVIDER.key}"
        )


def _require_leave(layers: Sequence[Callable[[], Steps[Outcome]]], setup: ModelSetup, session: Session) -> None:
    """Ask before much is spent without a limit.

    Raises:
        UsageError: the estimate is high, and there is no limit and nobody to ask, or somebody said no.
    """
    if not layers or not setup.provider.live or any(limit is not None for limit in setup.limits):
        return
    sample = layers[:: -(-len(layers) // _SAMPLED)]
    cost = dry.estimate(sample, answers=setup.answers, provider=setup.provider).cost_usd
    times = len(layers) / len(sample)
    if cost is None:
        return
    if cost.high * times <= UNASKED_USD:
        setup.bound(bound_of(0.0))
        return
    about = f"these {len(layers)} pairs may cost about ${cost.low * times:.2f} to ${cost.high * times:.2f}"
    if not session.interactive:
        raise UsageError(f"{about}: give --{settings.MAX_COST_USD.key}, or see what it would ask with --dry-run")
    if not session.confirm(f"{about}; go on?"):
        raise UsageError(f"{about}, and were not begun")
    setup.bound(bound_of(cost.high * times))


def _forecast(layers: Sequence[Callable[[], Steps[Outcome]]], wanted: int, setup: ModelSetup) -> DryRun:
    """Return what a run would ask and cost."""
    found = dry.estimate(layers, answers=setup.answers, provider=setup.provider)
    cost, calls = setup.limits
    _, *more = dry.lines(found, max_cost_usd=cost, max_calls=calls)  # the first line counts skills
    first = f"Dry run, nothing was sent: {len(layers):,} of {wanted:,} pairs to play, {found.calls:,} calls to make."
    return dry_run((first, *more), found)


def _identity(rating: _Rating, one: Member, two: Member) -> Identity:
    return Identity(one.digest, two.digest, rating.arena.judge.model, PROMPT_VERSION, rating.source)


def _watch(session: Session, many: int) -> Callable[[Progress], None] | None:
    """Return what shows progress on stderr: drawn where somebody is looking, in lines of their own with ``-v``."""
    is_drawn = session.stderr.isatty()
    if session.quiet or not (is_drawn or session.verbose):
        return None
    told = [0.0]

    def show(now: Progress) -> None:
        if now.elapsed_s - told[0] < (WATCH_S if is_drawn else LOG_S) and now.layers_done < now.layers:
            return
        told[0] = now.elapsed_s
        line = progress_line(now, many)
        if is_drawn:
            session.show_progress("\r" + line.ljust(79)[:79])
        else:
            session.detail(line)

    return show
