"""What a rubric is made of, and the room that holds the questions with theirs.

A rating is an integer from 0 to 10, a score a rating ÷ 10. Every rubric has five anchors, one for each band of ratings;
the bands are those of the PluginEval method (0.0–0.19, 0.20–0.39, 0.40–0.59, 0.60–0.79, 0.80–1.0), the words are ours.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from skillgate.registry import Room

if TYPE_CHECKING:
    from skillgate.model.score import Dimension

HIGHEST = 10
# Lowest and highest rating of each band, and the scores that it stands for.
BANDS = ((0, 1, 0.0, 0.19), (2, 3, 0.20, 0.39), (4, 5, 0.40, 0.59), (6, 7, 0.60, 0.79), (8, 10, 0.80, 1.0))
ASSESSMENTS = Room("skillgate.judge.assessments")
# The order in which questions are put and shown.
_ORDER = ("triggering_accuracy", "orchestration_fitness", "output_quality", "scope_calibration", "other_dimensions")


class Rubric(NamedTuple):
    """How one dimension is rated.

    Attributes:
        dimension: which.
        task: what to look at, and how, in one paragraph.
        anchors: what earns a rating in each of the five bands, worst first.
        needs_code: whether it is only asked about where the skill holds a code block.
    """

    dimension: Dimension
    task: str
    anchors: tuple[str, str, str, str, str]
    needs_code: bool = False


class Question(NamedTuple):
    """One call to a judge.

    Attributes:
        name: as in :attr:`skillgate.model.exchange.Request.question`.
        rubrics: of the dimensions that it asks about.
        asked: False for a dimension that is computed from predictions; its anchors say what the result means.
        typical_output: tokens of an answer as a rule, thinking included.
    """

    name: str
    rubrics: tuple[Rubric, ...]
    asked: bool = True
    typical_output: int = 1_200


@cache
def questions() -> tuple[Question, ...]:
    """Load every question, in the order in which they are put."""
    return tuple(ASSESSMENTS.load(name).QUESTION for name in _ORDER)


def anchors(dimension: Dimension) -> tuple[tuple[float, float, str], ...]:
    """Give the five anchors of a dimension, worst first: lowest score, highest score, what earns it."""
    found = next(rubric for question in questions() for rubric in question.rubrics if rubric.dimension is dimension)
    return tuple((low, high, text) for (_, _, low, high), text in zip(BANDS, found.anchors, strict=True))
