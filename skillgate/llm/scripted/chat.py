"""OpenAI's protocol for chats, as far as a judge uses it, put into the Messages API and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.llm.scripted.outcome import Failure, Message
    from skillgate.model.fields import Json

_MOST_TOKENS = 4096  # where the request names no limit
_ENDS = {"max_tokens": "length", "refusal": "content_filter", "tool_use": "tool_calls"}
_ERROR_TYPES = {401: "authentication_error", 429: "rate_limit_error"}


def messages_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """Put the body of a chat into that of the Messages API; what is wrong with it is for the engine to say.

    Sampling parameters, which this protocol still has, are left out.
    """
    turns = body.get("messages")
    turns = turns if isinstance(turns, list) else []
    named = [turn for turn in turns if isinstance(turn, dict)]
    system = [_blocks(turn.get("content")) for turn in named if turn.get("role") in ("system", "developer")]
    put: dict[str, Any] = {
        "model": body.get("model"),
        "max_tokens": body.get("max_completion_tokens") or body.get("max_tokens") or _MOST_TOKENS,
        "messages": [
            {"role": turn.get("role"), "content": _blocks(turn.get("content"))}
            for turn in named
            if turn.get("role") not in ("system", "developer")
        ],
    }
    if system:
        put["system"] = [block for blocks in system if isinstance(blocks, list) for block in blocks]
    schema = _schema(body.get("response_format"))
    if schema is not None:
        put["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    return put


def chat_document(message: Message) -> dict[str, Any]:
    """Write a message as a chat's completion."""
    text = "".join(block["text"] for block in message.content if block["type"] == "text")
    used = message.tokens
    return {
        "id": f"chatcmpl-{message.id.removeprefix('msg_')}",
        "object": "chat.completion",
        "created": 0,
        "model": message.model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text or None, "refusal": None},
                "finish_reason": _ENDS.get(message.stop_reason, "stop"),
            }
        ],
        "usage": {
            "prompt_tokens": used.input,
            "completion_tokens": used.output,
            "total_tokens": used.input + used.output,
        },
    }


def chat_error(failed: Failure) -> dict[str, Any]:
    """Write a failure as this protocol does."""
    kind = _ERROR_TYPES.get(failed.status, "invalid_request_error" if failed.status < 500 else "server_error")
    return {"error": {"message": failed.message, "type": kind, "param": None, "code": failed.type}}


def _blocks(content: Json) -> Json:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _schema(form: Json) -> Json:
    if not isinstance(form, dict) or form.get("type") != "json_schema":
        return None
    within = form.get("json_schema")
    return within.get("schema") if isinstance(within, dict) else None
