"""A link to a section that does not exist.

Why:
    A model or person who follows `#section` lands at the top of a long document instead of the right part. Anchors are
    compared by letters and digits only, because sites treat hyphens and punctuation differently. The `-1` of a repeated
    heading, `id` and `name` in HTML, and `{#id}` count as anchors. Line numbers, routes (`#/start`), `#top` and
    documents outside the skill are not checked. Each target is reported once.

Bad:
    See [the limits](#size-limits).     (and the heading is "Limits of size")

Good:
    See [the limits](#limits-of-size).

Source: field study of broken links in published skills.
"""

import re
from collections import Counter
from unicodedata import combining, normalize
from urllib.parse import unquote

from skillgate.model.finding import Severity
from skillgate.model.skill import Document, Link, Skill, anchor_key
from skillgate.skill.links import is_sample_anchor
from skillgate.static import Hits, rule
from skillgate.static.text import hit

_REPEAT = r"(.+)-(\d{1,4})\Z"
_LINES = r"l\d+(?:c\d+)?(?:-l?\d+(?:c\d+)?)?\Z|line-?\d|page[-=]?\d"
_NO_SECTION = rf"(?i)(?:top\Z|{_LINES}|[/!:?]|user-content-fn)|.*[{{}}<>$=*/]"
_HEADINGS = r"(?im)^[ \t>]*(?:#{1,6}[ \t]+(.+)|.*<h[1-6][^>]*>(.+?)</h[1-6]>.*)$"
_OWN_ID = r"\{[^{}]*#([\w:.-]+)[^{}]*\}"
_LINK = r"!?\[([^\]]*)\]\([^)]*\)"


def find(skill: Skill) -> Hits:
    """Yield one hit for each distinct target of each document, at its first link."""
    documents = {document.file: document for document in skill.documents}
    written: dict[str, Counter[str]] = {}
    for document in skill.documents:
        seen: set[str] = set()
        for link in document.links:
            target = _target(link, document, documents)
            if "#" not in link.target or link.target in seen or target is None or not target.complete:
                continue
            seen.add(link.target)
            if _leads_nowhere(link.target.partition("#")[2], target, written) and not is_sample_anchor(document, link):
                where = "this document" if target is document else skill.root.inside(target.file)
                message = f"{where} has no section with the anchor #{link.target.partition('#')[2]}"
                yield hit(document, skill, link.span, message)


def _target(link: Link, document: Document, documents: dict[str, Document]) -> Document | None:
    """Return the document of the skill that a link leads into."""
    return document if link.target.startswith("#") else documents.get(link.resolved or "")


def _leads_nowhere(fragment: str, document: Document, written: dict[str, Counter[str]]) -> bool:
    if re.match(_NO_SECTION, fragment):
        return False
    wanted = unquote(fragment).removeprefix("user-content-")
    key = anchor_key(wanted)
    if not key or key in document.anchors:
        return False
    # Before a finding, search the text itself: headings with links or ids, in HTML, or in a fence that never closes.
    if document.file not in written:
        written[document.file] = _written(document)
    headings = written[document.file]
    repeat = re.match(_REPEAT, wanted)
    # The second of two equal headings is -1 on most sites and -2 on some.
    times = headings[_bare(anchor_key(repeat[1]))] if repeat else 0
    return _bare(key) not in headings and not (repeat and times > 1 and int(repeat[2]) <= times)


def _written(document: Document) -> Counter[str]:
    """Count the headings of a text by each anchor key that may mean them."""
    text = Counter(key for found in re.finditer(_HEADINGS, document.text) for key in _keys(found[1] or found[2]))
    return text | Counter(_bare(anchor_key(heading.text)) for heading in document.headings)


def _keys(heading: str) -> set[str]:
    plain = re.sub(_OWN_ID, "", re.sub(_LINK, r"\1", heading))
    return {_bare(anchor_key(form)) for form in (heading, plain, *re.findall(_OWN_ID, heading))}


def _bare(key: str) -> str:
    """Drop accents, as some sites do."""
    return "".join(character for character in normalize("NFKD", key) if not combining(character))


RULE = rule(find, Severity.WARNING, "links", fix="use the anchor of the current heading, or remove the link")
