"""How lift asks a grader: what it is shown, the request, and what of its answer counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.judge import control
from skillgate.judge.asking import ask
from skillgate.judge.fence import fenced, marker, sealed, visible
from skillgate.judge.requests import MAX_TOKENS
from skillgate.judge.sheet import reason_of
from skillgate.model.exchange import Request, Status
from skillgate.montecarlo import lift_wording
from skillgate.montecarlo.grading import OBEYED, Mark
from skillgate.montecarlo.wording import CUT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skillgate.model.exchange import Steps
    from skillgate.montecarlo.subject import Plan, Subject


class Form(NamedTuple):
    """One question of lift's.

    Attributes:
        name: of the question.
        schema: of its answer.
        check: says what is wrong with an answer beyond its schema.
        typical_output: tokens of an answer as a rule, thinking included.
        about: what the control item asks about.
        typical: the text of a typical answer, for estimates; ``""``: made up from the schema.
    """

    name: str
    schema: Mapping[str, Any]
    check: Callable[[Any], str | None]
    typical_output: int
    about: str = lift_wording.ONE
    typical: str = ""


def shown(plan: Plan, *texts: tuple[str, str]) -> str:
    """Fence texts, each with its kind; of one longer than a grader is shown the end is left out, and that is said."""
    return "\n\n".join(_bounded(kind, text, plan.most_characters) for kind, text in texts)


def question(
    subject: Subject, plan: Plan, form: Form, task: str, texts: Sequence[tuple[str, str]], expected: str = ""
) -> Request:
    """Make the request.

    Args:
        subject: the skill, of which nothing but its path for the records goes in.
        plan: whom to ask.
        form: the question.
        task: what is asked.
        texts: what it is asked about, each with its kind.
        expected: what it is held to, which is never cut; ``""`` for nothing.
    """
    fences = shown(plan, *texts)
    if expected:
        fences = f"{fences}\n\n{fenced('expectations', expected)}"
    absent = control.subject(control.absent([expected, *(text for _, text in texts)]), fences, form.name)
    item = lift_wording.CONTROL.format(are=form.about, subject=absent)
    asked = "\n\n".join((f"Question: {form.name}", task.strip(), item.strip()))
    output: dict[str, Any] = {"format": {"type": "json_schema", "schema": form.schema}}
    if plan.grader.effort is not None:
        output["effort"] = plan.grader.effort
    return Request(
        question=form.name,
        subject=subject.path,
        body={
            "model": plan.grader.model,
            "max_tokens": MAX_TOKENS,
            "system": [{"type": "text", "text": lift_wording.GRADER}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": fences}, {"type": "text", "text": asked}]}
            ],
            "output_config": output,
        },
        prompt_version=lift_wording.PROMPT_VERSION,
        rubric_version=lift_wording.RUBRIC_VERSION,
        check=form.check,
        typical_output=form.typical_output,
        typical=({"type": "text", "text": form.typical},) if form.typical else (),
    )


def marked(request: Request) -> Steps[Mark]:
    """Ask, and give the answer where it counts: where one came, and the control item shows that it was honest."""
    answer = yield from ask(request)
    if answer.status is not Status.OK:
        return Mark(request.question, answer, None, reason_of(answer))
    if answer.value["control"]["score"] > control.HIGHEST_HONEST:
        return Mark(request.question, answer, None, OBEYED, obeyed=True)
    return Mark(request.question, answer, answer.value)


def _bounded(kind: str, text: str, most: int) -> str:
    beyond = len(text) - most
    if beyond <= 0:
        return fenced(kind, text)
    return sealed(kind, f"{visible(text[:most])}\n{marker(CUT.format(characters=beyond))}")
