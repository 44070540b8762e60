"""What the text of a skill says: its statements, the signs of substance in them, and what is only filler.

A statement is a sentence, a list item or a cell of a table. Filler is text that repeats itself, templates of which
only the slots differ, words in no order, and lines without a word. Repetition is found in any language, the rest by
word lists in English alone. :func:`substance` reads a skill once; its ``skill`` is the skill without the filler, and
that is what the sub-checks count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain

from skillgate.model.skill import BETWEEN_BLOCKS, CodeBlock, Heading, Language, Skill, TextBlock
from skillgate.named_tuple import NamedTuple
from skillgate.skill.language import CONNECTING, ORDERS, PLAIN, language_of, word_set

# -- Words

# No class has several characters above U+00FF: such a class takes long to compile.
TOKEN = re.compile(r"[^\W\d_][\w'-]*(?:’[\w'-]*)*|◌|\d[\w.,%:]*")
_LEAST = 8  # words; a shorter statement names something, and hardly says what to do and when
_FRAME = 2  # function words that a sentence of so many words has at least

_SPAN = re.compile(r"(`+)([^`]+)\1")
_LINKED = r"\[[^\[\]]*\]\([^()]*\)"
_ORDINARY = PLAIN | ORDERS | CONNECTING
_SPLIT = re.compile(r" (?:(?<=[.!?] )|\| )")  # of a text with single spaces alone


class Statement(NamedTuple):
    """A sentence, list item or cell of a table; ``words`` are lower-case, ``◌`` is a code span."""

    text: str
    block: int  # the index of its block
    words: tuple[str, ...]


def statements(blocks: Sequence[TextBlock], rows: Sequence[str] = ()) -> Iterator[Statement]:
    """Split blocks into statements of at least one word.

    ``rows`` are the lines of the file: a code span around an ordinary word, such as `use`, is that word.
    """
    for index, block in enumerate(blocks):
        text = _spelled(block, rows) if "◌" in block.text else block.text
        for part in _SPLIT.split(" ".join(text.split())):
            words = tuple(TOKEN.findall(part.lower()))
            if words:
                yield Statement(part, index, words)


def _spelled(block: TextBlock, rows: Sequence[str]) -> str:
    """Return a block with the ordinary words that are in code spans."""
    source = "\n".join(rows[block.line - 1 : block.line + block.text.count("\n")])
    written = [match[2].strip() for match in _SPAN.finditer(source)]
    if len(written) != block.text.count("◌") or not any(map(_is_ordinary, written)):
        return block.text
    spelled = iter(written)
    return re.sub("◌", lambda match: word if _is_ordinary(word := next(spelled)) else match[0], block.text)


def _is_ordinary(word: str) -> bool:
    return word.isalpha() and word.lower() in _ORDINARY


# -- Order: after an article comes a name, a sentence begins with a capital, and no line ends with "the"

_ARTICLES = word_set("the a an your our their my every")
_FORWARD = word_set("of from with for into by at to and or")
_NO_NOUN = word_set(
    "the a an of to in is are and or for with from by at on if when that it its you they be was were not can should",
    "must will do does have has then than but so because as into this these those their your which what how i we he",
)
_NO_OBJECT = word_set(
    "is are was were of will can must then because has have does than so and or but by should of",
)
_OPENERS = frozenset(word.capitalize() for word in PLAIN | ORDERS if word.isalpha() and word not in ("i", "may"))
_NOTABLE = frozenset(map(str.lower, _OPENERS)) | _ARTICLES | _FORWARD
_CLOSED_FIRST = re.compile(r"\A(?:(?!\*\*).)*[^\s*(\[\"]\*\*(?!\w)", re.DOTALL)
_GERUND = 6  # letters that a capitalised word in "ing" must exceed: "String" opens no sentence
_SHORTENED = word_set("e g i vs etc cf no approx")
_ORDER = re.compile(TOKEN.pattern + r"|[.!?](?=\s|\Z)|(?:[;:,()|\"'*_#>/=+&-]+|[“”→]+|[‘—–]+)+")


def order(text: str) -> tuple[int, int]:
    """Count the places of a text that show whether its words are in order, and those of them that show they are not."""
    tokens = _ORDER.findall(text)
    lows = [token.lower() for token in tokens]
    places = wrong = 0
    for index, low in enumerate(lows):
        token = tokens[index]
        if low not in _NOTABLE and low[-1] not in ".!?" and not low.endswith("ing"):
            continue  # most words show nothing
        before = tokens[index - 1] if index else "."
        following, ahead = (tokens[index + 1], lows[index + 1]) if index + 1 < len(tokens) else (".", ".")
        opens = token in _OPENERS
        if opens or (token.endswith("ing") and token.istitle() and len(token) > _GERUND):
            places += 1
            wrong += before[0].islower() or before == "◌" or (opens and before[-1] == ",")
        if low in _ARTICLES:
            places += 1
            wrong += ahead in _NO_NOUN or ahead[0] in ".!?;:,)|"
        elif low in _FORWARD:
            places += 1
            wrong += ahead in _NO_OBJECT or ahead[0] in ".!?;,)|"
        elif token[-1] in ".!?" and following[0].isalpha() and before.lower() not in _SHORTENED:
            places += 1
            wrong += following[0].islower()
    if "**" in text:  # emphasis ends before it begins
        places += 1
        wrong += bool(_CLOSED_FIRST.match(text))
    return places, wrong


def _disorder(counts: Iterable[tuple[int, int]]) -> float:
    """Return how much more likely it is that words are in no order: published skills have 1 wrong place in 100.

    Shuffled ones have 37. The number is the logarithm of a ratio of likelihoods, roughly.
    """
    return sum(3.0 * wrong - 0.5 * places for places, wrong in counts)


_DISORDER = 5.0  # of a section or block; of a whole body 0 is enough, for no published one is above -1
_LEAST_WRONG = 3


# -- Filler

MUCH_WORDS, MUCH_SHARE = 40, 0.20  # the finding FILLER_TEXT; 99 % of published skills have less than 0.05
_REPEATS = 4  # from so many times on, a phrase of four words is a template's
_COVERED = 0.6  # the share of a statement's words within such phrases that makes it filler
_SHORT = 5  # words; shorter statements repeat as labels do
_SAME_SHAPE = 20  # lines of code of one shape that count; more are data or padding
_SPEAKS = 100  # words of a text that could speak of each of its code blocks
_FEW_SHAPES = 2  # a block of so few shapes and so many lines is padding as a whole
_UNDERLINE = r" {0,3}(?:=+|-+)\s*$"
_WORD = re.compile(r"[a-z]{4,}")
_CODE = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"[^\W\d_]\w*")
_FIGURE = re.compile(r"[0-9]|[^\x00-\x7f]")  # what may be a digit
_WORN = 0.3  # a block of which less is left without repeated phrases is a template
_RUN = 6  # blocks in a row
_ENDS = frozenset(".!?:")  # a row that ends a sentence is a line of its own
_WRAPPED = 40  # characters from which on a row of a paragraph is taken for one that was wrapped


class Substance(NamedTuple):
    """What a skill says.

    Attributes:
        skill: the skill without its filler: blocks, code, sections and lines that are left.
        statements: those of its blocks, in order, without filler.
        words: how many words its blocks have, filler included.
        filler_words: how many of them are filler.
        filler: the lines that hold filler, with what kind it is.
        code_filler: how many lines of code are filler.
        language: whether the body is in English.
    """

    skill: Skill
    statements: tuple[Statement, ...]
    words: int
    filler_words: int
    filler: tuple[tuple[int, str], ...]
    code_filler: int
    language: Language

    @property
    def much_filler(self) -> bool:
        """Return whether so much of the text is filler that it should be reported."""
        if self.language is not Language.ENGLISH:
            return False
        return self.filler_words >= MUCH_WORDS and self.filler_words >= MUCH_SHARE * self.words


_latest: list[Substance | Skill] = []
_spans: list[tuple[Skill, frozenset[str]]] = []


def substance(skill: Skill) -> Substance:
    """Read what a skill says; the latest answer is remembered, for all sub-checks ask for it."""
    if _latest and _latest[0] is skill:
        known = _latest[1]
        assert isinstance(known, Substance)
        return known
    found = _read(skill)
    _latest[:] = [skill, found]
    return found


def _read(skill: Skill) -> Substance:
    language = _language(skill)
    rows = skill.documents[0].text.split("\n") if skill.documents else []
    said = tuple(statements(skill.blocks, rows))
    kinds = _filler_blocks(skill, said, english=language is Language.ENGLISH)
    fresh = _fresh(said)
    words = [0] * len(skill.blocks)
    kept = [0] * len(skill.blocks)
    left = []
    for statement, rest in zip(said, fresh, strict=True):
        words[statement.block] += len(statement.words)
        kept[statement.block] += len(rest)
        if rest and statement.block not in kinds:
            left.append(statement if len(rest) == len(statement.words) else statement._replace(words=rest, text=""))
    for index, (all_of_it, rest_of_it) in enumerate(zip(words, kept, strict=True)):
        if all_of_it and rest_of_it < _WORN * all_of_it:
            kinds.setdefault(index, "a template")
    if language is Language.ENGLISH:
        kinds |= {index: "unrelated words" for index in _unrelated(skill, kinds) if index not in kinds}
    code, padding = _code(skill, kinds)
    return Substance(
        skill=_without(skill, kinds, code, padding),
        statements=tuple(statement for statement in left if statement.block not in kinds),
        words=sum(words),
        filler_words=sum(words[index] for index in kinds),
        filler=tuple(sorted((skill.blocks[index].line, kind) for index, kind in kinds.items())),
        code_filler=sum(map(len, code.values())),
        language=language,
    )


def _language(skill: Skill) -> Language:
    found = language_of(skill.prose)
    return Language.ENGLISH if found is Language.UNKNOWN else found


def _filler_blocks(skill: Skill, said: Sequence[Statement], *, english: bool) -> dict[int, str]:
    """Find the blocks that are filler as a whole: by index, with what kind it is."""
    kinds: dict[int, str] = {}
    seen: set[tuple[str, ...]] = set()
    folded: list[list[str]] = [[] for _ in skill.blocks]
    for statement in said:
        folded[statement.block] += statement.words
    for index, words in enumerate(map(tuple, folded)):
        if not any(word[0].isalpha() or word == "◌" for word in words):
            kinds[index] = "no words"
        elif len(words) >= _SHORT and words in seen:
            kinds[index] = "said before"
        seen.add(words)
    if english:
        kinds |= {index: "words in no order" for index in _unordered(skill) if index not in kinds}
        for index, block in enumerate(skill.blocks):
            if not block.prose and block.words >= _LEAST and _is_unframed(block.text):
                kinds.setdefault(index, "words in no order")
    return kinds


_BETWEEN = frozenset(",;:|/◌()+→—–")


def _is_unframed(text: str) -> bool:
    """Whether a text is neither a sentence nor a list: many words, no function word, no order, nothing between them."""
    if not _BETWEEN.isdisjoint(text):
        return False
    return not any(word in PLAIN or word in CONNECTING or word in ORDERS for word in TOKEN.findall(text.lower()))


def _unordered(skill: Skill) -> Iterator[int]:
    counts = [order(block.text) for block in skill.blocks]
    # A header such as "Best for" and a label such as "a" look wrong: cells alone do not condemn the whole body.
    plain = sum(wrong for (_, wrong), block in zip(counts, skill.blocks, strict=True) if "|" not in block.text)
    if _disorder(counts) > 0 and plain >= _LEAST_WRONG:
        yield from range(len(counts))
        return
    for section in _sections(skill):
        if _disorder(counts[index] for index in section) > _DISORDER:
            yield from section
        else:
            yield from (index for index in section if _disorder([counts[index]]) > _DISORDER)


def _sections(skill: Skill) -> Iterator[list[int]]:
    """Yield the indices of the blocks under each heading."""
    lines = [heading.line for heading in skill.headings]
    section: list[int] = []
    following = 0
    for index, block in enumerate(skill.blocks):
        if following < len(lines) and block.line > lines[following]:
            yield section
            section = []
            while following < len(lines) and block.line > lines[following]:
                following += 1
        section.append(index)
    yield section


def _fresh(said: Sequence[Statement]) -> list[tuple[str, ...]]:
    """Return the words of each statement without the phrases that the skill repeats; none are left of a template.

    Numbers are all the same.
    """
    shapes = [_shape(one) for one in said]
    different = set(shapes)
    grams = Counter(chain.from_iterable(zip(one, one[1:], one[2:], one[3:], strict=False) for one in different))
    often = {gram for gram, count in grams.items() if count >= _REPEATS and sum(map(str.isalpha, gram)) >= 3}
    whole = Counter(shapes)
    frame = {shape: _frame(shape) for shape in different}
    frames = Counter(filter(None, frame.values()))
    seen: set[tuple[str, ...]] = set()
    found = []
    for one, shape in zip(said, shapes, strict=True):
        rest = one.words
        if often and len(shape) >= _SHORT:
            covered = [False] * len(shape)
            for start, gram in enumerate(zip(shape, shape[1:], shape[2:], shape[3:], strict=False)):
                if gram in often:
                    covered[start : start + 4] = [True] * 4
            rest = tuple(word for word, worn in zip(rest, covered, strict=True) if not worn)
        framed = frames[frame[shape]] >= (_REPEATS if len(shape) >= _LEAST else 2 * _REPEATS)
        repeated = whole[shape] >= 2 * _REPEATS and len(shape) > 1
        if len(shape) >= _SHORT:
            repeated = repeated or shape in seen or whole[shape] >= _REPEATS
        if framed or repeated or len(rest) <= (1 - _COVERED) * len(shape):
            rest = ()
        seen.add(shape)
        found.append(rest)
    return found


def _shape(statement: Statement) -> tuple[str, ...]:
    if not _FIGURE.search(statement.text):
        return statement.words
    return tuple("0" if word[0].isdigit() else word for word in statement.words)


def _frame(shape: Sequence[str]) -> tuple[str, ...]:
    """Reduce a statement to its function words, each other word a blank."""
    frame = tuple(word if word in PLAIN else "_" for word in shape)
    return frame if len(frame) > _FRAME and len(frame) - frame.count("_") >= _FRAME else ()


def _unrelated(skill: Skill, kinds: dict[int, str]) -> Iterator[int]:
    """Find runs of blocks that share no word with the description, a heading, the code or another section."""
    sections = list(_sections(skill))
    found = {index: stems(block.text) for index, block in enumerate(skill.blocks) if index not in kinds}
    spread = Counter(
        stem for section in sections for stem in frozenset().union(*(found.get(index, ()) for index in section))
    )
    known = spans(skill).union(*map(stems, _titles(skill)), *(stems(block.code) for block in skill.code_blocks))
    known |= {stem for stem, count in spread.items() if count > 1}
    for section in sections:
        run: list[int] = []
        for index in (*section, -1):
            if index >= 0 and found.get(index) and found[index].isdisjoint(known):
                run.append(index)
                continue
            if index in kinds or (index >= 0 and not found[index]):
                continue
            if len(run) >= _RUN:
                yield from run
            run = []


def _titles(skill: Skill) -> Iterator[str]:
    yield from (heading.text for heading in skill.headings)
    yield skill.frontmatter.text("description")
    yield skill.frontmatter.text("name").replace("-", " ")


# -- Code and lines


def _code(skill: Skill, kinds: dict[int, str]) -> tuple[dict[int, frozenset[int]], frozenset[int]]:
    """Return the rows of each code block that do not count, and the blocks that are padding as a whole, by index.

    Rows of one shape and repeated blocks are padding; code that is foreign to the text is a block of no lines.
    """
    texts = [block.text for index, block in enumerate(skill.blocks) if index not in kinds]
    known = spans(skill).union(*map(stems, (*texts, *_titles(skill))))
    shapes: Counter[str] = Counter()
    seen: set[str] = set()
    found, padding = {}, []
    spoken = sum(block.words for block in skill.blocks) >= _SPEAKS
    for index, block in enumerate(skill.code_blocks):
        rows = [row.strip() for row in re.sub(_NAME, "_", re.sub(r"\d+", "0", block.code)).split("\n")]
        written = [number for number, row in enumerate(rows) if row]
        surplus = []
        here: Counter[str] = Counter()
        for number in written:
            shape = rows[number]
            if "_" in shape:
                shapes[shape] += 1
                here[shape] += 1
                surplus += [number] if shapes[shape] > _SAME_SHAPE else []
        padded = here and max(here.values()) > _SAME_SHAPE and len(here) <= _FEW_SHAPES
        foreign = known.isdisjoint(stems(block.code))
        if padded or foreign or (written and block.code in seen):
            surplus = written
        if padded or (foreign and spoken):
            padding.append(index)
        seen.add(block.code)
        found[index] = frozenset(surplus)
    return found, frozenset(padding)


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return what is left of a lower-case word without its ending, six letters at most: it has other forms too."""
    for ending in ("ing", "ed", "es", "s"):
        if len(word) >= len(ending) + 4 and word.endswith(ending):
            word = word[: -len(ending)]
            break
    return word[:6]


@lru_cache(maxsize=1024)  # a text is asked for by several checks
def stems(text: str) -> frozenset[str]:
    """Return the stems of the words of at least four letters."""
    return frozenset(map(stem, _WORD.findall(text.lower())))


def spans(skill: Skill) -> frozenset[str]:
    """Return the stems of the words in code spans, but for those in a dead link; the latest answer is remembered."""
    if not (_spans and _spans[0][0] is skill):
        dead = {link.span.line for link in skill.links if link.dead}
        text = skill.documents[0].text if skill.documents else ""
        rows = enumerate(text.split("\n") if "`" in text else (), start=1)
        found = (re.sub(_LINKED, "", row) if number in dead else row for number, row in rows if "`" in row)
        code = " ".join(span for row in found if "```" not in row for span in _CODE.findall(row))
        _spans[:] = [(skill, frozenset(map(stem, _WORD.findall(code.lower()))))]
    return _spans[0][1]


def _without(skill: Skill, kinds: dict[int, str], code: dict[int, frozenset[int]], padding: frozenset[int]) -> Skill:
    """Return the skill without its filler, its lines counted as if no paragraph were wrapped."""
    blocks = tuple(block for index, block in enumerate(skill.blocks) if index not in kinds)
    fences = tuple(block for index, block in enumerate(skill.code_blocks) if index not in padding)
    rows = skill.documents[0].text.split("\n") if skill.documents else []
    gone = {
        skill.blocks[index].line + row for index in kinds for row in range(skill.blocks[index].text.count("\n") + 1)
    }
    dropped = gone | {number for block in blocks for number in _wrapped(block)} | set(_code_rows(skill, code))
    for heading in skill.headings:
        if not (heading.words or heading.code_lines or heading.links):
            dropped.add(heading.line)
        if rows[heading.line : heading.line + 1] and re.match(_UNDERLINE, rows[heading.line]):
            dropped.add(heading.line + 1)
    if not dropped:
        return skill
    left = [row for number, row in enumerate(rows, start=1) if number not in dropped]
    return skill._replace(
        blocks=blocks,
        code_blocks=fences,
        headings=_headings(skill, blocks, fences),
        has_body=skill.has_body and (bool(blocks) or not skill.blocks),
        lines=max(1, skill.lines - _height(rows) + _height(left)),
        prose=BETWEEN_BLOCKS.join(block.text for block in blocks if block.prose).lower(),
        prose_words=sum(block.words for block in blocks if block.prose),
        table_headers=tuple(header for header in skill.table_headers if header[0] not in gone),
    )


def _height(rows: Sequence[str]) -> int:
    """Count rows, each run of blank ones once and none at the end."""
    text = "\n".join(row.strip() for row in rows).strip("\n")
    return len(re.sub(r"\n{3,}", "\n\n", text).split("\n"))


def _code_rows(skill: Skill, code: dict[int, frozenset[int]]) -> Iterator[int]:
    for index, surplus in code.items():
        block = skill.code_blocks[index]
        yield from (block.line + 1 + row for row in surplus)
        if block.lines and len(surplus) >= block.lines:
            yield block.line
            yield block.end_line


def _wrapped(block: TextBlock) -> Iterator[int]:
    """Yield the rows of a paragraph that only wrap it: whatever the width, it has about as many lines."""
    if "\n" not in block.text:
        return
    before = 0
    for number, row in enumerate(block.text.split("\n")[:-1], start=1):
        length = len(row)
        if max(length, before) >= _WRAPPED and row.rstrip()[-1:] not in _ENDS:
            yield block.line + number
        before = length


def _headings(skill: Skill, blocks: Sequence[TextBlock], fences: Sequence[CodeBlock]) -> tuple[Heading, ...]:
    """Count again what the sections hold."""
    if len(blocks) == len(skill.blocks) and len(fences) == len(skill.code_blocks):
        return skill.headings
    found = []
    for index, heading in enumerate(skill.headings):
        later = skill.headings[index + 1 :]
        end = next((other.line for other in later if other.level <= heading.level), 1 << 60)
        words = sum(block.words for block in blocks if heading.line < block.line < end)
        lines = max((block.lines for block in fences if heading.line < block.line < end), default=0)
        found.append(heading._replace(words=min(words, heading.words), code_lines=min(lines, heading.code_lines)))
    return tuple(found)
