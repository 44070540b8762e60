"""A run with a journal, as a program of its own that can be killed: asks a server on the loopback, prints what came.

Its one argument is JSON: ``url``, ``journal``, and what else :func:`main` reads.
"""

from __future__ import annotations

import http.client
import json
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from skillgate.llm.answers import Answers
from skillgate.llm.asker import PortAsker, run
from skillgate.llm.flow import CircuitBreaker, RetryPolicy
from skillgate.llm.journal import Journal
from skillgate.llm.port import ProviderError, classify
from skillgate.llm.prices import Budget
from skillgate.model.exchange import Answer, Cause, Reply, Request, Status, Together, Tokens

if TYPE_CHECKING:
    from collections.abc import Generator

    from skillgate.model.exchange import Steps

MODEL = "claude-sonnet-5-5"
LAYERS = 4
TURNS = 3
CALLS = LAYERS * 2 * TURNS + 2  # two ask the same of all
QUICK = RetryPolicy(tries=2, first_wait_s=0.001, longest_wait_s=0.002, deadline_s=5.0)


class Loopback:
    """A provider that posts bodies to a server."""

    name = "anthropic"
    endpoint = "loopback"
    variant = ""
    live = True

    def __init__(self, url: str) -> None:
        self._host = urlsplit(url).netloc

    def send(self, request: Request, *, timeout_s: float) -> Reply:
        connection = http.client.HTTPConnection(self._host, timeout=timeout_s)
        try:
            connection.request("POST", "/v1/messages", json.dumps(request.body))
            found = json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException) as error:
            raise ProviderError(Cause.NETWORK, "cut off", retryable=True, lost=True) from error
        finally:
            connection.close()
        block = {"type": "text", "text": found["text"]}
        return Reply((block,), found["stop_reason"], Tokens(100, 20), MODEL)

    def close(self) -> None:
        """Hold nothing."""


def asked(text: str) -> Request:
    """One request."""
    body = {"model": MODEL, "max_tokens": 1_000, "messages": [{"role": "user", "content": text}]}
    return Request("q", "s", body)


def session(name: str) -> Generator[Request, Answer, list[Any]]:
    """Ask, and ask about the answer."""
    found: list[Any] = []
    text = name
    for _ in range(TURNS):
        answer = yield asked(text)
        found.append([answer.status.value, answer.value, answer.reason])
        text = f"{text} {answer.value}"
    return found


def shared() -> Generator[Request, Answer, list[Any]]:
    """Ask what another layer asks too."""
    answer = yield asked("the same for all")
    return [answer.status.value, answer.value, answer.reason]


def layer(number: int) -> Steps[list[Any]]:
    """Two sessions at once; the first and the last layer share a question."""
    branches = [session(f"{number} a"), session(f"{number} b")]
    if number in (0, LAYERS - 1):
        branches.append(shared())
    return list((yield Together(tuple(branches))))


def main(options: dict[str, Any]) -> None:
    """Run, and print the results with what the journal tells."""
    if "most_bytes" in options:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (options["most_bytes"],) * 2)
    provider = Loopback(options["url"])
    journal = Journal(options["journal"], "run", now=time.time)
    answers = None
    if "answers" in options:
        refresh = options.get("refresh", False)
        answers = Answers(options["answers"], now=time.time, classify=classify, refresh=refresh)
    budget = Budget(options.get("max_cost_usd"), options.get("max_calls"))
    asker = PortAsker(
        provider,
        budget=budget,
        answers=answers,
        journal=journal,
        retrying=QUICK,
        breaker=CircuitBreaker(1_000),
        timeout_s=20,
    )
    results = list(run([partial(layer, number) for number in range(LAYERS)], asker, in_flight=4))
    told = journal.resumed
    journal.close(done=not options.get("leave", False))
    found = {
        "results": results,
        "resumed": None if told is None else told._asdict(),
        "failure": journal.failure,
        "spent": budget.spent,
        "calls": budget.calls,
        "errors": sum(Status.ERROR.value in str(each) for each in results),
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
