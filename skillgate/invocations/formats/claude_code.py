"""Transcripts that Claude Code keeps of its sessions, ``~/.claude/projects/*/*.jsonl``: each use of a skill.

A use begins with a call for the tool ``Skill``, or with a user's slash command that loads one, and lasts to the last
reply before the next prompt or the next skill. Of what was said nothing is kept but names of skills and models, ids,
times and counts. A session is read to its end before anything of it is told, since what the user asks and changes
afterwards counts, too: read again when it has grown, it gives the same ids with other figures.
"""

from __future__ import annotations

import json
from collections import deque
from typing import TYPE_CHECKING

from skillgate.invocations.formats._transcript_entries import entry_of
from skillgate.invocations.formats._transcript_run import Run
from skillgate.invocations.formats._transcript_session import Session
from skillgate.model.invocation import Read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.invocations.ports import Lines, Options

POSITION = 2
EXPECTED = "a Claude Code transcript"
GROWS = True
MOST_WAITING = 10_000
"""Runs of one file that are followed at once; with more, the first are told as they are by then."""
_MOST_TOLD = 10 * MOST_WAITING  # rejected lines that wait for their turn included
_NO_ENTRY = "it holds no line of a transcript of Claude Code"
_OF_AGENT = "this is the transcript of a sub-agent: it is read with that of its session, and not by itself"


def is_it(head: bytes) -> bool:
    """Say whether a file is a transcript.

    Args:
        head: its first 64 KiB.
    """
    whole, _, part = head.rpartition(b"\n")
    found = [_is_entry(line) for line in whole.split(b"\n") if line.strip()]
    return any(found) if found else all(name in part for name in (b'"sessionId":', b'"type":', b'"timestamp":'))


def read(lines: Lines, options: Options) -> Iterator[Read]:
    """Read a transcript, with those of its sub-agents beside it.

    Yields:
        Each use of a skill and each line that cannot be read, by their lines; a use within a sub-agent by that of the
        call that opened it.
    """
    session, waiting = Session(options), deque[Run | Read]()
    runs, known = 0, False
    for number, line in lines:
        if not line.strip():
            continue
        try:
            session.follow(number, entry_of(line))
            known = known or session.has_main or session.has_agents or _is_entry(line)
        except ValueError as error:
            known = True
            waiting.append(Read(number, None, str(error)))
        runs += len(session.begun)
        waiting.extend(session.begun)
        session.begun.clear()
        while runs > MOST_WAITING or len(waiting) > _MOST_TOLD:
            first = waiting.popleft()
            runs -= isinstance(first, Run)
            yield from _told(first, session, options, is_whole=False)
    session.end()
    for first in waiting:
        yield from _told(first, session, options, is_whole=True)
    if session.has_agents and not session.has_main:
        yield Read(1, None, warnings=(_OF_AGENT,))
    if not known:
        yield Read(1, None, unused=_NO_ENTRY)


def _told(first: Run | Read, session: Session, options: Options, *, is_whole: bool) -> Iterator[Read]:
    if isinstance(first, Read):
        yield first
    elif session.has_main:
        if not is_whole:
            first.cut()
        elif not first.closed:
            first.close(prompts=session.prompts)
        yield first.read(options, until=session.until, prompts=session.prompts)


def _is_entry(line: bytes) -> bool:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if not isinstance(record, dict) or not isinstance(record.get("type"), str):
        return False
    by_type = {"summary": "leafUuid", "file-history-snapshot": "messageId"}
    return by_type.get(record["type"], "sessionId") in record
