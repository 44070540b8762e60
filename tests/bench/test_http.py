"""Skills that are HTTP servers: real sockets on loopback, and all that a server may do wrong."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.bench.addresses import Hosts, UnreachableError, allowed_of
from skillgate.bench.ports import Call, Surroundings
from skillgate.errors import UsageError
from skillgate.model.bench import ErrorKind
from skillgate.model.benchmark import AdapterConfig, AdapterType, AuthType, Executable, Expected, Runnable, Task
from tests.bench.made import benchmark, run, skill, task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from skillgate.bench.ports import Reply
    from tests.cli.running import Done

pytest.importorskip("httpx2", reason="httpx2 is of the extra bench")

ANSWER = b'{"result": 1}'


class Served:
    """Where a server is, and the requests that it got, as bytes."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.requests: list[bytes] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def whole(body: bytes = ANSWER, status: str = "200 OK", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Content-Type: application/json", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@contextmanager
def serving(*answers: bytes | Callable[[socket.socket], None]) -> Iterator[Served]:
    """A server that gives one answer after the other to requests, and the last again and again."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        served = Served(listener.getsockname()[1])
        threads: list[threading.Thread] = []

        def handle(peer: socket.socket, number: int) -> None:
            with peer:
                peer.settimeout(20)
                try:
                    served.requests.append(_request(peer))
                    answer = answers[min(number, len(answers) - 1)]
                    peer.sendall(answer) if isinstance(answer, bytes) else answer(peer)
                except OSError:
                    return

        def listen() -> None:
            while not over.is_set():
                try:
                    peer, _ = listener.accept()
                except TimeoutError:
                    continue
                thread = threading.Thread(target=handle, args=(peer, len(threads)))
                threads.append(thread)
                thread.start()

        listening = threading.Thread(target=listen)
        listening.start()
        try:
            yield served
        finally:
            over.set()
            listening.join()
            for thread in threads:
                thread.join()


def _request(peer: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = peer.recv(65_536)
        if not piece:
            return data
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
    while len(body) < length:
        body += peer.recv(65_536)
    return head + b"\r\n\r\n" + body


def asked(
    url: str,
    *,
    timeout_s: float = 10.0,
    environ: dict[str, str] | None = None,
    allow: tuple[str, ...] = (),
    guarded: bool = False,
    served: dict[str, str] | None = None,
    stop: threading.Event | None = None,
    **config: Any,
) -> Reply:
    from skillgate.bench.adapters.http import open_adapter

    spec = Executable(id="s", name="s", version="1.2.3", adapter_type=AdapterType.HTTP, entrypoint=url)
    runnable = Runnable(spec=spec, config=AdapterConfig(**config), root="/", shown="s", digest="", key="s")
    around = Surroundings(
        spawner=None,
        environ=environ or {},
        allow_env=frozenset(),
        allow_host=allowed_of(allow),
        guarded=guarded,
        served=served or {},
        stop=stop or threading.Event(),
    )
    adapter = open_adapter(runnable, around)
    one = Task(id="t1", input_data={"n": 1, "word": "ä"}, expected_output=Expected(value=1))
    reply = adapter.invoke(Call(one, one.input_data, timeout_s, 1))
    adapter.close()
    return reply


def answered(*answers: bytes | Callable[[socket.socket], None], **around: Any) -> Reply:
    with serving(*answers) as server:
        return asked(server.url, **around)


def test_a_call_is_a_post_of_skill_version_and_input(tmp_path: Path) -> None:
    with serving(whole(ANSWER, "200 OK", "x-usage-input-tokens: 3", "x-usage-output-tokens: 4")) as server:
        reply = asked("run?x=1#part", base_url=server.url + "/api/", headers={"X-Own": "yes"})
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /api/run?x=1 HTTP/1.1")
    assert {b"x-own: yes", b"accept-encoding: identity"} <= {line.lower() for line in head.split(b"\r\n")}
    assert b"x-skillgate-version:" in head.lower()
    assert json.loads(body) == {"skillId": "s", "version": "1.2.3", "input": {"n": 1, "word": "ä"}}
    assert (reply.output, reply.kind) == ({"result": 1}, None)
    assert reply.usage is not None
    assert (reply.usage.input, reply.usage.output, reply.usage.total) == (3, 4, 7)


@pytest.mark.parametrize(
    ("answer", "kind", "words", "again"),
    [
        (whole(b"<html>", "200 OK"), "protocol", "status 200: invalid JSON at offset 0", True),
        (whole(b'{"a": NaN}'), "protocol", "NaN", True),
        (whole(b'{"a": "\xff"}'), "protocol", "byte 7 of its answer is not UTF-8", True),
        (whole(b"", "204 No Content"), "protocol", "status 204: its answer is empty", True),
        (whole(b"[" * 200_000), "protocol", "nested too deeply", True),
        (whole(gzip.compress(ANSWER), "200 OK", "Content-Encoding: gzip"), "protocol", "Content-Encoding gzip", True),
        (whole(b"x" * 6_000_000), "output_limit", "larger than 5,242,880 bytes", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "connection", "the connection failed", True),
        (b"", "connection", "the connection failed", True),
        (b"SSH-2.0-x\r\n\r\n", "protocol", "not valid HTTP", True),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100_000 + b"\r\n", "protocol", "not valid HTTP", True),
        (whole(b"no", "400 Bad Request"), "http_status", "status 400: no", False),
        (whole(b"no", "401 Unauthorized"), "auth", "status 401", False),
        (whole(b"no", "403 Forbidden"), "auth", "status 403", False),
        (whole(b"no", "408 Request Timeout"), "http_status", "status 408", True),
        (whole(b"no", "429 Too Many Requests"), "http_status", "status 429", True),
        (whole(b"no", "500 Internal Server Error"), "http_status", "status 500", True),
    ],
)
def test_what_a_server_does_wrong_has_a_kind(answer: bytes, kind: str, words: str, again: bool) -> None:
    reply = answered(answer)
    is_answer = kind in ("http_status", "auth")  # status, headers and body are kept for the report
    assert (reply.kind, reply.retryable, reply.answered) == (ErrorKind(kind), again, is_answer), reply.error
    assert words in reply.error
    assert len(reply.error) <= 2_000


def test_nobody_there() -> None:
    with serving(ANSWER) as server:
        url = server.url
    reply = asked(url)
    assert (reply.kind, reply.retryable) == (ErrorKind.CONNECTION, True)


def trickling(peer: socket.socket) -> None:
    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(200):
        peer.sendall(b" ")
        time.sleep(0.1)


def headers_without_end(peer: socket.socket) -> None:
    peer.sendall(b"HTTP/1.1 200 OK\r\n")
    for _ in range(200):
        peer.sendall(b"X")
        time.sleep(0.1)


def silent(peer: socket.socket) -> None:
    while peer.recv(1):
        pass


@pytest.mark.parametrize("answer", [trickling, headers_without_end, silent], ids=lambda one: one.__name__)
def test_no_server_outlives_the_time_of_a_call(answer: Callable[[socket.socket], None]) -> None:
    began = time.monotonic()
    reply = answered(answer, timeout_s=1.0)
    assert (reply.kind, reply.retryable) == (ErrorKind.TIMEOUT, True)
    assert "within 1 s" in reply.error
    assert time.monotonic() - began < 5


def test_the_end_of_the_run_ends_a_call() -> None:
    stop = threading.Event()
    timer = threading.Timer(0.3, stop.set)
    timer.start()
    began = time.monotonic()
    assert answered(silent, timeout_s=60.0, stop=stop).kind is ErrorKind.STOPPED
    assert time.monotonic() - began < 120
    timer.join()


def test_a_stream_without_end_is_ended() -> None:
    def endless(peer: socket.socket) -> None:
        peer.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            peer.sendall(b"10000\r\n" + b" " * 65_536 + b"\r\n")

    assert answered(endless).kind is ErrorKind.OUTPUT_LIMIT


def test_interim_answers_without_end_are_ended() -> None:
    def interim(peer: socket.socket) -> None:
        while True:
            peer.sendall(b"HTTP/1.1 102 Processing\r\n\r\n" * 1_000)

    assert answered(interim, timeout_s=5.0).kind in (ErrorKind.OUTPUT_LIMIT, ErrorKind.TIMEOUT)


@pytest.mark.parametrize("status", ["307 Temporary Redirect", "308 Permanent Redirect"])
def test_a_redirect_to_the_same_host_stays_a_post(status: str) -> None:
    with serving(whole(b"", status, "Location: /there"), whole()) as server:
        assert asked(server.url).output == {"result": 1}
    assert [request.split(b" HTTP", 1)[0] for request in server.requests] == [b"POST /", b"POST /there"]
    assert b'"input"' in server.requests[1]


@pytest.mark.parametrize("status", ["301 Moved Permanently", "302 Found", "303 See Other"])
def test_a_redirect_that_makes_a_get_of_it_is_told(status: str) -> None:
    with serving(whole(b"", status, "Location: /there"), whole()) as server:
        reply = asked(server.url)
    assert (reply.kind, len(server.requests)) == (ErrorKind.REDIRECT, 1)
    assert "would become a GET" in reply.error


def test_no_redirect_is_followed_to_another_host_port_or_scheme() -> None:
    with serving(whole()) as other:
        for place in (other.url, f"http://localhost:{other.port}/", "https://127.0.0.1/", "file:///etc/passwd", "//["):
            with serving(whole(b"", "307 Temporary Redirect", f"Location: {place}")) as server:
                reply = asked(server.url)
            assert reply.kind is ErrorKind.REDIRECT, place
    assert other.requests == []


def test_redirects_without_end_are_ended() -> None:
    reply = answered(whole(b"", "308 Permanent Redirect", "Location: /again"))
    assert reply.kind is ErrorKind.REDIRECT
    assert "more than 5 times" in reply.error


def test_a_server_says_how_long_to_wait() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    for text, least, most in (("7", 7, 7), (later, 30, 60), ("soon", None, None)):
        wait_s = answered(whole(b"", "503 Service Unavailable", f"Retry-After: {text}")).retry_after_s
        assert (wait_s is None) is (least is None)
        assert wait_s is None or (least or 0) <= wait_s <= (most or 0)


TOKEN = "s3cret-t0ken-value"


@pytest.mark.parametrize(
    ("kind", "header"), [(AuthType.BEARER, f"authorization: bearer {TOKEN}"), (AuthType.API_KEY, f"x-api-key: {TOKEN}")]
)
def test_a_token_is_sent_and_told_nowhere(kind: AuthType, header: str) -> None:
    echoed = json.dumps({TOKEN: [f"a {TOKEN} b"]}).encode()
    answers = (whole(echoed), whole(TOKEN.encode(), "401 No"), whole(TOKEN.encode()), whole(echoed, "500 " + TOKEN))
    with serving(*answers) as server:
        for _ in answers:
            reply = asked(server.url, environ={"SKILL_TOKEN": TOKEN}, auth_type=kind, auth_token_env_key="SKILL_TOKEN")
            assert TOKEN not in repr(reply)
            assert "[redacted]" in repr(reply)
    assert header in server.requests[0].decode().lower()


@pytest.mark.parametrize(
    ("url", "config", "words"),
    [
        ("ftp://x/", {}, "expected an http:// or https:// address"),
        ("run", {}, "baseUrl"),
        ("http://user:pass@127.0.0.1/", {}, "user or password"),
        ("http://127.0.0.1:99999/", {}, "is not a valid address"),
        ("http://127.0.0.1/", {"auth_type": AuthType.BEARER}, "authTokenEnvKey"),
        ("http://127.0.0.1/", {"auth_type": AuthType.BEARER, "auth_token_env_key": "SKILL_NONE"}, "is not set"),
        ("http://127.0.0.1/", {"auth_type": AuthType.BEARER, "auth_token_env_key": "GITHUB_TOKEN"}, "is never passed"),
        ("http://127.0.0.1/", {"auth_type": AuthType.BEARER, "auth_token_env_key": "OWN"}, "--allow-env OWN"),
        ("http://127.0.0.1/", {"auth_token_env_key": "SKILL_A"}, "authType"),
        ("http://127.0.0.1/", {"headers": {"Authorization": "x"}}, "cannot be set here"),
        ("http://127.0.0.1/", {"headers": {"X": "a\r\nb"}}, "printable"),
        ("http://10.0.0.1/", {}, "10.0.0.1 is a private address"),
        ("http://169.254.169.254/latest", {}, "link-local"),
        ("http://168.63.129.16/machine", {}, "special"),
        ("http://[::ffff:169.254.169.254]/", {}, "link-local"),
        ("http://0.0.0.0/", {}, "unspecified"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_runs(url: str, config: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words.replace("(", r"\(")) as raised:
        asked(url, **config)
    assert "pass@" not in str(raised.value)


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("127.0.0.2", ""),
        ("::1", ""),
        ("8.8.8.8", ""),
        ("2606:4700::1111", ""),
        ("192.168.1.1", "private"),
        ("172.16.0.1", "private"),
        ("100.64.0.1", "special"),
        ("fe80::1", "link-local"),
        ("fd00::1", "private"),
        ("224.0.0.1", "multicast"),
        ("::ffff:10.0.0.1", "private"),
        ("64:ff9b::a00:1", "private"),
        ("2002:a00:1::", "private"),
    ],
)
def test_the_address_decides(address: str, kind: str) -> None:
    problem = Hosts().problem("example.org", 80, address)
    assert (f"a {kind} address" in problem) if kind else problem == ""
    assert Hosts(frozenset(("example.org:80",))).problem("Example.org", 80, address) == ""
    assert (Hosts(frozenset(("example.org:81",))).problem("example.org", 80, address) == "") is (not kind)
    assert Hosts(frozenset((address,))).problem("example.org", 80, address) == ""


def test_in_guarded_runs_loopback_needs_to_be_served_or_allowed() -> None:
    with serving(whole()) as server:
        with pytest.raises(UsageError, match="loopback"):
            asked(server.url, guarded=True)
        by_name = asked(f"http://localhost:{server.port}", guarded=True)
        assert (by_name.kind, by_name.retryable) == (ErrorKind.CONNECTION, False)
        assert "--allow-host localhost:" in by_name.error
        assert server.requests == []
        assert asked(server.url, guarded=True, allow=(f"127.0.0.1:{server.port}",)).kind is None
        assert asked(server.url, guarded=True, served={"BENCH": server.url + "/x"}).kind is None


def test_a_name_without_an_address_is_a_failed_connection() -> None:
    with pytest.raises(UnreachableError):
        Hosts().addresses("no-such-host.invalid", 80, 20.0)


@pytest.mark.parametrize("word", ["http://a", "a/b", "", "a:0", "a:99999", "a b", "[::1", "[x]:1"])
def test_a_host_to_allow_is_a_host(word: str) -> None:
    with pytest.raises(UsageError, match="--allow-host"):
        allowed_of([word])


def evaluated(cwd: Path, url: str, *words: str, config: dict[str, Any] | None = None, **environ: str) -> Done:
    skill(cwd / "s", adapterType="http", entrypoint=url, config=config)
    benchmark(cwd / "b.json", task())
    return run(cwd, "eval", "--skills", "s", "--benchmark", "./b.json", "--json", *words, **environ)


def test_busy_and_then_well_passes_at_the_second_try_which_is_told(tmp_path: Path) -> None:
    with serving(whole(b"later", "503 Service Unavailable", "Retry-After: 1"), whole()) as server:
        done = evaluated(tmp_path, server.url, "--retries", "2", "--retry-delay-s", "0.01")
    assert done.code == 0, done.err
    (result,) = done.json["reports"][0]["taskResults"]
    assert (result["status"], [one["errorKind"] for one in result["attempts"]]) == ("pass", ["http_status"])
    assert result["attempts"][0]["waitedMs"] >= 1000


def test_neither_a_proxy_nor_a_netrc_of_the_environment_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password hidden\n", encoding="utf-8")
    with serving(whole()) as proxy, serving(whole()) as server:
        monkeypatch.setenv("NETRC", str(netrc))
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert evaluated(tmp_path, server.url).code == 0
    assert proxy.requests == []
    assert b"uthorization" not in server.requests[0]


def test_the_option_and_the_setting_allow_a_host(tmp_path: Path) -> None:
    assert "private address" in evaluated(tmp_path, "http://10.255.255.1:9/", "--dry-run").err
    allowed = evaluated(tmp_path, "http://10.255.255.1:9/", "--dry-run", "--allow-host", "10.255.255.1:9")
    assert allowed.code == 0, allowed.err
    assert evaluated(tmp_path, "http://10.255.255.1:9/", "--dry-run", "--allow-host", "http://x").code == 2


def test_a_token_that_is_not_there_refuses_the_run(tmp_path: Path) -> None:
    config = {"authType": "bearer", "authTokenEnvKey": "SKILL_TOKEN"}
    with serving(whole()) as server:
        assert evaluated(tmp_path, server.url, config=config).code == 2
        assert server.requests == []
        done = evaluated(tmp_path, server.url, config=config, SKILL_TOKEN=TOKEN)
    assert (done.code, TOKEN in done.out + done.err) == (0, False)
    assert TOKEN.encode() in server.requests[0]
