"""A misspelt name in the field `model`.

Why:
    Claude Code takes an alias such as `sonnet`, or the id of a model. A misspelt alias is an id that no one serves: the
    skill fails when it is called. Ids of any vendor, and names that resemble no alias, are not reported.

Bad:
    model: sonet

Good:
    model: sonnet

Source: Claude Code documentation, model configuration (as of 2026-11).
"""

from skillgate.model.finding import Client, Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.static import Hits, rule
from skillgate.static.text import excerpt, one_edit_apart

ALIASES = ("sonnet", "opus", "haiku", "fable", "inherit", "default", "opusplan", "best")


def find(skill: Skill) -> Hits:
    """Yield a hit if the value is one edit away from an alias, or is one in other letters or a wrong form."""
    head = skill.frontmatter
    value = head.values.get("model")
    span = Span(head.line("model"))
    if value is not None and not isinstance(value, str):
        yield Hit(span, "model is not a single name", fix="write one model: model: sonnet")
        return
    name = head.text("model").partition("[")[0].strip()
    if name in ALIASES:
        return
    meant = next((alias for alias in ALIASES if name.lower() == alias or one_edit_apart(name.lower(), alias)), None)
    if meant is not None:
        yield Hit(span, f"model is {excerpt(name)!r}, which is no model; did you mean {meant!r}?", fix=f"write {meant}")


RULE = rule(
    find,
    Severity.WARNING,
    "spec",
    fix="use an alias such as sonnet, or the id of a model",
    about=(Client.CLAUDE_CODE,),
)
