"""A judge and a model of a few lines for tests: they answer requests as the API would, and are held to the request.

They read nothing but the body of a request, as a provider's model does, and say the same of the same body.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from skillgate.judge.layer import judge
from skillgate.judge.subject import Dossier, Judged, Opinion, Page, Panel, Sibling
from skillgate.llm.port import classify
from skillgate.model.exchange import Answer, Cause, Reply, Request, Status, Steps, Together, Tokens
from skillgate.model.layers import TriggerPrompt
from skillgate.montecarlo.subject import Plan, Served, Subject

T = TypeVar("T")
Block = Mapping[str, Any]
Says = Callable[[Request], object]
"""What a judge makes of a request: JSON, a text, or an :class:`Answer` in place of any."""

MODEL = "claude-sonnet-5-5"
GRADER = "claude-haiku-5-5"
USED = Tokens(100, 10)
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
        return self.reply(request, said)

    def reply(self, request: Request, said: Any) -> Answer:
        return answered(request, said if isinstance(said, str) else json.dumps(said), self.model)

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
        ]
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


class Model(Judge):
    """Answers a session as it is told to, a grade as an honest grader who finds an answer good."""

    def __init__(self, session: Says | None = None, **says: Says) -> None:
        super().__init__({"simulation": session or (lambda request: loads_then(request, "Done.")), **says})

    def honest(self, request: Request) -> object:
        return honest(request)

    def reply(self, request: Request, said: Any) -> Answer:
        return replied(request, *said) if isinstance(said, tuple) else replied(request, text(json.dumps(said)))


def replied(
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


def text(said: str) -> Block:
    return {"type": "text", "text": said}


def use(tool: str, number: int = 1, **given: Any) -> Block:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": given}


def load(name: str = "merge-sheets", number: int = 1) -> Block:
    return use("Skill", number, skill=name)


def turn(request: Request) -> int:
    """Tell which request of its session it is, from 0."""
    return len(request.body["messages"]) // 2


def turns(*said: object) -> Says:
    """Say one thing after another, a turn each; the last one for ever."""
    return lambda request: said[min(turn(request), len(said) - 1)]


def loads_then(request: Request, said: str) -> object:
    return (load(),) if turn(request) == 0 else (text(said),)


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


def texts(blocks: Sequence[Block]) -> list[str]:
    return [str(block["text"]) for block in blocks if block["type"] == "text"]
