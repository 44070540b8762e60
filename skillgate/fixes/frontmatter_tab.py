"""Put one blank in place of the white space with a tab between a frontmatter key and its value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.fixes._page import Edit, Fix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.fixes._page import Page


def find(page: Page) -> Iterator[Edit]:
    """Yield an edit for each such line."""
    for problem in page.skill.problems_of("frontmatter_tab") if page.main else ():
        line = problem.span.line
        gap = re.match(r"[^:]+:([ \t]+)", page.lines[line - 1])
        if gap is not None:
            start = page.starts[line - 1]
            yield Edit(line, start + gap.start(1), start + gap.end(1), " ")


FIX = Fix(find)
