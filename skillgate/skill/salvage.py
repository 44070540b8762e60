"""Read what a broken frontmatter was meant to say: for estimates, never for a score."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from skillgate.model.skill import Frontmatter
from skillgate.model.yaml_bounded import YamlProblem, load_mapping
from skillgate.skill.description import routing_of
from skillgate.skill.frontmatter import MAX_BYTES, TEXT_KEYS, split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import Skill

_ENTRY = re.compile(r"([A-Za-z][\w-]*):(?=\s|$)")
_MARKS = " \t\n|>[]'\"+-"  # of YAML, around a value
_OTHERS = ("metadata", "disable-model-invocation", "paths")  # that points rest on, beside the texts
EXAMPLE = (
    "Does one kind of work on the files that it is given, and says what was done. Use when the user asks for that work."
)


def as_meant(skill: Skill) -> tuple[Skill, bool]:
    """Return the skill with the frontmatter that its author seems to have meant, and whether any of it was found.

    Where neither a name nor a description is found, it has the name of its directory and an example of a description.
    """
    texts = dict(_texts(skill))
    values = {**skill.frontmatter.values, **texts}
    found = bool(values.keys() & {"name", "description"})
    if not found:
        values |= {"name": skill.root.name, "description": EXAMPLE}
    head = Frontmatter(values=values, lines=skill.frontmatter.lines, valid=True)
    return skill._replace(
        frontmatter=head, routing=routing_of(head.text("description"), head.text("when_to_use"))
    ), found


def _texts(skill: Skill) -> Iterator[tuple[str, Any]]:
    """Yield each field that could not be read, with its value."""
    head = skill.frontmatter
    lines = _source(skill.documents[0].text)
    entries = _entries(lines)
    if not head.valid and "description" not in entries:  # it may be what is indented by mistake
        entries = _entries([line.lstrip() for line in lines])
    for key in TEXT_KEYS:
        value = head.values.get(key)
        if key in entries and not isinstance(value, str) and (not head.valid or value is not None):
            yield key, _text(key, entries[key])
    for key in _OTHERS:
        value = None if head.valid or key not in entries else _value(key, entries[key])
        if value is not None:
            yield key, value


def _source(text: str) -> list[str]:
    """Return the lines of the frontmatter; of one that is not closed, those up to a blank line or a heading."""
    cut = split(text.lstrip())
    if cut.yaml is not None:
        return cut.yaml.split("\n")
    if cut.problem is None or cut.problem.rule != "frontmatter_unclosed":
        return []
    lines = cut.body.split("\n")
    end = next((index for index, line in enumerate(lines) if not line.strip() or line.startswith("#")), len(lines))
    return lines[:end]


def _entries(lines: list[str]) -> dict[str, str]:
    """Return the source of each top-level entry, up to the next one; of a repeated key the last."""
    entries: dict[str, list[str]] = {}
    current: list[str] = []
    for line in lines:
        match = _ENTRY.match(line)
        if match is not None:
            current = entries[match[1]] = []
        current.append(line)
    return {key: "\n".join(found)[:MAX_BYTES] for key, found in entries.items()}


def _value(key: str, source: str) -> object:
    """Return the value of an entry that is YAML by itself, None for any other."""
    try:
        return load_mapping(source).values.get(key)
    except YamlProblem:
        return None


def _text(key: str, source: str) -> str:
    value = _value(key, source)
    return value if isinstance(value, str) else " ".join(source[len(key) + 1 :].strip(_MARKS).split())
