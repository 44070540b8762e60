"""Does a code block parse? Python, JSON, TOML and YAML are asked of their parsers; other languages are not judged."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.model.yaml_bounded import check_syntax

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_CHARACTERS = 65_536  # a larger block is not parsed
MAX_NESTING = 100  # brackets inside one another; real code stays far below, and parsers recurse
MAX_OPERATORS = 2_000  # prefix or infix operators on one logical line, for the same reason
_PROMPT = re.compile(r"^\s*(?:>>> |\$ |% |In \[\d+\]: |[%!]\w)", re.MULTILINE)
_PLACEHOLDER = re.compile(
    r"\.\.\.|…|<[A-Za-z][\w .:/-]{0,60}>|\{\{|\$\{|\[(?:your|insert|replace)\b|\{[A-Za-z_][\w .-]{0,60}\}",
    re.IGNORECASE,
)


def syntax_error(language: str, code: str) -> str | None:
    """Say why a block does not parse; None when it does, or when its language is not judged.

    Templates (with a placeholder) and transcripts (with a prompt) that do not parse are no errors.
    """
    parser = _PARSERS.get(language)
    if parser is None or len(code) > MAX_CHARACTERS:
        return None
    error = parser(code)
    if error is None or _PLACEHOLDER.search(code) or _PROMPT.search(code):
        return None
    return error


def _python(code: str) -> str | None:
    import ast
    import warnings
    from textwrap import dedent

    if not _shallow(code):
        return "it nests too deeply"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(dedent(code))
    except (SyntaxError, ValueError) as error:
        return getattr(error, "msg", None) or str(error)
    except (RecursionError, MemoryError):
        return "it nests too deeply"
    return None


def _json(code: str) -> str | None:
    import json

    try:
        json.loads(code)
    except ValueError as error:
        return str(error).partition(": ")[0].lower()
    except (RecursionError, MemoryError):
        return "it nests too deeply"
    return None


def _toml(code: str) -> str | None:
    import tomllib

    try:
        tomllib.loads(code)
    except ValueError as error:
        return str(error)
    except (RecursionError, MemoryError):
        return "it nests too deeply"
    return None


def _yaml(code: str) -> str | None:
    problem = check_syntax(code)
    return problem.message if problem else None


def _shallow(code: str) -> bool:
    """Tell whether brackets nest little enough for a recursive parser, strings and comments counted in."""
    depth = deepest = 0
    for character in code:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth = max(0, depth - 1)
    return deepest <= MAX_NESTING


_PARSERS: dict[str, Callable[[str], str | None]] = {
    "python": _python,
    "py": _python,
    "python3": _python,
    "json": _json,
    "toml": _toml,
    "yaml": _yaml,
    "yml": _yaml,
}
