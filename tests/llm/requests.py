"""Requests as the judge makes them, and askers with short waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.llm.asker import PortAsker
from skillgate.llm.flow import CircuitBreaker, RetryPolicy
from skillgate.llm.port import Connection
from skillgate.llm.prices import Budget
from skillgate.llm.providers import anthropic
from skillgate.model.exchange import Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.llm.answers import Answers
    from skillgate.llm.port import Provider
    from skillgate.llm.providers.replay import Recorder

KEY = "sk-ant-api03-THISISTHEKEY0123456789"
QUICK = RetryPolicy(tries=4, first_wait_s=0.001, longest_wait_s=0.05, deadline_s=30.0)
SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer", "enum": list(range(11))}},
    "required": ["score"],
    "additionalProperties": False,
}
SKILL = "<skill>a fenced skill</skill>"


def request(
    *,
    model: str = "claude-sonnet-5-5",
    check: Callable[[Any], str | None] | None = None,
    schema: dict[str, Any] | None = SCHEMA,
    question: str = "output_quality",
    **changes: Any,
) -> Request:
    """A judge's request; ``changes`` are of its body."""
    config: dict[str, Any] = {"effort": "medium"}
    if schema is not None:
        config["format"] = {"type": "json_schema", "schema": schema}
    body = {
        "model": model,
        "max_tokens": 8192,
        "system": "You judge skills.",
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": SKILL, "cache_control": {"type": "ephemeral"}},
                    {"type": "text", "text": f"Question: {question}"},
                ],
            }
        ],
        "output_config": config,
        **changes,
    }
    return Request(question, "skills/a", body, prompt_version="1", rubric_version="1", check=check)


def connected(url: str, **environ: str) -> anthropic.Messages:
    """The real SDK, connected to a loopback server."""
    return anthropic.connect(Connection({"ANTHROPIC_API_KEY": KEY, **environ}, base_url=url))


def asking(
    provider: Provider,
    *,
    budget: Budget | None = None,
    answers: Answers | None = None,
    policy: RetryPolicy = QUICK,
    breaker: CircuitBreaker | None = None,
    recorder: Recorder | None = None,
    timeout_s: float = 20.0,
) -> PortAsker:
    """An asker with short waits that does not end the run at the first failures."""
    return PortAsker(
        provider,
        budget=budget or Budget(),
        answers=answers,
        retrying=policy,
        breaker=breaker or CircuitBreaker(100),
        recorder=recorder,
        timeout_s=timeout_s,
    )
