"""The grades of a session's final answer.

How good it is, and whether it hands over the work itself, is told by a grader who sees the request and the answer and
nothing of the skill. Whether it covers what the skill promises is another question, with name and description beside
them. Answers are data: each question holds a control item, and an answer that got its grader to fail it has no grade.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.judge import control
from skillgate.judge.asking import ask
from skillgate.judge.fence import fenced, marker, sealed, visible
from skillgate.judge.requests import MAX_TOKENS
from skillgate.judge.rubric import BANDS, HIGHEST
from skillgate.judge.sheet import provoked, reason_of
from skillgate.model.exchange import Request, Status, Together
from skillgate.montecarlo import grade_schema, wording

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.model.exchange import Answer, Steps
    from skillgate.model.judging import TriggerPrompt
    from skillgate.montecarlo.session import Session
    from skillgate.montecarlo.subject import Plan, Subject

GRADE, SCOPE = "grade", "scope_grade"
OBEYED = "the control question shows that the grade follows the answer's text, or that it was not read"
NOT_ASKED = "a near miss in which the skill was not loaded is not graded"
_TYPICAL_OUTPUT = {GRADE: 700, SCOPE: 600}  # tokens, thinking included


class Grade(NamedTuple):
    """What the graders say of one answer.

    Attributes:
        quality: the rating ÷ 10, in [0, 1]; None without one.
        delivers: whether the answer is the work itself; None where that was not told.
        covers: whether it covers the request within what the skill promises; None where that was not asked or told.
        ungraded: why something is not told that was asked, None where all is; of a near miss, why nothing was asked.
        asked: how many grades were wanted.
        lost: how many of them what was graded can have kept from being given.
        missing: how many were not given, these included.
        obeyed: how many of those the control item shows to be worth nothing.
        answers: all that came, for the usage.
    """

    quality: float | None = None
    delivers: bool | None = None
    covers: bool | None = None
    ungraded: str | None = None
    asked: int = 0
    lost: int = 0
    missing: int = 0
    obeyed: int = 0
    answers: tuple[Answer, ...] = ()


class Run(NamedTuple):
    """One session with the grades of its answer."""

    case: TriggerPrompt
    session: Session
    grade: Grade


class Mark(NamedTuple):
    """One question's outcome: the decoded answer where it counts, else why it does not."""

    question: str
    answer: Answer
    value: Mapping[str, Any] | None
    reason: str = ""
    obeyed: bool = False

    @property
    def lost(self) -> bool:
        """Say whether what was graded can be why there is no grade."""
        return self.value is None and (self.obeyed or provoked(self.answer))


def graded(subject: Subject, plan: Plan, case: TriggerPrompt, answer: str) -> Steps[Grade]:
    """Have an answer graded; what the skill promises is asked about where the skill is meant for the request."""
    wanted = [_asked(blind(subject, plan, case.prompt, answer))]
    if case.should_trigger:
        wanted.append(_asked(scope(subject, plan, case.prompt, answer)))
    marks: tuple[Mark, ...] = yield Together(tuple(wanted))
    quality, *covers = marks
    gaps = [mark for mark in marks if mark.value is None]
    return Grade(
        quality=None if quality.value is None else quality.value["quality"] / HIGHEST,
        delivers=None if quality.value is None else quality.value["delivers"] == grade_schema.WORK,
        covers=next((mark.value["covers"] == grade_schema.COVERED for mark in covers if mark.value is not None), None),
        ungraded="; ".join(f"{mark.question}: {mark.reason}" for mark in gaps) or None,
        asked=len(marks),
        lost=sum(mark.lost for mark in marks),
        missing=len(gaps),
        obeyed=sum(mark.obeyed for mark in marks),
        answers=tuple(mark.answer for mark in marks),
    )


def blind(subject: Subject, plan: Plan, prompt: str, answer: str) -> Request:
    """Ask how good an answer is, and whether it is the work itself, without a word of any skill."""
    bands = zip(BANDS, wording.ANCHORS, strict=True)
    anchors = "\n".join(f"- {low}–{high}: {text}" for (low, high, *_), text in bands)
    shown = _shown(plan, prompt, answer)
    absent = control.subject(control.absent((prompt, answer)), shown, GRADE)
    return _request(subject, plan, GRADE, shown, wording.GRADE.format(anchors=anchors), absent, grade_schema.GRADE)


def scope(subject: Subject, plan: Plan, prompt: str, answer: str) -> Request:
    """Ask whether an answer covers the request within what name and description promise."""
    skill = (fenced("skill name", subject.name), fenced("skill description", subject.description))
    shown = "\n\n".join((*skill, _shown(plan, prompt, answer)))
    absent = control.absent((prompt, answer, subject.name, subject.description))
    chosen = control.subject(absent, shown, SCOPE)
    return _request(subject, plan, SCOPE, shown, wording.SCOPE, chosen, grade_schema.SCOPE)


def _asked(request: Request) -> Steps[Mark]:
    answer = yield from ask(request)
    if answer.status is not Status.OK:
        return Mark(request.question, answer, None, reason_of(answer))
    if answer.value["control"]["score"] > control.HIGHEST_HONEST:
        return Mark(request.question, answer, None, OBEYED, obeyed=True)
    return Mark(request.question, answer, answer.value)


def _request(
    subject: Subject, plan: Plan, name: str, shown: str, task: str, absent: str, form: Mapping[str, Any]
) -> Request:
    model, effort = plan.grader
    question = "\n\n".join((f"Question: {name}", task.strip(), wording.CONTROL.format(subject=absent).strip()))
    output: dict[str, Any] = {"format": {"type": "json_schema", "schema": form}}
    if effort is not None:
        output["effort"] = effort
    content = [{"type": "text", "text": shown}, {"type": "text", "text": question}]
    return Request(
        question=name,
        subject=subject.path,
        body={
            "model": model,
            "max_tokens": MAX_TOKENS,
            "system": [{"type": "text", "text": wording.GRADER}],
            "messages": [{"role": "user", "content": content}],
            "output_config": output,
        },
        prompt_version=wording.PROMPT_VERSION,
        rubric_version=wording.RUBRIC_VERSION,
        check=grade_schema.reasons,
        typical_output=_TYPICAL_OUTPUT[name],
    )


def _shown(plan: Plan, prompt: str, answer: str) -> str:
    """Fence request and answer; of what is longer than a grader is shown the end is left out, and that is said."""
    return "\n\n".join((_bounded("request", prompt, plan), _bounded("answer", answer, plan)))


def _bounded(kind: str, text: str, plan: Plan) -> str:
    beyond = len(text) - plan.most_characters
    if beyond <= 0:
        return fenced(kind, text)
    said = marker(wording.CUT.format(characters=beyond))
    return sealed(kind, f"{visible(text[: plan.most_characters])}\n{said}")
