"""A judge held against people: scores as people would give them, beside the judge's own, which stay what they are.

The correction predicts the mark that a person would give from the judge's, by linear regression over the labelled pairs
of that dimension (from 20 on), else of all that are rated. Regression and not a shift of the mean alone, since judges
also bunch their marks: the low ones are too high and the high ones too low. Where the judge gave all pairs about the
same mark there is no line to see, and only the mean is shifted. The interval is that of a prediction: it is to hold the
person's mark for this skill, hence the scatter of people about the line and the doubt in the line itself.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skillgate.errors import UsageError
from skillgate.model.calibration import Calibration, Label, Pair
from skillgate.model.codec import decode
from skillgate.model.judging import Estimate
from skillgate.model.score import SCHEMA_VERSION, Dimension
from skillgate.model.text import did_you_mean
from skillgate.model.yaml_bounded import Limits, YamlProblem, load_mapping
from skillgate.stats.intervals import quantile_t

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from skillgate.model.judging import JudgeLayer

LEAST_ITEMS = 20  # pairs for a correction
LEAST_SKILLS = 10  # that they are of: pairs of one skill err alike
_LIMITS = Limits(bytes=1 << 20, nodes=60_000)
_KEYED = re.compile(r"^labels\s*:", re.MULTILINE)
_RENEW = "make a new one: skillgate evals calibrate LABELS --output-file FILE"


def read(text: str, name: str) -> Calibration:
    """Read a calibration document.

    Args:
        text: JSON.
        name: the file, for messages.

    Raises:
        UsageError: it is not JSON, of another schema version, without items, or holds a pair twice.
        CodecError: it has not the shape, with every place.
    """
    try:
        data = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name}: not a calibration document, which is JSON: {error}") from None
    document = decode(Calibration, data, path=name)
    if document.schema_version != SCHEMA_VERSION:
        raise UsageError(f"{name}: schema_version {document.schema_version}; this version reads {SCHEMA_VERSION}")
    if not document.items:
        raise UsageError(f"{name}: holds no items; {_RENEW}")
    _refuse_twice(((item.skill, item.dimension) for item in document.items), name)
    return document


def read_labels(text: str, name: str) -> tuple[Label, ...]:
    """Read what people gave: a YAML list of ``{skill, dimension, human}``, bare or under the key ``labels``.

    Raises:
        UsageError: it is not YAML, beyond the bounds, or holds a label twice.
        CodecError: it has not the shape, with every place.
    """
    body = text.removeprefix("\ufeff").removeprefix("---\n")
    # A block list may stand below its key without indentation, a flow list only beside it.
    lead = "" if _KEYED.search(body) else "labels: " if body.lstrip().startswith("[") else "labels:\n"
    try:
        found = load_mapping(lead + body, limits=_LIMITS)
    except YamlProblem as problem:
        line = problem.line - lead.count("\n") + text.removeprefix("\ufeff").startswith("---\n")
        raise UsageError(f"{name}:{max(1, line)}: {problem.message}") from None
    labels = decode(tuple[Label, ...], found.values.get("labels"), path=f"{name}: labels", unknown="error")
    if not labels:
        raise UsageError(f"{name}: holds no labels")
    _refuse_twice(((label.skill, label.dimension) for label in labels), name)
    return tuple(labels)


def _refuse_twice(keys: Iterable[tuple[str, Dimension]], name: str) -> None:
    seen: set[tuple[str, Dimension]] = set()
    for key in keys:
        if key in seen:
            raise UsageError(f"{name}: {key[0]} has {key[1].value} twice")
        seen.add(key)


class Built(NamedTuple):
    """A new document, and a line for each label that could not be used."""

    document: Calibration
    left_out: tuple[str, ...] = ()


def build(labels: Sequence[Label], layers: Mapping[str, JudgeLayer], *, date: str) -> Built:
    """Make a calibration out of labels and of what the judge gave the same skills.

    Args:
        labels: what people gave.
        layers: by the skill's shown path.
        date: of today, as in 2026-11-21.

    Raises:
        UsageError: a label names no skill or more than one, no label can be used, or not all skills were judged alike.
    """
    pairs, left_out, used = [], [], []
    for label in labels:
        path = _path(label.skill, layers)
        score = layers[path].assessments.get(label.dimension)
        if score is None or score.score is None:
            why = score.reason if score is not None else layers[path].reason
            left_out.append(f"{label.skill}: {label.dimension.value} was not judged: {why or 'not asked about'}")
        else:
            pairs.append(Pair(path, label.dimension, label.human, round(score.score * 10, 4)))
            used.append(layers[path])
    if not pairs:
        raise UsageError("no label is of a score that was judged\n" + "\n".join(left_out))
    _refuse_twice(((pair.skill, pair.dimension) for pair in pairs), "the labels")
    made = {_made_by(layer) for layer in used}
    if len(made) > 1:
        raise UsageError("the skills were not all judged alike; judge them in one run")
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
        raise UsageError(f"{len(named)} skills are called {skill}; label one by its path: {', '.join(sorted(named))}")
    raise UsageError(f"no judged skill is called {skill}{did_you_mean(skill, layers)}")


def _made_by(layer: JudgeLayer) -> tuple[str, str, str, bool]:
    return " + ".join(sorted(set(layer.models))), layer.prompt_version, layer.rubric_version, layer.live


def refuse_stale(document: Calibration, layer: JudgeLayer) -> None:
    """Refuse a calibration that was made of another judge than a layer's.

    Raises:
        UsageError: model, wording or rubric differ, or fewer judges were asked; it says which and how to renew.
    """
    model, prompt, rubric, live = _made_by(layer)
    differing = [
        f"{words} was {then or 'unknown'}, is {now or 'unknown'}"
        for words, then, now in (
            ("model", document.model, model),
            ("prompt version", document.prompt_version, prompt),
            ("rubric version", document.rubric_version, rubric),
            ("model's answers", _liveness(live=document.live), _liveness(live=live)),
        )
        if then != now
    ]
    if layer.judges < document.judges:  # more of them only make the interval wider than need be
        differing.append(f"judges were {document.judges}, are {layer.judges}")
    if differing:
        raise UsageError(f"the calibration of {document.date} is stale: {'; '.join(differing)}; {_RENEW}")


def _liveness(*, live: bool) -> str:
    return "live" if live else "scripted or replayed"


def calibrate(document: Calibration, layer: JudgeLayer) -> JudgeLayer:
    """Give a layer whose assessments also say what people would give; scores and composite stay as they are.

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
    # The trigger score is computed from predictions: how ratings err says nothing of it, nor it of them.
    alone = len(own) >= LEAST_ITEMS or dimension is Dimension.TRIGGERING_ACCURACY
    pairs = own if alone else ratings_of(document)
    skills = len({item.skill for item in pairs})
    if len(pairs) < LEAST_ITEMS:
        return Estimate(None, n=len(pairs), reason=f"{len(pairs)} of {LEAST_ITEMS} labels")
    if skills < LEAST_SKILLS:
        return Estimate(None, n=len(pairs), reason=f"labels of {skills} of {LEAST_SKILLS} skills")
    value, half = _predicted(pairs, skills, score * 10)
    # Within the scale: a person gives no mark beyond it. The value is cut likewise, so it stays inside its interval.
    low, mean, high = (round(min(10.0, max(0.0, end)) / 10, 4) for end in (value - half, value, value + half))
    return Estimate(mean, low, high, n=len(pairs))


def ratings_of(document: Calibration) -> list[Pair]:
    """Give the pairs in which the judge's mark is a rating."""
    return [item for item in document.items if item.dimension is not Dimension.TRIGGERING_ACCURACY]


def _predicted(pairs: Sequence[Pair], skills: int, mark: float) -> tuple[float, float]:
    """Predict a person's mark from the judge's: the mark, and half the width of its 95 % interval.

    Pairs of one skill are not independent, so skills are counted, not pairs, where the doubt in the line is concerned.
    """
    judge = np.asarray([pair.judge for pair in pairs], dtype=np.float64)
    human = np.asarray([pair.human for pair in pairs], dtype=np.float64)
    apart = judge - judge.mean()
    sloped = len(np.unique(judge)) >= 3
    slope = float(apart @ (human - human.mean()) / (apart @ apart)) if sloped else 1.0
    rest = human - human.mean() - slope * apart
    free = skills - 1 - sloped
    # The scatter is that of single pairs; of its estimate, too, skills bound what is known.
    scatter = math.sqrt(float(rest @ rest) / (len(pairs) - 1 - sloped))
    distance = mark - float(judge.mean())
    lever = distance**2 / (float(apart @ apart) * skills / len(pairs)) if sloped else 0.0
    half = quantile_t(free) * scatter * math.sqrt(1 + 1 / skills + lever)
    return float(human.mean()) + slope * distance, half
