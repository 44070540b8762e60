"""Whose lines stand in the files of a session, and how many of them were changed after the run that wrote them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillgate.invocations.formats._transcript_lines import Change
    from skillgate.invocations.formats._transcript_run import Run

MOST_LINES = 100_000
"""Lines of a session that are followed, which takes some 30 MB; of a run that wrote more no edit ratio is told."""
MOST_PATHS = 20_000
"""Files of a session whose changes by others are seen; of a run that wrote to more no edit ratio is told."""
_MOST_RUNS = 10_000  # of one file; those before them were told


class Ledger:
    """Knows whose lines stand in the files of a session, by what was written through tools."""

    def __init__(self) -> None:
        """Begin with no line known."""
        self._writers: dict[int, list[tuple[Run, ...]]] = {}
        self._of_path: dict[int, dict[Run, None]] = {}
        self._room = MOST_LINES

    def enter(self, change: Change, by: tuple[Run, ...]) -> None:
        """Take a change that was made into account.

        Args:
            change: of a call that went well.
            by: the runs that made it, the innermost first; none where no run did.
        """
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
        """Take note that a file was changed in a way that is not told."""
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
        """Let the last who wrote such a line have it changed."""
        writers = self._writers.get(line)
        if not writers:
            return
        for run in writers.pop():
            if run.closed and run not in by:
                run.changed += 1
        self._room += 1
        if not writers:
            del self._writers[line]
