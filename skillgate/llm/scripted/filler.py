"""What a scripted model answers where no rule says it: something that fits the schema, and that owns up to what it is.

Ratings come from a hash of the skill's text, quotations are real lines of it, predictions go by words in common. It is
all made up, but always in the same way, so that whoever tries the tool sees every part of a report at work.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.llm.scripted import verdicts
from skillgate.llm.scripted.conversation import question_of, schema_of, user_blocks
from skillgate.llm.scripted.material import asked_for, fenced, outside, quotable
from skillgate.llm.scripted.triggers import predictions, prompts
from skillgate.llm.scripted.verdicts import Said
from skillgate.llm.scripted.world import World
from skillgate.llm.scripted.writing import session_prompts, tasks
from skillgate.model.digest import digest

if TYPE_CHECKING:
    from collections.abc import Mapping

OPENING = "Scripted answer, not a judgement:"
_CONTROL = "control"  # a field whose right rating is the lowest
_LOWEST_MADE_UP, _MADE_UP_RANGE = 5, 4  # ratings from 5 to 8, as most skills would get
_MOST_LEVELS = 40  # of what is made up: a schema may contain itself
_MADE = {"prompts": prompts, "predictions": predictions}
_WRITTEN = {"simulation_prompts": session_prompts, "task_prompts": tasks}


class Ground(NamedTuple):
    """What an answer is made of.

    Attributes:
        asked: the question, without what is fenced in it.
        lines: what can be quoted.
        shown: how many lines were shown.
        seed: a digest of all that was shown.
        rating: what the rules want instead of a rating that is made up.
        sample: which opinion of one model this is.
        said: what is known of the answer.
        rows: what an answer is held to, each with its number and what is known of it.
        row: the number of the one that is spoken of.
    """

    asked: str
    lines: tuple[str, ...]
    shown: int
    seed: str
    rating: int | Mapping[str, int] | None
    sample: int
    said: Said = Said()
    rows: tuple[tuple[int, Said], ...] = ()
    row: int = 0

    def number(self, *names: str) -> int:
        """Give a number that depends on the text and on some names alone."""
        return int(digest(self.seed.encode(), *(name.encode("utf-8", "replace") for name in names))[:8], 16)


def made_up(
    body: Mapping[str, Any],
    rating: int | Mapping[str, int] | None = None,
    *,
    sample: int = 0,
    world: World | None = None,
) -> str:
    """Write an answer: JSON that fits the request's schema, else a sentence.

    Args:
        body: a request that the API would take.
        rating: for every rating that is asked for but the control's, or by dimension or ``control``.
        sample: the number of the opinion; others than the first differ by at most a step.
        world: the truth that answers to some questions follow; None: that of ``World()``.
    """
    world = world or World()
    schema = schema_of(body)
    if schema is None:
        return f"{OPENING} nothing was scripted for this request."
    turns = user_blocks(body)
    blocks = next((found for found in turns if found), ("",))
    parts = fenced(tuple(text for found in turns for text in found))
    question, asked = question_of(body), outside(blocks[-1])
    if question in _WRITTEN:
        return json.dumps(_WRITTEN[question](asked, parts, world, schema), ensure_ascii=False)
    for key, make in _MADE.items():
        if set(schema.get("properties") or ()) == {key}:
            return json.dumps(make(parts), ensure_ascii=False)
    skill = [part for part in parts if part.kind == parts[0].kind]  # what is measured or listed comes below it
    said = verdicts.said(question, "\n".join(blocks), parts, world)
    held_to = verdicts.expectations(parts) if question == "expectation_grade" else ()
    ground = Ground(
        asked=asked,
        lines=quotable(skill),
        shown=sum(len(part.lines) for part in skill),
        seed=digest(*("\n".join(part.lines).encode("utf-8", "replace") for part in skill)),
        rating=rating,
        sample=sample,
        said=said,
        rows=tuple((number, verdicts.met(text, said, world)) for number, text in held_to),
    )
    return json.dumps(_value(schema, ground, (), schema), ensure_ascii=False)


def _value(schema: Any, ground: Ground, names: tuple[str, ...], root: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
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
    holds = bool(ground.said.holds)
    plain: dict[Any, Any] = {
        "string": _reasoning(ground, names),
        "integer": ground.row,
        "number": ground.row,
        "boolean": holds,
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


def _object(
    schema: Mapping[str, Any], ground: Ground, names: tuple[str, ...], root: Mapping[str, Any]
) -> dict[str, Any]:
    properties = schema.get("properties")
    found = properties if isinstance(properties, dict) else {}
    return {name: _value(below, ground, (*names, name), root) for name, below in found.items()}


def _array(schema: Mapping[str, Any], ground: Ground, names: tuple[str, ...], root: Mapping[str, Any]) -> list[Any]:
    """Make one item for each name that is asked for, where items are told apart by one; else quotations or one item."""
    item = _resolved(schema.get("items"), root)
    properties = item.get("properties")
    if ground.rows and isinstance(properties, dict):
        spoken_of = (ground._replace(said=said, row=number, rows=()) for number, said in ground.rows)
        return [_object(item, one, (*names, str(one.row)), root) for one in spoken_of]
    for key, below in (properties if isinstance(properties, dict) else {}).items():
        known = _resolved(below, root).get("enum")
        if isinstance(known, list) and known and all(isinstance(name, str) for name in known):
            asked = asked_for(known, ground.asked)
            return [{**_object(item, ground, (*names, name), root), key: name} for name in asked]
    if item.get("type") == "string" and "enum" not in item:
        return _quotations(ground, names)
    return [_value(item, ground, (*names, "item"), root)]


def _choice(known: list[Any], ground: Ground, names: tuple[str, ...]) -> Any:  # noqa: ANN401 - JSON
    """Choose: a rating among integers, what is known to be so among words, else the first."""
    numbers = sorted(value for value in known if isinstance(value, int) and not isinstance(value, bool))
    if len(numbers) < len(known):
        told = verdicts.choice([word for word in known if isinstance(word, str)], ground.said)
        return known[0] if told is None else told
    if isinstance(ground.rating, int):
        wanted: int | None = None if _CONTROL in names else ground.rating
    else:
        wanted = next((value for name, value in (ground.rating or {}).items() if name in names), None)
    if wanted is None and _CONTROL in names:
        return numbers[0]
    if wanted is None and ground.said.quality is not None:
        return verdicts.rounded(ground.said.quality, numbers)
    if wanted is None:
        wanted = _LOWEST_MADE_UP + ground.number(*names) % _MADE_UP_RANGE
        wanted += ground.number(*names, str(ground.sample)) % 3 - 1 if ground.sample else 0
    return min(numbers, key=lambda number: abs(number - wanted))


def _quotations(ground: Ground, names: tuple[str, ...]) -> list[str]:
    if not ground.lines or names[-1] == verdicts.SECOND:  # the lines are those of the first skill of two
        return []
    at = ground.number(*names, "quoted")
    return list(dict.fromkeys(ground.lines[(at + step * 7) % len(ground.lines)] for step in range(2)))


def _reasoning(ground: Ground, names: tuple[str, ...]) -> str:
    about = next((name for name in reversed(names[:-1]) if "_" in name or name == "robustness"), "this")
    return f"{OPENING} {ground.shown} lines were shown, and what is said of {about} is made up."
