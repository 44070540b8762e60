"""What checks look for: sections, sentences, files, and fields that are not known."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillgate.model.finding import Hit, Severity
from skillgate.model.score import Evidence, Measured
from skillgate.model.skill import BETWEEN_BLOCKS, Document, Heading, Language, Skill, Span, TextBlock
from skillgate.named_tuple import NamedTuple
from skillgate.skill.frontmatter import split


def without_fences(document: Document) -> str:
    """Blank out frontmatter and fenced code; every other line keeps its place."""
    lines = document.text.split("\n")
    for row in range(min(document.first_line - 1, len(lines))):
        lines[row] = ""
    for block in document.code_blocks:
        for row in range(block.line - 1, min(block.end_line, len(lines))):
            lines[row] = ""
    return "\n".join(lines)


def hit(
    document: Document,
    skill: Skill,
    place: int | Span,
    message: str,
    *,
    severity: Severity | None = None,
    fix: str | None = None,
) -> Hit:
    """Make a hit at a line or span of a document; the main document is named by no file."""
    span = Span(place) if isinstance(place, int) else place
    main = skill.documents and document is skill.documents[0]
    return Hit(span, message, severity=severity, fix=fix, file=None if main else document.file)


MIN_PROSE_WORDS = 40  # below this a skill says too little to be credited with anything by default
NO_PROSE_WORDS = 10  # so few say nothing; from here on it grows
EXCERPT = 60
_SENTENCE_END = r"[.!?](?=\s)"


class Place(NamedTuple):
    """Where something was found, with a short excerpt of it."""

    text: str
    line: int


class Phrase(NamedTuple):
    """A pattern, and words of which each match holds one: few texts do, so that most patterns are never compiled."""

    pattern: str
    words: tuple[str, ...]

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Yield the matches."""
        return re.finditer(self.pattern, text) if any(word in text for word in self.words) else iter(())

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match."""
        return next(self.finditer(text), None)


def heading(skill: Skill, phrase: Phrase) -> Place | None:
    """Find the first heading below the title that matches and whose section holds something."""
    for item in skill.headings:
        if item.level > 1 and item.counts and phrase.search(item.text.lower()):
            return Place(excerpt(item.text), item.line)
    return None


def titles(skill: Skill) -> Iterator[tuple[Heading, str]]:
    """Yield each heading below the title, and its text; one of code alone as it is written."""
    lines: list[str] = []
    for item in skill.headings:
        if item.level > 1:
            title = item.text
            if title.strip("◌ ") == "":
                lines = lines or skill.documents[0].text.split("\n")
                title = lines[item.line - 1].strip("# ")
            yield item, title


def first_sentence(skill: Skill, phrase: Phrase) -> Place | None:
    """Find the first sentence of prose that matches; the prose is searched once, so time stays linear."""
    match = phrase.search(skill.prose)
    return None if match is None else sentence_at(skill, match.start())


def sentence_at(skill: Skill, offset: int) -> Place:
    """Return the sentence around an offset of ``skill.prose``."""
    start = 0
    for block in skill.blocks:
        if not block.prose:
            continue
        lowered = block.text.lower()
        if offset <= start + len(lowered):
            return _sentence(block, lowered, offset - start)
        start += len(lowered) + len(BETWEEN_BLOCKS)
    raise ValueError(f"{offset} is no place in the prose")


def _sentence(block: TextBlock, lowered: str, offset: int) -> Place:
    parts = sentences(lowered)
    sentence, begins = next((part for part in parts if part[1] + len(part[0]) > offset), (lowered, 0))
    line = block.line + lowered.count("\n", 0, max(offset, 0))
    return Place(text=excerpt(block.text[begins : begins + len(sentence)]), line=line)


def excerpt(text: str) -> str:
    """Shorten a text to one line of at most 60 characters."""
    flat = " ".join(text.replace("◌", "`…`").split())
    return flat if len(flat) <= EXCERPT else flat[: EXCERPT - 1].rstrip() + "…"


def one_edit_apart(word: str, other: str) -> bool:
    """Whether two words differ by one letter added, left out, replaced or swapped with its neighbour."""
    shorter, longer = sorted((word, other), key=len)
    if word == other or len(longer) - len(shorter) > 1:
        return False
    start = next(
        (place for place, pair in enumerate(zip(shorter, longer, strict=False)) if pair[0] != pair[1]), len(shorter)
    )
    if len(shorter) < len(longer):
        return shorter[start:] == longer[start + 1 :]
    rest, rest_of_other = shorter[start:], longer[start:]
    return rest[1:] == rest_of_other[1:] or (rest[:2] == rest_of_other[1::-1] and rest[2:] == rest_of_other[2:])


def sentences(text: str) -> Iterator[tuple[str, int]]:
    """Split at ``.``, ``!`` or ``?`` before white space; each sentence with its offset."""
    start = 0
    for match in re.finditer(_SENTENCE_END, text):
        yield text[start : match.end()], start
        start = match.end()
    if start < len(text):
        yield text[start:], start


def linked_files(skill: Skill, files: frozenset[str]) -> int:
    """Count those of the files that the skill links or names, themselves or by a directory they lie in."""
    return sum(1 for path in files if path in skill.linked or not skill.linked.isdisjoint(_directories(skill, path)))


def _directories(skill: Skill, path: str) -> Iterator[str]:
    directory = path.rpartition("/")[0]
    while directory and directory != skill.root.directory:
        yield directory
        directory = directory.rpartition("/")[0]


_DIRECTIVE = r"(?<![\w-])_?(?:MUST|NEVER|ALWAYS)_?(?![\w-])"


def directives(skill: Skill) -> tuple[Place, ...]:
    """Find every MUST, NEVER and ALWAYS in capitals in the text of the body: not in headings, code or comments."""
    found = []
    for block in skill.blocks:
        if "MUST" not in block.text and "NEVER" not in block.text and "ALWAYS" not in block.text:
            continue
        line, start = block.line, 0
        for match in re.finditer(_DIRECTIVE, block.text):
            line += block.text.count("\n", start, match.start())
            start = match.start()
            found.append(Place(text=match[0].strip("_"), line=line))
    return tuple(found)


def without_body(skill: Skill, base: float = 0.0) -> Measured:
    """Score a skill without instructions: 0, where ``base`` is what any instructions at all would have earned."""
    text = "nothing but filler" if skill.has_body else "no instructions"
    evidence = Evidence(text=f"{text} below the frontmatter", points=0.0, possible=base, advice="body")
    return Measured(score=0.0, evidence=(evidence,))


def base(skill: Skill, points: float, text: str) -> Evidence:
    """Return what a sub-check starts at: its base, or less below 40 words of prose."""
    words = skill.prose_words
    if words >= MIN_PROSE_WORDS:
        return Evidence(text=text, points=points, possible=points)
    text = f"{words} words of prose; {MIN_PROSE_WORDS} earn all of this"
    share = max(0, words - NO_PROSE_WORDS) / (MIN_PROSE_WORDS - NO_PROSE_WORDS)
    return Evidence(text=text, points=points * share, possible=points, advice="body")


def described_in_english(skill: Skill) -> bool:
    """Whether the description is in English; three words are taken for it, for they show no other."""
    language = skill.routing.language
    return language is Language.ENGLISH or (
        language is Language.UNKNOWN and len(skill.frontmatter.text("description").split()) < 4
    )


def needs_no_trigger(skill: Skill) -> bool:
    """Whether a model never has to find the skill by its description: only the user, or a path, starts it."""
    values = skill.frontmatter.values
    by_hand = values.get("disable-model-invocation")
    return by_hand is True or str(by_hand).strip().lower() == "true" or bool(values.get("paths"))


_TEXTS = ("name", "description", "when_to_use")


def lost(skill: Skill) -> frozenset[str]:
    """Return the fields that points rest on and that have unknown values: unreadable, of a wrong type or repeated."""
    head = skill.frontmatter
    if not head.valid:
        return frozenset(_TEXTS if is_absent(skill) else (*_TEXTS, "metadata"))
    found = {key for key in _TEXTS if not isinstance(head.values.get(key) or "", str)}
    repeated = {key.partition(".")[0] for key in head.repeated}
    return frozenset(found | repeated & {*_TEXTS, "metadata"})


def is_absent(skill: Skill) -> bool:
    """Whether the file has no frontmatter, or an empty one."""
    cut = split(skill.documents[0].text)
    missing = cut.problem is not None and cut.problem.rule == "frontmatter_missing"
    return missing or (cut.yaml is not None and not cut.yaml.strip())


# -- Headings of the parts that a reader looks for

EXAMPLES = Phrase(
    r"(?<!non-)\bexamples?\b|^(?:\d+[.)]? )?(?:basic |quick |common )?usage(?: (?:patterns?|guide|notes?"
    r"|instructions?))?\W*$|\bquick ?start\b|\bhow to use\b|\bwalk-?through\b"
    r"|\bsample (?:input|output|code|usage|session)s?\b",
    ("example", "usage", "quick", "how to use", "walk", "sample "),
)
TROUBLE = Phrase(
    r"\b(?:troubleshoot\w*|faq|frequently asked|edge cases?|pitfalls?|gotchas?|failure modes?|limitations"
    r"|(?:common|known) (?:\w+ )?(?:issues?|problems?|errors?|mistakes?|failures?|traps?)"
    r"|when (?:things|it) (?:go|goes|fails?))\b|^(?:\d+[.)]? )?error handling\W*$",
    (
        *("troubleshoot", "faq", "frequently asked", "edge case", "pitfall", "gotcha", "failure mode", "limitation"),
        *("common ", "known ", "when things", "when it", "error handling"),
    ),
)
DECISION = Phrase(
    r"\b(?:when (?:not )?to (?:use|choose|pick)|use when|best for|compar(?:ison|ing)|trade-?offs?|choos(?:e|ing)|versus"
    r"|vs|decision (?:tree|matrix|guide|table|aid|framework|criteria|flow\w*|points?))\b",
    ("when to ", "when not to ", "use when", "best for", "compar", "trade", "choos", "versus", "vs", "decision "),
)


# -- What a skill works from, what it delivers, and whom it orchestrates

_FORMS = r"(?:format|formatted|structure|structured|schema|template|table|json|csv|yaml|xml|markdown|html)"
_THINGS = r"(?:outputs?|reports?|responses?|results?|answers?|findings|summary)"
_ONE = r"(?:an?|the|one|two|three|each|all|only|its|your|◌)"
# Each pattern begins with what is rare, and what must stand before it is looked at where it was found: far cheaper.
_SUBJECT = r"(?:◌|\b(?:it|skill|script|command|tool|step|this|which|that))(?: (?:then|also|always|only))?\Z"
_ORDERED = r"(?:\A|[\n.,;:!?*_(]|\b(?:then|and|finally)) ?\Z"
_BEFORE = 30  # characters that are looked at
_OUTPUT_HEADING = Phrase(
    r"\boutputs?\b|\b(?:report|response|result|reply|answer|return|file) (?:format|structure|template)"
    r"|\bdeliverables?\b",
    ("output", " format", " structure", " template", "deliverable"),
)
# The output (report, result …) is, has or comes in a form; or somebody is told to write (format, return …) it as one.
_OUTPUT = Phrase(
    rf"\b{_THINGS}(?:(?: \w+){{0,2}} (?:is|are|as|in|has|have|must|should|follows?)\b[^.\n]{{0,40}}"
    rf"|(?P<written>[^.\n]{{0,30}}\b(?:as|in)\b[^.\n]{{0,30}}))\b{_FORMS}\b|\boutput format\s?(?::|is\b)",
    ("output", "report", "response", "result", "answer", "findings", "summary"),
)
_WRITTEN = r"\b(?:formats?|writes?|returns?|prints?|presents?|renders?|emits?)\b[^.\n]*\Z"
_OUTPUT_LABEL = Phrase(
    r"(?m)^\W{0,4}(?:expected |final )?(?:output|response|report)s?(?: format)?\W{0,3}:\W{0,3}\w",
    ("output", "response", "report"),
)
# Somebody that is this skill returns something; or the order to return it.
_RETURNS = Phrase(
    r" (?:returns|produces|generates|outputs|prints|writes|emits|creates) (?:◌|\w)",
    (" returns ", " produces ", " generates ", " outputs ", " prints ", " writes ", " emits ", " creates "),
)
_RETURN = Phrase(
    rf"(?:return|produce|output|print|emit|deliver|report) {_ONE}\b",
    ("return ", "produce ", "output ", "print ", "emit ", "deliver ", "report "),
)
_RETURN_LABEL = Phrase(r"(?m)^\W{0,4}(?:returns?|produces?)\W{0,3}:", ("return", "produce"))
_INPUTS = ("input", "parameter", "argument")
_INPUT_HEADING = Phrase(
    r"^(?:\d+[.)]? )?(?:required |expected |command )?(?:inputs?|parameters?|arguments?)\b", _INPUTS
)
_INPUT_COLUMN = Phrase(
    r"^(?:inputs?|parameters?|params?|arguments?|options?|flags?)\b", (*_INPUTS, "param", "option", "flag")
)
_ACCEPTS = Phrase(r" (?:accepts|receives|takes|expects) (?:◌|\w)", (" accepts ", " receives ", " takes ", " expects "))
_INPUT = Phrase(
    r"(?:inputs?|parameters?|arguments?) (?:is|are|must|should|may|can|has|have)\b"
    r"|\bas (?:its |an |the )?(?:inputs?|arguments?|parameters?)\b|\$arguments\b",
    _INPUTS,
)
_INPUT_LABEL = Phrase(
    rf"(?m)^(?:given {_ONE}\b|\W{{0,4}}(?:required |expected )?(?:inputs?|parameters?|arguments?)\W{{0,3}}:)",
    ("given ", *_INPUTS),
)
_VERB = Phrase(
    r"\b(?:orchestrat|coordinat|dispatch|delegat)(?:es?|ing)?\b|\bmanag(?:es?|ing)\b",
    ("orchestrat", "coordinat", "dispatch", "delegat", "manag"),
)
_OTHERS = r"\b(?:sub-?agents?|agents?|specialists?|workers?|sub-?tasks?|workflows?|other skills)\b"
_MANAGED = r"\W{1,3}(?:the |a |an |your )?(?:[\w-]{1,30} )?workflows?\b"
_NEGATED = r"\b(?:not|never|no|without|avoid|cannot|instead of|rather than)\b|n['’]t\b"
_SUBJECTS = frozenset(("skill", "it", "that", "which", "who", "and", "then", "or", "also", "agent", "workflow"))
_END = r"[.!?](?=\s)|\n\n"
_REACH = 70  # characters after the verb within which the agents it orchestrates must be named


def output_place(skill: Skill) -> Place | None:
    """Find where a skill documents its output."""
    place = heading(skill, _OUTPUT_HEADING) or first_sentence(skill, _OUTPUT_LABEL)
    if place is not None:
        return place
    for match in _OUTPUT.finditer(skill.prose):
        start = match.start()
        if match["written"] is None or re.compile(_WRITTEN).search(skill.prose, max(0, start - 2 * _BEFORE), start):
            return sentence_at(skill, start)
    return None


def returns_place(skill: Skill) -> Place | None:
    """Find where a skill says what it returns."""
    return _after(skill, _RETURNS, _SUBJECT) or _after(skill, _RETURN, _ORDERED) or first_sentence(skill, _RETURN_LABEL)


def _after(skill: Skill, phrase: Phrase, before: str) -> Place | None:
    """Find the first match that has something of a kind right before it."""
    for match in phrase.finditer(skill.prose):
        if re.search(before, skill.prose[max(0, match.start() - _BEFORE) : match.start()]):
            return sentence_at(skill, match.start())
    return None


def input_place(skill: Skill) -> Place | None:
    """Find where a skill documents what it works from."""
    place = heading(skill, _INPUT_HEADING)
    if place is not None:
        return place
    for line, cells in skill.table_headers:
        if any(_INPUT_COLUMN.search(cell.lower()) for cell in cells):
            return Place(" | ".join(cells), line)
    return first_sentence(skill, _INPUT_LABEL) or _after(skill, _ACCEPTS, _SUBJECT) or first_sentence(skill, _INPUT)


def orchestrates_place(skill: Skill) -> Place | None:
    """Find the first instruction that has agents, sub-tasks or workflows as the object of an orchestrating verb.

    Coordinates of a map, ``dispatch(action)`` in code and "does not orchestrate" are none.
    """
    prose = skill.prose
    for verb in _VERB.finditer(prose):
        after = re.split(_END, prose[verb.end() : verb.end() + _REACH], maxsplit=1)[0]
        before = re.split(_END, prose[max(0, verb.start() - _REACH) : verb.start()])[-1]
        what = re.match(_MANAGED, after) if verb[0].startswith("manag") else re.search(_OTHERS, after)
        if what and _is_verb(verb[0], before) and not re.search(_NEGATED, before):
            return sentence_at(skill, verb.start())
    return None


def _is_verb(word: str, before: str) -> bool:
    """Distinguish the verb in "it coordinates agents" from the noun in "the coordinates of agents", by its subject."""
    words = before.split()
    return not word.endswith("s") or not words or words[-1].strip("*_,") in _SUBJECTS
