"""Does the text spend its tokens well: few commands in capitals, no line said twice?

It starts at 1 and loses up to 0.40 for the density of MUST, NEVER and ALWAYS (in prose, per line of the file) and up to
0.40 for repeated prose lines, compared after folding white space, case and list marker. Code does not count, so that
closing brackets are no repetition. Under 40 words of prose it starts at 0.

Source: PluginEval method, sub-check token_efficiency, counted over prose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.score import Dimension, Evidence, Measured, SubCheck
from skillgate.static.signals import base, directives

if TYPE_CHECKING:
    from skillgate.model.skill import Skill

DENSITY = ((0.5, 0.40), (0.2, 0.20), (0.1, 0.10))
REPETITION = 0.40


def measure(skill: Skill) -> Measured:
    """Score in [0, 1]; 0 without a body."""
    start = base(skill, 1.0, "every line earns its place until shown otherwise")
    if not start.points:
        return Measured(score=0.0, evidence=(start,))
    return Measured.total((start, _density(skill), _repetition(skill)))


def _density(skill: Skill) -> Evidence:
    found = directives(skill)
    density = len(found) / max(1, skill.lines)
    loss = next((loss for above, loss in DENSITY if density > above), 0.0)
    text = f"{len(found)} MUST, NEVER or ALWAYS in {skill.lines} lines"
    line = found[0].line if found else None
    return Evidence(text=text, points=-loss or 0.0, possible=0.0, line=line, advice="directives" if loss else None)


def _repetition(skill: Skill) -> Evidence:
    seen: set[str] = set()
    repeated: list[int] = []
    for line, folded in skill.prose_lines:
        if folded in seen:
            repeated.append(line)
        seen.add(folded)
    loss = REPETITION * len(repeated) / len(skill.prose_lines) if skill.prose_lines else 0.0
    text = f"{len(repeated)} of {len(skill.prose_lines)} lines of prose say what an earlier one says"
    first = repeated[0] if repeated else None
    return Evidence(text=text, points=-loss or 0.0, possible=0.0, line=first, advice="repeats" if repeated else None)


SUBCHECK = SubCheck(
    dimension=Dimension.TOKEN_EFFICIENCY,
    weight=0.10,
    summary="few commands in capitals, no repeated lines",
    measure=measure,
)
