"""The name does not follow the naming rule of the specification.

Why:
    A name has 1 to 64 lower-case letters, digits and single hyphens, with no hyphen at either end. The specification's
    validator and uploads to claude.ai and the API reject any other name; Codex rejects one that is too long. Clients
    that accept it turn it into a command that users cannot type. The specification allows letters of any script,
    folded by NFKC; uploads require a to z.

Bad:
    name: PDF_Forms (v2)

Good:
    name: pdf-forms

Source: Agent Skills specification, field `name`, and its validator; quick_validate.py of the skill-creator in
anthropics/skills; the skills loader of openai/codex (MAX_NAME_LEN).
"""

from skillgate.model.finding import Client, Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.skill.frontmatter import MAX_NAME_LENGTH, name_defect
from skillgate.static import Hits, rule

_STRICT = (Client.SPEC, Client.CLAUDE_UPLOAD)
_UPLOAD = (Client.CLAUDE_UPLOAD,)


def find(skill: Skill) -> Hits:
    """Yield one hit that names the first rule broken."""
    name = skill.frontmatter.text("name")
    reason = name_defect(name) if name else None
    span = Span(skill.frontmatter.line("name"))
    if reason:
        too_long = len(name) > MAX_NAME_LENGTH
        who = "the specification, claude.ai" + (", the API and Codex" if too_long else " and the API")
        refused_by = (*_STRICT, Client.CODEX) if too_long else _STRICT
        yield Hit(span, f"name {reason}; {who} reject it", refused_by=refused_by, fix=_fix(skill.root.name))
    elif not name.isascii():
        message = "name has letters other than a to z; claude.ai and the API reject the upload"
        yield Hit(span, message, refused_by=_UPLOAD, about=_UPLOAD)


def _fix(directory: str) -> str | None:
    """Return the valid name that the directory suggests, if it has one."""
    return f"name it {directory}, as its directory" if directory and name_defect(directory) is None else None


RULE = rule(
    find,
    Severity.WARNING,
    "spec",
    fix="use 1 to 64 lower-case letters, digits and single hyphens",
    advice="name",
    refused_by=_STRICT,
)
