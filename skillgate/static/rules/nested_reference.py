"""A reference that only another reference links to.

Why:
    The specification asks for references one level deep from SKILL.md. A model that follows a chain often reads only
    the beginning of the later files, and one that stops after the first never learns that the second exists.

Bad:
    SKILL.md links references/guide.md, and only that one links references/limits.md

Good:
    SKILL.md links both, and says when to read which

Source: Agent Skills specification, file references: one level deep.
"""

from skillgate.model.finding import Hit, Severity
from skillgate.model.skill import Document, Link, Skill
from skillgate.skill.links import Names, folded
from skillgate.static import Hits, rule


def find(skill: Skill) -> Hits:
    """Yield one hit for each such document, at the first link that leads to it."""
    main, *others = skill.documents
    inside = skill.root.inside
    reached = _reached(others, skill.root.tree_path("references/"))
    if not reached:
        return
    known = Names(inside(path) for path in reached).named_in(folded(main.text))
    known |= {inside(link.resolved) for link in main.links if link.resolved}
    for path, (document, link) in reached.items():
        if inside(path) not in known:
            message = f"{inside(path)} is linked only from {inside(document.file)}"
            yield Hit(link.span, message, file=document.file)


def _reached(documents: list[Document], folder: str) -> dict[str, tuple[Document, Link]]:
    """Return the documents below a folder that another one there links, each with the first link."""
    files = {document.file for document in documents if document.file.startswith(folder)}
    found: dict[str, tuple[Document, Link]] = {}
    for document in documents:
        for link in document.links if document.file in files else ():
            if link.resolved in files and link.resolved != document.file:
                found.setdefault(link.resolved, (document, link))
    return found


RULE = rule(find, Severity.INFO, "links", fix="link to it from SKILL.md too, and say when to read it")
