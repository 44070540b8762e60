"""What a scripted model answers where no rule says it: something that fits the schema, and that owns up to what it is.

Ratings come from a hash of the skill's text, quotations are real lines of it, predictions go by words in common. It is
all made up, but always in the same way, so that a trial of the tool shows every part of a report at work. As a grader
it reads back what an answer says of itself, and knows how strong skills are.

Prompts for sessions are distinct. Each bears the mark of its skill, a made-up ticket number, and near misses the
world's own phrase, so that a session's request alone says what its prompt was meant to be.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.llm.scripted.requests import (
    description,
    fenced,
    nearest,
    outside,
    question_of,
    quotable,
    requested,
    schema_of,
    topic_words,
    user_blocks,
)
from skillgate.llm.scripted.rules import Chance, World, ticket, truths
from skillgate.model.skill import digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.llm.scripted.requests import Fenced
    from skillgate.llm.scripted.rules import Truth, World

# Each is filled with words of the skill's description; a prediction by words in common finds three and not one.
_SHOULD = (
    ("direct", "I need {0} and {1} done for the report of this week, {2} too."),
    ("direct", "Please do this now: {1}, {2} and {3}, from the files in the folder."),
    ("direct", "Can you take care of {2}, {3} and {4} for me before noon?"),
    ("indirect", "My colleague left me with {3}, {4} and {0}, and I am at a loss."),
    ("indirect", "Everything around {4}, {0} and {1} went wrong again since yesterday."),
)
_SHOULD_NOT = (
    ("direct", "What does the word {0} mean, in one sentence?"),
    ("direct", "Translate {1} into French."),
    ("direct", "Who invented {2}?"),
    ("indirect", "My aunt spoke of {3} at dinner and nobody listened."),
    ("indirect", "A street in our town is called {4}; it is closed today."),
)
_DIRECT = (
    "Please take care of {0} and {1} {when}, {2} included",
    "I need {0}, {1} and {2} done {when}",
    "Do {0} for me {when}, then {1} and {2}",
    "Go through {0} and {1} {when} and put {2} in order",
    "Make {0} and {2} ready {when}; {1} is in the folder",
    "Work on {1} {when}: {0} first, then {2}",
    "Could you finish {0}, {1} and also {2} {when}",
)
_INDIRECT = (
    "My colleague left me with {0}, {1} and {2}, and they are waiting for it {when}",
    "Everything around {0} and {1} went wrong again, {2} too, and I must explain it {when}",
    "I am lost between {0}, {1} and {2} and have to show something {when}",
    "Nobody here understands {0} or {1} any more, and {2} is wanted {when}",
    "They sent {0} back because of {1} and {2}; it has to be right {when}",
    "The client asks about {0} and {1} {when}, and I only have {2}",
    "It began with {0}, now {1} and {2} look odd as well, and I report on it {when}",
)
_NEAR_DIRECT = (
    "Who invented {0}? I ask {mark}, {when}",
    "What does the word {0} mean? I ask {mark}, {when}",
    "Translate the word {0} into French, {mark}, {when}",
    "Is {0} an old word? I ask {mark}, {when}",
    "Name three books about {0}, {mark}, {when}",
)
_NEAR_INDIRECT = (
    "My aunt spoke of {0} at dinner and nobody listened; I wonder {mark} why, {when}",
    "A street in our town is called {0}, and {mark} I wonder since when, {when}",
    "There was a song about {0} on the radio; {mark}, who sang it, {when}",
    "Our quiz had a question on {0} that {mark} I cannot forget, {when}",
    "Somebody painted {0} on a wall near us; {mark}, is that art, {when}",
)
_WHEN = (
    *("before Monday", "before Tuesday", "before Wednesday", "before Thursday", "before Friday", "before noon"),
    *("this evening", "for the Lisbon office", "for the Oslo office", "for the Turin office", "for the Ghent office"),
    *("for the annual meeting", "for the auditors", "for the new owner", "for the board", "for my manager"),
    *("for the spring campaign", "for the summer campaign", "for the autumn campaign", "for the winter campaign"),
    *("for the first branch", "for the second branch", "for the third branch", "after the holidays", "after lunch"),
    *("after the release", "during the trial week", "during the move", "while Anna is away", "while Bruno is away"),
    "while Carla is away",
)  # as many as no number of forms divides, so that a form and a time meet again as late as can be
_PADDING = ("papers", "figures", "notes", "tables", "drafts")
_NEAR_MISS = re.compile(r"near[ -]miss", re.IGNORECASE)
_NUMBER = re.compile(r"\b(\d{1,3})\b")
_NAME = re.compile(r"^name:[ \t]*[\"']?([^\"'\n]*?)[\"']?[ \t]*$|\"name\": ?\"((?:[^\"\\]|\\.)*)\"", re.MULTILINE)
_DESCRIPTION = re.compile(r"\"description\": ?(\"(?:[^\"\\]|\\.)*\")")
_PART = re.compile(r"\bpart (\d{1,3}) of (\d{1,3})\b")
_MOST = 500  # prompts of one answer
OPENING = "Scripted answer, not a judgement:"
FIRST, SECOND, EQUAL = "first", "second", "equal"
_SIDES = (("first", "second"), ("one", "two"), ("a", "b"), ("1", "2"))
_HEAD_NAME = re.compile(r"^name:[ \t]*[\"']?([^\"'\n]*?)[\"']?[ \t]*$", re.MULTILINE)
_YES = ("yes", "true", "fully", "whole", "work", "deliver", "cover", "complete", "done", "met", "pass")
_NO = ("no", "false", "hand", "deleg", "other", "left", "miss", "fail", "unmet")
_CONTROL = "control"  # a field whose right rating is the lowest
_LOWEST_MADE_UP, _MADE_UP_RANGE = 5, 4  # ratings from 5 to 8, as most skills would get
_MOST_LEVELS = 40  # of what is made up: a schema may contain itself


def trigger_prompts(parts: Sequence[Fenced]) -> dict[str, Any]:
    """Make up five prompts that should trigger a skill and five that should not."""
    words = topic_words(description(parts))
    if len(words) < len(_PADDING):
        words += topic_words(" ".join(line for part in parts for line in part.lines))[: len(_PADDING)]
    chosen = tuple(dict.fromkeys((*words, *_PADDING)))[: len(_PADDING)]
    made = [
        {"should_trigger": should, "style": style, "prompt": form.format(*chosen)}
        for should, forms in ((True, _SHOULD), (False, _SHOULD_NOT))
        for style, form in forms
    ]
    return {"prompts": made}


def predictions(parts: Sequence[Fenced]) -> dict[str, Any]:
    """Predict for each prompt shown the skill that has most words in common with it, rare ones first, or 0 for none."""
    entries = [entry for part in parts for line in part.lines if (entry := _entry(line)) is not None]
    skills = {number: _entry_words(entry) for entry in entries if "description" in entry for number in _numbers(entry)}
    prompts = {n: _entry_words(entry) for entry in entries if "description" not in entry for n in _numbers(entry)}
    return {
        "predictions": [
            {"prompt": number, "skill": nearest(words, skills) or 0} for number, words in sorted(prompts.items())
        ]
    }


def session_prompts(question: str, parts: Sequence[Fenced], world: World, _schema: Mapping[str, Any]) -> dict[str, Any]:
    """Write as many prompts as are asked for, of the styles that are asked for.

    Those that are shown as being there already are left out, and parts that are written at the same time share none.
    """
    direct, indirect = _counts(question)
    near = _NEAR_MISS.search(question) is not None
    there = "\n".join(line for part in parts for line in part.lines)
    made = []
    for style, count in (("direct", direct), ("indirect", indirect)):
        stream = _stream(parts, world, style, near=near, part=_part(question))
        fresh = (text for text in stream if text not in there)
        made += [{"prompt": text, "style": style} for text, _ in zip(fresh, range(count), strict=False)]
    return {"prompts": made}


def tasks(question: str, parts: Sequence[Fenced], world: World, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Write tasks as the schema wants them: for each text of an item a prompt, or a sentence to hold answers to."""
    numbers = [int(digits) for digits in _NUMBER.findall(question)]
    count = min(numbers[0] if numbers else len(_PADDING), _MOST)
    prompts = [text for text, _ in zip(_stream(parts, world, "direct"), range(count), strict=False)]
    key, items = next(iter(schema["properties"].items()))
    return {key: [_task(items.get("items", {}), text) for text in prompts]}


def _task(schema: Mapping[str, Any], prompt: str) -> Any:  # noqa: ANN401 - JSON
    if schema.get("type") != "object":
        return prompt
    return {name: _field(name, below, prompt) for name, below in schema.get("properties", {}).items()}


def _field(name: str, schema: Mapping[str, Any], prompt: str) -> Any:  # noqa: ANN401 - JSON
    if schema.get("enum"):
        return schema["enum"][0]
    if schema.get("type") == "array":
        words = topic_words(prompt)[:2]
        return [f"The answer deals with {word}." for word in words]
    if schema.get("type") != "string":
        return {"boolean": False}.get(str(schema.get("type")), 0)
    return prompt if name in ("prompt", "task", "request") else f"What was asked for is there in full: {name}."


def _stream(
    parts: Sequence[Fenced], world: World, style: str, *, near: bool = False, part: tuple[int, int] = (1, 1)
) -> Iterator[str]:
    """Yield many distinct prompts, of several parts every n-th."""
    words = _words(parts)
    mark = ticket(_name(parts))
    forms = {
        (False, "direct"): _DIRECT,
        (False, "indirect"): _INDIRECT,
        (True, "direct"): _NEAR_DIRECT,
        (True, "indirect"): _NEAR_INDIRECT,
    }[near, style]
    for number in range(part[0] - 1, 4 * _MOST * part[1], part[1]):
        turn = number + number // (len(forms) * len(_WHEN))
        chosen = [words[(turn * step + step) % len(words)] for step in (1, 2, 3)]
        when = _WHEN[number % len(_WHEN)]
        text = forms[number % len(forms)].format(
            *dict.fromkeys(chosen), *words, when=when, mark=world.near_miss_phrases[0]
        )
        yield f"{text} ({mark}-{number})."


def _words(parts: Sequence[Fenced]) -> tuple[str, ...]:
    words = topic_words(_described(parts))
    return tuple(dict.fromkeys((*words[:9], *(_PADDING if len(words) < len(_PADDING) else ()))))


def _described(parts: Sequence[Fenced]) -> str:
    text = description(parts)
    if text:
        return text
    match = next((match for part in parts if (match := _DESCRIPTION.search(part.text))), None)
    return "" if match is None else str(json.loads(match[1]))


def _name(parts: Sequence[Fenced]) -> str:
    match = next((match for part in parts if (match := _NAME.search(part.text))), None)
    return "" if match is None else match[1] or match[2] or ""


def _counts(question: str) -> tuple[int, int]:
    """Return how many direct and indirect prompts are asked for; half of each where only one number is given."""
    styled = {
        style: next(map(int, re.findall(rf"\b(\d{{1,3}})\b[^.\d]{{0,60}}?`?\b{style}\b", question)), None)
        for style in ("direct", "indirect")
    }
    if styled["direct"] is not None and styled["indirect"] is not None:
        return min(styled["direct"], _MOST), min(styled["indirect"], _MOST)
    numbers = [int(digits) for digits in _NUMBER.findall(question)]
    total = min(numbers[0] if numbers else 10, _MOST)
    return (total + 1) // 2, total // 2


def _part(question: str) -> tuple[int, int]:
    """Return which of how many parts is asked for."""
    match = _PART.search(question)
    number, parts = (int(match[1]), int(match[2])) if match else (1, 1)
    return (number, parts) if 1 <= number <= parts else (1, 1)


def _entry(line: str) -> Mapping[str, Any] | None:
    """Read a line that holds one JSON object."""
    if not line.startswith("{"):
        return None
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _numbers(entry: Mapping[str, Any]) -> list[int]:
    return [value for value in entry.values() if isinstance(value, int) and not isinstance(value, bool)][:1]


def _entry_words(entry: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(topic_words(" ".join(value for value in entry.values() if isinstance(value, str))))


_MADE = {"prompts": trigger_prompts, "predictions": predictions}
_WRITTEN = {"simulation_prompts": session_prompts, "task_prompts": tasks}


class Verdict(NamedTuple):
    """What a grader would say, as far as it is known."""

    quality: float | None = None  # in [0, 1]
    holds: bool | None = None  # whether what is in question is so
    better: str | None = None  # of a pair FIRST, SECOND or EQUAL; None where no pair is shown


class _Ground(NamedTuple):
    """What an answer is made of."""

    question: str  # without what is fenced in it
    lines: tuple[str, ...]  # what can be quoted
    shown: int  # how many lines were shown
    seed: str  # a digest of all that was shown
    rating: int | Mapping[str, int] | None  # what the rules want instead of a rating that is made up
    sample: int  # which opinion of one model this is
    verdict: Verdict = Verdict()
    rows: tuple[tuple[int, Verdict], ...] = ()  # what an answer is held to, each with its number
    row: int = 0  # the number of the one that is spoken of

    def number(self, *names: str) -> int:
        """Return a number that depends on the text and on some names alone."""
        return int(digest(self.seed.encode(), *map(_bytes, names))[:8], 16)


def made_up(
    body: Mapping[str, Any],
    rating: int | Mapping[str, int] | None = None,
    *,
    sample: int = 0,
    world: World | None = None,
) -> str:
    """Write an answer: JSON that fits the request's schema, else a sentence.

    ``rating`` is for every rating in the schema but the control's, or by dimension or ``control``. ``sample`` is the
    number of the opinion; others than the first differ by at most a step.
    """
    world = world or World()
    schema = schema_of(body)
    if schema is None:
        return f"{OPENING} nothing was scripted for this request."
    turns = user_blocks(body)
    blocks = next((turn for turn in turns if turn), ("",))
    parts = fenced(tuple(text for turn in turns for text in turn))
    name, question = question_of(body), outside(blocks[-1])
    if name in _WRITTEN:
        return json.dumps(_WRITTEN[name](question, parts, world, schema), ensure_ascii=False)
    for key, make in _MADE.items():
        if set(schema.get("properties") or ()) == {key}:
            return json.dumps(make(parts), ensure_ascii=False)
    skill = [part for part in parts if part.kind == parts[0].kind]  # what is measured or listed comes below it
    verdict = _verdict(name, "\n".join(blocks), parts, world)
    expectations = _expectations(parts) if name == "expectation_grade" else ()
    ground = _Ground(
        question=question,
        lines=quotable(skill),
        shown=sum(len(part.lines) for part in skill),
        seed=digest(*(_bytes(part.text) for part in skill)),
        rating=rating,
        sample=sample,
        verdict=verdict,
        rows=tuple((number, _met(text, verdict, world)) for number, text in expectations),
    )
    return json.dumps(_value(schema, ground, (), schema), ensure_ascii=False)


def _value(schema: Any, ground: _Ground, names: tuple[str, ...], root: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    """Make a value for a schema; ``names`` are those that lead to it, dimensions among them."""
    schema = _resolved(schema, root)
    if len(names) > _MOST_LEVELS:
        return None
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return _choice(schema["enum"], ground, names)
    if "const" in schema:
        return schema["const"]
    kind = schema.get("type")
    kind = next((one for one in kind if one != "null"), "null") if isinstance(kind, list) else kind
    if kind == "object" or "properties" in schema:
        return _object(schema, ground, names, root)
    if kind == "array":
        return _array(schema, ground, names, root)
    about = next((name for name in reversed(names[:-1]) if "_" in name or name == "robustness"), "this")
    plain: dict[Any, Any] = {
        "string": f"{OPENING} {ground.shown} lines were shown, and what is said of {about} is made up.",
        "integer": ground.row,
        "number": ground.row,
        "boolean": bool(ground.verdict.holds),
    }
    return plain.get(kind)


def _resolved(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ANN401 - JSON
    """Follow references within the schema, and take the first of alternatives."""
    for _ in range(_MOST_LEVELS):
        if not isinstance(schema, dict):
            return {}
        choices = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
        reference = schema.get("$ref")
        if isinstance(reference, str):
            schema = (root.get("$defs") or {}).get(reference.rpartition("/")[2])
        elif isinstance(choices, list):
            schema = choices[0]
        else:
            return schema
    return {}


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _object(
    schema: Mapping[str, Any], ground: _Ground, names: tuple[str, ...], root: Mapping[str, Any]
) -> dict[str, Any]:
    return {name: _value(below, ground, (*names, name), root) for name, below in _properties(schema).items()}


def _array(schema: Mapping[str, Any], ground: _Ground, names: tuple[str, ...], root: Mapping[str, Any]) -> list[Any]:
    """Make one item for each name in the question, where items differ by one; else quotations or one item."""
    item = _resolved(schema.get("items"), root)
    if ground.rows and isinstance(item.get("properties"), dict):
        rows = (ground._replace(verdict=verdict, row=number, rows=()) for number, verdict in ground.rows)
        return [_object(item, one, (*names, str(one.row)), root) for one in rows]
    for key, below in _properties(item).items():
        known = _resolved(below, root).get("enum")
        if isinstance(known, list) and known and all(isinstance(name, str) for name in known):
            wanted = requested(known, ground.question)
            return [{**_object(item, ground, (*names, name), root), key: name} for name in wanted]
    if item.get("type") == "string" and "enum" not in item:
        return _quotations(ground, names)
    return [_value(item, ground, (*names, "item"), root)]


def _choice(known: list[Any], ground: _Ground, names: tuple[str, ...]) -> Any:  # noqa: ANN401 - JSON
    """Choose: a rating among integers, what is known to be so among words, else the first."""
    numbers = sorted(value for value in known if isinstance(value, int) and not isinstance(value, bool))
    if len(numbers) < len(known):
        word = _word([word for word in known if isinstance(word, str)], ground.verdict)
        return known[0] if word is None else word
    if isinstance(ground.rating, int):
        wanted: int | None = None if _CONTROL in names else ground.rating
    else:
        wanted = next((value for name, value in (ground.rating or {}).items() if name in names), None)
    if wanted is None and _CONTROL in names:
        return numbers[0]
    quality = ground.verdict.quality
    if wanted is None and quality is not None:  # on a scale of numbers whose highest one is 1
        return min(numbers, key=lambda number: abs(number - quality * max(numbers)))
    if wanted is None:
        wanted = _LOWEST_MADE_UP + ground.number(*names) % _MADE_UP_RANGE
        wanted += ground.number(*names, str(ground.sample)) % 3 - 1 if ground.sample else 0
    return min(numbers, key=lambda number: abs(number - wanted))


def _quotations(ground: _Ground, names: tuple[str, ...]) -> list[str]:
    if not ground.lines or names[-1] == SECOND:  # the lines are those of the first skill of two
        return []
    at = ground.number(*names, "quoted")
    return list(dict.fromkeys(ground.lines[(at + step * 7) % len(ground.lines)] for step in range(2)))


def _verdict(question: str, shown: str, parts: Sequence[Fenced], world: World) -> Verdict:
    """Return what is known of a question by its name, of all that the grader was shown as one string."""
    if question == "match":
        return Verdict(better=_match(parts, world))
    answers = truths(shown)
    if question == "preference":
        return Verdict(better=_preference(answers, world))
    if question not in ("grade", "scope_grade", "expectation_grade") or not answers:
        return Verdict()
    holds = answers[-1].covers if question == "scope_grade" else answers[-1].delivers
    return Verdict(answers[-1].quality, None if question == "expectation_grade" else holds)


def _word(known: Sequence[str], verdict: Verdict) -> str | None:
    """Choose among the words that an answer may consist of; None where nothing is known that they could say."""
    folded = {word.casefold(): word for word in known}
    for first, second in _SIDES:
        if first in folded and second in folded:
            rest = [word for word in known if word.casefold() not in (first, second)]
            sides = {FIRST: folded[first], SECOND: folded[second], EQUAL: rest[0] if rest else folded[first]}
            return sides.get(verdict.better or "")
    if verdict.holds is None:
        return None
    yes = next((word for word in known if word.casefold().startswith(_YES)), known[0])
    if verdict.holds:
        return yes
    # What denies most clearly; an answer in between, as ``partly``, comes last but one.
    left = [word for word in known if word != yes] or list(known)
    return next((word for word in left if word.casefold().startswith(_NO)), left[-1])


def _match(parts: Sequence[Fenced], world: World) -> str | None:
    """Let two skills meet: fenced parts of two kinds, or two parts of one; both orders of a pair are one match."""
    kinds = dict.fromkeys(part.kind for part in parts)
    skills = ["\n".join(part.text for part in parts if part.kind == kind) for kind in kinds]
    if len(skills) < 2:
        skills = [part.text for part in parts]
        if len(skills) != 2:
            return None
    strengths = [world.strength(found[1] if (found := _HEAD_NAME.search(text)) else "") for text in skills[:2]]
    marks = [digest(_bytes(text)) for text in skills[:2]]
    chance = Chance(world.seed, " ".join(sorted(marks)))
    kind = chance.one_of("kind", {"bias": world.position_bias, EQUAL: world.draws})
    if kind is not None or marks[0] == marks[1]:
        return FIRST if kind == "bias" else EQUAL
    first_wins = 1 / (1 + 10 ** ((strengths[1] - strengths[0]) / 400))
    turned = marks[0] > marks[1]
    wins = chance.happens("wins", 1 - first_wins if turned else first_wins)
    return FIRST if wins is not turned else SECOND


def _preference(answers: Sequence[Truth], world: World) -> str | None:
    """Prefer the better of two answers, as far as their truths differ."""
    if len(answers) != 2:
        return None
    marks = [f"{truth.quality:.2f} {truth.delivers} {truth.covers}" for truth in answers]
    chance = Chance(world.seed, digest(*(mark.encode() for mark in sorted(marks))))
    if chance.happens("bias", world.position_bias):
        return FIRST
    if answers[0].quality == answers[1].quality:
        return EQUAL
    return FIRST if answers[0].quality > answers[1].quality else SECOND


def _expectations(parts: Sequence[Fenced]) -> tuple[tuple[int, str], ...]:
    """Return the expectations that an answer is held to, each a line, with their numbers from 1 or as they say."""
    lines = [line for part in parts if "expectation" in part.kind for line in part.lines if line.strip()]
    return tuple(_expectation(line, number) for number, line in enumerate(lines, start=1))


def _expectation(line: str, number: int) -> tuple[int, str]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return number, line
    values = tuple(entry.values()) if isinstance(entry, dict) else ()
    numbers = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    return (numbers or [number])[0], next((value for value in values if isinstance(value, str)), line)


def _met(expectation: str, verdict: Verdict, world: World) -> Verdict:
    """Say whether an answer meets an expectation: as probable as its quality; nothing where nothing is known of it."""
    if verdict.quality is None:
        return Verdict()
    chance = Chance(world.seed, f"{verdict.quality:.2f} {expectation}")
    return Verdict(verdict.quality, chance.happens("met", verdict.quality))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
