"""Askers and layers for the tests of what drives them: real ones, that answer without a model."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from skillgate.model.exchange import Answer, Reply, Request, Status, Together, Tokens

if TYPE_CHECKING:
    from collections.abc import Generator

    from skillgate.model.exchange import Steps

MODEL = "claude-sonnet-5-5"
USED = Tokens(input=1_000, output=100)


def request(question: str, subject: str = "skill", *, prefix: str = "", text: str = "", model: str = MODEL) -> Request:
    content = text or f"{subject} {question}"
    body = {"model": model, "max_tokens": 1_000, "messages": [{"role": "user", "content": content}]}
    return Request(question, subject, body, prefix=prefix)


def reply(text: str = "4", *, tokens: Tokens | None = USED, model: str = MODEL) -> Reply:
    return Reply(({"type": "text", "text": text},), "end_turn", tokens, model, "req_1")


class Named:
    """A provider by its name alone; whoever sends with it has made a mistake."""

    name = "anthropic"
    endpoint = "https://model.example"
    variant = ""
    live = True

    def send(self, request: Request, *, timeout_s: float) -> Reply:
        raise AssertionError("nothing is to be sent")

    def close(self) -> None:
        pass


class Echo:
    """Answers with question and subject after a while, and notes what was in flight."""

    def __init__(self, latency_s: float = 0.0, *, cached: frozenset[str] = frozenset()) -> None:
        self.asked: list[str] = []
        self.done: list[str] = []
        self.seen: dict[str, int] = {}
        """How many were done when it was asked."""
        self.most_in_flight = 0
        self._latency_s = latency_s
        self._cached = cached
        self._now = 0
        self._lock = threading.Lock()

    def ask(self, request: Request) -> Answer:
        name = f"{request.subject} {request.question}"
        with self._lock:
            self._now += 1
            self.most_in_flight = max(self.most_in_flight, self._now)
            self.asked.append(name)
            self.seen[name] = len(self.done)
        cached = name in self._cached
        if self._latency_s and not cached:
            time.sleep(self._latency_s)
        with self._lock:
            self._now -= 1
            self.done.append(name)
        return Answer(Status.OK, name, cached=cached, cost_usd=0.0 if cached else 0.01)


def one(question: str, subject: str = "skill", *, prefix: str = "") -> Generator[Request, Answer, object]:
    """Ask one question; gives the answer's value."""
    answer = yield request(question, subject, prefix=prefix)
    return answer.value


def chain(subject: str) -> Generator[Request, Answer, object]:
    """Ask for prompts, then for predictions on them."""
    yield request("prompts", subject)
    return (yield request("predictions", subject)).value


def judge(subject: str, *, prefix: str = "") -> Steps[tuple[object, ...]]:
    """Ask what a judge asks about a skill: six requests, of which one waits for another and four begin alike."""
    questions = ("orchestration", "output", "scope", "others")
    found: tuple[object, ...] = yield Together(
        (chain(subject), *(one(question, subject, prefix=prefix) for question in questions))
    )
    return (subject, *found)
