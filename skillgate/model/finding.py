"""A finding: one claim about one place of one skill, with what to do about it."""

from __future__ import annotations

from enum import Enum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skillgate.model.skill import Skill


class Severity(Enum):
    """How bad a finding is. It orders findings and gates them; it never enters a score."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """Order severities: errors 0, warnings 1, infos 2."""
        return ("error", "warning", "info").index(self.value)


class Span(NamedTuple):
    """A place in a file: line and column count from 1."""

    line: int = 1
    column: int = 1


class Hit(NamedTuple):
    """What a check yields: a place and a message. Its id, severity, fix and page come from the declaration.

    ``severity`` and ``fix`` are set only by a check whose declaration allows more than one of them, such as a
    description that is short (warning) or empty (error).
    """

    span: Span
    message: str
    severity: Severity | None = None
    fix: str | None = None


class Rule(NamedTuple):
    """The declaration of a check: one per file of ``static/antipatterns`` and ``static/rules``.

    ``advice`` is the key of the piece of advice that mends it, where there is one (see ``scoring/advice``).
    ``blocks_badge``: while it stands as an error, the skill gets no badge whatever its score.
    """

    id: str
    severity: Severity
    summary: str
    fix: str
    find: Callable[[Skill], Iterator[Hit]]
    advice: str | None = None
    blocks_badge: bool = False


class Finding(NamedTuple):
    """A hit with all that its declaration says.

    ``path`` is the file as shown: the skill's directory as it was given, then the file in it, with ``/``.
    """

    id: str
    severity: Severity
    message: str
    path: PurePosixPath
    line: int
    column: int
    fix: str
    url: str
