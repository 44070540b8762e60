"""Sessions as five clients write them down, in the shape that is documented for each, from the steps of a case."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.invocations.transcripts import MODEL, tokens

BEGAN = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
SESSION = "019b3c1e-7f6a-7d33-9f0b-2f1c64a1d001"
CACHE = "/home/user/.codex/plugins/cache/market"


class Session:
    """A session under construction; each entry is one second after the one before.

    Attributes:
        lines: the JSON objects so far.
    """

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self._at, self._number = BEGAN, 0

    def now(self) -> datetime:
        """Let a second pass, and return the time."""
        self._at += timedelta(seconds=1)
        return self._at

    def stamp(self) -> str:
        """Return the next time as a text."""
        return self.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def ms(self) -> int:
        """Return the next time in milliseconds."""
        return int(self.now().timestamp() * 1000)

    def call(self) -> str:
        """Return a new id of a call."""
        self._number += 1
        return f"call_{self._number}"

    def take(self, steps: tuple[str, ...]) -> None:
        """Write the steps of a case."""
        for step in steps:
            word, _, rest = step.partition(" ")
            if step.startswith("> "):
                self.prompt(rest)
            elif step.startswith("/"):
                self.command(step[1:])
            elif word in ("says", "says+"):
                self.say(rest, goes_on=word == "says+")
            elif word == "skill":
                called, _, failure = rest.partition(" ! ")
                name, _, version = called.partition(" ")
                self.skill(name, version, failure)
            elif word == "agent":
                self.agent(int(rest))
            elif word in ("interrupt", "apierror", "result", "rewind", "synthetic", "reads"):
                getattr(self, word)(*([rest] if rest else []))
            else:
                self._tool(step)

    def _tool(self, step: str) -> None:
        denied, fails = step.startswith("denied "), step.endswith(" !")
        tool, _, command = step.removeprefix("denied ").removesuffix(" !").partition(": ")
        tool, _, path = tool.partition(" ")
        self.tool(tool, command or "ls", path, fails=fails, denied=denied)

    def prompt(self, text: str) -> None:
        """Let the user say something."""
        raise NotImplementedError

    def command(self, name: str) -> None:
        """Let the user call a skill."""
        raise NotImplementedError

    def say(self, text: str, *, goes_on: bool) -> None:
        """Let the model say something."""
        raise NotImplementedError

    def skill(self, name: str, version: str, failure: str) -> None:
        """Let the model load a skill."""
        raise NotImplementedError

    def agent(self, count: int) -> None:
        """Let the model open a sub-agent that calls so many tools."""
        raise NotImplementedError

    def tool(self, tool: str, command: str, path: str, *, fails: bool, denied: bool) -> None:
        """Let the model call a tool."""
        raise NotImplementedError

    @property
    def data(self) -> bytes:
        """The file."""
        return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in self.lines)


class ClaudeStream(Session):
    """``claude -p --output-format stream-json``, without times unless ``timed``.

    Attributes:
        inside: id of the call whose sub-agent is at work.
    """

    def __init__(self, *, timed: bool = False) -> None:
        super().__init__()
        self._timed, self._message = timed, ""
        self.inside: str | None = None
        plugins = [{"name": "acme", "path": "/home/user/.claude/plugins/cache/market/acme/1.4.0"}]
        self.message("system", subtype="init", model=MODEL, tools=["Skill"], skills=[], plugins=plugins, cwd="/w")

    def message(self, kind: str, **fields: Any) -> None:
        time = {"timestamp": self.stamp()} if self._timed and kind in ("assistant", "user") else {}
        uuid = f"u{len(self.lines):04}-0000-4000-8000-000000000000"
        parent = {"parent_tool_use_id": self.inside} if kind in ("assistant", "user") else {}
        self.lines.append({"type": kind, **fields, **parent, "session_id": SESSION, "uuid": uuid, **time})

    def reply(self, *blocks: dict[str, Any], goes_on: bool = False) -> None:
        message = self._message or f"msg_{len(self.lines)}"
        self._message = message if goes_on else ""
        said = {"id": message, "role": "assistant", "model": MODEL, "content": list(blocks), "usage": tokens()}
        self.message("assistant", message={**said, "stop_reason": None})

    def user(self, content: Any, **fields: Any) -> None:
        self.message("user", message={"role": "user", "content": content}, **fields)

    def prompt(self, text: str) -> None:
        self.user([{"type": "text", "text": text}], isReplay=True)

    def body(self, name: str, folder: str = "/home/user/.claude/skills") -> None:
        text = f"Base directory for this skill: {folder}/{name}\n\n# {name}\n"
        self.user([{"type": "text", "text": text}], isSynthetic=True)

    def command(self, name: str) -> None:
        self.body(name)

    def say(self, text: str, *, goes_on: bool) -> None:
        self.reply({"type": "text", "text": text}, goes_on=goes_on)

    def use(self, tool: str, **values: Any) -> str:
        call = self.call()
        self.reply({"type": "tool_use", "id": call, "name": tool, "input": values})
        return call

    def answer(self, call: str, text: str = "text", *, error: bool = False) -> None:
        self.user([{"type": "tool_result", "tool_use_id": call, "content": text, "is_error": error}])

    def skill(self, name: str, version: str, failure: str) -> None:
        call = self.use("Skill", skill=name)
        self.answer(call, failure or f"Launching skill: {name}", error=bool(failure))
        if not failure:
            self.body(name.rpartition(":")[2])

    def agent(self, count: int) -> None:
        call = self.use("Agent", prompt="count it", description="look")
        self.inside = call
        self.user([{"type": "text", "text": "count it"}])
        for _ in range(count):
            self.answer(self.use("Bash", command="ls"))
        self.reply({"type": "text", "text": "report"})
        self.inside = None
        self.answer(call, "report")

    def tool(self, tool: str, command: str, path: str, *, fails: bool, denied: bool) -> None:
        values = {"file_path": path, "old_string": "a", "new_string": "c", "content": "a\nb\n"} if path else {}
        self.answer(self.use(tool, **(values or {"command": command})), error=fails)

    def result(self, how: str = "") -> None:
        done = {"subtype": "error_max_turns", "is_error": True} if how else {"subtype": "success", "is_error": False}
        self.message("result", **done, duration_ms=60_000, num_turns=3, total_cost_usd=0.25, usage=tokens())


class Codex(Session):
    """A rollout of Codex.

    Attributes:
        replies: number of replies with token counts.
    """

    def __init__(self) -> None:
        super().__init__()
        self.replies = 0
        meta = {"id": SESSION, "cwd": "/w", "originator": "codex_cli_rs", "cli_version": "0.153.0", "source": "cli"}
        self.line("session_meta", **meta)
        self.line("turn_context", cwd="/w", model="gpt-5.5", approval_policy="on-request")

    def line(self, kind: str, **payload: Any) -> None:
        self.lines.append({"timestamp": self.stamp(), "type": kind, "payload": payload})

    def text(self, role: str, text: str) -> None:
        content = [{"type": "output_text" if role == "assistant" else "input_text", "text": text}]
        self.line("response_item", type="message", role=role, content=content)

    def count(self) -> None:
        used = {"input_tokens": 1_100, "cached_input_tokens": 1_000, "output_tokens": 20, "total_tokens": 1_120}
        self.replies += 1
        total = {name: self.replies * number for name, number in used.items()}
        info = {"total_token_usage": total, "last_token_usage": used, "model_context_window": 272_000}
        self.line("event_msg", type="token_count", info=info, rate_limits=None)

    def prompt(self, text: str) -> None:
        self.text("user", text)
        self.line("event_msg", type="user_message", message=text, images=[])

    def command(self, name: str) -> None:
        path = f"/home/user/.agents/skills/{name}/SKILL.md"
        self.text(
            "user", f"<skill>\n<name>{name}</name>\n<path>{path}</path>\n---\nname: {name}\n---\n# {name}\n</skill>"
        )

    def say(self, text: str, *, goes_on: bool) -> None:
        self.text("assistant", text)
        if not goes_on:
            self.count()

    def shell(self, command: str, output: str = "text", *, code: int = 0, denied: bool = False) -> None:
        call = self.call()
        self.line(
            "response_item",
            type="function_call",
            name="exec_command",
            arguments=json.dumps({"cmd": command}),
            call_id=call,
        )
        self.count()
        told = f"Chunk ID: 5e9c5d\nWall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\n{output}"
        text = "exec command rejected by user" if denied else told
        self.line("response_item", type="function_call_output", call_id=call, output=text)

    def skill(self, name: str, version: str, failure: str) -> None:
        plugin, _, plain = name.rpartition(":")
        folder = f"{CACHE}/{plugin}/{version}/skills" if version else "/home/user/.agents/skills"
        self.shell(f"sed -n '1,200p' {folder}/{plain}/SKILL.md", failure or "# Skill", code=int(bool(failure)))

    def reads(self, path: str) -> None:
        self.shell(f"cat {path}")

    def tool(self, tool: str, command: str, path: str, *, fails: bool, denied: bool) -> None:
        if not path:
            self.shell(command, code=int(fails), denied=denied)
            return
        call = self.call()
        how = "Add" if tool == "Write" else "Update"
        lines = "+a\n+b" if tool == "Write" else "@@\n-a\n+c"
        patch = f"*** Begin Patch\n*** {how} File: {path}\n{lines}\n*** End Patch"
        self.line("response_item", type="custom_tool_call", name="apply_patch", input=patch, call_id=call)
        self.count()
        self.line("response_item", type="custom_tool_call_output", call_id=call, output="Success.")

    def interrupt(self) -> None:
        self.line("event_msg", type="turn_aborted", turn_id="t", reason="interrupted")


class GeminiCli(Session):
    """A session of Gemini CLI: a record a line, or one document of earlier versions."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[dict[str, Any]] = []
        self.head = {"sessionId": SESSION, "projectHash": "f" * 64, "startTime": self.stamp(), "lastUpdated": "x"}
        self.lines.append({**self.head})

    def put(self, kind: str, content: object, **fields: Any) -> dict[str, Any]:
        identity = f"m{len(self.lines):04}"
        message = {"id": identity, "timestamp": self.stamp(), "type": kind, "content": content, **fields}
        self.messages.append(message)
        self.lines.append(dict(message))
        self.lines.append({"$set": {"lastUpdated": self.stamp()}})
        return message

    def reply(self, text: str) -> dict[str, Any]:
        used = {"input": 1_100, "output": 20, "cached": 1_000, "thoughts": 5, "tool": 0, "total": 1_125}
        return self.put("gemini", text, tokens=used, model="gemini-3-pro", thoughts=[])

    def prompt(self, text: str) -> None:
        self.put("user", [{"text": text}])

    def command(self, name: str) -> None:
        message = self.put("gemini", "", thoughts=[], model="gemini-3-pro")
        self.called(message, "activate_skill", {"name": name}, "success")
        self.prompt(f"Use the skill {name}")

    def say(self, text: str, *, goes_on: bool) -> None:
        self.reply(text)

    def called(self, message: dict[str, Any], name: str, args: dict[str, Any], status: str, **more: Any) -> None:
        call = self.call()
        done = {"id": call, "name": name, "args": args, "status": status, "timestamp": self.stamp(), "result": []}
        message["toolCalls"] = [{**done, **more}]
        self.lines.append(dict(message))  # written again, now with its calls

    def skill(self, name: str, version: str, failure: str) -> None:
        status = "cancelled" if failure == "cancelled" else "error" if failure else "success"
        self.called(self.reply(""), "activate_skill", {"name": name}, status, resultDisplay=failure)

    def agent(self, count: int) -> None:
        self.called(self.reply(""), "invoke_agent", {"prompt": "count it"}, "success", agentId="a1")

    def tool(self, tool: str, command: str, path: str, *, fails: bool, denied: bool) -> None:
        if tool == "Write":
            self.called(self.reply(""), "write_file", {"file_path": path, "content": "a\nb\n"}, "success")
        elif tool == "Edit":
            given = {"file_path": path, "old_string": "a", "new_string": "c"}
            self.called(self.reply(""), "replace", given, "success")
        elif tool == "Bash":
            output = {"output": f"Output: text\n{'Exit Code: 1' if fails else '(none)'}\nProcess Group PGID: 7"}
            result = [{"functionResponse": {"id": "x", "name": "run_shell_command", "response": output}}]
            self.called(self.reply(""), "run_shell_command", {"command": command}, "success", result=result)
        else:
            self.called(self.reply(""), "read_file", {"file_path": "x"}, "error" if fails else "success")

    def rewind(self, count: str) -> None:
        first = self.messages[-int(count)]
        del self.messages[-int(count) :]
        self.lines.append({"$rewindTo": first["id"]})

    @property
    def document(self) -> bytes:
        """The session in the form of earlier versions."""
        return json.dumps({**self.head, "messages": self.messages}, indent=2).encode()


class OpenCode(Session):
    """What ``opencode export`` writes."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[dict[str, Any]] = []

    def info(self, role: str, **more: Any) -> dict[str, Any]:
        time = {"created": self.ms()}
        return {"id": f"msg_{len(self.messages):04}", "sessionID": "ses_1", "role": role, "time": time, **more}

    def part(self, kind: str, **fields: Any) -> dict[str, Any]:
        return {"id": f"prt_{self._number}", "sessionID": "ses_1", "messageID": "x", "type": kind, **fields}

    def reply(self, *parts: dict[str, Any], **more: Any) -> None:
        used = {"input": 100, "output": 20, "reasoning": 5, "cache": {"read": 1_000, "write": 0}}
        given = {"modelID": MODEL, "providerID": "anthropic", "mode": "build", "cost": 0.001, "tokens": used, **more}
        info = self.info("assistant", **given)
        info["time"]["completed"] = self.ms()
        end = self.part("step-finish", reason="stop", cost=0.001, tokens=used)
        self.messages.append({"info": info, "parts": [self.part("step-start"), *parts, end]})

    def prompt(self, text: str) -> None:
        parts = [self.part("text", text=text), self.part("text", text="revert this file", synthetic=True)]
        self.messages.append({"info": self.info("user", agent="build"), "parts": parts})

    def synthetic(self, text: str) -> None:
        parts = [self.part("text", text=text, synthetic=True)]
        self.messages.append({"info": self.info("user", agent="build"), "parts": parts})

    def say(self, text: str, *, goes_on: bool) -> None:
        self.reply(self.part("text", text=text, time={"start": self.ms(), "end": self.ms()}))

    def use(self, tool: str, given: dict[str, Any], *, error: str = "", metadata: dict[str, Any] | None = None) -> None:
        state = {"status": "error" if error else "completed", "input": given, "metadata": metadata or {}}
        state |= {"error": error} if error else {"output": "text", "title": "x"}
        state["time"] = {"start": self.ms(), "end": self.ms()}
        self.reply(self.part("tool", callID=self.call(), tool=tool, state=state))

    def skill(self, name: str, version: str, failure: str) -> None:
        self.use("skill", {"name": name}, error=failure)

    def agent(self, count: int) -> None:
        self.use("task", {"prompt": "count it", "description": "look", "subagent_type": "general"})

    def tool(self, tool: str, command: str, path: str, *, fails: bool, denied: bool) -> None:
        if denied:
            error = "The user rejected permission to use this specific tool call."
            self.use("bash", {"command": command}, error=error)
        elif tool == "Write":
            self.use("write", {"filePath": path, "content": "a\nb\n"})
        elif tool == "Edit":
            self.use("edit", {"filePath": path, "oldString": "a", "newString": "c"})
        else:
            self.use(tool.lower(), {"command": command}, metadata={"exit": int(fails)} if tool == "Bash" else {})

    def interrupt(self) -> None:
        self.reply(error={"name": "MessageAbortedError", "data": {"message": "aborted"}})

    def apierror(self) -> None:
        self.reply(error={"name": "APIError", "data": {"message": "overloaded", "isRetryable": False}})

    @property
    def data(self) -> bytes:
        info = {"id": "ses_1", "projectID": "p", "directory": "/w", "title": "join", "version": "1.4.0"}
        return json.dumps({"info": info, "messages": self.messages, "todos": []}, indent=2).encode() + b"\n"


class CopilotCli(Session):
    """The events of GitHub Copilot CLI."""

    def __init__(self) -> None:
        super().__init__()
        self._agent: str | None = None
        start = {"sessionId": SESSION, "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.81"}
        self.event("session.start", **start, startTime="x", selectedModel="gpt-5.4")

    def event(self, kind: str, **data: Any) -> None:
        identity = f"e{len(self.lines):04}-0000-4000-8000-000000000000"
        agent = {} if self._agent is None else {"agentId": self._agent}
        line = {"type": kind, "data": data, "id": identity, "timestamp": self.stamp(), "parentId": None}
        self.lines.append(line | agent)

    def prompt(self, text: str) -> None:
        self.event("user.message", content=text, attachments=[])

    def synthetic(self, text: str) -> None:
        self.event("user.message", content=text, source="skill-merge-sheets")

    def invoked(self, name: str, trigger: str, version: str = "") -> None:
        plugin, _, plain = name.rpartition(":")
        more = {"pluginName": plugin, "pluginVersion": version} if version else {}
        path = f"/home/user/.copilot/skills/{plain}/SKILL.md"
        self.event("skill.invoked", name=plain, path=path, content=f"# {plain}", trigger=trigger, **more)
        self.synthetic(f'<skill-context name="{plain}">')

    def command(self, name: str) -> None:
        self.invoked(name, "user-invoked")

    def reply(self, text: str = "", *requests: dict[str, Any]) -> None:
        self.event("assistant.turn_start", turnId="0")
        message = f"m{len(self.lines)}"
        self.event(
            "assistant.message",
            messageId=message,
            content=text,
            toolRequests=list(requests),
            model="gpt-5.4",
            outputTokens=20,
        )

    def say(self, text: str, *, goes_on: bool) -> None:
        self.reply(text)

    def use(self, tool: str, given: dict[str, Any]) -> str:
        call = self.call()
        self.reply("", {"toolCallId": call, "name": tool, "arguments": given, "type": "function"})
        self.event("tool.execution_start", toolCallId=call, toolName=tool, arguments=given)
        return call

    def done(self, call: str, content: str = "text", *, success: bool = True) -> None:
        error = {} if success else {"error": {"message": content, "code": "failure"}}
        self.event("tool.execution_complete", toolCallId=call, success=success, result={"content": content}, **error)

    def skill(self, name: str, version: str, failure: str) -> None:
        call = self.use("skill", {"skill": name.rpartition(":")[2]})
        if not failure:
            self.invoked(name, "agent-invoked", version)
        self.done(call, failure or "loaded", success=not failure)

    def agent(self, count: int) -> None:
        call = self.use("task", {"prompt": "count it", "agent_type": "explore"})
        self._agent = call
        self.event("subagent.started", toolCallId=call, agentName="explore")
        for _ in range(count):
            self.done(self.use("bash", {"command": "ls"}))
        self.reply("report")
        self._agent = None
        self.done(call, "report")

    def tool(self, tool: str, command: str, path: str, *, fails: bool, denied: bool) -> None:
        if tool == "Write":
            self.done(self.use("create", {"path": path, "file_text": "a\nb\n"}))
        elif tool == "Edit":
            self.done(self.use("edit", {"path": path, "old_str": "a", "new_str": "c"}))
        elif tool == "Bash":
            self.done(self.use("bash", {"command": command}), f"text\n<exited with exit code {int(fails)}>")
        else:
            self.done(self.use("view", {"path": "x"}), success=not fails)

    def interrupt(self) -> None:
        self.event("abort", reason="user_initiated")

    def apierror(self) -> None:
        self.event("session.error", errorType="query", message="overloaded")


CLIENTS: dict[str, type[Session]] = {
    "claude-stream": ClaudeStream,
    "codex": Codex,
    "gemini-cli": GeminiCli,
    "opencode": OpenCode,
    "copilot-cli": CopilotCli,
}
