"""What differs between two results of the same depth and scoring version."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.model.documents import Comparison
from skillgate.model.report import Tool
from skillgate.model.score import Depth, Dimension
from skillgate.report.diff import dimension_change
from skillgate.report.judge_compared import judges_of, not_comparable, unmoved
from skillgate.report.matching import unmatched
from skillgate.report.simulated_compared import lone_scores

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.report import SkillResult


def compare(
    a: SkillResult,
    b: SkillResult,
    *,
    version: str,
    digest: str,
    depth: Depth | None = None,
    models: tuple[str, ...] | None = None,
) -> Comparison:
    """Set two results side by side; a dimension that one side did not measure has no change.

    Results from judges that were asked different questions are not compared. Then nothing has a change, and a hint that
    begins with ``inconclusive:`` says why. Without ``depth`` and ``models`` the layers of the results say what they
    are.
    """
    scores = a.composite.score, b.composite.score
    fixed, new = unmatched(a.findings, b.findings, {a.skill.path: b.skill.path})
    known = [score for score in scores if score is not None]
    differing = not_comparable(a, b)
    layers = judges_of((a, b))
    sampled_models = tuple(dict.fromkeys(model for layer in layers for model in layer.models))
    changes = {key: dimension_change(a.dimensions.get(key), b.dimensions.get(key)) for key in Dimension}
    return Comparison(
        a=a,
        b=b,
        change=round(known[1] - known[0], 2) if len(known) == 2 and not differing else None,
        dimensions={key: unmoved(item) for key, item in changes.items()} if differing else changes,
        fixed=fixed,
        new=new,
        hints=(*([differing] if differing else []), *_hints(a, b)),
        depth=depth or (Depth.STANDARD if layers else Depth.QUICK),
        coverage=min(a.coverage, b.coverage),
        config_digest=digest,
        tool=Tool(version=version),
        models=sampled_models if models is None else models,
    )


def _hints(a: SkillResult, b: SkillResult) -> Iterator[str]:
    if lone := lone_scores(a, b):
        named = ", ".join(dimension.value for dimension in lone)
        yield f"sessions measured {named} on one side only: the two scores of it rest on different layers"
    if a.coverage != b.coverage:
        sides = [f"{100 * side.coverage:.0f} %" for side in (a, b)]
        yield (
            f"A was measured on {sides[0]} of the weight and B on {sides[1]}: the composites rest on different"
            " dimensions"
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
    return _number(r"(\d+) lines", _evidence(result, "progressive_disclosure"))


def _linked(result: SkillResult) -> int:
    return _number(r"(\d+) linked in references/", _evidence(result, "progressive_disclosure"))


def _number(pattern: str, texts: tuple[str, ...]) -> int:
    """Read a number out of evidence, the only place of a report that holds it; 0 where it does not."""
    found = next((match for match in (re.search(pattern, text) for text in texts) if match), None)
    return int(found[1]) if found else 0
