"""The YAML at the head of a skill: found by its delimiter lines, read under limits, repaired where it can be."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.model.skill import Frontmatter, Problem, Span
from skillgate.model.yaml_bounded import YamlProblem, load_mapping
from skillgate.skill.description import routing_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import Skill


MAX_NAME_LENGTH = 64


def name_defect(name: str) -> str | None:
    """Return which part of the rule a non-empty name breaks first, None where it breaks none.

    A name has 1 to 64 lower-case letters (of any script, as the specification's text allows), digits and single
    hyphens, none of them at an end.
    """
    folded = unicodedata.normalize("NFKC", name)
    if len(folded) > MAX_NAME_LENGTH:
        return f"has {len(folded)} characters; {MAX_NAME_LENGTH} are the most"
    if folded != folded.lower():
        return "has capital letters"
    if not all(character.isalnum() or character == "-" for character in folded):
        return "has characters other than letters, digits and hyphens"
    if folded.startswith("-") or folded.endswith("-") or "--" in folded:
        return "has a hyphen at its start or end, or two in a row"
    return None


def same_name(one: str, other: str) -> bool:
    """Compare two names as the specification's validator does: after NFKC."""
    return unicodedata.normalize("NFKC", one) == unicodedata.normalize("NFKC", other)


DELIMITER = "---"
_TAB = re.compile(r"(?m)^([A-Za-z][\w-]*:)[ ]*\t[ \t]*")
_PLAIN = re.compile(r"([A-Za-z][\w-]*):[ ]+(\S.*?)[ ]*$")
_ESCAPES = {ord("\\"): "\\\\", ord('"'): '\\"'}
MAX_QUOTED = 1_500  # characters; what is longer is no hint that somebody forgot to quote
MAX_BYTES = 65_536  # 64 KiB: clients cap the listing at about 1,500 characters, so this is generous
TEXT_KEYS = ("name", "description", "when_to_use", "license", "compatibility")
FLAG_KEYS = ("disable-model-invocation", "user-invocable")


class Split(NamedTuple):
    """A document cut at its frontmatter. ``yaml`` is None where there is none; ``body_line`` counts from 1."""

    yaml: str | None
    body: str
    body_line: int
    problem: Problem | None = None


def split(text: str) -> Split:
    """Cut a document (line ends normalised) at the ``---`` lines that enclose its frontmatter.

    Only a whole line delimits: a description may hold ``---``. Without a closing line nothing is frontmatter, and the
    whole text is body.
    """
    first, newline, rest = text.partition("\n")
    if first.rstrip() != DELIMITER:
        message = "the file does not begin with a --- line, so it has no frontmatter"
        return Split(yaml=None, body=text, body_line=1, problem=_problem("frontmatter_missing", message))
    position = 0
    for number, line in enumerate(rest.split("\n"), start=2):
        if line.rstrip() == DELIMITER:
            body = rest[position + len(line) + 1 :]
            return Split(yaml=rest[: max(0, position - 1)], body=body, body_line=number + 1)
        position += len(line) + 1
    message = "the frontmatter opened here has no closing --- line"
    return Split(
        yaml=None, body=rest if newline else "", body_line=2, problem=_problem("frontmatter_unclosed", message)
    )


def parse(source: str) -> tuple[Frontmatter, tuple[Problem, ...]]:
    """Read the YAML between the delimiters; what is wrong with it becomes problems, never an exception."""
    size = len(source.encode())
    if size > MAX_BYTES:
        message = f"the frontmatter has {size:,} bytes; at most {MAX_BYTES:,} are read"
        return Frontmatter(), (_problem("frontmatter_too_large", message),)
    if not source.strip():
        return Frontmatter(), (_problem("frontmatter_invalid", "the frontmatter is empty"),)
    tabs = tuple(_tabs(source))
    try:
        document = load_mapping(_TAB.sub(r"\1 ", source) if tabs else source)
    except YamlProblem as problem:
        where = Span(line=problem.line + 1, column=problem.column)
        message = _message(source, problem)
        return Frontmatter(), (*tabs, Problem(rule="frontmatter_invalid", span=where, message=message))
    lines = {key: line + 1 for key, line in document.lines.items()}
    repeated_keys = frozenset(key for key, _ in document.duplicates)
    frontmatter = Frontmatter(values=document.values, lines=lines, valid=True, repeated=repeated_keys)
    repeated = (
        _problem("duplicate_key", f"the key {key!r} stands twice; readers keep one or refuse the file", line + 1)
        for key, line in document.duplicates
    )
    return frontmatter, (*tabs, *repeated, *_type_problems(frontmatter))


def _message(source: str, problem: YamlProblem) -> str:
    """Return what is wrong; where the value of that line would parse in quotes, as ``[number] [title]``, say so too."""
    lines = source.split("\n")
    index = problem.line - 1
    found = _PLAIN.match(lines[index]) if 0 <= index < len(lines) else None
    if found is None or len(found[2]) > MAX_QUOTED or (": " not in found[2] and found[2][0] not in "[{*&!%@`"):
        return problem.message
    if problem.message.startswith("more than"):  # a bound, and nothing to do with quotes
        return problem.message
    quoted = f'{found[1]}: "{found[2].translate(_ESCAPES)}"'
    try:
        load_mapping("\n".join([*lines[:index], quoted, *lines[index + 1 :]]))
    except YamlProblem:
        return problem.message
    return f"{problem.message}; if it is text, put the value of {found[1]} in quotes"


def _tabs(source: str) -> Iterator[Problem]:
    """Find tabs between a key and its value: YAML allows them, and some readers do not."""
    for number, line in enumerate(source.split("\n"), start=2):
        found = _TAB.match(line)
        if found:
            span = Span(line=number, column=found.end(1) + 1)
            message = "a tab stands between the key and its value; some readers refuse the file for it"
            yield Problem(rule="frontmatter_tab", span=span, message=message)


def _type_problems(frontmatter: Frontmatter) -> Iterator[Problem]:
    for key in TEXT_KEYS:
        value = frontmatter.values.get(key)
        if value is not None and not isinstance(value, str):
            yield _wrong_type(frontmatter, key, "text", value)
    for key in FLAG_KEYS:
        value = frontmatter.values.get(key)
        if value is not None and not isinstance(value, bool):
            yield _wrong_type(frontmatter, key, "true or false", value)


def _wrong_type(frontmatter: Frontmatter, key: str, expected: str, value: object) -> Problem:
    names = {"int": "a number", "float": "a number", "bool": "true or false", "str": "text"}
    kind = type(value).__name__
    found = names.get(kind, {"list": "a list", "dict": "a mapping", "date": "a date"}.get(kind, kind))
    return _problem("field_type", f"{key} must be {expected}, and is {found}", frontmatter.line(key))


def _problem(rule: str, message: str, line: int = 1) -> Problem:
    return Problem(rule=rule, span=Span(line=line), message=message)


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
