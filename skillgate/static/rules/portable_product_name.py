"""Instructions that address one product by name.

Why:
    Other models also read "Claude should ask first"; "ask first" works for all of them. Silent if the skill or the file
    is about that product. Each paragraph is reported once. Opt-in: select `portability`.

Bad:
    Claude should ask before it deletes a file.

Good:
    Ask before deleting a file.

Source: Agent Skills specification: any client that knows the format can read a skill.
"""

import re

from skillgate.model.finding import Severity
from skillgate.model.skill import Skill
from skillgate.static import Hits, rule
from skillgate.static.text import hit

_PRODUCT = r"(?P<name>Claude|Codex|Copilot|Gemini|ChatGPT)"
_OTHER = _PRODUCT.replace("name", "other")
_ADDRESSED = (
    rf"\b{_PRODUCT} (?:should|must|needs to|has to|is expected to)\b"
    rf"|\b(?:[Tt]ell|[Aa]sk|[Hh]ave|[Ll]et) {_OTHER}\b"
)


def find(skill: Skill) -> Hits:
    """Yield one hit for each such paragraph."""
    for document in skill.documents:
        if re.search(_PRODUCT, document.text) is None:
            continue
        about = f"{skill.frontmatter.text('name')} {skill.frontmatter.text('description')} {document.file}".lower()
        for block in document.blocks:
            match = re.search(_ADDRESSED, block.text)
            name = (match["name"] or match["other"]) if match else ""
            if match and name.lower() not in about:
                line = block.line + block.text.count("\n", 0, match.start())
                yield hit(document, skill, line, f"these instructions address only {name}")


RULE = rule(find, Severity.INFO, "portability", fix="remove the name", optional=True)
