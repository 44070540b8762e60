"""Does the skill read as a worker: inputs, outputs and examples documented, no orchestration of others?

It starts at 0.70 and gains for a documented output format, for saying what it returns, for documented input and for two
code blocks; it loses for instructions that orchestrate, coordinate or dispatch agents. Only sentences and sections that
hold text count: a list of keywords earns nothing, and neither do words in code. Under 40 words of prose it starts at 0.

Source: PluginEval method, sub-check orchestration_wiring.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.model.score import Dimension, Evidence, Measured, SubCheck
from skillgate.static.signals import Place, base, excerpt, first_sentence, heading, sentences, without_body

if TYPE_CHECKING:
    from skillgate.model.skill import Skill

BASE = 0.70
_SUBJECT = r"(?:◌|\b(?:it|skill|script|command|tool|step|this|which|that))(?: (?:then|also|always|only))?"
_FORMS = r"(?:format|formatted|structure|structured|schema|template|table|json|csv|yaml|xml|markdown|html)"
_THINGS = r"(?:outputs?|reports?|responses?|results?|answers?|findings|summary)"
_ONE = r"(?:an?|the|one|two|three|each|all|only|its|your|◌)"
_OUTPUT_HEADING = re.compile(
    r"\boutputs?\b|\b(?:report|response|result|reply|answer|return|file) (?:format|structure|template)"
    r"|\bdeliverables?\b"
)
# The output (report, result …) is, has or comes in a form; or: write (format, return …) it as a form.
_OUTPUT = re.compile(
    rf"\b{_THINGS}(?: \w+){{0,2}} (?:is|are|as|in|has|have|must|should|follows?)\b.{{0,40}}\b{_FORMS}\b"
    rf"|\b(?:formats?|write|writes|returns?|prints?|presents?|renders?|reports?|emits?)\b.{{0,40}}\b{_THINGS}\b"
    rf".{{0,30}}\b(?:as|in)\b.{{0,30}}\b{_FORMS}\b|\boutput format\s?(?::|is\b)"
    r"|^\W{0,4}(?:expected |final )?(?:output|response|report)s?(?: format)?\W{0,3}:\W{0,3}\w",
    re.MULTILINE,
)
# Somebody that is this skill returns something; or the order to return it.
_RETURNS = re.compile(
    rf"{_SUBJECT} (?:returns|produces|generates|outputs|prints|writes|emits|creates) (?:{_ONE}|\w)"
    r"|^\W{0,4}(?:returns?|produces?)\W{0,3}:"
    rf"|(?:^|[,;:]|\b(?:then|and|finally)) ?(?:return|produce|output|print|emit|deliver|report) {_ONE}\b",
    re.MULTILINE,
)
_INPUT_HEADING = re.compile(r"^(?:\d+[.)]? )?(?:required |expected |command )?(?:inputs?|parameters?|arguments?)\b")
_INPUT_COLUMN = re.compile(r"^(?:inputs?|parameters?|params?|arguments?|options?|flags?)\b")
_INPUT = re.compile(
    rf"{_SUBJECT} (?:accepts|receives|takes|expects) (?:{_ONE}|\w)|\b(?:inputs?|parameters?|arguments?)"
    r" (?:is|are|must|should|may|can|has|have)\b|\bas (?:its |an |the )?(?:inputs?|arguments?|parameters?)\b"
    rf"|\$arguments\b|^given {_ONE}\b|^\W{{0,4}}(?:required |expected )?(?:inputs?|parameters?|arguments?)\W{{0,3}}:",
    re.MULTILINE,
)
_VERB = re.compile(r"\b(?:orchestrat|coordinat|dispatch|delegat)(?:es?|ing)?\b|\bmanag(?:es?|ing)\b")
_OTHERS = re.compile(r"\b(?:sub-?agents?|agents?|specialists?|workers?|sub-?tasks?|workflows?|other skills)\b")
_MANAGED = re.compile(r"\W{1,3}(?:the |a |an |your )?(?:[\w-]{1,30} )?workflows?\b")
_NEGATED = re.compile(r"\b(?:not|never|no|without|avoid|cannot|instead of|rather than)\b|n['’]t\b")
_SUBJECTS = frozenset(("skill", "it", "that", "which", "who", "and", "then", "or", "also", "agent", "workflow"))
_REACH = 70  # characters after the verb within which the agents it orchestrates must be named


def measure(skill: Skill) -> Measured:
    """Score in [0, 1]; 0 without a body."""
    if not skill.has_body:
        return without_body(BASE)
    found = [
        base(skill, BASE, "a worker until shown otherwise"),
        _gain(_output(skill), 0.10, "an output format", "output"),
        _gain(first_sentence(skill, _RETURNS), 0.05, "what it returns or produces", "returns"),
        _gain(_input(skill), 0.10, "input, parameters or arguments", "input"),
        _code(skill),
    ]
    orchestrates = _orchestrates(skill)
    if orchestrates is not None:
        text = f"orchestrates others: “{orchestrates.text}”"
        found.append(Evidence(text=text, points=-0.15, possible=0.0, line=orchestrates.line, advice="orchestrates"))
    return Measured.total(tuple(found))


def _output(skill: Skill) -> Place | None:
    return heading(skill, _OUTPUT_HEADING) or first_sentence(skill, _OUTPUT)


def _orchestrates(skill: Skill) -> Place | None:
    """Find the first instruction that has agents, sub-tasks or workflows as the object of an orchestrating verb.

    Coordinates of a map, ``dispatch(action)`` in code and "does not orchestrate" are none.
    """
    if not _VERB.search(skill.prose):
        return None
    for block in skill.blocks:
        if not block.prose:
            continue
        lowered = block.text.lower()
        for sentence, offset in sentences(lowered):
            for verb in _VERB.finditer(sentence):
                after = sentence[verb.end() : verb.end() + _REACH]
                what = _MANAGED.match(after) if verb[0].startswith("manag") else _OTHERS.search(after)
                before = sentence[max(0, verb.start() - _REACH) : verb.start()]
                if what and _is_verb(verb[0], before) and not _NEGATED.search(before):
                    line = block.line + lowered.count("\n", 0, offset + verb.start())
                    return Place(text=excerpt(block.text[offset : offset + len(sentence)]), line=line)
    return None


def _is_verb(word: str, before: str) -> bool:
    """Tell the verb in "it coordinates agents" from the noun in "the coordinates that agents give": by its subject."""
    words = before.split()
    return not word.endswith("s") or not words or words[-1].strip("*_,") in _SUBJECTS


def _input(skill: Skill) -> Place | None:
    place = heading(skill, _INPUT_HEADING)
    if place is None:
        for line, cells in skill.table_headers:
            if any(_INPUT_COLUMN.search(cell.lower()) for cell in cells):
                return Place(text=" | ".join(cells), line=line)
        place = first_sentence(skill, _INPUT)
    return place


def _gain(place: Place | None, points: float, what: str, advice: str) -> Evidence:
    if place is None:
        return Evidence(text=f"does not document {what}", points=0.0, possible=points, advice=advice)
    return Evidence(text=f"documents {what}: “{place.text}”", points=points, possible=points, line=place.line)


def _code(skill: Skill) -> Evidence:
    blocks = [block for block in skill.code_blocks if block.lines]
    enough = len(blocks) >= 2
    text = f"{len(blocks)} code block{'s' * (len(blocks) != 1)}"
    return Evidence(text=text, points=0.05 * enough, possible=0.05, advice=None if enough else "code")


SUBCHECK = SubCheck(
    dimension=Dimension.ORCHESTRATION_FITNESS,
    weight=0.25,
    summary="inputs, outputs and examples are documented, and nothing orchestrates others",
    measure=measure,
)
