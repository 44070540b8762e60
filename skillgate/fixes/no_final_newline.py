"""End the last line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.fixes._page import Edit, Fix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.fixes._page import Page


def find(page: Page) -> Iterator[Edit]:
    """Yield the one edit; an empty file has no line to end."""
    if page.document.text and page.lines[-1]:
        yield Edit(len(page.lines), len(page.raw), len(page.raw), "\n")


FIX = Fix(find)
