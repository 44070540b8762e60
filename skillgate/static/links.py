"""Which links are only samples of one, and which files of a skill a text names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from skillgate.model.skill import Document, Link, Span
from skillgate.skill.links import target_path

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
_HOST = re.compile(r"(?i)(?:www\.|[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|ai|co|gov|edu|app)$)")
_NUMBERED = re.compile(r"\d{4}-|.*(?:xxx|yyyy|nnn)", re.IGNORECASE)
_NOT_A_PATH = frozenset("\"'`=;,()[]@!^")
_ITEM = r"[ \t]*(?:[-*+>]|\d+[.)])(?:[ \t]|$)|[ \t]*$|[ \t]{2,}"
_LEADS_IN = r"(?i)\b(?:like (?:this|so)|looks? like|examples?|for instance|formats?|sample)(?: is)?[*_`]*:[*_` \t]*$"
_LONGEST_LABEL = 1_000
_CODE_LINE = r"[Ll]\d+(?:[-:,CL]|\Z)"  # of a file that is cited


def is_sample(document: Document, link: Link) -> bool:
    """Whether a link reads as a sample of one, or is none: then nothing has to be where it leads."""
    path = target_path(link.target)
    parts = [part for part in path.split("/") if part not in ("..", "")]
    label = _label(document, link.span)
    if not parts or not _NOT_A_PATH.isdisjoint(path) or label is None or label in _LABELS:
        return True
    if re.match(_CODE_LINE, link.target.partition("#")[2]) or link.span.line in _sample_rows(document.text):
        return True
    if (".." in path and not _ROUTES.isdisjoint(parts)) or _HOST.match(parts[0]):
        return True
    return any(_is_sample_name(part.lower(), last=part is parts[-1]) for part in parts)


def is_sample_anchor(document: Document, link: Link) -> bool:
    """Whether a link to a section is a sample: ``[text](#section)``."""
    label, fragment = _label(document, link.span), link.target.partition("#")[2].lower()
    return label is None or label in _LABELS or _is_sample_name(fragment, last=True)


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


def _is_sample_name(part: str, *, last: bool) -> bool:
    stem = part.rpartition(".")[0] or part if last else part
    known = stem in (_SAMPLE_NAMES if last else _SAMPLE_FOLDERS)
    return known or stem.startswith(_PREFIXES) or stem.endswith(_ENDINGS) or bool(_NUMBERED.match(stem))


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


# -- Files that a text names: by path, by name, by the stem as a word, or by their folder

_WORD = r"\w+|[^\w ]"
_READ = r"(?:read|search|grep|load|consult|browse|scan|open|list|use|check|see|all|each|any|one)"


def folded(text: str) -> str:
    """Lower a text; hyphens, underscores and runs of white space become one space each."""
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
    """Whether a text speaks of all of a folder: ``references/*.md``, ``"references"``, "search the references"."""
    if folded(top) not in text:
        return False
    name = re.escape(folded(top))
    whole = rf"(?<!\w){name}(?:/(?![\w.])|/?[`'\"]? (?:director|folder|files?\b|docs?\b|material))|(['\"`]){name}\1"
    spoken = rf"\b(?:{_READ} (?:\w+ ){{0,3}}|(?:under|in|inside|within|from) (?:the )?){name}\b(?!/)"
    return re.search(whole, text) is not None or re.search(spoken, text) is not None
