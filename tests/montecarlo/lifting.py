"""A model of a few lines for tests of lift: it answers tasks, graders and those who write tasks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from skillgate.montecarlo.lift import lift
from tests.montecarlo.driving import Model, drive, plan, subject, text

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.model.evals import TaskCase
    from skillgate.model.exchange import Request
    from skillgate.model.judging import TriggerPrompt
    from skillgate.montecarlo.subject import Lifted

GOOD, PLAIN = "Answer by the header.", "Answer off hand."
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def has_skill(request: Request) -> bool:
    """Tell by the request's first turn whether a task is done with the skill."""
    return "Base directory for this skill:" in json.dumps(request.body["messages"][0])


def does(request: Request) -> object:
    return (text(GOOD if has_skill(request) else PLAIN),)


def writes(request: Request) -> object:
    """Write as many tasks as are asked for."""
    many = int(question(request).split("Write ")[1].split(" ")[0])
    return {"tasks": [written(LETTERS[number]) for number in range(many)]}


def written(word: str, *expectations: str) -> dict[str, Any]:
    return {"prompt": f"Join the sheets of {word}.", "expectations": list(expectations or ("It joins.", "It warns."))}


def meets(verdict: Callable[[str, str], str]) -> Callable[[Request], object]:
    """Make a grader whose verdict on each expectation follows from the answer and the expectation."""

    def says(request: Request) -> object:
        answer, rows = fence(request, "answer"), fence(request, "expectations").splitlines()
        return grades(*(verdict(answer, json.loads(row)["expectation"]) for row in rows))

    return says


def grades(*met: str, control: int = 0) -> dict[str, Any]:
    entries = [
        {"number": number, "evidence": ["by the header", "never said"], "reasoning": "So it reads.", "met": one}
        for number, one in enumerate(met, start=1)
    ]
    return {"expectations": entries, "control": {"score": control}}


def better(choose: Callable[[str, str], str]) -> Callable[[Request], object]:
    """Make a judge whose choice follows from both answers."""

    def says(request: Request) -> object:
        choice = choose(fence(request, "first answer"), fence(request, "second answer"))
        evidence: dict[str, list[str]] = {"first": [], "second": []}
        return {"evidence": evidence, "reasoning": "It is so.", "better": choice, "control": {"score": 0}}

    return says


def question(request: Request) -> str:
    said: str = request.body["messages"][0]["content"][-1]["text"]
    return said


def fence(request: Request, kind: str) -> str:
    """Give what stands in the fence of a kind."""
    whole = request.body["messages"][0]["content"][0]["text"]
    inside = whole.split(f"⟦begin {kind} ")[1].split(f"\n⟦end {kind} ")[0]
    return str(inside.split("\n", 1)[1])


def honest_choice(first: str, second: str) -> str:
    return "equal" if first == second else "first" if first == GOOD else "second"


def a_model(**says: Any) -> Model:
    """Make a model that does better with the skill, and graders who see that."""
    answers: dict[str, Any] = {
        "task_prompts": writes,
        "task": does,
        "expectation_grade": meets(lambda answer, text: "yes" if answer == GOOD or text == "It joins." else "no"),
        "preference": better(honest_choice),
    }
    return Model(**{**answers, **says})


def lifted(model: Model, *tasks: TaskCase, prompts: tuple[TriggerPrompt, ...] = (), **changes: Any) -> Lifted:
    """Drive lift over a skill that brings these tasks."""
    made = subject(tasks=tasks, prompts=prompts)
    return drive(lift(made, plan(**changes)), model)
