"""Holds an answer to what is expected of it. The grader sees request, answer and expectations, and not the arm.

What nobody can tell from an answer counts neither way; what a grader lost leaves the answer without a score, since an
answer could choose what is lost of it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.model.exchange import Together
from skillgate.model.simulating import Expectation
from skillgate.model.text import printable
from skillgate.montecarlo import lift_schema, lift_wording
from skillgate.montecarlo.lift_asking import Form, marked, question

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.model.exchange import Answer, Request, Steps
    from skillgate.montecarlo.grading import Mark
    from skillgate.montecarlo.subject import Plan, Subject

EXPECTATION_GRADE = "expectation_grade"
AT_ONCE = 20
"""Expectations of one request: so many verdicts with their evidence fit into one answer."""
MOST_EVIDENCE = 500  # characters that a report keeps
MOST_TEXT = 500
_TOKENS, _TOKENS_EACH = 300, 90  # of an answer as a rule, thinking included
_MET = {lift_schema.YES: True, lift_schema.NO: False, lift_schema.UNKNOWN: None}
_MADE_UP = "A sentence that is about as long as the reasoning of a verdict as a rule."


class Held(NamedTuple):
    """What an answer was held to.

    Attributes:
        expectations: each with its verdict; empty where ``reason`` says why there are none.
        score: the share of those that could be told that are met, in [0, 1]; None where there are no verdicts, or
            none of them could be told.
        reason: why there is no score, ``""`` where there is one.
        lost: whether what was graded can be why there are no verdicts.
        answers: all that came, for the usage.
    """

    expectations: tuple[Expectation, ...]
    score: float | None
    reason: str
    lost: bool
    answers: tuple[Answer, ...]


def held(subject: Subject, plan: Plan, prompt: str, answer: str, expected: Sequence[str]) -> Steps[Held]:
    """Hold an answer to at least one expectation."""
    parts = [expected[at : at + AT_ONCE] for at in range(0, len(expected), AT_ONCE)]
    wanted = tuple(marked(asked(subject, plan, prompt, answer, part)) for part in parts)
    marks: tuple[Mark, ...] = yield Together(wanted)
    answers = tuple(mark.answer for mark in marks)
    gap = next((mark for mark in marks if mark.value is None), None)
    if gap is not None:
        reason = f"{EXPECTATION_GRADE}: {gap.reason}"
        return Held((), None, reason, any(mark.lost for mark in marks), answers)
    found = tuple(
        verdict
        for part, mark in zip(parts, marks, strict=True)
        for verdict in _verdicts(part, mark.value or {}, answer)
    )
    told = [one.passed for one in found if one.passed is not None]
    if not told:
        return Held(found, None, "of no expectation could be told whether it is met", False, answers)
    return Held(found, sum(told) / len(told), "", False, answers)


def asked(subject: Subject, plan: Plan, prompt: str, answer: str, expected: Sequence[str]) -> Request:
    """Ask which expectations an answer meets, without a word of any skill."""
    form = Form(
        EXPECTATION_GRADE,
        lift_schema.EXPECTATIONS,
        lift_schema.answers_all(len(expected)),
        _TOKENS + _TOKENS_EACH * len(expected),
        typical=_made_up(len(expected)),
    )
    rows = "\n".join(
        json.dumps({"number": number, "expectation": " ".join(text.split())}, ensure_ascii=False)
        for number, text in enumerate(expected, start=1)
    )
    task = lift_wording.EXPECTATIONS.format(many=len(expected))
    return question(subject, plan, form, task, (("request", prompt), ("answer", answer)), rows)


def unmet(expected: Sequence[str], why: str) -> tuple[Expectation, ...]:
    """Give the verdicts on an answer that does not exist."""
    return tuple(
        Expectation(_line(text, MOST_TEXT), passed=False, evidence=_line(why, MOST_EVIDENCE)) for text in expected
    )


def _verdicts(expected: Sequence[str], value: Mapping[str, Any], answer: str) -> tuple[Expectation, ...]:
    """Read the verdicts in the order of the expectations; only what the answer holds is quoted as evidence."""
    folded = _folded(answer)
    found = []
    for entry in sorted(value["expectations"], key=lambda entry: int(entry["number"])):
        quoted = [f'"{quote.strip()}"' for quote in entry["evidence"] if quote.strip() and _folded(quote) in folded]
        evidence = "; ".join(quoted) or entry["reasoning"]
        text = _line(expected[entry["number"] - 1], MOST_TEXT)
        found.append(Expectation(text, _MET[entry["met"]], _line(evidence, MOST_EVIDENCE)))
    return tuple(found)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _line(text: str, most: int) -> str:
    line = printable(text).strip()
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _made_up(many: int) -> str:
    """Make an answer up for estimates."""
    rows = [
        {"number": number, "evidence": [], "reasoning": _MADE_UP, "met": lift_schema.YES}
        for number in range(1, many + 1)
    ]
    return json.dumps({"expectations": rows, "control": {"score": 0}})
