"""What the method's original implementation counts in a skill, term by term, restated from a description of its rules.

Each function gives the points of one term of one sub-check, so that a difference from skillgate's score can be followed
to the term it comes from. The rules look at the raw text, which is where most differences arise. The functions take the
text as an argument, so that the same rule can be asked of the raw file and of its prose alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import yaml

if TYPE_CHECKING:
    from pathlib import Path

FENCE = "```"
SUB_CHECKS = (
    "frontmatter_quality",
    "orchestration_wiring",
    "progressive_disclosure",
    "structural_completeness",
    "token_efficiency",
    "ecosystem_coherence",
)
_TRIGGER = re.compile(
    r"\b(?:should be )?used? (?:this skill )?(?:immediately )?(?:when|after|before|whenever)\b|\buse proactively\b"
    r"|\btriggers? (?:when|on)\b|\bauto-loads? (?:when|on)\b",
    re.IGNORECASE,
)
_AUTOMATIC = re.compile(r"\b(?:automatically|always use|trigger|invoke)\b", re.IGNORECASE)
_USE_CASE = re.compile(
    r",\s*(?:or\s+)?(?:when|for|during|implementing|building|creating|debugging|testing|deploying|configuring"
    r"|setting up)\b",
    re.IGNORECASE,
)
_CONTEXT = re.compile(r"\b(?:when|for|during)\s+\w+ing\b", re.IGNORECASE)
_OUTPUT = re.compile(r"\boutput\b.*\bformat\b|\bformat\b.*\boutput\b|\breturns?\b.*\bjson\b")
_RETURNS = re.compile(r"\b(?:returns?|produces?|outputs?|generates?)\b")
_INPUT = re.compile(r"\b(?:input|receives?|accepts?|parameters?|args?)\b")
_ORCHESTRATES = re.compile(r"\b(?:orchestrat|coordinat|dispatch)")
_HEADING = re.compile(r"^#{2,3} ", re.MULTILINE)
_LANGUAGE = re.compile(r"```(\w+)")
_EXAMPLES = ("## example", "### example", "## usage")
_TROUBLE = ("## troubleshoot", "## common issue", "## faq")
_DECISION = re.compile(r"decision|when to use|comparison|tradeoff")
_DIRECTIVE = re.compile(r"\b(?:MUST|NEVER|ALWAYS)\b")
_MENTION = re.compile(r"(?<![\w-])(?:skills?|sub-skills)/[a-z0-9-]+(?:/[a-z0-9-]+)*")
_RELATED = re.compile(r"\b(?:related|see also|companion|complement\w*)\b", re.IGNORECASE)


class Document(NamedTuple):
    """A skill as the original sees it: ``raw`` is the whole file, ``body`` what follows the second ``---``."""

    directory: Path
    raw: str
    body: str
    name: str
    description: str

    @property
    def lower(self) -> str:
        """Give the whole file in lower case."""
        return self.raw.lower()

    @property
    def lines(self) -> int:
        """Count the pieces between line feeds, one more than lines in a file that ends with one."""
        return self.raw.count("\n") + 1

    @property
    def fences(self) -> int:
        """Count the triple backticks, opening and closing ones alike."""
        return self.raw.count(FENCE)

    def files(self, folder: str) -> tuple[Path, ...]:
        """List the plain files directly in a folder of the skill."""
        place = self.directory / folder
        return tuple(item for item in sorted(place.iterdir()) if item.is_file()) if place.is_dir() else ()


def read(directory: Path) -> Document:
    """Read a skill's main file as the original does: frontmatter between the first two ``---``, wherever they are."""
    raw = (directory / "SKILL.md").read_text(encoding="utf-8")
    pieces = raw.split("---", 2)
    framed = raw.startswith("---") and len(pieces) == 3
    try:
        values = yaml.safe_load(pieces[1]) if framed else None
    except yaml.YAMLError:
        values = None
    values = values if isinstance(values, dict) else {}
    name, description = values.get("name", directory.name), values.get("description", "")
    return Document(
        directory=directory,
        raw=raw,
        body=pieces[2] if framed else raw,
        name=name if isinstance(name, str) else "",
        description=description.strip() if isinstance(description, str) else "",
    )


def step(count: float, *bands: tuple[float, float]) -> float:
    """Return the points of the first band with a minimum that is reached, else 0."""
    return next((points for least, points in bands if count >= least), 0.0)


def name(document: Document) -> float:
    """Score the name: one that equals its directory is worth less."""
    return 0.0 if not document.name else 0.10 if document.name == document.directory.name else 0.15


def length(characters: int) -> float:
    """Score the length of the description."""
    return step(characters, (100, 0.25), (60, 0.20), (30, 0.15), (10, 0.05))


def triggers(text: str) -> bool:
    """Return whether a trigger phrase of the original's list is in the text."""
    return bool(_TRIGGER.search(text))


def proactive(text: str) -> bool:
    """Return whether the word "proactively" is in the text."""
    return "proactively" in text.lower()


def automatic(text: str) -> bool:
    """Return whether one of the words for automatic use is in the text."""
    return bool(_AUTOMATIC.search(text))


def use_cases(text: str) -> float:
    """Score the commas that a word of a fixed list follows."""
    return step(len(_USE_CASE.findall(text)), (3, 0.20), (1, 0.10))


def context(text: str) -> bool:
    """Return whether "when", "for" or "during" is before a word in -ing, whatever the word."""
    return bool(_CONTEXT.search(text))


def output_format(text: str) -> bool:
    """Return whether one line has "output" and "format", or "return" and "json"."""
    return bool(_OUTPUT.search(text.lower()))


def returns(text: str) -> bool:
    """Return whether a word for giving something back is in the text."""
    return bool(_RETURNS.search(text.lower()))


def inputs(text: str) -> bool:
    """Return whether a word for being given something is in the text."""
    return bool(_INPUT.search(text.lower()))


def orchestrates(text: str) -> bool:
    """Return whether a word begins orchestrat-, coordinat- or dispatch."""
    return bool(_ORCHESTRATES.search(text.lower()))


def size(lines: int) -> float:
    """Score the number of lines."""
    return 0.15 if lines > 800 else 0.40 if lines > 600 else 0.60 if lines >= 200 else 0.50 if lines >= 100 else 0.20


def sections(count: int) -> float:
    """Score a number of second- and third-level headings."""
    return step(count, (6, 0.20), (4, 0.15), (2, 0.10))


def headings(text: str) -> int:
    """Count the lines that begin with two or three number signs and a blank, in code too."""
    return len(_HEADING.findall(text))


def blocks(count: int) -> float:
    """Score a number of code blocks."""
    return step(count, (5, 0.20), (3, 0.15), (1, 0.10))


def languages(count: int) -> float:
    """Score a number of distinct languages."""
    return step(count, (3, 0.15), (2, 0.10))


def tags(text: str) -> frozenset[str]:
    """Collect the words that directly follow triple backticks."""
    return frozenset(_LANGUAGE.findall(text))


def examples(text: str) -> bool:
    """Return whether a heading of the original's list of example sections is in the text."""
    return any(word in text.lower() for word in _EXAMPLES)


def troubleshooting(text: str) -> bool:
    """Return whether a heading of the original's list of troubleshooting sections is in the text."""
    return any(word in text.lower() for word in _TROUBLE)


def table(text: str) -> bool:
    """Return whether a line has three vertical bars."""
    return any(line.count("|") >= 3 for line in text.split("\n"))


def decision(text: str) -> bool:
    """Return whether a word for a decision aid is in the text."""
    return bool(_DECISION.search(text.lower()))


def directives(text: str) -> int:
    """Count MUST, NEVER and ALWAYS."""
    return len(_DIRECTIVE.findall(text))


def density(count: int, lines: int) -> float:
    """Score the directives a line, as a deduction."""
    ratio = count / max(1, lines)
    return -0.4 if ratio > 0.5 else -0.2 if ratio > 0.2 else -0.1 if ratio > 0.1 else 0.0


def repetition(lines: list[str]) -> float:
    """Score the share of repeated lines, as a deduction; blank lines and those that begin with ``---`` are left out."""
    kept = [line for item in lines if (line := item.strip()) and not line.startswith("---")]
    return -0.4 * (1 - len(set(kept)) / len(kept)) if kept else 0.0


def mentions(text: str) -> int:
    """Count what looks like a path to a skill, in running text too, whether or not anything is there."""
    return len(_MENTION.findall(text))


def neighbours(count: int) -> float:
    """Score a number of references to other skills."""
    return min(0.25, 0.08 * count)


def related(text: str) -> bool:
    """Return whether a word for a neighbour is in the text."""
    return bool(_RELATED.search(text))


def scores(document: Document) -> dict[str, float]:
    """Compute the original's six sub-checks."""
    raw, body, described = document.raw, document.body, document.description
    pushed = (
        0.25 * triggers(described)
        + 0.15 * proactive(described)
        + 0.10 * automatic(described)
        + use_cases(described)
        + 0.15 * context(described)
        + 0.10 * (len(described) >= 40)
    )
    wired = 0.70 + 0.10 * output_format(raw) + 0.05 * returns(raw) + 0.10 * inputs(raw) + 0.05 * (document.fences >= 2)
    bonus = 0.25 if document.lines > 400 else 0.15
    found = {
        "frontmatter_quality": name(document) + length(len(described)) + 0.60 * pushed,
        "orchestration_wiring": wired - 0.15 * orchestrates(raw),
        "progressive_disclosure": size(document.lines)
        + bonus * bool(document.files("references"))
        + 0.15 * bool(document.files("assets")),
        "structural_completeness": sections(headings(body))
        + blocks(document.fences)
        + languages(len(tags(raw)))
        + 0.15 * examples(body)
        + 0.15 * troubleshooting(body)
        + 0.10 * table(raw)
        + 0.05 * decision(raw),
        "token_efficiency": 1.0 + density(directives(raw), document.lines) + repetition(raw.split("\n")),
        "ecosystem_coherence": 0.50 + neighbours(mentions(body)) + 0.25 * related(raw),
    }
    return {key: min(1.0, max(0.0, value)) for key, value in found.items()}
