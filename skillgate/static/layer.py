"""Layer 1: every sub-check, anti-pattern and rule over one parsed skill."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.finding import Finding, Severity
from skillgate.model.tool import rule_url
from skillgate.registry import Room
from skillgate.scoring.composite import penalty
from skillgate.static.signals import MIN_PROSE_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillgate.model.finding import Rule
    from skillgate.model.score import Dimension, Measured, SubCheck
    from skillgate.model.skill import Skill

SUBCHECKS = Room("skillgate.static.subchecks")
ANTIPATTERNS = Room("skillgate.static.antipatterns")
RULES = Room("skillgate.static.rules")
DEFECTS = Room("skillgate.static.defects")  # what reading met: a file of it is loaded only when it applies


class StaticResult(NamedTuple):
    """What layer 1 found.

    Attributes:
        scores: what each sub-check measured, by its name, heaviest first.
        findings: errors first, then by line; each anti-pattern finding among them.
        anti_patterns: the id of each anti-pattern finding, one entry for each.
        layer_score: the weighted mean of the six sub-checks × penalty, in [0, 1]: shown, never blended; None when one
            of them measured nothing.
        no_badge: why there can be no badge whatever the score, else None.
    """

    scores: Mapping[str, Measured]
    dimensions: Mapping[Dimension, Measured]
    findings: tuple[Finding, ...]
    anti_patterns: tuple[str, ...]
    layer_score: float | None
    no_badge: str | None


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
def rules() -> tuple[Rule, ...]:
    """Load every rule that looks at a parsed skill."""
    return tuple(RULES.load(name).RULE for name in RULES.names())


@cache
def defect(name: str) -> Rule:
    """Load one rule of those that tell of what reading met."""
    rule: Rule = DEFECTS.load(name).RULE
    return rule


def penalised(findings: tuple[Finding, ...]) -> tuple[tuple[str | None, int], ...]:
    """Pick the findings that count in the penalty: the key of the advice that mends each, and its line."""
    remedies = {rule.id: rule.advice for rule in anti_patterns()}
    return tuple((remedies[finding.id], finding.line) for finding in findings if finding.id in remedies)


def run(skill: Skill) -> StaticResult:
    """Judge one skill. Pure: the same skill gives the same result."""
    met = tuple(dict.fromkeys(problem.rule for problem in skill.problems))
    defects = tuple(defect(name) for name in met)
    if skill.unscored is not None:
        findings = tuple(_findings(skill, defects))
        return StaticResult(
            scores={}, dimensions={}, findings=findings, anti_patterns=(), layer_score=None, no_badge=skill.unscored
        )
    counted = tuple(_findings(skill, anti_patterns()))
    findings = (*_findings(skill, defects), *counted, *_findings(skill, rules()))
    checks = subchecks()
    scores = {name: check.measure(skill) for name, check in checks}
    return StaticResult(
        scores=scores,
        dimensions={check.dimension: scores[name] for name, check in checks},
        findings=tuple(sorted(findings, key=_order)),
        anti_patterns=tuple(finding.id for finding in counted),
        layer_score=_layer_score(checks, scores, len(counted)),
        no_badge=_no_badge(skill, defects, findings),
    )


def _findings(skill: Skill, declared: tuple[Rule, ...]) -> Iterator[Finding]:
    for rule in declared:
        for hit in rule.find(skill):
            yield Finding(
                id=rule.id,
                severity=hit.severity or rule.severity,
                message=hit.message,
                path=skill.root.path / skill.root.file_name,
                line=hit.span.line,
                column=hit.span.column,
                fix=hit.fix or rule.fix,
                url=rule_url(rule.id),
            )


def _order(finding: Finding) -> tuple[int, int, int, str]:
    return finding.severity.rank, finding.line, finding.column, finding.id


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


def _no_badge(skill: Skill, defects: tuple[Rule, ...], findings: tuple[Finding, ...]) -> str | None:
    """Say why a skill can have no badge: a part of it could not be read, or it says too little."""
    blocking = {rule.id for rule in (*defects, *anti_patterns(), *rules()) if rule.blocks_badge}
    for finding in findings:
        if finding.id in blocking and finding.severity is Severity.ERROR:
            return finding.message
    if skill.prose_words < MIN_PROSE_WORDS:
        words = f"only {skill.prose_words} words of prose outside headings, keyword lists and code"
        return f"{words}; {MIN_PROSE_WORDS} are needed"
    return None
