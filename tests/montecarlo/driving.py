"""A model of a few lines for tests: it answers sessions and graders as the API would."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from skillgate.judge.subject import Opinion, Sibling
from skillgate.llm.classify import classify
from skillgate.model.exchange import Answer, Cause, Reply, Request, Status, Steps, Together, Tokens
from skillgate.model.judging import TriggerPrompt
from skillgate.montecarlo.subject import Plan, Served, Subject

T = TypeVar("T")
Block = Mapping[str, Any]
Says = Callable[[Request], object]

MODEL = "claude-sonnet-5-5"
GRADER = "claude-haiku-5-5"
USED = Tokens(100, 10)
PRICE_USD = 0.01


class Shelf:
    """A library of given texts."""

    def __init__(self, texts: Mapping[str, Mapping[str, str]]) -> None:
        self._texts = texts

    def base(self, skill: str) -> str:
        return f"/skills/{skill}"

    def body(self, skill: str) -> Served:
        return Served(self._texts[skill]["SKILL.md"]) if skill in self._texts else Served(None, "no such skill")

    def file(self, skill: str, path: str) -> Served:
        inside = path.removeprefix(f"{self.base(skill)}/")
        if inside not in self.files(skill):
            return Served(None, "outside of the skill" if inside == path else "the skill has no such file")
        return Served(self._texts[skill][inside])

    def files(self, skill: str) -> tuple[str, ...]:
        return tuple(sorted(path for path in self._texts.get(skill, {}) if path != "SKILL.md"))


def subject(**changes: Any) -> Subject:
    """Make a skill with a reference, among two siblings of which one has a file too."""
    shelf = {
        "merge-sheets": {
            "SKILL.md": "# Merge\n\nRead the header first.\n",
            "references/keys.md": "# Keys\nNewest wins.\n",
        },
        "plot-sheets": {"SKILL.md": "# Plot\n", "references/axes.md": "# Axes\n"},
        "mail-sheets": {"SKILL.md": "# Mail\n"},
    }
    made = Subject(
        path="skills/merge-sheets",
        name="merge-sheets",
        description="Merge sheets. Use when joining exports.",
        siblings=(Sibling("plot-sheets", "Plot sheets."), Sibling("mail-sheets", "Mail sheets.")),
        siblings_source="beside",
        library=Shelf(shelf),
    )
    return made._replace(**changes)


def plan(**changes: Any) -> Plan:
    return Plan(Opinion(MODEL, "medium"), Opinion(GRADER, None))._replace(**changes)


def cases(fitting: int, near: int = 0) -> tuple[TriggerPrompt, ...]:
    """Make prompts, no two with the same words."""
    made = [TriggerPrompt(f"please join export {_word(n)}", True, "direct") for n in range(fitting)]
    return (*made, *(TriggerPrompt(f"please draw curve {_word(n)}", False, "direct") for n in range(near)))


def _word(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:04d}")


class Model:
    """Answers by question; a session as it is told to, a grade as an honest grader who finds an answer good."""

    def __init__(self, session: Says | None = None, **says: Says) -> None:
        self.says: dict[str, Says] = {"simulation": session or (lambda request: loads_then(request, "Done.")), **says}
        self.asked: list[Request] = []

    def ask(self, request: Request) -> Answer:
        self.asked.append(request)
        said = self.says.get(request.question, honest)(request)
        if isinstance(said, Answer):
            return said
        return answered(request, *said) if isinstance(said, tuple) else answered(request, text(json.dumps(said)))

    def of(self, question: str) -> list[Request]:
        return [request for request in self.asked if request.question == question]


def answered(
    request: Request, *blocks: Block, stop_reason: str | None = None, tokens: Tokens | None = USED, model: str = ""
) -> Answer:
    """Hold a reply to its request, as every answer is that a provider gives."""
    last = blocks[-1].get("type") if blocks else ""
    ended = stop_reason or ("tool_use" if last == "tool_use" else "end_turn")
    reply = Reply(blocks, ended, tokens, model or str(request.body["model"]))
    found = classify(request, reply)
    return Answer(
        found.status,
        found.value,
        reply,
        found.cause,
        found.reason,
        sent=1,
        cost_usd=PRICE_USD,
        tokens=tokens or Tokens(),
    )


def failed(cause: Cause = Cause.SERVER, reason: str = "the server answers 529") -> Answer:
    return Answer(Status.ERROR, cause=cause, reason=reason, sent=4)


def text(said: str) -> Block:
    return {"type": "text", "text": said}


def use(tool: str, number: int = 1, **given: Any) -> Block:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": given}


def skill(name: str = "merge-sheets", number: int = 1) -> Block:
    return use("Skill", number, skill=name)


def turn(request: Request) -> int:
    """Tell which request of its session it is, from 0."""
    return len(request.body["messages"]) // 2


def turns(*said: object) -> Says:
    """Say one thing after another, a turn each; the last one for ever."""
    return lambda request: said[min(turn(request), len(said) - 1)]


def loads_then(request: Request, said: str) -> object:
    return (skill(),) if turn(request) == 0 else (text(said),)


def given(request: Request) -> list[dict[str, Any]]:
    """Give the blocks of the last user turn."""
    blocks: list[dict[str, Any]] = request.body["messages"][-1]["content"]
    return blocks


def honest(request: Request) -> object:
    if request.question == "scope_grade":
        return {"evidence": [], "reasoning": "It is all there.", "covers": "yes", "control": {"score": 0}}
    return grade(8)


def grade(quality: int, delivers: str = "work", control: int = 0) -> dict[str, Any]:
    return {
        "evidence": [],
        "reasoning": "It is so.",
        "quality": quality,
        "delivers": delivers,
        "control": {"score": control},
    }


def drive(steps: Steps[T], model: Model) -> T:
    """Run a generator to its end, one request after the other."""
    told: Any = None
    while True:
        try:
            wanted = steps.send(told)
        except StopIteration as end:
            result: T = end.value
            return result
        told = tuple(drive(branch, model) for branch in wanted.branches) if isinstance(wanted, Together) else None
        if isinstance(wanted, Request):
            told = model.ask(wanted)


def texts(blocks: Sequence[Block]) -> list[str]:
    return [str(block["text"]) for block in blocks if block["type"] == "text"]
