"""Whether a sampled score really dropped: the paired test that the regression gate asks at depths that sample.

What layer 1 and the penalty say is deterministic, and a drop there is real. What judges and sessions say is
noisy: the same text sampled twice differs. So their answers on the two versions are exchanged, answer by answer and
session by session, in every way there is, and a drop counts as real where few exchanges give one as large.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skillgate.model.layers import COMPLETED, FAILED, Assessment, JudgeLayer, MonteCarloLayer, Simulation, TriggerPrompt
from skillgate.model.report import SkillResult, StaticLayer
from skillgate.model.score import Dimension
from skillgate.scoring.composite import MAX_DROP
from skillgate.scoring.pairing import judges_apart, sessions_apart
from skillgate.scoring.sampled import Table, composites, dimensions, measures, table
from skillgate.stats.intervals import balanced
from skillgate.stats.resampling import at_least, critical, p_value, swaps

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Mask = npt.NDArray[np.bool_]
    Scores = dict[Dimension, Array]

# -- Sessions, prompt by prompt, and what exchanging them would give


class Refusal(Exception):  # noqa: N818 - a signal within the paired test, never seen outside
    """Why two versions are not compared."""


_TRIGGER = Dimension.TRIGGERING_ACCURACY


class Sessions(NamedTuple):
    """Sessions that were measured on both sides.

    Attributes:
        rows: those before, then those after, both in the order of ``units``.
        units: of each prompt, what distinguishes it from the others.
        differing: shape (prompts,), where the two sides differ.
        dimensions: those that the sessions measured on both sides.
        near_misses: whether such sessions were asked for.
    """

    rows: Table
    units: tuple[tuple[object, ...], ...]
    differing: Mask
    dimensions: tuple[Dimension, ...]
    near_misses: bool

    def exchanged(self, moved: Mask) -> tuple[Scores, Scores]:
        """Return each dimension's score before and after, for many exchanges at once.

        Where an exchange leaves a side too little to measure a dimension with, neither side has gained by it: both
        count as what all sessions together give.

        ``moved``, of shape (exchanges, prompts), says which prompts' sessions change sides.
        """
        pooled = self._scores(np.ones((1, 2 * len(self.units))))
        stays, goes = (~moved).astype(np.float64), moved.astype(np.float64)
        old, new = self._scores(np.hstack((stays, goes))), self._scores(np.hstack((goes, stays)))
        for name, value in pooled.items():
            unknown = np.isnan(old[name]) | np.isnan(new[name])
            old[name], new[name] = (np.where(unknown, value, side[name]) for side in (old, new))
        return old, new

    def _scores(self, weights: Array) -> Scores:
        found = dimensions(measures(self.rows, weights), near_misses=self.near_misses)
        return {name: found[name] for name in self.dimensions}


def sessions(before: MonteCarloLayer | None, after: MonteCarloLayer | None) -> Sessions | None:
    """Pair the sessions of two versions by prompt and label; None where neither side has any.

    A prompt is in neither side if its session was not measured on one.

    Raises:
        Refusal: they are not the same measurement.
    """
    if before is None and after is None:
        return None
    if before is None or after is None:
        raise Refusal("sessions were simulated on one side only")
    _refuse_other_sessions(before, after)
    was, now = _measured_runs(before.runs), _measured_runs(after.runs)
    units = tuple(unit for unit in was if unit in now)
    _enough(units, before)
    return Sessions(
        rows=table([*(was[unit] for unit in units), *(now[unit] for unit in units)]),
        units=units,
        differing=np.array([_scored_facts(was[unit]) != _scored_facts(now[unit]) for unit in units], dtype=np.bool_),
        dimensions=_dimensions(before, after),
        near_misses=bool(before.near_misses),
    )


def _refuse_other_sessions(before: MonteCarloLayer, after: MonteCarloLayer) -> None:
    """Refuse what differs in anything but the skill, and what cannot be paired session by session."""
    for different in sessions_apart(before, after):
        raise Refusal(str(different))
    for which, layer in (("before", before), ("after", after)):
        if layer.stopped_early is not None:
            raise Refusal(f"{which}, the sessions ended early: {layer.stopped_early}")
        if not layer.runs or layer.prompts_digest is None:
            raise Refusal(f"{which}, the report does not hold the simulated sessions")


def _measured_runs(runs: Iterable[Simulation]) -> dict[tuple[object, ...], Simulation]:
    """Return the sessions that were measured by prompt and label; of equal ones the first is paired with the first."""
    seen: Counter[tuple[str, bool]] = Counter()
    found: dict[tuple[object, ...], Simulation] = {}
    for run in runs:
        key = (run.prompt, run.should_trigger)
        seen[key] += 1
        if run.outcome in (COMPLETED, FAILED):
            found["session", *key, seen[key]] = run
    return found


def _enough(units: tuple[tuple[object, ...], ...], layer: MonteCarloLayer) -> None:
    kinds = {unit[2] for unit in units}
    if True not in kinds or (layer.near_misses and False not in kinds):
        raise Refusal("no sessions of one kind were measured on both sides")


def _scored_facts(run: Simulation) -> tuple[object, ...]:
    """Return what scores rest on."""
    return run.outcome, run.activated, run.quality, run.tokens, run.delivers, run.covers


def _dimensions(before: MonteCarloLayer, after: MonteCarloLayer) -> tuple[Dimension, ...]:
    """Return what the sessions of both sides measured."""
    one, two = ({name for name, item in layer.scores.items() if item.value is not None} for layer in (before, after))
    if _TRIGGER not in one & two:
        raise Refusal(f"the sessions measured {_TRIGGER.value} on one side only, or on none")
    return tuple(name for name in before.scores if name in one & two)


# -- The test

ALPHA = 0.05  # how often the test may call real what is none
POWER = 0.8
# Asked about only where there is code, so a version may have it and the other not.
_OPTIONAL = Dimension.CODE_TEMPLATE_QUALITY


class Paired(NamedTuple):
    """A composite before and after, compared answer by answer.

    Attributes:
        drop: composite points lost, negative for a gain; None where a side has no score.
        certain: of these, what layer 1 and the penalty alone account for: no sampling is in it.
        p: one-sided, of the sampled part: how often chance alone loses as much.
        units: answers that could be exchanged: a judge's rating of one dimension, all predictions on a prompt, or a
            whole simulated session.
        smallest_detectable: the drop that the gate would find in 80 of 100 such comparisons, with the scatter of these
            answers. A real drop adds to the scatter, so this is an upper limit. None if so few answers differ that no p
            can be small.
        flip_rate: of comparisons of two judgings of one text, the share that the gate would fail; None as above.
        reason: why the two cannot be compared, and all but ``drop`` is missing; None where they can.
    """

    drop: float | None
    certain: float | None = None
    p: float | None = None
    units: int = 0
    smallest_detectable: float | None = None
    flip_rate: float | None = None
    reason: str | None = None

    def real(self, max_drop: float = MAX_DROP, *, p: float | None = None) -> bool | None:
        """Whether more than ``max_drop`` points are really lost; None where they cannot be compared.

        ``p`` is the adjusted one, where several skills are tested at once.
        """
        tested = self.p if p is None else p
        if self.drop is None or self.certain is None or tested is None:
            return None
        return self.certain > max_drop or (self.drop > max_drop and tested <= ALPHA)


class _Side(NamedTuple):
    """One version: its static scores, its judgement, its sessions where there are any, its penalty, its composite."""

    static: Mapping[Dimension, float | None]
    layer: JudgeLayer
    simulated: MonteCarloLayer | None
    anti_patterns: int
    score: float


class _Answer(NamedTuple):
    """One number that both versions have: of which dimension, in which unit, its values in [0, 1].

    ``kind`` distinguishes prompts that should trigger from near misses; None for ratings.
    """

    dimension: Dimension
    unit: tuple[object, ...]
    before: float
    after: float
    kind: bool | None = None


def paired(before: SkillResult, after: SkillResult, seed: int = 0, *, max_drop: float = MAX_DROP) -> Paired:
    """Compare two versions of a skill that the same judges judged, on the same prompts.

    Judges are paired by their place, prompts and sessions by the prompt's text and label; a session that was not
    measured on a side is left out on both. Matches and lift are no part of a composite and do not enter. Exact for at
    most 15 units that differ, else 9,999 exchanges by chance and the one as found. Ratings that one reply gives
    together are still exchanged one by one. By simulation, with half or more of the noise common to a reply, at most
    6 % of comparisons of one text with itself have p ≤ 0.05. Exchanging whole replies leaves one judge too few units
    to find anything.

    ``max_drop`` is the gate's, which decides with p what would be found and what would flip.
    """
    scores = (before.composite.score, after.composite.score)
    drop = None if scores[0] is None or scores[1] is None else round(scores[0] - scores[1], 2)
    try:
        one, two = _side(before, "before"), _side(after, "after")
        _comparable(one.layer, two.layer)
        answers = tuple(_answers(one.layer, two.layer))
        pairs = sessions(one.simulated, two.simulated)
    except Refusal as refusal:
        return Paired(drop, reason=str(refusal))
    null = _null(answers, pairs, two, seed)
    was = _judged(answers, np.asarray([[answer.before for answer in answers]]))
    ran = {} if pairs is None else pairs.exchanged(np.zeros((1, len(pairs.units)), dtype=np.bool_))[0]
    old, new = (composites(side.static, was, side.anti_patterns, ran) for side in (one, two))
    return Paired(
        drop=drop,
        certain=round(float((old - new)[0]), 2),
        p=round(p_value(null), 6),
        units=len({answer.unit for answer in answers}) + (0 if pairs is None else len(pairs.units)),
        smallest_detectable=_detectable(null, max_drop),
        flip_rate=round(_flips(null, max_drop), 4),
    )


def _side(result: SkillResult, which: str) -> _Side:
    layers = {type(layer): layer for layer in result.layers}
    static, judge, score = layers.get(StaticLayer), layers.get(JudgeLayer), result.composite.score
    montecarlo = layers.get(MonteCarloLayer)
    if score is None:
        raise Refusal(f"{which}, there is no score: {result.composite.reason or 'not evaluated'}")
    if not isinstance(static, StaticLayer) or not static.sub_checks:
        raise Refusal(f"{which}, the report does not hold the scores of layer 1")
    if not isinstance(judge, JudgeLayer):
        raise Refusal(f"{which}, no judge was asked")
    scores = {check.dimension: check.score for check in static.sub_checks.values()}
    ran = montecarlo if isinstance(montecarlo, MonteCarloLayer) else None
    return _Side(scores, judge, ran, len(static.anti_patterns), score)


def _comparable(before: JudgeLayer, after: JudgeLayer) -> None:
    """Refuse what differs in anything but the skill, and what cannot be paired answer by answer."""
    for different in judges_apart(before, after):
        raise Refusal(str(different))
    if before.judges != after.judges:
        raise Refusal(f"judges differ: {before.judges} before, {after.judges} after")
    if before.models != after.models:
        raise Refusal(f"models differ: {', '.join(before.models)} before, {', '.join(after.models)} after")
    digests = [layer.triggering.digest if layer.triggering else None for layer in (before, after)]
    if None in digests:
        raise Refusal("the trigger prompts were not measured on both sides")


def _answers(before: JudgeLayer, after: JudgeLayer) -> Iterator[_Answer]:
    for dimension in Dimension:
        one, two = (_measured(layer.assessments.get(dimension)) for layer in (before, after))
        if dimension is _TRIGGER:
            yield from _predictions(before, after)
        elif one is not None and two is not None:
            yield from _ratings(dimension, one, two, before.judges)
        elif (one is None) != (two is None) and dimension is not _OPTIONAL:
            raise Refusal(f"{dimension.value} was judged on one side only")


def _measured(assessment: Assessment | None) -> Assessment | None:
    return assessment if assessment is not None and assessment.score is not None else None


def _ratings(dimension: Dimension, before: Assessment, after: Assessment, judges: int) -> Iterator[_Answer]:
    if not len(before.ratings) == len(after.ratings) == judges:
        raise Refusal(f"not every judge answered for {dimension.value}")
    for judge, (one, two) in enumerate(zip(before.ratings, after.ratings, strict=True)):
        yield _Answer(dimension, (judge, dimension), one / 10, two / 10)


def _predictions(before: JudgeLayer, after: JudgeLayer) -> Iterator[_Answer]:
    """Pair trigger prompts; one that no judge answered on either side is in neither."""
    sides = [layer.triggering.prompts if layer.triggering else () for layer in (before, after)]
    was, now = ({(prompt.prompt, prompt.should_trigger): _share(prompt) for prompt in side} for side in sides)
    for key, share in was.items():
        other = now.get(key)
        if share is not None and other is not None:
            yield _Answer(_TRIGGER, key, share, other, kind=key[1])
    if {key[1] for key in was if was[key] is not None and now.get(key) is not None} != {True, False}:
        raise Refusal("the predictions on trigger prompts were not measured on both sides")


def _share(prompt: TriggerPrompt) -> float | None:
    answers = [answer for answer in prompt.predicted if answer is not None]
    return sum(answers) / len(answers) if answers else None


def _null(answers: tuple[_Answer, ...], pairs: Sessions | None, after: _Side, seed: int) -> Array:
    """Return the drop of the sampled part for every exchange, the one as found first; the static part stays."""
    units = tuple(dict.fromkeys(answer.unit for answer in answers if answer.before != answer.after))
    ran = () if pairs is None else tuple(np.flatnonzero(pairs.differing).tolist())
    place = {unit: index for index, unit in enumerate(units)}
    moves = swaps(len(units) + len(ran), seed=seed)
    # One column more than there are units: that of the answers that are the same on both sides.
    columns = [place.get(item.unit, -1) for item in answers]
    moved = np.pad(moves[:, : len(units)], ((0, 0), (0, 1)))[:, columns]
    was, now = np.asarray([item.before for item in answers]), np.asarray([item.after for item in answers])
    judged = [_judged(answers, np.where(moved, *sides)) for sides in ((now, was), (was, now))]
    simulated = ({}, {}) if pairs is None else pairs.exchanged(_spread(moves[:, len(units) :], ran, len(pairs.units)))
    old, new = (
        composites(after.static, opinions, after.anti_patterns, simulations)
        for opinions, simulations in zip(judged, simulated, strict=True)
    )
    return old - new


def _spread(moves: Mask, places: tuple[int, ...], units: int) -> Mask:
    """Put the exchanges of some units among all of them; the others stay where they are."""
    moved = np.zeros((len(moves), units), dtype=np.bool_)
    moved[:, places] = moves
    return moved


def _judged(answers: tuple[_Answer, ...], values: Array) -> dict[Dimension, Array]:
    """Return each dimension's judged score for many sets of answers: shape (sets, answers) to (sets,) for each."""
    columns: dict[tuple[Dimension, bool | None], list[int]] = {}
    for index, answer in enumerate(answers):
        columns.setdefault((answer.dimension, answer.kind), []).append(index)
    means = {key: values[:, places].mean(axis=1) for key, places in columns.items()}
    judged = {dimension: mean for (dimension, kind), mean in means.items() if kind is None}
    return {**judged, _TRIGGER: balanced(means[_TRIGGER, True], means[_TRIGGER, False])}


def _detectable(null: Array, max_drop: float) -> float | None:
    """Return the drop that, with chance on top, passes both bounds of the gate in 80 of 100 cases."""
    rare = critical(null, ALPHA)
    if rare is None:
        return None
    return round(max(rare, max_drop) - float(np.quantile(null, 1 - POWER)), 2)


def _flips(null: Array, max_drop: float) -> float:
    rare = critical(null, ALPHA)
    return 0.0 if rare is None else min(at_least(null, rare), float(np.mean(null > max_drop + 1e-9)))
