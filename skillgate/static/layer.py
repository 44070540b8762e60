"""Layer 1: every sub-check, anti-pattern and rule over one parsed skill."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from skillgate.model.finding import Claim, Hit, Repair, Rule, Severity
from skillgate.model.score import Dimension, Measured, QualityEstimate, SubCheck
from skillgate.model.skill import Problem, Skill
from skillgate.named_tuple import NamedTuple
from skillgate.registry import Room
from skillgate.scoring.composite import penalty
from skillgate.skill.frontmatter import as_meant
from skillgate.static import antipatterns
from skillgate.static.features import estimate, features
from skillgate.static.rules import NEEDS, OPTIONAL, Searched
from skillgate.static.subchecks import SUBCHECKS
from skillgate.static.substance import substance
from skillgate.static.text import MIN_PROSE_WORDS, lost

RULES = Room("skillgate.static.rules")


class StaticResult(NamedTuple):
    """What layer 1 found.

    Attributes:
        scores: what each sub-check measured, by its name, heaviest first.
        claims: errors first, then by file and line; each anti-pattern's among them.
        anti_patterns: the id of each anti-pattern claim, one entry for each.
        penalised: those claims again: the key of the advice that fixes each (None: there is none), and its line.
        layer_score: the weighted mean of the six sub-checks × penalty, in [0, 1]: shown, never blended; None if one
            of them measured nothing.
        no_badge: why there can be no badge at any score, else None.
        repair: what to do first if the frontmatter could not be read, else None.
        estimate: what a reader would probably say.
    """

    scores: Mapping[str, Measured]
    dimensions: Mapping[Dimension, Measured]
    claims: tuple[Claim, ...]
    anti_patterns: tuple[str, ...]
    penalised: tuple[tuple[str | None, int], ...]
    layer_score: float | None
    no_badge: str | None
    repair: Repair | None = None
    estimate: QualityEstimate = QualityEstimate()


def subchecks() -> tuple[tuple[str, SubCheck], ...]:
    """List every sub-check with its name, heaviest first."""
    return tuple(SUBCHECKS.items())


@cache
def rule(name: str) -> Rule:
    """Load one rule that looks at a parsed skill."""
    loaded: Rule = RULES.load(name).RULE
    return loaded


@cache
def _rule_names() -> tuple[str, ...]:
    return RULES.names()


@cache
def defect(name: str) -> Rule:
    """Return the rule for a problem found on reading; these rules are loaded only if there is one."""
    from skillgate.static.defects import DEFECTS

    return next(rule for rule in DEFECTS if rule.id == name.upper())


def judged_rule(name: str) -> Rule:
    """Return the rule for a problem found by the judge."""
    from skillgate.static.defects import JUDGED

    return next(rule for rule in JUDGED if rule.id == name.upper())


def rules(skill: Skill, *, optional: bool) -> tuple[Rule, ...]:
    """Load the rules that can apply to a skill; most need something that most skills lack."""
    text = Searched("\n".join(document.text for document in skill.documents))
    names = (name for name in _rule_names() if optional or name not in OPTIONAL)

    def applies(name: str) -> bool:
        needs = NEEDS.get(name)
        return needs is None or (needs(skill) if callable(needs) else any(word in text for word in needs))

    return tuple(rule(name) for name in names if applies(name))


def run(skill: Skill, *, optional: bool = True) -> StaticResult:
    """Check one skill, with opt-in rules if ``optional``. Pure: the same skill gives the same result."""
    defects = tuple(defect(name) for name in dict.fromkeys(problem.rule for problem in skill.problems))
    reading = tuple(_claims(skill, defects, "reading"))
    if skill.unscored is not None:
        unknown = QualityEstimate(reason=skill.unscored)
        return StaticResult({}, {}, reading, (), (), layer_score=None, no_badge=skill.unscored, estimate=unknown)
    others = rules(skill, optional=optional)
    counted = tuple(_claims(skill, antipatterns.RULES, "anti-pattern"))
    claims = (*reading, *counted, *_claims(skill, others, ""))
    scores = {name: _as_read(skill, check.dimension, check.measure(skill)) for name, check in SUBCHECKS.items()}
    if any(rule.id == "SECRET" for rule in others):
        claims, scores = _without_secrets(skill, claims, scores)
    remedies = {rule.id: _remedy(rule, skill) for rule in antipatterns.RULES}
    return StaticResult(
        scores=scores,
        dimensions={check.dimension: scores[name] for name, check in SUBCHECKS.items()},
        claims=tuple(sorted(claims, key=claim_order)),
        anti_patterns=tuple(claim.id for claim in counted),
        penalised=tuple((remedies[claim.id], claim.line) for claim in sorted(counted, key=claim_order)),
        layer_score=_layer_score(scores, len(counted)),
        no_badge=_no_badge(skill, (*defects, *antipatterns.RULES, *others), claims),
        repair=_repair(skill),
        estimate=_estimate(skill, scores),
    )


def _estimate(skill: Skill, scores: Mapping[str, Measured]) -> QualityEstimate:
    """Estimate what a reader would say; nothing where the description or the body is not understood."""
    if not skill.frontmatter.valid:
        return QualityEstimate(reason="the frontmatter cannot be read")
    reasons = (scores[name].reason for name in ("frontmatter_quality", "orchestration_wiring"))
    return estimate(features(skill), next(filter(None, reasons), None))


def _remedy(rule: Rule, skill: Skill) -> str | None:
    """Return the key of the advice that fixes an anti-pattern; None if it is about an unknown value."""
    return None if rule.advice in ("describe", "trigger") and "description" in lost(skill) else rule.advice


def _as_read(skill: Skill, dimension: Dimension, measured: Measured) -> Measured:
    """Drop advice to add something that may be in the unread part of a file."""
    if dimension is Dimension.TRIGGERING_ACCURACY or not any(skill.problems_of("partly_read")):
        return measured
    return measured._replace(
        evidence=tuple(item._replace(advice=None) if item.possible else item for item in measured.evidence)
    )


def _without_secrets(
    skill: Skill, claims: tuple[Claim, ...], scores: dict[str, Measured]
) -> tuple[tuple[Claim, ...], dict[str, Measured]]:
    """Hide the secrets of a skill in what is quoted from it."""
    from skillgate.static.secrets import hidden_in, without, without_secrets  # few skills have text that looks like one

    hidden = hidden_in(skill)
    return without_secrets(claims, hidden), {
        name: score._replace(evidence=tuple(item._replace(text=without(item.text, hidden)) for item in score.evidence))
        for name, score in scores.items()
    }


def _claims(skill: Skill, declared: Iterable[Rule], group: str) -> Iterator[Claim]:
    root = skill.root
    for rule in declared:
        for hit in rule.find(skill):
            yield claim(rule, hit, root.file_name if hit.file is None else root.inside(hit.file), group)


def claim(rule: Rule, hit: Hit, file: str, group: str) -> Claim:
    """Combine a hit with its rule. ``file`` is relative to the skill's directory."""
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


def _layer_score(scores: Mapping[str, Measured], anti_pattern_count: int) -> float | None:
    total = 0.0
    for name, check in SUBCHECKS.items():
        score = scores[name].score
        if check.weight and score is None:
            return None
        total += check.weight * (score or 0.0)
    return total * penalty(anti_pattern_count)


def _no_badge(skill: Skill, declared: tuple[Rule, ...], claims: tuple[Claim, ...]) -> str | None:
    """Return why a skill can have no badge, or None: a part of it could not be read, or it has too little prose.

    An error under the profile of one client counts under every profile: a badge depends on the files alone.
    """
    blocking = {rule.id for rule in declared if rule.blocks_badge}
    for claim in claims:
        if claim.id in blocking and (claim.severity is Severity.ERROR or claim.refused_by):
            return claim.message
    prose = substance(skill).skill.prose_words
    if prose < MIN_PROSE_WORDS:
        words = f"only {prose} words of prose outside headings, keyword lists, code and filler"
        return f"{words} (minimum {MIN_PROSE_WORDS})"
    return None


# -- What to repair first if the frontmatter could not be read

_HEADS = ("frontmatter_missing", "frontmatter_unclosed", "frontmatter_too_large", "frontmatter_invalid")
_CONTENT = "the name of its directory and a description of 100 characters or more that says when to use it"


def _repair(skill: Skill) -> Repair | None:
    """Return the repair of the frontmatter with the scores after it, None if all of it could be read."""
    problem = _worst(skill)
    if problem is None:
        return None
    if problem.rule == "duplicate_key":
        action, after = f"fix the frontmatter: {problem.message}", skill
    else:
        after, is_known = as_meant(skill)
        action = _action(problem, is_known=is_known)
    return Repair(
        rule=defect(problem.rule).id,
        action=action,
        line=problem.span.line,
        scores=tuple((check.dimension, check.measure(after).score) for check in SUBCHECKS.values()),
        anti_patterns=sum(1 for _ in _claims(after, antipatterns.RULES, "")),
    )


def _worst(skill: Skill) -> Problem | None:
    """Return the worst problem: no mapping at all, then a field that is not a string, then a repeated key."""
    found = [problem for problem in skill.problems if problem.rule in _HEADS]
    fields = lost(skill)
    found += [one for one in skill.problems_of("field_type") if one.message.partition(" ")[0] in fields]
    found += skill.problems_of("duplicate_key")
    return found[0] if found else None


def _action(problem: Problem, *, is_known: bool) -> str:
    if problem.rule == "frontmatter_missing":
        if is_known:
            return "start the file with its frontmatter: remove everything before the first --- line"
        return f"start the file with a frontmatter: --- lines around {_CONTENT}"
    if not is_known:
        return f"fix the frontmatter: {problem.message}; add {_CONTENT}"
    if problem.rule == "frontmatter_unclosed":
        return "close the frontmatter with a --- line after its last key"
    verb = "shorten" if problem.rule == "frontmatter_too_large" else "fix"
    return f"{verb} the frontmatter: {problem.message}"
