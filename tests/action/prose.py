"""Paragraphs of good prose, and where a skill may gain one."""

from __future__ import annotations

import re

PROSE = (
    "Before you hand the result over, read it once more from the top as somebody would who has not followed the\n"
    "conversation. Where a step only makes sense with something that was said earlier, say it again in place.",
    "If a step fails, stop and say which one it was, what you expected and what came instead. Do not go on with a\n"
    "result that nobody has checked: the next step would build on it, and the mistake would be found much later.",
    "Ask when two readings of the request lead to different results. Name both, say which one you would take and\n"
    "why, and go on with that one only where the answer does not change what cannot be undone.",
    "Keep what you change small. A reviewer reads ten lines with care and five hundred with hope, so send the part\n"
    "that stands on its own first, and say what will follow.",
    "The report lists what was done, what was left out on purpose, and what is still open. Write one line for each,\n"
    "with the file and the reason, so that whoever takes over does not have to search for it.",
    "For example, a change to the login page touches the form, the session and the tests of both. Read all three\n"
    "before the first edit; then the second question, what else relies on them, answers itself.",
    "Never delete a file that you have not read. Always make a copy of data before a step that rewrites it in place,\n"
    "and check with a count that nothing was lost.",
)
"""Paragraphs that any skill may gain."""


def with_paragraph(text: str, paragraph: str, where: str) -> str:
    """Add a paragraph: at the end, below the title, or above the section in the middle, if there are such."""
    body = text.index("\n---\n") + 5
    headings = [
        match
        for match in re.finditer(r"(?m)^(#+) .*$", text)
        if match.start() >= body and text.count("\n```", body, match.start()) % 2 == 0
    ]
    titles, sections = ([match for match in headings if len(match[1]) == level] for level in (1, 2))
    if where == "title" and titles:
        return f"{text[: titles[0].end()]}\n\n{paragraph}\n{text[titles[0].end() :]}"
    if where == "middle" and sections:
        at = sections[len(sections) // 2].start()
        return f"{text[:at]}{paragraph}\n\n{text[at:]}"
    return f"{text.rstrip()}\n\n{paragraph}\n"
