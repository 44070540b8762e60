"""Would a model load the skill for what it is for, and for nothing else? Prompts, blind predictions, and what they say.

Two calls, since who writes the prompts knows which of them are near misses. The second sees names and descriptions
alone, the skill among its siblings without a mark, and the prompts in an order that tells nothing.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from skillgate.judge import estimates, requests, schema
from skillgate.judge.asking import ask, asked_better
from skillgate.judge.sheet import Missing, provoked, reason_of
from skillgate.judge.subject import Sibling
from skillgate.model.digest import digest
from skillgate.model.exchange import Status, Together
from skillgate.model.judging import Estimate, Triggering, TriggerPrompt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillgate.judge.readings import Readings
    from skillgate.judge.requests import Seat
    from skillgate.judge.subject import Dossier
    from skillgate.model.exchange import Answer, Steps
    from skillgate.model.judging import Cut

T = TypeVar("T")
LEAST_OF_EACH_KIND = 4  # prompts, of five, that are left where those that name the skill go


class Predicted(NamedTuple):
    """What came of the two calls.

    Attributes:
        triggering: always there; without predictions its estimates are None with the reason.
        missing: questions without an answer.
        asked: all answers that came, each with the number of its judge from 0.
        cut: what the author of the prompts was not shown.
    """

    triggering: Triggering
    missing: tuple[Missing, ...]
    asked: tuple[tuple[int, Answer], ...]
    cut: tuple[Cut, ...] = ()


class Ballot(NamedTuple):
    """What a predictor sees.

    Attributes:
        listed: the skill among its siblings, numbered from 1 by their place.
        target: the number of the skill.
        order: for each prompt on the list, which of the skill's prompts it is, from 0.
    """

    listed: tuple[Sibling, ...]
    target: int
    order: tuple[int, ...]


def triggering(dossier: Dossier, readings: Readings, seats: Sequence[Seat]) -> Steps[Predicted]:
    """Get the prompts, then each judge's predictions, and compute what they say."""
    prompts, source = dossier.prompts, dossier.prompts_source
    written: tuple[tuple[int, Answer], ...] = ()
    cut: tuple[Cut, ...] = ()
    if prompts is None:
        source = "generated"
        answers, cut = yield from _generated(dossier, readings, seats[0])
        written = tuple((seats[0].number, answer) for answer in answers)
        last = answers[-1]
        if last.status is not Status.OK:
            missing = Missing(requests.GENERATION, None, reason_of(last), provoked(last))
            return Predicted(_none(dossier, source, missing.reason), (missing,), written, cut)
        prompts = _unnamed(_read(last.value), dossier.name)
    shuffled = ballot(dossier, [prompt.prompt for prompt in prompts])
    votes = yield Together(tuple(_predict(dossier, shuffled, prompts, seat) for seat in seats))
    missing_votes = tuple(
        Missing(requests.PREDICTION, seat.number, reason_of(vote), provoked(vote))
        for seat, vote in zip(seats, votes, strict=True)
        if vote.status is not Status.OK
    )
    predicted = tuple(
        prompt._replace(predicted=said)
        for prompt, said in zip(prompts, _said(votes, shuffled, len(prompts)), strict=True)
    )
    given = tuple((seat.number, vote) for seat, vote in zip(seats, votes, strict=True))
    return Predicted(measured(predicted, source, len(dossier.siblings)), missing_votes, (*written, *given), cut)


def ballot(dossier: Dossier, prompts: Sequence[str]) -> Ballot:
    """List the skill among its siblings, and the prompts, each in an order that only a hash of the contents decides."""
    own = Sibling(dossier.name, dossier.description)
    skills = [(own, True), *((sibling, False) for sibling in dossier.siblings)]
    listed = _shuffled(skills, lambda item: f"{item[0].name}\n{item[0].description}")
    order = _shuffled(range(len(prompts)), lambda index: prompts[index])
    target = next(number for number, (_, is_target) in enumerate(listed, start=1) if is_target)
    return Ballot(tuple(sibling for sibling, _ in listed), target, order)


def measured(prompts: Sequence[TriggerPrompt], source: str, siblings: int) -> Triggering:
    """Compute from predictions how well the description tells what the skill is for.

    The unit is the prompt: it counts by the share of judges who would load the skill for it, of those who predicted.
    """
    hits, alarms = _shares(prompts, should_trigger=True), _shares(prompts, should_trigger=False)
    mark = prompts_digest(prompts)
    return Triggering(
        f1=estimates.f1(hits, alarms, seed=int(mark[:8], 16)),
        recall=estimates.rate(hits),
        false_alarms=estimates.rate(alarms),
        precision=estimates.precision(hits, alarms),
        prompts=tuple(prompts),
        digest=mark,
        source=source,
        siblings=siblings,
    )


def prompts_digest(prompts: Sequence[TriggerPrompt]) -> str:
    """Give the same digest for the same prompts and labels, whatever their order."""
    return digest(*(_bytes(text) for text in sorted(f"{one.should_trigger:d}{one.prompt}" for one in prompts)))


def _generated(dossier: Dossier, readings: Readings, seat: Seat) -> Steps[tuple[tuple[Answer, ...], tuple[Cut, ...]]]:
    """Have the prompts written, a second time where some name the skill."""

    def fault(value: Any) -> str | None:  # noqa: ANN401 - decoded JSON that fits its schema
        named = any(schema.names(entry["prompt"], dossier.name) for entry in value["prompts"])
        return "a prompt names the skill itself" if named else None

    return readings.asked(
        lambda text: requests.trigger_prompts(dossier, text, seat), lambda request: asked_better(request, fault)
    )


def _unnamed(prompts: tuple[TriggerPrompt, ...], name: str) -> tuple[TriggerPrompt, ...]:
    """Leave out prompts that name the skill still; all stay where too few would, since some tools have such names."""
    left = tuple(prompt for prompt in prompts if not schema.names(prompt.prompt, name))
    kinds = [prompt.should_trigger for prompt in left]
    return left if min(kinds.count(True), kinds.count(False)) >= LEAST_OF_EACH_KIND else prompts


def _predict(dossier: Dossier, shuffled: Ballot, prompts: Sequence[TriggerPrompt], seat: Seat) -> Steps[Answer]:
    typed = [prompts[index].prompt for index in shuffled.order]
    return ask(requests.trigger_predictions(dossier.path, shuffled.listed, typed, seat))


def _said(votes: Sequence[Answer], shuffled: Ballot, prompts: int) -> list[tuple[bool | None, ...]]:
    """Give for each prompt what each judge said: whether it would load the skill, None without an answer."""
    said = [_choices(vote, shuffled) for vote in votes]
    return [tuple(choices.get(index) for choices in said) for index in range(prompts)]


def _choices(vote: Answer, shuffled: Ballot) -> dict[int, bool]:
    if vote.status is not Status.OK:
        return {}
    chosen = {entry["prompt"]: entry["skill"] for entry in vote.value["predictions"]}
    return {
        index: chosen[number] == shuffled.target
        for number, index in enumerate(shuffled.order, start=1)
        if number in chosen
    }


def _shares(prompts: Sequence[TriggerPrompt], *, should_trigger: bool) -> list[Fraction]:
    known = [
        [choice for choice in prompt.predicted if choice is not None]
        for prompt in prompts
        if prompt.should_trigger is should_trigger
    ]
    return [Fraction(sum(choices), len(choices)) for choices in known if choices]


def _read(value: Any) -> tuple[TriggerPrompt, ...]:  # noqa: ANN401 - decoded JSON that fits its schema
    return tuple(
        TriggerPrompt(" ".join(entry["prompt"].split()), entry["should_trigger"], entry["style"])
        for entry in value["prompts"]
    )


def _none(dossier: Dossier, source: str, reason: str) -> Triggering:
    nothing = Estimate(None, reason=reason)
    return Triggering(nothing, nothing, nothing, nothing, source=source, siblings=len(dossier.siblings))


def _shuffled(items: Sequence[T], key: Callable[[T], str]) -> tuple[T, ...]:
    """Order items by a hash of each together with all of them, so that no one item decides its own place."""
    everything = digest(*(_bytes(text) for text in sorted(map(key, items))))
    return tuple(sorted(items, key=lambda item: digest(everything.encode(), _bytes(key(item)))))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
