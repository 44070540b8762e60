"""Features of a skill's text that say whether a reader would call it good, and the estimate that is made of them.

Each feature is something that published guidance for authors of skills asks for, and has its reason in
:data:`FEATURES`. None is a marker of style: dashes, quotation marks, emoji and the rhythm of sentences correlate with
what readers say, and are not quality. Counts grow by their logarithm and end at a bound. A sign counts once in a
statement, and only in one that also says something. So a word that is sprinkled over a text earns next to nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import log1p

from skillgate.model.score import QualityEstimate
from skillgate.model.skill import Routing, Skill
from skillgate.named_tuple import NamedTuple
from skillgate.skill.frontmatter import routing_of
from skillgate.skill.language import PLAIN, word_set
from skillgate.static.substance import TOKEN, Statement, spans, stem, stems, substance
from skillgate.static.text import Place, excerpt

LEAST_WORDS = 8  # a shorter statement names something, and hardly says what to do and when
LEAST_FRAME = 2  # function words that a sentence of so many words has at least
LEAST_NAMES = 3  # specific words without which a statement is about nothing
_CLAUSE = 6  # words from which on a statement can name a thing and what to do with it
VAGUE_FREE = 0.10  # share of vague words that no description can do without
_PRIOR_WORDS = 100  # added to the words of a text, so that a few good sentences are not yet a good text
_PRIOR_STATEMENTS = 10
_ALL_STOCK = 0.1  # what counts as the share of stock words where a body says nothing at all

CONDITIONS = word_set("if when unless until before after only except once while whenever otherwise where")
BOUNDARIES = word_set(
    "not never avoid without instead cannot can't don't doesn't isn't won't no nor skip rather",
    "don’t doesn’t isn’t can’t",
)
REASONS = word_set("because since therefore otherwise so why prevents avoids causes leads means reason")
FAILURES = word_set(
    "fail fails failed failing failure failures error errors missing invalid timeout timeouts empty wrong break breaks",
    "broken bug bugs exception exceptions fallback retry retries crash crashes stale conflict conflicts unavailable",
    "ambiguous denied reject rejects rejected misses unknown silently limit limits risk duplicate incomplete",
)
RESULTS = word_set(
    "write writes return returns produce produces output outputs report reports save saves create creates generate",
    "generates emit emits print prints deliver delivers present presents summarize summary comment post update updates",
    "result results commit reply respond format draft",
)
CALLS = word_set("run runs call calls execute use fetch query request install deploy push send open read load")
NEIGHBOURS = word_set("skill skills agent agents subagent subagents sub-agent sub-agents reference references")
# Praise and promises fit every skill, so they say nothing about this one.
STOCK = word_set(
    "comprehensive robust seamless seamlessly leverage leveraging powerful scalable scalability maintainable",
    "maintainability high-quality effective effectively efficient efficiently enterprise enterprise-grade",
    "production-ready production-grade modern cutting-edge master mastering expert expertise holistic streamline",
    "streamlined optimal optimize optimized optimization proper properly appropriate appropriately advanced essential",
    "proven thorough thoroughly meaningful descriptive regularly consistent consistently reliable reliability clear",
    "clearly best practices practice patterns pattern strategies strategy implement implementing implementation",
    "various solutions ecosystem framework key",
)
# Words of descriptions that name no object: nearly every skill could use them.
VAGUE = STOCK | word_set(
    "stuff things thing items item work working works task tasks project projects needs need various any anything",
    "everything something help helps general information content implementations application applications building",
    "build builds systems system design designing managing management manage optimizing workflow workflows setup",
    "production setting creating create creates using use uses used user users skill skills code development solution",
    "developing tool tools guide guides quality ensure complex support techniques technique frameworks new",
    "proactively automatically trigger triggers always invoke load handle handles handling make makes making doing",
    "architecture done change changes changing deal perform performing run running want wants asks ask asked mention",
    "mentions reference references next back say says involving related good better great well enough other others",
    "another see also matter matters one two",
)
_VAGUE_STEMS = frozenset(map(stem, VAGUE))
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,]*(?:%|[a-zA-Z]{1,3}\b|(?=\W|\Z))")
_PATH = re.compile(r"[\w-]/[\w./-]")
_IDENTIFIER = re.compile(r"\b(?:[a-z]+[A-Z]\w+|[A-Z][a-z0-9]+[A-Z]\w*|[a-z]+_[a-z_]+|[A-Z]{2,}\d*)\b")
_QUOTED = re.compile(r"[\"“](?:(?!”)[^\"\n]){3,80}[\"”]")
_SUFFIX = re.compile(r"(?<=\w)\.(\w+)")
_SUFFIXES = word_set("py md js ts json yaml yml sh toml csv txt html css sql xml pdf docx xlsx go rs java rb")
_LIST_NUMBER = " 0123456789.)"


class Features(NamedTuple):
    """What the text of a skill shows; counts are of statements, shares in [0, 1].

    Attributes:
        rich: whole statements with at least two signs: a concrete thing, condition, boundary, reason or failure.
        results: statements that say what the skill delivers, about a concrete thing or under a condition.
        reasons: whole statements that give a reason.
        failures: whole statements that name what goes wrong.
        neighbours: statements that say when another skill, agent or reference takes over.
        framed: the share of function words: whole sentences have them, fragments and keyword lists do not.
        stock: the share of stock words, which fit every skill.
        carrying: the share of words in statements that carry something.
        slogans: the share of short statements without any sign.
        situations: use cases of the description that name something that the instructions are about.
        objects: different specific words of the description that the instructions use too.
        conditions: words such as "when" and "before" in the description.
        boundary: whether the description says when not to use the skill.
        vague: the share of the description's words that name no object.
        unguarded: the first command or call where nothing in the skill says what to do when it fails, None where
            something does.
        unexplained: the first rule where nothing in the skill gives a reason, None where something does.
        routing: the signs of the description, but for its sentences that name nothing.
    """

    rich: int = 0
    results: int = 0
    reasons: int = 0
    failures: int = 0
    neighbours: int = 0
    framed: float = 0.0
    stock: float = 0.0
    carrying: float = 0.0
    slogans: float = 0.0
    situations: int = 0
    objects: int = 0
    conditions: int = 0
    boundary: bool = False
    vague: float = 0.0
    unguarded: Place | None = None
    unexplained: Place | None = None
    routing: Routing = Routing()


_latest: list[tuple[Skill, Features]] = []


def features(skill: Skill) -> Features:
    """Return the features of a skill; the latest answer is remembered, for several sub-checks ask for it."""
    if not (_latest and _latest[0][0] is skill):
        _latest[:] = [(skill, _description(skill, _body(skill)))]
    return _latest[0][1]


def _body(skill: Skill) -> Features:
    text = substance(skill)
    command: Statement | None = None
    rule: Statement | None = None
    rich = results = reasons = failures = neighbours = carrying = slogans = frame = stock = 0
    for statement in text.statements:
        words = set(statement.words)
        framing = sum(word in PLAIN for word in statement.words)
        praise = sum(word in STOCK for word in statement.words)
        stock += praise
        size = len(statement.words)
        concrete, limits = _is_concrete(statement), not words.isdisjoint(BOUNDARIES)
        depends = not words.isdisjoint(CONDITIONS)
        explains, fails = not words.isdisjoint(REASONS), not words.isdisjoint(FAILURES)
        signs = concrete + depends + limits + explains + fails
        about = concrete or _names(words, 2)
        if size >= _CLAUSE and framing >= LEAST_FRAME and about:
            frame += framing
        if size >= LEAST_WORDS and framing >= LEAST_FRAME:
            rich += signs >= 2 and (concrete or _names(words, LEAST_NAMES))
            reasons += explains
            failures += fails
        if size >= _CLAUSE:
            results += framing > 0 and (concrete or depends) and not words.isdisjoint(RESULTS)
            neighbours += about and (depends or limits) and not words.isdisjoint(NEIGHBOURS)
        if about and praise <= signs and (signs >= 2 or (signs and size >= 5)):
            carrying += size
        if command is None and "◌" in words and not words.isdisjoint(CALLS):
            command = statement
        if rule is None and limits and framing:
            rule = statement
        slogans += not signs and size < LEAST_WORDS
    return Features(
        rich=rich,
        results=results,
        reasons=reasons,
        failures=failures,
        neighbours=neighbours,
        framed=frame / (text.words + _PRIOR_WORDS),
        stock=stock / max(_PRIOR_WORDS // 2, text.words - text.filler_words) if text.statements else _ALL_STOCK,
        carrying=carrying / (text.words + _PRIOR_WORDS // 2),
        slogans=slogans / (len(text.statements) + _PRIOR_STATEMENTS),
        unguarded=None if failures or command is None else _place(skill, command),
        unexplained=None if reasons or rule is None else _place(skill, rule),
    )


def _place(skill: Skill, statement: Statement) -> Place:
    return Place(excerpt(statement.text or " ".join(statement.words)), skill.blocks[statement.block].line)


def _names(words: set[str], least: int) -> bool:
    """Whether a statement has enough specific words to be about something."""
    return sum(_is_specific(word) for word in words) >= least


def _is_concrete(statement: Statement) -> bool:
    """Whether a statement names a thing: in a code span, as a path, a number, an identifier or in quotation marks."""
    text = statement.text
    return "◌" in text or bool(
        ("/" in text and _PATH.search(text))
        or ("." in text and not _SUFFIXES.isdisjoint(_SUFFIX.findall(text)))
        or _IDENTIFIER.search(text)
        or (('"' in text or "“" in text) and _QUOTED.search(text))
        or _NUMBER.search(text.lstrip(_LIST_NUMBER))
    )


def _description(skill: Skill, found: Features) -> Features:
    known = _vocabulary(skill)
    head = skill.frontmatter
    fields = [_about(head.text(key)) for key in ("description", "when_to_use")]
    routing = skill.routing
    if fields != [head.text("description"), head.text("when_to_use")]:
        routing = routing_of(*fields)._replace(language=routing.language)
    words = _words(" ".join(fields))
    objects = {word for word in words if _is_object(word, known)}
    everything = _words(f"{head.text('description')} {head.text('when_to_use')}")
    return found._replace(
        situations=sum(not objects.isdisjoint(TOKEN.findall(case)) for case in routing.use_cases),
        objects=len(objects),
        conditions=sum(word in CONDITIONS for word in words),
        boundary=any(word in BOUNDARIES or word == "only" for word in words),
        vague=sum(stem(word) in _VAGUE_STEMS for word in everything) / max(10, len(everything)),
        routing=routing,
    )


def _about(text: str) -> str:
    """Return the sentences of a description that name something."""
    parts = re.split(r"(?<=[.!?])\s+", text)
    kept = [part for part in parts if any(map(_is_specific, _words(part)))]
    return text if len(kept) == len(parts) else " ".join(kept)


def _words(text: str) -> list[str]:
    found: list[str] = TOKEN.findall(text.lower())
    return found


def _is_object(word: str, known: frozenset[str] | None) -> bool:
    return _is_specific(word) and (known is None or _is_known(word, known))


@lru_cache(maxsize=8192)
def _is_specific(word: str) -> bool:
    return len(word) > 2 and word not in PLAIN and stem(word) not in _VAGUE_STEMS


def _is_known(word: str, known: frozenset[str]) -> bool:
    return len(word) < 4 or stem(word) in known or any(stem(part) in known for part in word.split("-"))


def _vocabulary(skill: Skill) -> frozenset[str] | None:
    """Return the stems that the instructions use, None where there are none."""
    text = substance(skill).skill
    parts: list[str] = [block.text for block in text.blocks]
    parts += [heading.text for heading in text.headings]
    parts += [block.code for block in text.code_blocks]
    return spans(skill).union(*map(stems, parts)) if parts else None


# -- The estimate of what a reader would say


class Term(NamedTuple):
    """One term of the estimate: a feature on the scale that is fitted, its coefficient, and why it counts."""

    feature: str
    unit: str  # how the feature is scaled
    most: float  # the feature's value from which on more adds nothing
    coefficient: float  # points of the rating, 0 to 10, for one unit
    asks: str  # what it asks of a skill
    reason: str
    source: str


_GUIDE = "Anthropic, Skill authoring best practices"
_SPEC = "Agent Skills specification"
INTERCEPT = 3.00
DEVIATION = 1.30  # standard deviation of what readers said around the estimate, collections left out
TERMS = (
    Term(
        "rich",
        "log",
        60,
        0.21,
        "sentences that say what to do, about a concrete thing, under a condition, within a limit or for a reason",
        "A model follows what is specific. What it knows anyway, it does without the skill.",
        _GUIDE,
    ),
    Term(
        "framed",
        "share",
        0.4,
        7.5,
        "whole sentences rather than fragments and lists of keywords",
        "A fragment names a topic; a sentence says what to do about it.",
        _GUIDE,
    ),
    Term(
        "results",
        "log",
        20,
        0.2,
        "what the skill delivers, and in which form",
        "Without it each run ends in another form, and no program or reader can rely on it.",
        _GUIDE,
    ),
    Term(
        "failures",
        "log",
        20,
        0.12,
        "what goes wrong, and what to do then",
        "A model that meets an error it was not warned of guesses.",
        _GUIDE,
    ),
    Term(
        "reasons",
        "log",
        20,
        0.08,
        "reasons for the rules",
        "A model that knows why applies a rule to cases that the rule does not name.",
        _GUIDE,
    ),
    Term(
        "stock",
        "share",
        0.1,
        -10.0,
        "few words that fit every skill, such as “comprehensive best practices”",
        "They cost tokens on every load and change nothing in what a model does.",
        _GUIDE,
    ),
    Term(
        "situations",
        "log",
        10,
        0.53,
        "the situations that the skill is for, in the description",
        "The description alone decides whether a model loads the skill.",
        _SPEC,
    ),
    Term(
        "vague",
        "share",
        0.4,
        -1.8,
        "few words in the description that name no object",
        "A description that fits every skill is matched by every request, or by none.",
        _SPEC,
    ),
)


def scaled(found: Features, term: Term) -> float:
    """Return a feature on the scale that its coefficient is for."""
    value = min(term.most, float(getattr(found, term.feature)))
    return log1p(value) if term.unit == "log" else value


def estimate(found: Features, unknown: str | None) -> QualityEstimate:
    """Estimate what a reader would say of a skill, 0–10, with the range of four readers in five.

    ``unknown`` says why nothing can be estimated, None where it can.
    """
    if unknown is not None:
        return QualityEstimate(None, None, None, unknown)
    value = INTERCEPT + sum(term.coefficient * scaled(found, term) for term in TERMS)
    low, value, high = (min(10.0, max(0.0, value + step * DEVIATION)) for step in (-1.28, 0.0, 1.28))
    return QualityEstimate(round(value, 1), round(low, 1), round(high, 1))
