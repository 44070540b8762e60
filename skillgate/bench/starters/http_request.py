"""A server that answers a POST of JSON, with a small program that serves it on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.bench.starters._wanted import CONFIG_JSON, README, SKILL_JSON, TASKS, as_json, readme, spec, tasks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.bench.starters._wanted import Wanted

POSITION = 1
FIRST = "skillgate bench serve {}    (until Ctrl-C, in another terminal)"
_ENTRYPOINT = "http://127.0.0.1:8765/invoke"
_PROGRAM = '''\
"""Answers POST {"skillId": …, "version": …, "input": {…}} on this machine, at the address in skill.json."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

ADDRESS = urlsplit(json.loads(Path(__file__).with_name("skill.json").read_text(encoding="utf-8"))["entrypoint"])
MOST_BYTES = 1_000_000


def answer(given):
    """Do the work: replace this with your own. A ValueError tells the caller what is wrong with the input."""
    query = given.get("query")
    if not isinstance(query, str):
        raise ValueError("query: expected a text")
    return {"result": query.upper()}


class Handler(BaseHTTPRequestHandler):
    timeout = 15

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        if self.path != ADDRESS.path:
            self.send(404, {"error": "there is nothing here"})
        elif not 0 < length <= MOST_BYTES:
            self.send(413, {"error": f"expected 1 to {MOST_BYTES} bytes"})
        else:
            try:
                self.send(200, answer(json.loads(self.rfile.read(length))["input"]))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                self.send(400, {"error": str(error)})

    def send(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


if __name__ == "__main__":
    with ThreadingHTTPServer((ADDRESS.hostname, ADDRESS.port), Handler) as server:
        print(f"answering at {ADDRESS.geturl()}", flush=True)
        server.serve_forever()
'''
_WORDS = f"""\
A server that answers a POST of JSON at {_ENTRYPOINT}. The work is done by the function `answer` of
`server.py`; `skillgate bench serve .` runs it until Ctrl-C, and until it runs its tasks are not measured. For a
server elsewhere, change `entrypoint` in `skill.json` and take `serve` out of `adapter.config.json`."""


def files(wanted: Wanted) -> Mapping[str, str]:
    """Give the files, by their path in the skill's directory."""
    config = {"authType": "none", "timeoutMs": 15_000, "retries": 1, "serve": ["python3", "server.py"]}
    return {
        SKILL_JSON: as_json(spec(wanted, "http", _ENTRYPOINT)),
        CONFIG_JSON: as_json(config),
        "server.py": _PROGRAM,
        TASKS: as_json(tasks(wanted)),
        README: readme(wanted, _WORDS),
    }
