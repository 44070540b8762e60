"""Finds what keeps eval sets from telling anything: every rule of the room, asked of one skill's sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.finding import Finding
from skillgate.model.tool import HOMEPAGE
from skillgate.registry import Room

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import PurePosixPath

    from skillgate.evals.rule import EvalRule, Subject

_RULES = Room("skillgate.evals.rules")
_PAGE = f"{HOMEPAGE}/blob/main/docs/how-to/eval-sets.md"


def rules() -> tuple[EvalRule, ...]:
    """Give every rule, by id."""
    return tuple(sorted((_RULES.load(name).RULE for name in _RULES.names()), key=lambda rule: rule.id))


def lint(subject: Subject, path: PurePosixPath, *, only: frozenset[str] = frozenset()) -> tuple[Finding, ...]:
    """Ask every rule, or some, about one skill's eval sets.

    Args:
        subject: the skill and its sets.
        path: its directory as shown.
        only: ids of the rules to ask; all where empty.

    Returns:
        The findings by file and line.
    """
    asked = [rule for rule in rules() if not only or rule.id in only]
    return tuple(sorted(_findings(asked, subject, path), key=lambda one: (str(one.path), one.line, one.id)))


def _findings(asked: list[EvalRule], subject: Subject, path: PurePosixPath) -> Iterator[Finding]:
    for rule in asked:
        for hit in rule.find(subject):
            yield Finding(
                id=rule.id,
                severity=rule.severity if hit.severity is None else hit.severity,
                message=hit.message,
                path=path / hit.file,
                line=hit.line,
                column=1,
                fix=rule.fix if hit.fix is None else hit.fix,
                url=f"{_PAGE}#{rule.id.lower()}",
            )
