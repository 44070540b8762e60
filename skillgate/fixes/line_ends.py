"""Make every line end a line feed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.fixes._page import Edit, Fix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.fixes._page import Page


def find(page: Page) -> Iterator[Edit]:
    """Yield an edit for each line; all of them belong to the one finding, at the first of the worse kind."""
    wrong = "\r" if "\r" in page.ends else "\r\n"
    if wrong not in page.ends:
        return
    line = page.ends.index(wrong) + 1
    for start, text, end in zip(page.starts, page.lines, page.ends, strict=False):
        if end != "\n":
            yield Edit(line, start + len(text), start + len(text) + len(end), "\n")


FIX = Fix(find, silent=True)
