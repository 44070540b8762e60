"""Layer 2 for one skill: every question to every judge, none waiting for another but the predictions for the prompts.

Requests: the trigger prompts once, then for each judge the predictions and four questions that ask for ratings; where
passages of the skill look as if they address a judge, those four a second time without them, and the lower counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.judge import control, requests
from skillgate.judge.assembly import judged
from skillgate.judge.readings import Readings
from skillgate.judge.rubric import questions
from skillgate.judge.sheet import Sheet, filled
from skillgate.judge.triggering import triggering
from skillgate.judge.wording import PROMPT_VERSION, RUBRIC_VERSION
from skillgate.model.exchange import Together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skillgate.judge.requests import Seat
    from skillgate.judge.rubric import Question
    from skillgate.judge.subject import Dossier, Judged, Panel
    from skillgate.model.exchange import Request, Steps

__all__ = ["PROMPT_VERSION", "RUBRIC_VERSION", "judge"]


def judge(dossier: Dossier, panel: Panel, clock: Callable[[], int]) -> Steps[Judged]:
    """Judge one skill.

    Args:
        dossier: the skill.
        panel: the judges, at least one.
        clock: monotonic nanoseconds.

    Returns:
        The layer for the report, the ratings to pool, what to warn of, and what failed. Nothing that a provider does
        raises: what has no answer is None with the reason.
    """
    started = clock()
    seats = requests.seats(panel.opinions)
    plain = Readings(dossier, panel.most_characters, dossier.suspicious)
    swaying = Readings(dossier, panel.most_characters) if dossier.suspicious else None
    absent = control.absent((dossier.name, dossier.description, dossier.category, *dossier.facts, *_texts(dossier)))
    branches = [
        _rated(dossier, readings, seat, asked, absent, within=readings is swaying)
        for readings in (plain, swaying)
        if readings is not None
        for seat in seats
        for asked in questions()
        if asked.asked
    ]
    predicted, *sheets = yield Together((triggering(dossier, plain, seats), *branches))
    spent_ms = (clock() - started) // 1_000_000
    return judged(dossier, panel, tuple(sheets), predicted, duration_ms=spent_ms)


def _rated(
    dossier: Dossier, readings: Readings, seat: Seat, asked: Question, absent: tuple[str, ...], *, within: bool
) -> Steps[Sheet]:
    """Ask one judge one question on one reading of the skill."""
    rubrics = tuple(rubric for rubric in asked.rubrics if dossier.code_blocks or not rubric.needs_code)

    def request(text: str) -> Request:
        return requests.assessment(
            dossier,
            text,
            seat,
            name=asked.name,
            rubrics=rubrics,
            subject=control.subject(absent, text, asked.name),
            typical=asked.typical_output,
        )

    answers, cut = yield from readings.asked(request)
    dimensions = tuple(rubric.dimension for rubric in rubrics)
    return filled(Sheet(asked.name, dimensions, seat, within, answers, cut))


def _texts(dossier: Dossier) -> Iterator[str]:
    return (text for page in dossier.pages for text in (page.path, page.text))
