"""allowed-tools is not a single space-separated string.

Why:
    The specification requires that form, and every client accepts it. Claude Code also accepts commas and a YAML list
    (an info). A reader that splits at spaces finds a tool called `Read,` there, and the specification's validator
    rejects a list in brackets. A value that is neither a string nor a list of strings names no tool for any client
    (an error).

Bad:
    allowed-tools: {Read: true}

Good:
    allowed-tools: Read Grep Bash(git:*)

Source: Agent Skills specification, field `allowed-tools`; Claude Code documentation, skills, frontmatter reference.
"""

from skillgate.model.finding import Client, Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.static import Hits, rule


def find(skill: Skill) -> Hits:
    """Yield an error for a value that no client reads, an info for one that only Claude Code reads."""
    tools = skill.frontmatter.values.get("allowed-tools")
    span = Span(skill.frontmatter.line("allowed-tools"))
    if tools is None or (isinstance(tools, str) and not _has_commas(tools)):
        return
    if isinstance(tools, str):
        form = "allowed-tools contains commas"
    elif isinstance(tools, list) and all(isinstance(tool, str) for tool in tools):
        form = "allowed-tools is a list"
    else:
        message = "allowed-tools must be a single space-separated string; no client finds a tool in this value"
        yield Hit(span, message, severity=Severity.ERROR)
        return
    message = f"{form}; Claude Code accepts that, but the specification requires a single space-separated string"
    yield Hit(span, message)


def _has_commas(tools: str) -> bool:
    """Whether a comma is outside parentheses: those in ``Bash(a, b)`` belong to the pattern."""
    depth = 0
    for character in tools:
        if character == "," and depth <= 0:
            return True
        depth += (character == "(") - (character == ")")
    return False


RULE = rule(
    find,
    Severity.INFO,
    "spec",
    fix="write the tools on one line, separated by spaces: Read Grep Bash(git:*)",
    refused_by=(Client.SPEC,),
)
