"""Does a code block parse? Python, JSON, TOML and YAML are asked of their parsers; other languages are not judged."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from skillgate.model.yaml_bounded import check_syntax

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_CHARACTERS = 65_536  # a larger block is not parsed
MAX_DOTS = 4_000  # in a block that imports: names are joined one by one
MAX_KEY_DOTS = 1_000  # on a line of TOML: a dotted key costs the square of its parts
# Text, not compiled patterns: most blocks parse, and then neither is needed.
_PROMPT = r"(?m)^[ \t]*+(?:>>> |\$ |% |In \[\d+\]: |[%!]\w)"
_PLACEHOLDER = r"(?i)\.\.\.|…|<[a-z][\w .:/-]{0,60}>|\{\{|\$\{|\[(?:your|insert|replace)\b|\{[a-z_][\w .-]{0,60}\}"


@lru_cache(maxsize=256)  # the blocks of the main file are asked for twice: by a sub-check, and by a rule
def syntax_error(language: str, code: str) -> str | None:
    """Say why a block does not parse; None when it does, or when its language is not judged.

    Templates (with a placeholder) and transcripts (with a prompt) that do not parse are no errors.
    """
    parser = _PARSERS.get(language)
    if parser is None or len(code) > MAX_CHARACTERS:
        return None
    error = parser(code)
    if error is None or re.search(_PLACEHOLDER, code) or re.search(_PROMPT, code):
        return None
    return error


def _python(code: str) -> str | None:
    import ast
    import warnings
    from textwrap import dedent

    if "import" in code and code.count(".") > MAX_DOTS:
        return "it has too many dotted names"
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

    if any(line.count(".") > MAX_KEY_DOTS for line in code.split("\n")):
        return "it has too many dotted keys"
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


_PARSERS: dict[str, Callable[[str], str | None]] = {
    "python": _python,
    "py": _python,
    "python3": _python,
    "json": _json,
    "toml": _toml,
    "yaml": _yaml,
    "yml": _yaml,
}
