"""A document does not end in a line feed.

Why:
    A file without one is joined to whatever is written after it: tools that put documents together glue its last line
    to the first of the next, and each later edit shows the last line as changed.

Bad:
    the last line of the file, then its end

Good:
    the last line of the file, a line feed, then its end

Source: POSIX.1-2017, 3.206: a line ends in a line feed; common editors and version control warn of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from skillgate.model.finding import Hit, Rule, Severity
from skillgate.model.skill import Skill, Span
from skillgate.static.text import hit


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit for each document, behind its last character."""
    for document in skill.documents:
        text = document.text
        if text and not text.endswith("\n"):
            end = Span(text.count("\n") + 1, len(text) - text.rfind("\n"))
            yield hit(document, skill, end, "the last line has no line feed")


RULE = Rule(
    id="NO_FINAL_NEWLINE",
    severity=Severity.INFO,
    summary="a document does not end in a line feed",
    fix="end the file with a line feed",
    find=find,
    group="text",
)
