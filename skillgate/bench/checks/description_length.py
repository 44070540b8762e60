"""The description: 20 to 1,024 characters that somebody wrote for this skill."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.bench.checks._found import Found, prose

if TYPE_CHECKING:
    from skillgate.bench.checks._found import Subject

LEAST, MOST = 20, 1_024  # characters; the upper one is the specification's of SKILL.md
# What templates of skills begin with: nobody has described anything yet.
_TEMPLATE = re.compile(
    r"\b(todo|fixme|tbd|lorem ipsum|changeme|replace (this|me|with)|your description|description (goes )?here"
    r"|describe (what )?(this|your|the) skill|(a )?(brief|short) description of|template skill|my first skill)\b",
    re.IGNORECASE,
)


def check(skill: Subject) -> Found:
    """Check one skill; what is too short has the share of its length, what is too long a half."""
    found = prose(skill)
    text = (skill.spec.description if found is None else found.frontmatter.text("description")).strip()
    template = _TEMPLATE.search(text)
    if template is not None:
        return Found(0.0, (f"the description still has a template's words: {template[0]!r}",))
    if len(text) < LEAST:
        return Found(round(len(text) / LEAST, 4), (f"the description has {len(text)} characters, at least {LEAST}",))
    if len(text) > MOST:
        return Found(0.5, (f"the description has {len(text):,} characters, at most {MOST:,}",))
    return Found(1.0, ())
