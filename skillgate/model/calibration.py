"""A judge held against people: the document, and the labels it is made from.

Annotations are evaluated, as in :mod:`skillgate.model.report`.
"""

from typing import Annotated, NamedTuple

from skillgate.model.judging import Count
from skillgate.model.marks import Range, tagged
from skillgate.model.score import SCHEMA_VERSION, Dimension

Mark = Annotated[float, Range(0, 10)]


class Label(NamedTuple):
    """What a person gave a skill in one dimension, from 0 to 10, on the anchors that the judge is shown.

    ``skill`` is its directory as shown, or its name where only one has it.
    """

    skill: str
    dimension: Dimension
    human: Mark


class Pair(NamedTuple):
    """One skill in one dimension, from 0 to 10, by a person and by the judge.

    ``judge`` is the mean over the judges; for triggering ten times class-balanced F1.
    """

    skill: str
    dimension: Dimension
    human: Mark
    judge: Mark


@tagged("kind", "calibration")
class Calibration(NamedTuple):
    """The document: what people and one judge gave the same skills.

    Attributes:
        model: the model that judged; several are joined with `` + ``, by name.
        prompt_version, rubric_version: of the questions.
        date: when it was made, as in 2026-11-21.
        items: no skill twice in one dimension.
        judges: over how many opinions ``judge`` is a mean.
        live: False for a scripted or replayed model.
    """

    model: str
    prompt_version: str
    rubric_version: str
    date: str
    items: tuple[Pair, ...]
    judges: Count = 1
    live: bool = True
    schema_version: int = SCHEMA_VERSION
