r"""A link with backslashes in its path.

Why:
    Only Windows reads `references\forms.md` as a file in a folder. Everywhere else, and for Markdown readers, it is
    one odd file name that does not exist.

Bad:
    See [the forms](references\forms.md).

Good:
    See [the forms](references/forms.md).

Source: Agent Skills specification, file references; authoring guidance of Claude: forward slashes in all paths.
"""

import re

from skillgate.model.finding import Severity
from skillgate.model.skill import Link, LinkKind, Skill
from skillgate.skill.links import SUFFIXES
from skillgate.static import Hits, rule
from skillgate.static.text import hit

_PATH = r"[\w. -]+(?:[\\/][\w. -]+)*\\[\w. -]*\.(\w+)"


def find(skill: Skill) -> Hits:
    """Yield one hit for each distinct target of each document, at its first link."""
    for document in skill.documents:
        targets: dict[str, Link] = {}
        for link in document.links:
            if "\\" in link.target and link.kind is not LinkKind.OTHER:
                targets.setdefault(link.target.partition("#")[0], link)
        for target, link in targets.items():
            path = re.fullmatch(_PATH, target)
            if path and path[1].lower() in SUFFIXES:
                right = target.replace("\\", "/")
                yield hit(document, skill, link.span, f"{target} works on Windows only", fix=f"write {right}")


RULE = rule(find, Severity.WARNING, "links", fix="write the path with forward slashes")
