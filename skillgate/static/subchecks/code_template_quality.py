"""Can the code blocks be copied: does each name its language, and does it parse?

The score is the share of code blocks that carry a language tag and, for Python, JSON, TOML and YAML, parse. A block
with a placeholder (`...`, `<name>`, `{{ value }}`) or a prompt (`$`, `>>>`) is a template or a transcript and no error.
Blocks of other languages count as soon as they are tagged. Without a code block nothing is measured.

Source: PluginEval method, improvement tips for code_template_quality; its own code never measured it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.score import Dimension, Evidence, Measured, SubCheck
from skillgate.static.syntax import syntax_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.skill import CodeBlock, Skill

MAX_PARSED = 1 << 18  # characters of code that are parsed in one skill; what follows counts by its tag alone


def measure(skill: Skill) -> Measured:
    """Score in [0, 1]; None when there is no code block to judge."""
    blocks = [block for block in skill.code_blocks if block.lines]
    if not blocks:
        return Measured(score=None, reason="there is no code block to judge")
    evidence = tuple(_judge_all(blocks))
    return Measured(score=sum(1 for item in evidence if item.points) / len(blocks), evidence=evidence)


def _judge_all(blocks: Sequence[CodeBlock]) -> Iterator[Evidence]:
    parsed = 0
    for block in blocks:
        parsed += len(block.code)
        yield _judge(block, 1 / len(blocks), parses=parsed <= MAX_PARSED)


def _judge(block: CodeBlock, share: float, *, parses: bool) -> Evidence:
    if not block.language:
        text = "code block without a language tag"
        return Evidence(text=text, points=0.0, possible=share, line=block.line, advice="tags")
    error = syntax_error(block.language, block.code) if parses else None
    if error is not None:
        text = f"{block.language} does not parse: {error}"
        return Evidence(text=text, points=0.0, possible=share, line=block.line, advice="syntax")
    return Evidence(text=f"{block.language} block", points=share, possible=share, line=block.line)


SUBCHECK = SubCheck(
    dimension=Dimension.CODE_TEMPLATE_QUALITY,
    weight=0.0,
    summary="code blocks that name their language and parse",
    measure=measure,
)
