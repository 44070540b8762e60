"""What a scripted model comes to: a message, or a failure as a server would give it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.model.exchange import Tokens

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}  # as the API's documentation names them; any other 4xx is an invalid request, any other 5xx an api_error


class Message(NamedTuple):
    """A reply.

    Attributes:
        id: equal for equal requests and rules; another for each request of a conversation; says that it is scripted.
        model: begins with ``SCRIPTED_PREFIX``.
        content: blocks as in the Messages API.
        stop_reason: ``end_turn``, ``max_tokens``, ``refusal``, …
        category: of a refusal, ``""`` without one.
        tokens: estimated from the characters.
        delay_s: how long it is held back.
        cut: whether the connection ends in the middle of it.
        rule: which rule gave it, from 0; None: it was made up.
    """

    id: str
    model: str
    content: tuple[Mapping[str, Any], ...]
    stop_reason: str
    category: str
    tokens: Tokens
    delay_s: float = 0.0
    cut: bool = False
    rule: int | None = None


class Failure(NamedTuple):
    """A failure.

    Attributes:
        status: of HTTP, 400 to 599.
        type: ``overloaded_error`` and the like.
        message: for people.
        retry_after_s: what the server asks to wait, None for nothing.
        delay_s: how long it is held back.
        rule: which rule gave it, from 0; None: the request is not one.
    """

    status: int
    type: str
    message: str
    retry_after_s: float | None = None
    delay_s: float = 0.0
    rule: int | None = None


def failure(status: int, message: str) -> Failure:
    """Make a failure with the type that belongs to its status."""
    return Failure(status, error_type(status), message)


def error_type(status: int) -> str:
    """Name the type of an error as the API does."""
    return ERROR_TYPES.get(status, "invalid_request_error" if status < 500 else "api_error")


def document(message: Message) -> dict[str, Any]:
    """Write a message as the Messages API does."""
    refused = message.stop_reason == "refusal"
    return {
        "id": message.id,
        "type": "message",
        "role": "assistant",
        "model": message.model,
        "content": [dict(block) for block in message.content],
        "stop_reason": message.stop_reason,
        "stop_sequence": None,
        "stop_details": {"type": "refusal", "category": message.category or None} if refused else None,
        "usage": {
            "input_tokens": message.tokens.input,
            "output_tokens": message.tokens.output,
            "cache_creation_input_tokens": message.tokens.cache_write,
            "cache_read_input_tokens": message.tokens.cache_read,
        },
    }


def error_document(failed: Failure) -> dict[str, Any]:
    """Write a failure as the Messages API does."""
    return {"type": "error", "error": {"type": failed.type, "message": failed.message}}
