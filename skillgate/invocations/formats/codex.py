"""Read the uses of skills in sessions of Codex, ``~/.codex/sessions/**/rollout-*.jsonl``.

A skill that the user names is put in by Codex as a message ``<skill>``. Otherwise the model reads its ``SKILL.md`` with
a shell command; Codex counts the same commands. Source: openai/codex, core-skills/src/invocation_utils.rs at 18d1550a,
skill_instructions.rs at 428dd6c6, rollout/src/policy.rs at 0136a731, core/src/tools/mod.rs at 019402a8.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from skillgate.invocations.formats._changes import Change, effect_of, patch_of
from skillgate.invocations.formats._entries import (
    Call,
    Does,
    Entry,
    Kind,
    Result,
    count,
    identifier,
    items,
    mapping,
    model_name,
    prompted,
    replied,
    skill_at,
    time_of,
    usage_of,
)
from skillgate.invocations.formats._session import Client, reads
from skillgate.invocations.formats._transcript import object_of
from skillgate.model.invocation import Caller

if TYPE_CHECKING:
    from skillgate.invocations.formats import Lines, Options
    from skillgate.model.invocation import Read

POSITION = 6
EXPECTED = "a rollout of Codex"
GROWS = True
_CLIENT = Client("codex", "no line is from a rollout of Codex")
_KINDS = ("session_meta", "turn_context", "response_item", "event_msg", "compacted", "inter_agent_communication")
_HEAD = 2_000  # characters of a text that are examined
_SKILL = re.compile(r"<skill>\n<name>([^<\n]{1,200})</name>\n<path>([^<\n]{1,1000})</path>")
_READERS = ("cat", "sed", "head", "tail", "less", "more", "bat", "awk")
_ROOTS = frozenset((".codex", ".agents", ".claude", "cache"))
"""Folders above those of skills. Elsewhere a ``SKILL.md`` may be one that is being written."""
_SHELLS = ("exec_command", "shell", "shell_command", "container.exec", "local_shell", "exec")
_CODE_MODE = re.compile(r'exec_command\(\s*\{[^}]{0,200}?"?cmd"?\s*:\s*("(?:[^"\\]|\\.)*")')
_EXIT = re.compile(r"^(?:Exit code: |Process exited with code )(-?\d{1,10})$", re.MULTILINE)
_DENIED = ("exec command rejected by user", "patch rejected by user")
_PATCHED = re.compile(r"\*\*\* (?:Add|Update|Delete) File: (.+)")
_LONGEST_COMMAND = 4_000  # characters that are split into words


def is_it(head: bytes) -> bool:
    """Whether a file is a rollout, by its first 64 KiB."""
    whole, _, part = head.rpartition(b"\n")
    found = [line for line in whole.split(b"\n") if line.strip()]
    if not found:
        return b'"type":"session_meta"' in part and b'"payload":' in part
    return any(_is_line(line) for line in found[:10])


def _is_line(line: bytes) -> bool:
    try:
        record = object_of(line)
    except ValueError:
        return False
    return record.get("type") in _KINDS and isinstance(record.get("payload"), dict)


def read(lines: Lines, options: Options) -> Iterator[Read]:
    """Read a rollout. A sub-agent has its own rollout."""
    return reads(_CLIENT, _Rollout().entries(lines), options)


class _Rollout:
    """The state that later lines of a rollout refer to."""

    def __init__(self) -> None:
        self._sessions: tuple[str, ...] = ()
        self._model: str | None = None
        self._reply = self._skills = 0  # numbers of the reply and of the skill that was put in
        self._loaded: set[str] = set()  # skills of this turn
        self._commands: set[str] = set()  # calls whose output ends with an exit code
        self._reading: set[str] = set()  # calls that load a skill
        self._total: Mapping[str, Any] = {}  # tokens of all replies so far
        self._is_program = False

    def entries(self, lines: Lines) -> Iterator[tuple[int, Entry | str]]:
        """Yield the entries of the lines."""
        for number, line in lines:
            if line.strip():
                try:
                    record = object_of(line)
                except ValueError as error:
                    yield number, str(error)
                    continue
                for entry in self._entries(record):
                    yield number, entry

    def _entries(self, record: Mapping[str, Any]) -> Iterator[Entry]:
        kind, payload = record.get("type"), mapping(record.get("payload"))
        at = time_of(record.get("timestamp"))
        found: Entry | None = None
        if kind == "session_meta":
            session = identifier(payload.get("id"))
            self._sessions = self._sessions or ((session,) if session else ())
            source = payload.get("source")
            self._is_program = self._is_program or source == "exec" or isinstance(source, dict)
        elif kind == "turn_context":
            self._model = model_name(payload.get("model")) or self._model
        elif kind == "response_item":
            found = self._item(payload)
        elif kind == "event_msg":
            found = self._event(payload)
        found = found or Entry(Kind.OTHER if kind in _KINDS else Kind.UNKNOWN)
        yield found._replace(at=at, sessions=self._sessions, unattended=self._is_program)

    def _event(self, payload: Mapping[str, Any]) -> Entry | None:
        kind, text = payload.get("type"), payload.get("message")
        if kind == "user_message" and isinstance(text, str):
            self._reply += 1
            self._loaded.clear()
            return prompted(Entry(Kind.PROMPT), text)
        if kind == "turn_aborted" and payload.get("reason") in ("interrupted", None):
            return Entry(Kind.INTERRUPTION)
        if kind == "token_count":
            info = mapping(payload.get("info"))
            usage, total = mapping(info.get("last_token_usage")), mapping(info.get("total_token_usage"))
            if not info or (total and total == self._total):
                return None  # of rate limits only, or the counts of the last reply once more
            self._total = total
            message, self._reply = f"reply{self._reply}", self._reply + 1
            cached, fresh = count(usage.get("cached_input_tokens")), count(usage.get("input_tokens"))
            written = count(usage.get("cache_write_input_tokens"))
            if not usage or cached is None or fresh is None or written is None:
                return None
            tokens = usage_of(max(0, fresh - cached - written), written, cached, usage.get("output_tokens"))
            return Entry(Kind.USAGE, message=message, model=self._model, usage=tokens)
        return None

    def _item(self, payload: Mapping[str, Any]) -> Entry | None:
        kind, role = payload.get("type"), payload.get("role")
        if kind == "message" and role in ("assistant", "user"):
            text = "\n".join(
                str(one["text"]) for one in items(payload.get("content")) if isinstance(one.get("text"), str)
            )
            return self._says(text) if role == "assistant" else self._put_in(text)
        if kind in ("function_call", "custom_tool_call", "local_shell_call"):
            call = self._call(payload, str(payload.get("name", "local_shell")))
            message = f"reply{self._reply}"
            return Entry(Kind.REPLY, message=message, model=self._model, size=100, calls=(call,))
        if kind in ("function_call_output", "custom_tool_call_output"):
            return Entry(Kind.RESULTS, results=(self._result(payload),))
        return None

    def _says(self, text: str) -> Entry:
        entry = Entry(Kind.REPLY, message=f"reply{self._reply}", model=self._model, size=len(text))
        return replied(entry, text)

    def _put_in(self, text: str) -> Entry | None:
        found = _SKILL.match(text[:_HEAD])
        if found is None:
            return None  # a prompt has an event, too
        self._skills += 1
        folder, version = skill_at(found[2].replace("\\", "/").rpartition("/")[0])
        name = found[1].strip()
        name = folder if ":" in folder and ":" not in name else name
        self._loaded |= {name, folder}
        identity = f"{self._sessions[0]}:{self._skills}" if self._sessions else ""
        return Entry(Kind.BODY, name=name, version=version, caller=Caller.USER, uuid=identity)

    def _call(self, payload: Mapping[str, Any], name: str) -> Call:
        identity, command = identifier(payload.get("call_id")), _command(payload, name)
        if name == "apply_patch" or (command or "").lstrip().startswith("apply_patch"):
            text = payload.get("input") if name == "apply_patch" else command
            return Call(identity, "apply_patch", changes=tuple(_changes(text)))
        if name == "spawn_agent":
            return Call(identity, name, Does.AGENT)
        if name == "request_user_input":
            return Call(identity, name, Does.ASK)
        if command is None:
            return Call(identity, name)
        self._commands.add(identity)
        folder = _skill_folder(command)
        skill, version = skill_at(folder) if folder is not None else ("", None)
        if not skill or skill in self._loaded:
            return Call(identity, name, effect=effect_of(command))
        self._loaded.add(skill)
        self._reading.add(identity)
        return Call(identity, name, Does.SKILL, skill=skill, version=version)

    def _result(self, payload: Mapping[str, Any]) -> Result:
        identity, output = identifier(payload.get("call_id")), payload.get("output")
        parts = items(output) if isinstance(output, list) else [{"text": mapping(output).get("content", output)}]
        text = "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))
        denied = text.startswith(_DENIED)
        failed = denied or (identity in self._commands and _exit_code(text) not in (None, 0))
        self._commands.discard(identity)
        unloaded = failed and identity in self._reading
        self._reading.discard(identity)
        return Result(identity, failed, denied, unloaded)


def _exit_code(text: str) -> int | None:
    """Return the exit code of a command, from the lines before its output."""
    if text.startswith("{"):
        code = mapping(mapping(_json(text)).get("metadata")).get("exit_code")
        return code if type(code) is int else None
    found = _EXIT.search(text[:_HEAD].partition("\nOutput:")[0])
    return int(found[1]) if found else None


def _command(payload: Mapping[str, Any], name: str) -> str | None:
    """Return the shell command of a call, None for another tool."""
    if name not in _SHELLS:
        return None
    if name == "exec":  # code that calls tools
        found = _CODE_MODE.search(str(payload.get("input", ""))[:_LONGEST_COMMAND])
        return str(_json(found[1])) if found else ""
    values = mapping(payload.get("action")) or mapping(_json(payload.get("arguments")))
    command = values.get("cmd", values.get("command"))
    if isinstance(command, list):
        words = [one for one in command if isinstance(one, str)]
        return words[-1] if words[1:2] and words[1] in ("-lc", "-c") else shlex.join(words)
    return command if isinstance(command, str) else ""


def _json(text: object) -> object:
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def _skill_folder(command: str) -> str | None:
    """Return the folder of the skill whose document a command prints, None if it prints none."""
    try:
        words = shlex.split(command[:_LONGEST_COMMAND])
    except ValueError:
        words = command[:_LONGEST_COMMAND].split()
    if not words or words[0].rpartition("/")[2].lower() not in _READERS:
        return None
    return next((word.rpartition("/")[0] for word in words[1:] if _is_document(word.split("/"))), None)


def _is_document(parts: list[str]) -> bool:
    """Whether the parts of a path are those of the document of a skill that Codex may load."""
    if parts[-1] != "SKILL.md" or not parts[-2:-1] or "skills" not in parts[:-2]:
        return False
    return not _ROOTS.isdisjoint(parts[: parts.index("skills")])


def _changes(patch: object) -> Iterator[Change]:
    path, lines = "", list[str]()
    for line in patch.split("\n") if isinstance(patch, str) else ():
        header = _PATCHED.match(line)
        if header is not None or line.startswith("*** End"):
            if path:
                yield patch_of(path, lines)
            path, lines = header[1].strip() if header else "", []
        elif not line.startswith("***"):
            lines.append(line)
    if path:
        yield patch_of(path, lines)
