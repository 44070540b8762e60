"""A script in scripts/ that the skill never mentions.

Why:
    A model runs a script only if the instructions name it. No document, script or data file names this one: not its
    path, its name, its name without suffix as words, or its folder. It was forgotten, or the line that led to it was
    lost, and it is still installed with the skill. Not reported: tests, packages, what another script imports or runs,
    and files that are no scripts, such as data and lock files.

Bad:
    scripts/check_sizes.py, and no word of it in SKILL.md

Good:
    Run `python scripts/check_sizes.py FILE` and fix what it reports.

Source: Agent Skills specification, scripts/ is code that a model runs; field study of unused files.
"""

import re

from skillgate.model.finding import Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.skill.links import unnamed
from skillgate.skill.parse import RECIPES, other_texts
from skillgate.static import Hits, rule

MAX_HITS = 10
_SUFFIXES = (".py", ".sh", ".bash", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".rb", ".pl", ".ps1", ".php", ".lua", ".r")
_NO_SCRIPT = re.compile(
    r"(?i)(?:.*/)?(?:tests?|__tests__|spec|fixtures|examples?|node_modules|vendor|templates?|lib)/"
    r"|(?:.*/)?(?:__|\.|_[a-z]|test[_-]|conftest\.|setup\.py|(?:tests?|spec)\.\w+\Z|[\w.-]+\.config\.)"
    r"|.*(?:[_-]tests?|\.test|\.spec|\.d)\.\w+\Z"
)


def find(skill: Skill) -> Hits:
    """Yield one hit for each file, ten at most, then one for the rest; all on the first line of the main file."""
    scripts = {skill.root.inside(path) for path in skill.files}
    scripts = {path for path in scripts if path.startswith("scripts/") and path.lower().endswith(_SUFFIXES)}
    shebangs = {skill.root.inside(script.file) for script in skill.scripts if script.text.startswith("#!")}
    scripts |= {path for path in shebangs if path.startswith("scripts/") and "." not in path and not _is_recipe(path)}
    others = other_texts(skill.root, skill.files, {document.file for document in skill.documents})
    unused = sorted(unnamed(skill, {path for path in scripts if not _NO_SCRIPT.match(path)}, others))
    for path in unused[:MAX_HITS]:
        yield Hit(Span(), f"{path} is never mentioned in the skill")
    if len(unused) > MAX_HITS:
        yield Hit(Span(), f"and {len(unused) - MAX_HITS} more scripts are never mentioned")


def _is_recipe(path: str) -> bool:
    """Whether a tool finds a file by its name, so that nothing has to mention it."""
    return path.rpartition("/")[2].lower() in RECIPES


RULE = rule(find, Severity.WARNING, "links", fix="say in SKILL.md when to run it, or delete it")
