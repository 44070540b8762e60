"""A link to a file that does not exist.

Why:
    A model that follows the link gets an error instead of the content that the instructions rely on. Links and images
    of every document are checked, both from the document's own directory and from the skill's. In the main file,
    ORPHAN_REFERENCE covers links into references/, and DEAD_CROSS_REF covers links to other skills.
    The finding is an error if the target has a file's name or its directory exists. It is a warning if the target may
    be a file of the user's project. Such a target is outside the skill, in a folder that the skill does not have, has a
    name such as package.json, or is also the link's text. A link into references/ or to another skill is always an
    error, in the main file and in others. In a document below examples/ or expected_outputs/ a dead link is an info. A
    target that ends in / is a directory. Not checked: templates, routes, hosts, placeholders (`path/to/file.md`,
    `[text](url)`), line references (`#L10`), lists after "Example:", code, and links in raw HTML.
    Each target is reported once per document.

Bad:
    See [the rules](rules/names.md).     (and the file is rules/naming.md)

Good:
    See [the rules](rules/naming.md).

Source: Agent Skills specification, file references; field study of broken links in published skills.
"""

from collections.abc import Iterator
from posixpath import normpath

from skillgate.model.finding import Hit, Severity
from skillgate.model.skill import Document, Link, LinkKind, Skill
from skillgate.skill.links import SUFFIXES, first_links, is_folder, is_sample, names_itself, namesake, target_path
from skillgate.static import Hits, rule
from skillgate.static.code import nested_fences
from skillgate.static.text import hit

_OF_PROJECTS = frozenset(
    (
        *("package.json", "package-lock.json", "tsconfig.json", "composer.json", "pyproject.toml", "requirements.txt"),
        *("cargo.toml", "go.mod", "dockerfile", "docker-compose.yml", "docker-compose.yaml", "compose.yaml"),
        *("makefile", "gemfile", "index.html", "readme.md", "changelog.md", "contributing.md", "claude.md"),
        *("agents.md", "gemini.md", "copilot-instructions.md"),
    )
)
_ANTI_PATTERNS = (LinkKind.REFERENCE, LinkKind.SKILL)  # in the main file they have their own rules


def find(skill: Skill) -> Hits:
    """Yield one hit for each distinct target of each document, at its first link."""
    for document in skill.documents:
        main = document is skill.documents[0]
        if not all(block.closed for block in document.code_blocks):
            continue  # its text may be the inside of a sample
        nested = nested_fences(document)  # the inside of a template may read as text
        for link in first_links(
            link for link in document.links if not any(one.covers(link.span.line) for one in nested)
        ):
            if not link.dead or (main and link.kind in _ANTI_PATTERNS) or "\\" in link.target:
                continue
            severity = None if is_sample(document, link) else _severity(skill, document, link)
            if severity is not None:
                yield _hit(skill, document, link, severity)


# Folders of documents that are shown, and not read as instructions.
_SHOWN = frozenset(("examples", "example", "samples", "fixtures", "expected", "expected_output", "expected_outputs"))


def _severity(skill: Skill, document: Document, link: Link) -> Severity | None:
    path = target_path(link.target)
    name = path.rpartition("/")[2]
    known = is_folder(link) or ("." in name and name.rpartition(".")[2].lower() in SUFFIXES)
    inside = [place for place in _places(skill, document, path) if _is_inside(skill, place)]
    if link.kind is not LinkKind.SKILL and not inside:
        return Severity.WARNING if known else None
    if not known and link.kind is not LinkKind.SKILL and not any(_has_folder(skill, place, path) for place in inside):
        return None
    shown = not _SHOWN.isdisjoint(document.file[len(skill.root.directory) :].lower().split("/"))
    there = any(skill.root.tree.entry(place) is not None for place in inside)
    doubtful = link.kind is LinkKind.LOCAL and (there or _may_be_of_the_user(skill, document, link, path))
    return Severity.INFO if shown else Severity.WARNING if doubtful else Severity.ERROR


def _may_be_of_the_user(skill: Skill, document: Document, link: Link, path: str) -> bool:
    """Whether a target may be meant as a file of the project that the skill is used in."""
    if path.rpartition("/")[2].lower() in _OF_PROJECTS:
        return True
    if namesake(skill, document, path) is not None:
        return False
    folders = path.split("/") if is_folder(link) else path.split("/")[:-1]
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
    """Whether the folder of the target exists."""
    return "/" in path and skill.root.tree.entry(place.rpartition("/")[0]) is not None


def _hit(skill: Skill, document: Document, link: Link, severity: Severity) -> Hit:
    path = target_path(link.target)
    near = None if link.kind is LinkKind.SKILL else namesake(skill, document, path)
    if any(skill.root.tree.entry(place) is not None for place in _places(skill, document, path)):
        message = f"{path} is a broken symbolic link, or points outside the searched directories"
    else:
        message = f"{path} does not exist" + (f"; did you mean {near}?" if near else "")
    return hit(document, skill, link.span, message, severity=severity, fix=f"link to {near}" if near else None)


RULE = rule(find, Severity.ERROR, "links", fix="create the file, correct the path, or remove the link")
