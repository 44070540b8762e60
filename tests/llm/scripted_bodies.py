"""Requests as a judge makes them, over a small skill, for the tests of the scripted model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.judge import document, requests
from skillgate.judge.questions import questions
from skillgate.judge.siblings import COMMON
from skillgate.judge.subject import Dossier, Opinion, Page, Sibling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.exchange import Request

MODEL = "claude-sonnet-5-5"
SKILL = """\
---
name: invoice-reader
description: Reads supplier invoices and writes amounts, currencies and due dates to a ledger. Use for scanned invoices.
---

# Reading invoices

Open each invoice and look for the total amount beside its currency.
Write one ledger row for each invoice, with supplier, amount and due date.
When the amount cannot be read, leave the row empty and name the page.
"""


def dossier(text: str = SKILL) -> Dossier:
    """Give a skill as a judge is handed it."""
    description = "Reads supplier invoices and writes amounts, currencies and due dates to a ledger."
    return Dossier(
        path="skills/invoice-reader",
        name="invoice-reader",
        description=description,
        category="",
        pages=(Page("SKILL.md", text),),
        facts=("robustness: 3 of 4 points were given for this measured line",),
        siblings=COMMON,
        code_blocks=1,
    )


def assessments(text: str = SKILL, *, sample: int = 0) -> dict[str, Request]:
    """Give the requests that ask for ratings, by question."""
    subject = dossier(text)
    shown = document.shown(subject, most_characters=400_000).text
    seat = requests.seats((Opinion(MODEL),) * (sample + 1))[sample]
    return {
        question.name: requests.assessment(
            subject, shown, seat, name=question.name, rubrics=question.rubrics, subject="tower clocks", typical=900
        )
        for question in questions()
        if question.rated
    }


def trigger_prompts() -> Request:
    """Give the request that asks for prompts."""
    subject = dossier()
    shown = document.shown(subject, most_characters=400_000).text
    return requests.trigger_prompts(subject, shown, requests.seats((Opinion(MODEL),))[0])


def trigger_predictions(prompts: Sequence[str]) -> Request:
    """Give the request that asks for predictions; the skill is the first on the list."""
    subject = dossier()
    listed = (Sibling(subject.name, subject.description), *COMMON)
    return requests.trigger_predictions(subject.path, listed, prompts, requests.seats((Opinion(MODEL),))[0])


def plain(text: str = "hello", **more: Any) -> dict[str, Any]:
    """Give a small body of the Messages API."""
    return {"model": MODEL, "max_tokens": 500, "messages": [{"role": "user", "content": text}], **more}
