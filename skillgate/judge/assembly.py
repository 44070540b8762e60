"""From answers to the layer of the report: means over judges, intervals, quotations, and what has no answer and why."""

from __future__ import annotations

from itertools import chain, zip_longest
from types import MappingProxyType
from typing import TYPE_CHECKING

from skillgate.judge import estimates, trouble
from skillgate.judge.expense import answered_by, is_live, usage
from skillgate.judge.quotations import Library, found
from skillgate.judge.rubric import HIGHEST
from skillgate.judge.subject import Judged, Ratings
from skillgate.judge.wording import PROMPT_VERSION, RUBRIC_VERSION
from skillgate.model.judging import Assessment, JudgeLayer, Quotation
from skillgate.model.score import Dimension

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.judge.sheet import Mark, Sheet
    from skillgate.judge.subject import Dossier, Panel
    from skillgate.judge.triggering import Predicted
    from skillgate.model.exchange import Answer
    from skillgate.model.judging import Triggering

    Marks = Mapping[Dimension, tuple[Mark | None, ...]]

MOST_QUOTATIONS = 6  # shown for a dimension, of all judges


def judged(
    dossier: Dossier, panel: Panel, sheets: Sequence[Sheet], predicted: Predicted, *, duration_ms: int
) -> Judged:
    """Put together what came of judging a skill.

    Args:
        dossier: the skill.
        panel: its judges.
        sheets: every answer to a question that asks for ratings.
        predicted: what the trigger prompts and predictions gave.
        duration_ms: how long it took.
    """
    judges = len(panel.opinions)
    without = _marks([sheet for sheet in sheets if not sheet.within], judges)
    within = _marks([sheet for sheet in sheets if sheet.within], judges)
    marks = {dimension: _lower(given, within.get(dimension)) for dimension, given in without.items()}
    swayed = _swayed(without, within)
    cut = tuple(dict.fromkeys(chain(predicted.cut, *(sheet.cut for sheet in sheets))))
    answers: tuple[Answer, ...] = tuple(answer for _, answer in _asked(panel, sheets, predicted))
    gaps = (*predicted.missing, *trouble.missing(sheets))
    reason = trouble.failure(gaps, judges)
    layer = JudgeLayer(
        duration_ms=duration_ms,
        judges=judges,
        kappa=None,
        kappa_reason="agreement is computed over all skills of a run" if judges > 1 else "one judge",
        models=tuple(opinion.model for opinion in panel.opinions),
        assessments=MappingProxyType(_assessments(dossier, sheets, marks, predicted.triggering)),
        reason=reason,
        provider=panel.provider,
        live=is_live(answers, live=panel.live),
        triggering=predicted.triggering,
        cut=cut,
        unread=tuple(f"{path} ({why})" for path, why in dossier.unread),
        obeyed=sum(sheet.obeyed for sheet in sheets),
        swayed=MappingProxyType(swayed),
        prompt_version=PROMPT_VERSION,
        rubric_version=RUBRIC_VERSION,
        usage=usage(answers),
        answered_by=answered_by(_asked(panel, sheets, predicted)),
    )
    return Judged(
        layer,
        _ratings(marks, predicted.triggering),
        problems=tuple(trouble.problems(dossier, sheets, cut, swayed)),
        failure=reason,
        silenced=trouble.silenced(gaps, judges),
        partial=trouble.partial(dossier, cut),
        notes=tuple(trouble.notes(dossier)),
    )


def _asked(panel: Panel, sheets: Sequence[Sheet], predicted: Predicted) -> Iterator[tuple[str, Answer]]:
    """Give every answer with the model that it was asked of."""
    yield from ((panel.opinions[seat].model, answer) for seat, answer in predicted.asked)
    for sheet in sheets:
        yield from ((sheet.seat.opinion.model, answer) for answer in sheet.answers)


def _marks(sheets: Sequence[Sheet], judges: int) -> Marks:
    """Give each judge's mark by dimension, in the order in which they were asked about; None where there is none."""
    given = {(dimension, sheet.seat.number): mark for sheet in sheets for dimension, mark in sheet.marks.items()}
    dimensions = dict.fromkeys(dimension for sheet in sheets for dimension in sheet.dimensions)
    return {dimension: tuple(given.get((dimension, judge)) for judge in range(judges)) for dimension in dimensions}


def _lower(without: Sequence[Mark | None], within: Sequence[Mark | None] | None) -> tuple[Mark | None, ...]:
    """Give each judge's lower mark of both readings; None where one of them has none, as the lower is not known then.

    So a passage can neither raise a score by what it asks for nor by what is left out together with it.
    """
    if within is None:
        return tuple(without)
    pairs = zip(without, within, strict=True)
    return tuple(min(one, other, key=lambda mark: mark.rating) if one and other else None for one, other in pairs)


def _swayed(without: Marks, within: Marks) -> dict[Dimension, float]:
    """Give by how much scores with the suspicious passages are higher, over the judges who rated both ways."""
    found: dict[Dimension, float] = {}
    for dimension, marks in within.items():
        pairs = [
            one.rating - other.rating for one, other in zip(marks, without[dimension], strict=True) if one and other
        ]
        if pairs:
            found[dimension] = sum(pairs) / (HIGHEST * len(pairs))
    return found


def _assessments(
    dossier: Dossier, sheets: Sequence[Sheet], marks: Marks, triggering: Triggering
) -> dict[Dimension, Assessment]:
    library = Library(dossier.pages)
    rated = {dimension: _rated(dimension, sheets, given, library) for dimension, given in marks.items()}
    return {Dimension.TRIGGERING_ACCURACY: _triggering(triggering), **rated}


def _triggering(triggering: Triggering) -> Assessment:
    """F1 with its interval, which the prompts give: that there is one judge does not take it away."""
    f1 = triggering.f1
    why = f1.reason if f1.ci_low is None else None
    return Assessment(score=f1.value, reason=f1.reason, ci_low=f1.ci_low, ci_high=f1.ci_high, ci_reason=why)


def _rated(dimension: Dimension, sheets: Sequence[Sheet], given: Sequence[Mark | None], library: Library) -> Assessment:
    marks = [mark for mark in given if mark is not None]
    if not marks:
        why = _why_not(dimension, sheets)
        return Assessment(score=None, reason=why, ci_reason=why)
    ratings = tuple(mark.rating for mark in marks)
    spread = estimates.spread(ratings, len(given))
    quotations, dropped = _quotations(given, library)
    return Assessment(
        score=estimates.mean_rating(ratings),
        reasoning=tuple(mark.reasoning for mark in marks),
        quotations=quotations,
        ratings=ratings,
        dropped=dropped,
        ci_low=spread.low,
        ci_high=spread.high,
        ci_reason=spread.reason,
    )


def _why_not(dimension: Dimension, sheets: Sequence[Sheet]) -> str:
    """Give the reasons of all judges, each once."""
    reasons = (sheet.reason for sheet in sheets if dimension in sheet.dimensions)
    return "; ".join(dict.fromkeys(reason for reason in reasons if reason)) or "no answer rates it"


def _quotations(given: Sequence[Mark | None], library: Library) -> tuple[tuple[Quotation, ...], int]:
    """Take each judge's first, then each one's second, and so on; one passage is shown once."""
    columns: list[list[Quotation]] = []
    dropped = 0
    for judge, mark in enumerate(given, start=1):
        places, lost = found(mark.evidence if mark else (), library)
        columns.append([Quotation(place.text, place.path, place.line, judge) for place in places])
        dropped += lost
    in_turn = (one for row in zip_longest(*columns) for one in row if one is not None)
    once: dict[tuple[str, int, str], Quotation] = {}
    for one in in_turn:
        once.setdefault((one.path, one.line, one.text), one)
    return tuple(once.values())[:MOST_QUOTATIONS], dropped


def _ratings(marks: Marks, triggering: Triggering) -> Ratings:
    return Ratings(
        rated=tuple(
            (dimension, tuple(mark.rating if mark else None for mark in given)) for dimension, given in marks.items()
        ),
        predicted=tuple(
            tuple(None if said is None else int(said) for said in prompt.predicted) for prompt in triggering.prompts
        ),
    )
