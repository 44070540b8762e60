"""A file in references/ that the skill never mentions.

Why:
    A model reads a reference only if the instructions mention it. No document and no script names this file: not its
    path, its name, its name without suffix as words, or its folder. It was forgotten, or the line that led to it was
    lost. Silent: files that systems and people leave there (.DS_Store, README, LICENSE).

Bad:
    references/limits.md, and no word of limits anywhere else

Good:
    For sizes and rates read [the limits](references/limits.md).

Source: Agent Skills specification, references/ is loaded on demand; field study of unused files.
"""

import re

from skillgate.model.finding import Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.skill.links import Names, folded
from skillgate.skill.parse import other_texts
from skillgate.static import Hits, rule

MAX_HITS = 10
_PATH = r"(?:references|scripts)/[\w./-]+"
_NO_INSTRUCTIONS = (".", "thumbs.db", "desktop.ini", "license", "licence", "readme")  # how the names begin


def find(skill: Skill) -> Hits:
    """Yield one hit for each file, ten at most, then one for the rest; all on the first line of the main file."""
    unused = sorted(_unused(skill))
    for path in unused[:MAX_HITS]:
        yield Hit(Span(), f"{path} is never mentioned in the skill")
    if len(unused) > MAX_HITS:
        yield Hit(Span(), f"and {len(unused) - MAX_HITS} more files in references/ are never mentioned")


def _unused(skill: Skill) -> set[str]:
    inside = skill.root.inside
    return unnamed(skill, {inside(path) for path in skill.references & set(skill.files) if not _is_paper(path)})


def unnamed(skill: Skill, files: set[str]) -> set[str]:
    """Select the files, by their path below the skill, that nothing else in the skill names; none if unsure."""
    inside, left = skill.root.inside, set(files)
    for document in skill.documents if left else ():  # the cheap question first: most files are named by their path
        left -= {path.rstrip("./-") for path in re.findall(_PATH, document.text)} - {inside(document.file)}
    names = Names(left)
    for document in skill.documents if left else ():
        left -= names.named_in(folded(document.text)) - {inside(document.file)}
        left -= {inside(link.resolved) for link in document.links if link.resolved and link.resolved != document.file}
    if not left:
        return left
    for read in other_texts(skill.root, skill.files, {document.file for document in skill.documents}):
        if read is None or not left:
            return set()  # an unread file may name them
        left -= names.named_in(folded(read[1])) - {inside(read[0])}
    return left


def _is_paper(path: str) -> bool:
    return path.rpartition("/")[2].lower().startswith(_NO_INSTRUCTIONS)


RULE = rule(find, Severity.WARNING, "links", fix="say in SKILL.md when to read it, or delete it")
