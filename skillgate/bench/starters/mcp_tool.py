"""A tool of an MCP server over standard input and output, with the official SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.bench.starters import program, program_files, spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.bench.starters import Wanted

POSITION = 3
_WORDS = """\
A tool of an MCP server that speaks over standard input and output; it needs the official SDK
(`python3 -m pip install mcp`). The function `answer` in `server.py` does the work. The tool's
name is the id in `skill.json`."""


def files(wanted: Wanted) -> Mapping[str, str]:
    """Return the files, by their path in the skill's directory."""
    config = {"toolName": wanted.id, "timeoutMs": 30_000}
    text = program("mcp_tool.py.txt")
    return program_files(wanted, spec(wanted, "mcp", "python3 server.py"), config, "server.py", text, _WORDS)
