"""Which of two answers is better, told by a judge who does not know their arms, in both orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.exchange import Together
from skillgate.montecarlo import lift_schema, lift_wording
from skillgate.montecarlo.lift_asking import Form, marked, question

if TYPE_CHECKING:
    from skillgate.model.exchange import Answer, Request, Steps
    from skillgate.montecarlo.grading import Mark
    from skillgate.montecarlo.subject import Plan, Subject

PREFERENCE = "preference"
WITH, WITHOUT, DRAW = "with", "without", "neither"
_FORM = Form(PREFERENCE, lift_schema.PREFERENCE, lift_schema.reasons, 600, lift_wording.TWO)


class Preferred(NamedTuple):
    """What the judge says of a pair.

    Attributes:
        preferred: ``with``, ``without`` or ``neither``; None where an order was not judged.
        position_bias: whether the two orders disagree, which makes a draw.
        reason: why there is no verdict, ``""`` where there is one.
        lost: whether what was compared can be why.
        answers: all that came, for the usage.
    """

    preferred: str | None = None
    position_bias: bool = False
    reason: str = ""
    lost: bool = False
    answers: tuple[Answer, ...] = ()


def preferred(subject: Subject, plan: Plan, prompt: str, with_skill: str, without_skill: str) -> Steps[Preferred]:
    """Have the answers of both arms compared, once with each of them first."""
    orders = ((with_skill, without_skill), (without_skill, with_skill))
    wanted = tuple(marked(asked(subject, plan, prompt, *order)) for order in orders)
    marks: tuple[Mark, Mark] = yield Together(wanted)
    answers = tuple(mark.answer for mark in marks)
    gap = next((mark for mark in marks if mark.value is None), None)
    if gap is not None:
        return Preferred(reason=f"{PREFERENCE}: {gap.reason}", lost=any(mark.lost for mark in marks), answers=answers)
    names = ((WITH, WITHOUT), (WITHOUT, WITH))
    said = [_named(mark, *pair) for mark, pair in zip(marks, names, strict=True)]
    agree = said[0] == said[1]
    return Preferred(said[0] if agree else DRAW, position_bias=not agree, answers=answers)


def asked(subject: Subject, plan: Plan, prompt: str, first: str, second: str) -> Request:
    """Ask which of two answers is better, without a word of any skill."""
    texts = (("request", prompt), ("first answer", first), ("second answer", second))
    return question(subject, plan, _FORM, lift_wording.PREFERENCE, texts)


def _named(mark: Mark, first: str, second: str) -> str:
    """Say whom a verdict is for."""
    better = "" if mark.value is None else mark.value["better"]
    return {lift_schema.FIRST: first, lift_schema.SECOND: second}.get(better, DRAW)
