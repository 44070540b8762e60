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

from skillgate.model.finding import Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.skill.links import unnamed
from skillgate.skill.parse import other_texts
from skillgate.static import Hits, rule

MAX_HITS = 10
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
    files = {inside(path) for path in skill.references & set(skill.files) if not _is_paper(path)}
    return unnamed(skill, files, other_texts(skill.root, skill.files, {document.file for document in skill.documents}))


def _is_paper(path: str) -> bool:
    return path.rpartition("/")[2].lower().startswith(_NO_INSTRUCTIONS)


RULE = rule(find, Severity.WARNING, "links", fix="say in SKILL.md when to read it, or delete it")
