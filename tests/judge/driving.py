"""A judge of a few lines for tests: it answers requests as the API would, and its answers are held to what was asked.

It reads nothing but the body of a request, as a provider's model does, and says the same of the same body.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from skillgate.judge.layer import judge
from skillgate.judge.subject import Dossier, Judged, Opinion, Page, Panel, Sibling
from skillgate.llm.classify import classify
from skillgate.model.exchange import Answer, Cause, Reply, Request, Status, Steps, Together, Tokens

T = TypeVar("T")
Says = Callable[[Request], object]
"""What a judge makes of a request: JSON, a text, or an :class:`Answer` in place of any."""

MODEL = "claude-sonnet-5-5"
PRICE_USD = 0.01
DIMENSION = re.compile(r"^Dimension ([a-z_]+)$", re.MULTILINE)
RATING_QUESTIONS = ("orchestration_fitness", "output_quality", "scope_calibration", "other_dimensions")
HINTS = ("sort", "merge", "split", "clean", "join", "plot", "print", "mail", "fold", "trim")


class Judge:
    """Answers by question, else as an honest judge who finds everything middling; remembers what it was asked."""

    def __init__(self, says: Mapping[str, Says] | None = None, *, model: str = MODEL, rating: int = 6) -> None:
        self.says = dict(says or {})
        self.model = model
        self.rating = rating
        self.asked: list[Request] = []

    def ask(self, request: Request) -> Answer:
        self.asked.append(request)
        said = self.says.get(request.question, self.honest)(request)
        if isinstance(said, Answer):
            return said
        text = said if isinstance(said, str) else json.dumps(said)
        return answered(request, text, self.model)

    def honest(self, request: Request) -> object:
        if request.question == "trigger_prompts":
            return generated()
        if request.question == "trigger_predictions":
            return predictions(request, lambda prompt: "fitting" in prompt)
        return ratings(request, self.rating)

    def of(self, question: str) -> list[Request]:
        return [request for request in self.asked if request.question == question]

    def counts(self) -> Counter[str]:
        return Counter(request.question for request in self.asked)


def answered(request: Request, text: str, model: str = MODEL, stop_reason: str = "end_turn") -> Answer:
    """Hold a reply to its request, as every answer is that a provider gives."""
    reply = Reply(({"type": "text", "text": text},), stop_reason, Tokens(100, 10, 5, 1), model)
    status, value, reason = classify(request, reply)
    return Answer(status, value, reply, reason=reason, sent=1, cost_usd=PRICE_USD, tokens=Tokens(100, 10, 5, 1))


def failed(cause: Cause = Cause.SERVER, reason: str = "the server answers 529", sent: int = 4) -> Answer:
    return Answer(Status.ERROR, cause=cause, reason=reason, sent=sent)


def drive(steps: Steps[T], asker: Judge) -> T:
    """Run a generator to its end, one request after the other."""
    told: Any = None
    while True:
        try:
            wanted = steps.send(told)
        except StopIteration as end:
            result: T = end.value
            return result
        told = tuple(drive(branch, asker) for branch in wanted.branches) if isinstance(wanted, Together) else None
        if isinstance(wanted, Request):
            told = asker.ask(wanted)


def judged(dossier: Dossier, asker: Judge, judges: int = 1, **panel: Any) -> Judged:
    """Judge a skill by as many opinions of one model."""
    ticks = iter(range(0, 10**12, 7_000_000))
    return drive(judge(dossier, Panel((Opinion(MODEL),) * judges, **panel), lambda: next(ticks)), asker)


def skill(**changes: Any) -> Dossier:
    """Make a small skill with one reference, a code block and two siblings."""
    made = Dossier(
        path="skills/merge-sheets",
        name="merge-sheets",
        description="Merge sheets. Use when joining exports.",
        category="workflow",
        pages=(
            Page("SKILL.md", "---\nname: merge-sheets\n---\n# Merge\n\nRead the **header** of every file first.\n"),
            Page("references/columns.md", "# Columns\n\nKeep the newest row where two share a key.\n"),
        ),
        siblings=(Sibling("plot-sheets", "Plot sheets."), Sibling("mail-sheets", "Mail sheets.")),
        facts=("structural_completeness 0.40: 4 headings",),
        code_blocks=1,
    )
    return made._replace(**changes)


def question_text(request: Request) -> str:
    """Give what is asked: the last block of the first turn."""
    return str(request.body["messages"][0]["content"][-1]["text"])


def whole_text(request: Request) -> str:
    return json.dumps(request.body, ensure_ascii=False)


def asked_dimensions(request: Request) -> list[str]:
    return DIMENSION.findall(question_text(request))


def ratings(request: Request, rating: int, *, control: int = 0, evidence: tuple[str, ...] = ()) -> dict[str, Any]:
    """Rate everything that is asked about alike."""
    return {
        "assessments": [
            {"dimension": name, "evidence": list(evidence), "reasoning": f"{name} is so.", "score": rating}
            for name in asked_dimensions(request)
        ],
        "control": {"score": control},
    }


def generated() -> dict[str, Any]:
    """Give ten prompts; the word "fitting" in those that should trigger stands for what a judge would see."""
    labels = [(True, "fitting"), (False, "other")]
    return {
        "prompts": [
            {
                "should_trigger": label,
                "style": "direct" if index < 3 else "indirect",
                "prompt": f"{word}: please {HINTS[index]} my exports, they are a mess",
            }
            for label, word in labels
            for index in range(5)
        ],
    }


def listed(request: Request) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Read the skills and the prompts that a predictor is shown."""
    rows = [json.loads(line) for line in question_text(request).splitlines() if line.startswith("{")]
    return [row for row in rows if "name" in row], [row for row in rows if "prompt" in row]


def predictions(
    request: Request, loads: Callable[[str], bool], name: str = "merge-sheets", otherwise: int = 0
) -> dict[str, Any]:
    """Predict that the skill of a name is loaded for the prompts that a rule picks."""
    skills, prompts = listed(request)
    number = next(row["number"] for row in skills if row["name"] == name)
    return {
        "predictions": [
            {"prompt": row["number"], "skill": number if loads(row["prompt"]) else otherwise} for row in prompts
        ]
    }
