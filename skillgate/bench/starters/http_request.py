"""A server that answers a POST of JSON, with a small program that serves it on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.bench.starters import program, program_files, spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.bench.starters import Wanted

POSITION = 1
FIRST = "skillgate bench serve {}    (until Ctrl-C, in another terminal)"
_ENTRYPOINT = "http://127.0.0.1:8765/invoke"
_WORDS = f"""\
A server that answers a POST of JSON at {_ENTRYPOINT}. The work is done by the function `answer` of
`server.py`; `skillgate bench serve .` runs it until Ctrl-C, and until it runs its tasks are not measured. For a
server elsewhere, change `entrypoint` in `skill.json` and take `serve` out of `adapter.config.json`."""


def files(wanted: Wanted) -> Mapping[str, str]:
    """Return the files, by their path in the skill's directory."""
    config = {"authType": "none", "timeoutMs": 15_000, "retries": 1, "serve": ["python3", "server.py"]}
    text = program("http_request.py.txt")
    return program_files(wanted, spec(wanted, "http", _ENTRYPOINT), config, "server.py", text, _WORDS)
