"""A long reference without a table of contents.

Why:
    A model often reads the first part of a long file to see what is in it. With a list of sections at the top, it
    continues at the right part; without one it reads everything or misses some. Any of these counts: a heading or line
    such as "Contents", links to the document's own sections, or a list of their names. A document with fewer than three
    sections needs no list.

Bad:
    A reference of 420 lines that begins with its first section.

Good:
    ## Contents

    - [Fields](#fields)
    - [Limits](#limits)

Source: authoring guidance of Claude (a table of contents in longer references); a peer's rule uses 300 lines, and 95 of
    509 published documents exceed it.
"""

import re

from skillgate.model.finding import Hit, Severity
from skillgate.model.skill import Document, Skill, Span, anchor_key
from skillgate.static import Hits, rule
from skillgate.static.rules import TOC_LINES

MIN_SECTIONS = 3
TOP_LINES = 80  # where a table of contents may be
_CONTENTS = (
    r"(?i)\W*(?:table of )?contents\b|\W*toc\b|\W*(?:index|outline|sections?|navigation|quick (?:links|"
    r"navigation|reference|index))\W*$|\W*(?:in|on) this (?:document|file|guide|page|reference)|\W*(?:目录|目次)"
)

_AFTER_NAME = r" \| |: | [-–—] "  # a description follows


def find(skill: Skill) -> Hits:
    """Yield one hit for each such document, on its first line."""
    for document in skill.documents[1:]:
        lines = document.text.removesuffix("\n").count("\n") + 1
        if lines > TOC_LINES and document.complete:
            sections = sum(1 for heading in document.headings if heading.level > 1)
            if sections >= MIN_SECTIONS and not _has_contents(document):
                message = f"{lines} lines and {sections} sections without a table of contents"
                yield Hit(Span(), message, file=document.file)


def _has_contents(document: Document) -> bool:
    own = {link.target for link in document.links if link.target.startswith("#")}
    if len(own) >= MIN_SECTIONS:
        return True
    top = document.first_line + TOP_LINES
    headings = (heading.text for heading in document.headings if heading.line < top)
    lines = (block.text.split("\n", 1)[0] for block in document.blocks if block.line < top)
    return any(re.match(_CONTENTS, text.strip()) for text in (*headings, *lines)) or _lists_sections(document, top)


def _lists_sections(document: Document, top: int) -> bool:
    """Whether lines near the top are the names of sections, without links."""
    names = {anchor_key(heading.text) for heading in document.headings if heading.level > 1}
    lines = (line for block in document.blocks if block.line < top for line in block.text.split("\n"))
    listed = {
        anchor_key(part.strip("-*0123456789. ")) for line in lines for part in (line, re.split(_AFTER_NAME, line)[0])
    }
    return len((names & listed) - {""}) >= MIN_SECTIONS


RULE = rule(find, Severity.INFO, "links", fix="list the sections at the top, or split the file")
