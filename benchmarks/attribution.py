"""Why skillgate's score of a sub-check differs from the original's, step by step, each step under a named cause.

Every term of a sub-check is a chain of values. It starts at the original's points. Each link puts one slip right and
says what remains. It ends at skillgate's points for what the method's table names. A cause is named only where its
correction changes the points. The last step is the rest of the sub-check, which readers' ratings calibrate. So the
steps of a sub-check add up to the whole difference; what they do not add up to is unattributed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from benchmarks import original
from skillgate.static import subchecks
from skillgate.static.substance import substance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.original import Document
    from skillgate.model.score import Evidence, Measured
    from skillgate.model.skill import Skill

THIN = "under 40 words of prose, so nothing is given to start with"
NO_BODY = "no instructions at all below the frontmatter"
NOT_PROSE = "a word in code, in the frontmatter or in a path, taken for prose"
FENCED = "a heading inside a code block"
EMPTY_SECTION = "a section without text"
OTHER_NAME = "a heading with its word that skillgate does not take for such a section (“Decision order”)"
UNEXPLAINED = ""  # a link of a chain where no difference is expected: what moves there stays unattributed
TWICE = "a code block counted twice, at its opening and its closing fence"
CALIBRATED = "the table counts for a part, and what the text says for the rest"
FILLER = "filler does not count"
_EPSILON = 1e-9
_SHARES = {  # of a sub-check that its table decides; the whole of the others
    "frontmatter_quality": subchecks.SOURCE,
    "orchestration_wiring": subchecks.SOURCE,
    "token_efficiency": subchecks.SOURCE,
    "ecosystem_coherence": 1 - subchecks.HANDS_OVER,
}
_TERMS = {"frontmatter_quality": 8, "orchestration_wiring": 5, "token_efficiency": 3, "ecosystem_coherence": 3}


class Step(NamedTuple):
    """How many points one cause moves a sub-check by, on its scale of [0, 1]."""

    cause: str
    change: float


class Pair(NamedTuple):
    """One skill as both see it: the original's document, skillgate's without filler, and the points of our terms."""

    document: Document
    skill: Skill
    points: tuple[float, ...]
    written: Skill

    @property
    def prose(self) -> str:
        """Give the text that skillgate takes for text: no code, frontmatter, comments or headings."""
        return "\n".join(block.text for block in self.skill.blocks)

    @property
    def titles(self) -> str:
        """Give the headings as the original would see them, those inside code left out."""
        return "\n".join(f"{'#' * item.level} {item.text}" for item in self.skill.headings)


def steps(sub_check: str, document: Document, skill: Skill, measured: Measured) -> tuple[Step, ...]:
    """List the steps from the original's score, recomputed on this text, to skillgate's; none of size 0."""
    if not skill.has_body and sub_check != "frontmatter_quality":
        return (Step(NO_BODY, -original.scores(document)[sub_check]),)
    points = table_points(sub_check, measured.evidence)
    pair = Pair(document, substance(skill).skill, points, skill)
    moved = [step for step in _CHAINS[sub_check](pair) if abs(step.change) > _EPSILON]
    found = [step for step in moved if step.cause != UNEXPLAINED]
    uncut = original.scores(document)[sub_check] + sum(step.change for step in moved)
    table = cut(sum(points))
    if abs(cut(uncut) - uncut) > _EPSILON:
        found.append(Step("cut to the range of 0 to 1", table - uncut))
    if sub_check in _SHARES and measured.score is not None:
        found.append(Step(CALIBRATED, measured.score - table))
    return tuple(found)


def table_points(sub_check: str, evidence: Sequence[Evidence]) -> tuple[float, ...]:
    """Return the points of what the method's table names, as if it decided the whole sub-check."""
    if sub_check not in _SHARES or len(evidence) == 1:
        return tuple(item.points for item in evidence)
    terms = _TERMS[sub_check]
    if sub_check == "orchestration_wiring":
        terms += sum(item.text.startswith("orchestrates others") for item in evidence)
    return tuple(item.points / _SHARES[sub_check] for item in evidence[:terms])


def cut(points: float) -> float:
    """Keep a score within 0 and 1."""
    return min(1.0, max(0.0, points))


def _chain(start: float, *links: tuple[str, float]) -> Iterator[Step]:
    """Give the step of each link; none where the term comes out as it began."""
    if abs(links[-1][1] - start) <= _EPSILON:
        return
    for cause, value in links:
        yield Step(cause, value - start)
        start = value


def _last(before: float, after: float, *, gained: str, lost: str) -> tuple[str, float]:
    return (gained if after > before else lost), after


def _frontmatter(pair: Pair) -> Iterator[Step]:
    document, routing, (name, length, *pushed) = pair.document, pair.skill.routing, pair.points
    trigger, proactive, automatic, context, characters, cases = pushed
    named = original.name(document)
    yield from _chain(named, _name(pair, named, name))
    described = document.description
    yield from _chain(original.length(len(described)), (UNEXPLAINED, length))
    has_trigger = 0.15 * original.triggers(described)
    lost = "a trigger phrase that is negated or is about something else"
    yield from _chain(has_trigger, _last(has_trigger, trigger, gained="a trigger phrase it does not know", lost=lost))
    if original.proactive(described) and not proactive:
        yield Step("“proactively” in a negated clause", proactive - 0.09)
    bare = 0.06 * original.automatic(described)
    lost = "“trigger”, “invoke” or “automatically” as a bare word"
    yield from _chain(bare, _last(bare, automatic, gained="a call to trigger or invoke in another form", lost=lost))
    doing = 0.09 * original.context(described)
    gained = "a “when re-…ing” or emphasised context, or one in when_to_use"
    lost = "a context in a negated clause, or an -ing word that is no doing"
    yield from _chain(doing, _last(doing, context, gained=gained, lost=lost))
    yield from _chain(0.06 * (len(described) >= 40), (UNEXPLAINED, characters))
    counted = 0.60 * original.use_cases(described)
    clause = described[routing.triggers[0].start :] if routing.triggers else ""
    within = 0.60 * original.use_cases(clause)
    yield from _chain(
        counted,
        ("commas outside the trigger clause counted as use cases", within),
        _last(
            within,
            cases,
            gained="use cases that begin with another word than its eleven",
            lost="use cases counted that are negated, or fewer than two",
        ),
    )


def _name(pair: Pair, before: float, after: float) -> tuple[str, float]:
    if before == 0.10 and after > before:
        return "a name equal to its directory, marked down", after
    if not pair.skill.frontmatter.text("name"):
        return "no name: the directory's is taken for it", after
    return "a name that breaks the naming rule or is unlike its directory, marked up", after


def _orchestration(pair: Pair) -> Iterator[Step]:
    raw, (start, output, returns, given, code, *orchestrates) = pair.document.raw, pair.points
    yield from _chain(0.70, (THIN, start))
    yield from _word(
        pair, original.output_format, 0.10, output, "“output” and “format” on one line that documents neither"
    )
    yield from _word(pair, original.returns, 0.05, returns, "“output” or “return” as a bare word, of nothing")
    lost = "an input word that documents no input (“accept delay”), or a keyword list"
    yield from _word(pair, original.inputs, 0.10, given, lost)
    blocks = len([block for block in pair.skill.code_blocks if block.lines])
    yield from _chain(0.05 * (pair.document.fences >= 2), (TWICE, 0.05 * (blocks >= 2)), (UNEXPLAINED, code))
    prose = -0.15 * original.orchestrates(pair.prose)
    yield from _chain(
        -0.15 * original.orchestrates(raw),
        ("orchestrat-, coordinat- or dispatch in code, a heading or the frontmatter", prose),
        _last(
            prose,
            sum(orchestrates),
            gained="orchestrat-, coordinat- or dispatch in prose that has no agents as its object",
            lost="delegating or managing a workflow, which it does not look for",
        ),
    )


def _word(pair: Pair, rule: Callable[[str], bool], worth: float, ours: float, lost: str) -> Iterator[Step]:
    """Follow a term that the original gives for a word anywhere in the file and skillgate for a statement."""
    prose = worth * rule(f"{pair.titles}\n{pair.prose}")
    gained = "a section, table or sentence in other words than its own"
    yield from _chain(worth * rule(pair.document.raw), (NOT_PROSE, prose), _last(prose, ours, gained=gained, lost=lost))


def _progressive(pair: Pair) -> Iterator[Step]:
    document, skill, (size, references, assets) = pair.document, pair.skill, pair.points
    physical = document.lines - document.raw.endswith("\n")
    yield from _chain(
        original.size(document.lines),
        ("one line too many: the end of the last line counted as a line", original.size(physical)),
        ("runs of blank lines, and lines that only wrap, counted line by line", original.size(pair.written.lines)),
        (FILLER, original.size(skill.lines)),
        ("more than 10,000 estimated tokens, whatever the lines", original.size(skill.effective_lines)),
        (UNEXPLAINED, size),
    )
    long = 0.25 if skill.effective_lines > 400 else 0.15
    yield from _folder(pair, "references", 0.25 if document.lines > 400 else 0.15, long, references)
    yield from _folder(pair, "assets", 0.15, 0.15, assets)


def _folder(pair: Pair, name: str, theirs: float, bonus: float, ours: float) -> Iterator[Step]:
    listed = bool(pair.document.files(name))
    holds = bool(pair.skill.references if name == "references" else pair.skill.assets)
    below = f"files in folders below {name}/"
    yield from _chain(
        theirs * listed,
        ("lines counted otherwise, which decides the bonus for references/", bonus * listed),
        _last(bonus * listed, bonus * holds, gained=below, lost=f"nothing but empty files in {name}/"),
        (f"{name}/ that SKILL.md links nothing of", ours),
    )


def _structure(pair: Pair) -> Iterator[Step]:
    document, skill, (sections, blocks, languages, examples, trouble, table, decision) = (
        pair.document,
        pair.skill,
        pair.points,
    )
    found = [item for item in skill.headings if item.level in (2, 3)]
    seen, real = original.headings(document.body), len(found)
    yield from _chain(
        original.sections(seen),
        (FENCED if seen > real else "a heading that is indented, quoted or underlined", original.sections(real)),
        (EMPTY_SECTION, original.sections(sum(1 for item in found if item.counts))),
        (UNEXPLAINED, sections),
    )
    yield from _blocks(pair, blocks)
    tags = {block.language for block in skill.code_blocks if block.language}
    cut = original.languages(len({tag.split("+")[0].split("#")[0] for tag in tags}))
    yield from _chain(
        original.languages(len(original.tags(document.raw))),
        ("language tags read inside other code blocks, or missed on longer fences", cut),
        ("c, c++ and c# taken for one language", original.languages(len(tags))),
        ("the language of an empty code block", languages),
    )
    names = "under a name that it does not look for"
    yield from _section(pair, original.examples, examples, f"an example section {names}")
    yield from _section(pair, original.troubleshooting, trouble, f"a troubleshooting section {names}")
    lost = "bars on a line that is no table with a row"
    bars = 0.10 * original.table(document.raw)
    yield from _chain(bars, _last(bars, table, gained="a table of two columns without outer bars", lost=lost))
    heads = "\n".join([pair.titles, *(cell for _, cells in skill.table_headers for cell in cells)])
    aid = 0.05 * original.decision(heads)
    empty = _emptiness(pair, original.decision)
    yield from _chain(
        0.05 * original.decision(document.raw),
        ("“decision” or “comparison” in running text or code", aid),
        _last(aid, decision, gained="a decision aid in other words than its four", lost=empty),
    )


def _blocks(pair: Pair, ours: float) -> Iterator[Step]:
    fences = pair.document.fences
    real = len(pair.skill.code_blocks)
    yield from _chain(
        original.blocks(fences),
        (TWICE, original.blocks(fences // 2)),
        ("backticks in running text, or fences inside or other than three backticks", original.blocks(real)),
        ("an empty code block", ours),
    )


def _section(pair: Pair, rule: Callable[[str], bool], ours: float, gained: str) -> Iterator[Step]:
    headed = 0.15 * rule(pair.titles)
    chain = ((FENCED, headed), _last(headed, ours, gained=gained, lost=_emptiness(pair, rule)))
    yield from _chain(0.15 * rule(pair.document.body), *chain)


def _emptiness(pair: Pair, rule: Callable[[str], bool]) -> str:
    """Say why a heading that the rule accepts earns nothing: its section is empty, or it names something else."""
    empty = (f"{'#' * item.level} {item.text}" for item in pair.skill.headings if not item.counts)
    return EMPTY_SECTION if any(rule(title) for title in empty) else OTHER_NAME


def _tokens(pair: Pair) -> Iterator[Step]:
    document, skill = pair.document, pair.skill
    if len(pair.points) == 1:  # too little prose: skillgate looks no further
        yield Step(THIN, -original.scores(document)["token_efficiency"])
        return
    start, density, repetition = pair.points
    yield from _chain(1.0, (THIN, start))
    spoken = original.directives(pair.prose)
    yield from _chain(
        original.density(original.directives(document.raw), document.lines),
        ("MUST, NEVER or ALWAYS in code, a heading or the frontmatter", original.density(spoken, document.lines)),
        ("lines counted otherwise", original.density(spoken, skill.lines)),
        ("MUST, NEVER or ALWAYS as part of a name", density),
    )
    lines = document.raw.split("\n")
    inside = {row for block in skill.code_blocks for row in range(block.line, block.end_line + 1)}
    outside = [line for row, line in enumerate(lines, start=1) if row not in inside]
    yield from _chain(
        original.repetition(lines),
        ("repeated lines of code, fences among them", original.repetition(outside)),
        ("table rules, headings, frontmatter and list markers compared as lines", repetition),
    )


def _ecosystem(pair: Pair) -> Iterator[Step]:
    document, (start, neighbours, section) = pair.document, pair.points
    yield from _chain(0.50, (THIN, start))
    mentioned = original.neighbours(original.mentions(document.body))
    lost = "a mention of skills/… counted that leads nowhere, or once for each time"
    gained = "relative links, paths and names that it does not see"
    yield from _chain(mentioned, _last(mentioned, neighbours, gained=gained, lost=lost))
    word, head = 0.25 * original.related(document.raw), 0.25 * original.related(pair.titles)
    bare = "“related”, “companion” or “complement” as a bare word"
    gained = "a section on neighbours in other words than its own"
    yield from _chain(
        word, (bare, max(head, section)), _last(head, section, gained=gained, lost=_emptiness(pair, original.related))
    )


_CHAINS: dict[str, Callable[[Pair], Iterator[Step]]] = {
    "frontmatter_quality": _frontmatter,
    "orchestration_wiring": _orchestration,
    "progressive_disclosure": _progressive,
    "structural_completeness": _structure,
    "token_efficiency": _tokens,
    "ecosystem_coherence": _ecosystem,
}
