"""What a session in the harness may do: load skills, and read files of skills up to a size; and no command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skillgate.llm.agent_place import Place

_MOST_READ = 200_000  # bytes of a skill's files that one session may be shown
_MOST_LOADS = 8  # calls of Skill in one session


class Guard:
    """Says which calls of tools a session may make: skills, and files of skills up to a size."""

    def __init__(self, place: Place) -> None:
        """Take where the session takes place."""
        self._place = place
        self._left = _MOST_READ
        self._loads = _MOST_LOADS

    async def judged(self, call: Any, _id: str | None, _context: Any) -> Any:  # noqa: ANN401 - the SDK's unions
        """Answer the harness's question before a call."""
        given = call.get("tool_input")
        name, given = call.get("tool_name"), given if isinstance(given, dict) else {}
        if name == "Skill":
            self._loads -= 1
            return _verdict(None if self._loads >= 0 else "too many skills were loaded")
        if name != "Read":
            return _verdict("there are the tools Skill and Read alone")
        path = self._place.found(given.get("file_path"))
        if path is None:
            return _verdict("there is no such file of a skill; only those can be read")
        self._left -= os.stat(path).st_size  # noqa: PTH116 - found above, and nobody removes it
        if self._left < 0:
            return _verdict("too much was read in this session")
        return _verdict(None, updatedInput={**given, "file_path": path})  # what was looked at is what is read


def _verdict(refusal: str | None, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    decided = {"permissionDecision": "allow"} if refusal is None else {"permissionDecision": "deny"}
    reason = {} if refusal is None else {"permissionDecisionReason": refusal}
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decided, **reason, **more}}


def spoken(prompt: str) -> str:
    """Give what a user says as the harness is told it: a line goes before a slash, so that it is no command."""
    return f"\n{prompt}" if prompt.lstrip().startswith("/") else prompt
