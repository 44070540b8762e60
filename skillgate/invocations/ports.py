"""What the rooms of this package speak to each other: how a form is read, and how a rubric scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple, TypeAlias

from skillgate.model.invocation import Invocation, InvocationScore, Part, Read

Lines: TypeAlias = Iterator[tuple[int, bytes]]
"""Lines of a file with their numbers, from 1, without their ends.

One over :data:`LONGEST` is cut a byte behind it; for forms that are ``ONE_DOCUMENT`` the rest follows in pieces under
the same number.
"""

LONGEST = 4_000_000  # bytes of a line: a transcript holds whole files in one


class Options(NamedTuple):
    """How invocations are read.

    Attributes:
        now: what lies more than a day after it is in the future, and rejected.
        keep_text: whether texts under unknown keys are kept.
        category: of invocations that say none; None leaves it open.
        beside: gives the lines of a file by its path relative to the directory of the one that is read, None where
            there is none; transcripts of sub-agents lie beside that of their session.
        names: of skills that are known, which are kept whatever they look like.
    """

    now: datetime
    keep_text: bool = False
    category: str | None = None
    beside: Callable[[str], Lines | None] = lambda _path: None
    names: frozenset[str] = frozenset()


Reader: TypeAlias = Callable[[Lines, Options], Iterator[Read]]
Scorer: TypeAlias = Callable[[Invocation], InvocationScore]
Explainer: TypeAlias = Callable[[Invocation], tuple[Part, ...]]
