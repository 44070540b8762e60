"""The main file is longer than the specification recommends.

Why:
    The specification recommends fewer than 500 lines in SKILL.md and fewer than 5,000 tokens below the frontmatter,
    since all of it is loaded each time the skill is used. Claude Code keeps 5,000 tokens of a skill when it compacts a
    conversation. Tokenisers differ: such text has 2.6 to 4 characters per token. This rule counts 4 characters, so it
    reports only text that is over the limit for all of them. It is a recommendation, not a defect. If BLOATED_SKILL
    reports the file, this rule is silent.

Bad:
    SKILL.md of 640 lines with the reference of every option

Good:
    SKILL.md of 300 lines that links `references/options.md`

Source: Agent Skills specification, section on progressive disclosure.
"""

from skillgate.model.finding import Hit, Severity
from skillgate.model.skill import BLOAT_LINES, Skill, Span
from skillgate.static import Hits, rule
from skillgate.static.rules import BODY_LINES, BODY_TOKENS, CHARACTERS_PER_TOKEN


def find(skill: Skill) -> Hits:
    """Yield one hit at the first line of the body."""
    if not skill.documents or (skill.effective_lines > BLOAT_LINES and not skill.references):
        return
    main = skill.documents[0]
    lines = main.text.removesuffix("\n").count("\n") + 1
    tokens = _characters(main.text, main.first_line) // CHARACTERS_PER_TOKEN
    if lines > BODY_LINES:
        message = f"the file is {lines:,} lines long (the specification recommends fewer than {BODY_LINES})"
    elif tokens > BODY_TOKENS:
        message = (
            f"the body is about {tokens:,} tokens long, at {CHARACTERS_PER_TOKEN} characters each"
            f" (the specification recommends fewer than {BODY_TOKENS:,})"
        )
    else:
        return
    yield Hit(Span(main.first_line), message)


def _characters(text: str, first_line: int) -> int:
    """Count the characters from a line on, without white space at the end."""
    start = 0
    for _ in range(first_line - 1):
        start = text.find("\n", start) + 1
    return len(text[start:].rstrip())


RULE = rule(find, Severity.INFO, "spec", fix="move what is needed only sometimes to references/, and link to it")
