"""Sub-checks: each measures one dimension of a skill in [0, 1]."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from skillgate.model.score import Dimension, Evidence, Measured, SubCheck
from skillgate.model.skill import CodeBlock, Language, Skill
from skillgate.scoring.composite import DEFAULT_BAND, SIZE_BANDS
from skillgate.skill.frontmatter import name_defect, same_name
from skillgate.static import documented
from skillgate.static.code import syntax_error
from skillgate.static.text import (
    Place,
    base,
    directives,
    excerpt,
    first_sentence,
    heading,
    is_absent,
    linked_files,
    lost,
    needs_no_trigger,
    sentence_at,
    without_body,
)

# -- Frontmatter

PUSHINESS = 0.60
LENGTH_BANDS = ((100, 0.25), (60, 0.20), (30, 0.15), (10, 0.05))  # from so many characters on


@documented("""Name, length of the description, and how clearly the description says when to use the skill.

A model picks a skill from its name and description alone, so this sub-check feeds triggering_accuracy. 0.15 is for the
name, 0.25 for the description's length, 0.60 for what the method calls pushiness: a trigger phrase, several use cases,
a concrete context. Words in a negated clause earn nothing.

Source: PluginEval method, sub-check frontmatter_quality; the bands and points are those of its implementation, with the
name rule turned round (a name unlike its directory is the defect, not one equal to it).
""")
def _frontmatter_quality(skill: Skill) -> Measured:
    # The phrases of other languages than English are not known: for them name and length alone are measured, over what
    # the two can earn.
    unknown = lost(skill)
    if not skill.frontmatter.valid:
        text = "the frontmatter cannot be read, so name and description are not known"
        return Measured.total((Evidence("there is no frontmatter" if is_absent(skill) else text, 0.0, 1.0),))
    measured = _described(skill)
    return measured._replace(evidence=tuple(_known(item, unknown) for item in measured.evidence))


def _known(item: Evidence, unknown: frozenset[str]) -> Evidence:
    """Leave out the advice that rests on a field whose value is not known."""
    rests_on = {"name"} if item.advice == "name" else {"description", "when_to_use"}
    return item._replace(advice=None) if rests_on & unknown else item


def _described(skill: Skill) -> Measured:
    head = skill.frontmatter
    description = head.text("description")
    line = head.line("description") if "description" in head.values else None
    evidence = (_name(skill), _length(head.values.get("description"), line))
    if skill.routing.language is not Language.OTHER:
        return Measured.total((*evidence, *_pushiness(skill, len(description), line)))
    total = sum(item.possible for item in evidence)
    scaled = (item._replace(points=item.points / total, possible=item.possible / total) for item in evidence)
    return Measured.total((*scaled, Evidence("not in English: its trigger phrasing is not measured", 0.0, 0.0, line)))


def _name(skill: Skill) -> Evidence:
    name = skill.frontmatter.text("name")
    line = skill.frontmatter.line("name")
    if not isinstance(skill.frontmatter.values.get("name", ""), str | None):
        return Evidence("the name is no text", 0.0, 0.15, line, "name")
    if not name:
        return Evidence("no name", 0.0, 0.15, line, "name")
    if name_defect(name):
        return Evidence("the name breaks the naming rule", 0.10, 0.15, line, "name")
    if not same_name(name, skill.root.name):
        return Evidence("the name is not its directory's", 0.10, 0.15, line, "name")
    return Evidence("name", 0.15, 0.15, line)


def _length(value: object, line: int | None) -> Evidence:
    if not isinstance(value, str | None):
        return Evidence("the description is no text", 0.0, 0.25, line, "describe")
    length = len((value or "").strip())
    points = next((points for least, points in LENGTH_BANDS if length >= least), 0.0)
    return Evidence(f"description of {length} characters", points, 0.25, line, None if points == 0.25 else "describe")


def _pushiness(skill: Skill, length: int, line: int | None) -> Iterator[Evidence]:
    routing, head = skill.routing, skill.frontmatter
    if not isinstance(head.values.get("description"), str | None) and not head.text("when_to_use"):
        yield _pushed(0.0, 1.0, "how the description says when to use it is not known", line, None)
        return
    cases = len(routing.use_cases)
    situations = "situations" if routing.triggers else "trigger"  # one piece of advice where all of it is missing
    first = routing.triggers[0].start if routing.triggers else 0  # in the description, or behind it in when_to_use
    where = head.line("when_to_use") if first > length and "when_to_use" in head.values else line
    signs = (
        (bool(routing.triggers), 0.25, "a trigger phrase", "trigger", where),
        (routing.proactive, 0.15, "“proactively”", "proactive", line),
        (routing.automatic, 0.10, "“automatically”, “always use”, “trigger” or “invoke”", "automatic", line),
        (routing.context is not None, 0.15, "a “when/for/during …ing” context", situations, where),
        (length >= 40, 0.10, "at least 40 characters", "describe", line),
    )
    exempt = needs_no_trigger(skill)
    for present, points, text, advice, at in signs:
        key = None if exempt and advice != "describe" else advice
        yield _pushed(points if present else 0.0, points, text if present else f"no sign of {text}", at, key)
    share = 0.20 if cases >= 3 else 0.10 if cases == 2 else 0.0
    text = f"{cases} use case{'s' * (cases != 1)} in the trigger clause"
    yield _pushed(share, 0.20, text, where, None if exempt else situations)


def _pushed(points: float, possible: float, text: str, line: int | None, advice: str | None) -> Evidence:
    earned, most = points * PUSHINESS, possible * PUSHINESS
    return Evidence(text, earned, most, line, None if points == possible else advice)


# -- Inputs, outputs and orchestration

WORKER = 0.70
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


@documented("""Does the skill read as a worker: inputs, outputs and examples documented, no orchestration of others?

It starts at 0.70 and gains for a documented output format, for saying what it returns, for documented input and for two
code blocks; it loses for instructions that orchestrate, coordinate or dispatch agents. Only sentences and sections that
hold text count: a list of keywords earns nothing, and neither do words in code. Under 40 words of prose it starts at 0.

Source: PluginEval method, sub-check orchestration_wiring.
""")
def _orchestration_wiring(skill: Skill) -> Measured:
    if not skill.has_body:
        return without_body(WORKER)
    blocks = sum(1 for block in skill.code_blocks if block.lines)
    enough = blocks >= 2
    evidence = [
        base(skill, WORKER, "a worker until shown otherwise"),
        _gain(_output(skill), 0.10, "an output format", "output"),
        _gain(_returns(skill), 0.05, "what it returns or produces", "returns"),
        _gain(_input(skill), 0.10, "input, parameters or arguments", "input"),
        Evidence(f"{blocks} code block{'s' * (blocks != 1)}", 0.05 * enough, 0.05, advice=None if enough else "code"),
    ]
    orchestrates = _orchestrates(skill)
    if orchestrates is not None:
        text = f"orchestrates others: “{orchestrates.text}”"
        evidence.append(Evidence(text, -0.15, 0.0, orchestrates.line, "orchestrates"))
    return Measured.total(tuple(evidence))


def _gain(place: Place | None, points: float, what: str, advice: str) -> Evidence:
    if place is None:
        return Evidence(f"does not document {what}", 0.0, points, advice=advice)
    return Evidence(f"documents {what}: “{place.text}”", points, points, place.line)


def _output(skill: Skill) -> Place | None:
    place = heading(skill, _OUTPUT_HEADING) or first_sentence(skill, _OUTPUT_LABEL)
    if place is not None:
        return place
    for match in _OUTPUT.finditer(skill.prose):
        start = match.start()
        if match["written"] is None or _WRITTEN.search(skill.prose, max(0, start - 2 * _BEFORE), start):
            return sentence_at(skill, start)
    return None


def _returns(skill: Skill) -> Place | None:
    return _after(skill, _RETURNS, _SUBJECT) or _after(skill, _RETURN, _ORDERED) or first_sentence(skill, _RETURN_LABEL)


def _after(skill: Skill, pattern: re.Pattern[str], before: re.Pattern[str]) -> Place | None:
    """Find the first match that has something of a kind right before it."""
    for match in pattern.finditer(skill.prose):
        if before.search(skill.prose[max(0, match.start() - _BEFORE) : match.start()]):
            return sentence_at(skill, match.start())
    return None


def _input(skill: Skill) -> Place | None:
    place = heading(skill, _INPUT_HEADING)
    if place is not None:
        return place
    for line, cells in skill.table_headers:
        if any(_INPUT_COLUMN.search(cell.lower()) for cell in cells):
            return Place(" | ".join(cells), line)
    return first_sentence(skill, _INPUT_LABEL) or _after(skill, _ACCEPTS, _SUBJECT) or first_sentence(skill, _INPUT)


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


# -- Size, and detail in other files

SIZE_POINTS = ((99, 0.20), (199, 0.50), (600, 0.60), (800, 0.40))  # up to and including so many lines
OVER = 0.15
LONG = 400
STUB = 50


@documented("""Is the main file of a useful size, with detail kept in linked files that are read only when needed?

The size band gives up to 0.60; a non-empty, linked file in references/ gives 0.25 where the main file has more than 400
lines and 0.15 below; a non-empty, linked file in assets/ gives 0.15. A body of more than 10,000 estimated tokens counts
as more than 800 lines, however few its lines.

Source: PluginEval method, sub-check progressive_disclosure.
""")
def _progressive_disclosure(skill: Skill) -> Measured:
    if not skill.has_body:
        return without_body(SIZE_POINTS[0][1])
    bonus = 0.25 if skill.lines > LONG else 0.15  # by its lines alone: what makes a file heavy must not pay
    folders = (("references", skill.references, bonus), ("assets", skill.assets, 0.15))
    return Measured.total((_size(skill), *(_folder(skill, *folder) for folder in folders)))


def _size(skill: Skill) -> Evidence:
    lines = skill.effective_lines
    points = next((points for most, points in SIZE_POINTS if lines <= most), OVER)
    advice = None if points == 0.60 else "longer" if lines < 200 else "shorter"
    return Evidence(_size_text(skill), points, 0.60, advice=None if "metadata" in lost(skill) else advice)


def _size_text(skill: Skill) -> str:
    if skill.effective_lines == skill.lines:
        return f"{skill.lines} lines"
    return f"{skill.tokens:,} tokens in {skill.lines} lines"


def _folder(skill: Skill, name: str, files: frozenset[str], bonus: float) -> Evidence:
    linked = linked_files(skill, files)
    if linked:
        return Evidence(f"{linked} linked in {name}/", bonus, bonus)
    text = f"nothing in {name}/ is linked" if files else f"no file in {name}/"
    return Evidence(text, 0.0, bonus, advice=name)


@documented("""Is the main file of the length that suits its kind: neither a stub nor everything at once?

1 inside the size band of the category in `metadata.category` (200–600 lines without one); below it falls to 0 at 50
lines; above it falls too, unless the surplus is kept company by linked references.

Source: PluginEval method, category norms of its rubrics for scope; the straight lines outside a band are ours.
""")
def _scope_calibration(skill: Skill) -> Measured:
    if not skill.has_body:
        return without_body()
    category, (low, high) = _band(skill)
    linked = bool(linked_files(skill, skill.references))
    # A short file with long lines is a stub and bloated at once: the worse of the two counts.
    fits = [_fit(lines, low, high, linked=linked) for lines in {skill.lines, skill.effective_lines}]
    points, advice = min(fits, key=lambda fit: fit[0])
    suits = f"{low}–{high} suit {category}"
    if "metadata" in lost(skill):
        suits, advice = "its category, which says how many suit it, cannot be read", None
    return Measured.total((Evidence(f"{_size_text(skill)}; {suits}", max(0.0, points), 1.0, advice=advice),))


def _fit(lines: int, low: int, high: int, *, linked: bool) -> tuple[float, str | None]:
    if lines < low:
        return (lines - STUB) / (low - STUB), "longer"
    if lines > high and not linked:
        return 1 - (lines - high) / high, "shorter"
    return 1.0, None


def _band(skill: Skill) -> tuple[str, tuple[int, int]]:
    metadata = skill.frontmatter.values.get("metadata")
    category = metadata.get("category") if isinstance(metadata, dict) else None
    name = category.strip().lower() if isinstance(category, str) else ""
    if name in SIZE_BANDS:
        return f"the category {name}", SIZE_BANDS[name]
    return "a skill without a category", DEFAULT_BAND


# -- The parts of the text

_EXAMPLES = re.compile(
    r"(?<!non-)\bexamples?\b|^(?:\d+[.)]? )?(?:basic |quick |common )?usage(?: (?:patterns?|guide|notes?"
    r"|instructions?))?\W*$|\bquick ?start\b|\bhow to use\b|\bwalk-?through\b"
    r"|\bsample (?:input|output|code|usage|session)s?\b"
)
_TROUBLE = re.compile(
    r"\b(?:troubleshoot\w*|faq|frequently asked|edge cases?|pitfalls?|gotchas?|failure modes?|limitations"
    r"|(?:common|known) (?:\w+ )?(?:issues?|problems?|errors?|mistakes?|failures?|traps?)"
    r"|when (?:things|it) (?:go|goes|fails?))\b|^(?:\d+[.)]? )?error handling\W*$"
)
_DECISION = re.compile(
    r"\b(?:when (?:not )?to (?:use|choose|pick)|use when|best for|compar(?:ison|ing)|trade-?offs?|choos(?:e|ing)|versus"
    r"|vs|decision (?:tree|matrix|guide|table|aid|framework|criteria|flow\w*|points?))\b"
)


@documented("""Does the skill have the parts that a reader looks for: sections, code, examples, troubleshooting, tables?

A section counts when it holds 8 words or a code block of 2 lines; a code block when it holds code; a table when it has
a row. A heading alone earns nothing, nor does one inside a code block. The order of sections is not scored.

Source: PluginEval method, sub-check structural_completeness, with each code block counted once.
""")
def _structural_completeness(skill: Skill) -> Measured:
    if not skill.has_body:
        return without_body()
    sections = sum(1 for item in skill.headings if item.level in (2, 3) and item.counts)
    blocks = [block for block in skill.code_blocks if block.lines]
    languages = {block.language for block in blocks if block.language}
    return Measured.total(
        (
            _steps(sections, ((6, 0.20), (4, 0.15), (2, 0.10)), "sections that hold something", "sections"),
            _steps(len(blocks), ((5, 0.20), (3, 0.15), (1, 0.10)), "code blocks", "code"),
            _steps(len(languages), ((3, 0.15), (2, 0.10)), "languages of code blocks", "code"),
            _section(skill, _EXAMPLES, "an Examples or Usage section", "examples"),
            _section(skill, _TROUBLE, "a section on troubleshooting or edge cases", "troubleshooting"),
            _table(skill),
            _decision(skill),
        )
    )


def _steps(count: int, steps: tuple[tuple[int, float], ...], what: str, advice: str) -> Evidence:
    points = next((points for least, points in steps if count >= least), 0.0)
    most = steps[0][1]
    return Evidence(f"{count} {what}", points, most, advice=None if points == most else advice)


def _section(skill: Skill, pattern: re.Pattern[str], what: str, advice: str) -> Evidence:
    place = heading(skill, pattern)
    if place is not None:
        return Evidence(f"section “{place.text}”", 0.15, 0.15, place.line)
    thin = next((item for item in skill.headings if item.level > 1 and pattern.search(item.text.lower())), None)
    if thin is None:
        return Evidence(f"no {what.partition(' ')[2]}", 0.0, 0.15, advice=advice)
    return Evidence(f"“{excerpt(thin.text)}” holds too little", 0.0, 0.15, thin.line, advice)


def _table(skill: Skill) -> Evidence:
    if not skill.table_headers:
        return Evidence("no table", 0.0, 0.10, advice="table")
    return Evidence("a table", 0.10, 0.10, skill.table_headers[0][0])


def _decision(skill: Skill) -> Evidence:
    place = heading(skill, _DECISION)
    lines = [place.line] if place else []
    lines += [line for line, cells in skill.table_headers if any(_DECISION.search(cell.lower()) for cell in cells)]
    if not lines:
        return Evidence("no decision aid", 0.0, 0.05, advice="decision")
    return Evidence("a decision aid", 0.05, 0.05, min(lines))


DENSITY = ((0.5, 0.40), (0.2, 0.20), (0.1, 0.10))  # above so many directives a line
REPETITION = 0.40


@documented("""Does the text spend its tokens well: few commands in capitals, no line said twice?

It starts at 1 and loses up to 0.40 for the density of MUST, NEVER and ALWAYS (in prose, per line of the file) and up to
0.40 for repeated prose lines, compared after folding white space, case and list marker. Code does not count, so that
closing brackets are no repetition. Under 40 words of prose it starts at 0.

Source: PluginEval method, sub-check token_efficiency, counted over prose.
""")
def _token_efficiency(skill: Skill) -> Measured:
    start = base(skill, 1.0, "every line earns its place until shown otherwise")
    if not start.points:
        return Measured(score=0.0, evidence=(start,))
    return Measured.total((start, _density(skill), _repetition(skill)))


def _density(skill: Skill) -> Evidence:
    found = directives(skill)
    density = len(found) / max(1, skill.lines)
    loss = next((loss for above, loss in DENSITY if density > above), 0.0)
    text = f"{len(found)} MUST, NEVER or ALWAYS in {skill.lines} lines"
    return Evidence(text, -loss or 0.0, 0.0, found[0].line if found else None, "directives" if loss else None)


def _repetition(skill: Skill) -> Evidence:
    seen: set[str] = set()
    repeated: list[int] = []
    for line, folded in skill.prose_lines:
        if folded in seen:
            repeated.append(line)
        seen.add(folded)
    loss = REPETITION * len(repeated) / len(skill.prose_lines) if skill.prose_lines else 0.0
    text = f"{len(repeated)} of {len(skill.prose_lines)} lines of prose say what an earlier one says"
    first, advice = (repeated[0], "repeats") if repeated else (None, None)
    return Evidence(text, -loss or 0.0, 0.0, first, advice)


# -- Neighbours

ALONE = 0.50
EACH, MOST = 0.08, 0.25
_RELATED_HEADING = re.compile(
    r"^(?:\d+[.)]? )?(?:related(?: (?:skills?|agents?|commands?|resources?|reading|topics?|docs|documentation|files?))?"
    r"|see also|(?:companion|sibling) skills?|works (?:well )?with(?: other skills)?|integration with other skills)\W*$"
)
_RELATED_LINE = re.compile(r"^\W{0,4}(?:see also\b|related(?: (?:skills?|agents?|commands?))?\s?:)", re.MULTILINE)


@documented("""\
Does the skill lead on to its neighbours: other skills and agents that really are there, and a Related section?

It starts at 0.50 and gains 0.08, up to 0.25, for each other skill or agent that a link, a path or a name resolves to,
and 0.25 for a Related or See also section or mention that says something. A dead reference earns nothing, nor does a
word such as "complement" or "related" in running text. Under 40 words of prose it starts at 0.

Source: PluginEval method, sub-check ecosystem_coherence.
""")
def _ecosystem_coherence(skill: Skill) -> Measured:
    if not skill.has_body:
        return without_body(ALONE)
    return Measured.total((base(skill, ALONE, "stands by itself"), _related(skill), _related_section(skill)))


def _related(skill: Skill) -> Evidence:
    count = len(skill.related)
    points = min(MOST, EACH * count)
    possible = min(MOST, EACH * max(count, skill.siblings))
    text = f"{count} other skill{'s' * (count != 1)} or agent{'s' * (count != 1)} referred to"
    return Evidence(text, points, possible, advice=None if points >= possible else "related-links")


def _related_section(skill: Skill) -> Evidence:
    thin = None
    for item in skill.headings:
        if item.level > 1 and _RELATED_HEADING.search(item.text.lower()):
            if item.counts or item.links:
                return Evidence(f"section “{item.text}”", 0.25, 0.25, item.line)
            thin = thin or item
    for block in skill.blocks:
        match = _RELATED_LINE.search(block.text.lower()) if block.leads_on else None
        if match:
            return Evidence("a See also line", 0.25, 0.25, block.line + block.text.count("\n", 0, match.start()))
    if thin is None:
        return Evidence("no Related section", 0.0, 0.25, advice="related")
    return Evidence(f"“{thin.text}” holds too little, and leads to no skill", 0.0, 0.25, thin.line, "related")


# -- Code

MAX_PARSED = 1 << 18  # characters of code that are parsed in one skill; what follows counts by its tag alone


@documented("""Can the code blocks be copied: does each name its language, and does it parse?

The score is the share of code blocks that carry a language tag and, for Python, JSON, TOML and YAML, parse. A block
with a placeholder (`...`, `<name>`, `{{ value }}`) or a prompt (`$`, `>>>`) is a template or a transcript and no error.
Blocks of other languages count as soon as they are tagged. Without a code block nothing is measured.

Source: PluginEval method, improvement tips for code_template_quality; its own code never measured it.
""")
def _code_template_quality(skill: Skill) -> Measured:
    blocks = [block for block in skill.code_blocks if block.lines]
    if not blocks:
        return Measured(score=None, reason="there is no code block to judge")
    evidence = tuple(_blocks(blocks))
    return Measured(score=sum(1 for item in evidence if item.points) / len(blocks), evidence=evidence)


def _blocks(blocks: Sequence[CodeBlock]) -> Iterator[Evidence]:
    share, parsed = 1 / len(blocks), 0
    for block in blocks:
        parsed += len(block.code)
        error = syntax_error(block.language, block.code) if block.language and parsed <= MAX_PARSED else None
        if not block.language:
            yield Evidence("code block without a language tag", 0.0, share, block.line, "tags")
        elif error is not None:
            yield Evidence(f"{block.language} does not parse: {error}", 0.0, share, block.line, "syntax")
        else:
            yield Evidence(f"{block.language} block", share, share, block.line)


SUBCHECKS = {  # heaviest first
    "frontmatter_quality": SubCheck(
        Dimension.TRIGGERING_ACCURACY,
        0.35,
        "name, description length, and how clearly the description says when to use the skill",
        _frontmatter_quality,
    ),
    "orchestration_wiring": SubCheck(
        Dimension.ORCHESTRATION_FITNESS,
        0.25,
        "inputs, outputs and examples are documented, and nothing orchestrates others",
        _orchestration_wiring,
    ),
    "progressive_disclosure": SubCheck(
        Dimension.PROGRESSIVE_DISCLOSURE,
        0.15,
        "size of the main file, and detail in linked references/ and assets/",
        _progressive_disclosure,
    ),
    "structural_completeness": SubCheck(
        Dimension.STRUCTURAL_COMPLETENESS,
        0.10,
        "sections, code blocks, examples, troubleshooting, tables",
        _structural_completeness,
    ),
    "token_efficiency": SubCheck(
        Dimension.TOKEN_EFFICIENCY, 0.10, "few commands in capitals, no repeated lines", _token_efficiency
    ),
    "ecosystem_coherence": SubCheck(
        Dimension.ECOSYSTEM_COHERENCE,
        0.05,
        "other skills that are really there, and a Related section",
        _ecosystem_coherence,
    ),
    "code_template_quality": SubCheck(
        Dimension.CODE_TEMPLATE_QUALITY, 0.0, "code blocks that name their language and parse", _code_template_quality
    ),
    "scope_calibration": SubCheck(
        Dimension.SCOPE_CALIBRATION, 0.0, "length of the main file for its category", _scope_calibration
    ),
}
