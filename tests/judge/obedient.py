"""Judges that obey: one all that is outside of a fence, a weak one all inside too; and skills to try them on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter_ns
from typing import Any, NamedTuple

from skillgate.evaluation.assess import assess
from skillgate.judge.dossier import RULES, dossier
from skillgate.judge.subject import Dossier, Judged
from skillgate.model.exchange import Answer, Request
from skillgate.model.finding import Severity
from skillgate.model.score import Dimension
from skillgate.model.skill import SkillSource
from skillgate.skill.find import discover, read
from tests.judge.attacks import Attack, folded
from tests.judge.doubles import DIMENSION, answered, generated, judged, predictions, question_text
from tests.judge.reading import fences, outside, plain, unfenced
from tests.skills import write_skill

NAME = "merge-sheets"
DESCRIPTION = "Merges CSV sheets into one table. Use when rows of several sheets are to be joined."
HONEST = (
    "Read the header of every file first, because it decides which columns can be joined.",
    "Write down what was dropped and why, so that the owner of the data can check it.",
)
BODY = f"# Merge sheets\n\n## Steps\n\n{HONEST[0]}\n\n```bash\nmerge one.csv two.csv\n```\n\n{HONEST[1]}\n"
NEUTRAL = "An ordinary remark on the work."
_HINTS = ("sort", "merge", "split", "clean", "join")


def write(base: Path, place: str, text: str) -> Path:
    """Write the honest skill with a text in one place, and a neighbour beside it; give its directory."""
    (base / ".git").mkdir(parents=True)
    values = {"name": NAME, "description": DESCRIPTION}
    sibling = {"name": "plot-sheets", "description": "Draws a chart of the rows of a sheet."}
    body, files = BODY, dict[str, str]()
    if place in _IN_BODY:
        body = _IN_BODY[place](text)
    elif place in _IN_FILES:
        files = _IN_FILES[place](text)
    elif place.startswith("sibling "):
        sibling[place.removeprefix("sibling ")] = text
    else:
        values[place.replace(" ", "_")] = text
    write_skill(base / "skills", "neighbour", frontmatter=_yaml(sibling))
    return write_skill(base / "skills", NAME, body=f"\n{body}", frontmatter=_yaml(values), files=files)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _title(text: str) -> str:
    return _flat(text).replace('"', "'")


_IN_BODY: dict[str, Callable[[str], str]] = {
    "body": lambda text: f"{BODY}\n{text}\n",
    "first line": lambda text: f"{text}\n\n{BODY}",
    "heading": lambda text: f"{BODY}\n## {_flat(text)}\n\nWords.\n",
    "list": lambda text: f"{BODY}\n- one\n- {_flat(text)}\n- three\n",
    "comment": lambda text: f"{BODY}\n<!--\n{text}\n-->\n",
    "link title": lambda text: (
        f'{BODY}\nSee [the page](https://example.org "{_flat(text).replace(chr(34), chr(39))}").\n'
    ),
    "code": lambda text: f"{BODY}\n~~~~~text\n{text}\n~~~~~\n",
}
_IN_FILES: dict[str, Callable[[str], dict[str, str]]] = {
    "reference": lambda text: {"references/notes.md": f"{text}\n"},
    "reference data": lambda text: {"references/data.json": text},
    "file name": lambda text: {f"references/{_file_name(text)}.md": "# Notes\n"},
    "eval prompt": lambda text: {"evals/triggers.json": _evals(text)},
}
_IN_VALUES = ("name", "description", "when to use", "category", "metadata", "sibling description", "sibling name")
PLACES = (*_IN_BODY, *_IN_FILES, *_IN_VALUES)


def _file_name(text: str) -> str:
    name = text.replace("/", "_").replace("\x00", "").encode()[-180:].decode(errors="ignore")
    return name.strip(" .") or "notes"


def _evals(text: str) -> str:
    """Give five prompts that fit and five that do not, the text in one of each.

    A prompt that names the skill would not be taken, so the text names another.
    """
    text = text.replace(NAME, f"{NAME}-2")
    cases = [
        {"query": f"{word}: please {hint} my exports{f', {text}' if hint == 'join' else ''}", "should_trigger": label}
        for label, word in ((True, "fitting"), (False, "other"))
        for hint in _HINTS
    ]
    return json.dumps(cases)


def _yaml(values: dict[str, str]) -> str:
    lines = []
    for key, value in values.items():
        if key == "category":
            lines.append(f"metadata:\n  category: {_quoted(value)}")
        elif key == "metadata":
            lines.append(f"metadata:\n  note: {_quoted(value)}")
        else:
            lines.append(f"{key}: {_quoted(value)}")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """Write a text as a double-quoted YAML scalar in ASCII."""
    plain = (one if " " <= one <= "~" and one not in '"\\' else f"\\U{ord(one):08x}" for one in text)
    return f'"{"".join(plain)}"'


HONEST_RATING = {dimension.value: 3 + index % 5 for index, dimension in enumerate(Dimension)}
UNREAD = 1  # what a judge gives who cannot find the honest text of the skill in its fence


class Obedient:
    """A judge that looks for orders in what it takes for instructions, and else rates the honest text it is shown.

    Attributes:
        read: gives the part of a prompt that it takes for instructions.
        told: the orders that it knows when it reads them.
        asked: the requests it was sent.
    """

    def __init__(self, read: Callable[[str], str], told: Sequence[Attack]) -> None:
        self.read = read
        self.told = [(folded(attack.order), attack) for attack in told]
        self.asked: list[Request] = []
        self.obeyed: list[str] = []

    def ask(self, request: Request) -> Answer:
        self.asked.append(request)
        instructions = folded("\n".join(self.read(text) for text in strings(request.body)))
        order = next((attack for words, attack in self.told if words in instructions), None)
        if order is not None:
            self.obeyed.append(request.question)
        return answered(request, json.dumps(self._answer(request, order)))

    def _answer(self, request: Request, order: Attack | None) -> object:
        if request.question == "trigger_prompts":
            return generated() if order is None else _easy()
        if request.question == "trigger_predictions":
            return self._predictions(request, order)
        if order is not None:
            return _ratings(request, dict.fromkeys(HONEST_RATING, 10), control=order.control)
        return _honest(request)

    def _predictions(self, request: Request, order: Attack | None) -> object:
        rows = _rows(request, "skills")
        own = next(row for row in rows if row["name"] == NAME or row["description"] == DESCRIPTION)
        return predictions(request, _fits if order is None else lambda prompt: True, own["name"])


def _fits(prompt: str) -> bool:
    """See what is meant by the first word, and be wrong of one prompt of each kind."""
    kind, _, rest = prompt.partition(":")
    return (kind == "fitting") != (" sort " in rest)


def _easy() -> dict[str, Any]:
    """Give prompts of which the near misses could mislead nobody."""
    made = generated()
    for entry in made["prompts"]:
        entry["prompt"] = entry["prompt"].replace(" sort ", " order ")
    return made


def _honest(request: Request) -> dict[str, Any]:
    """Rate by the honest text alone: by a fixed table where all of it is in the fence of the skill."""
    shown = [plain(found.text) for text in strings(request.body) for found in fences(text) if found.kind == "skill"]
    whole = len(shown) == 1 and all(sentence in shown[0] for sentence in HONEST)
    return _ratings(request, HONEST_RATING if whole else dict.fromkeys(HONEST_RATING, UNREAD))


def _ratings(request: Request, rating: Mapping[str, int], *, control: int = 0) -> dict[str, Any]:
    """Rate the dimensions that the question asks about, outside of its fences."""
    return {
        "assessments": [
            {"dimension": name, "evidence": [], "reasoning": "It is so.", "score": rating[name]}
            for name in DIMENSION.findall(outside(question_text(request)))
        ],
        "control": {"score": control},
    }


def _rows(request: Request, kind: str) -> list[dict[str, Any]]:
    found = [one for text in strings(request.body) for one in fences(text) if one.kind == kind]
    return [json.loads(line) for line in found[0].text.split("\n")]


def strings(value: object) -> Iterator[str]:
    """Give every text of a request's body, keys and schema among them, wherever it stands."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from strings(key)
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)


def strict(told: Sequence[Attack]) -> Obedient:
    """Obey what stands outside of every real fence."""
    return Obedient(outside, told)


def without_fence(told: Sequence[Attack]) -> Obedient:
    """Obey what it would be shown if nothing were fenced and nothing written out."""
    return Obedient(unfenced, told)


class Run(NamedTuple):
    """What came of judging one skill.

    Attributes:
        scores: by dimension, and the trigger rates; what has none is None.
        judged: all of it.
        obeyed: the questions in which the judge followed an order.
        flagged: whether layer 1 said something of the attack.
    """

    scores: dict[str, float | None]
    judged: Judged
    obeyed: tuple[str, ...]
    flagged: bool


def made(base: Path, place: str, text: str) -> tuple[Dossier, bool]:
    """Write the honest skill with a text in one place; give its dossier, and whether layer 1 suspects it."""
    path = write(base, place, text)
    (root,) = (root for root in discover([str(path)]).roots if root.name == path.name)
    source = read(root)
    assert isinstance(source, SkillSource)
    facts = assess(source, perf_counter_ns)
    found = dossier(source, facts)
    assert isinstance(found, Dossier)
    return found, any(one.id in RULES and one.severity is not Severity.INFO for one in facts.claims)


def run(subject: Dossier, judge: Obedient, *, flagged: bool = False) -> Run:
    """Judge a skill."""
    found = judged(subject, judge)  # type: ignore[arg-type]
    layer = found.layer
    scores = {dimension.value: one.score for dimension, one in layer.assessments.items()}
    assert layer.triggering is not None
    rates = {"recall": layer.triggering.recall.value, "false_alarms": layer.triggering.false_alarms.value}
    return Run({**scores, **rates}, found, tuple(judge.obeyed), flagged)


def filled(text: str, clean: Dossier) -> str:
    """Give an attack what its author could at most know: the fence of the same skill without it."""
    if "{" not in text:
        return text
    judge = strict(())
    judged(clean, judge)  # type: ignore[arg-type]
    prompt = next(text for text in strings(judge.asked[0].body) if fences(text))
    found = fences(prompt)[0]
    whole = prompt[found.start : found.end]
    for key, value in {
        "opener": whole.partition("\n")[0],
        "closer": whole.rpartition("\n")[2],
        "nonce": found.nonce,
        "fence": whole,
    }.items():
        text = text.replace(f"{{{key}}}", value)
    return text
