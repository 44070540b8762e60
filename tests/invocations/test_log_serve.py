"""``log serve``: real processes and sockets; what is acknowledged is stored once, and what is sent stays private."""

from __future__ import annotations

import gzip
import http.client
import io
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.console import Console
from skillgate.errors import IncompleteError
from skillgate.invocations.formats import reader
from skillgate.invocations.serving import MOST_BYTES, MOST_CONNECTIONS, Server, ServeRequest, serve
from skillgate.invocations.spool import OPEN_S, FullError, Spool, arrivals, lines, opened, reduced
from tests.cli.running import run
from tests.invocations.claude_telemetry import activated, claude_span, event, logs, request
from tests.invocations.readings import OPTIONS
from tests.invocations.traces import SKILL, chat, span, tool, traces

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("sqlalchemy", reason="the extra store is not installed")
if os.name != "posix":
    pytest.skip("signals of POSIX", allow_module_level=True)

JSON = {"Content-Type": "application/json"}
PROTOBUF = {"Content-Type": "application/x-protobuf"}


class Served:
    """A process of ``log serve`` that listens."""

    def __init__(self, folder: Path, *options: str, environ: dict[str, str] | None = None) -> None:
        command = [sys.executable, "-m", "skillgate", "--json", "log", "serve", "--port", "0", "--every", "1", *options]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environ or {})},
        )
        assert self.process.stdout
        first = self.process.stdout.readline()
        assert first, self.process.communicate()[1]
        self.url = json.loads(first)["url"]
        self.port = int(self.url.rpartition(":")[2])

    def post(self, path: str, body: bytes, headers: dict[str, str] | None = None) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("POST", path, body, headers or JSON)
            answer = connection.getresponse()
            return answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


@contextmanager
def serving(folder: Path, *options: str, environ: dict[str, str] | None = None) -> Iterator[Served]:
    served = Served(folder, *options, environ=environ)
    try:
        yield served
    finally:
        served.process.kill()
        served.process.communicate()


def stored(folder: Path, columns: str = "skill_name, tokens_used") -> list[Any]:
    with closing(sqlite3.connect(folder / ".skillgate/store.db")) as connection, connection:
        return connection.execute(f"SELECT {columns} FROM invocations ORDER BY invocation_id").fetchall()


def test_traces_and_logs_are_stored(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        assert served.post("/v1/traces", traces(chat(2, 1, 5, 7), tool(3, 1)))[::2] == (200, b"{}")
        packed = {**JSON, "Content-Encoding": "gzip"}
        assert served.post("/v1/traces", gzip.compress(traces(span(1, None, SKILL))), packed)[0] == 200
        found = logs(activated("pdf", 1), request(2, skill__name="pdf"))
        assert served.post("/v1/logs", found)[::2] == (200, b"{}")
        code, out, err = served.end()
    assert (code, err) == (0, "")
    assert json.loads(out) == {"kind": "log-serve", "new": 2, "requests": 3, "updated": 0, "url": served.url}
    assert sorted(stored(tmp_path)) == [("csv-merge", 12), ("pdf", 15)]
    assert run(tmp_path, "log", "stats", "--all").code == 0


def test_a_use_whose_spans_come_over_time_is_stored_once(tmp_path: Path) -> None:
    def until(expected: list[Any]) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and stored(tmp_path) != expected:
            time.sleep(0.1)
        assert stored(tmp_path) == expected

    with serving(tmp_path) as served:
        served.post("/v1/traces", traces(span(1, None, SKILL), chat(2, 1, 5, 7)))
        until([("csv-merge", 12)])
        served.post("/v1/traces", traces(chat(3, 1, 1, 1), chat(2, 1, 5, 7)))
        until([("csv-merge", 14)])
        assert served.end()[0] == 0
    with serving(tmp_path) as served:
        served.post("/v1/traces", traces(chat(4, 1, 1, 1)))
        assert served.end(signal.SIGINT)[0] == 0
    assert stored(tmp_path) == [("csv-merge", 16)]


def test_an_official_exporter_is_understood(tmp_path: Path) -> None:
    exporters = pytest.importorskip("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    with serving(tmp_path) as served:
        provider = TracerProvider()
        compression = exporters.Compression.Gzip
        exporter = exporters.OTLPSpanExporter(endpoint=f"{served.url}/v1/traces", compression=compression)
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        tracer = provider.get_tracer("tests")
        with tracer.start_as_current_span("a", attributes={"skillgate.skill.name": "pdf"}):
            usage: dict[str, Any] = {"gen_ai.usage.input_tokens": 90, "gen_ai.usage.output_tokens": 2}
            cached: dict[str, Any] = {"gen_ai.operation.name": "chat", "gen_ai.usage.cache_read.input_tokens": 80}
            with tracer.start_as_current_span("chat", attributes={**usage, **cached}):
                pass
        provider.shutdown()
        assert served.end()[0] == 0
    assert stored(tmp_path) == [("pdf", 12)]


def test_partial_success_is_told_as_the_protocol_says(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        broken = {**span(2, 1), "spanId": "x"}
        status, _, body = served.post("/v1/traces", traces(span(1, None, SKILL), broken))
        said = json.loads(body)["partialSuccess"]
        assert (status, said["rejectedSpans"]) == (200, "1")
        assert said["errorMessage"].startswith("spanId: expected 16 hexadecimal digits")
        metrics: dict[str, Any] = {
            "resourceMetrics": [{"scopeMetrics": [{"metrics": [{"sum": {"dataPoints": [{}, {}]}}]}]}]
        }
        status, _, body = served.post("/v1/metrics", json.dumps(metrics).encode())
        said = json.loads(body)["partialSuccess"]
        assert (status, said["rejectedDataPoints"]) == (200, "2")
        assert said["errorMessage"] == "metrics are not stored; set OTEL_METRICS_EXPORTER=none"
        assert served.end()[0] == 0
    assert stored(tmp_path) == [("csv-merge", None)]


def test_uses_of_claude_code_come_from_its_logs(tmp_path: Path) -> None:
    spans = [claude_span("interaction", 1, None, 0, 9), claude_span("llm_request", 4, 1, 3, 4, input_tokens=5)]
    spans += [claude_span("tool", 3, 1, 1, 2, tool_name="Skill", skill_name="pdf")]
    with serving(tmp_path) as served:
        status, _, body = served.post("/v1/traces", traces(*spans))
        said = json.loads(body)["partialSuccess"]
        assert (status, said["rejectedSpans"]) == (200, "0")
        assert said["errorMessage"].endswith("set OTEL_LOGS_EXPORTER=otlp")
        assert served.end()[0] == 0
    with serving(tmp_path) as served:
        served.post("/v1/logs", logs(activated("pdf", 1), request(2, skill__name="pdf")))
        assert served.end()[0] == 0
    assert stored(tmp_path) == [("pdf", 15)]


def raw(port: int, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(data)
        parts = []
        while part := connection.recv(65_536):
            parts.append(part)
        return b"".join(parts)


def nested(data: bytes, *fields: int) -> bytes:
    """Return a message of protobuf within others, in fields from the inner one outwards."""
    for number in fields:
        size, rest = b"", len(data)
        while rest > 127:
            size, rest = size + bytes([rest & 127 | 128]), rest >> 7
        data = bytes([number << 3 | 2]) + size + bytes([rest]) + data
    return data


REFUSED: tuple[tuple[str, str, dict[str, str], bytes, int, str], ...] = (
    ("no JSON", "/v1/traces", JSON, b"{", 400, "the body is not OTLP JSON"),
    ("deep JSON", "/v1/traces", JSON, b"[" * 100_000, 400, "nested too deeply"),
    ("a list", "/v1/traces", JSON, b"[]", 400, "expected an object"),
    ("another path", "/v1/profiles", JSON, b"{}", 404, "known paths are /v1/traces"),
    ("another type", "/v1/traces", {"Content-Type": "text/plain"}, b"{}", 415, "Content-Type must be"),
    ("gRPC", "/v1/traces", {"Content-Type": "application/grpc"}, b"", 415, "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"),
    ("a web page", "/v1/traces", {**JSON, "Origin": "https://example.com"}, b"{}", 403, "web pages"),
    ("another packing", "/v1/traces", {**JSON, "Content-Encoding": "br"}, b"{}", 415, "gzip or identity"),
    ("no gzip", "/v1/traces", {**JSON, "Content-Encoding": "gzip"}, b"{}", 400, "not gzip"),
    ("half a gzip", "/v1/traces", {**JSON, "Content-Encoding": "gzip"}, gzip.compress(b"{}")[:-4], 400, "whole gzip"),
    (
        *("a bomb", "/v1/traces", {**JSON, "Content-Encoding": "gzip"}),
        *(gzip.compress(b" " * (5 * MOST_BYTES)), 413, "unpacked body is longer"),
    ),
    ("too many objects", "/v1/traces", JSON, b'{"a": [' + b"{}," * 1_000_000 + b"{}]}", 413, "objects and lists"),
    ("protobuf that is none", "/v1/traces", PROTOBUF, b"\xff\xff", 400, "not OTLP protobuf"),
    ("too many fields", "/v1/traces", PROTOBUF, b"\x0a\x00" * 1_000_001, 413, "more than 1,000,000 fields"),
    ("too many spans", "/v1/traces", PROTOBUF, nested(b"\x12\x00" * 1_000_000, 2, 1), 413, "1,000,000 fields"),
    (
        "too many numbers",
        "/v1/metrics",
        PROTOBUF,
        nested(b"\7" * 1_000_000, 2, 8, 1, 10, 2, 2, 1),
        413,
        "1,000,000 fields",
    ),
    ("deep protobuf", "/v1/logs", PROTOBUF, nested(b"", *(1, 5) * 50, 5, 2, 2, 1), 400, "not OTLP protobuf"),
    ("two lengths", "/v1/traces", {**JSON, "Transfer-Encoding": "gzip, chunked"}, b"{}", 400, "Transfer-Encoding"),
)


def test_what_is_not_understood_is_refused_and_harms_nothing(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        for case, path, headers, body, status, message in REFUSED:
            found, _, said = served.post(path, body, headers)
            assert (case, found) == (case, status)
            assert message.encode() in said, case
        preface = raw(served.port, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
        assert preface.startswith(b"HTTP/1.1 505 ")
        assert b"OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf or http/json" in preface
        long = f"POST /v1/logs HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {MOST_BYTES + 1}\r\n\r\n"
        assert raw(served.port, long.encode()).startswith(b"HTTP/1.1 413 ")
        assert raw(served.port, b"GET / HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 405 ")
        assert raw(served.port, b"secret words\r\n\r\n").endswith(b'{"message": "not a valid request"}')
        head = b"POST /v1/logs HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        assert raw(served.port, head + b"zz\r\n").startswith(b"HTTP/1.1 400 ")
        body = traces(span(1, None, SKILL))
        head = head.replace(b"/logs", b"/traces").replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        parts = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:10], body[10:]))
        assert raw(served.port, head + parts + b"0\r\n\r\n").startswith(b"HTTP/1.1 200 ")
        code, _, err = served.end()
    assert code == 0
    assert err.count("gRPC") == 1
    assert "secret" not in err
    assert stored(tmp_path) == [("csv-merge", None)]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_body_takes_much_memory(tmp_path: Path) -> None:
    empty = (b"\x12\x00" * (MOST_BYTES // 2 - 10), b"\x12\x00" * 400_000)
    bodies = [(413, PROTOBUF, nested(empty[0], 2, 1)), (200, PROTOBUF, nested(empty[1], 2, 1))]
    bodies += [
        (200, JSON, b'{"a":[' + b'{"a":1},' * 999_990 + b"{}]}"),
        (200, JSON, b'{"a":[' + b'"ab",' * 1_600_000 + b"1]}"),
    ]
    with serving(tmp_path) as served:
        for status, headers, body in bodies:
            assert served.post("/v1/traces", body, headers)[0] == status
        status_file = Path(f"/proc/{served.process.pid}/status").read_text(encoding="utf-8")
        (peak_kb,) = (line.split()[1] for line in status_file.splitlines() if line.startswith("VmHWM:"))
        assert int(peak_kb) < 500_000
        assert served.end()[0] == 0


def test_another_address_needs_a_token(tmp_path: Path) -> None:
    refused = run(tmp_path, "log", "serve", "--host", "0.0.0.0")
    assert refused.code == 2
    assert "use --token-env NAME" in refused.err
    short = run(tmp_path, "log", "serve", "--token-env", "TOKEN", TOKEN="short")
    assert (short.code, "at least 16 characters" in short.err) == (2, True)
    token = "t0ken-of-enough-length"
    with serving(tmp_path, "--host", "0.0.0.0", "--token-env", "TOKEN", environ={"TOKEN": token}) as served:
        body = traces(span(1, None, SKILL))
        assert served.post("/v1/traces", body)[0] == 401
        assert served.post("/v1/traces", body, {**JSON, "Authorization": f"Bearer {token}x"})[0] == 401
        assert served.post("/v1/traces", body, {**JSON, "Authorization": f"Bearer {token}"})[0] == 200
        code, out, err = served.end()
    assert code == 0
    assert token not in out + err
    assert token.encode() not in b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_no_text_of_a_user_reaches_the_disk(tmp_path: Path) -> None:
    words = "quarterly merger of Acme"
    load = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "load_skill"}
    arguments = {"gen_ai.tool.call.arguments": json.dumps({"skill": "pdf", "args": words}), "input.value": words}
    more = {"skillgate.note": words, "skillgate.errors": [words], "gen_ai.conversation.id": words, "user.email": words}
    spans = [span(1, None, {"gen_ai.operation.name": "invoke_agent"}), span(2, 1, load, arguments, more, name=words)]
    spans += [claude_span("tool", 3, 1, 0, 1, tool_name="Skill", skill_name=words, full_command=words)]
    records = [activated(words, 1), event("user_prompt", 2, prompt=words), event("tool_result", 3, tool_input=words)]
    records += [
        event("tool_result", 4, tool_name="Skill", tool_parameters=json.dumps({"skill_name": words, "a": words}))
    ]
    with serving(tmp_path) as served:
        assert served.post("/v1/traces", traces(*spans))[0] == 200
        assert served.post("/v1/logs", logs(*records))[0] == 200
        _, out, err = served.end()
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"pdf" in written
    assert b"merger" not in written
    assert "merger" not in out + err
    assert "alice" not in written.decode("latin-1")


HEAD = b"POST /v1/traces HTTP/1.1\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize("begin", [b"", HEAD, HEAD + b"Content-Length: 900\r\n\r\n{"], ids=["idle", "head", "body"])
def test_slow_senders_keep_no_other_out(tmp_path: Path, begin: bytes) -> None:
    with serving(tmp_path) as served:
        slow = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(MOST_CONNECTIONS + 1)]
        for connection in slow:
            with suppress(OSError):  # the first one may have made room already
                connection.sendall(begin)
        assert served.post("/v1/traces", traces(span(1, None, SKILL)))[0] == 200
        for connection in slow:
            connection.close()
        assert served.end()[0] == 0
    assert stored(tmp_path) == [("csv-merge", None)]


def test_too_many_requests_at_once_are_asked_to_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillgate.invocations.serving._WAIT_S", 120)
    whole = HEAD + b"Content-Length: 2\r\n\r\n{}"
    with opened(str(tmp_path), most=10**6) as spool, Server(None, 0, None, spool, lambda _text: None) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        port = server.server_address[1]
        with server.readers:  # so that no request is ready
            busy = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(MOST_CONNECTIONS)]
            for connection in busy:
                connection.sendall(whole)
            deadline = time.monotonic() + 60
            while server.at_work < MOST_CONNECTIONS or server.waiting:
                assert time.monotonic() < deadline
            refused = raw(port, b"")
        assert refused.startswith(b"HTTP/1.1 503 ")
        assert b"Retry-After: 120\r\n" in refused
        assert {connection.recv(15) for connection in busy} == {b"HTTP/1.1 200 OK"}
        for connection in busy:
            connection.close()
        server.shutdown()
        thread.join()


def test_a_sender_does_not_choose_the_id_of_a_record(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), most=10**6)
    chosen: tuple[dict[str, Any], ...] = ({"invocation_id": "x"}, {"id": 7}, {"input": {"invocation_id": 7}})
    for number, said in enumerate(chosen, 1):
        own = {f"skillgate.{key}": value for key, value in said.items()}
        spool.append(reduced("traces", json.loads(traces(span(number, None, SKILL, own)))).lines())
    found = [one.invocation for one in reader("otlp")(lines(spool.closed()), OPTIONS)]
    assert len(found) == 3
    assert all(one and one.invocation_id.startswith(span(1)["traceId"]) for one in found)


def test_a_full_spool_refuses_requests(tmp_path: Path) -> None:
    with serving(tmp_path, "--spool-mb", "1") as served:
        answers = []
        for number in range(2, 6):
            many = traces(*(chat(number * 10_000 + one, 1, 5, 7) for one in range(1_000)))
            answers.append(served.post("/v1/traces", many))
        assert [status for status, _, _ in answers] == [200, 200, 503, 503]
        assert answers[-1][1]["retry-after"] == "5"
        code, _, err = served.end()
    assert (code, err.count("the spool is full")) == (0, 1)


def test_two_servers_do_not_share_a_spool(tmp_path: Path) -> None:
    with serving(tmp_path):
        second = run(tmp_path, "log", "serve", "--port", "0")
        assert second.code == 2
        assert "is in use by another skillgate log serve" in second.err


def test_no_file_outside_a_cloned_repository_is_touched(tmp_path: Path) -> None:
    outside, clone = tmp_path / "outside", tmp_path / "clone"
    outside.mkdir(mode=0o700)
    victim = outside / "000000000001.jsonl"
    victim.write_bytes(b"x" * 10)
    (clone / ".git").mkdir(parents=True)
    place = clone / ".skillgate/otlp"
    place.parent.mkdir()
    place.symlink_to(outside)
    refused = run(clone, "log", "serve", "--port", "0")
    assert (refused.code, "is a symbolic link" in refused.err) == (2, True)
    place.unlink()
    for mode, name, code in ((0o755, "other.txt", 2), (0o700, victim.name, 3), (0o700, "lock", 3)):
        place.mkdir()
        place.chmod(mode)
        (place / name).symlink_to(victim)
        assert run(clone, "log", "serve", "--port", "0").code == code, name
        (place / name).unlink()
        (place / name).hardlink_to(victim)
        assert run(clone, "log", "serve", "--port", "0").code == code, name
        shutil.rmtree(place)
    assert victim.read_bytes() == b"x" * 10
    assert list(outside.iterdir()) == [victim]


def test_joining_follows_no_link(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"x")
    spool = Spool(str(tmp_path / "spool"), most=10**6)
    (tmp_path / "spool/joined.tmp").symlink_to(victim)
    for number in range(1, 20):
        spool.append(reduced("traces", json.loads(halves(number)[1])).lines())
        spool.closed()
    spool.compact(spool.closed(), now=time.time())
    assert len(uses(spool)) == 19
    (path,) = spool.closed()
    assert path.stat().st_mode & 0o777 == 0o600
    assert victim.read_bytes() == b"x"


def test_a_port_that_is_taken_is_reported(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        second = run(tmp_path, "log", "serve", "--port", str(served.port), "--spool", "other")
        assert second.code == 3
        assert f"cannot listen on 127.0.0.1:{served.port}" in second.err


def test_a_fault_in_the_last_import_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object) -> None:
        raise KeyError("a value of a sender")

    monkeypatch.setattr("skillgate.invocations.serving.take", fail)
    stopped = threading.Event()

    def send(server: Server) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=30)
        with closing(connection):
            connection.request("POST", "/v1/traces", traces(span(1, None, SKILL)), JSON)
            assert connection.getresponse().status == 200
        stopped.set()

    spool = str(tmp_path / "spool")
    request = ServeRequest(None, "1.1", None, 0, None, spool, most=10**6, every_s=1, project=None, category=None)
    session = Console(stdout=io.StringIO(), stderr=io.StringIO(), environ={}, cwd=str(tmp_path))
    with pytest.raises(IncompleteError) as failed:
        serve(request, session, stopped=stopped, ready=send)
    message = str(failed.value)
    assert message.startswith("the last import failed: unexpected KeyError\neverything acknowledged is in ")
    assert "start `skillgate log serve` again" in message
    assert "a value of a sender" not in message
    with serving(tmp_path, "--spool", "spool") as served:
        assert served.end()[0] == 0
    assert stored(tmp_path) == [("csv-merge", None)]


def halves(number: int) -> tuple[bytes, bytes]:
    """Return the two requests of a use: its calls, and the use itself."""
    trace = {"traceId": f"{number:032x}"}
    return traces(chat(2, 1, number, 1, **trace)), traces(span(1, None, SKILL, **trace))


class Senders:
    """Send uses in two requests each, and what was not acknowledged once more, as exporters do."""

    def __init__(self) -> None:
        self.acknowledged: dict[int, int] = {}  # halves, by number of the use
        self._next, self._again = 1, list[tuple[int, int]]()
        self._guard = threading.Lock()

    @property
    def count(self) -> int:
        return sum(self.acknowledged.values())

    def send(self, served: Served) -> None:
        """Send until the server is gone."""
        while True:
            with self._guard:
                if self._again:
                    todo = [self._again.pop()]
                else:
                    todo = [(self._next, 0), (self._next, 1)]
                    self._next += 1
            for place, (number, half) in enumerate(todo):
                try:
                    status = served.post("/v1/traces", halves(number)[half])[0]
                except (OSError, http.client.HTTPException):
                    status = 0
                with self._guard:
                    if status != 200:
                        self._again += todo[place:]
                        return
                    self.acknowledged[number] = self.acknowledged.get(number, 0) + 1


def test_nothing_acknowledged_is_lost_or_doubled_when_the_server_is_killed(tmp_path: Path) -> None:
    senders = Senders()
    for moment in range(20):
        with serving(tmp_path) as served:
            before = senders.count
            threads = [threading.Thread(target=senders.send, args=(served,)) for _ in range(3)]
            for thread in threads:
                thread.start()
            while senders.count < before + 1 + moment % 5:
                time.sleep(0.001)
            time.sleep(moment * 0.083)  # some moments are within an import
            served.process.kill()
            for thread in threads:
                thread.join()
    with serving(tmp_path) as served:
        assert served.end()[0] == 0
    rows = stored(tmp_path, "invocation_id, tokens_used")
    found = {int(name.partition("-")[0], 16): tokens for name, tokens in rows}
    whole = {number: number + 1 for number, count in senders.acknowledged.items() if count == 2}
    assert len(whole) > 20
    assert {number: found.get(number) for number in whole} == whole
    assert len(rows) == len(found)


# The spool itself


def uses(spool: Spool) -> list[tuple[str, int | None]]:
    found = reader("otlp")(lines(spool.closed()), OPTIONS)
    return [(one.invocation.skill_name, one.invocation.tokens_used) for one in found if one.invocation]


def test_an_incomplete_last_line_is_cut_off(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), most=10**6)
    spool.append(reduced("traces", json.loads(traces(span(1, None, SKILL), chat(2, 1, 5, 7)))).lines())
    spool.close()
    (path,) = tmp_path.glob("*.jsonl")
    for rest in (b'{"resourceSpans": [{"sco', b"x" * 200_000):
        with path.open("ab") as file:
            file.write(rest)
        spool = Spool(str(tmp_path), most=10**6)
        assert uses(spool) == [("csv-merge", 12)]
        spool.close()
    path.write_bytes(b"x" * 200_000)
    assert uses(Spool(str(tmp_path), most=10**6)) == []


def test_what_is_over_is_deleted_and_the_rest_is_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = Spool(str(tmp_path), most=10**6)
    monkeypatch.setattr("skillgate.invocations.spool.time.time", lambda: 1_000)
    old, new = {"traceId": "1" * 32}, {"traceId": "2" * 32}
    both = traces(span(1, None, SKILL, **old), span(1, None, SKILL, **new), chat(2, 1, 5, 7, **old))
    spool.append(reduced("traces", json.loads(both)).lines())
    spool.closed()
    monkeypatch.setattr("skillgate.invocations.spool.time.time", lambda: 4_000)
    spool.append(reduced("traces", json.loads(traces(chat(3, 1, 1, 1, **new)))).lines())
    spool.compact(spool.closed(), now=4_000)
    assert sorted(uses(spool), key=str) == [("csv-merge", 12), ("csv-merge", 2)]
    spool.compact(spool.closed(), now=1_000 + OPEN_S + 1)
    assert uses(spool) == [("csv-merge", 2)]
    assert len(spool.closed()) == 1
    spool.compact(spool.closed(), now=10**6)
    assert (uses(spool), spool.closed()) == ([], [])


def test_traces_that_are_not_silent_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = Spool(str(tmp_path), most=10**6)
    for now, trace in ((1_000, "1" * 32), (1_000, "2" * 32), (1_004, "2" * 32)):
        monkeypatch.setattr("skillgate.invocations.spool.time.time", lambda now=now: now)
        spool.append(reduced("traces", json.loads(traces(span(1, None, SKILL, traceId=trace)))).lines())
    paths = spool.closed()
    assert arrivals(paths) == {b"1" * 32: 1_000, b"2" * 32: 1_004}
    (line,) = lines(paths, without={b"2" * 32})
    assert b"1" * 32 in line[1]


def test_lines_that_are_there_twice_count_once(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), most=10**6)
    some = reduced("traces", json.loads(traces(span(1, None, SKILL), chat(2, 1, 5, 7)))).lines()
    more = reduced("logs", json.loads(logs(activated("pdf", 1), request(2, skill__name="pdf")))).lines()
    spool.append([*some, *more])
    spool.append([*more, *some])
    assert sorted(uses(spool)) == [("csv-merge", 12), ("pdf", 15)]


def test_a_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = Spool(str(tmp_path), most=10**6)
    some = reduced("traces", json.loads(traces(span(1, None, SKILL)))).lines()

    def fail(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("skillgate.invocations.spool.os.fsync", fail)
        with pytest.raises(FullError, match="cannot write: No space left on device"):
            spool.append(some)
    assert uses(spool) == []
    spool.append(some)
    assert uses(spool) == [("csv-merge", None)]
