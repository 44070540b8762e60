"""Case tables for the static layer: Markdown files of title, input and expected result, one file for each check.

A case is a title line, a line ``.``, the input, a line ``.``, the expected lines and a line ``.``. The input is the
SKILL.md of a directory ``skills/sample-skill``. Lines ``=== path`` begin further files beside it; a path that ends in
``/`` is an empty directory, ``path -> target`` is a symbolic link, and one that ends in ``SKILL.md`` in any letter
case, standing first, names the main file.
With ``(bytes)`` at the end of its title the input is a Python bytes literal instead.

Long inputs are written by directives: ``{{head}}`` is a frontmatter without defects, ``{{lines 200}}`` fills the file
up to so many lines, ``{{times 16 text {n}}}`` repeats a line, ``{{chars 99}}`` is a text of so many characters,
``{{words 39}}`` a sentence of so many words.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from markdown_it.utils import read_fixture_file

from skillgate.model.skill import Skill, SkillSource
from skillgate.skill.find import discover, read
from skillgate.skill.parse import parse
from skillgate.static import across, antipatterns, defects, layer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.finding import CatalogueRule, Rule

TABLES = Path(__file__).parent
DIRECTORY = "sample-skill"
HEAD = f"""\
---
name: {DIRECTORY}
description: Fills PDF forms and checks what stands in them. Use when the user has a form, a scan or an empty template.
---
"""
_FILE = re.compile(r"^=== (\S.*)\n", re.MULTILINE)
_TIMES = re.compile(r"^\{\{times (\d+) (.*)\}\}$", re.MULTILINE)
_CHARS = re.compile(r"\{\{chars (\d+)\}\}")
_WORDS = re.compile(r"\{\{words (\d+)\}\}")
_LINES = re.compile(r"^\{\{lines (\d+)\}\}\n", re.MULTILINE)
_REPEAT = re.compile(r"\{\{repeat (\d+) (.+)\}\}")
_FILL = re.compile(r"^\{\{fill (\d+)\}\}$", re.MULTILINE)
_WIDE = re.compile(r"^\{\{wide (\d+)\}\}$", re.MULTILINE)
_BYTES = re.compile(r"^\{\{bytes (\d+)\}\}$", re.MULTILINE)
_SENTENCE = "this is what one has to know of it before the first of the steps is taken and all of them are in the list "


_PASSAGE = (
    "this is what one has to know of a form before the first page is opened and the fields are read in order "
    "since an empty template gives no hint about its own size while a scan may hide every name that somebody "
    "wrote by hand with a pen near the border so we keep both copies until all of it has been compared against "
    "the list which came along in another mail or was printed by the office for whoever signs last and never sees "
    "the others again after that day because their desk is in a different town where nobody reads what does not "
    "fit on one sheet of paper unless it was sent twice to them "
)
_LONG = 2_000
_ORDERS = ("Fill the", "Read every", "Check its", "Keep our", "Send their")
_FIELDS = (
    *("name", "street", "town", "country", "birth", "tax", "bank", "school", "doctor", "parent", "child", "sister"),
    *("garden", "vehicle", "animal", "policy", "claim", "damage", "witness", "police", "court", "lawyer", "judge"),
    *("harbour", "vessel", "captain", "cargo", "customs", "border", "visa", "ticket", "hotel", "airport"),
)


class Case(NamedTuple):
    """One case of a table; ``line`` is where it stands in the file."""

    room: str
    check: str
    line: int
    title: str
    source: str
    expected: tuple[str, ...]

    @property
    def label(self) -> str:
        """Name the case, for the test's id."""
        return f"{self.check}:{self.line} {self.title}"


def declared(room: str) -> dict[str, Rule | CatalogueRule]:
    """Load every rule of a kind, by the name of its table."""
    if room == "rules":
        return {name: layer.rule(name) for name in layer.RULES.names()}
    tables: dict[str, Sequence[Rule | CatalogueRule]] = {
        "antipatterns": antipatterns.RULES,
        "defects": defects.DEFECTS,
        "judged": defects.JUDGED,
        "across": across.RULES,
    }
    return {rule.id.lower(): rule for rule in tables[room]}


def tables(room: str) -> dict[str, tuple[Case, ...]]:
    """Read every table of a room, by the name of its check."""
    return {path.stem: _cases(room, path) for path in sorted((TABLES / room).glob("*.md"))}


def _cases(room: str, path: Path) -> tuple[Case, ...]:
    return tuple(
        Case(room, path.stem, line, title, source, tuple(expected.splitlines()))
        for line, title, source, expected in read_fixture_file(path)
    )


def skill_of(case: Case, tmp_path: Path) -> Skill:
    """Write a case's files to disk, find the skill, read and parse it."""
    directory = write(case.source, tmp_path, literal=case.title.endswith("(bytes)"))
    return parsed(directory)


def parsed(directory: Path) -> Skill:
    """Find, read and parse the skill in a directory."""
    root = next(root for root in discover([str(directory)]).roots if root.name == directory.name)
    source = read(root)
    assert isinstance(source, SkillSource), source
    return parse(source)


def write(source: str, tmp_path: Path, *, literal: bool = False) -> Path:
    """Write the files that an input describes below ``tmp_path``; the skill's directory is returned."""
    directory = tmp_path / "skills" / DIRECTORY
    directory.mkdir(parents=True)
    if literal:
        data = ast.literal_eval(source.strip())
        assert isinstance(data, bytes)
        (directory / "SKILL.md").write_bytes(data)
        return directory
    main, *rest = _FILE.split(source)
    name = "SKILL.md"
    if not main and rest and rest[0].lower() == "skill.md":
        name, main, *rest = rest
    (directory / name).write_text(expand(main), encoding="utf-8", newline="")
    for path, text in zip(rest[::2], rest[1::2], strict=True):
        path, arrow, target = path.partition(" -> ")
        place = directory / path
        (place if path.endswith("/") else place.parent).mkdir(parents=True, exist_ok=True)
        if arrow:
            place.unlink(missing_ok=True)
            place.symlink_to(target)
        elif not path.endswith("/"):
            place.write_text(expand(text), encoding="utf-8", newline="")
    return directory


def expand(text: str) -> str:
    """Replace the directives of a text."""
    text = text.replace("{{head}}\n", HEAD)
    text = _TIMES.sub(_repeated, text)
    text = _CHARS.sub(lambda match: _cut(int(match[1])), text)
    text = _worded(text)
    text = _REPEAT.sub(lambda match: match[2] * int(match[1]), text)
    text = _FILL.sub(lambda match: f"name: {DIRECTORY}\nnotes: ".ljust(int(match[1]), "x"), text)
    text = _WIDE.sub(lambda match: f"name: {DIRECTORY}\nnotes: ".ljust(int(match[1]), "文"), text)
    text = _BYTES.sub(lambda match: _bytes(int(match[1]) - len(text.encode()) + len(match[0])), text)
    found = _LINES.search(text)
    if found:
        missing = int(found[1]) - (len(text.splitlines()) - 1)
        assert missing >= 0, "the file is longer than {{lines}} asks for"
        text = text[: found.start()] + "".join(_filler(missing)) + text[found.end() :]
    return text


def _repeated(match: re.Match[str]) -> str:
    line = match[2].replace("\\n", "\n")
    return "\n".join(line.replace("{n}", str(number + 1)) for number in range(int(match[1])))


def _worded(text: str) -> str:
    """Write the sentences of so many words, each with other words than the one before: repetition is filler."""
    words = _PASSAGE.split() * 20
    used = 0

    def written(match: re.Match[str]) -> str:
        nonlocal used
        used += int(match[1])
        return " ".join(words[used - int(match[1]) : used])

    return _WORDS.sub(written, text)


def _filler(count: int) -> list[str]:
    """Write lines that are no filler to the static layer: no two have the same phrase."""
    size = len(_FIELDS)
    pairs = ((number % size, (number // size + number) % size - 1) for number in range(count))
    return [f"{_ORDERS[(one + two) % len(_ORDERS)]} {_FIELDS[one]} {_FIELDS[two]} form.\n" for one, two in pairs]


def _cut(count: int) -> str:
    text = _SENTENCE * (count // len(_SENTENCE) + 1)
    if count > _LONG:  # nothing that the static layer takes for repetition
        text = " ".join(line.strip() for line in _filler(count // 20))
    text = text[:count]
    return text[:-1] + "x" if text.endswith(" ") else text


def _bytes(count: int) -> str:
    line = "x" * 79 + "\n"
    return (line * (count // len(line) + 1))[:count]
