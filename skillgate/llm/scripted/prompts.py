"""Prompts, tasks and predictions that a scripted model makes up, from nothing but words in common.

Prompts for sessions are distinct. Each bears the mark of its skill, a made-up ticket number, and near misses the
world's own phrase, so that a session's request alone says what its prompt was meant to be.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from skillgate.llm.scripted.requests import description, nearest, topic_words
from skillgate.llm.scripted.session import ticket

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.llm.scripted.requests import Fenced
    from skillgate.llm.scripted.rules import World

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
