r"""A `$1` that Claude Code replaces with an argument.

Why:
    Before a model reads a skill, Claude Code replaces `$0`, `$1` … in the body of SKILL.md with the words of the
    arguments, counted from 0, and `$ARGUMENTS` with all of them. It replaces plain text, in fenced code and code spans
    as well as in prose, and the user or model that invokes the skill may pass any words. So `awk '{print $1}'` becomes
    `awk '{print forms}'`, and `$2.5M` becomes the third word with `.5M`. A dollar sign with digits is replaced if no
    letter or digit follows (`$5K` is not replaced) and there are enough words. Without arguments the text does not
    change, and neither does `$29` with fewer than 30. Only `$0` to `$9` are reported. `\$1` is an escape and arrives as
    `$1`; `${1}` is never replaced. Silent if it is intended: the frontmatter declares `arguments` or an
    `argument-hint`, the body uses `$ARGUMENTS`, or its prose names `$1`. In such a skill only sums of money and awk
    fields are reported. In any other skill a line with a sum of money alone is an info, since it changes only if
    somebody passes arguments. Claude Code does not rewrite other files of the skill.

Bad:
    Take the first column: `awk '{print $1}' fields.txt`

Good:
    Take the first column: `cut -f1 fields.txt`

Source: Claude Code documentation, skills, available string substitutions; anthropics/claude-code issues 78759, 94709.
"""

import re

from skillgate.model.finding import Client, Hit, Severity
from skillgate.model.skill import Document, Skill, Span
from skillgate.static import Hits, rule
from skillgate.static.text import is_absent

_PLACEHOLDER = r"(?<!\\)\$(\d)(?!\w)"
_MONEY = r"(?:[.,]\d|[ ]?(?:million|billion|thousand|bn|per\b|USD)|/[a-z])"
_LONGEST_UNIT = 12  # characters of what follows a sum of money, and more
_DECLARED = ("argument-hint", "arguments")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def find(skill: Skill) -> Hits:
    """Yield one hit for each line, at its first placeholder."""
    document = skill.documents[0] if skill.documents else None
    if document is None or "$" not in document.text:
        return
    meant = _is_meant(skill, document)
    lines = document.text.split("\n")
    for row in range(document.first_line - 1, len(lines)):
        match = _first(lines[row], meant=meant) if "$" in lines[row] else None
        if match is not None:
            digit = match[1]
            severity = Severity.INFO if not meant and _is_money(lines[row], match) else None
            fix = rf"write \${digit}, avoid a dollar sign before a digit, or move the code to a script"
            yield Hit(Span(row + 1, match.start() + 1), _message(digit), severity=severity, fix=fix)


def _first(line: str, *, meant: bool) -> re.Match[str] | None:
    """Find the first placeholder of a line that its author did not mean, in one pass from left to right.

    Without a meant one, a sum of money comes last.
    """
    awk, money = _Awk(line), None
    for match in re.finditer(_PLACEHOLDER, line):
        if _is_money(line, match):
            if meant:
                return match
            money = money or match
        elif not meant or awk.holds(match.start()):
            return match
    return money


class _Awk:
    """Whether places of a line, asked for from left to right, are in a program for awk."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._seen = 0
        self._named = self._quoted = False

    def holds(self, position: int) -> bool:
        """Whether a place is behind ``awk`` and in single quotes that open behind it."""
        begin = self._line.rfind("awk ", max(0, self._seen - 3), position)
        if begin >= 0:
            self._named, self._quoted, self._seen = True, False, begin
        if self._line.count("'", self._seen, position) % 2:
            self._quoted = not self._quoted
        self._seen = position
        return self._named and self._quoted


def _message(digit: str) -> str:
    return f"Claude Code replaces ${digit} with the {_ORDINALS[int(digit)]} argument, also in code"


def _is_meant(skill: Skill, document: Document) -> bool:
    """Whether the author uses the substitution, so that a placeholder may be intended."""
    if any(key in skill.frontmatter.values for key in _DECLARED):
        return True
    if not skill.frontmatter.valid and not is_absent(skill):
        return True  # its declarations are unknown
    if re.search(r"(?<!\\)\$ARGUMENTS\b", document.text):
        return True
    texts = (text for block in document.blocks for text in block.text.split("\n"))
    return any(not _is_money(text, match) for text in texts if "$" in text for match in re.finditer(_PLACEHOLDER, text))


def _is_money(line: str, match: re.Match[str]) -> bool:
    """Whether a placeholder is a sum of money, such as ``$2.5M`` or ``$3/month``."""
    return bool(re.match(_MONEY, line[match.end() : match.end() + _LONGEST_UNIT]))


RULE = rule(
    find,
    Severity.WARNING,
    "code",
    fix=r"write \$1, avoid a dollar sign before a digit, or move the code to a script",
    about=(Client.CLAUDE_CODE,),
)
