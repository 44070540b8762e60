"""A frontmatter field that the specification does not define.

Why:
    The specification's validator and uploads to claude.ai and the API reject the skill. Other clients ignore the field,
    so a misspelt one does nothing, without a message. Put your own fields under metadata. Fields that Claude Code
    supports are an info: they work there, and other clients reject or ignore them.

Bad:
    version: 1.2.0

Good:
    metadata:
      version: "1.2.0"

Source: Agent Skills specification, frontmatter; its validator (ALLOWED_FIELDS); quick_validate.py of the skill-creator
in anthropics/skills; Claude Code documentation, skills, frontmatter reference (as of 2026-11).
"""

from skillgate.model.finding import Client, Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.static import Hits, rule
from skillgate.static.rules import CLAUDE_CODE, SPECIFIED
from skillgate.static.text import excerpt

_ALSO = {"tools": "allowed-tools"}  # what sub-agents call it
_LONG = 7  # letters; shorter words are similar by chance
_NEAR = 0.85  # difflib's ratio: one letter in seven


def find(skill: Skill) -> Hits:
    """Yield one hit for each field, at its line."""
    for key in skill.frontmatter.values:
        if key not in SPECIFIED:
            yield _hit(key, Span(skill.frontmatter.line(key)))


def _hit(key: str, span: Span) -> Hit:
    reject = "the specification's validator and uploads to claude.ai and the API reject it"
    if key in CLAUDE_CODE:
        fix = "keep it if only Claude Code reads the skill; remove it before you share or upload the skill"
        message = f"{key} is a Claude Code field; {reject}"
        others = tuple(client for client in Client if client is not Client.CLAUDE_CODE)
        return Hit(span, message, severity=Severity.INFO, fix=fix, about=others)
    meant = _meant(key)
    shown = excerpt(key)
    if meant:
        message = f"unknown field {shown!r} (did you mean {meant!r}?); {reject}"
        return Hit(span, message, fix=f"rename it to {meant}, or move it under metadata")
    return Hit(span, f"field {shown!r} is not in the specification; {reject}")


def _meant(key: str) -> str | None:
    """Return the known field that a misspelt one means: equal but for case and hyphens, or nearly so if long."""
    known = (*SPECIFIED, *CLAUDE_CODE)
    folded = {_fold(name): name for name in known} | _ALSO
    word = _fold(key)
    if word in folded:
        return folded[word]
    if len(word) > max(map(len, folded)) + 2:
        return None
    import difflib  # only on the way to a finding

    near = difflib.get_close_matches(word, [name for name in folded if len(name) >= _LONG], n=1, cutoff=_NEAR)
    return folded[near[0]] if near else None


def _fold(key: str) -> str:
    return key.lower().replace("-", "").replace("_", "").replace(" ", "")


RULE = rule(
    find,
    Severity.WARNING,
    "spec",
    fix="move it under metadata",
    refused_by=(Client.SPEC, Client.CLAUDE_UPLOAD),
)
