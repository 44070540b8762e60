"""Layer 1: deterministic checks."""

import sys
from collections.abc import Callable, Iterator
from typing import TypeAlias, TypeVar

from skillgate.model.finding import Client, Hit, Rule, Severity
from skillgate.model.skill import Skill

F = TypeVar("F", bound=Callable[..., object])
Hits: TypeAlias = Iterator[Hit]


def documented(text: str) -> Callable[[F], F]:
    """Set the text of a check (title, Why, Bad, Good, Source) as its docstring, which the pages are made of."""

    def decorate(check: F) -> F:
        check.__doc__ = text
        return check

    return decorate


def rule(
    find: Callable[[Skill], Hits],
    severity: Severity,
    group: str,
    *,
    fix: str,
    advice: str | None = None,
    optional: bool = False,
    refused_by: tuple[Client, ...] = (),
    about: tuple[Client, ...] = (),
) -> Rule:
    """Declare the rule of a module: its id is the module's name, its summary the first line of the docstring."""
    module = sys.modules[find.__module__]
    identifier = find.__module__.rpartition(".")[2].upper()
    summary = summary_of(module.__doc__)
    return Rule(identifier, severity, summary, fix, find, advice, False, group, optional, refused_by, about)


def summary_of(text: str | None) -> str:
    """Return the first line of a check's documentation as a phrase: lower-case, without its period."""
    title = (text or "").partition("\n")[0].rstrip(".")
    return title[:1].lower() + title[1:]
