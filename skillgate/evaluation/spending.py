"""What a run would cost, what it may cost, and how far it is."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial, reduce
from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings
from skillgate.errors import UsageError
from skillgate.evaluation.layers import LayerResults, ModelSetup, layer_of
from skillgate.evaluation.pipeline import Deepened, SampledSkill
from skillgate.judge.siblings import Shelves
from skillgate.llm import estimates, prices
from skillgate.model.skill import EntryKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from skillgate.console import Console
    from skillgate.judge.subject import Panel
    from skillgate.llm.port import Progress
    from skillgate.model.exchange import Steps

UNASKED_USD = 10.0  # the estimate up to which the user is not asked
_TIMES_UNASKED, _TIMES_AGREED = 2, 3  # what may be spent without a limit, by that and by what the user agreed to
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
    """What a run would ask and cost: lines for people, those that the command has for it; and the same as JSON."""

    text: str
    document: str


def dry_run(lines: Iterable[str], forecast: estimates.Forecast) -> DryRun:
    """Write a forecast in both forms."""
    document = json.dumps(estimates.document(forecast), indent=2)
    return DryRun("\n".join(lines), document.replace("##[", "\\u0023#["))  # a CI runner would take it for a command


class SpendApproval:
    """Ask before much is spent without a limit; what was estimated before counts, however often it is called.

    An estimate can be wrong, by a skill that makes sessions long: so the run gets a limit far above it.
    """

    def __init__(self, setup: ModelSetup, session: Console) -> None:
        """Take who would be paid, and who can be asked."""
        self._setup, self._session = setup, session
        self._low = self._high = 0.0
        self._is_agreed = False

    def require(self, skills: Sequence[SampledSkill], layers: Sequence[Callable[[], Steps[LayerResults]]]) -> None:
        """Require that judging these too is wanted.

        Raises:
            UsageError: the estimate is high, there is no limit, and there is no user to ask or the user said no.
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
    """Bound a run by its estimate in US dollars, once the user agrees to one that is high.

    ``words`` are what is run and its verb in the past. Return whether the user was asked.

    Raises:
        UsageError: there is no user to ask, or the user said no.
    """
    if high <= UNASKED_USD:
        setup.bound(bound_of(0.0))
        return False
    what, verb = words
    about = f"{what} may cost about ${low:.2f} to ${high:.2f}"
    if not session.interactive:
        raise UsageError(f"{about}: give --{settings.MAX_COST_USD.key}, or see what it would ask with --dry-run")
    if not session.confirm(f"{about}; go on?"):
        raise UsageError(f"{about}, and {verb} not begun")
    setup.bound(bound_of(high))
    return True


def bound_of(agreed: float) -> float:
    """Return the most that a run may cost without a limit of the user's, in US dollars: skills can make runs dear.

    ``agreed`` is the upper end of the estimate that the user agreed to; 0 where nothing was asked.
    """
    return max(_TIMES_UNASKED * UNASKED_USD, _TIMES_AGREED * agreed)


def _at_most(skills: Sequence[SampledSkill], panel: Panel) -> float:
    """Return what judging will hardly cost more than, in US dollars, by the sizes of files alone.

    Infinite where a price is unknown, or a text addresses its judge and is read twice.
    """
    if any(claim.id in _READ_TWICE for one in skills for claim in one.facts.claims):
        return float("inf")
    tokens = [_READINGS * prices.about(min(_size(one), panel.most_characters) + _QUESTIONS) for one in skills]
    costs = [prices.most(opinion.model, most, _OUTPUT) for opinion in panel.opinions for most in tokens]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else float("inf")


def _size(skill: SampledSkill) -> int:
    """Return the bytes of a skill's main file and of all in its directory, as far as known without reading."""
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
    """Find out what judging would ask and cost, as ``SampledLayers.measure``; nothing is sent."""

    def __init__(self, setup: ModelSetup) -> None:
        """Take who would judge."""
        planned = setup.plan
        if planned is not None:  # made-up sessions would end earlier than real ones may: there are no early stops
            setup = setup._replace(plan=lambda path: planned(path)._replace(stop=None))
        self._setup = setup
        self._forecasts: list[estimates.Forecast] = []

    def __call__(self, skills: Sequence[SampledSkill]) -> Deepened:
        """Count what these skills would ask; none of them gets a score."""
        setup, shelves = self._setup, Shelves()
        layers = [partial(layer_of, one, setup, shelves) for one in skills if one.facts.unscored is None]
        forecast = estimates.estimate(layers, answers=setup.answers, provider=setup.provider, batch=setup.is_batch)
        self._forecasts.append(forecast)
        return Deepened()

    def result(self) -> DryRun:
        """Return what all of it would take."""
        cost, calls = self._setup.limits
        whole = _together(self._forecasts)
        return dry_run(estimates.lines(whole, max_cost_usd=cost, max_calls=calls), whole)


def _together(forecasts: Sequence[estimates.Forecast]) -> estimates.Forecast:
    """Add up what a run asks about a baseline and about what is here."""
    calls: Counter[str] = Counter()
    questions: Counter[str] = Counter()  # in the order in which they came
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
    """Return about how many answers a run takes, for the time that is left; cached ones count too."""
    one = 1.0 + 5 * len(setup.panel.opinions)
    if setup.plan is not None:
        plan = setup.plan("")
        one += -(-plan.simulations // _PER_PROMPTS) + (plan.near_misses > 0)
        one += _PER_SESSION * plan.simulations + _PER_NEAR_MISS * plan.near_misses
    if setup.contest is not None and setup.contest.arena is not None and setup.contest.corpus is not None:
        one += 2 * min(setup.contest.arena.opponents, len(setup.contest.corpus.members))
    return round(skills * (one + _LIFT * setup.lift))


def watching(session: Console, total: int, expected: int, width: int = 99) -> Callable[[Progress], None] | None:
    """Return what shows progress on stderr: drawn on a terminal, in lines of their own with ``-v`` elsewhere.

    ``total``: how many layers there are. ``expected``: about how many answers all of it takes, 0 where that is not
    known. ``width``: characters of the line that is drawn.
    """
    is_drawn = session.stderr.isatty()
    if session.quiet or not (is_drawn or session.verbose):
        return None
    last = [-_WATCH_S if is_drawn else 0.0]  # seconds; infinite once all is done, which is said once

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
    """Take the line away."""
    session.show_progress("\r" + " " * width + "\r")


def _progress_line(now: Progress, total: int, expected: int) -> str:
    """Say how far a run is: skills, calls, cost, and how long the rest takes if it goes on like this."""
    cost = "cost unknown" if now.cost_usd is None else f"${now.cost_usd:.2f}"
    failed = f" · {now.failed} failed" if now.failed else ""
    done = now.layers_done / total if total else 1.0
    share = done if done == 1.0 or not expected else max(done, min(0.99, now.calls / expected))
    full = int(share * _BAR)
    bar = "█" * full + "░" * (_BAR - full)
    line = f"{bar} {now.layers_done} of {total} · {now.calls} answers, {now.cached} kept{failed} · {cost}"
    fresh = now.calls - now.cached
    if not 0 < share < 1 or not fresh:
        return line
    # Cached answers take no time, so only those that were asked for tell how long the others take.
    left = max(expected - now.calls, 1) if expected else fresh / share - fresh
    seconds = int(now.elapsed_s / fresh * left)
    return f"{line} · about {seconds // 60}:{seconds % 60:02d} left"
