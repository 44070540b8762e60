"""One skill, from its bytes to all that layer 1 knows of it. Only what was not kept from an earlier run comes here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.model.assessment import Assessment, Detail, Listing, Told
from skillgate.model.score import Dimension
from skillgate.scoring import advice, composite
from skillgate.skill.parse import parse
from skillgate.static import layer
from skillgate.static.signals import needs_no_trigger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skillgate.model.skill import Skill, SkillSource
    from skillgate.static.layer import StaticResult

_USES = (
    r"(?i)\bwhen (?:to|you|should)\b.*\b(?:use|apply|invoke|load|reach for)|\buse (?:this|when|cases?)\b|\btriggers?\b"
)


def assess(source: SkillSource, clock: Callable[[], int]) -> Assessment:
    """Judge one skill by itself.

    Args:
        source: its bytes.
        clock: monotonic nanoseconds.
    """
    started = clock()
    skill = parse(source)
    static = layer.run(skill)
    head, root = skill.frontmatter, source.root
    cut = len(root.directory) + 1 if root.directory else 0
    detail = Detail(
        scores=tuple((name, check.dimension, static.scores[name]) for name, check in layer.subchecks())
        if static.scores
        else (),
        layer_score=static.layer_score,
        penalised=static.penalised,
    )
    told = Told(lines=skill.prose_lines, uses=tuple(_uses(skill)))
    return Assessment(
        name=head.text("name"),
        unscored=skill.unscored,
        claims=static.claims,
        waivers=tuple(waiver._replace(file=waiver.file[cut:]) for waiver in skill.waivers),
        anti_patterns=static.anti_patterns,
        no_badge=static.no_badge,
        measured={name: (measure.score, measure.reason) for name, measure in static.dimensions.items()},
        short=_is_short(static),
        recoverable=0.0 if skill.unscored else _recoverable(static),
        listing=Listing(
            name=head.text("name") or root.name,
            description=head.text("description"),
            when_to_use=head.text("when_to_use"),
            listed=not needs_no_trigger(skill),
            name_line=head.line("name"),
            description_line=head.line("description"),
        ),
        duration_ms=(clock() - started) // 1_000_000,
        told=lambda: told,
        detail=lambda: detail,
    )


def _recoverable(static: StaticResult) -> float:
    standing = advice.Standing(
        measured=static.dimensions,
        layers=composite.layer_scores({name: measure.score for name, measure in static.dimensions.items()}),
        anti_patterns=static.penalised,
        neighbour=None,
    )
    return round(sum(item.gain for item in advice.advise(standing) if item.removes), 2)


def _is_short(static: StaticResult) -> bool:
    scope = static.dimensions.get(Dimension.SCOPE_CALIBRATION)
    return scope is not None and any(evidence.advice == "longer" for evidence in scope.evidence)


def _uses(skill: Skill) -> Iterator[tuple[int, str]]:
    """Give the lines of the sections that say when to use the skill."""
    for index, heading in enumerate(skill.headings):
        if not re.search(_USES, heading.text):
            continue
        ends = (later.line for later in skill.headings[index + 1 :] if later.level <= heading.level)
        end = next(ends, None)
        for block in skill.blocks:
            if block.prose and heading.line < block.line and (end is None or block.line < end):
                yield block.line, " ".join(block.text.split())
