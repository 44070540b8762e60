"""What the common skills say when a session loads one: short, honest instructions for what each description promises.

They stand in for skills that most people have; a session that loads one of them goes on as with any other.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

COMMON_BODIES: Mapping[str, str] = MappingProxyType(
    {
        "spreadsheets": """\
# Spreadsheets

Look at the header and a few rows before you change anything. Keep formulas as formulas, and say which cells changed.
Give a CSV file back with the delimiter and the encoding that it came with.
""",
        "pdf-files": """\
# PDF files

Find out first whether the pages hold text or only pictures of it. Take text page by page, list the fields of a form
before you fill them in, and write split or joined pages to a new file, never over the old one.
""",
        "slides": """\
# Slides

Agree on the outline first: one message for each slide, stated in its title. Keep the text short, put the rest into
the speaker notes, and use the layouts of the deck that is there.
""",
        "text-documents": """\
# Text documents

Use the document's own styles for headings and lists. Make changes as tracked changes where others have to approve
them, and answer each comment where it stands.
""",
        "commit-messages": """\
# Commit messages

Read the whole diff. The first line says in at most 72 characters what the change does, as an order; below a blank
line stands why. Unrelated changes want commits of their own.
""",
        "code-review": """\
# Code review

Read the change with what it calls. Report bugs first, then risks, then style, each with file and line, what can go
wrong and a way out. Say so where you found nothing.
""",
        "browser-tests": """\
# Browser tests

Start the application, open the page and wait for what you are about to use. Find elements by role and label, take a
picture after each step that matters, and report what the console said.
""",
        "database-queries": """\
# Database queries

Look at the schema before you write a query. Name the columns, test on few rows, and explain a slow query by its plan.
A change of the schema comes with the way back.
""",
        "interface-design": """\
# Interface design

Ask who uses the page and for what. Lay out by importance, keep to the colours and distances that are there, and check
contrast, keyboard use and small screens.
""",
        "deployment": """\
# Deployment

Find out how the project is built and where it runs. Pin versions, keep secrets out of files, and add a check that
tells whether the release works, together with the way back.
""",
        "research": """\
# Research

Put the question into one sentence. Prefer first-hand sources, name one for each claim, tell facts from opinions, and
say what could not be found.
""",
        "translation": """\
# Translation

Translate meaning, not words, in the tone of the original. Leave names, code and placeholders alone, keep one word for
one term, and list what you were not sure of.
""",
    }
)
"""By the names that the common skills are listed by; without their frontmatter."""
