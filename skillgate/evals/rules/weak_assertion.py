"""What an answer is held to says nothing that could be found wrong.

Of a grader that passes whatever happens, an answer's length, or that it "is good", no case can fail for a reason that
somebody could mend.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.evals.rule import EvalHit, EvalRule, Subject
from skillgate.evals.wording import folded, quoted
from skillgate.model.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.evals import Check


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What an assertion may be about, joined by; what it may say of that without saying anything; and what measures length.
_SUBJECTS = _words(
    "the a an it its is are was were be been being this that there has have having must should shall will can and or of"
    " in to for with as at by on very quite so all any some every each output outputs result results response responses"
    " answer answers reply text content file files document report summary skill model claude assistant agent task"
    " user users overall general work works worked working"
)
_VAGUE = _words(
    "good great nice fine ok okay well correct correctly right properly proper appropriate appropriately reasonable"
    " reasonably useful helpful high quality professional clear clean accurate sensible satisfactory acceptable"
    " complete completed done successful successfully success looks look looking sounds seems expected valid best"
    " better ideal relevant meaningful satisfied happy written formatted structured made"
)
_LENGTH = _words(
    "long longer longest short shorter length empty nonempty non not more less than least most fewer at between about"
    " word words character characters char chars line lines page pages token tokens sentence sentences paragraph"
    " paragraphs minimum maximum min max over under exceeds contains enough exactly up"
)


def find(subject: Subject) -> Iterator[EvalHit]:
    """Look at what each task's answer is held to."""
    for task in subject.evals.tasks:
        if not task.checks and not task.expected.strip():
            message = f"nothing says what a good answer to {quoted(task.prompt)} is: no answer can fail"
            yield EvalHit(task.file, task.line, message, fix="add expectations, or an expected output")
        for check in task.checks:
            why = _why_weak(check)
            if why:
                yield EvalHit(check.file, check.line, why)


def _why_weak(check: Check) -> str:
    if not check.can_fail:
        return f"this grader ({check.kind}{' ' + quoted(check.text) if check.text else ''}) passes whatever happens"
    if check.kind not in ("assertion", "llm"):
        return ""
    if not check.text.strip():
        return "it is empty"
    words = [word for word in folded(check.text).split() if word not in _SUBJECTS]
    if all(word in _VAGUE for word in words):
        return f"{quoted(check.text)} says nothing that could be found wrong"
    if all(word in _VAGUE or word in _LENGTH or word.isdecimal() for word in words):
        return f"{quoted(check.text)} looks at length alone"
    return ""


RULE = EvalRule(
    id="WEAK_ASSERTION",
    severity=Severity.WARNING,
    summary="what an answer is held to says nothing that could be found wrong",
    fix="say what must be in the answer, or what must be true of it, so that two people would agree",
    find=find,
)
