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
from skillgate.static.signals import Place, base, first_sentence, heading, sentence_at, without_body

if TYPE_CHECKING:
    from skillgate.model.skill import Skill

BASE = 0.70
_FORMS = r"(?:format|formatted|structure|structured|schema|template|table|json|csv|yaml|xml|markdown|html)"
_THINGS = r"(?:outputs?|reports?|responses?|results?|answers?|findings|summary)"
_ONE = r"(?:an?|the|one|two|three|each|all|only|its|your|◌)"
# Each pattern begins with what is rare, and what must stand before it is looked at where it was found: far cheaper.
_SUBJECT = re.compile(r"(?:◌|\b(?:it|skill|script|command|tool|step|this|which|that))(?: (?:then|also|always|only))?\Z")
_ORDERED = re.compile(r"(?:\A|[\n.,;:!?*_(]|\b(?:then|and|finally)) ?\Z")
_BEFORE = 30  # characters that are looked at
_OUTPUT_HEADING = re.compile(
    r"\boutputs?\b|\b(?:report|response|result|reply|answer|return|file) (?:format|structure|template)"
    r"|\bdeliverables?\b"
)
# The output (report, result …) is, has or comes in a form; or somebody is told to write (format, return …) it as one.
_OUTPUT = re.compile(
    rf"\b{_THINGS}(?:(?: \w+){{0,2}} (?:is|are|as|in|has|have|must|should|follows?)\b[^.\n]{{0,40}}\b{_FORMS}\b"
    rf"|(?P<written>[^.\n]{{0,30}}\b(?:as|in)\b[^.\n]{{0,30}}\b{_FORMS}\b))|\boutput format\s?(?::|is\b)"
)
_WRITTEN = re.compile(r"\b(?:formats?|writes?|returns?|prints?|presents?|renders?|emits?)\b[^.\n]*\Z")
_OUTPUT_LABEL = re.compile(
    r"^\W{0,4}(?:expected |final )?(?:output|response|report)s?(?: format)?\W{0,3}:\W{0,3}\w", re.MULTILINE
)
# Somebody that is this skill returns something; or the order to return it.
_RETURNS = re.compile(r" (?:returns|produces|generates|outputs|prints|writes|emits|creates) (?:◌|\w)")
_RETURN = re.compile(rf"(?:return|produce|output|print|emit|deliver|report) {_ONE}\b")
_RETURN_LABEL = re.compile(r"^\W{0,4}(?:returns?|produces?)\W{0,3}:", re.MULTILINE)
_INPUT_HEADING = re.compile(r"^(?:\d+[.)]? )?(?:required |expected |command )?(?:inputs?|parameters?|arguments?)\b")
_INPUT_COLUMN = re.compile(r"^(?:inputs?|parameters?|params?|arguments?|options?|flags?)\b")
_ACCEPTS = re.compile(r" (?:accepts|receives|takes|expects) (?:◌|\w)")
_INPUT = re.compile(
    r"(?:inputs?|parameters?|arguments?) (?:is|are|must|should|may|can|has|have)\b"
    r"|\bas (?:its |an |the )?(?:inputs?|arguments?|parameters?)\b|\$arguments\b"
)
_INPUT_LABEL = re.compile(
    rf"^(?:given {_ONE}\b|\W{{0,4}}(?:required |expected )?(?:inputs?|parameters?|arguments?)\W{{0,3}}:)", re.MULTILINE
)
_VERB = re.compile(r"\b(?:orchestrat|coordinat|dispatch|delegat)(?:es?|ing)?\b|\bmanag(?:es?|ing)\b")
_OTHERS = re.compile(r"\b(?:sub-?agents?|agents?|specialists?|workers?|sub-?tasks?|workflows?|other skills)\b")
_MANAGED = re.compile(r"\W{1,3}(?:the |a |an |your )?(?:[\w-]{1,30} )?workflows?\b")
_NEGATED = re.compile(r"\b(?:not|never|no|without|avoid|cannot|instead of|rather than)\b|n['’]t\b")
_SUBJECTS = frozenset(("skill", "it", "that", "which", "who", "and", "then", "or", "also", "agent", "workflow"))
_END = re.compile(r"[.!?](?=\s)|\n\n")
_REACH = 70  # characters after the verb within which the agents it orchestrates must be named


def measure(skill: Skill) -> Measured:
    """Score in [0, 1]; 0 without a body."""
    if not skill.has_body:
        return without_body(BASE)
    found = [
        base(skill, BASE, "a worker until shown otherwise"),
        _gain(_output(skill), 0.10, "an output format", "output"),
        _gain(_returns(skill), 0.05, "what it returns or produces", "returns"),
        _gain(_input(skill), 0.10, "input, parameters or arguments", "input"),
        _code(skill),
    ]
    orchestrates = _orchestrates(skill)
    if orchestrates is not None:
        text = f"orchestrates others: “{orchestrates.text}”"
        found.append(Evidence(text=text, points=-0.15, possible=0.0, line=orchestrates.line, advice="orchestrates"))
    return Measured.total(tuple(found))


def _output(skill: Skill) -> Place | None:
    place = heading(skill, _OUTPUT_HEADING) or first_sentence(skill, _OUTPUT_LABEL)
    if place is not None:
        return place
    for found in _OUTPUT.finditer(skill.prose):
        if found["written"] is None or _WRITTEN.search(skill.prose, max(0, found.start() - 2 * _BEFORE), found.start()):
            return sentence_at(skill, found.start())
    return None


def _returns(skill: Skill) -> Place | None:
    return _after(skill, _RETURNS, _SUBJECT) or _after(skill, _RETURN, _ORDERED) or first_sentence(skill, _RETURN_LABEL)


def _after(skill: Skill, pattern: re.Pattern[str], before: re.Pattern[str]) -> Place | None:
    """Find the first match that has something of a kind right before it."""
    for found in pattern.finditer(skill.prose):
        if before.search(skill.prose[max(0, found.start() - _BEFORE) : found.start()]):
            return sentence_at(skill, found.start())
    return None


def _orchestrates(skill: Skill) -> Place | None:
    """Find the first instruction that has agents, sub-tasks or workflows as the object of an orchestrating verb.

    Coordinates of a map, ``dispatch(action)`` in code and "does not orchestrate" are none.
    """
    prose = skill.prose
    for verb in _VERB.finditer(prose):
        after = _END.split(prose[verb.end() : verb.end() + _REACH], maxsplit=1)[0]
        before = _END.split(prose[max(0, verb.start() - _REACH) : verb.start()])[-1]
        what = _MANAGED.match(after) if verb[0].startswith("manag") else _OTHERS.search(after)
        if what and _is_verb(verb[0], before) and not _NEGATED.search(before):
            return sentence_at(skill, verb.start())
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
        place = (
            first_sentence(skill, _INPUT_LABEL) or _after(skill, _ACCEPTS, _SUBJECT) or first_sentence(skill, _INPUT)
        )
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
