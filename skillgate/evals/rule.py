"""What a check of eval sets is given, and what it declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skillgate.model.evals import EvalSet
    from skillgate.model.finding import Severity

THRESHOLD = 0.8
"""The rate that a set should be able to show where none is asked for."""


class Subject(NamedTuple):
    """A skill and its eval sets.

    Attributes:
        evals: what was read.
        name: as its frontmatter has it.
        description: likewise, with ``when_to_use``; ``""`` for a plugin, or where it could not be read.
        text: all of its main file.
        threshold: the rate that the sets should be able to show; None where none was asked for.
    """

    evals: EvalSet
    name: str = ""
    description: str = ""
    text: str = ""
    threshold: float | None = None


class EvalHit(NamedTuple):
    """What a check yields. ``severity`` and ``fix`` are None where those of the declaration hold."""

    file: str
    line: int
    message: str
    severity: Severity | None = None
    fix: str | None = None


class EvalRule(NamedTuple):
    """The declaration of a check: one for each file of ``evals/rules``, whose docstring says why."""

    id: str
    severity: Severity
    summary: str
    fix: str
    find: Callable[[Subject], Iterator[EvalHit]]
