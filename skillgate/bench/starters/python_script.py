"""A Python program that answers one JSON-RPC request over its pipes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.bench.starters._wanted import CONFIG_JSON, README, SKILL_JSON, TASKS, as_json, readme, spec, tasks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.bench.starters._wanted import Wanted

POSITION = 2
_PROGRAM = '''\
"""Reads one JSON-RPC request from standard input and writes its reply to standard output."""

import json
import sys


def answer(params):
    """Do the work: replace this with your own. A ValueError tells the caller what is wrong with the input."""
    query = params.get("query")
    if not isinstance(query, str):
        raise ValueError("query: expected a text")
    return {"result": query.upper()}


def main():
    request = json.load(sys.stdin)
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    try:
        reply["result"] = answer(request["params"])
    except ValueError as error:
        reply["error"] = {"code": -32602, "message": str(error)}
    print(json.dumps(reply))  # the only line on standard output; notes go to standard error


if __name__ == "__main__":
    main()
'''
_WORDS = """\
A program that is started for each request: one line of JSON-RPC on standard input, one reply on standard output.
The work is done by the function `answer` of `skill.py`."""


def files(wanted: Wanted) -> Mapping[str, str]:
    """Give the files, by their path in the skill's directory."""
    return {
        SKILL_JSON: as_json(spec(wanted, "subprocess", "python3 skill.py")),
        CONFIG_JSON: as_json({"timeoutMs": 30_000}),
        "skill.py": _PROGRAM,
        TASKS: as_json(tasks(wanted)),
        README: readme(wanted, _WORDS),
    }
