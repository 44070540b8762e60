"""A file in references/ that nothing in the skill names.

Why:
    A model reads a reference when the instructions tell it that there is one. A file that no document and no script
    names, by its path, its name, its name without suffix as words, or its folder, is never read: it was forgotten, or
    the line that led to it was lost.

Bad:
    references/limits.md, and no word of limits anywhere else

Good:
    For sizes and rates read [the limits](references/limits.md).

Source: Agent Skills specification, references/ is loaded on demand; field study of unused files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.finding import Hit, Rule, Severity, Span
from skillgate.skill.documents import other_texts
from skillgate.static.mentions import folded, named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import Skill

MAX_HITS = 10


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit for each file, ten at most, then one for the rest; all on the first line of the main file."""
    unused = sorted(_unused(skill))
    for path in unused[:MAX_HITS]:
        yield Hit(Span(), f"{path} is named nowhere in the skill")
    if len(unused) > MAX_HITS:
        yield Hit(Span(), f"and {len(unused) - MAX_HITS} more files in references/ are named nowhere")


def _unused(skill: Skill) -> set[str]:
    cut = len(skill.root.directory) + 1 if skill.root.directory else 0
    left = {path[cut:] for path in skill.references & set(skill.files)}
    for document in skill.documents:  # the cheap question first: most files are named by their path
        left -= {path for path in left if path in document.text and path != document.file[cut:]}
    for document in skill.documents if left else ():
        left -= named(left - {document.file[cut:]}, folded(document.text))
        left -= {link.resolved[cut:] for link in document.links if link.resolved and link.resolved != document.file}
    if not left:
        return left
    for read in other_texts(skill.root, skill.files, {document.file for document in skill.documents}):
        if read is None or not left:
            return set()  # a file that was not read may name them
        left -= named(left - {read[0][cut:]}, folded(read[1]))
    return left


RULE = Rule(
    id="UNUSED_REFERENCE",
    severity=Severity.WARNING,
    summary="a file in references/ that nothing in the skill names",
    fix="tell in the instructions when to read it, or remove it",
    find=find,
    group="links",
)
