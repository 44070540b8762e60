"""Layer 1: deterministic checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    F = TypeVar("F", bound=Callable[..., object])


def documented(text: str) -> Callable[[F], F]:
    """Set the text of a check (title, Why, Bad, Good, Source) as its docstring, which the pages are made of."""

    def decorate(check: F) -> F:
        check.__doc__ = text
        return check

    return decorate
