"""hooks with an event that no client has.

Why:
    Claude Code runs the hooks of a skill while it is active. A hook for a misspelt event never runs, and nothing says
    so: the check that it was meant to be does not happen. Events are compared with letter case.

Bad:
    hooks:
      PreToolUsee: …

Good:
    hooks:
      PreToolUse: …

Source: Claude Code documentation, hooks reference (as of 2026-11).
"""

from skillgate.model.finding import Client, Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.static import Hits, rule
from skillgate.static.text import excerpt, one_edit_apart

EVENTS = (
    *("PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionRequest", "PermissionDenied"),
    *("Notification", "UserPromptSubmit", "UserPromptExpansion", "Stop", "StopFailure", "SubagentStart"),
    *("SubagentStop", "PreCompact", "PostCompact", "Elicitation", "ElicitationResult", "TeammateIdle", "TaskCreated"),
    *("TaskCompleted", "Setup", "InstructionsLoaded", "CwdChanged", "FileChanged", "ConfigChange", "WorktreeCreate"),
    *("WorktreeRemove", "SessionStart", "SessionEnd", "PreModelSwitch", "PostModelSwitch", "MessageDisplay"),
    *("DirectoryAdded", "description"),
)
_MAX = 100


def find(skill: Skill) -> Hits:
    """Yield one hit for each event that resembles a known one."""
    hooks = skill.frontmatter.values.get("hooks")
    if not isinstance(hooks, dict):
        return
    lines = skill.documents[0].text.split("\n")[: skill.documents[0].first_line]
    for event in [str(key) for key in hooks][:_MAX]:
        meant = None if event in EVENTS else next((one for one in EVENTS if _is_alike(event, one)), None)
        if meant is not None:
            rows = (row for row, line in enumerate(lines, start=1) if line.strip().startswith(f"{event}:"))
            place = Span(next(rows, skill.frontmatter.line("hooks")))
            yield Hit(
                place,
                f"{excerpt(event)!r} is no event, so its hooks never run; did you mean {meant}?",
                fix=f"write {meant}",
            )


def _is_alike(event: str, known: str) -> bool:
    plain, other = (text.lower().replace("_", "").replace("-", "") for text in (event, known))
    return plain == other or one_edit_apart(plain, other)


RULE = rule(find, Severity.WARNING, "spec", fix="use the name of an event", about=(Client.CLAUDE_CODE,))
