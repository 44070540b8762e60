"""Tries again what may succeed then, within bounds of our own.

The keeper of ``tenacity``. An SDK left to itself sleeps as long as a server asks it to, hours included; here a wait has
a most, and so have all tries of one request together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    stop_after_attempt,
    stop_before_delay,
    wait_exponential,
    wait_random,
)

from skillgate.llm.port import ProviderError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Policy(NamedTuple):
    """How long to keep trying one request.

    Attributes:
        tries: the most.
        first_wait_s: doubled for each further one, and up to half of it added by chance, so that clients that failed
            together do not come back together.
        longest_wait_s: the most of a wait. A server that asks for a longer one is not asked again: a try before its
            time would only be refused, and waiting for hours is nobody's wish.
        deadline_s: no try begins later than this after the first.
    """

    tries: int = 4
    first_wait_s: float = 0.5
    longest_wait_s: float = 60.0
    deadline_s: float = 180.0


def persistent(send: Callable[[], T], policy: Policy, pause: Callable[[float], None]) -> T:
    """Send until there is a reply, or until trying again is of no use; give what ``send`` gives.

    Args:
        send: one try; it raises ``ProviderError``.
        policy: the bounds.
        pause: waits for so many seconds; whatever it raises ends the tries.

    Raises:
        ProviderError: of the last try.
    """
    retrying = Retrying(
        stop=stop_after_attempt(policy.tries) | stop_before_delay(policy.deadline_s),
        wait=_waits(policy),
        retry=retry_if_exception(_worthwhile(policy)),
        sleep=pause,
        reraise=True,
    )
    return retrying(send)


def _worthwhile(policy: Policy) -> Callable[[BaseException], bool]:
    def worthwhile(error: BaseException) -> bool:
        if not isinstance(error, ProviderError) or not error.again:
            return False
        return error.retry_after_s is None or error.retry_after_s <= policy.longest_wait_s

    return worthwhile


def _waits(policy: Policy) -> Callable[[RetryCallState], float]:
    growing = wait_exponential(multiplier=policy.first_wait_s) + wait_random(0, policy.first_wait_s / 2)

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome is not None else None
        asked = error.retry_after_s if isinstance(error, ProviderError) else None
        return min(policy.longest_wait_s, growing(state) if asked is None else asked)

    return wait
