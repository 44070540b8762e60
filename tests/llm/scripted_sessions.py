"""Sessions, grades and matches as the layers make them, played against a scripted model without threads or waiting."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.judge.siblings import COMMON
from skillgate.judge.subject import Opinion
from skillgate.llm.port import classify
from skillgate.llm.providers.scripted import Engine, Failure
from skillgate.llm.scripted.rules import parse
from skillgate.model.exchange import Answer, Cause, Reply, Request, Status, Together
from skillgate.model.layers import TriggerPrompt
from skillgate.montecarlo.grading import graded
from skillgate.montecarlo.session import session
from skillgate.montecarlo.subject import Plan, Served, Subject

if TYPE_CHECKING:
    from skillgate.model.exchange import Steps
    from skillgate.montecarlo.grading import Grade
    from skillgate.montecarlo.session import Session

GRADER = Opinion("claude-opus-5-5")
PLAN = Plan(model=Opinion("claude-sonnet-5-5"), grader=GRADER)
DESCRIPTION = (
    "Reads supplier invoices and writes amounts, currencies and due dates to a ledger. Use for scanned invoices."
)


class Shelf:
    """A library of one text for every skill, with one file each."""

    def base(self, skill: str) -> str:
        """Give a directory."""
        return f"/skills/{skill}"

    def body(self, skill: str) -> Served:
        """Give a text that names its file."""
        return Served(f"# {skill}\n\nGo by references/steps.md where a step is unclear.\n")

    def file(self, skill: str, path: str) -> Served:
        """Give the one file."""
        known = path in ("references/steps.md", f"/skills/{skill}/references/steps.md")
        return Served("1. Look.\n2. Write.\n") if known else Served(None, "there is no such file")

    def files(self, skill: str) -> tuple[str, ...]:
        """Name it."""
        return ("references/steps.md",) if skill else ()


SUBJECT = Subject("skills/invoice-reader", "invoice-reader", DESCRIPTION, COMMON, "common", Shelf())


class Run(NamedTuple):
    """A session and its grade, None where it has none."""

    session: Session
    grade: Grade | None


def world(text: str = "{}") -> Engine:
    """Make a model of a world in YAML."""
    return Engine(parse(f"world: {text}".encode(), "world.yaml"))


def asked(model: Engine, request: Request) -> Answer:
    """Ask once, as over a wire; what is no message is an error."""
    outcome = model.answer(json.loads(json.dumps(request.body, default=dict)))
    if isinstance(outcome, Failure) or outcome.cut:
        cause = Cause.NETWORK if not isinstance(outcome, Failure) else Cause.SERVER
        return Answer(Status.ERROR, cause=cause, reason="an outage", sent=1)
    reply = Reply(outcome.content, outcome.stop_reason, outcome.tokens, outcome.model, outcome.id, outcome.category)
    found = classify(request, reply)
    return Answer(found.status, found.value, reply, found.cause, found.reason, sent=1)


def played(steps: Steps[Any], model: Engine) -> Any:
    """Drive a layer to its end."""
    try:
        wanted = next(steps)
        while True:
            if isinstance(wanted, Together):
                wanted = steps.send(tuple(played(branch, model) for branch in wanted.branches))
            else:
                wanted = steps.send(asked(model, wanted))
    except StopIteration as ended:
        return ended.value


def prompt(number: int, *, should_trigger: bool = True) -> str:
    """Write a prompt about the skill, or a near miss by the phrase that a world knows unless it is given another."""
    if should_trigger:
        return f"Put amounts and currencies of the supplier invoices in folder {number} into the ledger."
    return f"Which supplier of amounts was the oldest, out of curiosity, in {1200 + number}?"


def run(model: Engine, number: int, *, should_trigger: bool = True, plan: Plan = PLAN, with_grade: bool = False) -> Run:
    """Run one session with a prompt of its own, and its grades where they are wanted and it completed."""
    case = TriggerPrompt(prompt(number, should_trigger=should_trigger), should_trigger, "direct")
    found: Session = played(session(SUBJECT, plan, case, number % 5, number), model)
    if found.outcome != "completed" or not with_grade:
        return Run(found, None)
    return Run(found, played(graded(SUBJECT, plan, case, found.answer), model))


def runs(
    model: Engine, many: int, *, should_trigger: bool = True, plan: Plan = PLAN, with_grade: bool = False
) -> tuple[Run, ...]:
    """Run many."""
    return tuple(
        run(model, number, should_trigger=should_trigger, plan=plan, with_grade=with_grade) for number in range(many)
    )
