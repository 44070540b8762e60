"""House rules from a template of the configuration: data only, and every search is linear in the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from skillgate.model.finding import Hit, Page, Rule, Severity
from skillgate.model.house import kind_of
from skillgate.model.skill import Skill, Span, anchor_key

if TYPE_CHECKING:
    from skillgate.model.setting import Table

    Find = Callable[[Skill], Iterator[Hit]]

GROUP = "house"
HEADER_LINES = 15  # in which a licence header begins and ends
_HEADER_BYTES = 8_192
_SCRIPTS = (".py", ".sh", ".bash", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".ps1", ".go", ".rs", ".r")
# White space with at most one line break: a phrase does not continue in the next paragraph.
_SPACE = r"(?:[^\S\n]++(?:\n[^\S\n]*+)?|\n[^\S\n]*+)"
_WORD = re.compile(r"\w+")
_YEAR = re.compile(r"(?:19|20)\d\d")


def template_rule(identifier: str, table: Table) -> Rule:
    """Return the rule that a valid entry of the setting ``rules`` declares, other than by code."""
    kind = kind_of(table)
    find, summary, fix = _TEMPLATES[kind](table[kind], str(table.get("message", "")))
    return Rule(
        id=identifier,
        severity=Severity(str(table.get("severity", "warning"))),
        summary=summary,
        fix=str(table.get("fix", "")) or fix,
        find=find,
        group=GROUP,
    )


def template_page(rule: Rule, origin: str) -> Page:
    """Return the page of a rule from a template; ``origin`` is where it is declared."""
    title = f"{rule.summary[:1].upper()}{rule.summary[1:]}."
    return Page(rule=rule, kind=GROUP, title=title, sections={"Source": f"The configuration, {origin}."})


def _section(value: object, message: str) -> tuple[Find, str, str]:
    wanted, key = str(value), anchor_key(str(value))

    def find(skill: Skill) -> Iterator[Hit]:
        if not any(anchor_key(heading.text) == key for heading in skill.headings):
            yield Hit(Span(), message or f"no section {wanted!r}")

    return find, f"the section {wanted!r} is missing", f"add a section with the heading {wanted!r}"


def _metadata(value: object, message: str) -> tuple[Find, str, str]:
    wanted = str(value)
    first, *rest = wanted.split(".")

    def find(skill: Skill) -> Iterator[Hit]:
        found: Any = skill.frontmatter.values.get(first)
        for key in rest:
            found = found.get(key) if isinstance(found, Mapping) else None
        is_missing = found is None or found in ("", [], {}) or (isinstance(found, str) and not found.strip())
        if skill.frontmatter.valid and is_missing:
            yield Hit(Span(skill.frontmatter.line(first)), message or f"the frontmatter has no {wanted}")

    return find, f"the field {wanted} is missing", f"add {wanted} to the frontmatter"


def _phrases(value: object, message: str) -> tuple[Find, str, str]:
    phrases = value if isinstance(value, tuple) else (str(value),)
    pattern = re.compile("|".join(map(_phrase, phrases)), re.IGNORECASE)

    def find(skill: Skill) -> Iterator[Hit]:
        for document in skill.documents:
            line, done = 1, 0
            for match in pattern.finditer(document.text):
                line, done = line + document.text.count("\n", done, match.start()), match.start()
                column = match.start() - document.text.rfind("\n", 0, match.start())
                words = " ".join(match[0].split())
                said = f"{message} ({words!r})" if message else f"{words!r} is a phrase that this project does not use"
                yield Hit(Span(line, column), said, file=document.file)

    return find, "a phrase that this project does not use", "use other words"


def _phrase(text: str) -> str:
    """Return a pattern of literal words: no part of it can match in two ways."""
    words = text.split()
    before = r"(?<!\w)" if re.match(r"\w", words[0]) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", words[-1]) else ""
    return before + _SPACE.join(map(re.escape, words)) + after


def _header(value: object, message: str) -> tuple[Find, str, str]:
    wanted = _normal(str(value))

    def find(skill: Skill) -> Iterator[Hit]:
        for path in skill.files:
            if path.lower().endswith(_SCRIPTS):
                try:
                    data = skill.root.tree.read(path, limit=_HEADER_BYTES)
                except OSError:
                    continue  # it cannot be read, which other findings report
                head = "\n".join(data.decode("utf-8", "replace").split("\n")[:HEADER_LINES])
                if data.strip() and wanted not in _normal(head):
                    yield Hit(Span(), message or f"no licence header in the first {HEADER_LINES} lines", file=path)

    return find, "a script without the licence header", f"begin the file with: {' '.join(str(value).split())}"


def _normal(text: str) -> str:
    """Reduce a text to its words, so that comment marks do not matter; every year is the same."""
    words = (_YEAR.sub("year", word) for word in _WORD.findall(text.casefold()))
    return f" {' '.join(words)} "


_TEMPLATES: Mapping[str, Callable[[object, str], tuple[Find, str, str]]] = {
    "required-section": _section,
    "required-metadata": _metadata,
    "forbidden-phrase": _phrases,
    "licence-header": _header,
}
