"""A gateway on the loopback: a real proxy in front of a model's server, which renames the model in every reply."""

from __future__ import annotations

import http.client
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator


class Keeps(NamedTuple):
    """What a gateway leaves as the server behind it gave it; the model's name it never does."""

    ids: bool = True
    headers: bool = True


@contextmanager
def gateway(behind: str, keeps: Keeps, *, name: str = "claude-sonnet-5-5") -> Iterator[str]:
    """Let a gateway listen in front of the server at ``behind``; gives its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("content-length", 0)))
            parts = urlsplit(behind)
            link = http.client.HTTPConnection(str(parts.hostname), parts.port or 80, timeout=60)
            link.request("POST", self.path, data, {"content-type": "application/json"})
            reply = link.getresponse()
            body = _renamed(reply.read(), keeps, name)
            self.send_response(reply.status)
            passed = {"content-type": reply.headers["content-type"]}
            passed |= {f"x-from-{key.lower()}": value for key, value in reply.headers.items()} if keeps.headers else {}
            for key, value in {**passed, "content-length": str(len(body))}.items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(body)
            link.close()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base class
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _renamed(data: bytes, keeps: Keeps, name: str) -> bytes:
    """Rename the model of a reply, or of the events of a streamed one."""
    if data.startswith(b"event: "):
        lines = data.split(b"\n")
        return b"\n".join(
            b"data: " + json.dumps(_document(json.loads(line[6:]), keeps, name)).encode()
            if line.startswith(b"data: ")
            else line
            for line in lines
        )
    return json.dumps(_document(json.loads(data), keeps, name)).encode()


def _document(value: Any, keeps: Keeps, name: str) -> Any:
    if isinstance(value, list):
        return [_document(one, keeps, name) for one in value]
    if not isinstance(value, dict):
        return value
    changed = {key: _document(one, keeps, name) for key, one in value.items()}
    if "model" in changed:
        changed["model"] = name
    if not keeps.ids and isinstance(changed.get("id"), str):
        changed["id"] = changed["id"].replace("scripted", "another")
    return changed
