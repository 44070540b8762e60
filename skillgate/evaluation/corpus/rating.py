"""Compare the skills of a corpus with one another, and rate them; every decided match is saved at once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings
from skillgate.errors import UsageError
from skillgate.evaluation.corpus.members import CorpusChange, RateRequest, StoredCorpus, member
from skillgate.evaluation.corpus.store import Store, require_index, rerated, store_of
from skillgate.evaluation.models import Models
from skillgate.evaluation.sampled import DryRun, approve, clear, dry_run, watching
from skillgate.format import printable
from skillgate.judge.asking import is_live
from skillgate.llm import estimates, require_packages
from skillgate.model.corpus import LIVE, CorpusIndex, Fit, Played, Provoked
from skillgate.model.exchange import SCRIPTED_PREFIX, Steps, Together
from skillgate.ranking import MEDIAN
from skillgate.ranking.corpus import Entrant, Identity, Member, identity, opponents, provoking, resting_on, source_of
from skillgate.ranking.layer import PROMPT_VERSION, Arena, settled
from skillgate.ranking.layer import played as play_match

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from skillgate.config import Config
    from skillgate.console import Console
    from skillgate.evaluation.models import ModelSetup

_REASON = 300  # characters stored of a reason
_SAMPLED = 64  # pairs from which the cost of all is estimated before the user is asked
_MOST_REASONS = 5
_WIDTH = 79  # characters of the line that shows progress


class _Outcome(NamedTuple):
    """The result of one pair: the match, or the pair if a text may have prevented a verdict; and the cost or None."""

    played: Played | None
    reason: str | None = None
    provoked: Provoked | None = None
    cost_usd: float | None = 0.0


class _Rating(NamedTuple):
    """The state of one run."""

    store: Store
    corpus: StoredCorpus
    arena: Arena
    source: str

    def identity(self, one: Member, two: Member) -> Identity:
        """Return the identity of a pair."""
        return Identity(one.digest, two.digest, self.arena.judge.model, PROMPT_VERSION, self.source)


def rate(request: RateRequest, session: Console) -> CorpusChange | DryRun:
    """Play missing matches, then rate; with ``dry_run`` return the estimated cost.

    Raises:
        UsageError: an option is not valid, there is no corpus, or the user did not agree to the cost.
        IncompleteError: a package is missing, or another run is writing the corpus.
        KeyboardInterrupt: the user stopped the run; decided matches are saved.
    """
    require_packages()
    config = _config(request, session)
    store = store_of(request.corpus_dir, session, writes=True)
    require_index(store)
    with store.writing():
        models = Models(config, session, request.models)
        try:
            return _rate(request, config, session, store, models)
        finally:
            failure = models.close()
            if failure is not None:
                session.note(failure)


def _config(request: RateRequest, session: Console) -> Config:
    """Return the configuration with the options, for one judge."""
    refused = [f"--{one.key}" for one in (settings.LAYERS, settings.JUDGES) if one.key in request.options]
    refused += ["--calibration"] if request.models.calibration else []
    if refused:
        raise UsageError(f"corpus rate uses one judge; leave out {', '.join(refused)}")
    config = session.config.with_options(request.options)
    names = config.get(settings.JUDGE_MODEL)
    if not names:
        return config.with_options({settings.JUDGES.key: 1})
    if len(names) > 1:
        if config.origin(settings.JUDGE_MODEL) == "option":
            raise UsageError(f"corpus rate uses one judge; pass one --{settings.JUDGE_MODEL.key}, not {len(names)}")
        session.note(f"only {names[0]} of the judge models compares skills")
    return config.with_options({settings.JUDGE_MODEL.key: names[:1], settings.JUDGES.key: 1})


def _rate(
    request: RateRequest, config: Config, session: Console, store: Store, models: Models
) -> CorpusChange | DryRun:
    index, matches = require_index(store), store.matches()
    source = source_of(live=models.provider.live, provider=models.provider.name)
    _require_source(index.fit, source, store)
    arena = Arena(
        judge=models.panel.opinions[0],
        opponents=config.get(settings.OPPONENTS),
        provider=models.provider.name,
        live=models.provider.live,
        most_characters=models.panel.most_characters,
    )
    rating = _Rating(store, StoredCorpus(store, index), arena, source)
    known = {identity(one) for one in matches.played}
    refused = _refused(rating, index, matches.played)
    wanted = _pairs([member(one) for one in index.members if one.digest not in refused], arena.opponents)
    missing = [pair for pair in wanted if rating.identity(*pair) not in known]
    layers = [partial(_layer, rating, *pair) for pair in missing]
    if request.models.dry_run:
        return _forecast(layers, len(wanted), models.setup)
    _require_approval(layers, models.setup, session)
    outcomes = _play([partial(_stored, rating, layer, known) for layer in layers], models.setup, session)
    sources = {one.played.source for one in outcomes if one.played is not None}
    if len(sources) == 1:  # a server that claims to be live may be a scripted model
        source = sources.pop()
    _require_source(index.fit, source, store)
    index = rerated(_recorded(index, outcomes), store.matches().played, source)
    store.put_index(index)
    before = len(wanted) - len(missing)
    return CorpusChange.of(
        _summary(index, store.matches().played, outcomes, before, arena.judge.model),
        index,
        complete=all(one.played is not None for one in outcomes),
        notes=_unjudged(outcomes, index),
    )


def _require_source(fit: Fit | None, source: str, store: Store) -> None:
    """Raise UsageError if ratings of a real model would be replaced by those of a substitute."""
    if fit is not None and fit.source == LIVE != source:
        raise UsageError(
            f"the ratings in {store.folder} are from a real model, but provider {source} does not ask one; use"
            f" another --{settings.CORPUS_DIR.key} or --{settings.PROVIDER.key}"
        )


def _refused(rating: _Rating, index: CorpusIndex, played: Sequence[Played]) -> frozenset[str]:
    """Return the skills that this judge cannot compare; asking again would not help."""
    judge = (rating.arena.judge.model, PROMPT_VERSION, rating.source)

    def is_own(one: Played | Provoked) -> bool:
        return (one.model, one.prompt_version, one.source) == judge

    return provoking(filter(is_own, index.provoked), filter(is_own, played))


def _pairs(members: Sequence[Member], n: int) -> tuple[tuple[Member, Member], ...]:
    """Return every pair to play once, the lower digest first: each skill with its ``n`` nearest.

    Ratings are ignored, so that a resumed run plays the same pairs.
    """
    level = [one._replace(rating=MEDIAN, matches=0, rateable=True) for one in members]
    pairs = {}
    for one in level:
        entrant = Entrant(one.name, one.digest, one.category, one.lines, ())
        for other in opponents(entrant, level, n):
            first, second = sorted((one, other), key=lambda skill: skill.digest)
            pairs[first.digest, second.digest] = (first, second)
    return tuple(pairs[key] for key in sorted(pairs))


def _layer(rating: _Rating, one: Member, two: Member) -> Steps[_Outcome]:
    """Have one pair judged; its texts are read only now."""
    first, second = rating.corpus.entrant(one), rating.corpus.entrant(two)
    if first is None or second is None:
        yield Together(())
        gone = one if first is None else two
        return _Outcome(None, f"the text of {gone.name} is missing or changed; run skillgate corpus verify")
    match = yield from play_match(first, second, rating.arena, one.path)
    costs = [answer.cost_usd for answer in match.answers]
    known = [cost for cost in costs if cost is not None]
    cost = sum(known) if len(known) == len(costs) else None
    result = settled(match.first, match.second)
    key = rating.identity(one, two)
    if key.source == LIVE and not is_live(match.answers, live=True):
        key = key._replace(source=SCRIPTED_PREFIX)
    if result.result is None:
        reason = printable(result.reason or "")[:_REASON]
        provoked = Provoked(**key._asdict(), reason=reason) if result.provoked else None
        return _Outcome(None, result.reason, provoked, cost)
    played = Played(
        **key._asdict(),
        result=result.result,
        orders=result.orders,
        position_bias=result.position_bias,
        won=result.won,
        lost=result.lost,
    )
    return _Outcome(played, cost_usd=cost)


def _stored(rating: _Rating, layer: Callable[[], Steps[_Outcome]], known: Collection[Identity]) -> Steps[_Outcome]:
    """Have a pair judged, and save the result before asking anything else."""
    outcome = yield from layer()
    if outcome.played is not None and identity(outcome.played) not in known:
        rating.store.add([outcome.played])
    return outcome


def _recorded(index: CorpusIndex, outcomes: Sequence[_Outcome]) -> CorpusIndex:
    """Record the pairs on which a text may have prevented a verdict, once per judge."""
    pairs = {one._replace(reason=""): one for one in index.provoked}
    pairs |= {one.provoked._replace(reason=""): one.provoked for one in outcomes if one.provoked is not None}
    return replace(index, provoked=tuple(pairs[key] for key in sorted(pairs)))


def _play(layers: Sequence[Callable[[], Steps[_Outcome]]], setup: ModelSetup, session: Console) -> list[_Outcome]:
    watch = watching(session, len(layers), 0, _WIDTH)
    try:
        return list(setup.drive(layers, watch))
    except KeyboardInterrupt:
        session.note("interrupted: decided matches are saved; run the same command again to resume")
        raise
    finally:
        if watch is not None and session.stderr.isatty():
            clear(session, _WIDTH)


def _require_approval(layers: Sequence[Callable[[], Steps[_Outcome]]], setup: ModelSetup, session: Console) -> None:
    """Ask before spending much without a limit."""
    if not layers or not setup.provider.live or any(limit is not None for limit in setup.limits):
        return
    sample = layers[:: -(-len(layers) // _SAMPLED)]
    cost = estimates.estimate(sample, answers=setup.answers, provider=setup.provider).cost_usd
    times = len(layers) / len(sample)
    if cost is not None:
        approve(cost.low * times, cost.high * times, setup, session, (f"these {len(layers)} pairs", "were"))


def _forecast(layers: Sequence[Callable[[], Steps[_Outcome]]], wanted: int, setup: ModelSetup) -> DryRun:
    """Return the requests and cost of a run."""
    forecast = estimates.estimate(layers, answers=setup.answers, provider=setup.provider)
    cost, calls = setup.limits
    _, *more = estimates.lines(forecast, max_cost_usd=cost, max_calls=calls)  # the first line counts skills
    pairs = f"{len(layers):,} of {wanted:,} pairs to play, {forecast.calls:,} calls to make."
    return dry_run((f"Dry run, nothing was sent: {pairs}", *more), forecast)


def _summary(
    index: CorpusIndex, played: Sequence[Played], outcomes: Sequence[_Outcome], before: int, judge: str
) -> Iterator[str]:
    """Yield a summary of a run in lines; ``before`` pairs were decided earlier, ``played`` are all matches."""
    decided = sum(one.played is not None for one in outcomes)
    costs = [one.cost_usd for one in outcomes]
    cost = "cost unknown" if any(one is None for one in costs) else f"${sum(one or 0.0 for one in costs):.2f}"
    yield (
        f"{decided} pairs decided, {before} decided before, {len(outcomes) - decided} not judged; {cost} now; judge"
        f" {printable(judge)}"
    )
    refused = [one.name for one in index.members if not one.rateable]
    if refused:
        names = ", ".join(map(printable, refused[:_MOST_REASONS])) + ", …" * (len(refused) > _MOST_REASONS)
        yield f"not rateable, because the judge gives no verdicts on them: {names}; no skill is compared with them"
    matches = resting_on(index, played)
    ratings = [one.rating for one in index.members if one.matches]
    if index.fit is None or not matches or not ratings:
        yield "no pair is decided, so nothing is rated"
        return
    from skillgate.stats.intervals import clopper_pearson  # scipy

    biased = sum(one.position_bias for one in matches)
    low, high = clopper_pearson(biased, len(matches))
    yield (
        f"position bias: {biased / len(matches):.1%} of {len(matches)} pairs"
        f" ({low:.1%} to {high:.1%}), which count as draws"
    )
    unrated = len(index.members) - len(ratings) - len(refused)
    rest = f", {unrated} without a match at 1500" if unrated else ""
    yield f"rated {len(ratings)} skills from {min(ratings):.0f} to {max(ratings):.0f}, the median at 1500{rest}"
    if index.fit.source != LIVE:
        yield (
            f"these verdicts are from provider {index.fit.source}, not from a real model: they only demonstrate the"
            " process"
        )


def _unjudged(outcomes: Sequence[_Outcome], index: CorpusIndex) -> Iterator[str]:
    """Yield the number of pairs without a result for each cause, and whether a retry helps."""
    refused = {one.digest for one in index.members if not one.rateable}

    def cause(one: _Outcome) -> str:
        pair = one.provoked
        if pair is None:
            return f"{one.reason}; run the same command to retry"
        if refused.isdisjoint((pair.first, pair.second)):
            return f"{one.reason} (a text may be the cause); run the same command to retry"
        return (
            f"{one.reason} (caused by the text of a skill that is not rateable); the others are compared with the"
            " next ones"
        )

    reasons = Counter(cause(one) for one in outcomes if one.played is None)
    for reason, count in reasons.most_common(_MOST_REASONS):
        yield f"{count} pair{'s' * (count != 1)} not judged: {reason}"
    if len(reasons) > _MOST_REASONS:
        yield f"and {len(reasons) - _MOST_REASONS} more reasons"
