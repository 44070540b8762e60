"""The streams and surroundings of one run, and the notes that its comment repeats."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.model.text import printable
from skillgate.session import Session

if TYPE_CHECKING:
    from skillgate.action.github.redaction import Redactor
    from skillgate.config import Config

_MOST = 50  # notes that are collected; all are written


class ActionSession(Session):
    """A session in the workspace whose notes are redacted and collected.

    Attributes:
        redactor: takes secrets out of what is noted.
    """

    signed_only = True  # a pull request may have filled the cache
    anew = f"a run whose {settings.CACHE_DIR.key} is empty asks everything again"

    def __init__(self, session: Session, *, workspace: str, redactor: Redactor) -> None:
        """Take over the streams and the environment of ``session``."""
        super().__init__(
            stdout=session.stdout,
            stderr=session.stderr,
            environ=session.environ,
            cwd=workspace,
            no_color=True,
            verbose=session.verbose,
            quiet=session.quiet,
        )
        self.redactor = redactor
        self._notes: list[str] = []

    @property
    def notes(self) -> tuple[str, ...]:
        """What was noted, in its order, each once."""
        return tuple(self._notes)

    def with_config(self, config: Config) -> ActionSession:
        """Return the same session with the configuration that holds; notes of both are collected together."""
        session = copy(self)
        session._config = config
        return session

    def note(self, text: str) -> None:
        """Write to stderr, and collect."""
        text = self.redactor.clean(text)
        shown = " ".join(printable(line) for line in text.split("\n"))
        if shown not in self._notes and len(self._notes) < _MOST:
            self._notes.append(shown)
        super().note(text)
