"""A code block does not parse as the language it names.

Why:
    What stands in a code block is copied, run and imitated. A block of Python, JSON, TOML or YAML that its own parser
    refuses is either broken or of another language. Silent where a document shows such a thing on purpose: templates
    and placeholders, transcripts, diffs, JSON with comments or as lines, several documents in one block, lines cut
    out of a larger file, code of another version of Python.

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

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.finding import Rule, Severity
from skillgate.static.certain_syntax import certain_error
from skillgate.static.passages import hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.finding import Hit
    from skillgate.model.skill import Document, Skill

MAX_PARSED = 1 << 18  # characters of code that are parsed in one document
_SHOWN = {"py": "Python", "python3": "Python", "python": "Python", "yml": "YAML"}


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit at the opening fence of each such block."""
    for document in skill.documents:
        yield from _in(document, skill)


def _in(document: Document, skill: Skill) -> Iterator[Hit]:
    parsed = 0
    for block in document.code_blocks:
        parsed += len(block.code)
        if not block.closed or parsed > MAX_PARSED:
            continue  # an unclosed block is a finding of its own
        reason = certain_error(block.language, block.code)
        if reason is not None:
            name = _SHOWN.get(block.language, block.language.upper())
            yield hit(document, skill, block.line, f"this block does not parse as {name}: {reason}")


RULE = Rule(
    id="CODE_SYNTAX",
    severity=Severity.WARNING,
    summary="a code block does not parse as the language it names",
    fix="mend the block, or name the language it is in",
    find=find,
    group="code",
    advice="syntax",
)
