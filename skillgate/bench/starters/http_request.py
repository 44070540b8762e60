"""A server that answers a JSON POST, with a small program that runs it on this machine."""

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
A server that answers a JSON POST at {_ENTRYPOINT}. The function `answer` in `server.py` does the work.
`skillgate bench serve .` runs the server until Ctrl-C; its tasks are measured only while it runs. For a server
elsewhere, change `entrypoint` in `skill.json` and remove `serve` from `adapter.config.json`."""


def files(wanted: Wanted) -> Mapping[str, str]:
    """Return the files, by their path in the skill's directory."""
    config = {"authType": "none", "timeoutMs": 15_000, "retries": 1, "serve": ["python3", "server.py"]}
    text = program("http_request.py.txt")
    return program_files(wanted, spec(wanted, "http", _ENTRYPOINT), config, "server.py", text, _WORDS)
