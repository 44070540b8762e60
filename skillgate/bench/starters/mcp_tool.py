"""A tool of an MCP server that speaks over its pipes, with the protocol's official SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.bench.starters._wanted import CONFIG_JSON, README, SKILL_JSON, TASKS, as_json, readme, spec, tasks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.bench.starters._wanted import Wanted

POSITION = 3
_PROGRAM = '''\
"""An MCP server with one tool, over standard input and output."""

import json
import sys
from pathlib import Path

try:
    from mcp.server.mcpserver import MCPServer
except ModuleNotFoundError:
    try:
        from mcp.server.fastmcp import FastMCP as MCPServer  # what the SDK calls it before its version 2
    except ModuleNotFoundError:
        sys.exit("the SDK of MCP is not installed for this python3: python3 -m pip install mcp")

SKILL = json.loads(Path(__file__).with_name("skill.json").read_text(encoding="utf-8"))
server = MCPServer(SKILL["name"])


@server.tool(name=SKILL["id"], description=SKILL["description"])
def answer(query: str) -> dict[str, str]:
    """Do the work: replace this with your own. An exception tells the caller what is wrong with the input."""
    return {"result": query.upper()}


if __name__ == "__main__":
    server.run("stdio")
'''
_WORDS = """\
A tool of an MCP server that speaks over standard input and output; it needs the official SDK
(`python3 -m pip install mcp`). The work is done by the function `answer` of `server.py`. The
tool's name is the id in `skill.json`."""


def files(wanted: Wanted) -> Mapping[str, str]:
    """Give the files, by their path in the skill's directory."""
    return {
        SKILL_JSON: as_json(spec(wanted, "mcp", "python3 server.py")),
        CONFIG_JSON: as_json({"toolName": wanted.id, "timeoutMs": 30_000}),
        "server.py": _PROGRAM,
        TASKS: as_json(tasks(wanted)),
        README: readme(wanted, _WORDS),
    }
