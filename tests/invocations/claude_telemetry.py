"""Telemetry of Claude Code in the shape that its page on monitoring documents, written by hand."""

from __future__ import annotations

import json
from typing import Any

from tests.invocations.traces import BEGAN, attributes, span

MAIN = "repl_main_thread"


def event(name: str, second: float, /, *, session: str = "s-1", prompt: str = "p-1", **said: Any) -> dict[str, Any]:
    """Write a log record, some seconds after the beginning; ``__`` in a name stands for a dot."""
    common = {"session.id": session, "prompt.id": prompt, "user.email": "alice@example.com", "event.name": name}
    more = {key.replace("__", "."): value for key, value in said.items()}
    return {
        "timeUnixNano": str(int((BEGAN + second) * 1e9)),
        "body": {"stringValue": f"claude_code.{name}"},
        "attributes": attributes({**common, "event.sequence": int(second * 10), **more}),
    }


def activated(skill: str, second: float, trigger: str = "claude-proactive", **said: Any) -> dict[str, Any]:
    """Write the event that a skill was activated."""
    return event("skill_activated", second, skill__name=skill, invocation_trigger=trigger, **said)


def request(second: float, tokens: tuple[int, int, int] = (10, 5, 1000), **said: Any) -> dict[str, Any]:
    """Write the event of a request: tokens of input, of output and cached ones."""
    given: dict[str, Any] = dict(zip(("input_tokens", "output_tokens", "cache_read_tokens"), tokens, strict=True))
    more = {"query_source": MAIN, "model": "claude-opus-5", "cost_usd": 0.5, **said}
    return event("api_request", second, **given, **more)


def text(second: float, **said: Any) -> dict[str, Any]:
    """Write the event that the assistant wrote to the user."""
    return event("assistant_response", second, query_source=MAIN, response="<REDACTED>", **said)


def result(second: float, tool: str = "Bash", success: str = "true", **said: Any) -> dict[str, Any]:
    """Write the event of a finished call."""
    return event("tool_result", second, tool_name=tool, success=success, **said)


def logs(*records: dict[str, Any]) -> bytes:
    """Write a document with some log records."""
    scope = {"scope": {"name": "com.anthropic.claude_code.events"}, "logRecords": list(records)}
    resource = {"attributes": attributes({"service.name": "claude-code"})}
    return json.dumps({"resourceLogs": [{"resource": resource, "scopeLogs": [scope]}]}).encode()


def claude_span(
    name: str, number: int, parent: int | None, began: float, ended: float, /, **said: Any
) -> dict[str, Any]:
    """Write a span of Claude Code; times are seconds after the beginning."""
    more: dict[str, Any] = {key.replace("__", "."): value for key, value in said.items()}
    times = {"startTimeUnixNano": str(int((BEGAN + began) * 1e9)), "endTimeUnixNano": str(int((BEGAN + ended) * 1e9))}
    common = {"session.id": "s-1", "span.type": name}
    return span(number, parent, common, more, name=f"claude_code.{name}", **times)
