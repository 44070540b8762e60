"""Which uses of skills wrote the lines in a session's files, to see how many were changed later."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillgate.invocations.formats._changes import Change
    from skillgate.invocations.formats._uses import Run

MOST_LINES = 100_000
"""Maximum tracked lines of a session, about 30 MB; a run that wrote more has no edit ratio."""
MOST_PATHS = 20_000
"""Maximum tracked files of a session; a run that wrote to more has no edit ratio."""
_MOST_RUNS = 10_000  # of one file; earlier ones were yielded


class Ledger:
    """Which runs wrote the lines in a session's files, as far as tools wrote them."""

    def __init__(self) -> None:
        self._writers: dict[int, list[tuple[Run, ...]]] = {}
        self._of_path: dict[int, dict[Run, None]] = {}
        self._room = MOST_LINES

    def enter(self, change: Change, by: tuple[Run, ...]) -> None:
        """Enter a change by some runs, innermost first, or by none."""
        if change.removed is None:
            self.touch(change.path)
        for line in change.removed or ():
            self._remove(line, by)
        for run in by:
            run.write(change)
            if change.added is None:
                run.edits_known = False
            self._know(change.path, run)
        if by and change.added:
            self._add(change.added, by)

    def touch(self, path: int) -> None:
        """Enter a change of a file with unknown lines."""
        for run in self._of_path.pop(path, ()):
            run.edits_known = False

    def _know(self, path: int, run: Run) -> None:
        if path not in self._of_path and len(self._of_path) >= MOST_PATHS:
            run.edits_known = False
            return
        runs = self._of_path.setdefault(path, {})
        runs[run] = None
        if len(runs) > _MOST_RUNS:
            del runs[next(iter(runs))]

    def _add(self, lines: tuple[int, ...], by: tuple[Run, ...]) -> None:
        if len(lines) > self._room:
            for run in by:
                run.edits_known = False
            return
        self._room -= len(lines)
        for line in lines:
            self._writers.setdefault(line, []).append(by)

    def _remove(self, line: int, by: tuple[Run, ...]) -> None:
        """Count a line as changed for the runs that last wrote an equal one."""
        writers = self._writers.get(line)
        if not writers:
            return
        for run in writers.pop():
            if run.closed and run not in by:
                run.changed += 1
        self._room += 1
        if not writers:
            del self._writers[line]
