"""Much of the text is filler: repetition, templates, or words in no order.

Why:
    Filler costs tokens on every load, hides the instructions, and no score counts it. Blocks that repeat an
    earlier one are found, and phrases and sentences that repeat with other numbers or names. So are words in no order,
    and runs of blocks that share no word with the rest of the skill. The finding needs 40 words and a fifth of the
    text. Where the language is not recognised there is none.

Bad:
    Remember to look at item 1 with care. Remember to look at item 2 with care. Remember to look at item 3 with care. …

Good:
    Look at each item with care: a missing date means that the export was cut.

Source: guidance for authors of skills (Anthropic, Skill authoring best practices: "concise is key").
"""

from __future__ import annotations

from collections.abc import Iterator

from skillgate.model.finding import Hit, Rule, Severity
from skillgate.model.skill import Skill, Span
from skillgate.static.substance import substance


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit at the first filler, with its share."""
    text = substance(skill)
    if text.much_filler:
        line, kind = text.filler[0]
        share = f"{text.filler_words / text.words:.0%} of the text is filler"
        yield Hit(Span(line), f"{share} ({len(text.filler)} blocks; the first is {_NAMES.get(kind, kind)})")


_NAMES = {"no words": "without words"}

RULE = Rule(
    id="FILLER_TEXT",
    severity=Severity.WARNING,
    summary="much of the text is repetition, a template, or words in no order",
    fix="remove it; say once what is specific to this skill",
    find=find,
    advice="filler",
    group="text",
)
