"""The demo server over real sockets: with the official SDK, with many clients, and with what no client would send."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.errors import IncompleteError, UsageError
from skillgate.llm import demo_server
from skillgate.llm.demo_server import DemoServer, Options
from skillgate.llm.providers.scripted import Engine
from skillgate.llm.scripted.answering import OPENING
from skillgate.llm.scripted.rules import parse
from tests import listening
from tests.llm.scripted_bodies import assessments, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anthropic import Anthropic

ROOT = Path(__file__).parents[2]
RULES = ROOT / "examples" / "judge-rules.yaml"
TWICE_BUSY = "rules: [{match: {times: 2}, reply: {status: 529}}, {reply: {text: at last}}]"


@contextmanager
def serving(rules: str = "rules: []", options: Options | None = None) -> Iterator[DemoServer]:
    """Run a server in this process."""
    with DemoServer(Engine(parse(rules.encode(), "r")), options or Options()) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.stopped.set()
            server.shutdown()
            thread.join()


def address(server: DemoServer) -> tuple[str, int]:
    """Say where it listens."""
    host, port = server.server_address[:2]
    return str(host), int(port)


def client(server: DemoServer, *, max_retries: int = 0) -> Anthropic:
    """Make the official client, as the provider does."""
    anthropic = pytest.importorskip("anthropic")
    made: Anthropic = anthropic.Anthropic(base_url=server.base_url, api_key="sk-demo", max_retries=max_retries)
    return made


def post(
    server: DemoServer, body: Any, path: str = demo_server.MESSAGES, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """Send bytes, or a value as JSON; give status, headers and bytes."""
    connection = HTTPConnection(*address(server), timeout=120)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection.request("POST", path, data, headers)
    reply = connection.getresponse()
    read = reply.read()
    connection.close()
    return reply.status, {name.lower(): value for name, value in reply.getheaders()}, read


def raw(server: DemoServer, data: bytes) -> bytes:
    """Send bytes over a socket and read until the other side closes or has nothing to say for a while."""
    with socket.create_connection(address(server), timeout=2) as link:
        link.sendall(data)
        link.shutdown(socket.SHUT_WR)
        pieces = []
        try:
            while piece := link.recv(65536):
                pieces.append(piece)
        except OSError:
            pass
        return b"".join(pieces)


def alive(server: DemoServer) -> bool:
    """Say whether the server still answers."""
    return post(server, plain())[0] == 200


def test_the_official_client_gets_a_message() -> None:
    request = assessments()["other_dimensions"]
    with serving() as server, client(server) as sdk:
        message = sdk.messages.create(**json.loads(json.dumps(request.body)))
    assert message.model == "scripted-claude-sonnet-5-5"
    assert message.stop_reason == "end_turn"
    assert message.usage.input_tokens > message.usage.output_tokens > 0
    (block,) = message.content
    assert block.type == "text"
    assert request.check is not None
    assert request.check(json.loads(block.text)) is None
    assert OPENING in block.text


def test_the_official_client_reads_the_stream() -> None:
    request = assessments()["other_dimensions"]
    body = json.loads(json.dumps(request.body))
    with serving() as server, client(server) as sdk:
        whole = sdk.messages.create(**body)
        with sdk.messages.stream(**body) as stream:
            pieces = list(stream.text_stream)
            last = stream.get_final_message()
    assert len(pieces) > 3
    assert last.content[0].type == whole.content[0].type == "text"
    assert "".join(pieces) == last.content[0].text == whole.content[0].text
    assert (last.usage.output_tokens, last.stop_reason) == (whole.usage.output_tokens, "end_turn")


def test_the_official_client_counts_tokens() -> None:
    with serving() as server, client(server) as sdk:
        counted = sdk.messages.count_tokens(model="claude-sonnet-5-5", messages=[{"role": "user", "content": "a" * 26}])
    assert counted.input_tokens == 10


def test_the_official_client_sees_tool_calls_and_refusals() -> None:
    rules = """rules:
    - {match: {contains: read}, reply: {tool_use: Read, input: {path: a.md}}}
    - {reply: {stop_reason: refusal, category: cyber}}"""
    with serving(rules) as server, client(server) as sdk:
        call = sdk.messages.create(**plain("read this"))
        streamed = sdk.messages.create(**plain("read this", stream=True))
        kinds = [event.type for event in streamed]
        refused = sdk.messages.create(**plain("other"))
    assert call.content[0].type == "tool_use"
    assert call.content[0].input == {"path": "a.md"}
    assert kinds[0] == "message_start"
    assert kinds[-1] == "message_stop"
    assert (refused.content, refused.stop_reason) == ([], "refusal")
    assert refused.stop_details is not None
    assert refused.stop_details.category == "cyber"


def test_busy_twice_then_an_answer() -> None:
    anthropic = pytest.importorskip("anthropic")
    with serving(TWICE_BUSY) as server, client(server) as sdk:
        for _ in range(2):
            with pytest.raises(anthropic.APIStatusError) as caught:
                sdk.messages.create(**plain())
            assert caught.value.status_code == 529
        assert sdk.messages.create(**plain()).content[0].type == "text"


def test_the_official_client_waits_as_it_is_asked_to() -> None:
    rules = "rules: [{match: {times: 1}, reply: {status: 429, retry_after_s: 0.2}}, {reply: {text: at last}}]"
    with serving(rules) as server, client(server, max_retries=1) as sdk:
        started = time.monotonic()
        reply = sdk.messages.create(**plain())
        assert time.monotonic() - started >= 0.2
    assert reply.content[0].type == "text"


def test_a_cut_reply_is_no_reply_to_the_official_client() -> None:
    anthropic = pytest.importorskip("anthropic")
    cut = "rules: [{reply: {text: a long enough text, cut: true}}]"
    with serving(cut) as server, client(server) as sdk, pytest.raises(anthropic.APIConnectionError):
        sdk.messages.create(**plain())


def test_a_chat_is_answered_in_its_own_protocol() -> None:
    request = assessments()["output_quality"]
    first, second = (block["text"] for block in request.body["messages"][0]["content"])
    form = {"name": "answer", "strict": True, "schema": request.body["output_config"]["format"]["schema"]}
    chat = {
        "model": "some/model",
        "temperature": 0,
        "messages": [{"role": "system", "content": "judge"}, {"role": "user", "content": f"{first}\n\n{second}"}],
        "response_format": {"type": "json_schema", "json_schema": form},
    }
    with serving() as server:
        status, headers, data = post(server, chat, demo_server.CHATS)
        refused = post(server, chat | {"stream": True}, demo_server.CHATS)
        wrong = post(server, {"model": "m"}, demo_server.CHATS)
    reply = json.loads(data)
    assert (status, headers["x-skillgate-scripted"], reply["model"]) == (200, "true", "scripted-some/model")
    assert request.check is not None
    assert request.check(json.loads(reply["choices"][0]["message"]["content"])) is None
    assert reply["choices"][0]["finish_reason"] == "stop"
    assert reply["usage"]["total_tokens"] == reply["usage"]["prompt_tokens"] + reply["usage"]["completion_tokens"]
    assert [reply[0] for reply in (refused, wrong)] == [400, 400]
    assert json.loads(wrong[2])["error"]["message"].startswith("messages")


@pytest.mark.parametrize(
    ("reply", "end", "text"),
    [
        ("{text: abcd, truncate: true}", "length", "ab"),
        ("{stop_reason: refusal}", "content_filter", None),
        ("{text: abcd}", "stop", "abcd"),
    ],
)
def test_the_end_of_a_chat_says_why(reply: str, end: str, text: str | None) -> None:
    chat = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    with serving(f"rules: [{{reply: {reply}}}]") as server:
        choice = json.loads(post(server, chat, demo_server.CHATS)[2])["choices"][0]
    assert (choice["finish_reason"], choice["message"]["content"]) == (end, text)


def test_health_is_told() -> None:
    with serving() as server:
        connection = HTTPConnection(*address(server), timeout=120)
        connection.request("GET", demo_server.HEALTH)
        assert json.loads(connection.getresponse().read()) == {"status": "ok", "scripted": True}
        connection.request("GET", "/")
        assert connection.getresponse().status == 404
        connection.close()


def test_one_connection_serves_many_requests_failures_among_them() -> None:
    with serving(TWICE_BUSY) as server:
        connection = HTTPConnection(*address(server), timeout=120)
        found = []
        for path in (demo_server.MESSAGES, demo_server.MESSAGES, "/v1/nothing", demo_server.MESSAGES):
            connection.request("POST", path, json.dumps(plain()))
            reply = connection.getresponse()
            reply.read()
            found.append(reply.status)
            assert not reply.will_close
        connection.close()
    assert found == [529, 529, 404, 200]


def test_twenty_clients_at_once_wait_for_one_another_no_longer_than_one() -> None:
    bodies = [plain(f"client {number}") for number in range(20)]
    with serving(options=Options(latency_s=0.3)) as server:
        started = time.monotonic()
        with ThreadPoolExecutor(20) as pool:
            replies = list(pool.map(lambda body: post(server, body), bodies))
        took = time.monotonic() - started
    assert {status for status, _, _ in replies} == {200}
    assert len({json.loads(data)["id"] for _, _, data in replies}) == 20
    assert 0.3 <= took < 20 * 0.3  # as one after the other would take


def test_connections_beyond_the_limit_are_closed() -> None:
    with serving(options=Options(most_connections=3)) as server:
        held = [socket.create_connection(address(server), timeout=120) for _ in range(3)]
        for link in held:
            link.sendall(b"POST /v1/messages HTTP/1.1\r\n")
        with socket.create_connection(address(server), timeout=120) as beyond:
            assert beyond.recv(10) == b""
        for link in held:
            link.close()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b"[" * 200_000, 400),
        (b'{"a": NaN}', 400),
        (b"9" * 10_000, 400),
        (b"null", 400),
        (b'{"model": "\\ud800", "max_tokens": 5, "messages": [{"role": "user", "content": "\\ud800"}]}', 200),
    ],
)
def test_a_malformed_body_is_an_error_of_the_client(body: bytes, status: int) -> None:
    with serving() as server:
        found, _, data = post(server, body)
        assert found == status
        assert json.loads(data)["type"] == ("message" if status == 200 else "error")
        assert post(server, body, demo_server.COUNT)[0] in (200, 400)
        assert post(server, body, demo_server.CHATS)[0] in (200, 400)
        assert alive(server)


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"POST /v1/messages HTTP/1.1\r\n\r\n", b" 411 "),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: -5\r\n\r\n", b" 411 "),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n", b" 411 "),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", b" 413 "),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: 40000000\r\n\r\n", b" 413 "),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: 50\r\n\r\n{}", b" 400 "),
        (b"DELETE /v1/messages HTTP/1.1\r\n\r\n", b" 501 "),
        (b"POST /v1/messages HTTP/9.9\r\n\r\n", b" 505 "),
        (b"\x00\x01\x02\r\n\r\n", b" 400 "),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", b" 414 "),
        (b"POST /v1/messages HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n", b" 431 "),
    ],
)
def test_what_is_hardly_http_is_answered_and_forgotten(head: bytes, status: bytes) -> None:
    with serving() as server:
        assert status.strip() in raw(server, head)[:100]
        assert alive(server)


def test_a_client_that_leaves_early_is_not_missed(capfd: pytest.CaptureFixture[str]) -> None:
    with serving(options=Options(latency_s=0.05)) as server:
        for _ in range(5):
            with socket.create_connection(address(server), timeout=120) as link:
                data = json.dumps(plain(), indent=1).encode()
                link.sendall(b"POST /v1/messages HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s" % (len(data), data))
                link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset, not an end
        assert alive(server)
    assert capfd.readouterr() == ("", "")


def test_exchanges_are_recorded_and_told_of_without_keys(tmp_path: Path) -> None:
    file, told = tmp_path / "exchanges.jsonl", list[str]()
    headers = {"Authorization": "Bearer sk-secret-1", "x-api-key": "sk-secret-2"}
    with (
        file.open("w", encoding="utf-8") as record,
        serving(TWICE_BUSY, Options(record=record, log=told.append)) as server,
    ):
        for _ in range(3):
            post(server, plain("hi\nQuestion: output_quality"), **headers)
        post(server, b"{", "/v1/messages?key=sk-secret-3", **headers)
        post(server, b"{}", "/elsewhere/sk-secret-4", **headers)
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [(line["question"], line["status"], line["rule"]) for line in lines[:3]] == [
        ("output_quality", 529, 0),
        ("output_quality", 529, 0),
        ("output_quality", 200, 1),
    ]
    assert lines[2]["body"]["messages"][0]["content"].startswith("hi")
    assert lines[2]["reply"]["content"][0]["text"] == "at last"
    assert told[2] == "/v1/messages 200 output_quality"
    assert "sk-secret" not in file.read_text(encoding="utf-8") + "".join(told)


def test_a_record_that_cannot_be_written_stops_nothing() -> None:
    record = io.StringIO()
    record.close()
    with serving(options=Options(record=record)) as server:
        assert alive(server)
        assert server.unrecorded


def test_a_loopback_address_is_the_only_one_unless_asked_for() -> None:
    with pytest.raises(UsageError, match="can be reached from other machines"):
        DemoServer(Engine(), Options(host="0.0.0.0"))
    with pytest.raises(UsageError, match="no address to listen on"):
        DemoServer(Engine(), Options(host="256.1.1.1.1"))
    with DemoServer(Engine(), Options(host="localhost")) as server:
        assert demo_server.is_loopback(str(server.server_address[0]))
    with serving() as first, pytest.raises(IncompleteError, match="cannot listen on"):
        DemoServer(Engine(), Options(port=int(first.server_address[1])))


@contextmanager
def command(*words: str, cwd: Path) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """Run `skillgate demo-server`, give the process and what it printed once it listens."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(cwd)}
    with subprocess.Popen(
        [sys.executable, "-m", "skillgate", "demo-server", *words],
        cwd=cwd,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        preexec_fn=listening.hear_ctrl_c,
    ) as process:
        assert process.stdout is not None
        try:
            lines = [process.stdout.readline()]
            while lines[-1] and not lines[-1].startswith(("Press Ctrl-C", "{")):
                lines.append(process.stdout.readline())
            yield process, lines
        finally:
            process.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_the_command_says_how_to_try_it_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    with command("--script", str(RULES), "--record", "seen.jsonl", "-v", cwd=tmp_path) as (process, lines):
        text = "".join(lines)
        assert lines[1].startswith("Every answer is scripted")
        assert "\n  skillgate score --depth standard PATH\n  skillgate certify --simulations 10 PATH\n" in text
        assert "Message Batches are not served" in text
        (export,) = (line for line in lines if "export ANTHROPIC_BASE_URL=" in line)
        assert export.rstrip().endswith(" ANTHROPIC_API_KEY=demo")
        url = export.split("ANTHROPIC_BASE_URL=")[1].split()[0]
        connection = HTTPConnection(url.removeprefix("http://"), timeout=120)
        connection.request("POST", demo_server.MESSAGES, json.dumps(plain()), {"x-api-key": "sk-secret"})
        assert connection.getresponse().status == 200
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        connection.close()
    assert process.returncode == 130
    assert err == "/v1/messages 200 -\nskillgate: interrupted\n"
    assert "sk-secret" not in out + err + (tmp_path / "seen.jsonl").read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_the_command_warns_before_it_answers_other_machines(tmp_path: Path) -> None:
    with command("--host", "0.0.0.0", "--json", cwd=tmp_path) as (process, lines):
        assert json.loads(lines[0])["scripted"] is True
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 143
    assert err.startswith("warning: other machines can reach this server")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--port", "70000"), 2, "expected a port"),
        (("--latency-ms", "-1"), 2, "expected"),
        (("--script", "none.yaml"), 2, "none.yaml: the rules of the scripted model cannot be read"),
        (("--host", "no.such.host.invalid"), 2, "no address to listen on"),
        (("--record", "no/such/folder"), 3, "cannot write"),
    ],
)
def test_wrong_options_end_the_command(words: tuple[str, ...], code: int, said: str, tmp_path: Path) -> None:
    with command(*words, cwd=tmp_path) as (process, _):
        _, err = process.communicate(timeout=120)
        assert (process.returncode, said in err) == (code, True), err


def test_the_command_loads_no_client_and_no_statistics(tmp_path: Path) -> None:
    code = (
        "import sys; from skillgate.cli.commands import demo_server; from skillgate.llm.providers import scripted;"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environ, cwd=tmp_path, capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert "skillgate" in loaded
    assert not loaded & {"anthropic", "httpx2", "numpy", "scipy", "jsonschema", "tenacity"}
