"""The Message Batches API through Anthropic's own SDK: half the price, within a day.

Credentials, address and the reading of messages are those of :mod:`skillgate.llm.providers.anthropic`. Amazon Bedrock
and Vertex AI have batches of another kind, which are not spoken here.

Results are read under the address that the batch was sent to and never under the one that the server names: key and
skill go where the user sent them.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import anthropic

from skillgate.errors import UsageError
from skillgate.llm import bounded, wire
from skillgate.llm.batch_shapes import line_of, lines, state_of
from skillgate.llm.failures import Place, asked_to_wait, no_message, of_status, shown, words
from skillgate.llm.port import ProviderError
from skillgate.llm.providers import anthropic as direct
from skillgate.model.exchange import Cause

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from skillgate.llm.batch_shapes import Line, State
    from skillgate.llm.port import Connection
    from skillgate.model.exchange import Reply, Request

POSITION = 2
KEY_VARIABLE = "ANTHROPIC_API_KEY"
MODELS_OF = "anthropic"
BATCHES = True
RESULTS_S = 3_600.0
"""For all results of a batch to come."""
MOST_LISTED = 1_000  # recent batches that are looked at; the most that the API gives at once
_SILENCE_S = 120.0  # within results
_ENVELOPE_BYTES = 128  # of a request in a batch: its key and what stands around it
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


def connect(connection: Connection) -> Batches:
    """Connect as the environment says; nothing is sent yet.

    Raises:
        UsageError: the base URL is none, or a platform without this API is asked for.
    """
    if connection.environ.get(direct.PLATFORM_VARIABLE, "").strip():
        raise UsageError(f"--provider batch: only Anthropic's own API has it; unset {direct.PLATFORM_VARIABLE}")
    return Batches(direct.connect(connection))


class Batches:
    """The Message Batches API. Not for several threads at once.

    Attributes:
        kept_as: the provider whose answers these are but for the price: what one has answered is kept for both.
    """

    name = "batch"
    variant = ""
    live = True

    def __init__(self, messages: direct.Messages) -> None:
        """Take the connection to share."""
        self.kept_as = messages
        self.endpoint = messages.endpoint
        self._client = messages._client
        self._secrets = messages._secrets
        self._failures: tuple[type[Exception], ...] = (
            anthropic.AnthropicError,
            wire.LostError,
            wire.TooMuchError,
            TypeError,
            *messages._unresolved,
        )
        self._http = anthropic.DefaultHttpxClient(follow_redirects=False)
        bounded.bound(self._http)
        # Results are counted here, line by line: as a whole they may be larger than any message.
        self._http.event_hooks = {"response": []}
        self._http.headers["accept-encoding"] = "identity"

    def create(self, requests: Sequence[tuple[str, Request]], *, timeout_s: float) -> State:
        """Submit a batch.

        Args:
            requests: each with its key: at most 64 letters, digits, ``-`` and ``_``, no two equal.
            timeout_s: for all of it.

        Raises:
            ProviderError: there is no batch, or (``lost``) there may be one whose id did not arrive.
        """
        listed = [{"custom_id": key, "params": self._spoken(request)} for key, request in requests]
        received = self._asked(lambda batches, wait: batches.create(requests=listed, timeout=wait), timeout_s)
        try:
            return self._state(received)
        except ProviderError as error:
            error.lost = True  # it was taken, whatever this is
            raise

    def retrieve(self, batch: str, *, timeout_s: float) -> State:
        """Look how a batch is.

        Raises:
            ProviderError: that cannot be told; ``status`` 404 or 410: it is gone.
        """
        state = self._state(self._asked(lambda batches, wait: batches.retrieve(batch, timeout=wait), timeout_s))
        if state.batch != batch:
            raise no_message("another batch than was asked for", self._place())
        return state

    def recent(self, *, timeout_s: float) -> tuple[State, ...]:
        """List the workspace's latest batches, whoever made them.

        Raises:
            ProviderError: they cannot be told.
        """
        received = self._asked(lambda batches, wait: batches.list(limit=MOST_LISTED, timeout=wait), timeout_s)
        listed = wire.document(received.data, self._place()).get("data")
        if not isinstance(listed, list):
            raise no_message("what is no list of batches", self._place())
        return tuple(state for one in listed if (state := state_of(one)) is not None)

    def results(self, batch: str, *, timeout_s: float = RESULTS_S) -> Iterator[Line]:
        """Read the results of a batch that has ended, in the order in which they come.

        Raises:
            ProviderError: there are none, or not all of them came; ``status`` 404 or 410: they are gone.
        """
        place, client = self._place(), self._connected()
        failure: ProviderError | None = None
        try:
            for text in lines(self._pieces(client, batch, timeout_s), place):
                yield line_of(text)
        except self._failures as error:
            failure = self._failed(error, place, timeout_s)
        if failure is not None:
            raise failure  # outside the handler: the SDK's errors hold the request

    def reply(self, request: Request, result: Mapping[str, Any]) -> Reply:
        """Read the result of a request.

        Raises:
            ProviderError: it is no message: refused, failed, expired or canceled. ``again``: the next may be.
        """
        place = Place(self.endpoint, str(request.body.get("model", "")), direct.CHECK_KEY, self._secrets)
        match result.get("type"):
            case "succeeded" if isinstance(result.get("message"), dict):
                return direct.reply_of(result["message"], {}, place)
            case "errored":
                raise self._refusal(request, result.get("error"), place)
            case "expired":
                why = "the request expired: the batch ended before it was its turn"
                raise ProviderError(Cause.SERVER, why, again=True)
            case "canceled":
                raise ProviderError(Cause.STOPPED, "the batch was canceled before it was the request's turn")
            case _:
                raise no_message("a result of no known kind", place)

    def send(self, request: Request, *, timeout_s: float) -> Reply:
        """Send one request, as a batch of one; waits for its end.

        Raises:
            ProviderError: it gave no message in time.
        """
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
        raise no_message("results that do not hold the request", self._place())

    def size(self, request: Request) -> int:
        """Give the bytes that a request takes in a batch, about."""
        spoken = json.dumps(self._spoken(request), ensure_ascii=False, default=dict)
        return len(spoken.encode("utf-8", "surrogatepass")) + _ENVELOPE_BYTES

    def close(self) -> None:
        """Let go of connections."""
        self._http.close()
        self.kept_as.close()

    def _spoken(self, request: Request) -> dict[str, Any]:
        return self.kept_as._spoken(request.body, str(request.body.get("model", "")))

    def _place(self) -> Place:
        return Place(self.endpoint, "", direct.CHECK_KEY, self._secrets)

    def _connected(self) -> anthropic.Anthropic:
        if not isinstance(self._client, anthropic.Anthropic):
            reason = self._client.reason if isinstance(self._client, direct.Unconnected) else "no such API there"
            raise ProviderError(Cause.CREDENTIALS, f"no connection to Anthropic: {reason}")
        return self._client

    def _asked(self, send: Callable[[Any, Any], Any], timeout_s: float) -> wire.Received:
        """Send one call and read all of what comes; it is read here and not by the SDK, which takes any 200 for good.

        Args:
            send: makes the call, given the SDK's batches and its time-out.
            timeout_s: for all of it.
        """
        place, batches = self._place(), self._connected().messages.batches.with_streaming_response
        try:
            with bounded.within(timeout_s), send(batches, wire.timeout(timeout_s)) as response:
                data = b"".join(response.iter_bytes())
                return wire.Received(response.status_code, wire.lowered(response.headers), data)
        except self._failures as error:
            failure = self._failed(error, place, timeout_s)
        raise failure

    def _pieces(self, client: anthropic.Anthropic, batch: str, timeout_s: float) -> Iterator[bytes]:
        """Read a body of any size: each piece within a time, and all of them."""
        deadline = time.monotonic() + timeout_s
        path = f"/v1/messages/batches/{batch}/results"
        headers = {"Accept": "application/binary", "X-Stainless-Raw-Response": "stream"}
        with bounded.within(_SILENCE_S):
            opened: Any = client.copy(http_client=self._http).get(
                path, cast_to=object, options={"headers": headers, "timeout": wire.timeout(_SILENCE_S)}
            )
        try:
            pieces = opened.iter_bytes()
            while True:
                with bounded.within(min(_SILENCE_S, deadline - time.monotonic())):
                    piece = next(pieces, None)
                if piece is None:
                    return
                yield piece
        finally:
            opened.close()

    def _failed(self, error: BaseException, place: Place, timeout_s: float) -> ProviderError:
        """Say what an exception of the SDK means."""
        if isinstance(error, anthropic.APIStatusError):
            status, response = error.status_code, error.response
            failure = of_status(status, wire.lowered(response.headers), response.text, place)
            if failure.cause is not Cause.MODEL:
                return failure
            # Of a request alone it is the model that is not there.
            why = f"{place.endpoint} ({status}) knows no such batch, or no Message Batches at all"
            return ProviderError(Cause.REQUEST, why, status=status)
        if isinstance(error, anthropic.APIConnectionError):
            return wire.lost(error.__cause__, place, timeout_s=timeout_s)
        if isinstance(error, wire.LostError):
            return wire.lost(error, place, timeout_s=timeout_s)
        if isinstance(error, wire.TooMuchError):
            return no_message(str(error), place)
        if isinstance(error, TypeError) and "authentication" not in str(error):
            raise error
        if isinstance(error, TypeError):
            return ProviderError(Cause.CREDENTIALS, f"there is no key for {place.endpoint}: {direct.NO_KEY}")
        return ProviderError(Cause.CREDENTIALS, f"no usable credentials: {shown(str(error), place.secrets)}")

    def _refusal(self, request: Request, error: object, place: Place) -> ProviderError:
        """Say what the error of one request means: as if the API had refused that request alone."""
        said = error.get("error") if isinstance(error, dict) and error.get("type") == "error" else error
        kind = said.get("type") if isinstance(said, dict) else None
        status = _STATUS.get(kind, 500) if isinstance(kind, str) else 500
        text = json.dumps(said)
        failure = of_status(status, {}, text, place)
        return self.kept_as._learned(failure, words(text).lower(), self._spoken(request), place.model)

    def _state(self, received: wire.Received) -> State:
        state = state_of(wire.document(received.data, self._place()))
        if state is None:
            raise no_message("what is no batch", self._place())
        return state._replace(retry_after_s=asked_to_wait(received.headers))
