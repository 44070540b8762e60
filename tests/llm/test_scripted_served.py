"""A scripted world over real sockets and as a provider: both play the same world, to the official client too."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection, IncompleteRead
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.llm.demo_server import MESSAGES, DemoServer, Options
from skillgate.llm.port import Connection, ProviderError
from skillgate.llm.providers.scripted import Engine
from skillgate.llm.scripted.rules import parse, truths
from skillgate.model.exchange import Cause, Reply
from skillgate.model.layers import TriggerPrompt
from skillgate.montecarlo.session import session
from skillgate.registry import Room
from tests.llm.scripted_sessions import PLAN, SUBJECT, prompt

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skillgate.model.exchange import Request

WORLD = "world: {seed: 5, activation: {should: 0.6}, failures: {refusal: 0.1}, outages: {overloaded: 0.1, cut: 0.1}}"


@contextmanager
def serving(rules: str) -> Iterator[DemoServer]:
    """Run a server in this process."""
    with DemoServer(Engine(parse(rules.encode(), "r")), Options()) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.stopped.set()
            server.shutdown()
            thread.join()


def first(number: int) -> Request:
    """Give the first request of a session."""
    case = TriggerPrompt(prompt(number), should_trigger=True, style="direct")
    wanted: Any = next(session(SUBJECT, PLAN, case, number % 5, number))
    return wanted  # type: ignore[no-any-return]


def posted(server: DemoServer, request: Request) -> Any:
    """Send a request; give the content of the reply, else what became of it in a word."""
    host, port = server.server_address[:2]
    connection = HTTPConnection(str(host), int(port), timeout=120)
    try:
        connection.request("POST", MESSAGES, json.dumps(request.body, default=dict).encode())
        reply = connection.getresponse()
        read = json.loads(reply.read())
    except IncompleteRead:
        return "network"
    finally:
        connection.close()
    return "server" if reply.status == 529 else [read["content"], read["stop_reason"]]


def sent(provider: Any, request: Request) -> Any:
    """Send the same in this process, and say the same of it."""
    try:
        reply: Reply = provider.send(request, timeout_s=5)
    except ProviderError as error:
        return {Cause.SERVER: "server", Cause.NETWORK: "network"}[error.cause]
    return [[dict(block) for block in reply.content], reply.stop_reason]


def test_the_server_and_the_provider_play_the_same_world(tmp_path: Path) -> None:
    (tmp_path / "world.yaml").write_text(WORLD, encoding="utf-8")
    connection = Connection(environ={}, file="world.yaml", cwd=str(tmp_path))
    provider = Room("skillgate.llm.providers").load("scripted").connect(connection)
    requests = [first(number) for number in range(60)]
    with serving(WORLD) as server, ThreadPoolExecutor(16) as crew:
        served = list(crew.map(lambda request: posted(server, request), requests))
        again = list(crew.map(lambda request: posted(server, request), reversed(requests)))
    assert served == [sent(provider, request) for request in requests] == again[::-1]
    assert {one if isinstance(one, str) else one[1] for one in served} >= {"server", "network", "tool_use", "end_turn"}


def test_the_official_client_holds_a_whole_session() -> None:
    anthropic = pytest.importorskip("anthropic")
    body = json.loads(json.dumps(first(1).body, default=dict))
    with (
        serving("world: {activation: {should: 1.0}, reads: 1.0}") as server,
        anthropic.Anthropic(base_url=server.base_url, api_key="sk-demo", max_retries=0) as client,
    ):
        called = []
        for _ in range(3):
            message = client.messages.create(**body)
            if message.stop_reason != "tool_use":
                break
            (call,) = message.content
            called.append((call.name, dict(call.input)))
            text = "Base directory for this skill: /skills/invoice-reader\n\nSee references/steps.md."
            result = {"type": "tool_result", "tool_use_id": call.id, "content": "as asked"}
            body["messages"] += [
                {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in message.content]},
                {"role": "user", "content": [result, {"type": "text", "text": text}]},
            ]
    assert called == [
        ("Skill", {"skill": "invoice-reader"}),
        ("Read", {"file_path": "/skills/invoice-reader/references/steps.md"}),
    ]
    assert message.stop_reason == "end_turn"
    assert len(truths(message.content[0].text)) == 1


def test_skills_that_a_harness_lists_in_a_system_message_are_found() -> None:
    listing = "The following skills are available for use with the Skill tool:\n\n- a:clocks: Winds old tower clocks."
    body = {
        "model": "m",
        "max_tokens": 999,
        "tools": [{"name": "Skill", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "system", "content": listing},
            {"role": "user", "content": "Please wind the old clocks in the tower."},
        ],
    }
    (block,) = Engine().answer(body).content  # type: ignore[union-attr]
    assert block["input"] == {"skill": "a:clocks"}


def test_rules_come_before_the_world_and_bend_it() -> None:
    text = f"{WORLD}\nrules: [{{match: {{question: simulation, contains: folder 1 }}, reply: {{text: by rule}}}}]"
    with serving(text) as server:
        assert posted(server, first(1)) == [[{"type": "text", "text": "by rule"}], "end_turn"]
    halved = Engine(parse(b"world: {activation: {should: 0}}\nrules: [{reply: {truncate: true}}]", "r"))
    whole = Engine(parse(b"world: {activation: {should: 0}}", "r"))
    body = json.loads(json.dumps(first(2).body, default=dict))
    one, other = halved.answer(body), whole.answer(body)
    assert one.stop_reason == "max_tokens"  # type: ignore[union-attr]
    assert other.content[0]["text"].startswith(one.content[0]["text"])  # type: ignore[union-attr]
