"""Is it certain that a code block does not parse, or is it what documents show on purpose?

:func:`skillgate.static.syntax.syntax_error` asks the parser, for a score. A finding about one block needs more: JSON
with comments, several documents in one block, lines cut out of a larger file and code of another version of Python do
not parse either, and nobody would mend them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.static.syntax import syntax_error

if TYPE_CHECKING:
    from collections.abc import Callable

# What the parsers say of a text that is too much for them, or that is left to whoever completes it.
_LIMITS = r"(?:larger than|more than \d|nested deeper|deeper than|it nests|(?:it has )?too many)"
_TEMPLATE = r"\{%|<<|>>|\A\s*[-+](?![-+\d ])|\A\s*@@ |(?m:^[-+] ?[\"{\w])|(?m:^\.{2,}\s*$)|✅|❌|✓|✗|→|⇒|=>"


def certain_error(language: str, code: str) -> str | None:
    """Say why a block does not parse where nothing speaks for its being meant so; else None."""
    reason = syntax_error(language, code)
    if reason is None or re.match(_LIMITS, reason):
        return None
    lenient = _LENIENT[language]
    return None if lenient(code, reason) else reason


# A diff, or the shape of a value: `"ok" | "error"`, `"size": number`.
_SKETCH = (
    r"(?m)^[-+](?=\s|[\"{}\]])|\"\s*\|\s*\""
    r"|:\s*(?:string|number|boolean|bool|int(?:eger)?|float|array|object|any|date)\b"
)


# What opens and never closes ends with its line, or with the block: else each of many would be followed to the end.
_JSON_COMMENT = r'("(?:[^"\\\n]|\\.)*+"?)|//[^\n]*|/\*.*?(?:\*/|\Z)|#[^\n]*'


def _lenient_json(code: str, reason: str) -> bool:
    """Accept comments, trailing commas, several values in a row, and members without the braces around them."""
    del reason
    import json

    if re.search(_SKETCH, code):
        return True
    decoder = json.JSONDecoder(strict=False)
    text = re.sub(_JSON_COMMENT, r"\1", code, flags=re.DOTALL)
    text = re.sub(r",(?=\s*[}\]])", "", text)
    position = _skip(text, 0)
    while position < len(text):
        try:
            value, position = decoder.raw_decode(text, position)
            position = _skip(text, position)
            if isinstance(value, str) and text.startswith(":", position):
                _, position = decoder.raw_decode(text, _skip(text, position + 1))
        except (ValueError, RecursionError, MemoryError):
            return False
        position = _skip(text, position)
    return True


def _skip(text: str, position: int) -> int:
    """Step over white space and commas."""
    while position < len(text) and text[position] in " \t\r\n,":
        position += 1
    return position


# What differs between versions of Python, and what a cut through a larger file leaves behind.
_OTHER_PYTHON = (
    r"(?m)^\s*%%\w|^\s*(?:type \w+.*=|(?:async )?def \w+\[|class \w+\["
    r"|print [^(\n]|exec [^(\n]|raise \w+, |except [\w.]+, \w+:)"
    r"|\blambda \(|\b0\d+\b|<>|\bur['\"]|[\w.)]\?{1,2}\s*$|^\s*\?\w"
)
_PART = r"\A(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*(?:elif|else|except|finally|case)\b"
_BARE_DECORATOR = r"(?m)^\s*@\w[^\n]*\n(?:\s*#[^\n]*\n|\s*\n)*(?!\s*(?:@|def |class |async |#|\)))"
_SIGNATURE = r"(?m)^\s*(?:async )?(?:def|class) [^\n]*[^:,(\s\\]\s*$"  # a list of what there is to call
_WHOLES = ("{{{}\n}}", "f({}\n)", "[{}\n]")  # members, arguments or items cut out of what holds them
_PARTIAL_REASONS = ("expected an indented block", "unexpected indent", "unindent does not match", "f-string")
_LATER_REASONS = ("multiple exception types", "Missing parentheses in call to", "cannot mix bytes", "t-string")
_CERTAIN_CHARACTERS = "‘’“”„\u00a0–—"  # what an editor makes of quotation marks, spaces and hyphens


def _lenient_python(code: str, reason: str) -> bool:
    if reason.startswith((*_PARTIAL_REASONS, *_LATER_REASONS)):
        return True
    if reason.startswith("invalid character") and reason[19:20] not in _CERTAIN_CHARACTERS:
        return True
    if re.search(_OTHER_PYTHON, code) or re.match(_PART, code) or re.search(_TEMPLATE, code):
        return True
    if re.search(_BARE_DECORATOR, code) or (reason == "expected ':'" and re.search(_SIGNATURE, code)):
        return True
    return any(syntax_error("python", whole.format(code)) is None for whole in _WHOLES)


def _lenient_toml(code: str, reason: str) -> bool:
    """Accept two files in one block, and what TOML 1.1 allows in inline tables."""
    again = "twice" in reason or "overwrite" in reason or "mutate" in reason
    return again or bool(re.search(r"[{,]\s*(?:#[^\n]*)?\n[^\[\n]*[,}]|,\s*\}", code) or re.search(_TEMPLATE, code))


def _lenient_yaml(code: str, reason: str) -> bool:
    """Accept frontmatter with text below it, and examples set apart by blank lines or comments."""
    if reason.startswith("the alias") or "escape character '/'" in reason:
        return True  # its anchor stands elsewhere; YAML 1.2 has that escape
    if re.search(_TEMPLATE.replace("|->", "").replace(r"|(?m:^[-+] ?[\"{\w])", r"|(?m:^\+ ?[\"{\w])"), code):
        return True
    if code.startswith("---\n"):
        head = code[4:].partition("\n---")[0]
        return syntax_error("yaml", head) is None and "\n---" in code
    parts = re.split(r"\n[ \t]*\n(?=\S)|\n(?=#)", code.strip("\n"))
    return len(parts) > 1 and all(syntax_error("yaml", part) is None for part in parts)


_LENIENT: dict[str, Callable[[str, str], bool]] = {
    "python": _lenient_python,
    "py": _lenient_python,
    "python3": _lenient_python,
    "json": _lenient_json,
    "toml": _lenient_toml,
    "yaml": _lenient_yaml,
    "yml": _lenient_yaml,
}
