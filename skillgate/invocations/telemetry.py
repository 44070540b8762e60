"""Store a use of a skill once if several kinds of telemetry, or several senders, report it.

Logs and traces of Claude Code have the session in common, but no id of a use. So two of the same skill in one session
at about the same time are one use. Ids of spans are chosen by their sender: another one could choose them too.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from skillgate.model.invocation import Fate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.invocation import Invocation, Scored
    from skillgate.store.invocation_rows import Rows
    from skillgate.store.invocations import Import

FORM = "otlp"
_FOLDER = "folder-"  # how the stored origin begins if it is a digest of the recording's folder
_APART = timedelta(seconds=60)  # between a call of the Skill tool and the activation: the user may have to permit it
LEFT_OUT = "a use is left out: it is stored from the logs, the traces or the transcript of its session"
"""Warning about a use."""
_OF_LOGS = "claude-"  # how ids of uses from Claude Code's logs begin; those from spans are hexadecimal


class OnceRun:
    """A transaction to which each use of telemetry is added once: the first record stays.

    Attributes:
        left_out: number of uses that are stored from another recording of their session.
    """

    def __init__(self, run: Import, *, update: bool = False) -> None:
        """Begin; with ``update`` a use replaces another one with its id, as the user requests."""
        self._run, self._update = run, update
        self.left_out = 0

    def add(self, batch: Sequence[Scored]) -> Sequence[Fate]:
        """Add what is not stored from elsewhere; return the fate of each."""
        existing = {} if self._update else self._run.existing([one.invocation.invocation_id for one in batch])
        known = [self._known(one.invocation, existing.get(one.invocation.invocation_id)) for one in batch]
        fates = iter(self._run.add([one for one, fate in zip(batch, known, strict=True) if fate is None]))
        return [next(fates) if fate is None else fate for fate in known]

    def add_rows(self, rows: Rows) -> Sequence[Fate]:
        """Add invocations that are converted for the database already; as :meth:`add`."""
        from skillgate.store.invocation_rows import scored_of  # brings in the database's packages

        return self.add(tuple(scored_of(rows)))

    def _known(self, found: Invocation, stored: tuple[Invocation, str | None] | None) -> Fate | None:
        """Return the fate of a use that is stored from elsewhere; None if it may be added."""
        if stored is not None:
            before, origin = stored
            if (before.skill_name, before.timestamp) != (found.skill_name, found.timestamp):
                return Fate.CONFLICT
            folders = [one for one in (origin, self._run.origin) if one is not None and one.startswith(_FOLDER)]
            return Fate.KNOWN if len(set(folders)) == 2 else None
        if found.session_id is None or not self._is_elsewhere(found):
            return None
        self.left_out += 1
        return Fate.KNOWN

    def _is_elsewhere(self, found: Invocation) -> bool:
        of_logs = found.invocation_id.startswith(_OF_LOGS)
        return any(
            source != found.source or name.startswith(_OF_LOGS) != of_logs
            for name, source in self._run.uses_near(found, within=_APART)
        )
