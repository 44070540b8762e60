"""Name, length of the description, and how clearly the description says when to use the skill.

A model picks a skill from its name and description alone, so this sub-check feeds triggering_accuracy. 0.15 is for the
name, 0.25 for the description's length, 0.60 for what the method calls pushiness: a trigger phrase, several use cases,
a concrete context. Words in a negated clause earn nothing.

Source: PluginEval method, sub-check frontmatter_quality; the bands and points are those of its implementation, with the
name rule turned round (a name unlike its directory is the defect, not one equal to it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.routing import Language
from skillgate.model.score import Dimension, Evidence, Measured, SubCheck
from skillgate.skill.naming import name_defect, same_name
from skillgate.static.signals import needs_no_trigger
from skillgate.static.unread import is_absent, lost

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import Skill

PUSHINESS = 0.60
LENGTH_BANDS = ((100, 0.25), (60, 0.20), (30, 0.15), (10, 0.05))


def measure(skill: Skill) -> Measured:
    """Score the frontmatter in [0, 1].

    The phrases of other languages than English are not known, so for them name and length alone are measured, over what
    the two can earn.
    """
    head, unknown = skill.frontmatter, lost(skill)
    if not head.valid:
        text = "the frontmatter cannot be read, so name and description are not known"
        text = "there is no frontmatter" if is_absent(skill) else text
        return Measured.total((Evidence(text=text, points=0.0, possible=1.0),))
    measured = _measured(skill)
    if not unknown:
        return measured
    return measured._replace(evidence=tuple(_known(item, unknown) for item in measured.evidence))


def _known(item: Evidence, unknown: frozenset[str]) -> Evidence:
    """Leave out the advice that rests on a field whose value is not known."""
    rests_on = {"name"} if item.advice == "name" else {"description", "when_to_use"}
    return item._replace(advice=None) if rests_on & unknown else item


def _measured(skill: Skill) -> Measured:
    head = skill.frontmatter
    description = head.text("description")
    line = head.line("description") if "description" in head.values else None
    evidence = (_name(skill), _length(head.values.get("description"), line))
    if skill.routing.language is not Language.OTHER:
        return Measured.total((*evidence, *_pushiness(skill, len(description), line)))
    measurable = sum(item.possible for item in evidence)
    known = tuple(
        item._replace(points=item.points / measurable, possible=item.possible / measurable) for item in evidence
    )
    note = Evidence(text="not in English: its trigger phrasing is not measured", points=0.0, possible=0.0, line=line)
    return Measured.total((*known, note))


def _name(skill: Skill) -> Evidence:
    name = skill.frontmatter.text("name")
    line = skill.frontmatter.line("name")
    if not isinstance(skill.frontmatter.values.get("name", ""), str | None):
        return Evidence(text="the name is no text", points=0.0, possible=0.15, line=line, advice="name")
    if not name:
        return Evidence(text="no name", points=0.0, possible=0.15, line=line, advice="name")
    if name_defect(name):
        return Evidence(text="the name breaks the naming rule", points=0.10, possible=0.15, line=line, advice="name")
    if not same_name(name, skill.root.name):
        return Evidence(text="the name is not its directory's", points=0.10, possible=0.15, line=line, advice="name")
    return Evidence(text="name", points=0.15, possible=0.15, line=line)


def _length(value: object, line: int | None) -> Evidence:
    if not isinstance(value, str | None):
        return Evidence(text="the description is no text", points=0.0, possible=0.25, line=line, advice="describe")
    description = (value or "").strip()
    points = next((points for least, points in LENGTH_BANDS if len(description) >= least), 0.0)
    text = f"description of {len(description)} characters"
    return Evidence(text=text, points=points, possible=0.25, line=line, advice=None if points == 0.25 else "describe")


def _pushiness(skill: Skill, length: int, line: int | None) -> Iterator[Evidence]:
    routing = skill.routing
    head = skill.frontmatter
    if not isinstance(head.values.get("description"), str | None) and not head.text("when_to_use"):
        yield _pushed(0.0, 1.0, "how the description says when to use it is not known", line, None)
        return
    cases = len(routing.use_cases)
    situations = "situations" if routing.triggers else "trigger"  # one piece of advice where all of it is missing
    where = _trigger_line(skill, length, line)
    found = (
        (bool(routing.triggers), 0.25, "a trigger phrase", "trigger", where),
        (routing.proactive, 0.15, "“proactively”", "proactive", line),
        (routing.automatic, 0.10, "“automatically”, “always use”, “trigger” or “invoke”", "automatic", line),
        (routing.context is not None, 0.15, "a “when/for/during …ing” context", situations, where),
        (length >= 40, 0.10, "at least 40 characters", "describe", line),
    )
    exempt = needs_no_trigger(skill)
    for present, points, text, advice, at in found:
        key = None if exempt and advice != "describe" else advice
        yield _pushed(points if present else 0.0, points, text if present else f"no sign of {text}", at, key)
    share = 0.20 if cases >= 3 else 0.10 if cases == 2 else 0.0
    text = f"{cases} use case{'s' * (cases != 1)} in the trigger clause"
    yield _pushed(share, 0.20, text, where, None if exempt else situations)


def _trigger_line(skill: Skill, length: int, line: int | None) -> int | None:
    """Give the line of the field that holds the first trigger phrase: the description's, or when_to_use's."""
    head = skill.frontmatter
    first = skill.routing.triggers[0].start if skill.routing.triggers else 0
    return head.line("when_to_use") if first > length and "when_to_use" in head.values else line


def _pushed(points: float, possible: float, text: str, line: int | None, advice: str | None) -> Evidence:
    earned, most = points * PUSHINESS, possible * PUSHINESS
    return Evidence(text=text, points=earned, possible=most, line=line, advice=None if points == possible else advice)


SUBCHECK = SubCheck(
    dimension=Dimension.TRIGGERING_ACCURACY,
    weight=0.35,
    summary="name, description length, and how clearly the description says when to use the skill",
    measure=measure,
)
