"""What GitHub's runner keeps of a step's log and summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tests.github.runner_protocol import Runner

if TYPE_CHECKING:
    from tests.github.runner_protocol import Command

ANNOTATIONS_OF_A_LEVEL = 10
SUMMARY_BYTES = 1024 * 1024
_LEVELS = ("error", "warning", "notice")


class Log(NamedTuple):
    """What a log says to the runner.

    Attributes:
        annotations: those it keeps, at most ten of a level, in order.
        dropped: how many it drops.
        commands: the names of all commands it carries out.
        text: the lines that are none.
    """

    annotations: tuple[Command, ...]
    dropped: int
    commands: tuple[str, ...]
    text: str


def read_log(text: str) -> Log:
    """Carry out a log's commands."""
    runner = Runner().read(text)
    marks = [command for command in runner.obeyed if command.name in _LEVELS]
    kept = [mark for level in _LEVELS for mark in [m for m in marks if m.name == level][:ANNOTATIONS_OF_A_LEVEL]]
    names = tuple(command.name for command in runner.obeyed)
    return Log(tuple(kept), len(marks) - len(kept), names, "\n".join(runner.shown))


def shown_summary(text: str) -> str | None:
    """Give the summary as it is shown: nothing of it where it is larger than a step may write."""
    return None if len(text.encode()) > SUMMARY_BYTES else text
