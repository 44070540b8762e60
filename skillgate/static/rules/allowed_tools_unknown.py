"""allowed-tools with a misspelt tool or unbalanced parentheses.

Why:
    A name that no tool has allows nothing: the client asks for permission at each call, or the skill stops where no one
    can be asked. Reported are names one edit away from a tool of Claude Code, a few old or wrong names (`List`), and
    parentheses that do not pair. Names of MCP servers, of other clients and of tools that resemble none are not.

Bad:
    allowed-tools: Raed Bash(git:* Grep

Good:
    allowed-tools: Read Bash(git:*) Grep

Source: Claude Code documentation, tools reference and permissions (as of 2026-11).
"""

import re

from skillgate.model.finding import Client, Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.static import Hits, rule
from skillgate.static.text import excerpt, one_edit_apart

TOOLS = (
    *("Agent", "Artifact", "AskUserQuestion", "Bash", "BashOutput", "CronCreate", "CronDelete", "CronList", "Edit"),
    *("EnterPlanMode", "EnterWorktree", "ExitPlanMode", "ExitWorktree", "Glob", "Grep", "KillBash", "KillShell", "LS"),
    *("LSP", "ListMcpResourcesTool", "Monitor", "MultiEdit", "NotebookEdit", "NotebookRead", "PowerShell", "Read"),
    *("ReadMcpResourceTool", "SendMessage", "Skill", "SlashCommand", "Task", "TaskCreate", "TaskGet", "TaskList"),
    *("TaskOutput", "TaskStop", "TaskUpdate", "TeamCreate", "TeamDelete", "TodoRead", "TodoWrite", "ToolSearch"),
    *("WebFetch", "WebSearch", "Workflow", "Write", "Computer"),
)
_WRONG = {
    "List": "Glob",
    "ListFiles": "Glob",
    "Search": "Grep",
    "Shell": "Bash",
    "Terminal": "Bash",
    "Fetch": "WebFetch",
}
_OTHERS = frozenset(("Reads", "Batch", "Grip", "Globe", "Tasks", "Ask"))  # words that a client may call a tool
_TOOL = r"(?P<name>[A-Za-z_][\w.*:-]*)(?:\([^()]*\))?"
_SHORTEST = 4  # letters of a name that can be misspelt
_LONGEST = 10_000
FIELDS = ("allowed-tools", "disallowed-tools")


def find(skill: Skill) -> Hits:
    """Yield one hit for each such name, and one for parentheses."""
    head = skill.frontmatter
    for field in FIELDS:
        value = head.values.get(field)
        entries = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        texts = [entry[:_LONGEST] for entry in entries[:_LONGEST] if isinstance(entry, str)]
        span = Span(head.line(field))
        unpaired = next((text for text in texts if _is_unpaired(text)), None)
        if unpaired is not None:
            yield Hit(
                span,
                f"{field} has parentheses that do not pair: {excerpt(unpaired)}",
                fix="close each pattern: Bash(git:*)",
            )
        for name in dict.fromkeys(match["name"] for text in texts for match in re.finditer(_TOOL, _plain(text))):
            meant = None if name in TOOLS or name in _OTHERS else _meant(name)
            if meant is not None:
                yield Hit(
                    span,
                    f"{field} names {excerpt(name)!r}, which is no tool; did you mean {meant}?",
                    fix=f"write {meant}",
                )


def _plain(text: str) -> str:
    """Blank out what is within parentheses, at any depth."""
    depth, kept = 0, []
    for character in text:
        depth = max(0, depth - (character == ")"))
        kept.append(" " if depth or character == ")" else character)
        depth += character == "("
    return "".join(kept)


def _is_unpaired(text: str) -> bool:
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return True
    return depth != 0


def _meant(name: str) -> str | None:
    if name.startswith("mcp_") or len(name) < _SHORTEST:
        return None
    wrong = _WRONG.get(name)
    return wrong or next((tool for tool in TOOLS if len(tool) >= _SHORTEST and one_edit_apart(name, tool)), None)


RULE = rule(find, Severity.WARNING, "spec", fix="write the tool's own name", about=(Client.CLAUDE_CODE,))
