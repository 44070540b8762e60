"""A provider that could be in use: it answers as a function says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.llm.port import ProviderError
from skillgate.model.exchange import Cause, Reply, Tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.model.exchange import Request

GOOD = Reply(({"type": "text", "text": '{"score": 7}'},), "end_turn", Tokens(100, 20), "claude-sonnet-5-5")
DOWN = ProviderError(Cause.SERVER, "the server failed", status=500, retryable=True)


class Table:
    """A provider that answers as a function says; one that could be in use."""

    name = "anthropic"
    endpoint = "table"
    variant = ""
    live = True

    def __init__(self, answer: Callable[[Request], Reply]) -> None:
        self._answer = answer

    def send(self, request: Request, *, timeout_s: float) -> Reply:
        return self._answer(request)

    def close(self) -> None:
        pass


def replying(*outcomes: Reply | ProviderError) -> Callable[[Request], Reply]:
    """Give these one after the other, the last one for ever."""
    left = list(outcomes)

    def answer(_: Request) -> Reply:
        outcome = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(outcome, ProviderError):
            raise outcome
        return outcome

    return answer
