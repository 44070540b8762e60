"""Whether what models said of two versions of a skill is the same measurement, and their difference means something.

Everything but the skill has to be equal: the models, who served them, the questions and their versions, the prompts.
The paired test and every comparison that people read ask here, so that they never disagree.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.judging import JudgeLayer
from skillgate.model.simulating import MonteCarloLayer
from skillgate.registry import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillgate.model.report import SkillResult
    from skillgate.model.simulating import Lift, RankingLayer

    Asked = JudgeLayer | MonteCarloLayer | RankingLayer | Lift

_DIGITS = 12  # hexadecimal digits of a digest that are shown
_LONG = 200  # characters of what else is shown
_DIGESTS = ("the trigger prompts", "the prompts of the sessions", "corpora")
_LIVE = {True: "a model's", False: "scripted or replayed"}


class Difference(NamedTuple):
    """One thing that is not the same on two sides, each side in words."""

    what: str
    before: str
    after: str

    def __str__(self) -> str:
        """Say it as a fact: ``graders differ: A before, B after``."""
        return f"{self.what} differ: {self.before} before, {self.after} after"

    @property
    def other(self) -> str:
        """Say it as a reason: ``other graders: A before, B after``."""
        return f"other {self.what.removeprefix('the ')}: {self.before} before, {self.after} after"


def apart(before: SkillResult, after: SkillResult) -> tuple[str, ...]:
    """Say why the scores of two results mean different things; nothing where they may be compared.

    Matches and lift are in no score and do not enter. Nor do sessions that measured nothing: they are in no score
    either, but where those of the other side are, the two scores rest on different things.
    """
    one, other = _judge(before), _judge(after)
    was, now = _sessions(before), _sessions(after)
    judged = _alone("was judged", one, other) if one is None or other is None else judges_apart(one, other)
    simulated = (
        _alone("has a score with sessions in it", was, now) if was is None or now is None else sessions_apart(was, now)
    )
    return tuple(each if isinstance(each, str) else each.other for each in (*judged, *simulated))


def _alone(word: str, one: object, other: object) -> tuple[str, ...]:
    """Say that one side alone has a measurement; nothing where neither has."""
    if one is None and other is None:
        return ()
    return (f"only the skill {'after' if one is None else 'before'} {word}",)


def _judge(result: SkillResult) -> JudgeLayer | None:
    return next((layer for layer in result.layers if isinstance(layer, JudgeLayer)), None)


def _sessions(result: SkillResult) -> MonteCarloLayer | None:
    """Give the sessions that are in a skill's score: those that measured a dimension, and did not end early."""
    layer = next((layer for layer in result.layers if isinstance(layer, MonteCarloLayer)), None)
    if layer is None or layer.stopped_early is not None:
        return None
    return layer if any(found.value is not None for found in layer.scores.values()) else None


def judges_apart(one: JudgeLayer, other: JudgeLayer) -> tuple[Difference, ...]:
    """List what differs between two judgings in anything but the skill.

    More opinions of the same judges mean the same, so models are held against each other by their share.
    """
    found = (
        ("models", _mix(one), _mix(other)),
        ("the models that answered", _answering(one.answered_by), _answering(other.answered_by)),
        ("live and made-up answers", _LIVE[one.live], _LIVE[other.live]),
        *_served("provider", one, other),
        ("prompt version", one.prompt_version, other.prompt_version),
        ("rubric version", one.rubric_version, other.rubric_version),
        *_prompts("the trigger prompts", _asked(one), _asked(other)),
    )
    return tuple(_differing(found))


def _asked(layer: JudgeLayer) -> str | None:
    return layer.triggering.digest if layer.triggering else None


def sessions_apart(one: MonteCarloLayer, other: MonteCarloLayer) -> tuple[Difference, ...]:
    """List what differs between two runs of sessions in anything but the skill."""
    found = (
        ("models under test", one.model, other.model),
        ("graders", one.grader, other.grader),
        ("the models that answered sessions", _answering(one.answered_by), _answering(other.answered_by)),
        ("live and made-up sessions", _LIVE[one.live], _LIVE[other.live]),
        *_served("providers of sessions", one, other),
        ("runners", one.runner, other.runner),
        ("prompt versions of sessions", one.prompt_version, other.prompt_version),
        ("rubric versions of sessions", one.rubric_version, other.rubric_version),
        ("the skills listed in sessions", one.siblings_source, other.siblings_source),
        ("turns allowed", str(one.max_turns), str(other.max_turns)),
        ("near misses asked for", str(one.near_misses), str(other.near_misses)),
        *_prompts("the prompts of the sessions", one.prompts_digest, other.prompts_digest),
    )
    return tuple(_differing(found))


def ratings_apart(one: RankingLayer, other: RankingLayer) -> tuple[Difference, ...]:
    """List what differs between two ratings in anything but the skill: the field, the judge, the order of matches."""
    found = (
        ("corpora", one.corpus or "", other.corpus or ""),
        ("judges of matches", one.model, other.model),
        ("live and made-up matches", _LIVE[one.live], _LIVE[other.live]),
        *_served("providers of matches", one, other),
        ("prompt versions of matches", one.prompt_version, other.prompt_version),
        ("seeds of matches", str(one.seed), str(other.seed)),
    )
    return tuple(_differing(found))


def lifts_apart(one: Lift, other: Lift) -> tuple[Difference, ...]:
    """List what differs between two lifts in anything but the skill: the tasks, who did them, who graded."""
    tasks = [{(task.id, task.prompt) for task in lift.tasks} for lift in (one, other)]
    counts = [f"{len(side)}, {len(tasks[0] & tasks[1])} of them on both sides," for side in tasks]
    found = (
        ("models under test", one.model, other.model),
        ("graders", one.grader, other.grader),
        ("live and made-up tasks", _LIVE[one.live], _LIVE[other.live]),
        *_served("providers of tasks", one, other),
        ("runners", one.runner, other.runner),
        ("sources of the tasks", one.source, other.source),
    )
    return (*_differing(found), *(() if tasks[0] == tasks[1] else (Difference("the tasks", *counts),)))


def _served(what: str, one: Asked, other: Asked) -> Iterator[tuple[str, str, str]]:
    """Name who served the models, where it is not said already that only one side had any."""
    if one.live == other.live:
        yield what, _service(one.provider), _service(other.provider)


def _service(provider: str) -> str:
    """Return the provider whose models answer, which may have more than one way to ask them."""
    return (provider in PROVIDERS and PROVIDERS.text(provider, "MODELS_OF")) or provider


def _prompts(what: str, one: str | None, other: str | None) -> Iterator[tuple[str, str, str]]:
    """Hold prompts against each other; what one side does not know it has not measured."""
    if one is not None and other is not None:
        yield what, one, other


def _differing(found: Iterable[tuple[str, str, str]]) -> Iterator[Difference]:
    for what, one, other in found:
        if one != other:
            most = _DIGITS if what in _DIGESTS else _LONG
            yield Difference(what, one[:most] or "none", other[:most] or "none")


def _answering(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "those asked for"


def _mix(layer: JudgeLayer) -> str:
    """Name the models, each with its share of the opinions where they are not shared evenly."""
    counts = Counter(layer.models)
    even = len(set(counts.values())) <= 1
    parts = [name if even else f"{name} ({count / len(layer.models):.1%})" for name, count in sorted(counts.items())]
    return ", ".join(parts)
