"""Servers that others wrote, over a real socket: the same requests, and their own verdict on how we try again.

They are programs of their own: aimock (npm ``@copilotkit/aimock``) is found by ``SKILLGATE_AIMOCK``, the path of its
``dist/cli.js``, and runs in node; llmock (PyPI ``llmock``) by ``SKILLGATE_LLMOCK``, else on the search path.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("anthropic")
pytest.importorskip("tenacity")

from skillgate.llm.flow import RetryPolicy
from skillgate.llm.port import Connection
from skillgate.llm.providers import openai_compatible
from skillgate.model.exchange import Cause, Status, Tokens
from tests.llm.requests import KEY, SCHEMA, asking, connected, request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skillgate.model.exchange import Answer

AIMOCK = os.environ.get("SKILLGATE_AIMOCK", "")
NODE = shutil.which("node")
LLMOCK = os.environ.get("SKILLGATE_LLMOCK") or shutil.which("llmock") or ""
# Waits that a verdict can tell apart, and that end within a test.
PATIENT = RetryPolicy(tries=4, first_wait_s=0.1, longest_wait_s=60.0, deadline_s=60.0)

needs_aimock = pytest.mark.skipif(
    not (NODE and os.path.isfile(AIMOCK)),  # noqa: PTH113
    reason="needs node, and SKILLGATE_AIMOCK to name dist/cli.js of the npm package @copilotkit/aimock",
)
needs_llmock = pytest.mark.skipif(
    not os.path.isfile(LLMOCK),  # noqa: PTH113
    reason="needs the program llmock (pip install llmock==0.2.2) on the search path or in SKILLGATE_LLMOCK",
)


@contextmanager
def serving(*argv: str, port: int, log: Path) -> Iterator[str]:
    """Run a server until the block ends; give its address once it takes connections."""
    with log.open("wb") as output:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        try:
            until_open(process, port, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(120)


def until_open(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    pytest.fail(f"the server does not take connections: {log.read_text()}")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def fetched(port: int, method: str, path: str, body: object = None) -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request(method, path, json.dumps(body) if body is not None else None)
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


# aimock


def fixture(question: str, answer: dict[str, Any], index: int | None = None) -> dict[str, Any]:
    match: dict[str, Any] = {"userMessage": f"Question: {question}"}
    return {"match": match if index is None else {**match, "sequenceIndex": index}, "response": answer}


USED = {"input_tokens": 30, "output_tokens": 5, "prompt_tokens": 30, "completion_tokens": 5}
FIXTURES = [
    fixture("good", {"content": {"score": 7}, "reasoning": "let me see", "usage": USED}),
    fixture("wrong", {"content": {"score": 11}}),
    fixture("prose", {"content": "a seven"}),
    fixture("cut", {"content": '{"sco', "finishReason": "length"}),
    fixture("refused", {"content": "no", "finishReason": "refusal"}),
    fixture("window", {"content": "no", "finishReason": "model_context_window_exceeded"}),
    fixture("tool", {"toolCalls": [{"name": "unasked", "arguments": {}}]}),
    fixture("busy", {"error": {"message": "busy", "type": "overloaded_error"}, "status": 529}, 0),
    fixture("busy", {"error": {"message": "busy", "type": "overloaded_error"}, "status": 529}, 1),
    fixture("busy", {"content": {"score": 3}, "usage": USED}, 2),
    fixture("key", {"error": {"message": "no", "type": "authentication_error"}, "status": 401}),
]


@pytest.fixture(scope="module")
def aimock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    folder, port = tmp_path_factory.mktemp("aimock"), free_port()
    fixtures = folder / "fixtures.json"
    fixtures.write_text(json.dumps({"fixtures": FIXTURES}))
    argv = (NODE or "", AIMOCK, "-p", str(port), "-h", "127.0.0.1", "-f", str(fixtures), "--strict")
    with serving(*argv, port=port, log=folder / "log") as url:
        yield url, port


EXPECTED = [
    ("good", Status.OK, None, 1),
    ("wrong", Status.INVALID, None, 1),
    ("prose", Status.INVALID, None, 1),
    ("cut", Status.TRUNCATED, None, 1),
    ("refused", Status.REFUSED, None, 1),
    ("window", Status.ERROR, Cause.TOO_LONG, 1),
    ("tool", Status.INVALID, None, 1),
    ("key", Status.ERROR, Cause.CREDENTIALS, 1),
    ("busy", Status.OK, None, 3),
]


@needs_aimock
@pytest.mark.parametrize(("question", "status", "cause", "sent"), EXPECTED)
def test_aimock_is_understood(
    aimock: tuple[str, int], question: str, status: Status, cause: Cause | None, sent: int
) -> None:
    provider = connected(aimock[0])
    answer = asking(provider).ask(request(question=question))
    provider.close()
    assert (answer.status, answer.cause, answer.sent) == (status, cause, sent), answer.reason
    if status is Status.OK:
        assert answer.tokens == Tokens(30, 5)
        assert isinstance(answer.value["score"], int)
    if question == "good":
        assert answer.reply is not None
        assert [block["type"] for block in answer.reply.content] == ["thinking", "text"]


@needs_aimock
@pytest.mark.parametrize(
    ("question", "status"), [("good", Status.OK), ("wrong", Status.INVALID), ("cut", Status.TRUNCATED)]
)
def test_aimock_s_chat_completions_are_understood(aimock: tuple[str, int], question: str, status: Status) -> None:
    provider = openai_compatible.connect(Connection({"OPENAI_API_KEY": KEY}, base_url=f"{aimock[0]}/v1"))
    answer = asking(provider).ask(request(question=question))
    provider.close()
    assert (answer.status, answer.sent) == (status, 1), answer.reason
    assert answer.tokens.output > 0


# llmock


@pytest.fixture(scope="module")
def llmock_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder, port = tmp_path_factory.mktemp("llmock"), free_port()
    with serving(LLMOCK, "serve", "--host", "127.0.0.1", "--port", str(port), port=port, log=folder / "log"):
        yield port


def asked_of_llmock(port: int, *behaviours: dict[str, Any], times: int = 1) -> tuple[list[Answer], Any, list[Any]]:
    """Script the server, ask it, and give the answers, its verdict, and the requests as it saw them."""
    fetched(port, "POST", "/_llmock/reset")
    fetched(port, "POST", "/_llmock/scenario", {"behaviors": list(behaviours)})
    provider = connected(f"http://127.0.0.1:{port}/anthropic")
    asker = asking(provider, policy=PATIENT)
    answers = [asker.ask(request()) for _ in range(times)]
    provider.close()
    return (
        answers,
        fetched(port, "GET", "/_llmock/verdict"),
        fetched(port, "GET", "/_llmock/requests")["requests"],
    )


REPLY = {"type": "reply", "text": '{"score": 7}'}


@needs_llmock
def test_llmock_saw_what_a_judge_asks(llmock_port: int) -> None:
    (answer,), verdict, seen = asked_of_llmock(llmock_port, REPLY)
    assert (answer.status, answer.value) == (Status.OK, {"score": 7})
    assert answer.tokens.input > 0
    assert verdict["findings"] == []
    body = seen[0]["body"]
    assert body["output_config"] == {"effort": "medium", "format": {"type": "json_schema", "schema": SCHEMA}}
    assert body["messages"][0]["content"][0]["cache_control"] == {"type": "ephemeral"}
    assert not {"temperature", "top_p", "top_k", "tools"} & set(body)


CLEAN = [
    ({"type": "fail", "status": 529, "times": 2}, Status.OK, 3),
    ({"type": "fail", "status": 500, "times": 3}, Status.OK, 4),
    ({"type": "fail", "status": 429, "retry_after": 1, "times": 2}, Status.OK, 3),
    ({"type": "fail", "status": 503, "retry_after": 0.5, "times": 1}, Status.OK, 2),
    ({"type": "fail", "status": 503, "times": None}, Status.ERROR, 4),
    ({"type": "fail", "status": 401, "times": None}, Status.ERROR, 1),
    ({"type": "fail", "status": 403, "times": None}, Status.ERROR, 1),
    ({"type": "fail", "status": 404, "times": None}, Status.ERROR, 1),
    ({"type": "fail", "status": 400, "times": None}, Status.ERROR, 1),
    ({"type": "fail", "status": 413, "times": None}, Status.ERROR, 1),
]


@needs_llmock
@pytest.mark.parametrize(("fault", "status", "sent"), CLEAN)
def test_llmock_finds_nothing_wrong_with_how_we_try_again(
    llmock_port: int, fault: dict[str, Any], status: Status, sent: int
) -> None:
    (answer,), verdict, seen = asked_of_llmock(llmock_port, fault, REPLY)
    assert (answer.status, answer.sent, len(seen)) == (status, sent, sent), answer.reason
    assert verdict["passed"]
    assert verdict["findings"] == []


@needs_llmock
def test_a_tool_that_llmock_calls_unasked_is_no_answer(llmock_port: int) -> None:
    call = {"type": "reply", "tool_calls": [{"name": "unasked", "arguments": {}}]}
    (answer,), _, _ = asked_of_llmock(llmock_port, call)
    assert answer.status is Status.INVALID


@needs_llmock
def test_llmock_s_chat_completions_are_understood(llmock_port: int) -> None:
    fetched(llmock_port, "POST", "/_llmock/reset")
    fetched(
        llmock_port, "POST", "/_llmock/scenario", {"behaviors": [{"type": "fail", "status": 429, "times": 1}, REPLY]}
    )
    base = f"http://127.0.0.1:{llmock_port}/v1"
    provider = openai_compatible.connect(Connection({"OPENAI_API_KEY": KEY}, base_url=base))
    answer = asking(provider, policy=PATIENT).ask(request(model="gpt-4o"))
    provider.close()
    assert (answer.status, answer.sent) == (Status.OK, 2), answer.reason
    assert fetched(llmock_port, "GET", "/_llmock/verdict")["findings"] == []
