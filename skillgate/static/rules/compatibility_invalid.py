"""compatibility is empty or longer than 500 characters.

Why:
    The specification allows 1 to 500 characters if the field is present. Its validator rejects a longer value, but
    accepts an empty one, contrary to its text. The check before an upload rejects both. FIELD_TYPE reports a value that
    is not a string.

Bad:
    compatibility: ""

Good:
    compatibility: Requires git, docker and access to the internet

Source: Agent Skills specification, field `compatibility`; quick_validate.py of the skill-creator in anthropics/skills.
"""

from skillgate.model.finding import Client, Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.static import Hits, rule

MAX_CHARACTERS = 500


def find(skill: Skill) -> Hits:
    """Yield one hit; none where the field is absent or of another type."""
    head = skill.frontmatter
    value = head.values.get("compatibility", 0)
    if not isinstance(value, str | None):
        return
    length = len((value or "").strip())
    span = Span(head.line("compatibility"))
    reject = "the specification and uploads to claude.ai and the API reject this"
    if not length:
        yield Hit(span, f"compatibility is empty; {reject}", fix="remove the field, or fill it in")
    elif length > MAX_CHARACTERS:
        yield Hit(span, f"compatibility is {length:,} characters long (maximum {MAX_CHARACTERS}); {reject}")


RULE = rule(
    find,
    Severity.WARNING,
    "spec",
    fix="say in one sentence what the skill needs; move the rest into the instructions",
    refused_by=(Client.SPEC, Client.CLAUDE_UPLOAD),
)
