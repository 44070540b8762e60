"""Reads the Action's inputs as the runner gives them: each checked, every mistake told at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.action.inputs import INPUTS, Form, variable
from skillgate.errors import UsageError
from skillgate.model.score import Dimension
from skillgate.model.text import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.action.inputs import Input, Value

_DIMENSIONS = tuple(dimension.value for dimension in Dimension)
_REFUSED = {
    "run-as-caller": "it is for the command line: here skills are a stranger's, whose programs must not run as root"
}
_MOST_TOLD = 3  # mistakes of one input
_SHARD = re.compile(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})")
_MOST_SHARDS = 1000
_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")  # as the toolkit's getBooleanInput has them


def read_inputs(environ: Mapping[str, str]) -> dict[str, Value]:
    """Read every input, by name.

    Returns:
        Text as str, numbers as float, flags as bool, lists as tuples of str; None for an input that is not given and
        has no default. A default that GitHub fills in is empty here.

    Raises:
        UsageError: with every input that is not valid.
    """
    values: dict[str, Value] = {}
    problems = [f"input {name}: {why}" for name, why in _REFUSED.items() if environ.get(variable(name), "").strip()]
    for declared in INPUTS:
        default = "" if declared.default.startswith("${{") else declared.default
        text = environ.get(variable(declared.name), "").strip() or default
        try:
            values[declared.name] = _value(declared, text)
        except ValueError as error:
            problems.append(f"input {declared.name}: {error}")
    if problems:
        raise UsageError("\n".join(problems))
    return values


def unknown_inputs(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Say what was given and is no input, a sentence each, for warnings: GitHub itself only warns."""
    known = {variable(declared.name): declared.name for declared in INPUTS}
    given = sorted(name for name in environ if name.startswith("INPUT_") and name not in known)
    names = (name.removeprefix("INPUT_").lower() for name in given)
    return tuple(
        f"there is no input {name[:80]!r}{did_you_mean(name, known.values())}: it does nothing" for name in names
    )


def _value(declared: Input, text: str) -> Value:
    match declared.form:
        case Form.LINES:
            return _lines(text)
        case Form.SCORES:
            return _scores(text)
        case Form.WORDS:
            return tuple(_chosen(declared, word) for word in _words(text)) or None
        case Form.NAMES:
            return _words(text) or None
        case _:
            return _single(declared, text) if text else None


def _single(declared: Input, text: str) -> Value:
    match declared.form:
        case Form.CHOICE:
            return _chosen(declared, text)
        case Form.FLAG:
            if text not in _TRUE + _FALSE:
                raise ValueError(f"expected true or false, found {text[:80]!r}")
            return text in _TRUE
        case Form.NUMBER:
            return _number(declared, text)
        case Form.SHARD:
            return _shard(text)
        case Form.KEY if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", text):
            raise ValueError(f"expected 1 to 64 {declared.form.value}, found {text[:80]!r}")
        case _:
            return text


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.split("\n") if line.strip())


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip() for word in re.split(r"[,\n]", text) if word.strip()))


def _scores(text: str) -> tuple[str, ...]:
    """Check lines of the form NAME=SCORE, and give them as they are.

    Raises:
        ValueError: with the first few mistakes.
    """
    lines = _lines(text)
    problems = [problem for problem in map(_score_problem, lines) if problem]
    if problems:
        more = len(problems) - _MOST_TOLD
        raise ValueError("; ".join(problems[:_MOST_TOLD]) + (f"; and {more} more" if more > 0 else ""))
    return lines


def _chosen(declared: Input, word: str) -> str:
    if word in declared.choices:
        return word
    known = ", ".join(declared.choices)
    raise ValueError(f"expected {known}; found {word[:80]!r}{did_you_mean(word, declared.choices)}")


def _score_problem(line: str) -> str:
    """Say what is wrong with a line of scores, ``""`` for nothing."""
    name, _, number = (part.strip() for part in line.partition("="))
    if not re.fullmatch(r"0(?:\.[0-9]{1,6})?|1(?:\.0{1,6})?", number):
        return f"expected NAME=SCORE with a score from 0 to 1, found {line[:80]!r}"
    return "" if name in _DIMENSIONS else f"no dimension {name[:80]!r}{did_you_mean(name, _DIMENSIONS)}"


def _shard(text: str) -> str:
    match = _SHARD.fullmatch(text)
    if match is None or not int(match[1]) <= int(match[2]) <= _MOST_SHARDS:
        raise ValueError(f"expected I/N with I from 1 to N and N up to {_MOST_SHARDS}, found {text[:80]!r}")
    return text


def _number(declared: Input, text: str) -> float:
    low, high = declared.minimum, declared.maximum
    bounds = f" of at least {low:g}" if low is not None else ""
    bounds = f" from {low:g} to {high:g}" if low is not None and high is not None else bounds
    if re.fullmatch(r"[0-9]{1,12}(?:\.[0-9]{1,6})?", text):
        number = float(text)
        if (low is None or number >= low) and (high is None or number <= high):
            return number
    raise ValueError(f"expected a number{bounds}, found {text[:80]!r}")
