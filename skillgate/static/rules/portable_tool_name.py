"""Instructions that use one client's name for a tool.

Why:
    `TodoWrite`, `the Task tool` or `mcp__github__create_issue` exist under these names in one client only. Elsewhere a
    model looks for a tool that it does not have. Silent: tables and files that translate names (`codex-tools.md`),
    lists in one code span, and skills about that client. Each name is reported once. Opt-in: select `portability`.

Bad:
    Call TodoWrite with one entry for each step.

Good:
    Keep a list of the steps and tick them off.

Source: tool names of the Claude Code documentation; the Agent Skills specification names no tools.
"""

import re

from skillgate.model.finding import Severity
from skillgate.model.skill import Skill, Span
from skillgate.static import Hits, rule
from skillgate.static.text import hit, without_fences

_NAMES = (
    *("TodoWrite", "TodoRead", "WebFetch", "WebSearch", "AskUserQuestion", "NotebookEdit", "ExitPlanMode"),
    *("EnterPlanMode", "MultiEdit", "BashOutput", "KillShell", "SlashCommand"),
)
_COMMON = ("Task", "Agent", "Skill", "Read", "Write", "Edit", "Bash", "Glob", "Grep")  # only with the word "tool"
_TOOL = (
    rf"\b(?:{'|'.join(_NAMES)})\b|\bmcp__\w+"
    rf"|(?:[`*]{{1,2}}\b|\bthe )(?:{'|'.join(_COMMON)})(?:`|\*\*)? tools?\b"
)
_WORDS = (*_NAMES, "mcp__", *(f"{name}{mark} tool" for name in _COMMON for mark in ("", "`", "**")))
_LISTED = r"`[^`\n]+`|\((?:e\.g\.|such as|like)[^()\n]*\)"  # a list of tools, or an example of a name
_ABOUT = r"claude code|\bhooks?\b|permission|agent teams?|settings"


def find(skill: Skill) -> Hits:
    """Yield one hit for each tool, where it is first named outside of fenced code and tables."""
    about = f"{skill.frontmatter.text('name')} {skill.frontmatter.text('description')}".lower()
    if re.search(_ABOUT, about):
        return
    seen: set[str] = set()
    for document in skill.documents:
        if document.file.endswith("-tools.md") or not any(word in document.text for word in _WORDS):
            continue
        for row, line in enumerate(without_fences(document).split("\n"), start=1):
            if line.lstrip().startswith(("|", "#")):
                continue
            for match in re.finditer(_TOOL, re.sub(_LISTED, _blanked, line)):
                name = match[0].removeprefix("the ").replace("`", "").replace("*", "")
                if name not in seen:
                    seen.add(name)
                    yield hit(document, skill, Span(row, match.start() + 1), f"{name} is a tool of only one client")


def _blanked(part: re.Match[str]) -> str:
    """Replace a list of tools or an example with spaces; a code span of one or two words stays."""
    return part[0] if part[0][0] == "`" and part[0].count(" ") < 2 else " " * len(part[0])


RULE = rule(find, Severity.WARNING, "portability", fix="say what to do, not which tool does it", optional=True)
