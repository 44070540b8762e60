"""A scripted model in this process: no network, no key, no cost, and no judgement."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.llm.port import Connection, Destination, Provider, ProviderError, of_status
from skillgate.llm.scripted.engine import Engine, Failure, Message, error_document
from skillgate.llm.scripted.rules import LIMITS, Rules, parse
from skillgate.model.digest import digest
from skillgate.model.exchange import Cause, Reply

if TYPE_CHECKING:
    from skillgate.model.exchange import Request

POSITION = 4
MADE_UP = "scripted"
ANSWERS_VERSION = 2  # changes with what is made up, so that no answer kept from before is taken for one of now


def connect(connection: Connection) -> Provider:
    """Make a scripted model of the rules in ``connection.file``; without a file it makes everything up.

    Raises UsageError where the rules cannot be read or are not valid.
    """
    data = b"" if connection.file is None else _read(connection.file, cwd=connection.cwd)
    rules = Rules() if connection.file is None else parse(data, connection.file)
    return _Scripted(rules, endpoint=digest(str(ANSWERS_VERSION).encode(), data))


def rules_of(file: str, *, cwd: str) -> Rules:
    """Read the rules of a file whose path is relative to ``cwd``.

    Raises UsageError where the rules cannot be read or are not valid.
    """
    return parse(_read(file, cwd=cwd), file)


def _read(file: str, *, cwd: str) -> bytes:
    try:
        with (Path(cwd) / file).open("rb") as source:
            data = source.read(LIMITS.bytes + 1)
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{file}: the rules of the scripted model cannot be read: {why}") from None
    if len(data) > LIMITS.bytes:
        raise UsageError(f"{file}: larger than {LIMITS.bytes // 1024} KiB")
    return data


class _Scripted:
    """Answers in the calling thread."""

    name = "scripted"
    variant = ""
    live = False

    def __init__(self, rules: Rules, *, endpoint: str) -> None:
        self.endpoint = endpoint
        self._engine = Engine(rules)
        self._closed = threading.Event()

    def send(self, request: Request, *, timeout_s: float) -> Reply:
        """Answer a request as a server would, delays, failures and time-outs included."""
        body = json.loads(json.dumps(dict(request.body), default=dict))  # as it would arrive
        outcome = self._engine.answer(body, request.question, sample=request.sample)
        if self._closed.wait(min(outcome.delay_s, timeout_s)):
            raise ProviderError(Cause.STOPPED, "the scripted model was closed")
        if outcome.delay_s > timeout_s:
            raise ProviderError(Cause.NETWORK, f"no scripted reply within {timeout_s:g} s", retryable=True)
        if isinstance(outcome, Failure):
            raise _error(outcome, str(body.get("model", "")))
        if outcome.cut:
            raise ProviderError(Cause.NETWORK, "the scripted reply ends in the middle", retryable=True)
        return _reply(outcome)

    def close(self) -> None:
        """Let whoever waits for a delayed reply go."""
        self._closed.set()


def _reply(message: Message) -> Reply:
    return Reply(
        content=message.content,
        stop_reason=message.stop_reason,
        tokens=message.tokens,
        model=message.model,
        request_id=message.id,
        category=message.category,
    )


def _error(failed: Failure, model: str) -> ProviderError:
    """Say what a failure means as it is said of one that came over HTTP."""
    wait = {} if failed.retry_after_s is None else {"retry-after": f"{failed.retry_after_s:g}"}
    place = Destination("the scripted model", model, "a rule of it says so")
    return of_status(failed.status, wait, json.dumps(error_document(failed)), place)
