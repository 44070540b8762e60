"""Sub-checks: each measures one dimension of a skill in [0, 1]."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import log1p

from skillgate.model.score import Dimension, Evidence, Measured, SubCheck
from skillgate.model.skill import CodeBlock, Language, Skill
from skillgate.skill.frontmatter import name_defect, same_name
from skillgate.static import documented
from skillgate.static.code import syntax_error
from skillgate.static.features import VAGUE_FREE, Features, features
from skillgate.static.substance import stems, substance
from skillgate.static.text import (
    DECISION,
    EXAMPLES,
    MIN_PROSE_WORDS,
    TROUBLE,
    Phrase,
    Place,
    base,
    described_in_english,
    directives,
    excerpt,
    heading,
    input_place,
    is_absent,
    linked_files,
    lost,
    needs_no_trigger,
    orchestrates_place,
    output_place,
    returns_place,
    titles,
    without_body,
)

# How much of a sub-check is what the source's table names; the rest is set from what readers said of published skills.
SOURCE = 0.40
OURS = 1 - SOURCE


def _from_source(evidence: Iterable[Evidence], share: float = SOURCE) -> Iterator[Evidence]:
    """Scale what the source's table gives to its part of a sub-check."""
    return (item._replace(points=item.points * share, possible=item.possible * share) for item in evidence)


def _grown(count: int, most: int) -> float:
    """Return the share in [0, 1] that a count earns: the first of a kind are worth more than the last."""
    return min(1.0, log1p(count) / log1p(most))


def _substance(share: float, points: float, text: str, advice: str | None, line: int | None = None) -> Evidence:
    """Return the evidence of a share in [0, 1] of what can be earned for something."""
    return Evidence(text, points * share, points, line, None if share >= 1 else advice)


def _some(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


NOT_ENGLISH = "the {} are in a language that is not recognised, and this measure rests on English"


# -- Frontmatter

PUSHINESS = 0.60
LENGTH_BANDS = ((100, 0.25), (60, 0.20), (30, 0.15), (10, 0.05))  # from so many characters on
SITUATIONS, OBJECTS, CONDITIONS, BOUNDARY = 0.26, 0.20, 0.10, 0.04  # what each of them earns at most
MOST_SITUATIONS, MOST_OBJECTS, MOST_CONDITIONS = 4, 10, 2
VAGUE_LOSS = 0.30  # for each share of vague words above the free one


@documented("""Does the description name situations, objects and limits, so that a model knows when to load the skill?

A model picks a skill from its name and description alone, so this sub-check feeds triggering_accuracy. The source's
part is 0.40: name, length of the description, and its trigger phrasing, which counts where it names something that is
no filler word. 0.60 is for what it says. Situations that name what the instructions are about earn 0.26, different
specific words that the instructions use too 0.20, conditions such as "when" and "before" 0.10, and a limit 0.04.
Words that fit every skill cost points. Words in a negated clause earn nothing. Where the language is not recognised
nothing is measured.

Source: PluginEval method, sub-check frontmatter_quality, for the first part; readers' ratings for the second.
""")
def _frontmatter_quality(skill: Skill) -> Measured:
    unknown = lost(skill)
    if not skill.frontmatter.valid:
        text = "the frontmatter cannot be read, so name and description are not known"
        return Measured.total((Evidence("there is no frontmatter" if is_absent(skill) else text, 0.0, 1.0),))
    if not described_in_english(skill):
        return Measured(None, reason=NOT_ENGLISH.format("words of the description"))
    return Measured.total(tuple(_known(item, unknown) for item in _described(skill)))


def _known(item: Evidence, unknown: frozenset[str]) -> Evidence:
    """Leave out the advice that rests on a field with an unknown value."""
    rests_on = {"name"} if item.advice == "name" else {"description", "when_to_use"}
    return item._replace(advice=None) if rests_on & unknown else item


def _described(skill: Skill) -> Iterator[Evidence]:
    head = skill.frontmatter
    line = head.line("description") if "description" in head.values else None
    yield from _from_source((_name(skill), _length(head.values.get("description"), line)))
    yield from _from_source(_pushiness(skill, len(head.text("description")), line))
    if isinstance(head.values.get("description"), str | None) or head.text("when_to_use"):
        yield from _said(features(skill), line, exempt=needs_no_trigger(skill))


def _said(found: Features, line: int | None, *, exempt: bool) -> Iterator[Evidence]:
    """Yield what a description says of situations, objects and limits; no advice on those to an exempt skill."""
    situations = _some(found.situations, "situation") + " that the instructions are about"
    advice = None if exempt else "situations" if found.situations else "trigger"
    yield _substance(_grown(found.situations, MOST_SITUATIONS), SITUATIONS, situations, advice, line)
    objects = _grown(found.objects, MOST_OBJECTS)
    text = _some(found.objects, "specific word") + " that the instructions use too"
    yield _substance(objects, OBJECTS, text, "objects", line)
    conditions = min(1.0, found.conditions / MOST_CONDITIONS)
    yield _substance(conditions, CONDITIONS, _some(found.conditions, "condition"), advice, line)
    text = "says when not to use it" if found.boundary else "does not say when not to use it"
    yield _substance(float(found.boundary), BOUNDARY, text, "boundary", line)
    vague = max(0.0, found.vague - VAGUE_FREE)
    if vague:
        text = f"{found.vague:.0%} of its words fit every skill"
        yield Evidence(text, -VAGUE_LOSS * vague, 0.0, line, "vague")


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
    band = next(
        (f"; the method gives {most:.2f} from {least} on" for least, most in reversed(LENGTH_BANDS) if most > points),
        "",
    )
    return Evidence(f"description of {length} characters{band}", points, 0.25, line, None if points else "describe")


def _pushiness(skill: Skill, length: int, line: int | None) -> Iterator[Evidence]:
    routing, head = features(skill).routing, skill.frontmatter
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
        (length >= 40, 0.10, "at least 40 characters", None, line),
    )
    exempt = needs_no_trigger(skill)
    for present, points, text, advice, at in signs:
        key = None if exempt else advice
        yield _pushed(points if present else 0.0, points, text if present else f"no sign of {text}", at, key)
    share = 0.20 if cases >= 3 else 0.10 if cases == 2 else 0.0
    text = f"{cases} use case{'s' * (cases != 1)} in the trigger clause"
    yield _pushed(share, 0.20, text, where, None if exempt else situations)


def _pushed(points: float, possible: float, text: str, line: int | None, advice: str | None) -> Evidence:
    earned, most = points * PUSHINESS, possible * PUSHINESS
    return Evidence(text, earned, most, line, None if points == possible else advice)


# -- Inputs, outputs and orchestration

WORKER = 0.70
INSTRUCTIONS, SENTENCES, DELIVERS = 0.27, 0.21, 0.12  # what each of them earns at most
MOST_INSTRUCTIONS, MOST_RESULTS = 8, 4
FRAMED_FROM, FRAMED_TO = 0.06, 0.16
STOCK_FREE, STOCK_LOSS = 0.01, 1.8


@documented("""Does the skill do the work: does it say what to do, what it works from and what it delivers?

The source's part is 0.40. It starts at 0.70 of that. It gains for a documented output format, for saying what it
returns, for documented input and for two code blocks. It loses for instructions that orchestrate, coordinate or
dispatch agents. Below 40 words of prose the start falls to 0. 0.60 is for the instructions themselves: statements with
two signs of substance (0.27), whole sentences rather than fragments (0.21), and what is delivered, however it is said
(0.12). Words that fit every skill cost points, and filler does not count.

Source: PluginEval method, sub-check orchestration_wiring, for the first part; readers' ratings for the second.
""")
def _orchestration_wiring(skill: Skill) -> Measured:
    if not substance(skill).skill.has_body:
        return without_body(skill, SOURCE * WORKER)
    text = substance(skill)
    if text.language is Language.OTHER:
        return Measured(None, reason=NOT_ENGLISH.format("instructions"))
    found = features(skill)
    evidence = [*_from_source(_wiring(text.skill)), *_instructions(found)]
    return Measured.total(tuple(evidence))


def _instructions(found: Features) -> Iterator[Evidence]:
    yield _missing(found)
    whole = min(1.0, max(0.0, (found.framed - FRAMED_FROM) / (FRAMED_TO - FRAMED_FROM)))
    yield _substance(whole, SENTENCES, "whole sentences rather than fragments", "sentences")
    text = _some(found.results, "statement") + " about what it delivers"
    yield _substance(_grown(found.results, MOST_RESULTS), DELIVERS, text, "output")
    stock = max(0.0, found.stock - STOCK_FREE)
    if stock:
        yield Evidence(f"{found.stock:.0%} of the words fit every skill", -STOCK_LOSS * stock, 0.0, advice="stock")


def _missing(found: Features) -> Evidence:
    """Return what the instructions earn, with what they lack most and the line where it is missing."""
    text = _some(found.rich, "statement") + " of what to do, about what, when, why or within which limit"
    share, advice, line = _grown(found.rich, MOST_INSTRUCTIONS), "instructions", None
    if found.unguarded is not None:
        advice, line = "failures", found.unguarded.line
        text += f"; nothing says what to do when this fails: “{found.unguarded.text}”"
    elif found.unexplained is not None:
        advice, line = "reasons", found.unexplained.line
        text += f"; nothing says why: “{found.unexplained.text}”"
    return _substance(share, INSTRUCTIONS, text, advice, line)


def _wiring(skill: Skill) -> Iterator[Evidence]:
    """Yield what the source's table gives."""
    blocks = sum(1 for block in skill.code_blocks if block.lines)
    enough = blocks >= 2
    yield base(skill, WORKER, "a worker until shown otherwise")
    yield _gain(output_place(skill), 0.10, "an output format", "output")
    yield _gain(returns_place(skill), 0.05, "what it returns or produces", "returns")
    yield _gain(input_place(skill), 0.10, "input, parameters or arguments", "input")
    yield Evidence(_some(blocks, "code block"), 0.05 * enough, 0.05, advice=None if blocks else "code")
    orchestrates = orchestrates_place(skill)
    if orchestrates is not None:
        yield Evidence(f"orchestrates others: “{orchestrates.text}”", -0.15, 0.0, orchestrates.line, "orchestrates")


def _gain(place: Place | None, points: float, what: str, advice: str) -> Evidence:
    if place is None:
        return Evidence(f"does not document {what}", 0.0, points, advice=advice)
    return Evidence(f"documents {what}: “{place.text}”", points, points, place.line)


# -- Size, and detail in other files

SIZE_POINTS = ((99, 0.20), (199, 0.50), (600, 0.60), (800, 0.40))  # up to and including so many lines
OVER = 0.15
LONG = 400


@documented("""Is the main file of a useful size, with detail in linked files that are read only when needed?

The size band gives up to 0.60; a non-empty, linked file in references/ gives 0.25 where the main file has more than 400
lines and 0.15 below; a non-empty, linked file in assets/ gives 0.15. A body of more than 10,000 estimated tokens counts
as more than 800 lines, however few its lines.

Source: PluginEval method, sub-check progressive_disclosure.
""")
def _progressive_disclosure(skill: Skill) -> Measured:
    if not substance(skill).skill.has_body:
        return without_body(skill, SIZE_POINTS[0][1])
    text = substance(skill).skill
    bonus = 0.25 if text.lines > LONG else 0.15  # by its lines alone: what makes a file heavy must not pay
    folders = (("references", text.references, bonus), ("assets", text.assets, 0.15))
    return Measured.total((_size(text, skill.lines), *(_folder(text, *folder) for folder in folders)))


def _size(skill: Skill, written: int) -> Evidence:
    lines = skill.effective_lines
    points = next((points for most, points in SIZE_POINTS if lines <= most), OVER)
    text = _size_text(skill, written) + ("" if points == 0.60 else f"; the method gives {points:.2f} {_band(lines)}")
    return Evidence(text, points, 0.60, advice="shorter" if lines > 600 else None)


def _band(lines: int) -> str:
    return "below 100" if lines < 100 else "below 200" if lines < 200 else "above 600" if lines <= 800 else "above 800"


def _size_text(skill: Skill, written: int) -> str:
    """Say how many lines count; those that only wrap a paragraph, and filler, do not."""
    lines = f"{skill.lines} lines" if skill.lines == written else f"{skill.lines} lines that count of {written}"
    return lines if skill.effective_lines == skill.lines else f"{skill.tokens:,} tokens in {lines}"


def _folder(skill: Skill, name: str, files: frozenset[str], bonus: float) -> Evidence:
    linked = linked_files(skill, files)
    if linked:
        return Evidence(f"{linked} linked in {name}/", bonus, bonus)
    text = f"nothing in {name}/ is linked" if files else f"no file in {name}/"
    return Evidence(text, 0.0, bonus, advice=name if name == "references" and (files or skill.lines > LONG) else None)


# -- The parts of the text


@documented("""Does the skill have the parts that a reader looks for: sections, code, examples, troubleshooting, tables?

A section counts when it holds 8 words or a code block of 2 lines; a code block when it holds code; a table when it has
a row. A heading alone earns nothing, nor does one inside a code block. The order of sections is not scored.

Source: PluginEval method, sub-check structural_completeness, with each code block counted once.
""")
def _structural_completeness(skill: Skill) -> Measured:
    if not substance(skill).skill.has_body:
        return without_body(skill)
    if substance(skill).language is Language.OTHER:
        return Measured(None, reason=NOT_ENGLISH.format("headings"))
    skill = substance(skill).skill
    sections = sum(1 for item in skill.headings if item.level in (2, 3) and item.counts)
    blocks = [block for block in skill.code_blocks if block.lines]
    languages = {block.language for block in blocks if block.language}
    return Measured.total(
        (
            _steps(sections, ((6, 0.20), (4, 0.15), (2, 0.10)), "sections that hold something", "sections"),
            _steps(len(blocks), ((5, 0.20), (3, 0.15), (1, 0.10)), "code blocks", "code"),
            _steps(len(languages), ((3, 0.15), (2, 0.10)), "languages of code blocks", "code"),
            _section(skill, EXAMPLES, "an Examples or Usage section", "examples"),
            _section(skill, TROUBLE, "a section on troubleshooting or edge cases", "troubleshooting"),
            _table(skill),
            _decision(skill),
        )
    )


def _steps(count: int, steps: tuple[tuple[int, float], ...], what: str, advice: str) -> Evidence:
    points = next((points for least, points in steps if count >= least), 0.0)
    most = steps[0][1]
    return Evidence(f"{count} {what}", points, most, advice=None if points else advice)


def _section(skill: Skill, phrase: Phrase, what: str, advice: str) -> Evidence:
    place = heading(skill, phrase)
    if place is not None:
        return Evidence(f"section “{place.text}”", 0.15, 0.15, place.line)
    thin = next((item for item in skill.headings if item.level > 1 and phrase.search(item.text.lower())), None)
    if thin is None:
        return Evidence(f"no {what.partition(' ')[2]}", 0.0, 0.15, advice=advice)
    return Evidence(f"“{excerpt(thin.text)}” holds too little", 0.0, 0.15, thin.line, advice)


def _table(skill: Skill) -> Evidence:
    if not skill.table_headers:
        return Evidence("no table", 0.0, 0.10, advice="table")
    return Evidence("a table", 0.10, 0.10, skill.table_headers[0][0])


def _decision(skill: Skill) -> Evidence:
    place = heading(skill, DECISION)
    lines = [place.line] if place else []
    lines += [line for line, cells in skill.table_headers if any(DECISION.search(cell.lower()) for cell in cells)]
    if not lines:
        return Evidence("no decision aid", 0.0, 0.05, advice="decision")
    return Evidence("a decision aid", 0.05, 0.05, min(lines))


CARRYING, SLOGANS, FILLER_LOSS = 0.60, 0.18, 0.60
CARRYING_TO = 0.62  # no text carries something in each of its words
DENSITY = ((0.5, 0.40), (0.2, 0.20), (0.1, 0.10))  # above so many directives a line
REPETITION = 0.40


@documented("""Does the text spend its tokens well: how much of it carries something, and is nothing said twice?

The source's part is 0.40. It loses for the density of MUST, NEVER and ALWAYS (in prose, per line of the file) and for
repeated prose lines. Lines are compared without white space, case and list marker. 0.60 is for the share of the words
in statements with a sign of substance: a concrete thing, a condition, a limit, a reason, a failure. Stock phrases,
short statements that say nothing of this skill, and filler cost points. Code does not count. Below 40 words of prose
what is earned falls to 0.

Source: PluginEval method, sub-check token_efficiency, for the first part; readers' ratings for the second.
""")
def _token_efficiency(skill: Skill) -> Measured:
    if not substance(skill).skill.has_body:
        return without_body(skill, 1.0)
    text = substance(skill)
    if text.language is Language.OTHER:
        return Measured(None, reason=NOT_ENGLISH.format("instructions"))
    if not text.skill.prose_words:
        return Measured(
            score=0.0, evidence=(base(text.skill, 1.0, "every line earns its place until shown otherwise"),)
        )
    start = base(text.skill, SOURCE, "every line earns its place until shown otherwise")
    return Measured.total((start, *_from_source((_density(skill), _repetition(skill))), *_spent(skill)))


def _spent(skill: Skill) -> Iterator[Evidence]:
    text, found = substance(skill), features(skill)
    share = min(1.0, text.skill.prose_words / MIN_PROSE_WORDS)
    yield _substance(
        min(1.0, found.carrying / CARRYING_TO) * share,
        CARRYING,
        f"{found.carrying:.0%} of the words are in statements that carry something",
        "carrying",
    )
    stock = max(0.0, found.stock - STOCK_FREE)
    if stock:
        yield Evidence(f"{found.stock:.0%} of the words fit every skill", -STOCK_LOSS * stock, 0.0, advice="stock")
    if found.slogans:
        lost_for = f"{found.slogans:.0%} of the statements are short and name nothing"
        yield Evidence(lost_for, -SLOGANS * found.slogans, 0.0, advice="carrying")
    if text.filler_words:
        filler = text.filler_words / text.words
        yield Evidence(f"{filler:.0%} of the words are filler", -FILLER_LOSS * filler, 0.0, text.filler[0][0], "filler")


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
HANDS_OVER, MOST_HANDS_OVER = 0.50, 4
EACH, MOST = 0.08, 0.25
_RELATED_HEADING = Phrase(
    r"^[\W_]*(?:\d{1,3}(?:\.\d{1,3}){0,3}[\W_]+)?"  # marks of bold and code, emoji, and a number
    r"(?:related(?: (?:skills?|agents?|commands?|resources?|reading|topics?|docs|documentation|files?))?|see also"
    r"|(?:companion|sibling) skills?|works (?:well )?with(?: other skills)?|integration with other skills)[\W_]*$",
    ("related", "see also", "companion", "sibling", "works ", "integration with"),
)
_RELATED_LINE = Phrase(
    r"(?m)^\W{0,4}(?:see also\b|related(?: (?:skills?|agents?|commands?))?\s?:)", ("see also", "related")
)


@documented("""\
Does the skill lead on to its neighbours: other skills and agents that really are there, and a Related section?

The source's part is one half. It starts at 0.50 of that. It gains 0.08, up to 0.25, for each other skill or agent that
a link, a path or a name resolves to. A Related or See also section or mention that says something adds 0.25. A dead
reference earns nothing, nor does a word such as "complement" or "related" in running text. Below 40 words of prose the
start falls to 0. The other half is for statements that say when another skill, agent or reference takes over.

Source: PluginEval method, sub-check ecosystem_coherence, for the first half; readers' ratings for the second.
""")
def _ecosystem_coherence(skill: Skill) -> Measured:
    if not substance(skill).skill.has_body:
        return without_body(skill, ALONE)
    text = substance(skill)
    if text.language is Language.OTHER:
        return Measured(None, reason=NOT_ENGLISH.format("instructions"))
    start = base(text.skill, ALONE, "is alone")
    count = features(skill).neighbours
    said = _some(count, "statement") + " about when another skill, agent or reference takes over"
    ours = _substance(_grown(count, MOST_HANDS_OVER), HANDS_OVER, said, "related")
    source = (start, _related(text.skill), _related_section(text.skill))
    return Measured.total((*_from_source(source, 1 - HANDS_OVER), ours))


def _related(skill: Skill) -> Evidence:
    count = len(skill.related)
    points = min(MOST, EACH * count)
    possible = min(MOST, EACH * max(count, skill.siblings))
    text = f"{count} other skill{'s' * (count != 1)} or agent{'s' * (count != 1)} referred to"
    return Evidence(text, points, possible, advice=None if points >= possible else "related-links")


def _related_section(skill: Skill) -> Evidence:
    thin = None
    for item, title in titles(skill):
        if _RELATED_HEADING.search(title.lower()):
            if item.counts or item.links:
                return Evidence(f"section “{title}”", 0.25, 0.25, item.line)
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


TAGGED, INTRODUCED, EXPLAINED = 0.50, 0.20, 0.30  # of what a block can earn
INTRODUCES = 4  # words
EXPLAINED_TO = 0.6  # the share of a block's words that the text uses too; no text names all of them


@documented("""Can the code blocks be copied and understood: tagged, parsed, introduced and explained by the text?

A block earns half of its share where it carries a language tag and, for Python, JSON, TOML and YAML, parses. A block
with a placeholder (`...`, `<name>`, `{{ value }}`) or a prompt (`$`, `>>>`) is a template or a transcript and no error.
Blocks of other languages count as soon as they are tagged. The other half is for a sentence right before the block
(0.20) and for words of the block that the text uses too (0.30). Without them a reader has to guess what the code is
for. Without a code block nothing is measured.

Source: PluginEval method, improvement tips for code_template_quality (its own code never measured it), for the first
half; readers' ratings for the second.
""")
def _code_template_quality(skill: Skill) -> Measured:
    blocks = [block for block in skill.code_blocks if block.lines]
    if not blocks:
        return Measured(score=None, reason="there is no code block to judge")
    if not substance(skill).skill.has_body:
        return without_body(skill)
    evidence = (*_blocks(blocks), *_explained(skill, blocks))
    return Measured(score=min(1.0, sum(item.points for item in evidence)), evidence=evidence)


def _blocks(blocks: Sequence[CodeBlock]) -> Iterator[Evidence]:
    share, parsed = TAGGED / len(blocks), 0
    for block in blocks:
        parsed += len(block.code)
        error = syntax_error(block.language, block.code) if block.language and parsed <= MAX_PARSED else None
        if not block.language:
            yield Evidence("code block without a language tag", 0.0, share, block.line, "tags")
        elif error is not None:
            yield Evidence(f"{block.language} does not parse: {error}", 0.0, share, block.line, "syntax")
        else:
            yield Evidence(f"{block.language} block", share, share, block.line)


def _explained(skill: Skill, blocks: Sequence[CodeBlock]) -> Iterator[Evidence]:
    rows = skill.documents[0].text.split("\n")
    texts = [block.text for block in substance(skill).skill.blocks]
    known = frozenset().union(*map(stems, (*texts, *(item.text for item in skill.headings))))
    introduced, explained, first = 0, 0.0, None
    ends = {block.line + block.text.count("\n"): block.words for block in skill.blocks}
    for block in blocks:
        above = next((number for number in range(block.line - 1, 0, -1) if rows[number - 1].strip()), 0)
        says = ends.get(above, 0) >= INTRODUCES
        introduced += says
        first = first if says or first else block.line
        words = stems(block.code)
        explained += min(1.0, len(words & known) / max(1, len(words)) / EXPLAINED_TO)
    count = len(blocks)
    text = f"{introduced} of {_some(count, 'code block')} introduced by a sentence"
    yield _substance(introduced / count, INTRODUCED, text, "introduced", first)
    yield _substance(explained / count, EXPLAINED, "words of the code that the text uses too", "introduced")


_CHECKS = (  # heaviest first: name, dimension, share of the displayed score, measure
    ("frontmatter_quality", Dimension.TRIGGERING_ACCURACY, 0.35, _frontmatter_quality),
    ("orchestration_wiring", Dimension.ORCHESTRATION_FITNESS, 0.25, _orchestration_wiring),
    ("progressive_disclosure", Dimension.PROGRESSIVE_DISCLOSURE, 0.15, _progressive_disclosure),
    ("structural_completeness", Dimension.STRUCTURAL_COMPLETENESS, 0.10, _structural_completeness),
    ("token_efficiency", Dimension.TOKEN_EFFICIENCY, 0.10, _token_efficiency),
    ("ecosystem_coherence", Dimension.ECOSYSTEM_COHERENCE, 0.05, _ecosystem_coherence),
    ("code_template_quality", Dimension.CODE_TEMPLATE_QUALITY, 0.0, _code_template_quality),
)
_ABOUT = (
    "name, and how clearly the description names situations, objects and limits",
    "instructions that say what to do, what it works from and what it delivers",
    "size of the main file, and detail in linked references/ and assets/",
    "sections, code blocks, examples, troubleshooting, tables",
    "the share of the text that carries something, without filler or repetition",
    "other skills that are really there, and when they take over",
    "code blocks that parse, and that the text introduces and explains",
)
SUBCHECKS = {
    name: SubCheck(dimension, weight, about, measure)
    for (name, dimension, weight, measure), about in zip(_CHECKS, _ABOUT, strict=True)
}
