"""A code block that does not parse as the language it names.

Why:
    Code blocks are copied, run and imitated. If the parser for Python, JSON, TOML or YAML rejects a block, the block is
    broken or in another language. Silent if a document shows such code on purpose: the heading, the line above or a
    comment in the block calls it wrong, bad, broken or something to avoid. Also silent: templates and placeholders,
    transcripts, diffs, JSON with comments or as lines, several documents in one block, lines cut out of a larger file,
    and code for another version of Python. Python signatures such as `fill(form: str) -> bool` are no broken code, and
    neither is JSON in an HTTP message.

Bad:
    ```json
    {name: 'pdf-forms'}
    ```

Good:
    ```json
    {"name": "pdf-forms"}
    ```

Source: the parsers of the Python standard library for Python, JSON and TOML, and PyYAML for YAML 1.1.
"""

import re
from bisect import bisect_left

from skillgate.model.finding import Severity
from skillgate.model.skill import CodeBlock, Document, Skill
from skillgate.static import Hits, rule
from skillgate.static.code import certain_error
from skillgate.static.text import hit

MAX_PARSED = 1 << 18  # characters of code that are parsed in one document
_WRONG = r"(?i)\b(?:bad|wrong|invalid|incorrect|broken|don['’]?t|do not|avoid|never|anti-?\s?patterns?)\b|❌|🚫"
_COMMENT = r"(?m)(?:#|//|/\*|<!--)(.*)$"
_SHOWN = {"py": "Python", "python3": "Python", "python": "Python", "yml": "YAML"}


def find(skill: Skill) -> Hits:
    """Yield one hit at the opening fence of each such block."""
    for document in skill.documents:
        yield from _in(document, skill)


def _in(document: Document, skill: Skill) -> Hits:
    parsed = 0
    lines: list[str] = []
    for block in document.code_blocks:
        parsed += len(block.code)
        if not block.closed or parsed > MAX_PARSED:
            continue  # an unclosed block is a finding of its own
        reason = certain_error(block.language, block.code)
        if reason is None:
            continue
        lines = lines or document.text.split("\n")
        if not _is_warned_of(document, lines, block):
            name = _SHOWN.get(block.language, block.language.upper())
            yield hit(document, skill, block.line, f"this block does not parse as {name}: {reason}")


def _is_warned_of(document: Document, lines: list[str], block: CodeBlock) -> bool:
    """Whether the heading above a block, the last line before it or a comment in it calls it wrong."""
    place = bisect_left(document.headings, block.line, key=lambda heading: heading.line)
    heading = document.headings[place - 1].text if place else ""
    row = block.line - 2
    while row > 0 and not lines[row].strip():
        row -= 1
    if re.search(_WRONG, heading) or (row >= 0 and re.search(_WRONG, lines[row])):
        return True
    return any(re.search(_WRONG, comment) for comment in re.findall(_COMMENT, block.code))


RULE = rule(find, Severity.WARNING, "code", fix="fix the block, or name its real language", advice="syntax")
