"""Take away the byte order mark.

A file with two of them is left alone: readers take away one, and the second hides the frontmatter. To take both away
would change what the file says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.fixes._page import BOM, Edit, Fix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.fixes._page import Page


def find(page: Page) -> Iterator[Edit]:
    """Yield the one edit."""
    if page.raw.startswith(BOM) and not page.raw.startswith(BOM + BOM):
        yield Edit(1, 0, 1, "")


FIX = Fix(find, silent=True)
