"""A Python program that answers one JSON-RPC request on standard input and output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.bench.starters import program, program_files, spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.bench.starters import Wanted

POSITION = 2
_WORDS = """\
A program that is started for each request: one line of JSON-RPC on standard input, one reply on standard output.
The function `answer` in `skill.py` does the work."""


def files(wanted: Wanted) -> Mapping[str, str]:
    """Return the files, by their path in the skill's directory."""
    config, text = {"timeoutMs": 30_000}, program("python_script.py.txt")
    return program_files(wanted, spec(wanted, "subprocess", "python3 skill.py"), config, "skill.py", text, _WORDS)
