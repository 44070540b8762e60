"""A gate's webhook over a real server on loopback: what arrives, what is tried again, and what is never shown."""

from __future__ import annotations

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("sqlalchemy", reason="the extra store is not installed")
pytest.importorskip("scipy")

from skillgate.invocations import webhook
from tests.cli.running import run
from tests.invocations.recorded import AT, BAD, GOOD, line, write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECRET = "T0/hook-secret-5f1"
HOSTILE = "<!channel>|x"


class Received:
    """What a server received, and the statuses that it answers with, the last for ever."""

    def __init__(self, statuses: list[int]) -> None:
        self.statuses = statuses
        self.bodies: list[Any] = []
        self.types: list[str | None] = []
        self.paths: list[str] = []
        self.url = ""


@contextmanager
def server(*statuses: int) -> Iterator[Received]:
    """Serve on loopback."""
    found = Received(list(statuses or (204,)))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.bodies.append(json.loads(body))
            found.types.append(self.headers["Content-Type"])
            found.paths.append(self.path)
            status = found.statuses.pop(0) if len(found.statuses) > 1 else found.statuses[0]
            self.send_response(status)
            if status in (302, 307):
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=running.serve_forever, daemon=True).start()
    found.url = f"http://127.0.0.1:{running.server_address[1]}/{SECRET}"
    try:
        yield found
    finally:
        running.shutdown()
        running.server_close()


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with one good skill and two bad ones, and no wait between tries."""
    monkeypatch.setattr(webhook, "WAITS_S", (0.0, 0.0))
    names = {"good": GOOD, "bad": BAD, HOSTILE: BAD}
    write(tmp_path / "a.jsonl", [line(n, skill=name, **fields) for name, fields in names.items() for n in range(12)])
    assert run(tmp_path, "log", "import", "a.jsonl", "--keep-text").code == 0
    return tmp_path


def gate(folder: Path, url: str, *skills: str) -> Any:
    done = run(folder, "log", "gate", "publish", *skills, "--at", AT, "--webhook-url-from", "HOOK", HOOK=url)
    assert SECRET not in done.out + done.err
    return done


def test_a_failed_gate_is_posted_as_json_with_names_as_data(stored: Path) -> None:
    with server() as found:
        assert gate(stored, found.url).code == 1
    (body,) = found.bodies
    assert (found.types, found.paths) == (["application/json"], [f"/{SECRET}"])
    assert body["text"] == "skillgate: FAILED publish: 2 of 3 skills"
    assert [one["skill"] for one in body["skills"]] == [HOSTILE, "bad"]
    assert (body["gate"], body["checked"], body["not_met"]) == ("publish", 3, 2)
    assert body["skills"][1]["reasons"][0].startswith("average score")
    assert body["skills"][1]["status"] == "failed"


def test_a_gate_that_passes_posts_nothing(stored: Path) -> None:
    with server() as found:
        assert gate(stored, found.url, "good").code == 0
    assert not found.bodies


@pytest.mark.parametrize(
    ("statuses", "tries", "words"),
    [
        ((500, 429, 204), 3, ""),
        ((503,), 3, "webhook of HOOK: not delivered after 3 tries: the server answered 503"),
        ((404,), 1, "webhook of HOOK: not delivered: the server answered 404"),
        ((302, 204), 1, "webhook of HOOK: not delivered: the server answered 302"),
    ],
)
def test_only_what_may_pass_is_tried_again_and_the_exit_code_stays(
    stored: Path, statuses: tuple[int, ...], tries: int, words: str
) -> None:
    with server(*statuses) as found:
        done = gate(stored, found.url)
    assert (done.code, len(found.bodies)) == (1, tries)
    assert words in done.err
    assert ("not delivered" in done.err) == bool(words)


def test_a_refused_connection_changes_no_exit_code(stored: Path) -> None:
    with server() as found:
        pass
    done = gate(stored, found.url)
    assert done.code == 1
    assert "not delivered after 3 tries: no connection (ConnectionRefusedError)" in done.err


def test_a_server_that_is_silent_is_given_up(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    monkeypatch.setattr(webhook, "TIMEOUT_S", 0.2)
    monkeypatch.setattr(webhook, "WAITS_S", ())
    with socket.create_server(("127.0.0.1", 0)) as silent:
        done = gate(stored, f"http://127.0.0.1:{silent.getsockname()[1]}/{SECRET}")
    assert done.code == 1
    assert "not delivered: no answer in time" in done.err


@pytest.mark.parametrize(
    "url",
    [
        "",
        f"http://example.org/{SECRET}",
        f"https://user:{SECRET}@example.org/",
        f"ftp://127.0.0.1/{SECRET}",
        f"https://[{SECRET}/",
        f"https://example.org:x{SECRET}/",
        f"https://example.org/{SECRET}\r\nX: y",
        f"https:///{SECRET}",
    ],
)
def test_an_address_that_is_not_usable_is_a_usage_error_that_does_not_show_it(stored: Path, url: str) -> None:
    done = gate(stored, url)
    assert done.code == 2
    assert "--webhook-url-from" in done.err
    assert not done.out
