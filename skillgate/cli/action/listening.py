"""A session that keeps what it notes, so that the comment can say it too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.cli.session import Session
from skillgate.model.text import printable

if TYPE_CHECKING:
    from skillgate.github.redaction import Redactor

_MOST = 50  # notes that are kept; all are written


class Listening(Session):
    """A run of the Action.

    Attributes:
        notes: what was noted, in its order, each once.
        redactor: takes secrets out of what is noted.
    """

    notes: tuple[str, ...] = ()
    redactor: Redactor | None = None

    def note(self, text: str) -> None:
        """Write to stderr, and keep."""
        text = self.redactor.clean(text) if self.redactor is not None else text
        shown = " ".join(printable(line) for line in text.split("\n"))
        if shown not in self.notes and len(self.notes) < _MOST:
            self.notes = (*self.notes, shown)
        super().note(text)
