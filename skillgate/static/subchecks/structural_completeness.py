"""Does the skill have the parts that a reader looks for: sections, code, examples, troubleshooting, tables?

A section counts when it holds 8 words or a code block of 2 lines; a code block when it holds code; a table when it has
a row. A heading alone earns nothing, nor does one inside a code block. The order of sections is not scored.

Source: PluginEval method, sub-check structural_completeness, with each code block counted once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.model.score import Dimension, Evidence, Measured, SubCheck
from skillgate.static.signals import excerpt, heading, without_body

if TYPE_CHECKING:
    from skillgate.model.skill import Skill

_EXAMPLES = re.compile(
    r"(?<!non-)\bexamples?\b|^(?:\d+[.)]? )?(?:basic |quick |common )?usage(?: (?:patterns?|guide|notes?"
    r"|instructions?))?\W*$|\bquick ?start\b|\bhow to use\b|\bwalk-?through\b"
    r"|\bsample (?:input|output|code|usage|session)s?\b"
)
_TROUBLE = re.compile(
    r"\b(?:troubleshoot\w*|faq|frequently asked|edge cases?|pitfalls?|gotchas?|failure modes?|limitations"
    r"|(?:common|known) (?:\w+ )?(?:issues?|problems?|errors?|mistakes?|failures?|traps?)"
    r"|when (?:things|it) (?:go|goes|fails?))\b|^(?:\d+[.)]? )?error handling\W*$"
)
_DECISION = re.compile(
    r"\b(?:when (?:not )?to (?:use|choose|pick)|use when|best for|compar(?:ison|ing)|trade-?offs?|choos(?:e|ing)|versus"
    r"|vs|decision (?:tree|matrix|guide|table|aid|framework|criteria|flow\w*|points?))\b"
)


def measure(skill: Skill) -> Measured:
    """Score in [0, 1]; 0 without a body."""
    if not skill.has_body:
        return without_body()
    sections = sum(1 for item in skill.headings if item.level in (2, 3) and item.counts)
    blocks = [block for block in skill.code_blocks if block.lines]
    languages = {block.language for block in blocks if block.language}
    return Measured.total(
        (
            _steps(sections, ((6, 0.20), (4, 0.15), (2, 0.10)), "sections that hold something", "sections"),
            _steps(len(blocks), ((5, 0.20), (3, 0.15), (1, 0.10)), "code blocks", "code"),
            _steps(len(languages), ((3, 0.15), (2, 0.10)), "languages of code blocks", "code"),
            _section(skill, _EXAMPLES, 0.15, "an Examples or Usage section", "examples"),
            _section(skill, _TROUBLE, 0.15, "a section on troubleshooting or edge cases", "troubleshooting"),
            _table(skill),
            _decision(skill),
        )
    )


def _steps(count: int, steps: tuple[tuple[int, float], ...], what: str, advice: str) -> Evidence:
    points = next((points for least, points in steps if count >= least), 0.0)
    most = steps[0][1]
    return Evidence(text=f"{count} {what}", points=points, possible=most, advice=None if points == most else advice)


def _section(skill: Skill, pattern: re.Pattern[str], points: float, what: str, advice: str) -> Evidence:
    place = heading(skill, pattern)
    if place is None:
        thin = next((item for item in skill.headings if item.level > 1 and pattern.search(item.text.lower())), None)
        text = f"no {what.partition(' ')[2]}" if thin is None else f"“{excerpt(thin.text)}” holds too little"
        line = None if thin is None else thin.line
        return Evidence(text=text, points=0.0, possible=points, line=line, advice=advice)
    return Evidence(text=f"section “{place.text}”", points=points, possible=points, line=place.line)


def _table(skill: Skill) -> Evidence:
    if not skill.table_headers:
        return Evidence(text="no table", points=0.0, possible=0.10, advice="table")
    return Evidence(text="a table", points=0.10, possible=0.10, line=skill.table_headers[0][0])


def _decision(skill: Skill) -> Evidence:
    place = heading(skill, _DECISION)
    lines = [place.line] if place else []
    lines += [line for line, cells in skill.table_headers if any(_DECISION.search(cell.lower()) for cell in cells)]
    if not lines:
        return Evidence(text="no decision aid", points=0.0, possible=0.05, advice="decision")
    return Evidence(text="a decision aid", points=0.05, possible=0.05, line=min(lines))


SUBCHECK = SubCheck(
    dimension=Dimension.STRUCTURAL_COMPLETENESS,
    weight=0.10,
    summary="sections, code blocks, examples, troubleshooting, tables",
    measure=measure,
)
