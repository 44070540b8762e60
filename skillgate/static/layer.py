"""Layer 1: every sub-check, anti-pattern and rule over one parsed skill."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.assessment import Repair
from skillgate.model.finding import Claim, Severity
from skillgate.model.score import Dimension
from skillgate.registry import Room
from skillgate.scoring.composite import penalty
from skillgate.static.optional import OPTIONAL
from skillgate.static.rules import NEEDS
from skillgate.static.signals import MIN_PROSE_WORDS
from skillgate.static.unread import lost, mend

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillgate.model.finding import Hit, Rule
    from skillgate.model.score import Measured, SubCheck
    from skillgate.model.skill import Skill

SUBCHECKS = Room("skillgate.static.subchecks")
ANTIPATTERNS = Room("skillgate.static.antipatterns")
RULES = Room("skillgate.static.rules")
DEFECTS = Room("skillgate.static.defects")  # what reading met: a file of it is loaded only when it applies
JUDGED = Room("skillgate.static.judged")  # what the judge met: likewise
ACROSS = Room("skillgate.static.across")  # what only shows beside other skills: loaded where there are several


class StaticResult(NamedTuple):
    """What layer 1 found.

    Attributes:
        scores: what each sub-check measured, by its name, heaviest first.
        claims: errors first, then by file and line; each anti-pattern's among them.
        anti_patterns: the id of each anti-pattern claim, one entry for each.
        penalised: those claims again: the key of the advice that mends each (None: there is none), and its line.
        layer_score: the weighted mean of the six sub-checks × penalty, in [0, 1]: shown, never blended; None when one
            of them measured nothing.
        no_badge: why there can be no badge whatever the score, else None.
        repair: what to do first where the frontmatter could not be read, else None.
    """

    scores: Mapping[str, Measured]
    dimensions: Mapping[Dimension, Measured]
    claims: tuple[Claim, ...]
    anti_patterns: tuple[str, ...]
    penalised: tuple[tuple[str | None, int], ...]
    layer_score: float | None
    no_badge: str | None
    repair: Repair | None = None


@cache
def subchecks() -> tuple[tuple[str, SubCheck], ...]:
    """Load every sub-check, heaviest first."""
    loaded = ((name, SUBCHECKS.load(name).SUBCHECK) for name in SUBCHECKS.names())
    return tuple(sorted(loaded, key=lambda item: (-item[1].weight, item[0])))


@cache
def anti_patterns() -> tuple[Rule, ...]:
    """Load every anti-pattern."""
    return tuple(ANTIPATTERNS.load(name).RULE for name in ANTIPATTERNS.names())


@cache
def rule(name: str) -> Rule:
    """Load one rule that looks at a parsed skill."""
    loaded: Rule = RULES.load(name).RULE
    return loaded


@cache
def defect(name: str) -> Rule:
    """Load one rule of those that tell of what reading met."""
    loaded: Rule = DEFECTS.load(name).RULE
    return loaded


@cache
def judged_rule(name: str) -> Rule:
    """Load one rule of those that tell of what the judge met."""
    loaded: Rule = JUDGED.load(name).RULE
    return loaded


def rules(skill: Skill, *, optional: bool) -> tuple[Rule, ...]:
    """Load the rules that could have something to say of a skill: most wait for a word that most skills lack."""
    texts = [document.text for document in skill.documents] + [script.text for script in skill.scripts]
    text = "\n".join(texts)
    names = (name for name in _names() if optional or name not in OPTIONAL)
    return tuple(rule(name) for name in names if name not in NEEDS or any(word in text for word in NEEDS[name]))


@cache
def _names() -> tuple[str, ...]:
    return RULES.names()


def run(skill: Skill, *, optional: bool = True) -> StaticResult:
    """Judge one skill. Pure: the same skill gives the same result.

    ``optional`` says whether opt-in rules are asked too.
    """
    defects = tuple(defect(name) for name in dict.fromkeys(problem.rule for problem in skill.problems))
    if skill.unscored is not None:
        return StaticResult(
            scores={},
            dimensions={},
            claims=tuple(_claims(skill, defects, "reading")),
            anti_patterns=(),
            penalised=(),
            layer_score=None,
            no_badge=skill.unscored,
        )
    others = rules(skill, optional=optional)
    counted = tuple(_claims(skill, anti_patterns(), "anti-pattern"))
    claims = (*_claims(skill, defects, "reading"), *counted, *_claims(skill, others, ""))
    checks = subchecks()
    scores = {name: _as_read(skill, check.dimension, check.measure(skill)) for name, check in checks}
    remedies = {rule.id: _remedy(rule, skill) for rule in anti_patterns()}
    return StaticResult(
        scores=scores,
        dimensions={check.dimension: scores[name] for name, check in checks},
        claims=tuple(sorted(claims, key=claim_order)),
        anti_patterns=tuple(claim.id for claim in counted),
        penalised=tuple((remedies[claim.id], claim.line) for claim in sorted(counted, key=claim_order)),
        layer_score=_layer_score(checks, scores, len(counted)),
        no_badge=_no_badge(skill, (*defects, *anti_patterns(), *others), claims),
        repair=_repair(skill),
    )


def _remedy(rule: Rule, skill: Skill) -> str | None:
    """Return the key of the advice that mends an anti-pattern, None where it is about a value that is not known."""
    return None if rule.advice in ("describe", "trigger") and "description" in lost(skill) else rule.advice


def _as_read(skill: Skill, dimension: Dimension, measured: Measured) -> Measured:
    """Leave out the advice to add what may stand in the part of a file that is not read."""
    if dimension is Dimension.TRIGGERING_ACCURACY or not any(skill.problems_of("partly_read")):
        return measured
    kept = (item._replace(advice=None) if item.possible else item for item in measured.evidence)
    return measured._replace(evidence=tuple(kept))


def _repair(skill: Skill) -> Repair | None:
    """Return what repairs the frontmatter with the scores after it, None where all of it could be read."""
    found = mend(skill)
    if found is None:
        return None
    return Repair(
        rule=defect(found.problem.rule).id,
        action=found.action,
        line=found.problem.span.line,
        scores=tuple((check.dimension, check.measure(found.after).score) for _, check in subchecks()),
        anti_patterns=sum(1 for _ in _claims(found.after, anti_patterns(), "")),
    )


def claim(rule: Rule, hit: Hit, file: str, group: str) -> Claim:
    """Give a hit all that its declaration says. ``file`` is relative to the skill's directory."""
    refused_by = rule.refused_by if hit.refused_by is None else hit.refused_by
    return Claim(
        id=rule.id,
        severity=hit.severity or rule.severity,
        message=hit.message,
        file=file,
        line=hit.span.line,
        column=hit.span.column,
        fix=hit.fix or rule.fix,
        group=rule.group or group,
        optional=rule.optional,
        refused_by=refused_by,
        about=rule.about if hit.about is None else hit.about,
    )


def claim_order(claim: Claim) -> tuple[int, bool, str, int, int, str]:
    """Order claims: errors first, then the main file's, then by file, line and column."""
    return claim.severity.rank, "/" in claim.file, claim.file, claim.line, claim.column, claim.id


def _claims(skill: Skill, declared: tuple[Rule, ...], group: str) -> Iterator[Claim]:
    root = skill.root
    cut = len(root.directory) + 1 if root.directory else 0
    for rule in declared:
        for hit in rule.find(skill):
            yield claim(rule, hit, root.file_name if hit.file is None else hit.file[cut:], group)


def _layer_score(
    checks: tuple[tuple[str, SubCheck], ...], scores: Mapping[str, Measured], anti_pattern_count: int
) -> float | None:
    total = 0.0
    for name, check in checks:
        score = scores[name].score
        if check.weight and score is None:
            return None
        total += check.weight * (score or 0.0)
    return total * penalty(anti_pattern_count)


def _no_badge(skill: Skill, declared: tuple[Rule, ...], claims: tuple[Claim, ...]) -> str | None:
    """Say why a skill can have no badge: a part of it could not be read, or it says too little.

    What is an error under the profile of one client counts under every profile: a badge depends on the files alone.
    """
    blocking = {rule.id for rule in declared if rule.blocks_badge}
    for claim in claims:
        if claim.id in blocking and (claim.severity is Severity.ERROR or claim.refused_by):
            return claim.message
    if skill.prose_words < MIN_PROSE_WORDS:
        words = f"only {skill.prose_words} words of prose outside headings, keyword lists and code"
        return f"{words}; {MIN_PROSE_WORDS} are needed"
    return None
