"""Targets of links: what kind each is, which path of the tree it leads to, and which are only samples of one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from skillgate.model.skill import Document, EntryKind, Link, LinkKind, Skill, Span

if TYPE_CHECKING:
    from skillgate.model.skill import SkillRoot


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_TEMPLATE = frozenset("{}<>*$|")
_OTHERS = ("skills", "agents", "commands")
_PLUGIN_NAME = re.compile(r"(?:[a-z0-9][a-z0-9-]*:)?[a-z0-9][a-z0-9-]*\Z")


class Resolver:
    """Answers, for one skill, what kind a target is and which path of the tree it leads to.

    ``at`` is the directory of the file that contains the links, None for the skill's own: what is written in a file
    below may mean either. Where the main file is a symbolic link, what it leads to may be meant too.
    """

    def __init__(self, root: SkillRoot, *, at: str | None = None) -> None:
        self._tree = root.tree
        self._at = root.directory if at is None else at
        self._here = root.directory
        real = root.tree.real(root.tree_path(root.file_name))
        self._real = self._here if real is None else real.rpartition("/")[0]
        self._skills = root.directory.rpartition("/")[0]
        self._plugin = root.plugin
        self._file_name = root.file_name

    def classify(self, target: str) -> LinkKind:
        """Judge a target by its form alone."""
        path = _path(target)
        if path is None:
            return LinkKind.OTHER
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if not parts or (
            _join(self._here, path) is None and _join(self._at, path) is None
        ):  # nothing there is looked at, so nothing is known
            return LinkKind.OTHER
        if parts[0] == "references" and ".." not in parts:
            return LinkKind.REFERENCE
        return LinkKind.SKILL if _points_at_skill(parts) else LinkKind.LOCAL

    def resolve(self, target: str, kind: LinkKind) -> str | None:
        """Find the tree path that a target leads to: from the file's directory, the skill's or the real main file's.

        A link to another skill or agent may start from the skill itself, its plugin or the skills folder; every other
        relative link starts from the skill's directory. Nothing outside the tree is looked at.
        """
        path = _path(target)
        if kind is LinkKind.OTHER or path is None:
            return None
        bases = list(dict.fromkeys((self._at, self._here, self._real)))
        if kind is LinkKind.SKILL:
            bases += [
                base for base in (self._plugin, self._skills, self._skills.rpartition("/")[0]) if base is not None
            ]
        for base in bases:
            found = _join(base, path)
            if found is not None and self._exists(found):
                return found
        return None

    def other_skill(self, path: str) -> str | None:
        """Name the other skill or agent that a resolved tree path belongs to; None for this skill's own files."""
        if path == self._here or path.startswith(f"{self._here}/") or not self._here:
            return None
        entry = self._tree.entry(path)
        if entry is None:
            return None
        if entry.kind is EntryKind.FILE and not entry.size:
            return None
        parts = path.split("/")
        if (
            entry.kind is EntryKind.FILE
            and path.endswith(".md")
            and any(part in ("agents", "commands") for part in parts[:-1])
        ):
            return path
        directory = path if entry.kind is EntryKind.DIRECTORY else path.rpartition("/")[0]
        while directory:
            if self._is_skill(directory):
                return None if directory == self._here else directory
            directory = directory.rpartition("/")[0]
        return None

    def sibling(self, name: str) -> str | None:
        """Find a skill next to this one by a name that is plainly one: hyphenated, or with its plugin and a colon."""
        if not _PLUGIN_NAME.match(name) or ("-" not in name and ":" not in name):
            return None
        directory = _join(self._skills, name.rpartition(":")[2])
        return directory if directory and directory != self._here and self._is_skill(directory) else None

    def is_next_to_main(self, path: str) -> bool:
        """Return whether a tree path lies next to the file that the main file, a symbolic link, leads to."""
        return self._real != self._here and f"{path}/".startswith(f"{self._real}/")

    def leads_on(self, word: str) -> bool:
        """Return whether a path or a name in the text leads to another skill or agent."""
        path = self.resolve(word, self.classify(word)) if "/" in word else None
        return self.sibling(word) is not None if path is None else self.other_skill(path) is not None

    def _is_skill(self, directory: str) -> bool:
        entry = self._tree.entry(f"{directory}/SKILL.md")
        return entry is not None and entry.kind is EntryKind.FILE and entry.size > 0

    def _exists(self, path: str) -> bool:
        entry = self._tree.entry(path)
        return entry is not None and entry.kind is not EntryKind.OTHER


def target_path(target: str) -> str:
    """Return the path of a relative target as it is compared: decoded, without anchor, query and ``./``."""
    path = _path(target) or target
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def _path(target: str) -> str | None:
    """Return the path part of a relative target, decoded; None for a URL, an anchor, an absolute path or a template."""
    path = re.split(r"[#?]", target, maxsplit=1)[0].strip()
    if not path or path[0] in "/~\\" or _SCHEME.match(path) or _TEMPLATE.intersection(path) or "..." in path:
        return None
    decoded = unquote(path) if "%" in path else path
    return None if "\x00" in decoded else decoded


def _points_at_skill(parts: list[str]) -> bool:
    if parts[-1].lower() == "skill.md" and len(parts) > 1:
        return True
    climbs = [part for part in parts if part != ".."]
    if len(climbs) == 1 and len(parts) == 2:  # ../sibling, and not ../notes.md
        return "." not in climbs[0] and not climbs[0].isupper()  # nor ../LICENSE
    return len(climbs) > 1 and (climbs[0] in _OTHERS or (parts[0] == ".." and any(p in _OTHERS for p in climbs[:-1])))


def _join(base: str, path: str) -> str | None:
    """Join and normalise; None if the path climbs out of the tree."""
    parts = base.split("/") if base else []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


_FILES = (
    "bash c cfg cpp cs css csv docx drawio gif go graphql h htm html ini ipynb java jpeg jpg js json jsonl jsx kt lua"
    " markdown md mdx mjs mmd pdf php png pptx proto ps1 puml py r rb rs rst scss sh sql svelte svg swift tex tf toml"
    " ts tsx txt vue webp xlsx xml xsd yaml yml zip"
)
_SAMPLES = (
    "url link path file filename image img screenshot placeholder example sample foo bar baz something name target page"
    " doc document other another topic section anchor heading"
)
SUFFIXES = frozenset(_FILES.split())
_SAMPLE_NAMES = frozenset(_SAMPLES.split())
_SAMPLE_FOLDERS = ("path", "to", "your", "foo", "bar")
_LABELS = frozenset(
    ("text", "link", "link text", "title", "label", "alt", "alt text", "caption", "url", "anchor text", "display text")
)
_PREFIXES = ("your-", "your_", "my-", "my_", "some-", "other-", "another-", "example-", "adr-0", "foo-")
_ENDINGS = ("-name", "_name", "-here")
_ROUTES = frozenset(  # of a repository's pages: ../../issues/12
    ("issues", "pull", "pulls", "wiki", "releases", "compare", "commit", "commits", "blob", "tree", "discussions")
)
_HOST = r"(?i)(?:www\.|[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|ai|co|gov|edu|app)$)"
_NUMBERED = r"(?i)\d{4}-|.*(?:xxx|yyyy|nnn)"
_NOT_A_PATH = frozenset("\"'`=;,()[]@!^")
_ITEM = r"[ \t]*(?:[-*+>]|\d+[.)])(?:[ \t]|$)|[ \t]*$|[ \t]{2,}"
_LEADS_IN = r"(?i)\b(?:like (?:this|so)|looks? like|examples?|for instance|formats?|sample)(?: is)?[*_`]*:[*_` \t]*$"
_LONGEST_LABEL = 1_000
_CODE_LINE = r"[Ll]\d+(?:[-:,CL]|\Z)"  # of a file that is cited


def is_sample(document: Document, link: Link) -> bool:
    """Whether a link reads as a sample of one, or is no link: then its target need not exist."""
    path = target_path(link.target)
    parts = [part for part in path.split("/") if part not in ("..", "")]
    label = _label(document, link.span)
    if not parts or not _NOT_A_PATH.isdisjoint(path) or label is None or label in _LABELS:
        return True
    if re.match(_CODE_LINE, link.target.partition("#")[2]) or link.span.line in _sample_rows(document.text):
        return True
    if (".." in path and not _ROUTES.isdisjoint(parts)) or ("." in parts[0] and re.match(_HOST, parts[0])):
        return True
    return any(is_sample_name(part.lower(), last=part is parts[-1]) for part in parts)


def is_sample_anchor(document: Document, link: Link) -> bool:
    """Whether a link to a section is a sample: ``[text](#section)``."""
    label, fragment = _label(document, link.span), link.target.partition("#")[2].lower()
    return label is None or label in _LABELS or is_sample_name(fragment, last=True)


def is_folder(link: Link) -> bool:
    """Whether a link is written as one to a directory: its path ends in ``/``."""
    return link.target.partition("#")[0].partition("?")[0].endswith("/")


def names_itself(document: Document, link: Link) -> bool:
    """Whether a link's text is its target: a name that may mean a file of the skill's user."""
    return _label(document, link.span) == target_path(link.target).lower()


def first_links(links: Iterable[Link]) -> Iterator[Link]:
    """Yield the first link to each distinct target."""
    seen: set[str] = set()
    for link in links:
        key = target_path(link.target)
        if key not in seen:
            seen.add(key)
            yield link


def is_sample_name(part: str, *, last: bool) -> bool:
    """Whether a folder of a path, or its ``last`` part, is a placeholder; lower-case."""
    stem = part.rpartition(".")[0] or part if last else part
    known = stem in (_SAMPLE_NAMES if last else _SAMPLE_FOLDERS)
    return known or stem.startswith(_PREFIXES) or stem.endswith(_ENDINGS) or bool(re.match(_NUMBERED, stem))


_PAGES = (".md", ".markdown", ".mdx", ".html", ".htm")


def namesake(skill: Skill, document: Document, path: str) -> str | None:
    """Find the one other file of the skill that has a path's name, or for a page its name but for the suffix."""
    name = path.rpartition("/")[2].lower()
    names = [
        (skill.root.inside(file), file.rpartition("/")[2].lower()) for file in skill.files if file != document.file
    ]
    alike = [file for file, other in names if other == name]
    if not alike and (name.endswith(_PAGES) or "." not in name):
        alike = [file for file, other in names if other.endswith(_PAGES) and _bare(other) == _bare(name)]
    return alike[0] if len(alike) == 1 else None


def _bare(name: str) -> str:
    return name.rpartition(".")[0] or name


@lru_cache(maxsize=2)  # the links of a document are asked for one after the other
def _lines(text: str) -> tuple[str, ...]:
    return tuple(text.split("\n"))


@lru_cache(maxsize=2)
def _sample_rows(text: str) -> frozenset[int]:
    """Number the lines, from 1, of lists and quotations that show what something looks like: after "Example:"."""
    rows, shows = set(), False
    for row, line in enumerate(_lines(text), start=1):
        is_item = re.match(_ITEM, line) is not None
        if shows and is_item:
            rows.add(row)
        if line.rstrip(" \t*_`").endswith(":") and re.search(_LEADS_IN, line):
            shows = True
        elif not is_item:
            shows = False
    return frozenset(rows)


def _label(document: Document, span: Span) -> str | None:
    """Read a link's text from the file, lower-cased; ``""`` if not found, None for code such as ``rows[i](x)``."""
    lines = _lines(document.text)
    end = span.column - 1
    line = lines[span.line - 1] if span.line <= len(lines) else ""
    before = line[max(0, end - _LONGEST_LABEL) : end].rstrip("<")
    if not before.endswith("]("):
        return ""
    start = before.rfind("[", 0, -2)
    if start < 0:
        return ""
    previous = before[start - 1 : start]
    if previous.isascii() and (previous.isalnum() or previous in ("]", ")")) and previous:
        return None
    return before[start + 1 : -2].strip("*_` ").lower()


# -- Files that text names: by path, by name, by the stem as a word, or by their folder

_WORD = r"\w+|[^\w ]"
_READ = r"(?:read|search|grep|load|consult|browse|scan|open|list|use|check|see|all|each|any|one)"


def folded(text: str) -> str:
    """Lower text; hyphens, underscores and runs of white space become one space each."""
    return re.sub(r"[\s_-]+", " ", text.lower())


class Names:
    """What names each of some files, made once so that every text is searched once, however many files there are.

    ``paths`` are relative to the skill, such as ``references/forms/tax.md``.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths: dict[tuple[str, ...], set[str]] = {}
        self._tops: dict[str, set[str]] = {}
        for path in paths:
            top, *below = path.split("/")
            self._tops.setdefault(top, set()).add(path)
            for form in (*below, _stem(below[-1] if below else top)):
                words = tuple(re.findall(_WORD, folded(form)))
                if words:
                    self._paths.setdefault(words, set()).add(path)
        self._firsts = frozenset(words[0] for words in self._paths)
        self._lengths = sorted({len(words) for words in self._paths})

    def named_in(self, text: str) -> set[str]:
        """Select the paths that a folded text names."""
        found = {path for top, paths in self._tops.items() if _names_folder(top, text) for path in paths}
        words = re.findall(_WORD, text)
        for place, word in enumerate(words):
            if word in self._firsts:
                for length in self._lengths:
                    found |= self._paths.get(tuple(words[place : place + length]), frozenset())
        return found


def _stem(name: str) -> str:
    """Return a file's name without its suffix and the number before it: ``01-rates.md`` is ``rates``."""
    return folded(name.rpartition(".")[0] or name).lstrip("0123456789. ")


def _names_folder(top: str, text: str) -> bool:
    """Whether text speaks of all of a folder: ``references/*.md``, ``"references"``, "search the references"."""
    if folded(top) not in text:
        return False
    name = re.escape(folded(top))
    whole = rf"(?<!\w){name}(?:/(?![\w.])|/?[`'\"]? (?:director|folder|files?\b|docs?\b|material))|(['\"`]){name}\1"
    spoken = rf"\b(?:{_READ} (?:\w+ ){{0,3}}|(?:under|in|inside|within|from) (?:the )?){name}\b(?!/)"
    return re.search(whole, text) is not None or re.search(spoken, text) is not None


_PATH = r"(?:references|scripts)/[\w./-]+"


def unnamed(skill: Skill, files: set[str], others: Iterable[tuple[str, str] | None]) -> set[str]:
    """Select the files that nothing else in a skill names.

    Args:
        skill: the skill; its documents are searched first.
        files: paths below the skill.
        others: tree path and text of its other files, read only if needed. None is one that was not read: it may name
            any file, so then nothing is selected.
    """
    inside, left = skill.root.inside, set(files)
    for document in skill.documents if left else ():  # the cheap question first: most files are named by their path
        left -= {path.rstrip("./-") for path in re.findall(_PATH, document.text)} - {inside(document.file)}
        left -= {inside(link.resolved) for link in document.links if link.resolved and link.resolved != document.file}
    names = Names(left)
    for document in skill.documents if left else ():
        left -= names.named_in(folded(document.text)) - {inside(document.file)}
    for read in others if left else ():
        if read is None or not left:
            return set()
        left -= names.named_in(folded(read[1])) - {inside(read[0])}
    return left
