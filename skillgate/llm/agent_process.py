"""The harness as a process: where it is, how it is started with little, and how it ends with all that it started."""

from __future__ import annotations

import logging
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from shlex import quote

from skillgate.errors import IncompleteError

MOST_OUTPUT = 16_000
"""Tokens of one reply, thinking included: as many as a session of this program's own gives."""
_RETRIES = 2  # that the harness makes of one request, since to begin a session anew costs all of it
_OF_SDK = ("CLAUDE_CODE_ENTRYPOINT", "CLAUDE_AGENT_SDK_VERSION", "CLAUDE_CODE_SDK_READS_SESSION_STATE", "PWD")
RESTRAINTS = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1",  # `@/etc/passwd` in a prompt attaches nothing
    "CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1",
    "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS": "1",
    "CLAUDE_CODE_DISABLE_FEEDBACK_SURVEY": "1",
    "CLAUDE_CODE_SKIP_PROMPT_HISTORY": "1",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(MOST_OUTPUT),
    "CLAUDE_CODE_MAX_RETRIES": str(_RETRIES),
    "DISABLE_AUTOUPDATER": "1",
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
}
"""Variables that keep the harness to what a session needs."""

_CODE = """\
import os, sys
os.setsid()
with open(os.environ.pop("SKILLGATE_SESSION"), "w") as file:
    file.write(str(os.getpid()))
os.execve(sys.argv[1], sys.argv[1:], {name: text for name, text in os.environ.items() if name in KEPT})
"""


def binary(package: Path) -> str:
    """Find the harness that the SDK brings along; another may be of any version, and is not taken.

    Args:
        package: the SDK's directory.

    Raises:
        IncompleteError: there is none, or it cannot be run here.
    """
    found = package / "_bundled" / "claude"
    if os.name != "posix":
        raise IncompleteError("--runner agent-sdk needs process groups as Linux and macOS have them")
    if not os.access(found, os.X_OK):
        raise IncompleteError(
            "the agent SDK is installed without Claude Code itself: --runner agent-sdk needs one of its wheels for this"
            " system; pip install --only-binary claude-agent-sdk 'skillgate-action[agent-sdk]'"
        )
    return str(found)


def launcher(root: Path, found: str, *, kept: tuple[str, ...]) -> Path:
    """Write what starts the harness: the SDK hands its child all of this process's environment, and this takes it away.

    It is written once, before any session: a file that is still open for writing in a child cannot be executed.

    Args:
        root: the directory to write to.
        found: the harness.
        kept: the variables that it may have, beside those that the SDK sets itself.
    """
    code = root / "launch.py"
    code.write_text(f"KEPT = {frozenset((*kept, *_OF_SDK))!r}\n{_CODE}", encoding="utf-8")
    script = root / "launch"
    command = " ".join(map(quote, (sys.executable, "-I", "-S", str(code), found)))
    script.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    script.chmod(0o700)
    return script


def kill(pid_file: Path) -> None:
    """End a session's process with all that it started; nothing where there is none."""
    with suppress(OSError, ValueError):
        os.killpg(int(pid_file.read_text(encoding="ascii")), signal.SIGKILL)


def silence() -> None:
    """Keep the SDK's own log off the terminal: it tells of every session that was ended, and may quote anything."""
    log = logging.getLogger("claude_agent_sdk")
    log.propagate = False
    if not log.handlers:
        log.addHandler(logging.NullHandler())
