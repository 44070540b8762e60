"""The form of each answer, as JSON schemas that the API can hold a model to, and what else is checked.

The API takes no bounds on numbers, texts or lists, so a rating is an enumeration and the rest is checked on receipt.
All assessments share one schema: another one would make the provider's prompt cache forget the skill's text.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from skillgate.judge.rubric import HIGHEST
from skillgate.model.score import Dimension

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

STYLES = ("direct", "indirect")
OF_EACH_KIND = 5  # prompts that should trigger, and as many near misses
MOST_PROMPT_CHARACTERS = 1_200
LEAST_NAME = 8  # characters of a name that nobody types who does not know the skill


def _object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """Give the schema of an object with exactly these keys, in this order: models write them as they stand."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_SCORE = {"type": "integer", "enum": list(range(HIGHEST + 1))}
_RATED = [dimension.value for dimension in Dimension if dimension is not Dimension.TRIGGERING_ACCURACY]

ASSESSMENTS: Mapping[str, Any] = _object(
    assessments={
        "type": "array",
        "items": _object(
            dimension={"type": "string", "enum": _RATED},
            evidence={"type": "array", "items": {"type": "string"}},
            reasoning={"type": "string"},
            score=_SCORE,
        ),
    },
    control=_object(score=_SCORE),
)
PROMPTS: Mapping[str, Any] = _object(
    prompts={
        "type": "array",
        "items": _object(
            should_trigger={"type": "boolean"},
            style={"type": "string", "enum": list(STYLES)},
            prompt={"type": "string"},
        ),
    },
)
PREDICTIONS: Mapping[str, Any] = _object(
    predictions={"type": "array", "items": _object(prompt={"type": "integer"}, skill={"type": "integer"})},
)


def rates_all(dimensions: Sequence[Dimension]) -> Callable[[Any], str | None]:
    """Make a check that each dimension is rated once, with a reason, and no other."""
    wanted = [dimension.value for dimension in dimensions]

    def check(value: Any) -> str | None:  # noqa: ANN401 - decoded JSON
        given = [entry["dimension"] for entry in value["assessments"]]
        if sorted(given) != sorted(wanted):
            return f"assessments rates {_listed(given)}, but must rate {_listed(wanted)}, each once"
        silent = [entry["dimension"] for entry in value["assessments"] if not entry["reasoning"].strip()]
        return f"the reasoning of {_listed(silent)} is empty" if silent else None

    return check


def tells_apart(value: Any) -> str | None:  # noqa: ANN401 - decoded JSON
    """Check generated prompts: five of each label, both styles in each, none equal."""
    prompts = value["prompts"]
    faults = (_uneven(prompts), _unusable([entry["prompt"] for entry in prompts]))
    return next((fault for fault in faults if fault is not None), None)


def names(prompt: str, name: str) -> bool:
    """Tell whether a prompt names the skill, in whatever letter case.

    A short or undivided name, as ``pdf`` or ``e-mail``, is what the task itself is called; and a file or a place that
    is called after the same tool, as ``docker-compose.yml``, is not the skill.
    """
    if "-" not in name or len(name) < LEAST_NAME:
        return False
    return bool(re.search(rf"(?<![\w./-]){re.escape(name.casefold())}(?![\w/-]|\.\w)", prompt.casefold()))


def predicts_all(prompts: int, skills: int) -> Callable[[Any], str | None]:
    """Make a check that each prompt, numbered from 1, has one prediction: a skill's number, or 0."""

    def check(value: Any) -> str | None:  # noqa: ANN401 - decoded JSON
        numbers = sorted(entry["prompt"] for entry in value["predictions"])
        if numbers != list(range(1, prompts + 1)):
            return f"predictions must hold each prompt from 1 to {prompts} once"
        stray = [entry["skill"] for entry in value["predictions"] if not 0 <= entry["skill"] <= skills]
        return f"skill {stray[0]} is not on the list; 0 to {skills} are" if stray else None

    return check


def _uneven(prompts: Sequence[Mapping[str, Any]]) -> str | None:
    found = Counter((entry["should_trigger"], entry["style"]) for entry in prompts)
    for label in (True, False):
        counts = [found[label, style] for style in STYLES]
        said = f"should_trigger {str(label).lower()}"
        if sum(counts) != OF_EACH_KIND:
            return f"{sum(counts)} prompts have {said}, but {OF_EACH_KIND} must"
        if min(counts) < OF_EACH_KIND // 2:
            return f"prompts with {said} must be half direct, half indirect; {counts[0]} are direct"
    return None


def _unusable(prompts: Sequence[str]) -> str | None:
    folded = [" ".join(prompt.split()).casefold() for prompt in prompts]
    if not all(folded):
        return "a prompt is empty"
    if len(set(folded)) < len(folded):
        return "two prompts are equal"
    if max(map(len, folded), default=0) > MOST_PROMPT_CHARACTERS:
        return f"a prompt has more than {MOST_PROMPT_CHARACTERS:,} characters"
    return None


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "nothing"
