"""A document without a newline at its end.

Why:
    Tools that join documents glue the last line to the first line of the next one, and each later edit shows the last
    line as changed.

Bad:
    the last line of the file, then its end

Good:
    the last line of the file, a newline, then its end

Source: POSIX.1-2017, 3.206: a line ends with a newline; common editors and version control warn if it is missing.
"""

from skillgate.model.finding import Severity
from skillgate.model.skill import Skill, Span
from skillgate.static import Hits, rule
from skillgate.static.text import hit


def find(skill: Skill) -> Hits:
    """Yield one hit for each document, after its last character."""
    for document in skill.documents:
        text = document.text
        if text and not text.endswith("\n"):
            end = Span(text.count("\n") + 1, len(text) - text.rfind("\n"))
            yield hit(document, skill, end, "no newline at the end of the file")


RULE = rule(find, Severity.INFO, "text", fix="end the file with a newline")
