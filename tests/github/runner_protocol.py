"""GitHub's runner, as far as it reads what a step writes: output files, and commands in the log.

Told in our own words after the runner's FileCommandManager (``EnvFileKeyValuePairs``), ActionCommand and
ActionCommandManager, for Linux. Every line of a log is first looked at as ``::name key=value::data`` at its start, else
as ``##[name key=value]data`` anywhere in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

_OF_ISSUES = ("debug", "error", "notice", "warning", "add-matcher", "remove-matcher")
_OF_STATE = ("add-mask", "add-path", "save-state", "set-env", "set-output")
COMMANDS = frozenset((*_OF_ISSUES, *_OF_STATE, "echo", "group", "endgroup", "stop-commands"))
# What .NET trims: its white space, which is Unicode's separators, and those controls that are spaces.
_WHITE = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029"
_WHITE += "\u202f\u205f\u3000"
_SHORT, _PROPERTY, _OLD = "\r\n%", "\r\n:,%", ";\r\n]%"  # in the order in which they are decoded


class ProtocolError(Exception):
    """The runner would fail the step."""


class Command(NamedTuple):
    """What the runner makes of a line."""

    name: str
    properties: dict[str, str]
    data: str


def outputs(text: str) -> dict[str, str]:
    """Read an output file.

    Raises:
        ProtocolError: for a line that is neither ``name=value`` nor the head of a block that ends.
    """
    found = {}
    at = 0
    while at < len(text):
        line, at, _ = _line(text, at)
        if not line:
            continue
        equals, block = line.find("="), line.find("<<")
        if equals >= 0 and not 0 <= block < equals:
            found[line[:equals]] = line[equals + 1 :]
        elif block >= 0:
            name, end = line[:block], line[block + 2 :]
            if not name or not end:
                raise ProtocolError(f"invalid format {line!r}")
            found[name], at = _block(text, at, end)
        else:
            raise ProtocolError(f"invalid format {line!r}")
    return found


def _line(text: str, at: int) -> tuple[str, int, bool]:
    """Give the line at a place, the place after it, and whether it has an end of its own."""
    end = text.find("\n", at)
    return (text[at:], len(text), False) if end < 0 else (text[at:end], end + 1, True)


def _block(text: str, at: int, delimiter: str) -> tuple[str, int]:
    start = last = at
    while at < len(text):
        line, at, ended = _line(text, at)
        if line == delimiter:
            return text[start:last], at
        if not ended:
            raise ProtocolError("the last line has no end")
        last = at - 1
    raise ProtocolError(f"matching delimiter not found: {delimiter!r}")


@dataclass
class Runner:
    """A step's log, read line by line.

    Attributes:
        obeyed: the commands, in order; a stop and its end are none of them.
        shown: the lines that are text to it.
    """

    obeyed: list[Command] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    _token: str | None = None

    def read(self, text: str) -> Runner:
        """Read what a process has written: a line ends at LF, CR or both, and nowhere else."""
        lines = re.split(r"\r\n|\r|\n", text)
        for line in lines if lines[-1] else lines[:-1]:
            self._read_line(line)
        return self

    @property
    def stopped(self) -> bool:
        """Whether it waits for a token."""
        return self._token is not None

    def _read_line(self, line: str) -> None:
        known = COMMANDS | ({self._token.lower()} if self._token else set())
        command = newer(line, known) or older(line, known)
        if command is None or (self._token is not None and command.name.lower() != self._token.lower()):
            self.shown.append(line)
        elif self._token is not None:
            self._token = None
        elif command.name.lower() == "stop-commands":
            if not command.data or command.data.lower() in COMMANDS | {"pause-logging"}:
                raise ProtocolError(f"not a token to stop with: {command.data!r}")
            self._token = command.data
        else:
            self.obeyed.append(command)


def newer(line: str, known: frozenset[str] = COMMANDS) -> Command | None:
    """Read ``::name key=value,key=value::data``."""
    line = line.lstrip(_WHITE)
    end = line.find("::", 2)
    if not line.startswith("::") or end < 0:
        return None
    name, space, told = line[2:end].partition(" ")
    if name.lower() not in known:
        return None
    pairs = _pairs(told.strip(_WHITE), ",") if space else []
    return Command(name, {key: _decoded(value, _PROPERTY) for key, value in pairs}, _decoded(line[end + 2 :], _SHORT))


def older(line: str, known: frozenset[str] = COMMANDS) -> Command | None:
    """Read ``##[name key=value;key=value]data``."""
    start = line.find("##[")
    end = line.find("]", start)
    if start < 0 or end < 0:
        return None
    name, space, told = line[start + 3 : end].partition(" ")
    if name.lower() not in known:
        return None
    pairs = _pairs(told, ";") if space else []
    return Command(name, {key: _decoded(value, _OLD) for key, value in pairs}, _decoded(line[end + 1 :], _OLD))


def _pairs(text: str, separator: str) -> list[tuple[str, str]]:
    """Split as .NET does where empty parts are removed: equals signs before a name or a value are lost."""
    found = []
    for part in filter(None, text.split(separator)):
        name, _, value = part.lstrip("=").partition("=")
        if name and value.lstrip("="):
            found.append((name, value.lstrip("=")))
    return found


def _decoded(text: str, characters: str) -> str:
    for character in characters:
        text = text.replace(f"%{ord(character):02X}", character)
    return text
