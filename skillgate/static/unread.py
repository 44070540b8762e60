"""What of a frontmatter could not be read: no advice rests on it, and its repair comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.skill.frontmatter import split
from skillgate.skill.salvage import as_meant

if TYPE_CHECKING:
    from skillgate.model.skill import Problem, Skill

_HEADS = ("frontmatter_missing", "frontmatter_unclosed", "frontmatter_too_large", "frontmatter_invalid")
_TEXTS = ("name", "description", "when_to_use")
_HOLDS = "the name of its directory and a description of 100 characters or more that says when to use it"


class Mend(NamedTuple):
    """The problem to mend first, how, and the skill as it would be then, as far as that can be told."""

    problem: Problem
    action: str
    after: Skill


def lost(skill: Skill) -> frozenset[str]:
    """Return the fields that points rest on and whose values are not known: unreadable, of a wrong type or repeated."""
    head = skill.frontmatter
    if not head.valid:
        return frozenset(_TEXTS if is_absent(skill) else (*_TEXTS, "metadata"))
    found = {key for key in _TEXTS if not isinstance(head.values.get(key) or "", str)}
    repeated = {key.partition(".")[0] for key in head.repeated}
    return frozenset(found | repeated & {*_TEXTS, "metadata"})


def mend(skill: Skill) -> Mend | None:
    """Return what to mend first in the frontmatter, None where all of it could be read."""
    problem = _first(skill)
    if problem is None:
        return None
    if problem.rule == "duplicate_key":
        return Mend(problem, f"correct the frontmatter: {problem.message}", skill)
    after, is_known = as_meant(skill)
    return Mend(problem, _action(problem, is_known=is_known), after)


def is_absent(skill: Skill) -> bool:
    """Return whether the file has no frontmatter, or an empty one."""
    cut = split(skill.documents[0].text)
    missing = cut.problem is not None and cut.problem.rule == "frontmatter_missing"
    return missing or (cut.yaml is not None and not cut.yaml.strip())


def _first(skill: Skill) -> Problem | None:
    """Return the gravest problem: no mapping at all, then a text that is none, then a repeated key."""
    found = [problem for problem in skill.problems if problem.rule in _HEADS]
    fields = lost(skill)
    found += [one for one in skill.problems_of("field_type") if one.message.partition(" ")[0] in fields]
    found += skill.problems_of("duplicate_key")
    return found[0] if found else None


def _action(problem: Problem, *, is_known: bool) -> str:
    if problem.rule == "frontmatter_missing":
        if is_known:
            return "begin the file with its frontmatter: remove what stands before the first --- line"
        return f"begin the file with a frontmatter: --- lines around {_HOLDS}"
    if not is_known:
        return f"correct the frontmatter: {problem.message}; give it {_HOLDS}"
    if problem.rule == "frontmatter_unclosed":
        return "close the frontmatter with a --- line after its last key"
    verb = "shorten" if problem.rule == "frontmatter_too_large" else "correct"
    return f"{verb} the frontmatter: {problem.message}"
