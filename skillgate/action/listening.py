"""A session that keeps what it notes, so that the comment can say it too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.text import printable
from skillgate.session import Session

if TYPE_CHECKING:
    from skillgate.action.certificates import Certifying
    from skillgate.action.github.redaction import Redactor
    from skillgate.config import Config

_MOST = 50  # notes that are kept; all are written


class Listening(Session):
    """A run of the Action.

    Attributes:
        notes: what was noted, in its order, each once.
        redactor: takes secrets out of what is noted.
        settled: the configuration that holds, once it is known.
        certifying: what certificate and badges are written with, where they are asked for.
    """

    signed_only = True  # a pull request may have filled the cache
    anew = "a run whose cache-dir is empty asks everything again"
    notes: tuple[str, ...] = ()
    redactor: Redactor | None = None
    settled: Config | None = None
    certifying: Certifying | None = None

    @property
    def config(self) -> Config:
        """The configuration that holds; before it is known, that of the working directory."""
        return super().config if self.settled is None else self.settled

    def note(self, text: str) -> None:
        """Write to stderr, and keep."""
        text = self.redactor.clean(text) if self.redactor is not None else text
        shown = " ".join(printable(line) for line in text.split("\n"))
        if shown not in self.notes and len(self.notes) < _MOST:
            self.notes = (*self.notes, shown)
        super().note(text)
