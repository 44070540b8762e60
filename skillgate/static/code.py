"""Code blocks: does one parse, is its error certain, which language has one without a tag, and which hold another?

:func:`syntax_error` asks the parser, for a score. For a finding about one block :func:`certain_error` asks more.
Some blocks do not parse on purpose: JSON with comments, several documents in one block, lines cut out of a larger file,
and code of another version of Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from skillgate.model.skill import CodeBlock, Document
from skillgate.model.yaml_bounded import check_syntax
from skillgate.named_tuple import NamedTuple
from skillgate.static.rules import CHECKED, compiles

MAX_CHARACTERS = 65_536  # a larger block is not looked at
MAX_FILE_CHARACTERS = 1 << 18
MAX_DOTS = 4_000  # in a block that imports: names are joined one by one
MAX_KEY_DOTS = 1_000  # on a line of TOML: a dotted key costs the square of its parts
# Text, not compiled patterns: most blocks parse, and then none is needed.
_PROMPT = r"(?m)^[ \t]*+(?:>>> |\$ |% |In \[\d+\]: |[%!]\w)"
_PLACEHOLDER = r"(?i)\.\.\.|…|<[a-z][\w .:/-]{0,60}>|\{\{|\$\{|\[(?:your|insert|replace)\b|\{[a-z_][\w .-]{0,60}\}"


@lru_cache(maxsize=256)  # the blocks of the main file are asked for twice: by a sub-check, and by a rule
def syntax_error(language: str, code: str) -> str | None:
    """Say why a block does not parse; None if it does, or if its language is not judged.

    Templates (with a placeholder) and transcripts (with a prompt) that do not parse are no errors.
    """
    kind = CHECKED.get(language)
    error = _parse_error(kind, code) if kind and len(code) <= MAX_CHARACTERS else None
    return None if error is None or re.search(_PLACEHOLDER, code) or re.search(_PROMPT, code) else error


def _parse_error(kind: str, code: str) -> str | None:
    if kind == "yaml":
        problem = check_syntax(code)
        return problem.message if problem else None
    if kind == "python" and "import" in code and code.count(".") > MAX_DOTS:
        return "too many dotted names"
    if kind == "toml" and any(line.count(".") > MAX_KEY_DOTS for line in code.split("\n")):
        return "too many dotted keys"
    try:
        _parse(kind, code)
    except (SyntaxError, ValueError) as error:
        if kind == "json":
            return str(error).partition(": ")[0].lower()
        return (error.msg if isinstance(error, SyntaxError) else None) or str(error)
    except (RecursionError, MemoryError):
        return "nested too deeply"
    return None


def _parse(kind: str, code: str) -> None:
    if kind == "json":
        import json

        json.loads(code)
    elif kind == "toml":
        import tomllib

        tomllib.loads(code)
    else:
        import ast
        import warnings
        from textwrap import dedent

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(dedent(code))


# -- What does not parse on purpose

# What the parsers say of text that is too much for them, or that its reader is to complete.
_LIMITS = r"(?:larger than|more than \d|nested deeper|deeper than|nested too|too many)"
_TEMPLATE = r"\{%|<<|>>|\A\s*[-+](?![-+\d ])|\A\s*@@ |(?m:^[-+] ?[\"{\w])|(?m:^\.{2,}\s*$)|✅|❌|✓|✗|→|⇒|=>"


# A gap for the reader to fill, as `[Service Name]`, and a choice, as `true/false`.
_GAP = r"\[[A-Z][\w '/&-]{0,60}\]"
_CHOICE = r"\b(true|false|null|\d+)(?:\s?[/|]\s?(?:true|false|null|\d+)\b)+"


def certain_error(language: str, code: str) -> str | None:
    """Say why a block does not parse if nothing suggests that it is meant so; else None."""
    reason = syntax_error(language, code)
    if reason is None or re.match(_LIMITS, reason):
        return None
    filled = re.sub(_GAP, "0", re.sub(_CHOICE, r"\1", code))
    if filled != code and syntax_error(language, filled) is None:
        return None
    return None if _LENIENT[CHECKED[language]](filled, reason, filled) else reason


CONFLICT = "a merge conflict is not resolved"
_LINE_OF_TEMPLATE = r"(?m)^[ \t]*\{[%#].*[%#]\}[ \t]*$"
# Where a parser stops: a template or name to fill in, a cell's magic, Python 2's backquotes, Python 3.14's templates.
_GAP_IN_FILE = (
    r"\{\{|\{%|<%|%\}|<[A-Z][A-Z_ ]+>|__[A-Z]+__|@[A-Z_]+@"
    r"|\$\{?[A-Za-z_]|<[a-z][\w -]*>|(?m:^\s*[%!]\w)|`\w|\bt[\"']|(?m:^\s*(?:class|def) \{\w)"
)


def file_error(language: str, code: str) -> tuple[int, str] | None:
    """Say in which line and why a whole file does not parse, if nothing suggests that it is meant so; else None."""
    kind = CHECKED[language]
    if len(code) > MAX_FILE_CHARACTERS or (kind == "python" and compiles(code)):
        return None
    reason = _parse_error(kind, code)
    if reason is None or re.match(_LIMITS, reason):
        return None
    if conflict := _conflict(code):
        return conflict, CONFLICT
    number = _python_line(code) if kind == "python" else _line_of(kind, code)
    stopped = "\n".join(code.split("\n")[max(0, number - 2) : number + 1])
    if re.search(_GAP_IN_FILE, stopped):
        return None
    filled = re.sub(r"\{\{[^{}\n]*+\}\}", "x" if kind == "python" else "0", re.sub(_LINE_OF_TEMPLATE, "", code))
    if filled != code and _parse_error(kind, filled) is None:
        return None
    if kind == "python":
        is_other = reason.startswith(_LATER_REASONS) or "f-string" in reason or re.search(_OTHER_PYTHON, stopped)
        return None if is_other else (number, reason)
    if _LENIENT[kind](code, reason, stopped) or (kind == "yaml" and "\n---" in code and "tag" in reason):
        return None
    return number, reason


def _conflict(code: str) -> int:
    """Return the line where a conflict begins that a merge left in a file; 0 for none."""
    start, is_halved = 0, False
    for row, line in enumerate(code.split("\n") if "\n>>>>>>>" in code else (), start=1):
        if line.startswith("<<<<<<<"):
            start, is_halved = row, False
        elif start and line.rstrip() == "=======":
            is_halved = True
        elif is_halved and line.startswith(">>>>>>>"):
            return start
    return 0


def _python_line(code: str) -> int:
    try:
        _parse("python", code)
    except SyntaxError as error:
        return error.lineno or 1
    except ValueError:
        pass
    return 1


def _line_of(kind: str, code: str) -> int:
    """Return the line at which a parser stops."""
    if kind == "yaml":
        problem = check_syntax(code)
        return getattr(problem, "line", None) or 1
    try:
        _parse(kind, code)
    except ValueError as error:
        line = re.search(r"\bline (\d+)", str(error))
        return int(line[1]) if line else 1
    return 1


# A diff, or the shape of a value: `"ok" | "error"`, `"size": number`.
_SKETCH = (
    r"(?m)^[-+](?=\s|[\"{}\]])|\"\s*\|\s*\""
    r"|:\s*(?:string|number|boolean|bool|int(?:eger)?|float|array|object|any|date)\b"
)


# What opens and never closes ends with its line, or with the block: else each of many would be followed to the end.
_JSON_COMMENT = (
    r'("(?:[^"\\\n]|\\.)*+"?)|//[^\n]*|/\*.*?(?:\*/|\Z)|#[^\n]*|(?:[✓✔✅✗✘❌⚠→←⇒⇐]|->|<-|=>)[^\n]*'
    r"|^[ \t]*[A-Z][\w ]{0,40}:[ \t]*$"  # a label
)
_METHOD = r"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)[ ]"
_HTTP = rf"(?m)^[ \t]*(?:HTTP/\d|{_METHOD}(?:/|https?:|\{{))"
# The lines of an HTTP message above its body.
_HTTP_LINES = rf"(?m)^[ \t]*(?:HTTP/\d[^\n]*|{_METHOD}(?:(?=\{{)|[^\n]*$)|[A-Z][A-Za-z-]{{1,40}}:[ ][^\n\"{{}}\[\]]+$)"


def _lenient_json(code: str, reason: str, near: str) -> bool:
    """Accept comments, trailing commas, several values in a row, members without braces, and HTTP messages."""
    del reason
    import json

    if re.search(_SKETCH, near):
        return True
    decoder = json.JSONDecoder(strict=False)
    text = re.sub(_HTTP_LINES, "", code) if re.search(_HTTP, code) else code
    text = re.sub(_JSON_COMMENT, r"\1", text, flags=re.DOTALL | re.MULTILINE)
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
    r"|\braise [\w.]+\s*,|\b(?:0[xX][0-9a-fA-F]+|\d+)[lL]\b"
    r"|\blambda \(|\b0\d+\b|<>|\bur['\"]|[\w.)]\?{1,2}\s*$|^\s*\?\w"
)
_PART = r"\A(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*(?:elif|else|except|finally|case)\b"
_BARE_DECORATOR = r"(?m)^\s*@\w[^\n]*\n(?:\s*#[^\n]*\n|\s*\n)*(?!\s*(?:@|def |class |async |#|\)))"
_SIGNATURE = r"(?m)^\s*(?:async )?(?:def|class) [^\n]*[^:,(\s\\]\s*$"  # a list of what there is to call
_WHOLES = ("{{{}\n}}", "f({}\n)", "[{}\n]")  # members, arguments or items cut out of what holds them
_PARTIAL_REASONS = ("expected an indented block", "unexpected indent", "unindent does not match", "f-string")
_LATER_REASONS = ("multiple exception types", "Missing parentheses in call to", "cannot mix bytes", "t-string")
_CERTAIN_CHARACTERS = "‘’“”„\u00a0–—"  # what an editor makes of quotation marks, spaces and hyphens


def _lenient_python(code: str, reason: str, near: str) -> bool:
    if reason.startswith((*_PARTIAL_REASONS, *_LATER_REASONS)):
        return True
    if reason.startswith("invalid character") and reason[19:20] not in _CERTAIN_CHARACTERS:
        return True
    if re.search(_OTHER_PYTHON, code) or re.match(_PART, code) or re.search(_TEMPLATE, near):
        return True
    if re.search(_BARE_DECORATOR, code) or (reason == "expected ':'" and re.search(_SIGNATURE, code)):
        return True
    return any(syntax_error("python", whole.format(code)) is None for whole in _WHOLES) or _lists_signatures(code)


MAX_SIGNATURES = 500  # statements of a block that are read as signatures
_CALL = r"(?:async |await |\w+ = )?[A-Za-z_][\w.]*\("


def _lists_signatures(code: str) -> bool:
    """Whether each statement parses, once what looks like a call is read as the head of a definition."""
    from textwrap import dedent

    statements = re.split(r"\n(?=[^\s)\]}])", "\n" + dedent(code))
    found = False
    for statement in statements if len(statements) <= MAX_SIGNATURES else ():
        if syntax_error("python", statement) is None:
            continue
        match = re.match(_CALL, statement)
        if match is None or syntax_error("python", _definition(statement[match.end() :])) is not None:
            return False
        found = True
    return found


def _definition(rest: str) -> str:
    """Write a definition from what follows the first bracket of a signature, with its docstring if it has one."""
    lines = [_without_comment(line) for line in rest.split("\n")]
    depth, end = 1, 0
    while depth > 0 and end < len(lines):
        depth += lines[end].count("(") - lines[end].count(")")
        end += 1
    return "\n".join((f"def f({lines[0]}", *lines[1:end])) + ":\n" + ("\n".join(lines[end:]).rstrip() or " pass")


def _without_comment(line: str) -> str:
    code, _, comment = line.partition(" #")
    return line if "'" in comment or '"' in comment else code.rstrip()


def _lenient_toml(code: str, reason: str, near: str) -> bool:
    """Accept two files in one block, and what TOML 1.1 allows in inline tables."""
    repeats = "twice" in reason or "overwrite" in reason or "mutate" in reason
    return repeats or bool(re.search(r"[{,]\s*(?:#[^\n]*)?\n[^\[\n]*[,}]|,\s*\}", code) or re.search(_TEMPLATE, near))


def _lenient_yaml(code: str, reason: str, near: str) -> bool:
    """Accept frontmatter with text below it, and examples set apart by blank lines or comments."""
    if reason.startswith("the alias") or "escape character '/'" in reason:
        return True  # its anchor is elsewhere; YAML 1.2 has that escape
    if re.search(_TEMPLATE.replace("|->", "").replace(r"|(?m:^[-+] ?[\"{\w])", r"|(?m:^\+ ?[\"{\w])"), near):
        return True
    front = re.match(r"(?:[ \t]*(?:#[^\n]*)?\n)*+---\n", code)
    if front is not None:
        head, mark, _ = code[front.end() :].partition("\n---")
        return syntax_error("yaml", head) is None and bool(mark)
    parts = re.split(r"\n[ \t]*\n(?=\S)|\n(?=#)", code.strip("\n"))
    return len(parts) > 1 and all(syntax_error("yaml", part) is None for part in parts)


_LENIENT: dict[str, Callable[[str, str, str], bool]] = {
    "python": _lenient_python,
    "json": _lenient_json,
    "toml": _lenient_toml,
    "yaml": _lenient_yaml,
}


# -- The language of a block without a tag

_INTERPRETERS = {
    **{"sh": "bash", "bash": "bash", "zsh": "zsh", "fish": "fish", "python": "python", "python3": "python"},
    **{"node": "javascript", "ruby": "ruby", "perl": "perl", "pwsh": "powershell"},
}
_SHEBANG = r"#![ \t]*(?:\S*/)?(?:env[ \t]+)?(?P<name>[a-z0-9.]+)(?=\s|\Z)"
_SHELL_PROMPT = r"\$ [a-z./~][^\n]*"
# How a document of a language begins and nothing else does, compared in lower case.
_BEGINNINGS = {"<?xml ": "xml", "<?php": "php", "<!doctype html": "html", "diff --git a/": "diff", ">>> ": "pycon"}


def certain_language(code: str) -> str | None:
    """Name the language of a block as the tag of a fence, or None if another reading is possible.

    JSON counts from one member or one object on: ``{}`` and ``[1, 2]`` are written alike in many languages.
    """
    text = code.strip()
    if not text or len(code) > MAX_CHARACTERS:
        return None
    if text[0] in "{[":
        return "json" if _is_json(text) else None
    if text.startswith("#!"):
        shebang = re.match(_SHEBANG, text)
        return _INTERPRETERS.get(shebang["name"].rstrip(".0123456789")) if shebang else None
    if text.startswith("$ "):
        return "console" if re.match(_SHELL_PROMPT, text) else None
    beginning = text[:32].lower()
    return next((tag for start, tag in _BEGINNINGS.items() if beginning.startswith(start)), None)


def _is_json(text: str) -> bool:
    if text[-1] not in "}]" or '"' not in text:
        return False
    import json

    try:
        value = json.loads(text)
    except (ValueError, RecursionError, MemoryError):
        return False
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, dict) and item for item in value)
    return bool(value)


# -- Fences inside fences

_FENCE = r"(?m)^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})[ \t]*([^`\n]*)$"

_MOST_INDENT = 3  # spaces, from those of the opening fence: what is further in is text of the block


class NestedFence(NamedTuple):
    """A code block that ends too early, with a block inside it; lines count from 1.

    Attributes:
        block: the outer block as it is read.
        inner: the line of the fence inside it.
        last: the line that it was meant to end on, None if the fences below do not add up.
    """

    block: CodeBlock
    inner: int
    last: int | None

    def covers(self, line: int) -> bool:
        """Return whether a line may be meant as part of the outer block."""
        return self.block.line <= line and (self.last is None or line <= self.last)


def nested_fences(document: Document) -> tuple[NestedFence, ...]:
    """Find the blocks with a fence inside that is as long as their own: the end of the inner block ends the outer one.

    Fences are paired as they were meant: one with a language opens a block, a bare one ends it. Where that leaves a
    block open, only the first is certain. Below a block that never ends none is.
    """
    if not any("```" in block.code or "~~~" in block.code for block in document.code_blocks):
        return ()
    lines = document.text.split("\n")
    blocks: dict[int, CodeBlock] = {}
    for block in document.code_blocks:
        if not block.closed:
            break
        blocks[block.line] = block
    found = [
        NestedFence(blocks[outer], inner, last)
        for outer, inner, last in _meant_blocks(lines, document.first_line)
        if outer in blocks and _ends_early(blocks[outer], lines)
    ]
    return tuple(found if found and found[-1].last is not None else found[:1])


def _meant_blocks(lines: list[str], first_line: int) -> Iterator[tuple[int, int, int | None]]:
    """Yield the blocks with blocks inside: the line of the fence, of the first one inside, and of the end."""
    outer, inner, depth, mark, most = 0, 0, 0, "", 0
    for number in range(first_line, len(lines) + 1):
        line = lines[number - 1]
        fence = _fence(line)
        if fence is None or (depth and (not fence[1].startswith(mark) or _indent(line) > most)):
            continue
        if not depth:
            outer, inner, mark, most = number, 0, fence[1], _indent(line) + _MOST_INDENT
        elif fence[2].strip():
            inner = inner or number
        depth += 1 if not depth or fence[2].strip() else -1
        if not depth and inner:
            yield outer, inner, number
    if depth and inner:
        yield outer, inner, None


def _fence(line: str) -> re.Match[str] | None:
    return re.match(_FENCE, line) if "```" in line or "~~~" in line else None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _ends_early(block: CodeBlock, lines: list[str]) -> bool:
    """Return whether a block holds a fence that opens another one, but not the end of that one."""
    outer = _fence(lines[block.line - 1]) if block.line <= len(lines) else None
    opened, most = 0, _indent(lines[block.line - 1]) + _MOST_INDENT if outer else 0
    for line in lines[block.line : block.end_line - 1] if outer else ():
        fence = _fence(line)
        if fence is not None and outer is not None and fence[1].startswith(outer[1]) and _indent(line) <= most:
            opened = opened + 1 if fence[2].strip() else max(0, opened - 1)
    return opened > 0
