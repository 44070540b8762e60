"""What a skill has run: commands of its code blocks, of the code spans that a sentence orders to run, and of scripts.

Left out is what is shown to be avoided or found: code below words that call it dangerous, forbidden or an attack,
lists of patterns, comments, and the documents of skills about security.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from skillgate.model.skill import Document, TextFile
from skillgate.named_tuple import NamedTuple
from skillgate.skill.parse import RECIPE_SUFFIXES
from skillgate.static.attacks import Subjects
from skillgate.static.rules import present
from skillgate.static.text import without_fences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import CodeBlock, Skill

MAX_LINE = 2_000  # characters of a command that are looked at together
_WINDOWS = 20  # parts of a longer line
_SHELLS = (
    "",
    "bash",
    "sh",
    "shell",
    "zsh",
    "fish",
    "console",
    "shell-session",
    "terminal",
    "powershell",
    "ps1",
    "pwsh",
)
_PROGRAMS = (
    "python",
    "py",
    "python3",
    "javascript",
    "js",
    "typescript",
    "ts",
    "ruby",
    "perl",
    "dockerfile",
    "makefile",
    "make",
    "!",
)
_RUN_FILES = (
    *(".py", ".sh", ".bash", ".zsh", ".fish", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".ps1", ".bat", ".cmd"),
)
_REFUSING = r"(?:block|reject|refuse|detect|flag|den[yi]|disallow)"
_REFUSED = (
    r"(?:commands?|patterns?|attempts?|strings?|scripts?|lines?|calls?|such|these|this|those|following|anything"
    r"|things?|any)"
)
WARNED = (
    r"(?i:\b(?:bad|wrong|unsafe|insecure|dangerous(?!ly)|destructive|forbidden|prohibited"
    rf"|{_REFUSING}\w*\b[^.!?`:]{{0,30}}\b{_REFUSED}|{_REFUSED}\b(?: \w+)?(?: \w+)? {_REFUSING}\w*"
    rf"|{_REFUSING}(?:s|es|ing)?\W*\Z|{_REFUSING}list\w*"
    r"|(?:never|do not|don['’]?t|must not|avoid) (?:ever )?(?:run|us(?:e|ing)|do|execut|running|pip|paste|type|install"
    r"|commit|send|put|this|these|such|anything)\w*|attack\w*"
    r"|malicious|exploits?|injection|suspicious|red flags?|anti-?patterns?|vulnerab\w+|threats?"
    r"|guardrails?|poison\w*)\b)|❌|🚫|⛔"
)
_LABEL = rf"^\W*(?:{WARNED})\W*[:–—]"  # such as "BAD: "
_QUOTED = r"\"(?:[^\"\\]|\\.)*+\"|'[^']*+'"
_LISTED = (
    r"^\s*(?:[-*]\s+)?[rbf]?[\"']|[\"'] (?:not )?in \w|re\.compile"
    r"|(?i:patterns?|blocked|denied|deny|blocklist)\w*[\"']?\s*[=:+]"
    r"|^\s*(?:sudo )?(?:git )?(?:grep|rg)\b|\bregex|\\[sbdSwW]|\[\[ .* =~|(?:add_argument|add_option|\.option)\("
)
_COMMENT = r"\s*(?:#|//|--|\*|/\*|REM\b|<!--)"
_CONTINUED = r"(?:\\|`|&&|\|\|?)[ \t]*\Z"
_PARTS = 40  # lines of one command that are joined
_AROUND = 300
_SPAN = r"`([^`\n]+)`"
_ORDER = (
    r"(?i)\b(?:runs?|execut\w+|invoke|call|type|enter|paste|start(?: with)?|launch|then|first|finally"
    r"|always|using?)\b[^.!?`]{0,60}\Z"
)
_SECURITY = (
    r"\bsecurity\b|pen-?test|penetration|exploit|red.?team|\bctf\b|offensive|malware|forensic|\byara\b"
    r"|threat.?(?:model|hunt|intel)|\bincident resp|hardening|vulnerab|guardrail|dangerous command|prompt.inject"
)


_SETTINGS = ("package.json", "mcp.json", ".mcp.json", "hooks.json", "settings.json", "settings.local.json")
_MOST_VALUES = 5_000  # values of a file of settings that are looked at
_BEGINNING = 40  # characters by which the line of a command is found


class Command(NamedTuple):
    """One command with the lines that it continues on, joined by spaces, and where it begins.

    ``file`` is None for the main document.
    """

    text: str
    line: int
    file: str | None
    column: int = 1


def commands(skill: Skill, words: tuple[str, ...]) -> Iterator[Command]:
    """Yield the commands that hold one of the words, file by file."""
    words = present(skill, words)  # few of many make a fast pattern
    pattern = "|".join(map(re.escape, words))
    for text, first, file in programs(skill, words):
        yield from _in_lines(text.split("\n"), first, file, pattern)
    for document in () if is_about_security(skill) else skill.documents:
        if any(word in document.text for word in words):
            file = None if document is skill.documents[0] else document.file
            yield from _in_spans(skill, document, file, pattern)


def programs(skill: Skill, words: tuple[str, ...]) -> Iterator[tuple[str, int, str | None]]:
    """Yield the code of blocks and files that is run and holds one of the words, with its first line and its file."""
    for document in () if is_about_security(skill) else skill.documents:
        if not any(word in document.text for word in words):
            continue
        file = None if document is skill.documents[0] else document.file
        lines = document.text.split("\n")
        subjects: Subjects | None = None
        for block in document.code_blocks:
            if block.language not in (*_SHELLS, *_PROGRAMS) or not any(word in block.code for word in words):
                continue
            if not _is_warned_of(document, lines, block):
                subjects = subjects or Subjects(skill, document)
                if not subjects.at(block.line):
                    yield block.code, block.line + 1, file
    for script in skill.scripts:
        if is_run(script) and any(word in script.text for word in words):
            yield script.text, 1, script.file


def configured(skill: Skill) -> Iterator[Command]:
    """Yield the commands that clients run because a file says so: npm's scripts, servers of MCP, and hooks."""
    for script in skill.scripts:
        name = script.file.rpartition("/")[2].lower()
        if name not in _SETTINGS:
            continue
        import json  # few skills have such a file

        try:
            document = json.loads(script.text)
        except (ValueError, RecursionError):
            continue
        lines = script.text.split("\n")
        for command in _commands_of(document, is_package=name == "package.json"):
            beginning = json.dumps(command, ensure_ascii=False)[1:-1][:_BEGINNING].split(" ")[0]
            row = next((row for row, line in enumerate(lines, 1) if beginning and beginning in line), 1)
            yield Command(command[:MAX_LINE], row, script.file)


def _commands_of(document: object, *, is_package: bool) -> Iterator[str]:
    """Yield the commands of a file of settings, each with its arguments."""
    if is_package:
        scripts = document.get("scripts") if isinstance(document, dict) else None
        yield from (one for one in scripts.values() if isinstance(one, str)) if isinstance(scripts, dict) else ()
        return
    pending, left = [document], _MOST_VALUES
    while pending and left:
        left -= 1
        value = pending.pop()
        if isinstance(value, list):
            pending += value[:left]
        elif isinstance(value, dict):
            command, arguments = value.get("command"), value.get("args")
            if isinstance(command, str):
                words = [one for one in arguments if isinstance(one, str)] if isinstance(arguments, list) else []
                yield " ".join([command, *words])
            pending += list(value.values())[:left]


def is_about_security(skill: Skill) -> bool:
    """Whether a skill's name or description says that it is about security: it shows attacks to find them."""
    about = f"{skill.frontmatter.text('name')} {skill.frontmatter.text('description')}".lower()
    return re.search(_SECURITY, about) is not None


def is_run(script: TextFile) -> bool:
    """Whether a file is a program, by its name."""
    name = script.file.rpartition("/")[2].lower()
    return name.endswith((*_RUN_FILES, *RECIPE_SUFFIXES)) or "." not in name


def is_shown(line: str, words: str) -> bool:
    """Whether a line of code only shows what ``words`` matches: a comment, a list of what to find, a warning.

    In a warning both are in one string. Paths, variables and other outputs warn of nothing.
    """
    if re.match(_COMMENT, line) or re.search(_LISTED, line) or re.search(_LABEL, line):
        return True
    strings = re.findall(_QUOTED, line) if re.search(WARNED, line) else ()
    return any(re.search(words, text) and re.search(WARNED, text) for text in strings)


def _in_spans(skill: Skill, document: Document, file: str | None, pattern: str) -> Iterator[Command]:
    """Yield the code spans that a sentence orders to run."""
    subjects: Subjects | None = None
    for row, line in enumerate(without_fences(document).split("\n"), start=1):
        for span in re.finditer(_SPAN, line) if "`" in line and re.search(pattern, line) else ():
            before = line[max(0, span.start() - _AROUND) : span.start()]
            if not re.search(pattern, span[1]):
                continue
            if before.endswith("!"):  # a client runs it when the skill is loaded
                yield Command(span[1][:MAX_LINE], row, file, span.start() + 1)
                continue
            if line.lstrip().startswith("|") or not re.search(_ORDER, before):
                continue
            subjects = subjects or Subjects(skill, document)
            if not re.search(WARNED, line[:MAX_LINE].replace(span[1], "")) and not subjects.at(row):
                yield Command(span[1][:MAX_LINE], row, file, span.start() + 1)


def _in_lines(lines: list[str], first: int, file: str | None, pattern: str) -> Iterator[Command]:
    """Yield the commands of code, line by line; what continues is one command."""
    index = 0
    while index < len(lines):
        begin, parts = index, [lines[index]]
        while re.search(_CONTINUED, parts[-1][-5:]) and index + 1 < len(lines) and len(parts) < _PARTS:
            index += 1
            parts.append(lines[index])
        index += 1
        text = " ".join(part.strip().rstrip("\\`").rstrip() for part in parts)
        row = next((row for row, part in enumerate(parts) if re.search(pattern, part)), 0)
        for window in _windows(text, pattern):
            if not is_shown(window, pattern):
                yield Command(window, first + begin + row, file)


def _windows(text: str, pattern: str) -> Iterator[str]:
    """Yield a command that matches; of a long one, up to 20 parts around its matches."""
    if len(text) <= MAX_LINE:
        yield from (text,) if re.search(pattern, text) else ()
        return
    place, left = 0, _WINDOWS
    while left and (found := re.compile(pattern).search(text, place)):
        start = max(0, found.start() - MAX_LINE // 2)
        yield text[start : start + MAX_LINE]
        place, left = start + MAX_LINE, left - 1


def _is_warned_of(document: Document, lines: list[str], block: CodeBlock) -> bool:
    """Whether the heading above a block, the text right before it or a comment at its start warns of what it shows."""
    place = bisect_right(document.headings, block.line, key=lambda heading: heading.line)
    heading = document.headings[place - 1].text if place else ""
    row = block.line - 2
    while row > 0 and not lines[row].strip():
        row -= 1
    above = " ".join(lines[max(0, row - 1) : row + 1])[-_AROUND:]
    comment = next((line for line in block.code.split("\n") if re.match(_COMMENT, line)), "")[:_AROUND]
    return any(re.search(WARNED, text) for text in (heading, above, comment))
