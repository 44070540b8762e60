"""A link to a section that is not there.

Why:
    The model, or a person, who follows `#section` lands at the top of a long document instead of the part that was
    meant, or takes the link for a mistake. Anchors are compared by their letters and digits, as hyphens and punctuation
    differ between sites; the `-1` of a repeated heading, `id` and `name` in HTML and `{#id}` count. Line numbers,
    routes (`#/start`), `#top` and documents outside the skill are not looked at. One finding for each target.

Bad:
    See [the limits](#size-limits).     (and the heading is "Limits of size")

Good:
    See [the limits](#limits-of-size).

Source: field study of broken links in published skills.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from unicodedata import combining, normalize
from urllib.parse import unquote

from skillgate.model.finding import Hit, Rule, Severity
from skillgate.model.skill import anchor_key
from skillgate.static.sample_links import stands_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import Document, Link, Skill

_REPEAT = r"-\d+\Z"
_NO_SECTION = r"(?i)(?:top\Z|l\d|line|page|[/!:?]|user-content-fn)|.*[{}<>$=*/]"
_HEADINGS = r"(?im)^[ \t>]*(?:#{1,6}[ \t]+(.+)|.*<h[1-6][^>]*>(.+?)</h[1-6]>.*)$"
_OWN_ID = r"\{[^{}]*#([\w:.-]+)[^{}]*\}"
_LINK = r"!?\[([^\]]*)\]\([^)]*\)"


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit for each distinct target of each document, at its first link."""
    documents = {document.file: document for document in skill.documents}
    for document in skill.documents:
        seen: set[str] = set()
        for link in document.links:
            target = _target(link, document, documents)
            if "#" not in link.target or link.target in seen or target is None or not target.complete:
                continue
            seen.add(link.target)
            if _leads_nowhere(link.target.partition("#")[2], target) and not stands_in(document, link):
                where = "this document" if target is document else _shown(skill, target)
                message = f"no section of {where} has the anchor #{link.target.partition('#')[2]}"
                yield Hit(link.span, message, file=None if document is skill.documents[0] else document.file)


def _target(link: Link, document: Document, documents: dict[str, Document]) -> Document | None:
    """Give the document of the skill that a link leads into."""
    return document if link.target.startswith("#") else documents.get(link.resolved or "")


def _leads_nowhere(fragment: str, document: Document) -> bool:
    if re.match(_NO_SECTION, fragment):
        return False
    wanted = unquote(fragment).removeprefix("user-content-")
    keys = {anchor_key(wanted), anchor_key(re.sub(_REPEAT, "", wanted))} - {""}
    if not keys or not keys.isdisjoint(document.anchors):
        return False
    # Before anything is said, the text itself: headings with links or ids, in HTML, or in a fence that never closes.
    return {_bare(key) for key in keys}.isdisjoint(map(_bare, _written(document.text)))


def _written(text: str) -> Iterator[str]:
    for found in re.finditer(_HEADINGS, text):
        heading = found[1] or found[2]
        yield anchor_key(heading)
        yield anchor_key(re.sub(_OWN_ID, "", re.sub(_LINK, r"\1", heading)))
        yield from map(anchor_key, re.findall(_OWN_ID, heading))


def _bare(key: str) -> str:
    """Drop accents, as some sites do."""
    return "".join(character for character in normalize("NFKD", key) if not combining(character))


def _shown(skill: Skill, document: Document) -> str:
    directory = skill.root.directory
    return document.file[len(directory) + 1 :] if directory else document.file


RULE = Rule(
    id="BROKEN_ANCHOR",
    severity=Severity.WARNING,
    summary="a link to a section that is not there",
    fix="write the anchor of the heading as it is now, or remove the link",
    find=find,
    group="links",
)
