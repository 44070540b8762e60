"""Measure agreement among judges and with people, and predict the scores that people would give.

The correction predicts a person's rating from the judge's by linear regression over the labelled pairs of that
dimension (at least 20), else over all ratings. The judge's own scores do not change. A shift of the mean is not enough,
since judges also bunch their ratings: low ones are too high, high ones too low. The interval is a prediction interval:
it includes the scatter of people and the uncertainty of the line.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skillgate.errors import UsageError
from skillgate.format import did_you_mean
from skillgate.model.codec import decode
from skillgate.model.documents import Calibration, Label, Pair
from skillgate.model.layers import Agreement, Estimate, Trust
from skillgate.model.score import SCHEMA_VERSION, Dimension
from skillgate.model.yaml_bounded import Limits, YamlProblem, load_mapping
from skillgate.stats.agreement import icc_2_1, kappa, kappa_of_sums, mean_pairwise_kappa, products, shares
from skillgate.stats.intervals import LEVEL, clopper_pearson, quantile_t, rate_draws
from skillgate.stats.resampling import bootstrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from skillgate.judge.subject import Ratings
    from skillgate.model.layers import JudgeLayer

    Array = npt.NDArray[np.float64]

LEAST_LABELS = 20  # minimum for a correction
LEAST_ITEMS = 40  # with fewer, the interval of kappa spans most of its range (−0.40 to 1.00 at 4 items, by simulation)
LEAST_SKILLS = 10  # minimum for resampling skills and for a correction: errors within one skill are correlated
PASS_MARK = 7.0  # of 10: a C, the minimum that a person would accept unchanged
_RUN_SEED, _LABELS_SEED = 5, 7  # arbitrary, but fixed
_ALONE = "agreement needs two judges"
_NO_BETTER = "the judge is no more likely to pass what people pass than what they do not"
_LIMITS = Limits(bytes=1 << 20, nodes=60_000)
_KEYED = re.compile(r"^labels\s*:", re.MULTILINE)
_RENEW = "make a new one with skillgate evals calibrate LABELS --output-file FILE"


def agreement(ratings: Sequence[Ratings], judges: int) -> Agreement:
    """Compute agreement over all skills of a run, since one skill has too few ratings.

    Only items that all judges answered count. Chance-corrected figures (both kappas and the ICC) need 40 items.
    """
    if judges < 2:
        return Agreement(judges, kappa_reason=_ALONE, kappa_trigger_reason=_ALONE, icc_reason=_ALONE)
    rated, skills = _pool([[row for _, row in skill.rated] for skill in ratings], judges)
    predicted, _ = _pool([skill.predicted for skill in ratings], judges)
    few, few_predictions = _few(len(rated), "ratings"), _few(len(predicted), "predictions")
    ratings_kappa, kappa_reason = (None, few) if few else mean_pairwise_kappa(rated)
    trigger, trigger_reason = (
        (None, few_predictions) if few_predictions else mean_pairwise_kappa(predicted, weights="none")
    )
    icc, icc_reason = (None, few) if few else icc_2_1(rated)
    interval = None
    if ratings_kappa is not None:  # resample whole skills if there are enough: ratings of one skill are correlated
        clusters = skills if len(set(skills)) >= LEAST_SKILLS else None
        interval = bootstrap(products(rated), kappa_of_sums, seed=_RUN_SEED, clusters=clusters)
    plain = shares(rated)
    return Agreement(
        judges=judges,
        items=len(rated),
        kappa=_rounded(ratings_kappa),
        kappa_ci_low=_rounded(interval and interval.low),
        kappa_ci_high=_rounded(interval and interval.high),
        kappa_reason=kappa_reason,
        kappa_trigger=_rounded(trigger),
        kappa_trigger_reason=trigger_reason,
        predictions=len(predicted),
        icc=_rounded(icc),
        icc_reason=icc_reason,
        agreement=_rounded(plain and plain.equal),
        within_one=_rounded(plain and plain.within_one),
    )


def _pool(skills: Sequence[Sequence[tuple[int | None, ...]]], judges: int) -> tuple[list[tuple[int, ...]], list[int]]:
    """Return a row per item that every judge answered, and the index of each row's skill."""
    rows, owners = [], []
    for index, answers in enumerate(skills):
        for row in answers:
            complete = tuple(value for value in row if value is not None)
            if len(complete) == len(row) == judges:
                rows.append(complete)
                owners.append(index)
    return rows, owners


def _few(count: int, what: str, least: int = LEAST_ITEMS) -> str | None:
    return f"{count} of {least} {what}" if count < least else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def read(text: str, name: str) -> Calibration:
    """Read a calibration document (JSON); ``name`` is the file, for messages.

    Raises:
        UsageError: invalid JSON, another schema version, no items, or a duplicate pair.
        CodecError: invalid structure, with every place.
    """
    try:
        data = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name}: invalid calibration document: {error}") from None
    document = decode(Calibration, data, path=name)
    if document.schema_version != SCHEMA_VERSION:
        version = document.schema_version
        raise UsageError(f"{name}: schema_version {version} is not supported (expected {SCHEMA_VERSION}); {_RENEW}")
    if not document.items:
        raise UsageError(f"{name}: no items; {_RENEW}")
    _refuse_twice(document.items, name)
    return document


def read_labels(text: str, name: str) -> tuple[Label, ...]:
    """Read people's ratings: a YAML list of ``{skill, dimension, human}``, at the top level or under ``labels``.

    Raises:
        UsageError: invalid YAML, too large, or a duplicate label.
        CodecError: invalid structure, with every place.
    """
    body = text.removeprefix("\ufeff").removeprefix("---\n")
    # A block list may follow its key without indentation, a flow list only on the same line.
    lead = "" if _KEYED.search(body) else "labels: " if body.lstrip().startswith("[") else "labels:\n"
    try:
        found = load_mapping(lead + body, limits=_LIMITS)
    except YamlProblem as problem:
        line = problem.line - lead.count("\n") + text.removeprefix("\ufeff").startswith("---\n")
        raise UsageError(f"{name}:{max(1, line)}: {problem.message}") from None
    labels = decode(tuple[Label, ...], found.values.get("labels"), path=f"{name}: labels", unknown="error")
    if not labels:
        raise UsageError(f"{name}: no labels; add entries with skill, dimension and human")
    _refuse_twice(labels, name)
    return tuple(labels)


def _refuse_twice(entries: Iterable[Label | Pair], name: str) -> None:
    seen: set[tuple[str, Dimension]] = set()
    for one in entries:
        if (one.skill, one.dimension) in seen:
            raise UsageError(f"{name}: duplicate {one.dimension.value} for {one.skill}; remove one")
        seen.add((one.skill, one.dimension))


class Built(NamedTuple):
    """A new document, and a line for each unused label."""

    document: Calibration
    left_out: tuple[str, ...] = ()


def build(labels: Sequence[Label], layers: Mapping[str, JudgeLayer], *, date: str) -> Built:
    """Make a calibration from ratings of the same skills by people and the judge; ``layers`` are by shown path.

    Raises:
        UsageError: a label names no or several skills, no label is usable, or skills were judged with other settings.
    """
    pairs, left_out, used = [], [], []
    for label in labels:
        path = _path(label.skill, layers)
        score = layers[path].assessments.get(label.dimension)
        if score is None or score.score is None:
            why = score.reason if score is not None else layers[path].reason
            left_out.append(f"{label.skill}: {label.dimension.value} was not judged: {why or 'not asked'}")
        else:
            pairs.append(Pair(path, label.dimension, label.human, round(score.score * 10, 4)))
            used.append(layers[path])
    if not pairs:
        raise UsageError("no label has a judged score\n" + "\n".join(left_out))
    _refuse_twice(pairs, "the labels")
    made = {_made_by(layer) for layer in used}
    if len(made) > 1:
        raise UsageError("the skills were judged with different models or prompts; judge them in one run")
    model, prompt, rubric, live = made.pop()
    judges = min(layer.judges for layer in used)
    return Built(Calibration(model, prompt, rubric, date, tuple(pairs), judges, live), tuple(left_out))


def _path(skill: str, layers: Mapping[str, JudgeLayer]) -> str:
    if skill in layers:
        return skill
    named = [path for path in layers if path.rpartition("/")[2] == skill]
    if len(named) == 1:
        return named[0]
    if named:
        raise UsageError(f"{len(named)} skills are named {skill}; use a path: {', '.join(sorted(named))}")
    raise UsageError(f"no judged skill is named {skill}{did_you_mean(skill, layers)}")


def _made_by(layer: JudgeLayer) -> tuple[str, str, str, bool]:
    return " + ".join(sorted(set(layer.models))), layer.prompt_version, layer.rubric_version, layer.live


def refuse_stale(document: Calibration, layer: JudgeLayer) -> None:
    """Raise UsageError if a calibration is for another judge: another model, prompt or rubric, or more judges."""
    model, prompt, rubric, live = _made_by(layer)
    sources = {True: "live", False: "scripted or replayed"}
    differing = [
        f"{words} was {then or 'unknown'}, is {now or 'unknown'}"
        for words, then, now in (
            ("model", document.model, model),
            ("prompt version", document.prompt_version, prompt),
            ("rubric version", document.rubric_version, rubric),
            ("model's answers", sources[document.live], sources[live]),
        )
        if then != now
    ]
    if layer.judges < document.judges:  # more judges only make the interval wider than necessary
        differing.append(f"number of judges was {document.judges}, is {layer.judges}")
    if differing:
        raise UsageError(f"the calibration of {document.date} is stale: {'; '.join(differing)}; {_RENEW}")


def calibrate(document: Calibration, layer: JudgeLayer) -> JudgeLayer:
    """Return a layer with predicted scores of people; scores and composite do not change.

    Raises:
        UsageError: the calibration is stale.
    """
    if all(item.score is None for item in layer.assessments.values()):
        return layer
    refuse_stale(document, layer)
    corrected = {
        dimension: item if item.score is None else item._replace(corrected=_corrected(document, dimension, item.score))
        for dimension, item in layer.assessments.items()
    }
    return layer._replace(assessments=corrected)


def _corrected(document: Calibration, dimension: Dimension, score: float) -> Estimate:
    own = [item for item in document.items if item.dimension is dimension]
    # The trigger score is computed from predictions: errors of ratings say nothing about it, and vice versa.
    alone = len(own) >= LEAST_LABELS or dimension is Dimension.TRIGGERING_ACCURACY
    pairs = own if alone else _rated(document)
    skills = len({item.skill for item in pairs})
    few = _few(len(pairs), "labels", LEAST_LABELS)
    if few is None and skills < LEAST_SKILLS:
        few = f"labels of {skills} of {LEAST_SKILLS} skills"
    if few is not None:
        return Estimate(None, n=len(pairs), reason=few)
    value, half = _predicted(pairs, skills, score * 10)
    # Cut to the scale of ratings, the value too, so that it stays inside its interval.
    low, mean, high = (round(min(10.0, max(0.0, end)) / 10, 4) for end in (value - half, value, value + half))
    return Estimate(mean, low, high, n=len(pairs))


def _rated(document: Calibration) -> list[Pair]:
    """Return the pairs in which the judge's value is a rating."""
    return [item for item in document.items if item.dimension is not Dimension.TRIGGERING_ACCURACY]


def _predicted(pairs: Sequence[Pair], skills: int, mark: float) -> tuple[float, float]:
    """Predict a person's rating from the judge's; return it and half the width of its 95 % interval.

    Pairs of one skill are not independent, so the uncertainty of the line counts skills, not pairs. If the judge's
    ratings are nearly all equal, there is no line, and only the mean is shifted.
    """
    judge = np.asarray([pair.judge for pair in pairs], dtype=np.float64)
    human = np.asarray([pair.human for pair in pairs], dtype=np.float64)
    apart = judge - judge.mean()
    sloped = len(np.unique(judge)) >= 3
    slope = float(apart @ (human - human.mean()) / (apart @ apart)) if sloped else 1.0
    rest = human - human.mean() - slope * apart
    # The scatter is that of single pairs.
    scatter = math.sqrt(float(rest @ rest) / (len(pairs) - 1 - sloped))
    distance = mark - float(judge.mean())
    lever = distance**2 / (float(apart @ apart) * skills / len(pairs)) if sloped else 0.0
    half = quantile_t(skills - 1 - sloped) * scatter * math.sqrt(1 + 1 / skills + lever)
    return float(human.mean()) + slope * distance, half


def trust(document: Calibration, layers: Sequence[JudgeLayer]) -> Trust:
    """Measure a judge's agreement with people, and correct a run's share of passed ratings for it.

    The trigger score, which is not a rating, and skills without a judgement are left out.

    Raises:
        UsageError: the calibration is stale.
    """
    scores: list[float] = []
    for layer in layers:
        known = {name: item.score for name, item in layer.assessments.items() if item.score is not None}
        if known:
            refuse_stale(document, layer)
            scores += [score for name, score in known.items() if name is not Dimension.TRIGGERING_ACCURACY]
    pairs = _rated(document)
    hits = [float(pair.judge >= PASS_MARK) for pair in pairs if pair.human >= PASS_MARK]
    rejections = [float(pair.judge < PASS_MARK) for pair in pairs if pair.human < PASS_MARK]
    return Trust(
        items=len(pairs),
        skills=len({pair.skill for pair in pairs}),
        kappa=_kappa(pairs),
        sensitivity=_rate(hits, "no label is a pass"),
        specificity=_rate(rejections, "every label is a pass"),
        acceptable=_acceptable([float(score * 10 >= PASS_MARK - 1e-9) for score in scores], hits, rejections),
    )


def _kappa(pairs: Sequence[Pair]) -> Estimate:
    few = _few(len(pairs), "labels")
    value, reason = (None, few) if few else kappa([pair.human for pair in pairs], [pair.judge for pair in pairs])
    if value is None:
        return Estimate(None, n=len(pairs), reason=reason)
    names = sorted({pair.skill for pair in pairs})
    clusters = [names.index(pair.skill) for pair in pairs] if len(names) >= LEAST_SKILLS else None
    rows = products([(pair.human, pair.judge) for pair in pairs])
    found = bootstrap(rows, kappa_of_sums, seed=_LABELS_SEED, clusters=clusters)
    if found is None:
        return Estimate(round(value, 4), n=len(pairs), reason="too few distinct labels for an interval")
    return Estimate(round(value, 4), round(found.low, 4), round(found.high, 4), n=len(pairs))


def _rate(outcomes: Sequence[float], none: str) -> Estimate:
    if not outcomes:
        return Estimate(None, reason=none)
    low, high = clopper_pearson(int(sum(outcomes)), len(outcomes))
    return Estimate(round(sum(outcomes) / len(outcomes), 4), round(low, 4), round(high, 4), n=len(outcomes))


def _acceptable(passes: Sequence[float], hits: Sequence[float], rejections: Sequence[float]) -> Estimate:
    """Correct the judge's share of passes: (share + specificity − 1) ÷ (sensitivity + specificity − 1).

    Source: Rogan and Gladen, 1978. Each end of the interval is sampled with all three rates biased towards it.
    """
    if not passes or not hits or not rejections:
        why = "no judged score" if not passes else "labels on both sides of the pass mark are needed"
        return Estimate(None, n=len(passes), reason=why)
    power = sum(hits) / len(hits) + sum(rejections) / len(rejections) - 1
    if power <= 0:
        return Estimate(None, n=len(passes), reason=_NO_BETTER)
    value = (sum(passes) / len(passes) - 1 + sum(rejections) / len(rejections)) / power
    rng = np.random.default_rng(_LABELS_SEED)
    share, found, refused = (rate_draws(rates, rng) for rates in (passes, hits, rejections))
    tail = (1 - LEVEL) / 2
    low = float(np.quantile(_corrected_draws(share.low, found.high, refused.low, 0.0), tail))
    high = float(np.quantile(_corrected_draws(share.high, found.low, refused.high, 1.0), 1 - tail))
    value = min(1.0, max(0.0, value))
    return Estimate(round(value, 4), round(min(low, value), 4), round(max(high, value), 4), n=len(passes))


def _corrected_draws(share: Array, hit: Array, refused: Array, unknown: float) -> Array:
    """Correct many samples; one in which the judge carries no information counts as ``unknown``."""
    power = hit + refused - 1
    ratio = np.divide(share + refused - 1, power, out=np.full_like(share, unknown), where=power > 0)
    inside: Array = np.clip(ratio, 0.0, 1.0)
    return inside
