"""What checks look for in a parsed skill: a section, a sentence, a file, a field that could not be read.

Patterns are lower-case and meet lower-cased text: that is cheaper to compile than patterns that ignore case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from skillgate.model.score import Evidence, Measured
from skillgate.model.skill import BETWEEN_BLOCKS, Skill, TextBlock
from skillgate.skill.frontmatter import split

MIN_PROSE_WORDS = 40  # below this a skill says too little to be credited with anything by default
EXCERPT = 60
_SENTENCE_END = re.compile(r"[.!?](?=\s)")


class Place(NamedTuple):
    """Where something was found, with a short excerpt of it."""

    text: str
    line: int


def heading(skill: Skill, pattern: re.Pattern[str]) -> Place | None:
    """Find the first heading below the title that matches and whose section holds something."""
    for item in skill.headings:
        if item.level > 1 and item.counts and pattern.search(item.text.lower()):
            return Place(excerpt(item.text), item.line)
    return None


def first_sentence(skill: Skill, pattern: re.Pattern[str]) -> Place | None:
    """Find the first sentence of prose that matches; the prose is searched once, so time stays linear."""
    match = pattern.search(skill.prose)
    return None if match is None else sentence_at(skill, match.start())


def sentence_at(skill: Skill, offset: int) -> Place:
    """Return the sentence around an offset of ``skill.prose``."""
    start = 0
    for block in skill.blocks:
        if not block.prose:
            continue
        lowered = block.text.lower()
        if offset <= start + len(lowered):
            return _sentence(block, lowered, offset - start)
        start += len(lowered) + len(BETWEEN_BLOCKS)
    raise ValueError(f"{offset} is no place in the prose")


def _sentence(block: TextBlock, lowered: str, offset: int) -> Place:
    parts = sentences(lowered)
    sentence, begins = next((part for part in parts if part[1] + len(part[0]) > offset), (lowered, 0))
    line = block.line + lowered.count("\n", 0, max(offset, 0))
    return Place(text=excerpt(block.text[begins : begins + len(sentence)]), line=line)


def excerpt(text: str) -> str:
    """Shorten a text to one line of at most 60 characters."""
    flat = " ".join(text.replace("◌", "`…`").split())
    return flat if len(flat) <= EXCERPT else flat[: EXCERPT - 1].rstrip() + "…"


def sentences(text: str) -> Iterator[tuple[str, int]]:
    """Split at ``.``, ``!`` or ``?`` before white space; each sentence with its offset."""
    start = 0
    for match in _SENTENCE_END.finditer(text):
        yield text[start : match.end()], start
        start = match.end()
    if start < len(text):
        yield text[start:], start


def linked_files(skill: Skill, files: frozenset[str]) -> int:
    """Count those of the files that the skill links or names, themselves or by a directory they lie in."""
    return sum(1 for path in files if path in skill.linked or not skill.linked.isdisjoint(_directories(skill, path)))


def _directories(skill: Skill, path: str) -> Iterator[str]:
    directory = path.rpartition("/")[0]
    while directory and directory != skill.root.directory:
        yield directory
        directory = directory.rpartition("/")[0]


_DIRECTIVE = re.compile(r"(?<![\w-])_?(?:MUST|NEVER|ALWAYS)_?(?![\w-])")


def directives(skill: Skill) -> tuple[Place, ...]:
    """Find every MUST, NEVER and ALWAYS in capitals in the text of the body: not in headings, code or comments."""
    found = []
    for block in skill.blocks:
        if "MUST" not in block.text and "NEVER" not in block.text and "ALWAYS" not in block.text:
            continue
        line, start = block.line, 0
        for match in _DIRECTIVE.finditer(block.text):
            line += block.text.count("\n", start, match.start())
            start = match.start()
            found.append(Place(text=match[0].strip("_"), line=line))
    return tuple(found)


def without_body(base: float = 0.0) -> Measured:
    """Score a skill without instructions: 0, where ``base`` is what any instructions at all would have earned."""
    evidence = Evidence(text="no instructions below the frontmatter", points=0.0, possible=base, advice="body")
    return Measured(score=0.0, evidence=(evidence,))


def base(skill: Skill, points: float, text: str) -> Evidence:
    """Return what a sub-check starts at: its base, or 0 for a skill with less than 40 words of prose."""
    words = skill.prose_words
    if words >= MIN_PROSE_WORDS:
        return Evidence(text=text, points=points, possible=points)
    text = f"{words} words of prose; {MIN_PROSE_WORDS} are needed to say anything"
    return Evidence(text=text, points=0.0, possible=points, advice="body")


def needs_no_trigger(skill: Skill) -> bool:
    """Whether a model never has to find the skill by its description: only the user, or a path, starts it."""
    values = skill.frontmatter.values
    by_hand = values.get("disable-model-invocation")
    return by_hand is True or str(by_hand).strip().lower() == "true" or bool(values.get("paths"))


_TEXTS = ("name", "description", "when_to_use")


def lost(skill: Skill) -> frozenset[str]:
    """Return the fields that points rest on and whose values are not known: unreadable, of a wrong type or repeated."""
    head = skill.frontmatter
    if not head.valid:
        return frozenset(_TEXTS if is_absent(skill) else (*_TEXTS, "metadata"))
    found = {key for key in _TEXTS if not isinstance(head.values.get(key) or "", str)}
    repeated = {key.partition(".")[0] for key in head.repeated}
    return frozenset(found | repeated & {*_TEXTS, "metadata"})


def is_absent(skill: Skill) -> bool:
    """Whether the file has no frontmatter, or an empty one."""
    cut = split(skill.documents[0].text)
    missing = cut.problem is not None and cut.problem.rule == "frontmatter_missing"
    return missing or (cut.yaml is not None and not cut.yaml.strip())
