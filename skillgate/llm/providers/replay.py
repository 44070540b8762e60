"""Answers as they were recorded, for a run that can be repeated to the byte without a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.llm.port import ProviderError
from skillgate.llm.recording import Failed, fingerprint, read
from skillgate.model.exchange import Cause

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.llm.port import Connection
    from skillgate.model.exchange import Reply, Request

POSITION = 5
MADE_UP = "replayed"
HOLDS_SESSIONS = True


def connect(connection: Connection) -> Replay:
    """Read the recording.

    Raises:
        UsageError: none is named, or it cannot be read.
    """
    if connection.file is None:
        raise UsageError("provider replay: name the recording with --replay FILE")
    return Replay(*read(connection.file, cwd=connection.cwd))


class Replay:
    """A recording as a provider; what it does not hold is unknown."""

    name = "replay"
    variant = ""
    live = False

    def __init__(self, recorded: Mapping[str, Reply | Failed], digest: str) -> None:
        """Take what was recorded, by fingerprint, and a digest of it."""
        self.endpoint = digest
        self._recorded = recorded

    def send(self, request: Request, *, timeout_s: float) -> Reply:  # noqa: ARG002 - nothing is waited for
        """Give the recorded reply.

        Raises:
            ProviderError: the recorded one, or ``UNKNOWN`` where there is none.
        """
        outcome = self._recorded.get(fingerprint(request))
        if outcome is None:
            asked = f'"{request.question}" of {request.subject}'
            raise ProviderError(Cause.UNKNOWN, f"the recording holds no answer to {asked}")
        if isinstance(outcome, Failed):
            raise ProviderError(outcome.cause, f"recorded: {outcome.reason}")
        return outcome

    def close(self) -> None:
        """Nothing is open."""
