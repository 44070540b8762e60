"""Skills that are HTTP servers: real ones on loopback that answer, refuse, stall, send on, and never end."""

from __future__ import annotations

import gzip
import json
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.bench.addresses import reach, refusal
from tests.bench.made import benchmark, run, skill, task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.cli.running import Done

pytest.importorskip("httpx2", reason="httpx2 is not installed")

SECRET = "s3cr3t-of-the-skill"


class Server(ThreadingHTTPServer):
    """Answers as one function says; keeps what it was asked."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, answer: Callable[[Any, int], None]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is nothing to tell of."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        self.server.asked.append((self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        self.server.answer(self, len(self.server.asked))

    do_GET = do_POST  # noqa: N815

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(answer: Callable[[Any, int], None]) -> Iterator[Server]:
    server = Server(answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def reply(handler: Any, data: object, status: int = 200, **headers: str) -> None:
    body = data if isinstance(data, bytes) else json.dumps(data).encode()
    handler.send_response(status)
    for name, value in {"content-type": "application/json", "content-length": str(len(body)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    with suppress(OSError):
        handler.wfile.write(body)


def evaluated(cwd: Path, url: str, *words: str, config: dict[str, Any] | None = None, **environ: str) -> Done:
    skill(cwd / "s", adapterType="http", entrypoint=url, config=config)
    if not (cwd / "b.json").exists():
        benchmark(cwd / "b.json", task(timeoutMs=2000))
    return run(cwd, "eval", "--skills", "s", "--benchmark", "b.json", "--json", *words, **environ)


def only(done: Done) -> Any:
    assert done.code in (0, 1, 3), done.err
    return json.loads(done.out)["reports"][0]["taskResults"][0]


def test_it_gets_its_input_and_its_whole_answer_is_the_output(tmp_path: Path) -> None:
    with serving(
        lambda h, _: reply(h, 1, x_usage_input_tokens="12", x_usage_output_tokens="3", x_usage_total_tokens="x")
    ) as server:
        found = only(evaluated(tmp_path, f"{server.url}/invoke"))
    method, path, headers, body = server.asked[0]
    assert (method, path, json.loads(body)) == (
        "POST",
        "/invoke",
        {"skillId": "s", "version": "1.0.0", "input": {"n": 1}},
    )
    assert (headers["content-type"], "x-skillgate-version" in headers) == ("application/json", True)
    assert (found["status"], found["usage"]["input"], found["usage"]["total"]) == ("pass", 12, 15)


@pytest.mark.parametrize(
    ("auth", "header", "value"),
    [("bearer", "authorization", f"Bearer {SECRET}"), ("api-key", "x-api-key", SECRET)],
)
def test_its_token_is_sent_and_is_in_nothing_that_is_written(
    tmp_path: Path, auth: str, header: str, value: str
) -> None:
    def echo(handler: Any, _: int) -> None:
        reply(handler, {"seen": dict(handler.headers), SECRET: f"you sent {SECRET}"}, x_echo=SECRET)

    config = {"authType": auth, "authTokenEnvKey": "SKILL_TOKEN"}
    with serving(echo) as server:
        done = evaluated(tmp_path, server.url, config=config, SKILL_TOKEN=SECRET)
    assert server.asked[0][2][header] == value
    assert only(done)["status"] == "fail"
    written = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "reports").iterdir())
    assert SECRET not in done.out + done.err + written
    assert "***" in written


def test_a_token_that_an_error_repeats_is_taken_out(tmp_path: Path) -> None:
    config = {"authType": "bearer", "authTokenEnvKey": "SKILL_TOKEN"}
    with serving(lambda h, _: reply(h, {"error": f"bad token {SECRET}"}, 401)) as server:
        done = evaluated(tmp_path, server.url, config=config, SKILL_TOKEN=SECRET)
    found = only(done)
    assert (found["status"], found["errorKind"]) == ("error", "auth")
    assert SECRET not in done.out + done.err
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("config", "environ", "told"),
    [
        ({"authType": "bearer", "authTokenEnvKey": "SKILL_TOKEN"}, {}, "SKILL_TOKEN is not set"),
        ({"authType": "bearer"}, {}, "needs the variable that holds the token"),
        ({"authType": "bearer", "authTokenEnvKey": "MY_TOKEN"}, {"MY_TOKEN": SECRET}, "unless you say --allow-env"),
        (
            {"authType": "bearer", "authTokenEnvKey": "GITHUB_TOKEN"},
            {"GITHUB_TOKEN": SECRET},
            "is never given to a skill",
        ),
        (
            {"authType": "bearer", "authTokenEnvKey": "SKILL_TOKEN"},
            {"SKILL_TOKEN": "a\r\nX-Other: b"},
            "cannot be sent in a header",
        ),
        ({"headers": {"X-A": "b\r\nX-C: d"}}, {}, "cannot be sent"),
        ({"headers": {"Host": "elsewhere"}}, {}, "is not the skill's to set"),
    ],
)
def test_what_could_not_be_sent_is_refused_before_anything_is(
    tmp_path: Path, config: dict[str, Any], environ: dict[str, str], told: str
) -> None:
    with serving(lambda h, _: reply(h, 1)) as server:
        done = evaluated(tmp_path, server.url, config=config, **environ)
    assert (done.code, server.asked) == (2, [])
    assert told in done.err
    assert SECRET not in done.err


def test_503_and_then_200_passes_at_the_second_try_and_tells_both(tmp_path: Path) -> None:
    def answer(handler: Any, count: int) -> None:
        reply(handler, {"why": "busy"}, 503) if count == 1 else reply(handler, 1)

    with serving(answer) as server:
        found = only(evaluated(tmp_path, server.url, "--retries", "2", "--retry-delay-s", "0.01"))
    assert (found["status"], len(server.asked)) == ("pass", 2)
    (attempt,) = found["attempts"]
    assert (attempt["errorKind"], "status 503" in attempt["error"]) == ("http_status", True)


@pytest.mark.parametrize(("status", "tries"), [(408, 3), (425, 3), (429, 3), (500, 3), (502, 3), (400, 1), (404, 1)])
def test_only_what_may_pass_is_tried_again(tmp_path: Path, status: int, tries: int) -> None:
    with serving(lambda h, _: reply(h, {}, status)) as server:
        found = only(evaluated(tmp_path, server.url, "--retries", "2", "--retry-delay-s", "0.01"))
    assert (found["errorKind"], len(server.asked)) == ("http_status", tries)


def test_a_wrong_answer_is_never_tried_again(tmp_path: Path) -> None:
    with serving(lambda h, _: reply(h, 2)) as server:
        found = only(evaluated(tmp_path, server.url, "--retries", "3"))
    assert (found["status"], len(server.asked)) == ("fail", 1)


@pytest.mark.parametrize("wait", ["1", "date"])
def test_a_server_that_asks_to_wait_is_waited_for(tmp_path: Path, wait: str) -> None:
    def answer(handler: Any, count: int) -> None:
        if count > 1:
            reply(handler, 1)
            return
        if wait == "date":
            handler.date_time_string = lambda *_: "Tue, 01 Jul 2025 10:00:00 GMT"
            reply(handler, {}, 503, retry_after="Tue, 01 Jul 2025 10:00:01 GMT")
        else:
            reply(handler, {}, 429, retry_after="1")

    with serving(answer) as server:
        found = only(evaluated(tmp_path, server.url, "--retries", "1", "--retry-delay-s", "0.01"))
    assert (found["status"], found["attempts"][0]["waitedMs"]) == ("pass", 1000)


def test_it_is_followed_on_its_own_host_alone(tmp_path: Path) -> None:
    def moved(handler: Any, _: int) -> None:
        if handler.path == "/new":
            reply(handler, 1)
        else:
            reply(handler, {}, 307, location="/new")

    with serving(moved) as server:
        found = only(evaluated(tmp_path, f"{server.url}/old"))
    assert [(one[0], one[1]) for one in server.asked] == [("POST", "/old"), ("POST", "/new")]
    assert json.loads(server.asked[1][3])["input"] == {"n": 1}
    assert found["status"] == "pass"


def test_another_host_gets_neither_request_nor_token(tmp_path: Path) -> None:
    config = {"authType": "bearer", "authTokenEnvKey": "SKILL_TOKEN"}
    with (
        serving(lambda h, _: reply(h, 1)) as other,
        serving(lambda h, _: reply(h, {}, 302, location=f"{other.url}/steal")) as server,
    ):
        found = only(evaluated(tmp_path, server.url, config=config, SKILL_TOKEN=SECRET))
    assert (found["errorKind"], other.asked) == ("redirect", [])


def test_a_circle_ends(tmp_path: Path) -> None:
    with serving(lambda h, _: reply(h, {}, 308, location="/again")) as server:
        found = only(evaluated(tmp_path, server.url))
    assert (found["errorKind"], len(server.asked)) == ("redirect", 6)


def test_303_asks_for_what_came_of_it(tmp_path: Path) -> None:
    def answer(handler: Any, count: int) -> None:
        reply(handler, {}, 303, location="/result") if count == 1 else reply(handler, 1)

    with serving(answer) as server:
        assert only(evaluated(tmp_path, server.url))["status"] == "pass"
    assert [one[0] for one in server.asked] == ["POST", "GET"]


def _stall(handler: Any, _: int) -> None:
    time.sleep(6)


def _trickle(handler: Any, _: int) -> None:
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    with suppress(OSError):
        for _count in range(60):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.1)


def _headers_for_ever(handler: Any, _: int) -> None:
    with suppress(OSError):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for count in range(60):
            handler.wfile.write(b"X-%d: a\r\n" % count)
            handler.wfile.flush()
            time.sleep(0.1)


@pytest.mark.parametrize("answer", [_stall, _trickle, _headers_for_ever])
def test_one_deadline_holds_whatever_the_server_does(tmp_path: Path, answer: Callable[[Any, int], None]) -> None:
    benchmark(tmp_path / "b.json", task(timeoutMs=1000))
    with serving(answer) as server:
        began = time.monotonic()
        found = only(evaluated(tmp_path, server.url))
        took = time.monotonic() - began
    assert (found["status"], found["latencyMs"], took < 5) == ("timeout", 1000, True)


def _flood(handler: Any, _: int) -> None:
    handler.send_response(200)
    handler.end_headers()
    with suppress(OSError):
        for _count in range(400):
            handler.wfile.write(b" " * 65_536)


def _bomb(handler: Any, _: int) -> None:
    reply(handler, gzip.compress(b" " * 200_000_000, 1), content_encoding="gzip")


@pytest.mark.parametrize("answer", [_flood, _bomb])
def test_more_than_any_answer_is_not_read(tmp_path: Path, answer: Callable[[Any, int], None]) -> None:
    benchmark(tmp_path / "b.json", task(timeoutMs=20_000))
    with serving(answer) as server:
        found = only(evaluated(tmp_path, server.url))
    assert found["errorKind"] == "output_limit"
    assert len(found["error"]) < 200


def test_a_compressed_answer_is_read(tmp_path: Path) -> None:
    with serving(lambda h, _: reply(h, gzip.compress(b"1"), content_encoding="gzip")) as server:
        assert only(evaluated(tmp_path, server.url))["status"] == "pass"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"<html>oops", "is not JSON"),
        (b"", "and nothing"),
        (b'{"a": NaN}', "NaN"),
        (b"\xe4", "byte 0"),
        (b"[" * 100_000, "is not JSON"),
    ],
)
def test_an_answer_that_is_no_json_is_told_precisely(tmp_path: Path, body: bytes, told: str) -> None:
    with serving(lambda h, _: reply(h, body)) as server:
        found = only(evaluated(tmp_path, server.url))
    assert (found["status"], found["errorKind"], told in found["error"]) == ("error", "protocol", True), found["error"]


def test_a_connection_that_breaks_is_told(tmp_path: Path) -> None:
    def cut(handler: Any, _: int) -> None:
        handler.send_response(200)
        handler.send_header("content-length", "100")
        handler.end_headers()
        handler.wfile.write(b"{")

    with serving(cut) as server:
        assert only(evaluated(tmp_path, server.url))["errorKind"] == "connection"
    assert only(evaluated(tmp_path, server.url))["errorKind"] == "connection"  # nobody listens any more


@pytest.mark.parametrize("entrypoint", ["ftp://host/a", "/invoke", "http://", "http://user:pw@host/", "http://a b/"])
def test_an_address_that_is_none_is_refused(tmp_path: Path, entrypoint: str) -> None:
    done = evaluated(tmp_path, entrypoint)
    assert (done.code, "entrypoint" in done.err) == (2, True)
    assert "pw" not in done.err


def test_a_relative_entrypoint_is_joined_to_its_base(tmp_path: Path) -> None:
    with serving(lambda h, _: reply(h, 1)) as server:
        done = evaluated(tmp_path, "invoke", config={"baseUrl": f"{server.url}/v1/"})
    assert (only(done)["status"], server.asked[0][1]) == ("pass", "/v1/invoke")


def test_servers_are_asked_at_once(tmp_path: Path) -> None:
    def slow(handler: Any, _: int) -> None:
        time.sleep(0.2)
        reply(handler, 1)

    benchmark(tmp_path / "b.json", *[task(f"t{n}") for n in range(32)])
    with serving(slow) as server:
        done = evaluated(tmp_path, server.url, "--concurrency", "32")
    assert json.loads(done.out)["duration_s"] < 4
    assert json.loads(done.out)["reports"][0]["summary"]["completionRate"] == 1


def test_a_proxy_of_the_environment_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with serving(lambda h, _: reply(h, 1)) as server:
        assert only(evaluated(tmp_path, server.url))["status"] == "pass"


def test_nothing_is_asked_where_nothing_may_be_run(tmp_path: Path) -> None:
    with serving(lambda h, _: reply(h, 1)) as server:
        done = evaluated(tmp_path, server.url, "--no-allow-exec")
    assert (done.code, server.asked) == (2, [])


def test_a_private_address_is_not_reached_unless_allowed(tmp_path: Path) -> None:
    found = only(evaluated(tmp_path, "http://10.255.255.1:9/"))
    assert (found["errorKind"], "--allow-host 10.255.255.1" in found["error"]) == ("connection", True)


@pytest.mark.parametrize(
    ("address", "guarded", "allowed"),
    [
        ("127.0.0.1", False, True),
        ("127.0.0.1", True, False),
        ("::1", False, True),
        ("::ffff:127.0.0.1", True, False),
        ("10.0.0.1", False, False),
        ("169.254.169.254", False, False),
        ("::ffff:169.254.169.254", False, False),
        ("64:ff9b::a9fe:a9fe", False, False),
        ("2002:a9fe:a9fe::1", False, False),
        ("fd00::1", False, False),
        ("fe80::1%eth0", False, False),
        ("100.64.0.1", False, False),
        ("0.0.0.0", False, False),
        ("224.0.0.1", False, False),
        ("93.184.215.14", True, True),
        ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True, True),
    ],
)
def test_which_addresses_may_be_reached(address: str, guarded: bool, allowed: bool) -> None:
    within = reach(frozenset(), guarded=guarded, served={})
    assert (refusal(address, "host.example", 80, within) is None) is allowed


def test_what_is_named_may_be_reached() -> None:
    within = reach(
        frozenset({"Build.Internal", "10.0.0.7:8080"}), guarded=True, served={"A": "http://127.0.0.1:4000/x", "B": "/p"}
    )
    assert refusal("10.0.0.9", "build.internal", 443, within) is None
    assert refusal("10.0.0.7", "10.0.0.7", 8080, within) is None
    assert refusal("10.0.0.7", "10.0.0.7", 9090, within) is not None
    assert refusal("127.0.0.1", "127.0.0.1", 4000, within) is None
    assert refusal("127.0.0.1", "127.0.0.1", 4001, within) is not None
