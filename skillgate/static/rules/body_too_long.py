"""The file is longer than the specification advises.

Why:
    It advises fewer than 500 lines in SKILL.md and fewer than 5,000 tokens below the frontmatter, since all of it is
    loaded each time the skill is used; Claude Code keeps 5,000 tokens of a skill when it compacts a conversation. How
    many tokens a text has depends on the tokeniser: 2.6 to 4 characters each, on such text. This counts four, and so
    speaks only where every one of them is over the limit. Advice, not a defect. What BLOATED_SKILL says more sharply is
    not said twice.

Bad:
    SKILL.md of 640 lines with the reference of every option

Good:
    SKILL.md of 300 lines that links `references/options.md`

Source: Agent Skills specification, section on progressive disclosure.
"""

from __future__ import annotations

from collections.abc import Iterator

from skillgate.model.finding import Hit, Rule, Severity
from skillgate.model.skill import BLOAT_LINES, Skill, Span
from skillgate.static.rules import BODY_LINES, BODY_TOKENS, CHARACTERS_PER_TOKEN


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit at the first line of the body."""
    if not skill.documents or (skill.effective_lines > BLOAT_LINES and not skill.references):
        return
    main = skill.documents[0]
    lines = main.text.removesuffix("\n").count("\n") + 1
    tokens = _characters(main.text, main.first_line) // CHARACTERS_PER_TOKEN
    if lines > BODY_LINES:
        message = f"the file has {lines:,} lines; the specification advises fewer than {BODY_LINES}"
    elif tokens > BODY_TOKENS:
        message = (
            f"the body has about {tokens:,} tokens at {CHARACTERS_PER_TOKEN} characters each;"
            f" the specification advises fewer than {BODY_TOKENS:,}"
        )
    else:
        return
    yield Hit(Span(main.first_line), message)


def _characters(text: str, first_line: int) -> int:
    """Count the characters from a line on, without blank ones at the end."""
    start = 0
    for _ in range(first_line - 1):
        start = text.find("\n", start) + 1
    return len(text[start:].rstrip())


RULE = Rule(
    id="BODY_TOO_LONG",
    severity=Severity.INFO,
    summary="longer than the specification advises",
    fix="move what is only sometimes needed to references/ and link it where it is",
    find=find,
    group="spec",
)
