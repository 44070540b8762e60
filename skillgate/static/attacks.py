"""Where a document speaks of attacks: what it shows there is no instruction to a model.

It does so in a skill about the security of models, below a heading about attacks, and in a list that is announced so.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from skillgate.model.skill import Document, Skill

# Words by which a heading, or the text before a list, announces attacks; of injections, only prompt injection.
ATTACKS = (
    r"\b(?:prompt|instruction|command|sql|code|script|indirect)[- ]inject|\A\W*injections?\W*\Z"
    r"|\binjection (?:attack|attempt|pattern|defen[cs]e|detect|test|risk|payload|example)"
    r"|jailbreak|\battack|adversar|malicious|poison|\bthreat|\bexploit|red.?team|untrusted|guardrail|hostile|manipulat"
)
_TEXTS = (
    r"[^.]{0,60}\b(?:phrases?|patterns?|texts?|wording|strings?|instructions?|signs?|attempts?|sentences?|keywords?)"
)
_LEAD = (
    rf"{ATTACKS}|\b(?:look|watch|scan|search|check|looking|watching) (?:out )?for\b{_TEXTS}"
    rf"|\bphrases? (?:like|such as)|\b(?:detect|flag|reject|refuse|block|ignore)s?\b{_TEXTS}|red flags?|suspicious"
    r"|(?:never|do not|don't|must not|should not|avoid)"
    r"(?: (?:do|say|write|follow|obey|accept|any|of|these|this|the|following|things?|to))*\W*\Z"
)
_WHO = r"(?:llms?|ai|agents?|prompts?|skills?|mcp|chatbots?)"
_ABOUT = (
    r"prompt.{0,2}inject|jailbreak|red.?team|instruction.overrid|adversarial (?:prompt|input|attack|test)"
    rf"|\b(?:{_WHO}|models?)[- ](?:\w+[- ]){{0,2}}"
    r"(?:security|safety|attack|threat|vulnerabilit|poison|scann|exploit)"
    rf"|\b(?:security|attacks?|malicious|scan\w*|audit\w*|vulnerabilit\w+|guardrails?)\b[^.]{{0,40}}\b{_WHO}\b"
)
_ITEM = r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]"
_LEAD_LENGTH = 300  # characters of those words
LIST_LINES = 40  # the longest list or block below words that announce attacks


def is_about_attacks(skill: Skill) -> bool:
    """Whether a skill's name or description says that it is about attacks on models."""
    about = f"{skill.frontmatter.text('name')}. {skill.frontmatter.text('description')}".lower()
    return re.search(_ABOUT, about) is not None


class Subjects:
    """Whether a line of a document is about attacks, by the headings above it or the words before its list."""

    def __init__(self, skill: Skill, document: Document) -> None:
        self._all = is_about_attacks(skill)
        self._headings = [heading.line for heading in document.headings]
        self._announced = list(_announced(document))
        below = sorted(_below_leads(document))
        self._firsts = [first for first, _ in below]
        self._lasts = list(accumulate((last for _, last in below), max))

    def at(self, line: int) -> bool:
        """Whether the skill, a heading above a line or the words right before it announce attacks."""
        lead = bisect_right(self._firsts, line) - 1
        if self._all or (lead >= 0 and line <= self._lasts[lead]):
            return True
        above = bisect_right(self._headings, line) - 1
        return above >= 0 and self._announced[above]


def _below_leads(document: Document) -> Iterator[tuple[int, int]]:
    """Yield the first and last line of each list or block directly below words that announce attacks."""
    lines = document.text.split("\n")
    for block in document.blocks:
        text = block.text.rstrip(" \n*_")
        if text.endswith((":", "：")) and re.search(_LEAD, text[-_LEAD_LENGTH:].lower().replace("\n", " ")):
            row = block.line + text.count("\n")
            lead = lines[row - 1] if row <= len(lines) else ""
            last = _last_below(lines, row, _depth(lead) if re.match(_ITEM, lead) else -1)
            yield row + 1, last


def _last_below(lines: list[str], row: int, depth: int) -> int:
    """Find the last line of the list or block that begins in a row, counted from 0, and is indented by more."""
    end = min(len(lines), row + LIST_LINES)
    while row < end and not lines[row].strip():
        row += 1
    if row >= end or _depth(lines[row]) <= depth:
        return row
    listed, first, blank = re.match(_ITEM, lines[row]), _depth(lines[row]), False
    last = row + 1
    for index in range(row + 1, end):
        line = lines[index]
        if not line.strip():
            if not listed:
                break
            blank = True
            continue
        inside = _depth(line) > first or (_depth(line) == first and re.match(_ITEM, line))
        if listed and not inside and (blank or line.lstrip().startswith("#")):
            break
        blank, last = False, index + 1
    return last


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" \t>"))


def _announced(document: Document) -> Iterator[bool]:
    """Yield for each heading whether it, or a heading above it, announces attacks."""
    stack: list[tuple[int, bool]] = []
    for heading in document.headings:
        while stack and stack[-1][0] >= heading.level:
            stack.pop()
        above = bool(stack) and stack[-1][1]
        stack.append((heading.level, above or re.search(ATTACKS, heading.text.lower()) is not None))
        yield stack[-1][1]
