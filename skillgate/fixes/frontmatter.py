"""Repairs of the frontmatter: names, tools, metadata, and values that need quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from skillgate.fixes.pages import Edit
from skillgate.skill.frontmatter import TEXT_KEYS, name_defect, same_name

if TYPE_CHECKING:
    from skillgate.fixes.pages import Page
    from skillgate.model.skill import Skill

# What some YAML reader takes for something else than text.
_NOT_TEXT = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_REST = r"(?:[ \t]+#.*)?[ \t]*"  # of a line, behind a value


def frontmatter_tab(page: Page) -> Iterator[Edit]:
    """Put one space in place of the white space with a tab between a frontmatter key and its value."""
    for problem in page.skill.problems_of("frontmatter_tab") if page.main else ():
        line = problem.span.line
        gap = re.match(r"[^:]+:([ \t]+)", page.lines[line - 1])
        if gap is not None:
            start = page.starts[line - 1]
            yield Edit(line, start + gap.start(1), start + gap.end(1), " ")


# -- The name


def name_mismatch(page: Page) -> Iterator[Edit]:
    """Return the skill the name of its directory.

    Only where the directory's name is a valid one and the name is written plainly on one line. A skill that is the root
    of its repository keeps its name: what a checkout is called has no meaning.
    """
    if name_defect(page.skill.frontmatter.text("name")) is None:
        yield from _name(page)


def name_invalid(page: Page) -> Iterator[Edit]:
    """Return a skill with an invalid name that of its directory, as :func:`name_mismatch` does."""
    if name_defect(page.skill.frontmatter.text("name")) is not None:
        yield from _name(page)


def directory_name(skill: Skill) -> Mapping[str, object]:
    """Return the frontmatter values that a repair of the name changes."""
    return {"name": skill.root.name}


def _name(page: Page) -> Iterator[Edit]:
    skill = page.skill
    found = _written(page, "name", skill.frontmatter.values.get("name")) if page.main and _differs(skill) else None
    if found is not None:
        yield Edit(found.line, found.start, found.stop, _as_text(skill.root.name, found.quote))


def _differs(skill: Skill) -> bool:
    wanted, name = skill.root.name, skill.frontmatter.text("name")
    certain = bool(skill.root.directory and wanted) and name_defect(wanted) is None
    return certain and bool(name) and not same_name(name, wanted)


def _as_text(name: str, quote: str) -> str:
    """Keep existing quotes; add some only if the unquoted name might not be read as text."""
    if not quote and (not name[0].isalpha() or name in _NOT_TEXT):
        quote = '"'
    return f"{quote}{name}{quote}"


class _Written(NamedTuple):
    """A value written plainly on the line of its key: where, and in which quotes."""

    line: int
    start: int
    stop: int
    quote: str


def _written(page: Page, key: str, value: object) -> _Written | None:
    """Find a value in the file; None if its key is repeated, or it is not written on one line as it is read."""
    head = page.skill.frontmatter
    line = head.line(key)
    if key not in head.lines or any(problem.span.line == line for problem in page.skill.problems_of("duplicate_key")):
        return None
    text = page.lines[line - 1]
    found = re.match(rf"[ ]*{re.escape(key)}:[ \t]+", text)
    for quote in ("", "'", '"') if found is not None else ():
        assert found is not None
        end = found.end() + len(f"{quote}{value}{quote}")
        if text[found.end() : end] == f"{quote}{value}{quote}" and re.fullmatch(_REST, text[end:]):
            start = page.starts[line - 1]
            return _Written(line, start + found.end(), start + end, quote)
    return None


# -- Tools

_TOOL = r"[A-Za-z_][\w.*-]*(?:\([^\s()#,'\"]*\))?"
_BRACKETS = rf"allowed-tools:[ \t]+(\[[^\[\]#]*\]){_REST}"


def allowed_tools(page: Page) -> Iterator[Edit]:
    """Separate the tools by spaces, unless one of them holds a space itself."""
    tools = _tools(page.skill) if page.main else None
    if tools is None:
        return
    value = page.skill.frontmatter.values["allowed-tools"]
    if isinstance(value, str):
        found = _written(page, "allowed-tools", value)
        if found is not None:
            yield Edit(found.line, found.start, found.stop, f"{found.quote}{tools}{found.quote}")
        return
    line = page.skill.frontmatter.line("allowed-tools")
    match = re.fullmatch(_BRACKETS, page.lines[line - 1])
    if match is not None and "allowed-tools" not in page.skill.frontmatter.repeated:
        start = page.starts[line - 1]
        yield Edit(line, start + match.start(1), start + match.end(1), tools)


def specified_tools(skill: Skill) -> Mapping[str, object]:
    """Return the frontmatter values that a repair of the tools changes."""
    return {"allowed-tools": _tools(skill)}


def _tools(skill: Skill) -> str | None:
    """Return the tools in the form of the specification; None for none, or for a tool that a space would cut."""
    value = skill.frontmatter.values.get("allowed-tools")
    if isinstance(value, str):
        names = re.split(r"[\s,]+", value.strip(", "))
        if "," not in re.sub(r"\([^()]*\)", "", value):
            return None
    else:
        names = value if isinstance(value, list) else []
    plain = all(isinstance(name, str) and re.fullmatch(_TOOL, name) for name in names)
    return " ".join(names) if names and plain else None


# -- Metadata

_PAIR = rf"([ ]+)([A-Za-z_][\w.-]*):([ ]+)([\w.+:/-]+){_REST}"


def metadata_shape(page: Page) -> Iterator[Edit]:
    """Put values that YAML reads as numbers, booleans and dates in quotes; all of them, or none."""
    found = _scalars(page.skill) if page.main else None
    for line, (_, start, stop, text) in found.items() if found else ():
        place = page.starts[line - 1]
        yield Edit(page.skill.frontmatter.line("metadata"), place + start, place + stop, f'"{text}"')


def quoted_metadata(skill: Skill) -> Mapping[str, object]:
    """Return the frontmatter values that a repair of the metadata changes."""
    found = (_scalars(skill) or {}).values()
    return {"metadata": skill.frontmatter.values["metadata"] | {key: text for key, _, _, text in found}}


def _scalars(skill: Skill) -> dict[int, tuple[str, int, int, str]] | None:
    """Return key, columns and text of each value that is no string, by line; None if one is not written plainly."""
    head = skill.frontmatter
    metadata = head.values.get("metadata")
    if not isinstance(metadata, dict) or any(key.startswith("metadata") for key in head.repeated):
        return None
    wanted = {key for key, value in metadata.items() if not isinstance(value, str | dict | list | set | tuple)}
    lines = skill.documents[0].text.split("\n")
    row, indent, found = head.line("metadata"), "", {}
    while row < len(lines) and lines[row].startswith(" "):
        pair = re.fullmatch(_PAIR, lines[row])
        indent = indent or lines[row][: len(lines[row]) - len(lines[row].lstrip())]
        row += 1
        if pair is not None and pair[1] == indent and pair[2] in wanted:
            found[row] = (pair[2], pair.start(4), pair.end(4), pair[4])
    return found if {key for key, *_ in found.values()} == wanted else None


# -- Values that need quotes

_PLAIN = r"([A-Za-z][\w-]*):[ ]+(\S.*?)[ ]*"
_TEXTS = frozenset((*TEXT_KEYS, "argument-hint"))
_SPECIAL = "[{*&!%@`"  # what begins no plain text in YAML
MAX_QUOTED = 1_500  # characters of a value


def frontmatter_invalid(page: Page) -> Iterator[Edit]:
    """Put the value in quotes that keeps the frontmatter from being read, if it can only be text."""
    for problem in page.skill.problems_of("frontmatter_invalid") if page.main else ():
        line = problem.span.line
        found = re.fullmatch(_PLAIN, page.lines[line - 1]) if line <= len(page.lines) else None
        if found is None or not _is_text(found[1], found[2]):
            return
        quote = "'" if '"' in found[2] or "\\" in found[2] else '"'
        text = found[2].replace("'", "''") if quote == "'" else found[2]
        start = page.starts[line - 1]
        yield Edit(line, start + found.start(2), start + found.end(2), f"{quote}{text}{quote}")


def _is_text(key: str, value: str) -> bool:
    """Whether a value that YAML rejects is text without its quotes, and has no comment."""
    if len(value) > MAX_QUOTED or " #" in value or value[0] in "'\"|>":
        return False
    return key in _TEXTS if value[0] in _SPECIAL else ": " in value or value.endswith(":")
