"""Sessions as Claude Code writes them down, entry by entry: the shape of real ones, with nothing real in them.

Each entry is one second after the one before. What is not said takes the place of what a plain session holds.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Self

from skillgate.invocations.formats import Options, claude_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillgate.model.invocation import Invocation, Read

BEGAN = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
NOW = datetime(2026, 11, 24, tzinfo=UTC)
SESSION = "207dc2f4-5f09-4c58-830c-baf1f3428cb8"
MODEL = "claude-sonnet-5-5"


class Transcript:
    """One file of a session, or of a sub-agent of it where ``agent`` is its id.

    Attributes:
        lines: what was written so far.
        last: the id of the last entry.
    """

    def __init__(self, session: str = SESSION, *, agent: str = "", tag: str = "e", entrypoint: str = "cli") -> None:
        self.session, self.agent, self._tag, self._entrypoint = session, agent, tag, entrypoint
        self.lines: list[bytes] = []
        self.last: str | None = None
        self._told = 0
        self._at = BEGAN

    def entry(self, kind: str, **fields: Any) -> Self:
        """Write an entry; a field that is None is left out, but for ``parentUuid``."""
        self._told += 1
        self._at += timedelta(seconds=1)
        uuid = f"{self._tag}{self._told:04}-0000-4000-8000-000000000000"
        envelope = {
            "parentUuid": self.last,
            "isSidechain": bool(self.agent),
            "agentId": self.agent or None,
            "type": kind,
            "uuid": uuid,
            "timestamp": self._at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "userType": "external",
            "entrypoint": self._entrypoint,
            "cwd": "/home/user/project",
            "sessionId": self.session,
            "version": "2.1.330",
            "gitBranch": "main",
        }
        written = {**envelope, **fields}
        self.last = str(written["uuid"])
        return self.raw({name: value for name, value in written.items() if value is not None or name == "parentUuid"})

    def raw(self, line: bytes | Mapping[str, Any]) -> Self:
        """Write a line as it is given."""
        self.lines.append(line if isinstance(line, bytes) else json.dumps(line, separators=(",", ":")).encode())
        return self

    def wait(self, seconds: float) -> Self:
        """Let time pass."""
        self._at += timedelta(seconds=seconds)
        return self

    def user(self, content: object, **fields: Any) -> Self:
        """Write what is the user's to say, by whomever it was said."""
        return self.entry("user", message={"role": "user", "content": content}, **fields)

    def prompt(self, text: str = "join my exports", **fields: Any) -> Self:
        """Let the user ask something."""
        asked = {"permissionMode": "default", "promptSource": "typed", "origin": {"kind": "human"}}
        return self.user(text, **{**asked, **fields})

    def reply(
        self, *blocks: Mapping[str, Any], message: str = "", stop: str | None = "", usage: object = None, **fields: Any
    ) -> Self:
        """Let the model reply, in one entry."""
        ended = "tool_use" if any(one["type"] == "tool_use" for one in blocks) else "end_turn"
        said = {
            "id": message or f"msg_{self._tag}{self._told:04}",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": list(blocks),
            "stop_reason": ended if stop == "" else stop,
            "stop_sequence": None,
            "usage": usage or tokens(),
        }
        return self.entry("assistant", **{"message": said, **fields})

    def say(self, text: str = "Done.", **fields: Any) -> Self:
        """Let the model say something."""
        return self.reply({"type": "text", "text": text}, **fields)

    def result(self, call: str, content: object = "ok", *, error: bool = False, details: object = None) -> Self:
        """Give the result of a call."""
        block = {"type": "tool_result", "tool_use_id": call, "content": content, "is_error": error or None}
        told = {name: value for name, value in block.items() if value is not None}
        return self.user([told], toolUseResult=details, sourceToolAssistantUUID=self.last)

    def loaded(self, name: str, call: str) -> Self:
        """Give the result of a call for a skill, and the skill's text."""
        self.result(call, f"Launching skill: {name}", details={"success": True, "commandName": name})
        return self.body(name, sourceToolUseID=call)

    def body(self, name: str, **fields: Any) -> Self:
        """Put in a skill's text."""
        text = f"Base directory for this skill: /home/user/project/.claude/skills/{name}\n\n# {name}\n"
        return self.user([{"type": "text", "text": text}], isMeta=True, turnCompanion=True, **fields)

    def skill(self, name: str = "merge-sheets", call: str = "toolu_skill") -> Self:
        """Let the model load a skill: three entries."""
        return self.reply(use("Skill", call, skill=name)).loaded(name, call)

    def run(self, tool: str = "Bash", call: str = "toolu_run", *, error: bool = False, **given: Any) -> Self:
        """Let the model call a tool, and the call end well or not: two entries."""
        return self.reply(use(tool, call, **given)).result(call, "text", error=error)

    def write(self, path: str, content: str, call: str = "toolu_write") -> Self:
        """Let the model write a new file: two entries."""
        details = {"type": "create", "filePath": path, "content": content, "structuredPatch": [], "userModified": False}
        given = {"file_path": path, "content": content}
        return self.reply(use("Write", call, **given)).result(call, "File created", details=details)

    def edit(self, path: str, old: str, new: str, call: str = "toolu_edit") -> Self:
        """Let the model replace whole lines of a file: two entries."""
        given = {"file_path": path, "old_string": old, "new_string": new, "replace_all": False}
        lines = [" before", *(f"-{line}" for line in old.split("\n")), *(f"+{line}" for line in new.split("\n"))]
        patch = [{"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": lines}]
        details = {"filePath": path, "oldString": old, "newString": new, "structuredPatch": patch}
        return self.reply(use("Edit", call, **given)).result(call, "updated", details=details)

    def interrupt(self, *, in_call: bool = False) -> Self:
        """Let the user interrupt."""
        text = "[Request interrupted by user for tool use]" if in_call else "[Request interrupted by user]"
        return self.user([{"type": "text", "text": text}])

    def command(self, name: str) -> Self:
        """Let the user give a command that the model is to see."""
        tags = f"<command-message>{name}</command-message>\n<command-name>/{name}</command-name>"
        return self.user(f"{tags}\n<command-args>the third</command-args>")

    def local(self, name: str, printed: str = "Set.") -> Self:
        """Let the user give a command that Claude Code carries out by itself: three entries."""
        self.user("<local-command-caveat>Do not respond.</local-command-caveat>", isMeta=True)
        self.user(f"<command-name>/{name}</command-name>\n            <command-message>{name}</command-message>")
        return self.user(f"<local-command-stdout>{printed}</local-command-stdout>")

    def compact(self) -> Self:
        """Put a summary in the place of what came before: two entries."""
        data = {"trigger": "auto", "preTokens": 1000}
        self.entry(
            "system", subtype="compact_boundary", logicalParentUuid=self.last, parentUuid=None, compactMetadata=data
        )
        told = "This session is being continued from a previous conversation."
        return self.user(told, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def api_error(self) -> Self:
        """Let a reply fail."""
        said = {"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 529"}]}
        return self.entry("assistant", message=said, isApiErrorMessage=True, apiErrorStatus=529, error="server_error")

    def agent_call(self, prompt: str = "count it", call: str = "toolu_agent") -> Self:
        """Let the model open a sub-agent."""
        return self.reply(use("Agent", call, description="look", prompt=prompt, subagent_type="general-purpose"))

    def agent_done(self, agent: str, call: str = "toolu_agent") -> Self:
        """Give the result of a sub-agent."""
        details = {"status": "completed", "agentId": agent, "totalTokens": 5, "totalToolUseCount": 5}
        return self.result(call, [{"type": "text", "text": "report"}], details=details)

    def reads(self, files: Mapping[str, Transcript] | None = None, **changes: Any) -> list[Read]:
        """Read it, with the files that lie beside it."""

        def lines_beside(path: str) -> Iterator[tuple[int, bytes]] | None:
            found = (files or {}).get(path)
            return None if found is None else enumerate(found.lines, 1)

        options = Options(now=NOW, sibling=lines_beside)._replace(**changes)
        return list(claude_code.read(enumerate(self.lines, 1), options))

    def runs(self, files: Mapping[str, Transcript] | None = None, **changes: Any) -> list[Invocation]:
        """Read it where nothing is wrong with it."""
        found = self.reads(files, **changes)
        assert [one.problem for one in found if one.problem is not None] == []
        return [one.invocation for one in found if one.invocation is not None]

    @property
    def data(self) -> bytes:
        """The file."""
        return b"".join(line + b"\n" for line in self.lines)


def use(tool: str, call: str = "toolu_1", **given: object) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": tool, "input": given}


def tokens(fresh: int = 100, output: int = 20, *, created: int = 10, cached: int = 1000) -> dict[str, Any]:
    """Give the usage of a reply; 130 tokens, unless said otherwise, and 1,000 out of the cache."""
    return {
        "input_tokens": fresh,
        "cache_creation_input_tokens": created,
        "cache_read_input_tokens": cached,
        "output_tokens": output,
        "service_tier": "standard",
    }


def beside(agent: Transcript) -> dict[str, Transcript]:
    """Put a sub-agent's file where Claude Code puts it."""
    return {f"{agent.session}/subagents/agent-{agent.agent}.jsonl": agent}


def example() -> Transcript:
    """Give the session that lies beside this as a file."""
    return (
        Transcript()
        .raw({"type": "file-history-snapshot", "messageId": "e0001", "snapshot": {}, "isSnapshotUpdate": False})
        .prompt()
        .skill()
        .write("/home/user/project/join.py", "a = 1\nb = 2\nc = 3\n")
        .run(error=True, command="python join.py")
        .edit("/home/user/project/join.py", "b = 2", "b = 3\nd = 4")
        .say()
        .raw({"type": "last-prompt", "lastPrompt": "join my exports", "sessionId": SESSION})
        .prompt("now change c")
        .edit("/home/user/project/join.py", "c = 3", "c = 4", "toolu_later")
        .say("Changed.")
        .command("plot-sheets")
        .body("plot-sheets")
        .say("Plotted.")
    )
