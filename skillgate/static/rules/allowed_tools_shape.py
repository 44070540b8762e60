"""The field allowed-tools is not one text with tools separated by blanks.

Why:
    That is the form of the specification, and the one that every client takes. Claude Code also takes commas and a YAML
    list (an info); a reader that splits at blanks finds a tool called `Read,` there, and the specification's validator
    refuses a list in brackets. What is neither text nor a list of texts names no tool to anybody (an error).

Bad:
    allowed-tools: {Read: true}

Good:
    allowed-tools: Read Grep Bash(git:*)

Source: Agent Skills specification, field `allowed-tools`; Claude Code documentation, skills, frontmatter reference.
"""

from __future__ import annotations

from collections.abc import Iterator

from skillgate.model.finding import Client, Hit, Rule, Severity
from skillgate.model.skill import Skill, Span


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit: an error for what no client reads, an info for what only Claude Code does."""
    tools = skill.frontmatter.values.get("allowed-tools")
    span = Span(skill.frontmatter.line("allowed-tools"))
    if tools is None or (isinstance(tools, str) and not _has_commas(tools)):
        return
    if isinstance(tools, str):
        form = "allowed-tools has commas"
    elif isinstance(tools, list) and all(isinstance(tool, str) for tool in tools):
        form = "allowed-tools is a list"
    else:
        message = "allowed-tools is neither text nor a list of texts; no client finds a tool in it"
        yield Hit(span, message, severity=Severity.ERROR)
        return
    message = f"{form}: Claude Code takes that, the specification wants one text with blanks between the tools"
    yield Hit(span, message)


def _has_commas(tools: str) -> bool:
    """Whether a comma stands outside parentheses: those in ``Bash(a, b)`` belong to the pattern."""
    depth = 0
    for character in tools:
        if character == "," and depth <= 0:
            return True
        depth += (character == "(") - (character == ")")
    return False


RULE = Rule(
    id="ALLOWED_TOOLS_SHAPE",
    severity=Severity.INFO,
    summary="allowed-tools is not one text with tools separated by blanks",
    fix="write the tools in one line with blanks between them: Read Grep Bash(git:*)",
    find=find,
    group="spec",
    refused_by=(Client.SPEC,),
)
