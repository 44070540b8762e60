"""Sessions in a harness: which provider's are run so, where they take place, what they may do, how their process ends.

Requests whose body names a runner go to the harness, all others to the provider. Names and paths of skills are hostile.
Directories bear names that are made safe, a skill's frontmatter is written here and never copied, and nothing is
written or read outside of the skills' directories. The harness itself is :mod:`skillgate.llm.agent_sdk`.
"""
# ruff: noqa: PTH113, PTH118

from __future__ import annotations

import importlib
import json
import logging
import os
import re
import signal
import sys
from contextlib import suppress
from pathlib import Path, PurePosixPath
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from skillgate import settings
from skillgate.errors import IncompleteError, UsageError
from skillgate.registry import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from skillgate.llm.port import Connection, Provider
    from skillgate.model.exchange import Reply, Request

AGENT_SDK = "agent-sdk"
SHOWN = "/skills"  # what transcripts call the directory of the skills, which lies elsewhere each time
MOST_OUTPUT = 16_000  # tokens of one reply, thinking included: as many as a session of this program's own gives
_EXTRA = "--runner agent-sdk needs a package that is not installed; pip install 'skillgate-action[agent-sdk]'"
_PLATFORM_VARIABLE = "SKILLGATE_ANTHROPIC_PLATFORM"
_ACCESS = (  # what a harness needs to reach the provider, and nothing else
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
    "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS",  # for gateways that know the API's stable part alone
)
_SAFE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_UNSAFE = re.compile(r"[^a-z0-9]+")
_MOST_NAME = 64  # characters, as a skill's name may have
_MOST_READ = 200_000  # bytes of a skill's files that one session may be shown
_MOST_LOADS = 8  # calls of Skill in one session
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
"""Variables that restrict the harness to what a session needs."""

_CODE = """\
import os, sys
os.setsid()
with open(os.environ.pop("SKILLGATE_SESSION"), "w") as file:
    file.write(str(os.getpid()))
os.execve(sys.argv[1], sys.argv[1:], {name: text for name, text in os.environ.items() if name in ALLOWED})
"""


class Runner(Protocol):
    """Runs whole sessions; another ``version`` may make other sessions of the same request. Thread-safe."""

    version: str

    def send(self, request: Request, *, timeout_s: float) -> Reply:
        """Run a session; raise ProviderError where it gave no transcript."""

    def close(self) -> None:
        """End what runs."""


class Runners:
    """A provider whose sessions another runs; both are closed with it."""

    def __init__(self, provider: Provider, runner: Runner) -> None:
        self.name = provider.name
        self.endpoint = provider.endpoint
        self.variant = provider.variant
        self.live = provider.live
        self.session_variant = runner.version  # what a session's outcome depends on, apart from the request
        self._provider = provider
        self._runner = runner

    def send(self, request: Request, *, timeout_s: float) -> Reply:
        """Send a request once, or run a session; raise ProviderError where it gave no message."""
        whom = self._runner if "runner" in request.body else self._provider
        return whom.send(request, timeout_s=timeout_s)

    def close(self) -> None:
        """End what runs, and let go of connections."""
        self._runner.close()
        self._provider.close()


def with_runner(provider: Provider, connection: Connection, runner: str) -> Provider:
    """Return a provider that runs its sessions with ``runner``, which is ``messages`` or ``agent-sdk``.

    The harness gets what of the connection's environment reaches the provider.

    Raises:
        UsageError: the harness cannot speak to this provider.
        IncompleteError: the harness is not installed.
    """
    if runner != AGENT_SDK or PROVIDERS.flag(provider.name, "HOLDS_SESSIONS"):  # a recording holds the sessions too
        return provider
    if not PROVIDERS.flag(provider.name, "SERVES_AGENT_SDK"):
        raise UsageError(
            f"--runner agent-sdk speaks the Messages API, and --provider {provider.name} does not: use --provider"
            f" anthropic, with --{settings.BASE_URL.key} for a server of your own"
        )
    if connection.environ.get(_PLATFORM_VARIABLE, "").strip():
        raise UsageError(f"--runner agent-sdk reaches Anthropic's own API alone; unset {_PLATFORM_VARIABLE}")
    try:  # few runs need it, and it takes a second to load
        module = importlib.import_module("skillgate.llm.agent_sdk")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "claude_agent_sdk":
            raise
        raise IncompleteError(_EXTRA) from error
    access = {name: text for name in _ACCESS if (text := connection.environ.get(name, "").strip())}
    return Runners(provider, module.Harness(provider.endpoint, access))


class Workspace(NamedTuple):
    """A session's directories: all that belongs to it, and where the harness works, which holds nothing but the skills.

    ``names`` are those that skills are listed by, by the names of their directories.
    """

    home: Path
    project: Path
    names: Mapping[str, str]

    @property
    def pid_file(self) -> Path:
        """Holds the harness's process id."""
        return self.home / "pid"

    @property
    def skills(self) -> Path:
        """Holds a directory for each skill."""
        return self.project / ".claude" / "skills"

    def file(self, path: object) -> str | None:
        """Return the real path of a skill's file, None for anything else."""
        if not isinstance(path, str) or path != path.strip() or path.startswith("~") or "\0" in path:
            return None
        real = os.path.realpath(os.path.join(self.project, path))
        inside = PurePosixPath(real).is_relative_to(self.skills) and os.path.isfile(real)
        return real if inside else None

    def named(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """Return the input of a call for a skill with the name that the skill is listed by."""
        wanted = call.get("skill")
        known = self.names.get(wanted.strip().removeprefix("/")) if isinstance(wanted, str) else None
        return dict(call) if known is None else {**call, "skill": known}

    def masked(self, value: Any) -> Any:  # noqa: ANN401 - any JSON
        """Return a value in which every text names the skills' directories as if they always lay in one place."""
        if isinstance(value, str):
            for directory, name in self.names.items():
                value = value.replace(f"{self.skills}/{directory}/", f"{SHOWN}/{name}/")
                value = value.replace(f".claude/skills/{directory}/", f"{SHOWN}/{name}/")
            return value.replace(str(self.skills), SHOWN).replace(str(self.home), "")
        if isinstance(value, list | tuple):
            return [self.masked(item) for item in value]
        if isinstance(value, dict):
            return {key: self.masked(item) for key, item in value.items()}
        return value


def lay_out(home: Path, body: Mapping[str, Any]) -> Workspace:
    """Write the ``skills`` of a request's body into a session's project; ``home`` is there, and the session's own.

    Raises OSError where they cannot be written.
    """
    skills = {str(skill["name"]): skill for skill in body["skills"]}
    workspace = Workspace(home, home / "project", directories(skills))
    workspace.skills.mkdir(parents=True)
    (home / "config").mkdir()
    for directory, name in workspace.names.items():
        _write(workspace.skills / directory, directory, skills[name])
    return workspace


def directories(names: Iterable[str]) -> dict[str, str]:
    """Choose a directory for each name, itself where it is a plain one; return the names by their directories."""
    wanted = tuple(dict.fromkeys(names))
    chosen = {name: name for name in wanted if _SAFE.match(name) and len(name) <= _MOST_NAME}
    for name in wanted:
        if name in chosen:
            continue
        plain = _UNSAFE.sub("-", name.lower())[: _MOST_NAME - 4].strip("-") or "skill"
        number, directory = 2, plain
        while directory in chosen:
            directory, number = f"{plain}-{number}", number + 1
        chosen[directory] = name
    return {directory: chosen[directory] for directory in sorted(chosen, key=lambda one: wanted.index(chosen[one]))}


def _write(directory: Path, name: str, skill: Mapping[str, Any]) -> None:
    """Write one skill; JSON's texts are YAML's, on one line whatever they hold."""
    directory.mkdir()
    description = json.dumps(str(skill["description"]), ensure_ascii=False)
    text = f"---\nname: {name}\ndescription: {description}\n---\n{skill['body']}"
    (directory / "SKILL.md").write_text(text, encoding="utf-8", errors="replace", newline="")
    for path, content in skill["files"].items():
        if _is_below(path):
            place = directory / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content, encoding="utf-8", errors="replace", newline="")


def _is_below(path: str) -> bool:
    """Whether a path stays in the skill's directory, and is neither the skill's own file nor a hidden one."""
    parts = path.split("/")
    plain = all(part and not part.startswith(".") and "\0" not in part and "\\" not in part for part in parts)
    return plain and parts[0].upper() != "SKILL.MD"


class Guard:
    """Decides which calls of tools a session may make: skills, and files of skills up to a size; and no command."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._left = _MOST_READ
        self._loads = _MOST_LOADS

    async def judged(self, call: Any, _id: str | None, _context: Any) -> Any:  # noqa: ANN401 - the SDK's unions
        """Answer the harness's question before a call."""
        options = call.get("tool_input")
        name, options = call.get("tool_name"), options if isinstance(options, dict) else {}
        if name == "Skill":
            self._loads -= 1
            return _verdict(None if self._loads >= 0 else "too many skills were loaded")
        if name != "Read":
            return _verdict("there are the tools Skill and Read alone")
        path = self._workspace.file(options.get("file_path"))
        if path is None:
            return _verdict("there is no such file of a skill; only those can be read")
        self._left -= os.stat(path).st_size  # noqa: PTH116 - it is there, and nothing removes it
        if self._left < 0:
            return _verdict("too much was read in this session")
        return _verdict(None, updatedInput={**options, "file_path": path})  # what was looked at is what is read


def _verdict(refusal: str | None, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    decided = {"permissionDecision": "allow"} if refusal is None else {"permissionDecision": "deny"}
    reason = {} if refusal is None else {"permissionDecisionReason": refusal}
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decided, **reason, **more}}


def binary(package: Path) -> str:
    """Return the harness that the SDK in the directory ``package`` includes; another version is not used.

    Raises IncompleteError where there is none, or it cannot be run here.
    """
    path = package / "_bundled" / "claude"
    if os.name != "posix":
        raise IncompleteError("--runner agent-sdk needs process groups as Linux and macOS have them")
    if not os.access(path, os.X_OK):
        raise IncompleteError(
            "the agent SDK is installed without Claude Code itself: --runner agent-sdk needs one of its wheels for this"
            " system; pip install --only-binary claude-agent-sdk 'skillgate-action[agent-sdk]'"
        )
    return str(path)


def launcher(root: Path, harness: str, *, variables: tuple[str, ...]) -> Path:
    """Write what starts the harness: the SDK hands its child all of this process's environment, and this takes it away.

    It is written once, before any session: a file that is still open for writing in a child cannot be executed. Apart
    from ``variables`` the harness gets those that the SDK sets itself.
    """
    code = root / "launch.py"
    code.write_text(f"ALLOWED = {frozenset((*variables, *_OF_SDK))!r}\n{_CODE}", encoding="utf-8")
    script = root / "launch"
    command = " ".join(map(quote, (sys.executable, "-I", "-S", str(code), harness)))
    script.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    script.chmod(0o700)
    return script


def kill(pid_file: Path) -> None:
    """End a session's process with all that it started; nothing where there is none."""
    with suppress(OSError, ValueError):
        os.killpg(int(pid_file.read_text(encoding="ascii")), signal.SIGKILL)


def silence() -> None:
    """Keep the SDK's own log off the terminal: it reports every session that was ended, and may quote anything."""
    log = logging.getLogger("claude_agent_sdk")
    log.propagate = False
    if not log.handlers:
        log.addHandler(logging.NullHandler())
