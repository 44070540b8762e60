"""How a session in the harness ended and what it took, by what the harness says last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from skillgate.llm import prices
from skillgate.model.exchange import Tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

_SPENT = ("error_max_turns", "error_max_budget_usd")  # a session that is given so much and has no answer
_TOO_MUCH, _CONTEXT = "max_output_tokens", "context window"  # how the harness calls both, and names the latter
_COUNTS = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")


class Result(Protocol):
    """The last word of the harness about a session, as far as it is read; the SDK says what each of it means."""

    subtype: str
    is_error: bool
    session_id: str
    stop_reason: str | None
    result: str | None
    errors: list[str] | None
    api_error_status: int | None

    @property
    def model_usage(self) -> Mapping[str, Any] | None:
        """The counts of tokens of each model."""


class Said(NamedTuple):
    """What came of a session, as far as it went.

    Attributes:
        blocks: of its transcript, as the Messages API has them.
        model: that answered last, else the one that was asked.
        result: the harness's last word, None where it ended without one.
        failure: of the SDK; ``""`` for none.
        fault: what the harness calls the last failure of a request; None for none.
    """

    blocks: tuple[Mapping[str, Any], ...]
    model: str
    result: Result | None
    failure: str
    fault: str | None


def ended(said: Said, result: Result) -> str | None:
    """Say why a session ended, as the API does or ``max_turns``; None where a request of it failed.

    What a skill's text can bring about is the session's failure: nobody may escape from one by a longer session.
    """
    if result.subtype in _SPENT:
        return "max_turns"
    if not result.is_error or result.stop_reason == "refusal":
        return result.stop_reason or "end_turn"
    if said.fault == _TOO_MUCH:
        return "model_context_window_exceeded" if _CONTEXT in (result.result or "") else "max_tokens"
    return None


def tokens_of(result: Result) -> Tokens | None:
    """Add up what all requests of a session took; None where the harness does not say.

    By its counts for each model: its sum leaves out the request by which a session passes its bound.
    """
    models: list[Mapping[str, Any]] = [dict(one) for one in (result.model_usage or {}).values()]
    counts = [sum(one.get(name) or 0 for one in models) for name in _COUNTS]
    if not all(prices.is_count(count) for count in counts) or not any(counts):
        return None
    return Tokens(*counts)
