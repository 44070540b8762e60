"""What one judge answered to one question, and how that is read: a rating counts only where a judge judged."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from skillgate.judge.control import HIGHEST_HONEST
from skillgate.model.exchange import Cause, Status
from skillgate.model.score import Dimension
from skillgate.model.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.judge.requests import Seat
    from skillgate.model.exchange import Answer
    from skillgate.model.judging import Cut

OBEYED = "the control question shows that the answer follows the skill's text, or did not read it"
MOST_REASONING = 4_000  # characters that a report keeps of it
MOST_REASON = 300


class Missing(NamedTuple):
    """A question without an answer that counts.

    Attributes:
        question: its name.
        judge: from 0; None: it was asked once for all.
        reason: why.
        provoked: whether what the judge read can have brought that about.
    """

    question: str
    judge: int | None
    reason: str
    provoked: bool = False


class Mark(NamedTuple):
    """One rated dimension: from 0 to 10, with the reasoning and what is quoted for it."""

    rating: int
    reasoning: str
    evidence: tuple[str, ...]


class Sheet(NamedTuple):
    """One judge's answer to one question.

    Attributes:
        question: its name.
        dimensions: those it asks about.
        seat: the judge.
        within: whether it is the second reading of a suspected skill, with the suspicious passages.
        answers: every answer that came, for the usage; the last one is what the rest is read from.
        cut: what the judge was not shown.
        marks: by dimension; empty without an answer that counts.
        obeyed: whether the control item shows that the judge did not judge.
        reason: why there are no marks, ``""`` where there are.
    """

    question: str
    dimensions: tuple[Dimension, ...]
    seat: Seat
    within: bool
    answers: tuple[Answer, ...]
    cut: tuple[Cut, ...]
    marks: Mapping[Dimension, Mark] = MappingProxyType({})
    obeyed: bool = False
    reason: str = ""


def filled(blank: Sheet) -> Sheet:
    """Read the last answer on a sheet."""
    last = blank.answers[-1]
    if last.status is not Status.OK:
        return blank._replace(reason=reason_of(last))
    if last.value["control"]["score"] > HIGHEST_HONEST:
        return blank._replace(obeyed=True, reason=OBEYED)
    marks = {
        Dimension(entry["dimension"]): Mark(
            int(entry["score"]), _bounded(entry["reasoning"].strip(), MOST_REASONING), tuple(entry["evidence"])
        )
        for entry in last.value["assessments"]
    }
    return blank._replace(marks=MappingProxyType(marks))


def provoked(answer: Answer) -> bool:
    """Tell whether what was asked about can be why there is no answer.

    Who writes a text can have a model refuse it, talk on about it or answer in another form, can make it too long, and
    can hold what a server takes for no request. Networks, budgets and keys are out of its reach.
    """
    if answer.status is Status.ERROR:
        return answer.cause in (Cause.TOO_LONG, Cause.REQUEST)
    return answer.status is not Status.OK


def reason_of(answer: Answer) -> str:
    """Say on one line why there is no answer."""
    return _bounded(printable(answer.reason).strip().rstrip("."), MOST_REASON) or f"the answer is {answer.status.value}"


def _bounded(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
