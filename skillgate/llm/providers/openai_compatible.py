"""A server that speaks OpenAI's chat completions: gateways, and models on one's own machine.

A body of the Messages API is translated. What the protocol has no word for is left out: cache marks, and the effort.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from skillgate import settings
from skillgate.errors import UsageError
from skillgate.llm import wire
from skillgate.llm.answers import OPENAI_KEY
from skillgate.llm.port import (
    Destination,
    Dialect,
    ProviderError,
    instruction,
    no_message,
    of_status,
    schema_of,
    with_instruction,
    words,
)
from skillgate.model.exchange import Cause, Reply, Tokens, answering_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from skillgate.llm.port import Connection
    from skillgate.model.exchange import Request

POSITION = 3
KEY_VARIABLE_IS_NAMED = True
WITHOUT_TOOLS = True
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_STOPS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal", "tool_calls": "tool_use"}
_NAMED = {  # what a 400 says of a parameter that the server or the model does not know
    "response_format": ("response_format", "json_schema", "structured output"),
    "max_tokens": ("max_completion_tokens",),
}


def connect(connection: Connection) -> OpenAICompatible:
    """Connect to the server at the base URL, with the key that the named variable holds.

    Raises UsageError if there is no base URL, or it is invalid, or holds a user or a password.
    """
    if not connection.base_url:
        raise UsageError(
            f"provider openai-compatible needs the address of the server, as in --{settings.BASE_URL.key}"
            " http://127.0.0.1:8080/v1"
        )
    base = wire.address(connection.base_url, option=settings.BASE_URL.key)
    variable = connection.key_variable or OPENAI_KEY
    return OpenAICompatible(base, connection.environ.get(variable, "").strip(), variable, connection.temperature)


class OpenAICompatible:
    """Chat completions. Thread-safe."""

    name = "openai-compatible"
    live = True

    def __init__(self, base: str, key: str, variable: str, temperature: float | None) -> None:
        """Take the address without a slash at its end, the key (``""``: none), its variable, and the temperature."""
        self.endpoint = wire.without_credentials(base)
        self.variant = "" if temperature is None else f"temperature {temperature:g}"
        self._url = f"{base}/chat/completions"
        self._key = key
        self._variable = variable
        self._temperature = temperature
        self._dialect = Dialect()
        self._client = wire.client()

    def send(self, request: Request, *, timeout_s: float) -> Reply:
        """Send a request once; raise ProviderError where it gave no message."""
        model = str(request.body.get("model", ""))
        place = Destination(self.endpoint, model, f"check {self._variable}", (self._key,))
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        if not headers and urlsplit(self._url).hostname not in _LOOPBACK:
            raise ProviderError(Cause.CREDENTIALS, f"no key for {self.endpoint}: set {self._variable}")
        body = self._translated(request.body, model)
        try:
            received = wire.post(self._client, self._url, headers=headers, body=body, timeout_s=timeout_s)
        except wire.TooMuchError as error:
            failure = no_message(str(error), place)
        except wire.LostError as error:
            failure = wire.lost(error, place, timeout_s=timeout_s)
        else:
            if received.good:
                return _reply(wire.document(received.data, place), received.headers, place)
            failure = of_status(received.status, received.headers, received.text, place)
            text = words(received.text).lower()
            refused = [name for name, known in _NAMED.items() if name in body and any(word in text for word in known)]
            failure = self._dialect.learned(failure, model, refused)
        raise failure  # outside the handlers: the library's errors hold the request

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()

    def _translated(self, body: Mapping[str, Any], model: str) -> dict[str, Any]:
        if body.get("tools"):
            raise ProviderError(Cause.REQUEST, "runs with tools need another provider than openai-compatible")
        schema, turns = schema_of(body), body["messages"]
        plain = schema is not None and self._dialect.refuses(model, "response_format")
        if plain:
            turns = with_instruction(turns, instruction(schema))
        system = _text(body.get("system") or "")
        messages = [{"role": "system", "content": system}] if system else []
        messages += [{"role": turn["role"], "content": _text(turn["content"])} for turn in turns]
        limit = "max_completion_tokens" if self._dialect.refuses(model, "max_tokens") else "max_tokens"
        translated = {"model": model, "messages": messages, limit: body["max_tokens"]}
        if schema is not None and not plain:
            answer = {"name": "answer", "strict": True, "schema": schema}
            translated["response_format"] = {"type": "json_schema", "json_schema": answer}
        if self._temperature is not None:
            translated["temperature"] = self._temperature
        return translated


def _text(content: str | Iterable[Mapping[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "\n\n".join(str(block["text"]) for block in content if block.get("type") == "text")


def _reply(document: Mapping[str, Any], headers: Mapping[str, str], place: Destination) -> Reply:
    """Read a completion; raise ProviderError if it is invalid."""
    choices = document.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise no_message("what is no chat completion", place)
    text, ended, refusal = message.get("content"), choice.get("finish_reason"), message.get("refusal")
    if not isinstance(text, str | None) or not isinstance(ended, str | None):
        raise no_message("what is no chat completion", place)
    blocks: list[Mapping[str, Any]] = [{"type": "text", "text": text}] if text else []
    stop_reason = "refusal" if isinstance(refusal, str) and refusal else _STOPS.get(ended or "", ended or "none given")
    category = "content_filter" if ended == "content_filter" else ""
    model, number = document.get("model"), document.get("id")
    return Reply(
        tuple(blocks),
        stop_reason,
        _tokens(document.get("usage")),
        answering_model(model if isinstance(model, str) else place.model, (number,), headers=headers),
        number if isinstance(number, str) else "",
        category,
    )


def _tokens(usage: object) -> Tokens | None:
    """Read what a completion cost; the protocol counts what was read from the cache as part of the prompt."""
    if not isinstance(usage, dict):
        return None
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    counts = wire.counted(usage.get("prompt_tokens"), usage.get("completion_tokens"), cached)
    if counts is None or counts[2] > counts[0]:
        return None
    prompt, output, read = counts
    return Tokens(prompt - read, output, read)
