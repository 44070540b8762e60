"""A link to a file that is not there.

Why:
    A model that follows the link gets an error instead of what the instructions rely on. Links and images of every
    document of the skill are followed, from the document's own directory and from the skill's. In the main file, links
    into references/ and to other skills are ORPHAN_REFERENCE and DEAD_CROSS_REF. It is an error where the target is a
    file by its name, or its directory is there; a warning where it may be a file of whoever uses the skill: outside
    it, in a folder that it has not, under a name such as package.json, or in a link whose text is the path itself.
    Templates, routes, hosts, words for a path (`path/to/file.md`, `[text](url)`), lines of a file (`#L10`), lists after
    "Example:" and code are no targets, and links in raw HTML are not followed. One finding for each target and
    document.

Bad:
    See [the rules](rules/names.md).     (and the file is rules/naming.md)

Good:
    See [the rules](rules/naming.md).

Source: Agent Skills specification, file references; field study of broken links in published skills.
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import normpath

from skillgate.model.finding import Hit, Rule, Severity
from skillgate.model.skill import Document, Link, LinkKind, Skill
from skillgate.skill.links import SUFFIXES, first_links, is_sample, names_itself, target_path
from skillgate.static.text import hit

_PAGES = (".md", ".markdown", ".mdx", ".html", ".htm")
_OF_PROJECTS = frozenset(
    (
        *("package.json", "package-lock.json", "tsconfig.json", "composer.json", "pyproject.toml", "requirements.txt"),
        *("cargo.toml", "go.mod", "dockerfile", "docker-compose.yml", "docker-compose.yaml", "compose.yaml"),
        *("makefile", "gemfile", "index.html", "readme.md", "changelog.md", "contributing.md", "claude.md"),
        *("agents.md", "gemini.md", "copilot-instructions.md"),
    )
)
_ANTI_PATTERNS = (LinkKind.REFERENCE, LinkKind.SKILL)  # in the main file they have ids of their own


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit for each distinct target of each document, at its first link."""
    for document in skill.documents:
        main = document is skill.documents[0]
        if not all(block.closed for block in document.code_blocks):
            continue  # what is text there may be the inside of a sample
        for link in first_links(document.links):
            if not link.dead or (main and link.kind in _ANTI_PATTERNS) or "\\" in link.target:
                continue
            severity = None if is_sample(document, link) else _severity(skill, document, link)
            if severity is not None:
                yield _hit(skill, document, link, severity)


def _severity(skill: Skill, document: Document, link: Link) -> Severity | None:
    path = target_path(link.target)
    name = path.rpartition("/")[2]
    known = "." in name and name.rpartition(".")[2].lower() in SUFFIXES
    inside = [place for place in _places(skill, document, path) if _is_inside(skill, place)]
    if link.kind is not LinkKind.SKILL and not inside:
        return Severity.WARNING if known else None
    if not known and link.kind is not LinkKind.SKILL and not any(_has_folder(skill, place, path) for place in inside):
        return None
    shown = "examples" in document.file[len(skill.root.directory) :].lower().split("/")
    there = any(skill.root.tree.entry(place) is not None for place in inside)
    doubtful = there or (link.kind is not LinkKind.SKILL and _may_be_of_the_user(skill, document, link, path))
    return Severity.INFO if shown else Severity.WARNING if doubtful else Severity.ERROR


def _may_be_of_the_user(skill: Skill, document: Document, link: Link, path: str) -> bool:
    """Whether a target may be meant as a file of the project that the skill is used in."""
    if path.rpartition("/")[2].lower() in _OF_PROJECTS:
        return True
    if _near(skill, document, path) is not None:
        return False
    folders = path.split("/")[:-1]
    depth = next((count for count, name in enumerate(folders, start=1) if name != ".."), 0)
    top = "/".join(folders[:depth])
    is_there = not top or any(skill.root.tree.entry(place) is not None for place in _places(skill, document, top))
    return not is_there or names_itself(document, link)


def _places(skill: Skill, document: Document, path: str) -> Iterator[str]:
    """Yield the tree paths that a target may mean."""
    for base in {document.file.rpartition("/")[0], skill.root.directory}:
        place = normpath(f"{base}/{path}" if base else path)
        if not place.startswith(".."):
            yield place


def _is_inside(skill: Skill, place: str) -> bool:
    return place.startswith(f"{skill.root.directory}/") or not skill.root.directory


def _has_folder(skill: Skill, place: str, path: str) -> bool:
    """Whether the folder that the target names is there."""
    return "/" in path and skill.root.tree.entry(place.rpartition("/")[0]) is not None


def _hit(skill: Skill, document: Document, link: Link, severity: Severity) -> Hit:
    path = target_path(link.target)
    near = None if link.kind is LinkKind.SKILL else _near(skill, document, path)
    if any(skill.root.tree.entry(place) is not None for place in _places(skill, document, path)):
        message = f"{path} is a symbolic link that leads nowhere, or out of what is searched"
    else:
        message = f"{path} does not exist" + (f"; there is {near}" if near else "")
    return hit(document, skill, link.span, message, severity=severity, fix=f"link to {near}" if near else None)


def _near(skill: Skill, document: Document, path: str) -> str | None:
    """Find the one other file of the skill that has the target's name, or for a page its name but for the suffix."""
    name = path.rpartition("/")[2].lower()
    cut = len(skill.root.directory) + 1 if skill.root.directory else 0
    names = [(file[cut:], file.rpartition("/")[2].lower()) for file in skill.files if file != document.file]
    alike = [file for file, other in names if other == name]
    if not alike and (name.endswith(_PAGES) or "." not in name):
        alike = [file for file, other in names if other.endswith(_PAGES) and _stem(other) == _stem(name)]
    return alike[0] if len(alike) == 1 else None


def _stem(name: str) -> str:
    return name.rpartition(".")[0] or name


RULE = Rule(
    id="BROKEN_LINK",
    severity=Severity.ERROR,
    summary="a link to a file that is not there",
    fix="create the file, correct the path, or remove the link",
    find=find,
    group="links",
)
