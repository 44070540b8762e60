"""The Message Batches API through Anthropic's own SDK: half the price, within a day.

Credentials, address and the reading of messages are those of :mod:`skillgate.llm.providers.anthropic`. Amazon Bedrock
and Vertex AI have batches of another kind, which are not spoken here.

Results are read under the address that the batch was sent to and never under the one that the server names, as the SDK
would: key and skill go where the user sent them. What the API says is read without trust.
"""

from __future__ import annotations

import json
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import anthropic

from skillgate.errors import UsageError
from skillgate.llm import wire
from skillgate.llm.port import ProviderError, is_batch_id, no_message, of_status, retry_after, words
from skillgate.llm.providers import anthropic as direct
from skillgate.model.exchange import Cause

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from skillgate.llm.port import Connection
    from skillgate.model.exchange import Reply, Request

POSITION = 2
KEY_VARIABLE = "ANTHROPIC_API_KEY"
MODELS_OF = "anthropic"
BATCHES = True
RESULTS_S = 3_600.0  # for all results of a batch to come
MOST_LISTED = 1_000  # recent batches that are looked at; the most that the API gives at once
MOST_LINE_BYTES = 8 << 20  # of one result: as much as one message may take
MOST_RESULT_BYTES = 1 << 30  # of all results of a batch
_SILENCE_S = 120.0  # within results
_ENVELOPE_BYTES = 128  # of a request in a batch: its key and what is around it
_LOOK_S = 5.0  # between two looks at a batch of one
_STATUS = {  # what the API calls its errors, by the status that it would give the request alone
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


class State(NamedTuple):
    """How a batch is."""

    batch: str
    ended: bool  # then its results can be read
    requests: int
    created_s: float = 0.0  # since 1970, on the server's clock; 0.0 where it does not say
    retry_after_s: float | None = None  # when to look again, None where the server does not say


class Line(NamedTuple):
    """A result as the API gives it, with its request's key; ``""`` if the line cannot be read."""

    key: str
    result: Mapping[str, Any]


def connect(connection: Connection) -> Batches:
    """Connect as the environment says; nothing is sent yet.

    Raises UsageError if the base URL is invalid, or a platform without this API is configured.
    """
    if connection.environ.get(direct.PLATFORM_VARIABLE, "").strip():
        raise UsageError(f"--provider batch: only Anthropic's own API has it; unset {direct.PLATFORM_VARIABLE}")
    return Batches(direct.connect(connection))


class Batches:
    """The Message Batches API. Not for several threads at once."""

    name = "batch"
    variant = ""
    live = True

    def __init__(self, messages: direct.Messages) -> None:
        """Take the connection to share."""
        self.cached_as = messages  # whose answers these are but for the price: cached for both
        self.endpoint = messages.endpoint
        self._http = wire.client()
        # Results are counted here, line by line: as a whole they may be larger than any message.
        self._http.event_hooks = {"response": []}
        self._http.headers["accept-encoding"] = "identity"

    def create(self, requests: Sequence[tuple[str, Request]], *, timeout_s: float) -> State:
        """Submit a batch of requests, each with its key: at most 64 letters, digits, ``-`` and ``_``, no two equal.

        Raises ProviderError where there is no batch, or (``lost``) there may be one whose id did not arrive.
        """
        listed: Any = [{"custom_id": key, "params": self.cached_as.adapted(item.body)} for key, item in requests]
        received = self._call(lambda batches, wait: batches.create(requests=listed, timeout=wait), timeout_s)
        try:
            return self._state(received)
        except ProviderError as error:
            error.lost = True  # it was taken, whatever this is
            raise

    def retrieve(self, batch: str, *, timeout_s: float) -> State:
        """Look how a batch is; raise ProviderError where the server does not say; ``status`` 404 or 410: it is gone."""
        state = self._state(self._call(lambda batches, wait: batches.retrieve(batch, timeout=wait), timeout_s))
        if state.batch != batch:
            raise no_message("another batch than was asked for", self.cached_as.place())
        return state

    def recent(self, *, timeout_s: float) -> tuple[State, ...]:
        """List the workspace's latest batches, of any author; raise ProviderError where there is no list."""
        received = self._call(lambda batches, wait: batches.list(limit=MOST_LISTED, timeout=wait), timeout_s)
        listed = wire.document(received.data, self.cached_as.place()).get("data")
        if not isinstance(listed, list):
            raise no_message("what is no list of batches", self.cached_as.place())
        return tuple(state for one in listed if (state := state_of(one)) is not None)

    def results(self, batch: str, *, timeout_s: float = RESULTS_S) -> Iterator[Line]:
        """Yield the results of a batch that has ended, in the order in which they come.

        Raises ProviderError where there are none, or not all of them came; ``status`` 404 or 410: they are gone.
        """
        client = self._connected()
        failure: ProviderError | None = None
        try:
            for text in self._lines(client, batch, timeout_s):
                yield line_of(text)
        except anthropic.APIStatusError as error:
            headers = {name.lower(): value for name, value in error.response.headers.items()}
            failure = self._refused(error.status_code, headers, error.response.text)
        except self.cached_as.failures as error:
            failure = self.cached_as.failed(error, self.cached_as.place(), timeout_s)
        if failure is not None:
            raise failure  # outside the handler: the SDK's errors hold the request

    def reply(self, request: Request, result: Mapping[str, Any]) -> Reply:
        """Read the result of a request; raise ProviderError where it is no message."""
        place = self.cached_as.place(str(request.body.get("model", "")))
        match result.get("type"):
            case "succeeded" if isinstance(result.get("message"), dict):
                return direct.reply_of(result["message"], {}, place)
            case "errored":  # as if the API had refused that request alone
                error = result.get("error")
                error = error.get("error") if isinstance(error, dict) and error.get("type") == "error" else error
                kind = error.get("type") if isinstance(error, dict) else None
                status = _STATUS.get(kind, 500) if isinstance(kind, str) else 500
                text = json.dumps(error)
                failure = of_status(status, {}, text, place)
                raise self.cached_as.learned(failure, words(text).lower(), self.cached_as.adapted(request.body))
            case "expired":
                why = "the request expired: the batch ended before it was its turn"
                raise ProviderError(Cause.SERVER, why, retryable=True)
            case "canceled":
                raise ProviderError(Cause.STOPPED, "the batch was canceled before it was the request's turn")
            case _:
                raise no_message("a result of no known kind", place)

    def send(self, request: Request, *, timeout_s: float) -> Reply:
        """Send one request, as a batch of one; raise ProviderError where it gave no message in time."""
        deadline = time.monotonic() + timeout_s
        state = self.create([("one", request)], timeout_s=timeout_s)
        while not state.ended:
            left = deadline - time.monotonic()
            if left <= 0:
                why = f"the batch {state.batch} did not end within {timeout_s:g} s"
                raise ProviderError(Cause.NETWORK, why, lost=True)
            time.sleep(min(_LOOK_S if state.retry_after_s is None else state.retry_after_s, left))
            state = self.retrieve(state.batch, timeout_s=max(1.0, left))
        for line in self.results(state.batch, timeout_s=timeout_s):
            if line.key == "one":
                return self.reply(request, line.result)
        raise no_message("results that do not hold the request", self.cached_as.place())

    def size(self, request: Request) -> int:
        """Return the bytes that a request takes in a batch, about."""
        text = json.dumps(self.cached_as.adapted(request.body), ensure_ascii=False, default=dict)
        return len(text.encode("utf-8", "surrogatepass")) + _ENVELOPE_BYTES

    def close(self) -> None:
        """Let go of connections."""
        self._http.close()
        self.cached_as.close()

    def _connected(self) -> anthropic.Anthropic:
        client = self.cached_as.client
        if not isinstance(client, anthropic.Anthropic):
            reason = client.reason if isinstance(client, direct.Unconnected) else "no such API there"
            raise ProviderError(Cause.CREDENTIALS, f"no connection to Anthropic: {reason}")
        return client

    def _call(self, send: Callable[[Any, Any], Any], timeout_s: float) -> wire.Received:
        """Make one call of the SDK's batches by ``send``; raise ProviderError where none answers, or one refuses."""
        batches = self._connected().messages.batches.with_streaming_response
        received = self.cached_as.call(lambda wait: send(batches, wait), self.cached_as.place(), timeout_s)
        if not received.good:
            raise self._refused(received.status, received.headers, received.text)
        return received

    def _refused(self, status: int, headers: Mapping[str, str], text: str) -> ProviderError:
        place = self.cached_as.place()
        failure = of_status(status, headers, text, place)
        if failure.cause is not Cause.MODEL:
            return failure
        # Of a request alone it is the model that is not there.
        why = f"{place.endpoint} ({status}) knows no such batch, or no Message Batches at all"
        return ProviderError(Cause.REQUEST, why, status=status)

    def _state(self, received: wire.Received) -> State:
        state = state_of(wire.document(received.data, self.cached_as.place()))
        if state is None:
            raise no_message("what is no batch", self.cached_as.place())
        return state._replace(retry_after_s=retry_after(received.headers))

    def _lines(self, client: anthropic.Anthropic, batch: str, timeout_s: float) -> Iterator[bytes]:
        """Yield the lines of results that are not blank; raise ProviderError where there is more than can be."""
        parts: list[bytes] = []
        length = total = 0
        for piece in self._pieces(client, batch, timeout_s):
            first, *more = piece.split(b"\n")
            total += len(piece)
            for following in more:
                text = b"".join((*parts, first))
                parts, length, first = [], 0, following
                if text.strip():
                    yield text
            parts.append(first)
            length += len(first)
            if length > MOST_LINE_BYTES or total > MOST_RESULT_BYTES:
                raise no_message("more results than a batch can have", self.cached_as.place())
        text = b"".join(parts)
        if text.strip():
            yield text

    def _pieces(self, client: anthropic.Anthropic, batch: str, timeout_s: float) -> Iterator[bytes]:
        """Read a body of any size: each piece within a time, and all of them."""
        deadline = time.monotonic() + timeout_s
        path = f"/v1/messages/batches/{batch}/results"
        headers = {"Accept": "application/binary", "X-Stainless-Raw-Response": "stream"}
        with wire.within(_SILENCE_S):
            opened: Any = client.copy(http_client=self._http).get(
                path, cast_to=object, options={"headers": headers, "timeout": wire.timeout(_SILENCE_S)}
            )
        try:
            pieces = opened.iter_bytes()
            while True:
                with wire.within(min(_SILENCE_S, deadline - time.monotonic())):
                    piece = next(pieces, None)
                if piece is None:
                    return
                yield piece
        finally:
            opened.close()


def state_of(document: object) -> State | None:
    """Read a batch; None for anything else."""
    if not isinstance(document, dict):
        return None
    batch, status, counts = (document.get(name) for name in ("id", "processing_status", "request_counts"))
    if not is_batch_id(batch) or not isinstance(status, str):
        return None
    numbers = counts.values() if isinstance(counts, dict) else ()
    total = sum(number for number in numbers if type(number) is int)
    try:
        created = datetime.fromisoformat(document.get("created_at") or "")
        created_s = created.timestamp() if created.tzinfo is not None else 0.0
    except (ValueError, TypeError, OverflowError):
        created_s = 0.0
    return State(batch, status == "ended", total, created_s)


def line_of(text: bytes) -> Line:
    """Read a line of results, whatever is in it."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = None
    key, result = (fields.get("custom_id"), fields.get("result")) if isinstance(fields, dict) else (None, None)
    if not isinstance(key, str):
        return Line("", {})
    return Line(key, result if isinstance(result, dict) else {})
