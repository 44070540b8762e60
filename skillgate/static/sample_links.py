"""Links that are no more than samples: a word for a path, a route, a host, a piece of code that looks like a link.

The rules on links ask here before they speak of a link that leads nowhere.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from skillgate.skill.links import target_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import Document, Link, Span

_FILES = (
    "bash c cfg cpp cs css csv docx drawio gif go graphql h htm html ini ipynb java jpeg jpg js json jsonl jsx kt lua"
    " markdown md mdx mjs mmd pdf php png pptx proto ps1 puml py r rb rs rst scss sh sql svelte svg swift tex tf toml"
    " ts tsx txt vue webp xlsx xml xsd yaml yml zip"
)
_STAND_INS = (
    "url link path file filename image img screenshot placeholder example sample foo bar baz something name target page"
    " doc document other another topic section anchor heading"
)
SUFFIXES = frozenset(_FILES.split())
_LABELS = frozenset(
    ("text", "link", "link text", "title", "label", "alt", "alt text", "caption", "url", "anchor text", "display text")
)
_STEMS = frozenset(_STAND_INS.split())
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


def made_up(document: Document, link: Link) -> bool:
    """Tell whether a link reads as a sample of one, or is none: then nothing has to be where it leads."""
    path = target_path(link.target)
    parts = [part for part in path.split("/") if part not in ("..", "")]
    label = _label(document, link.span)
    if not parts or not _NOT_A_PATH.isdisjoint(path) or label is None or label in _LABELS:
        return True
    if re.match(_CODE_LINE, link.target.partition("#")[2]) or link.span.line in _sample_rows(document.text):
        return True
    if (".." in path and not _ROUTES.isdisjoint(parts)) or _HOST.match(parts[0]):
        return True
    return any(_stands_for_another(part.lower(), last=part is parts[-1]) for part in parts)


def stands_in(document: Document, link: Link) -> bool:
    """Tell the same of a link to a section: ``[text](#section)``."""
    label, fragment = _label(document, link.span), link.target.partition("#")[2].lower()
    return label is None or label in _LABELS or _stands_for_another(fragment, last=True)


def names_itself(document: Document, link: Link) -> bool:
    """Tell whether a link's text is its target: a name that may stand for a file of whoever uses the skill."""
    return _label(document, link.span) == target_path(link.target).lower()


def first_links(document: Document) -> Iterator[Link]:
    """Give the first link to each distinct target of a document."""
    seen: set[str] = set()
    for link in document.links:
        key = target_path(link.target)
        if key not in seen:
            seen.add(key)
            yield link


def _stands_for_another(part: str, *, last: bool) -> bool:
    stem = part.rpartition(".")[0] or part if last else part
    stand_in = stem in _STEMS if last else stem in ("path", "to", "your", "foo", "bar")
    return stand_in or stem.startswith(_PREFIXES) or stem.endswith(_ENDINGS) or bool(_NUMBERED.match(stem))


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
    """Read back a link's text, lower-cased; ``""`` where it is not found, None for code such as ``rows[i](x)``."""
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
