"""Measure whether a model would load the skill for its tasks and no others: prompts, blind predictions, figures.

There are two calls, since the writer of the prompts knows the near misses. The second call sees only names and
descriptions, the skill unmarked among its siblings, and the prompts in a random order. Each prompt counts by the share
of predicting judges who would load the skill.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from skillgate.judge import requests
from skillgate.judge.asking import ask, ask_better, one_line, provoked, reason_of
from skillgate.judge.requests import Missing
from skillgate.judge.subject import Sibling
from skillgate.model.exchange import Status, Together
from skillgate.model.layers import Estimate, Triggering, TriggerPrompt
from skillgate.model.skill import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillgate.judge.document import Readings
    from skillgate.judge.requests import Seat
    from skillgate.judge.subject import Dossier
    from skillgate.model.exchange import Answer, Steps
    from skillgate.model.layers import Cut

T = TypeVar("T")
LEAST_OF_EACH_KIND = 4  # minimum prompts, of five, that must remain without those that name the skill


class Predicted(NamedTuple):
    """The result of the two calls."""

    triggering: Triggering  # without predictions its estimates are None with the reason
    missing: tuple[Missing, ...]
    answers: tuple[tuple[int, Answer], ...]  # all answers, each with the number of its judge from 0
    cut: tuple[Cut, ...] = ()  # sections that the writer of the prompts was not shown


class Ballot(NamedTuple):
    """What a predictor sees."""

    listed: tuple[Sibling, ...]  # the skill among its siblings, numbered from 1
    target: int  # the number of the skill
    order: tuple[int, ...]  # for each listed prompt, its index among the skill's prompts


def triggering(dossier: Dossier, readings: Readings, seats: Sequence[Seat]) -> Steps[Predicted]:
    """Get the prompts, then each judge's predictions, and compute the figures."""
    prompts, source = dossier.prompts, dossier.prompts_source
    siblings = len(dossier.siblings)
    answers: tuple[tuple[int, Answer], ...] = ()
    cut: tuple[Cut, ...] = ()
    if prompts is None:
        source, author = "generated", seats[0]

        def fault(value: Any) -> str | None:  # noqa: ANN401 - decoded JSON that fits its schema
            is_named = any(requests.names(entry["prompt"], dossier.name) for entry in value["prompts"])
            return "a prompt names the skill itself" if is_named else None

        generated, cut = yield from readings.ask(
            lambda text: requests.trigger_prompts(dossier, text, author), lambda request: ask_better(request, fault)
        )
        answers = tuple((author.number, answer) for answer in generated)
        last = generated[-1]
        if last.status is not Status.OK:
            missing = Missing(requests.GENERATION, None, reason_of(last), provoked(last))
            none = Estimate(None, reason=missing.reason)
            result = Triggering(none, none, none, none, source=source, siblings=siblings)
            return Predicted(result, (missing,), answers, cut)
        prompts = _unnamed(_read(last.value), dossier.name)
    shuffled = ballot(dossier, [prompt.prompt for prompt in prompts])
    typed = [prompts[index].prompt for index in shuffled.order]
    votes: tuple[Answer, ...] = yield Together(
        tuple(ask(requests.trigger_predictions(dossier.path, shuffled.listed, typed, seat)) for seat in seats)
    )
    lost = tuple(
        Missing(requests.PREDICTION, seat.number, reason_of(vote), provoked(vote))
        for seat, vote in zip(seats, votes, strict=True)
        if vote.status is not Status.OK
    )
    choices = [_choices(vote, shuffled) for vote in votes]
    predicted = [
        prompt._replace(predicted=tuple(loads.get(index) for loads in choices)) for index, prompt in enumerate(prompts)
    ]
    answers = (*answers, *((seat.number, vote) for seat, vote in zip(seats, votes, strict=True)))
    return Predicted(measured(predicted, source, siblings), lost, answers, cut)


def _read(value: Any) -> tuple[TriggerPrompt, ...]:  # noqa: ANN401 - decoded JSON that fits its schema
    return tuple(
        TriggerPrompt(one_line(entry["prompt"]), entry["should_trigger"], entry["style"]) for entry in value["prompts"]
    )


def _unnamed(prompts: tuple[TriggerPrompt, ...], name: str) -> tuple[TriggerPrompt, ...]:
    """Drop prompts that still name the skill, unless too few remain, since some tools have such names."""
    left = tuple(prompt for prompt in prompts if not requests.names(prompt.prompt, name))
    kinds = [prompt.should_trigger for prompt in left]
    return left if min(kinds.count(True), kinds.count(False)) >= LEAST_OF_EACH_KIND else prompts


def ballot(dossier: Dossier, prompts: Sequence[str]) -> Ballot:
    """List the skill among its siblings, and the prompts, each in an order given by a hash of the contents."""
    own = Sibling(dossier.name, dossier.description)
    skills = [(own, True), *((sibling, False) for sibling in dossier.siblings)]
    listed = _shuffled(skills, lambda item: f"{item[0].name}\n{item[0].description}")
    order = _shuffled(range(len(prompts)), lambda index: prompts[index])
    target = next(number for number, (_, is_target) in enumerate(listed, start=1) if is_target)
    return Ballot(tuple(sibling for sibling, _ in listed), target, order)


def _shuffled(items: Sequence[T], key: Callable[[T], str]) -> tuple[T, ...]:
    """Order items by a hash of each together with all others, so that no item decides its own place."""
    everything = digest(*(_bytes(text) for text in sorted(map(key, items)))).encode()
    return tuple(sorted(items, key=lambda item: digest(everything, _bytes(key(item)))))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _choices(vote: Answer, shuffled: Ballot) -> dict[int, bool]:
    """Return whether a judge would load the skill, by prompt; empty without an answer."""
    if vote.status is not Status.OK:
        return {}
    chosen = {entry["prompt"]: entry["skill"] for entry in vote.value["predictions"]}
    numbered = enumerate(shuffled.order, start=1)
    return {index: chosen[number] == shuffled.target for number, index in numbered if number in chosen}


def measured(prompts: Sequence[TriggerPrompt], source: str, siblings: int) -> Triggering:
    """Compute from predictions how well the description identifies the skill's tasks."""
    hits, alarms = _shares(prompts, should_trigger=True), _shares(prompts, should_trigger=False)
    mark = prompts_digest(prompts)
    return Triggering(
        f1=_f1(hits, alarms, seed=int(mark[:8], 16)),
        recall=rate(hits),
        false_alarms=rate(alarms),
        precision=_precision(hits, alarms),
        prompts=tuple(prompts),
        digest=mark,
        source=source,
        siblings=siblings,
    )


def prompts_digest(prompts: Sequence[TriggerPrompt]) -> str:
    """Return a digest of prompts and labels, independent of their order."""
    return digest(*(_bytes(text) for text in sorted(f"{one.should_trigger:d}{one.prompt}" for one in prompts)))


def _shares(prompts: Sequence[TriggerPrompt], *, should_trigger: bool) -> list[Fraction]:
    known = [
        [choice for choice in prompt.predicted if choice is not None]
        for prompt in prompts
        if prompt.should_trigger is should_trigger
    ]
    return [Fraction(sum(choices), len(choices)) for choices in known if choices]


def rate(shares: Sequence[Fraction]) -> Estimate:
    """Return the mean over prompts with its exact interval.

    If judges disagree on a prompt, the count is not a whole number; the interval then spans those of both neighbours.
    """
    if not shares:
        return Estimate(None, reason="no predictions on such prompts")
    from skillgate.stats.intervals import clopper_pearson  # numpy and scipy: loaded while answers are awaited

    total = sum(shares)
    low, high = clopper_pearson(floor(total), len(shares)).low, clopper_pearson(ceil(total), len(shares)).high
    return Estimate(float(total / len(shares)), low, high, len(shares))


def _precision(hits: Sequence[Fraction], alarms: Sequence[Fraction]) -> Estimate:
    """Return the share of correct predictions among those that load the skill, with its interval as in `rate`."""
    right, wrong = sum(hits), sum(alarms)
    if not right + wrong:
        return Estimate(None, reason="no prediction loads the skill")
    from skillgate.stats.intervals import clopper_pearson  # as above

    low = clopper_pearson(floor(right), floor(right) + ceil(wrong)).low
    high = clopper_pearson(ceil(right), ceil(right) + floor(wrong)).high
    return Estimate(float(right / (right + wrong)), low, high, round(right + wrong))


def _f1(hits: Sequence[Fraction], alarms: Sequence[Fraction], seed: int) -> Estimate:
    """Return class-balanced F1, 2 · TPR ÷ (1 + TPR + FPR), with an interval from seeded samples of both rates."""
    if not hits or not alarms:
        return Estimate(None, reason="F1 needs predictions both on fitting prompts and on near misses")
    from skillgate.stats.intervals import balanced_f1  # as above

    recall, false_alarms = sum(hits) / len(hits), sum(alarms) / len(alarms)
    low, high = balanced_f1([float(hit) for hit in hits], [float(alarm) for alarm in alarms], seed)
    return Estimate(float(2 * recall / (1 + recall + false_alarms)), low, high, len(hits) + len(alarms))
