"""A link to a section whose heading another section has too.

Why:
    `#setup` leads to the first of two sections called "Setup", whichever was meant: a reader of the other one never
    arrives. Sites number the later ones (`#setup-1`). Not reported: equal headings that no link leads to, and those of
    which a link uses the number. Each heading is reported once, at its second place.

Bad:
    See [the limits](#limits), and two sections called "Limits"

Good:
    See [the limits](#limits-of-uploads), "Limits of uploads" and "Limits of downloads"

Source: GitHub's documentation, section links: a repeated heading gets a number.
"""

from collections.abc import Iterator
from urllib.parse import unquote

from skillgate.model.finding import Severity
from skillgate.model.skill import Document, Heading, Link, Skill, Span, anchor_key
from skillgate.static import Hits, rule
from skillgate.static.text import hit


def find(skill: Skill) -> Hits:
    """Yield one hit for each repeated heading that a link leads to, at its second place."""
    linked: dict[str, dict[str, str]] = {}
    for document in skill.documents:
        for link in document.links:
            if target := _target(link, document):
                fragment = link.target.partition("#")[2]
                linked.setdefault(target, {}).setdefault(anchor_key(unquote(fragment)), fragment)
    for document in skill.documents:
        keys = linked.get(document.file, {})
        for first, second, key in _repeated(document) if keys else ():
            if key and key in keys and not any(f"{key}{number}" in keys for number in (1, 2, 3)):
                message = f"the heading “{second.text}” is also in line {first.line}, and #{keys[key]} leads only there"
                yield hit(document, skill, Span(second.line), message)


def _target(link: Link, document: Document) -> str | None:
    """Return the file that a link with an anchor leads into."""
    if "#" not in link.target:
        return None
    return document.file if link.target.startswith("#") else link.resolved


def _repeated(document: Document) -> Iterator[tuple[Heading, Heading, str]]:
    """Yield the first two headings of each text that is there more than once, with its anchor."""
    firsts: dict[str, Heading] = {}
    seen: set[str] = set()
    for heading in document.headings:
        key = anchor_key(heading.text)
        first = firsts.setdefault(key, heading)
        if first is not heading and key not in seen:
            seen.add(key)
            yield first, heading, key


RULE = rule(find, Severity.INFO, "links", fix="give the sections different headings, and link to the one that is meant")
