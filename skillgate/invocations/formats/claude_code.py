"""Read the uses of skills in Claude Code's transcripts, ``~/.claude/projects/*/*.jsonl``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.invocations.formats._session import Client, reads
from skillgate.invocations.formats._transcript import entry_of, is_entry, object_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.invocations.formats import Lines, Options
    from skillgate.invocations.formats._entries import Entry
    from skillgate.model.invocation import Read

POSITION = 2
EXPECTED = "a Claude Code transcript"
GROWS = True
_CLIENT = Client("claude-code", "no line is from a Claude Code transcript")


def is_it(head: bytes) -> bool:
    """Whether a file is a transcript, by its first 64 KiB."""
    whole, _, part = head.rpartition(b"\n")
    found = [_is_entry(line) for line in whole.split(b"\n") if line.strip()]
    return any(found) if found else all(name in part for name in (b'"sessionId":', b'"type":', b'"timestamp":'))


def read(lines: Lines, options: Options) -> Iterator[Read]:
    """Read a transcript and those of its sub-agents."""
    return reads(_CLIENT, _entries(lines), options)


def _entries(lines: Lines) -> Iterator[tuple[int, Entry | str]]:
    for number, line in lines:
        if line.strip():
            try:
                yield number, entry_of(object_of(line))
            except ValueError as error:
                yield number, str(error)


def _is_entry(line: bytes) -> bool:
    try:
        return is_entry(object_of(line))
    except ValueError:
        return False
