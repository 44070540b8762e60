"""The Messages API through Anthropic's own SDK: its address and its ways to find a key.

Only this module uses ``anthropic``. Credentials are the SDK's: a key, a token, a profile, workload identity. Whether
there are any shows only when something is sent, so a run with all its answers cached needs none.

``SKILLGATE_ANTHROPIC_PLATFORM`` set to ``bedrock`` or ``vertex`` takes the SDK's client for that platform. Amazon
Bedrock needs ``AWS_REGION``, and ``AWS_BEARER_TOKEN_BEDROCK`` or what boto3 finds. Vertex AI needs ``CLOUD_ML_REGION``,
``ANTHROPIC_VERTEX_PROJECT_ID``, and what google-auth finds. ``pip install 'anthropic[bedrock]'`` or ``[vertex]``
installs the packages.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import anthropic

from skillgate import settings
from skillgate.errors import UsageError
from skillgate.llm import wire
from skillgate.llm.port import (
    Destination,
    Dialect,
    ProviderError,
    instruction,
    no_message,
    of_status,
    schema_of,
    shown,
    with_instruction,
    words,
)
from skillgate.model.exchange import Cause, Reply, Tokens, answering_model

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import httpx2

    from skillgate.llm.port import Connection
    from skillgate.model.exchange import Request

POSITION = 1
KEY_VARIABLE = "ANTHROPIC_API_KEY"
SERVES_AGENT_SDK = True
PLATFORM_VARIABLE = "SKILLGATE_ANTHROPIC_PLATFORM"
Unresolved = tuple[type[Exception], ...]
_SECRETS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "AWS_BEARER_TOKEN_BEDROCK")
_HEADERS_VARIABLE = "ANTHROPIC_CUSTOM_HEADERS"  # a line each, as the SDK reads it
_LEAST_SECRET = 4  # characters: a shorter value keeps nothing secret, and stands in many words
NO_KEY = "set ANTHROPIC_API_KEY, or sign in as the SDK's documentation says"  # what to do where no key was found
CHECK_KEY = "check ANTHROPIC_API_KEY and the account's permissions"  # what to do where a key was refused
_UNRESOLVED: Unresolved = (anthropic.AnthropicError, OSError)  # what the SDK raises without usable credentials
_UNRESOLVED_ELSEWHERE: Unresolved = (ImportError, RuntimeError, ValueError)  # likewise, on the platforms
_COUNTS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_FORMAT, _EFFORT = "format", "effort"  # keys of output_config
_FORMAT_WORDS = ("output_config.format", "output_format", "json_schema", "structured output")

Client = anthropic.Anthropic | anthropic.AnthropicBedrock | anthropic.AnthropicVertex


class Unconnected(NamedTuple):
    """Why there is no client: credentials that cannot be read, a region that is missing."""

    reason: str


def connect(connection: Connection) -> Messages:
    """Connect as the environment says; nothing is sent yet.

    Raises UsageError if the base URL or the platform is invalid, or the base URL holds a user or a password.
    """
    platform = connection.environ.get(PLATFORM_VARIABLE, "").strip().lower()
    if platform not in ("", "bedrock", "vertex"):
        raise UsageError(f'{PLATFORM_VARIABLE}: "{shown(platform)}" is not one of bedrock, vertex')
    variable = f"ANTHROPIC_{platform.upper()}_BASE_URL" if platform else "ANTHROPIC_BASE_URL"
    base = connection.base_url or connection.environ.get(variable) or None
    if base is not None:
        base = wire.address(base, option=settings.BASE_URL.key if connection.base_url else variable)
    secrets = _secrets(connection.environ)
    unresolved: Unresolved = _UNRESOLVED
    if platform:
        unresolved = (*unresolved, *_UNRESOLVED_ELSEWHERE, *_errors_of_platforms())
    # Key and skill go where they were sent; and the SDK reads bodies of failures, however large or slow, as a whole.
    http = wire.client()
    try:
        client: Client | Unconnected = _client(platform, connection.environ, base, http)
    except unresolved as error:
        http.close()
        client = Unconnected(shown(str(error), secrets))
    return Messages(client, secrets, unresolved, base or "https://api.anthropic.com")


class Messages:
    """The Messages API. Thread-safe."""

    name = "anthropic"
    variant = ""
    live = True

    def __init__(
        self, client: Client | Unconnected, secrets: tuple[str, ...], unresolved: Unresolved, base: str
    ) -> None:
        """Take the SDK's client, and the address, which one that is not connected does not know.

        ``secrets`` are what no message may hold, ``unresolved`` what the client raises without usable credentials.
        """
        self.endpoint = wire.without_credentials(base if isinstance(client, Unconnected) else str(client.base_url))
        self.client = client
        self.failures: Unresolved = (
            anthropic.AnthropicError,
            wire.LostError,
            wire.TooMuchError,
            TypeError,
            *unresolved,
        )
        self._secrets = secrets
        self._dialect = Dialect()

    def send(self, request: Request, *, timeout_s: float) -> Reply:
        """Send a request once; raise ProviderError where it gave no message."""
        place = self.place(str(request.body.get("model", "")))
        if isinstance(self.client, Unconnected):
            raise ProviderError(Cause.CREDENTIALS, f"no connection to Anthropic: {self.client.reason}")
        create = self.client.messages.with_streaming_response.create
        body = self.adapted(request.body)
        received = self.call(lambda wait: create(**body, timeout=wait), place, timeout_s)
        if not received.good:
            failure = of_status(received.status, received.headers, received.text, place)
            raise self.learned(failure, words(received.text).lower(), body)
        return reply_of(wire.document(received.data, place), received.headers, place)

    def close(self) -> None:
        """Let go of connections."""
        if not isinstance(self.client, Unconnected):
            self.client.close()

    def place(self, model: str = "") -> Destination:
        """Return where requests go, for messages."""
        return Destination(self.endpoint, model, CHECK_KEY, self._secrets)

    def call(self, send: Callable[[httpx2.Timeout], Any], place: Destination, timeout_s: float) -> wire.Received:
        """Make one call of the SDK and read all of what comes, which the SDK would take for good with any 200.

        Raises ProviderError where nothing came, or not all of it within ``timeout_s``.
        """
        try:
            with wire.within(timeout_s), send(wire.timeout(timeout_s)) as response:
                return wire.received(response)
        except anthropic.APIStatusError as error:
            headers = {name.lower(): value for name, value in error.response.headers.items()}
            return wire.Received(error.status_code, headers, error.response.content)
        except self.failures as error:
            failure = self.failed(error, place, timeout_s)
        raise failure  # outside the handlers: the SDK's errors hold the request

    def failed(self, error: Exception, place: Destination, timeout_s: float) -> ProviderError:
        """Return what an exception of the SDK without a status means."""
        if isinstance(error, anthropic.APIConnectionError):
            return wire.lost(error.__cause__, place, timeout_s=timeout_s)
        if isinstance(error, wire.LostError):
            return wire.lost(error, place, timeout_s=timeout_s)
        if isinstance(error, wire.TooMuchError):
            return no_message(str(error), place)
        if isinstance(error, TypeError):
            if "authentication" not in str(error):
                raise error
            return ProviderError(Cause.CREDENTIALS, f"there is no key for {place.endpoint}: {NO_KEY}")
        return ProviderError(Cause.CREDENTIALS, f"no usable credentials: {shown(str(error), place.secrets)}")

    def adapted(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Leave out what the model has refused."""
        config = dict(body.get("output_config") or {})
        refused = [name for name in config if self._dialect.refuses(str(body.get("model", "")), name)]
        if not refused:
            return dict(body)
        adapted = {**body, "output_config": {name: value for name, value in config.items() if name not in refused}}
        if not adapted["output_config"]:
            del adapted["output_config"]
        if _FORMAT in refused:
            adapted["messages"] = with_instruction(body["messages"], instruction(schema_of(body)))
        return adapted

    def learned(self, failure: ProviderError, text: str, body: Mapping[str, Any]) -> ProviderError:
        """Remember what of ``output_config`` is refused by the ``text`` of a failure; then another try makes sense."""
        refused = _named(text) & set(body.get("output_config") or {}) if failure.cause is Cause.REQUEST else set()
        return self._dialect.learned(failure, str(body.get("model", "")), refused)


def _client(platform: str, environ: Mapping[str, str], base: str | None, http: httpx2.Client) -> Client:
    """Build the SDK's client; it tries once, and what the environment does not give it finds itself."""
    if platform == "bedrock":
        return anthropic.AnthropicBedrock(
            aws_region=environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or None,
            api_key=environ.get("AWS_BEARER_TOKEN_BEDROCK") or None,
            base_url=base,
            max_retries=0,
            http_client=http,
        )
    if platform == "vertex":
        return anthropic.AnthropicVertex(
            region=environ.get("CLOUD_ML_REGION") or anthropic.NOT_GIVEN,
            project_id=environ.get("ANTHROPIC_VERTEX_PROJECT_ID") or anthropic.NOT_GIVEN,
            base_url=base,
            max_retries=0,
            http_client=http,
        )
    key = environ.get("ANTHROPIC_API_KEY", "").strip() or None
    token = None if key else environ.get("ANTHROPIC_AUTH_TOKEN", "").strip() or None
    return anthropic.Anthropic(api_key=key, auth_token=token, base_url=base, max_retries=0, http_client=http)


def _secrets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """List what no message may hold, the longest first: keys, and values of headers, with and without their scheme."""
    values = {environ.get(name, "").strip() for name in _SECRETS}
    for line in environ.get(_HEADERS_VARIABLE, "").splitlines():
        value = line.partition(":")[2].strip()
        values |= {value, *value.split()[-1:]}
    return tuple(
        sorted((secret for secret in values if len(secret) >= _LEAST_SECRET), key=lambda one: (-len(one), one))
    )


def _errors_of_platforms() -> Unresolved:
    """Name what the libraries of the platforms raise for credentials, where they are installed."""
    errors = []
    for module, name in (("botocore.exceptions", "BotoCoreError"), ("google.auth.exceptions", "GoogleAuthError")):
        try:
            errors.append(getattr(import_module(module), name))
        except ImportError:
            continue
    return tuple(errors)


def _named(text: str) -> set[str]:
    """Return which parts of ``output_config`` a refusal names; all, where it names the whole."""
    named = {_EFFORT} if _EFFORT in text else set()
    if any(word in text for word in _FORMAT_WORDS):
        named.add(_FORMAT)
    return named or ({_FORMAT, _EFFORT} if "output_config" in text else set())


def reply_of(document: Mapping[str, Any], headers: Mapping[str, str], place: Destination) -> Reply:
    """Read a message; raise ProviderError if it is invalid: no list of blocks, no reason to stop, no usage."""
    content, ended, usage = document.get("content"), document.get("stop_reason"), document.get("usage")
    whole = isinstance(content, list) and all(isinstance(part, dict) and "type" in part for part in content)
    if not whole or not isinstance(ended, str) or not isinstance(usage, dict):
        raise no_message("what is no message", place)
    counts = wire.counted(*(usage.get(name) for name in _COUNTS))
    details, named = document.get("stop_details"), document.get("model")
    number, blocks = headers.get("request-id", ""), tuple(content or ())
    model = named if isinstance(named, str) else place.model
    category = details.get("category") if isinstance(details, dict) else None
    return Reply(
        blocks,
        ended,
        None if counts is None else Tokens(*counts),
        answering_model(model, (number, document.get("id")), blocks, headers),
        number,
        category if isinstance(category, str) else "",
    )
