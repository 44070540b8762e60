"""The YAML at the head of a skill: found by its delimiter lines, read under limits, its defects reported."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.skill import Frontmatter, Problem, Span
from skillgate.model.yaml_bounded import YamlProblem, load_mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        message = _told(source, problem)
        return Frontmatter(), (*tabs, Problem(rule="frontmatter_invalid", span=where, message=message))
    lines = {key: line + 1 for key, line in document.lines.items()}
    again = frozenset(key for key, _ in document.duplicates)
    frontmatter = Frontmatter(values=document.values, lines=lines, valid=True, repeated=again)
    repeated = (
        _problem("duplicate_key", f"the key {key!r} stands twice; readers keep one or refuse the file", line + 1)
        for key, line in document.duplicates
    )
    return frontmatter, (*tabs, *repeated, *_type_problems(frontmatter))


def _told(source: str, problem: YamlProblem) -> str:
    """Say what is wrong; where the value of that line would parse in quotes, as ``[number] [title]``, say so too."""
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
