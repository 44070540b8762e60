"""What judging would cost: said before anything is asked, and leave asked for where it is much."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial, reduce
from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings
from skillgate.errors import UsageError
from skillgate.evaluation.deepen import Deepened
from skillgate.evaluation.models.setup import layer_of
from skillgate.judge.siblings import Shelves
from skillgate.llm import dry, prices
from skillgate.model.ports import EntryKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from skillgate.evaluation.deepen import Asked
    from skillgate.evaluation.models.setup import Found, ModelSetup
    from skillgate.judge.subject import Panel
    from skillgate.model.exchange import Steps
    from skillgate.session import Session

UNASKED_USD = 10.0  # the estimate up to which nobody is asked
_TIMES_UNASKED, _TIMES_AGREED = 2, 3  # what may be spent without a limit, by that and by what somebody agreed to
_READINGS = 5  # of a skill, by each judge and for the prompts
_QUESTIONS = 8_000  # characters around a skill's text
_OUTPUT = 20_000  # tokens of all answers about a skill, twice what is usual
_LARGE = 1 << 20
_READ_TWICE = ("JUDGE_ADDRESSED", "INSTRUCTION_OVERRIDE", "HIDDEN_UNICODE")


class SpendApproval:
    """Asks before much is spent without a limit; what was estimated before counts, however often it is called.

    An estimate can be wrong, by a skill that makes sessions long: so the run gets a limit far above it.
    """

    def __init__(self, setup: ModelSetup, session: Session) -> None:
        """Take who would be paid, and who can be asked."""
        self._setup = setup
        self._session = session
        self._low = self._high = 0.0
        self._given = False

    def require(self, asked: Sequence[Asked], layers: Sequence[Callable[[], Steps[Found]]]) -> None:
        """Make sure that judging these too is wanted.

        Raises:
            UsageError: the estimate is high, and there is no limit and nobody to ask, or somebody said no.
        """
        setup = self._setup
        if self._given or not setup.provider.live or any(limit is not None for limit in setup.limits):
            return
        rough = _at_most(asked, setup.panel) if setup.plan is None and setup.contest is None else float("inf")
        if self._high + rough <= UNASKED_USD:
            self._high += rough
            setup.bound(bound_of(0.0))
            return
        cost = dry.estimate(layers, answers=setup.answers, provider=setup.provider, batch=setup.is_batch).cost_usd
        if cost is None:
            return
        self._low, self._high = self._low + cost.low, self._high + cost.high
        if self._high <= UNASKED_USD:
            setup.bound(bound_of(0.0))
            return
        about = f"this run may cost about ${self._low:.2f} to ${self._high:.2f}"
        if not self._session.interactive:
            raise UsageError(f"{about}: give --{settings.MAX_COST_USD.key}, or see what it would ask with --dry-run")
        if not self._session.confirm(f"{about}; go on?"):
            raise UsageError(f"{about}, and was not begun")
        self._given = True
        setup.bound(bound_of(self._high))


def bound_of(agreed: float) -> float:
    """Give the most that a run may cost without a limit of the user's, in US dollars: skills can make runs dear.

    Args:
        agreed: the upper end of the estimate that somebody agreed to; 0 where nobody was asked.
    """
    return max(_TIMES_UNASKED * UNASKED_USD, _TIMES_AGREED * agreed)


def _at_most(asked: Sequence[Asked], panel: Panel) -> float:
    """Give what judging will hardly cost more than, in US dollars, by the sizes of files alone.

    Infinite where a price is unknown, or a text addresses its judge and is read twice.
    """
    if any(claim.id in _READ_TWICE for one in asked for claim in one.facts.claims):
        return float("inf")
    tokens = [_READINGS * prices.about(min(_size(one), panel.most_characters) + _QUESTIONS) for one in asked]
    costs = [prices.most(opinion.model, most, _OUTPUT) for opinion in panel.opinions for most in tokens]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else float("inf")


def _size(asked: Asked) -> int:
    """Give the bytes of a skill's main file and of all that lies beside it, as far as that is known without reading."""
    root, found = asked.source.root, asked.source.size
    pending = [root.directory]
    while pending and found < _LARGE:
        folder = pending.pop()
        for name in root.tree.names(folder):
            path = f"{folder}/{name}" if folder else name
            entry = root.tree.entry(path)
            if entry is not None and entry.kind is EntryKind.DIRECTORY:
                pending.append(path)
            elif entry is not None:
                found += entry.size
    return found


class DryRun(NamedTuple):
    """What a run would ask and cost.

    Attributes:
        text: lines for people, those that the command has for it.
        document: the same as JSON.
    """

    text: str
    document: str


def dry_run(lines: Iterable[str], forecast: dry.Forecast) -> DryRun:
    """Write a forecast down in both forms."""
    document = json.dumps(dry.document(forecast), indent=2)
    return DryRun("\n".join(lines), document.replace("##[", "\\u0023#["))  # a CI runner would take it for a command


class Estimator:
    """Finds out what judging would ask and cost, in the place of a :class:`Deepener`; nothing is sent."""

    def __init__(self, setup: ModelSetup) -> None:
        """Take who would judge."""
        self._setup = setup
        self._forecasts: list[dry.Forecast] = []

    def __call__(self, asked: Sequence[Asked]) -> Deepened:
        """Count what these skills would ask; none of them gets a score."""
        setup, shelves = _to_the_end(self._setup), Shelves()
        wanted = [one for one in asked if one.facts.unscored is None]
        layers = [partial(layer_of, one, setup, shelves) for one in wanted]
        found = dry.estimate(layers, answers=setup.answers, provider=setup.provider, batch=setup.is_batch)
        self._forecasts.append(found)
        return Deepened()

    def result(self) -> DryRun:
        """Return what all of it would take."""
        cost, calls = self._setup.limits
        whole = _together(self._forecasts)
        return dry_run(dry.lines(whole, max_cost_usd=cost, max_calls=calls), whole)


def _to_the_end(setup: ModelSetup) -> ModelSetup:
    """Take early stops away: made-up sessions would end earlier than real ones may."""
    planned = setup.plan
    return setup if planned is None else setup._replace(plan=lambda path: planned(path)._replace(stop=None))


def _together(forecasts: Sequence[dry.Forecast]) -> dry.Forecast:
    """Add up what a run asks about a baseline and about what is here."""
    calls: Counter[str] = Counter()
    questions: Counter[str] = Counter()  # which keeps the order in which they came
    for one in forecasts:
        calls.update(dict(one.models))
        questions.update(dict(one.questions))
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
        questions=tuple(questions.items()),
        batch=any(one.batch for one in forecasts),
    )
