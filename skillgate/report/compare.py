"""What differs between two results of the same depth and scoring version."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.model.documents import Comparison, DimensionChange
from skillgate.model.report import Tool
from skillgate.model.score import Depth, Dimension

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.finding import Finding
    from skillgate.model.report import DimensionScore, SkillResult


def compare(a: SkillResult, b: SkillResult, *, version: str, digest: str) -> Comparison:
    """Set two results side by side; a dimension that one side did not measure has no change."""
    scores = a.composite.score, b.composite.score
    known = [score for score in scores if score is not None]
    return Comparison(
        a=a,
        b=b,
        change=round(known[1] - known[0], 2) if len(known) == 2 else None,
        dimensions={key: _change(a.dimensions.get(key), b.dimensions.get(key)) for key in Dimension},
        fixed=_missing_from(a, b),
        new=_missing_from(b, a),
        hints=tuple(_hints(a, b)),
        depth=Depth.QUICK,
        coverage=min(a.coverage, b.coverage),
        config_digest=digest,
        tool=Tool(version=version),
    )


def _change(a: DimensionScore | None, b: DimensionScore | None) -> DimensionChange:
    before, after = (None if side is None else side.score for side in (a, b))
    if before is None or after is None:
        return DimensionChange(a=before, b=after, change=None, better=None)
    change = round(after - before, 4)
    return DimensionChange(a=before, b=after, change=change, better="b" if change > 0 else "a" if change < 0 else None)


def _missing_from(one: SkillResult, other: SkillResult) -> tuple[Finding, ...]:
    """List the findings of one side that the other does not have, whatever line they stand on."""
    left = [(finding.id, finding.message) for finding in other.findings]
    found = []
    for finding in one.findings:
        if (finding.id, finding.message) in left:
            left.remove((finding.id, finding.message))
        else:
            found.append(finding)
    return tuple(found)


def _hints(a: SkillResult, b: SkillResult) -> Iterator[str]:
    if a.coverage != b.coverage:
        yield (
            f"A was measured on {a.coverage:.0%} of the weight and B on {b.coverage:.0%}: the composites rest on"
            " different dimensions"
        )
    if 0 < _lines(b) < _lines(a) and _linked(b) > _linked(a):
        yield (
            "B has fewer lines and more linked references: quick depth counts structure in SKILL.md alone and cannot"
            " see what the moved text is worth"
        )


def _evidence(result: SkillResult, check: str) -> tuple[str, ...]:
    for layer in result.layers:
        checks = getattr(layer, "sub_checks", {})
        if check in checks:
            return tuple(item.text for item in checks[check].evidence)
    return ()


def _lines(result: SkillResult) -> int:
    return _number(r"(\d+) lines", _evidence(result, "scope_calibration"))


def _linked(result: SkillResult) -> int:
    return _number(r"(\d+) linked in references/", _evidence(result, "progressive_disclosure"))


def _number(pattern: str, texts: tuple[str, ...]) -> int:
    """Read a number out of evidence, the only place of a report that holds it; 0 where it does not."""
    found = next((match for match in (re.search(pattern, text) for text in texts) if match), None)
    return int(found[1]) if found else 0
