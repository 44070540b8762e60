"""The static layer of one skill, from its bytes. Only used for skills that are not cached."""

from __future__ import annotations

import json
from bisect import bisect_left
from functools import partial
from itertools import islice
from math import inf
from typing import TYPE_CHECKING

from skillgate.model.finding import Assessment, Detail, Listing, SkillTexts, assessment_text
from skillgate.model.skill import digest
from skillgate.scoring import composite, result
from skillgate.skill.parse import parse
from skillgate.skill.walk import WatchedTree
from skillgate.static import layer
from skillgate.static.rules import SECRETS
from skillgate.static.text import needs_no_trigger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skillgate.model.skill import Skill, SkillSource
    from skillgate.static.layer import StaticResult

_USES = {
    *("when to use", "when you should use", "when should you use", "when should i use", "use when", "applies when"),
    *("when to apply", "when to activate", "when to invoke", "when to load", "when to reach for"),
    *("use cases", "common use cases", "ideal use cases", "typical use cases", "main use cases"),
    *("trigger", "triggers", "trigger conditions", "trigger phrases"),
}
_NAMES_FOR_IT = {"skill", "plugin", "workflow", "guide", "this", "it", "the"}
_NOT_FOR = {
    *("not", "no", "never", "don't", "doesn't", "isn't", "cannot"),
    *("avoid", "skip", "instead", "without", "unless"),
}
SHORT_LINES = 100  # below it the method's size band gives 0.20, and the skill may belong to a neighbour
_MOST_USES = 40
_USE_CHARACTERS = 400
_line = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))  # as in entries: surrogates stay


def assess(source: SkillSource, clock: Callable[[], int], *, optional: bool = True) -> Assessment:
    """Assess one skill alone; ``clock`` returns monotonic nanoseconds, ``optional`` includes opt-in rules."""
    started = clock()
    skill = parse(source)
    static = layer.run(skill, optional=optional)
    head, root = skill.frontmatter, source.root
    cut = len(root.directory) + 1 if root.directory else 0
    checks = layer.subchecks() if static.scores else ()
    detail = Detail(
        scores=tuple((name, check.dimension, static.scores[name]) for name, check in checks),
        layer_score=static.layer_score,
        penalised=static.penalised,
        repair=static.repair,
    )
    compared = SkillTexts(lines=skill.prose_lines, uses=tuple(_uses(skill)))
    return Assessment(
        name=_shown(head.text("name")),
        unscored=skill.unscored,
        claims=static.claims,
        waivers=tuple(waiver._replace(file=waiver.file[cut:]) for waiver in skill.waivers),
        anti_patterns=static.anti_patterns,
        no_badge=static.no_badge,
        measured={name: (measure.score, measure.reason) for name, measure in static.dimensions.items()},
        short=skill.unscored is None and skill.lines < SHORT_LINES,
        estimate=static.estimate,
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
        texts=lambda: compared,
        detail=lambda: detail,
    )


def _shown(name: str) -> str:
    """Return a skill's name for reports, without a secret."""
    if not any(word in name for word in SECRETS):
        return name
    from skillgate.static.secrets import masked  # few names look like one

    return masked(name)


def watched(source: SkillSource, clock: Callable[[], int], *, optional: bool = True) -> tuple[str, Assessment]:
    """Assess one skill as the cache would return it, and return the queries on its tree as JSON first."""
    tree = WatchedTree(source.root.tree)
    facts = assess(source._replace(root=source.root._replace(tree=tree)), clock, optional=optional)
    compared = (_line(part).encode("utf-8", "surrogatepass") for part in (facts.texts(), facts.listing))
    outside = tree.outside(source.root.directory)
    return _line(tree.questions()), facts._replace(outside=outside, mark=digest(*compared), duration_ms=0)


def entry(source: SkillSource, clock: Callable[[], int], *, optional: bool = True) -> str:
    """Assess one skill and return it as a cache entry."""
    questions, facts = watched(source, clock, optional=optional)
    return f"{questions}\n{assessment_text(facts)}"


def _recoverable(static: StaticResult) -> float:
    if not any(key for key, _ in static.penalised):
        return 0.0
    standing = result.Evaluated(
        measured=static.dimensions,
        layers=composite.layer_scores({name: measure.score for name, measure in static.dimensions.items()}),
        anti_patterns=static.penalised,
        neighbour=None,
    )
    return round(sum((item.gain for item in result.advise(standing) if item.removes), 0.0), 2)


def _uses(skill: Skill) -> Iterator[tuple[int, str]]:
    """Yield what a skill is for: lines of the sections on when to use it, except those on when not to.

    At most 40 lines, 400 characters each.
    """
    lines = (line for heading, end in _use_sections(skill) for line in _lines_on_use(skill, heading, end))
    return islice(lines, _MOST_USES)


def _use_sections(skill: Skill) -> Iterator[tuple[int, float]]:
    """Yield each section on when to use the skill, from its heading's line up to the next heading's."""
    within: int | None = None
    for index, heading in enumerate(skill.headings):
        if within is not None and heading.level <= within:
            within = None
        words = (word for word in heading.text.lower().rstrip(" :.?").split() if word not in _NAMES_FOR_IT)
        if within is None and " ".join(words) in _USES:
            within = heading.level
        if within is not None and not _says_not(heading.text):
            following = skill.headings[index + 1 : index + 2]
            yield heading.line, following[0].line if following else inf


def _says_not(text: str) -> bool:
    return any(word.strip('*_,.:;()"') in _NOT_FOR for word in text.lower().replace("’", "'").split())


def _lines_on_use(skill: Skill, start: int, end: float) -> Iterator[tuple[int, str]]:
    introduced = True
    first, last = (bisect_left(skill.blocks, line, key=lambda block: block.line) for line in (start, end))
    for block in skill.blocks[first:last]:
        if not block.prose:
            continue
        text = " ".join(block.text[:_USE_CHARACTERS].split())
        allowed = not _says_not(text)
        if text.rstrip("*_").endswith(":"):  # introduces the lines below it
            introduced = allowed
        elif allowed and introduced:
            yield block.line, text
