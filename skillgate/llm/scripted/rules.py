"""The rules of a scripted model, the world that whatever no rule answers follows, and how a session goes in it.

The first rule that matches a request gives its reply. A world holds the truth about skills, sessions and graders, with
known probabilities, so that the measures of a run can be compared with them. Every draw is a function of the world's
seed and of what it is about (a session's first message and its list of skills, a pair of skills, an answer). It never
depends on the order or the time of requests: a run that is resumed, split over machines or sent as batches gets the
same answers. Another seed gives independent ones.

In a session the world decides which skill is loaded, what is read, and how it ends. Its final answers say in plain
words what is true of them, which a scripted grader reads again.
"""

from __future__ import annotations

import json
import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from skillgate.errors import CodecError, UsageError
from skillgate.llm.scripted.requests import (
    CHARACTERS_PER_TOKEN,
    READ,
    SKILL,
    nearest,
    texts_of,
    tool_names,
    topic_words,
)
from skillgate.model.codec import decode
from skillgate.model.score import Range
from skillgate.model.skill import digest
from skillgate.model.yaml_bounded import Limits, MappingDocument, YamlProblem, load_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

LIMITS = Limits(bytes=1 << 20, depth=64, nodes=50_000, aliases=500)
ABSENT: Any = object()  # a rule may well ask for a reply of null
MEDIAN_STRENGTH = 1500.0  # of a skill that the world does not name: the middle of the scale of ratings
Share = Annotated[float, Range(0, 1)]
_MODIFIERS = ("stop_reason", "category", "rating", "truncate", "cut")  # of a message, never of a failure
_DIGITS = 13  # hexadecimal, 52 bits: what a float holds
OPENING = "Scripted answer, no real work:"
_TICKET = re.compile(r"\bticket (\d{7})\b")
_HEAD = re.compile(r"^The following skills are available\b.*$", re.MULTILINE)
_LISTED = re.compile(r"^- (\S[^\n]*?):(?: ([^\n]*))?$", re.MULTILINE)
_BASE = re.compile(r"^Base directory for this skill: ([^\n]+)$", re.MULTILINE)
_REFERENCE = re.compile(r"references/[\w./-]*\w")
_DELIVERS = {True: "This is the work itself.", False: "The work is left to somebody else."}
_COVERS = {True: "All of the request is covered.", False: "A part of the request is left out."}
_TRUTH = re.compile(
    r"Draft quality ([01]\.\d\d)\. (This is the work itself|The work is left to somebody else)\."
    r" (All of the request is covered|A part of the request is left out)\."
)
_SENTENCES = (
    "First I went through {a} and noted what stands out.",
    "For {a} I kept the order that you gave, with {b} beside it.",
    "The part on {b} is written so that it can be checked against {a}.",
    "Where {a} and {b} disagree, the later one counts, and the other is named.",
    "Nothing was assumed of {b} that the material does not say.",
    "A short summary of {a} follows below, then the details of {b}.",
    "Two points about {b} stay open until somebody confirms {a}.",
)
_PER_PARAGRAPH = 4  # sentences
_FEWEST_WORDS = ("the request", "the material")


class Activation(NamedTuple):
    """How probable it is that a session loads the skill that its prompt is about."""

    should: Share = 0.9  # where the prompt is one for it
    near_miss: Share = 0.1  # where the prompt holds one of the world's ``near_miss_contains``


class Quality(NamedTuple):
    """The true quality of a final answer: a normal draw, cut to [0, 1]."""

    mean: Share = 0.7  # of answers made with the skill's text
    sd: Share = 0.1
    without: Share | None = None  # the mean of answers made without it; None: the same


class Failures(NamedTuple):
    """The shares of sessions that fail, each in place of the final answer, so that skills are loaded before."""

    refusal: Share = 0.0
    truncated: Share = 0.0  # at the answer's limit of tokens
    empty: Share = 0.0  # the answer holds no text
    max_turns: Share = 0.0  # the model goes on calling tools without end


class Outages(NamedTuple):
    """The shares of a session's requests that never succeed, however often the same request is sent."""

    overloaded: Share = 0.0  # answered with 529
    cut: Share = 0.0  # the connection ends in the middle of the reply
    retry_after_s: Annotated[float, Range(0, 86_400)] | None = None  # what a 529 asks to wait; None: it does not say


class AnswerTokens(NamedTuple):
    """The length of a final answer in output tokens: a normal draw, at least what its last lines take (about 50)."""

    answer: Annotated[float, Range(60, 20_000)] = 300.0  # the mean
    sd: Annotated[float, Range(0, 5_000)] = 50.0


class World(NamedTuple):
    """A known truth."""

    seed: Annotated[int, Range(0, 1_000_000_000)] = 0
    target: str | None = None
    """The skill that a prompt is about, unless the prompt has the mark of a listed one. Prompts that the world writes
    have such a mark. None: the listed skill that has most words in common with the prompt."""
    near_miss_contains: str | tuple[str, ...] = "out of curiosity"
    """A phrase, or several, one of which marks a near miss among the prompts for the skill, whatever its letter case;
    prompts that the world writes hold the first."""
    activation: Activation | None = None
    """None: the skill with most words in common with the prompt is loaded, and none where few are."""
    quality: Quality = Quality()
    delivers: Share = 0.9  # of final answers: those that are the work itself, rather than handing it on
    covers: Share = 0.85  # of final answers: those that cover the request
    failures: Failures = Failures()
    outages: Outages = Outages()
    tokens: AnswerTokens = AnswerTokens()
    reads: Share = 0.5  # of sessions: those that read a file of ``references/`` where a loaded text names one
    strengths: dict[str, Annotated[float, Range(0, 4000)]] = {}  # noqa: RUF012 - as it is decoded; never written to
    """By a skill's name, on the Elo scale: one beats the other with probability
    1 / (1 + 10 ** ((other - one) / 400)), where the pair is no draw and the judge looks."""
    position_bias: Share = 0.0  # of pairs: those of which the judge prefers the first, in either order
    draws: Share = 0.0  # of pairs: those that are equal in both orders
    varies: bool = False
    """Whether a session that is begun a second time is sampled again, as a real model's is; else the same requests have
    the same replies. A demo server counts from its start, another provider from that of the run."""

    @property
    def near_miss_phrases(self) -> tuple[str, ...]:
        """The phrases that mark near misses, at least one; written ones hold the first."""
        return as_tuple(self.near_miss_contains)

    def is_near_miss(self, prompt: str) -> bool:
        """Return whether a prompt holds one of the phrases, whatever its letter case."""
        folded = prompt.casefold()
        return any(phrase.casefold() in folded for phrase in self.near_miss_phrases)

    def strength(self, name: str) -> float:
        """Return the true strength of a skill."""
        return self.strengths.get(name, MEDIAN_STRENGTH)


class Chance(NamedTuple):
    """Random values about one thing; each has its own name, and is the same whenever it is made."""

    seed: int
    about: str

    def share(self, name: str) -> float:
        """Draw from [0, 1), evenly."""
        drawn = digest(str(self.seed).encode(), self.about.encode("utf-8", "replace"), name.encode("utf-8", "replace"))
        return int(drawn[:_DIGITS], 16) / float(16**_DIGITS)

    def happens(self, name: str, probability: float) -> bool:
        """Draw whether something of this probability happens."""
        return self.share(name) < probability

    def normal(self, name: str, mean: float, sd: float) -> float:
        """Draw from a normal distribution, by Box and Muller's transformation."""
        radius = math.sqrt(-2 * math.log(1 - self.share(f"{name} radius")))
        return mean + sd * radius * math.cos(2 * math.pi * self.share(f"{name} angle"))

    def one_of(self, name: str, shares: dict[str, float]) -> str | None:
        """Draw one of several things that exclude one another; None for none of them."""
        at = self.share(name)
        for thing, share in shares.items():
            if at < share:
                return thing
            at -= share
        return None

    def pick(self, name: str, among: int) -> int:
        """Draw a number from 0 up to, and without, ``among``."""
        return int(self.share(name) * among)


class Match(NamedTuple):
    """Which requests a rule is for: those that fulfil every condition."""

    question: str | tuple[str, ...] | None = None  # the name of the question, or several of which it is one
    model: str | None = None  # the model of the request; ``*`` and ``?`` match any text and any character
    contains: str | tuple[str, ...] = ()  # texts that are all somewhere in the request, schema and names apart
    not_contains: str | tuple[str, ...] = ()
    times: Annotated[int, Range(1, None)] | None = None
    """How many such requests the rule answers; the next one goes on to the rules below. None: all."""


class Scripted(NamedTuple):
    """What a rule replies: at most one of json, text, tool_use and status; without any, what is made up."""

    json: Any = ABSENT  # written as the reply's text
    text: str | None = None
    tool_use: str | None = None  # the name of a tool to call
    input: dict[str, Any] | None = None  # what the tool is called with
    status: Annotated[int, Range(400, 599)] | None = None  # fail with this HTTP status
    error: str | None = None  # the type of that failure; None: the one the API gives with the status
    message: str | None = None  # of that failure
    retry_after_s: Annotated[float, Range(0, 86_400)] | None = None  # of that failure
    stop_reason: str | None = None  # instead of end_turn; with refusal and no text the reply is empty
    category: str | None = None  # of a refusal
    rating: Annotated[int, Range(0, 10)] | dict[str, int] | None = None
    """Of what is made up: one rating for all, or by the name of a field that holds one."""
    truncate: bool = False  # half of the text, and max_tokens as the reason that it stopped
    cut: bool = False  # the connection ends in the middle of the reply
    delay_ms: Annotated[int, Range(0, 600_000)] = 0  # before the reply


class Rule(NamedTuple):
    """One rule."""

    reply: Scripted
    match: Match = Match()


class Rules(NamedTuple):
    """A file of rules, in their order, and its world; None: that of ``World()``."""

    rules: tuple[Rule, ...] = ()
    world: World | None = None


def parse(data: bytes, label: str) -> Rules:
    """Read rules: YAML, or JSON not indented by tabs; raise UsageError with every problem and its line."""
    try:
        document = load_mapping(data.decode("utf-8-sig"), limits=LIMITS)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{label}:{line}: not UTF-8; save the file as UTF-8") from None
    except YamlProblem as problem:
        raise UsageError(f"{label}:{problem.line}:{problem.column}: {problem.message}") from None
    problems = [f"{label}:{line}: duplicate key {key}" for key, line in document.duplicates]
    try:
        rules = decode(Rules, document.values, unknown="error")
    except CodecError as error:
        problems += [_placed(text, document, label) for text in str(error).split("\n")]
    else:
        problems += [
            f"{_place(f'rules[{index}].reply', document, label)}: {text}"
            for index, rule in enumerate(rules.rules)
            for text in _contradictions(rule.reply)
        ]
        problems += [
            _placed(f"world.{path}: {text}", document, label)
            for path, text in (_impossible(rules.world) if rules.world is not None else ())
        ]
        if rules == Rules() and "rules" not in document.values:
            problems.append(f"{label}: neither rules nor a world; give one of them")
    if problems:
        raise UsageError("\n".join(problems))
    return rules


def as_tuple(texts: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """Return one text, several or none as a tuple."""
    if texts is None:
        return ()
    return (texts,) if isinstance(texts, str) else texts


def _impossible(world: World) -> list[tuple[str, str]]:
    """List what cannot be true at once: the path within the world, and what is wrong there."""
    sums = (
        ("failures", ("refusal", "truncated", "empty", "max_turns"), sum(world.failures)),
        ("outages", ("overloaded", "cut"), world.outages.overloaded + world.outages.cut),
        ("position_bias", ("position_bias", "draws"), world.position_bias + world.draws),
    )
    problems = [
        (path, f"{', '.join(names)} exclude one another: expected a sum of at most 1, found {total:g}")
        for path, names, total in sums
        if total > 1 + 1e-9
    ]
    phrases = world.near_miss_phrases
    if not phrases or not all(phrase.strip() for phrase in phrases):  # every prompt holds the empty text
        problems.append(("near_miss_contains", "expected a word or a phrase, or several, found nothing"))
    return problems


def _contradictions(reply: Scripted) -> list[str]:
    """List what cannot be replied at once, or not at all."""
    kinds = [name for name in ("text", "tool_use", "status") if getattr(reply, name) is not None]
    kinds += ["json"] * (reply.json is not ABSENT)
    problems = []
    if len(kinds) > 1:
        problems.append(f"{' and '.join(sorted(kinds))} are different replies; keep one of them")
    if reply.status is None:
        lone = [name for name in ("error", "message", "retry_after_s") if getattr(reply, name) is not None]
        problems += [f"{name} belongs to a failure; give its status too" for name in lone]
    else:
        set_too = [name for name in _MODIFIERS if getattr(reply, name) != Scripted._field_defaults[name]]
        problems += [f"{name} has no place in a failure" for name in set_too]
    if reply.input is not None and reply.tool_use is None:
        problems.append("input belongs to tool_use, the name of a tool")
    if reply.rating is not None and kinds:
        problems.append(f"rating is for a reply that is made up, not with {kinds[0]}")
    if reply.json is not ABSENT and not _writable(reply.json):
        problems.append("json has a value that JSON cannot hold, such as a date; quote it")
    if reply.input is not None and not _writable(reply.input):
        problems.append("input has a value that JSON cannot hold, such as a date; quote it")
    return problems


def _writable(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def _placed(text: str, document: MappingDocument, label: str) -> str:
    """Put the line before a problem that begins with a path, as in ``rules[0].match: …``."""
    path = text.partition(": ")[0]
    return f"{_place(path, document, label)}: {text}"


def _place(path: str, document: MappingDocument, label: str) -> str:
    while path and path not in document.places:
        cut = max(path.rfind("."), path.rfind("["))
        path = path[:cut] if cut > 0 else ""
    return f"{label}:{document.places[path]}" if path else label


class Loaded(NamedTuple):
    """A skill's text as it was put into a session: the directory that it is said to lie in, and the text."""

    base: str
    text: str

    @property
    def reference(self) -> str | None:
        """The first path below ``references/`` that the text names, None where it names none."""
        path = _REFERENCE.search(self.text)
        return None if path is None or ".." in path[0] else path[0]


class Scene(NamedTuple):
    """What a scripted model sees in one request of a session."""

    tools: frozenset[str]
    skills: Mapping[str, str]  # descriptions of those listed, by name
    prompt: str  # what the user wants
    opening: str  # a digest of the model, the list and the prompt: the same for every request of the session
    moment: str  # a digest of all messages so far: another for each of them
    called: tuple[str, ...]  # the tools called so far, in their order
    loaded: tuple[Loaded, ...]


class Truth(NamedTuple):
    """What is true of a final answer: its quality in [0, 1], whether it is the work, whether it covers the request."""

    quality: float
    delivers: bool
    covers: bool


def scene(body: Mapping[str, Any]) -> Scene:
    """Read one request of a session; the body is one that the API takes, and is untrusted."""
    messages = body["messages"]
    at = next((index for index, message in enumerate(messages) if message["role"] == "assistant"), len(messages))
    first, later = messages[:at], messages[at:]
    system = "\n".join(texts_of(body.get("system")))
    before = [text for message in first for text in texts_of(message["content"])]
    user = [text for message in first if message["role"] == "user" for text in texts_of(message["content"])]
    typed = [text for text in user if not _BASE.search(text)]  # a skill's text can come with what the user typed
    rest = [text for message in later for text in texts_of(message["content"])]
    called = tuple(
        str(block.get("name"))
        for message in later
        for block in (message["content"] if isinstance(message["content"], list) else ())
        if block["type"] == "tool_use"
    )
    opening = digest(*map(_bytes, (body["model"], system, *before)))
    return Scene(
        tools=frozenset(tool_names(body)),
        skills=_listed(system) or _listed("\n".join(before)),
        prompt=(typed or user or [""])[-1],
        opening=opening,
        moment=digest(opening.encode(), *map(_bytes, rest), *(call.encode() for call in called)),
        called=called,
        loaded=_loaded("\n".join([system, *before, *rest])),
    )


def play(seen: Scene, world: World) -> Scripted:
    """Return the model's next turn: a call of a tool, a final answer, or one of the ways in which a session fails."""
    outages = world.outages
    chances = {"overloaded": outages.overloaded, "cut": outages.cut}
    outage = Chance(world.seed, seen.moment).one_of("outage", chances)
    if outage == "overloaded":
        why = "Overloaded: the scripted world says so."
        return Scripted(status=529, message=why, retry_after_s=outages.retry_after_s)
    turn = _turn(seen, world)
    return turn if outage is None else turn._replace(cut=True)


def ticket(name: str) -> str:
    """Return the mark by which a prompt that the world writes names its skill to the world alone."""
    return f"ticket {int(digest(b'ticket', _bytes(name))[:10], 16) % 10**7:07d}"


def truths(text: str) -> tuple[Truth, ...]:
    """Return what final answers in a text say of themselves, in their order."""
    return tuple(
        Truth(float(match[1]), match[2] == _DELIVERS[True][:-1], match[3] == _COVERS[True][:-1])
        for match in _TRUTH.finditer(text)
    )


def _turn(seen: Scene, world: World) -> Scripted:
    chance = Chance(world.seed, seen.opening)
    if SKILL in seen.tools and SKILL not in seen.called:
        wanted = _wanted(seen, world, chance)
        if wanted is not None:
            return Scripted(tool_use=SKILL, input={"skill": wanted})
    references = ((skill.base, skill.reference) for skill in seen.loaded)
    path = next((f"{base.rstrip('/')}/{name}" for base, name in references if name is not None), None)
    if READ in seen.tools and READ not in seen.called and path is not None and chance.happens("reads", world.reads):
        return Scripted(tool_use=READ, input={"file_path": path})
    failure = chance.one_of("failure", world.failures._asdict())
    if failure == "max_turns" and seen.tools:
        return Scripted(tool_use=READ, input={"file_path": path or "references/more.md"})
    if failure == "refusal":
        return Scripted(stop_reason="refusal", category="general_harms")
    if failure == "empty":
        return Scripted(text="")
    answer = _answer(seen.prompt, chance, world, with_skill=bool(seen.loaded))
    return Scripted(text=answer, truncate=failure == "truncated")


def _wanted(seen: Scene, world: World, chance: Chance) -> str | None:
    """Return the skill that the model loads, None for none."""
    if world.activation is None:
        return _by_words(seen)
    target = _target(seen, world)
    probability = world.activation.near_miss if world.is_near_miss(seen.prompt) else world.activation.should
    return target if target is not None and chance.happens("activation", probability) else None


def _target(seen: Scene, world: World) -> str | None:
    """Return the skill that the prompt is about, None where there is none on the list."""
    marked = _TICKET.search(seen.prompt)
    owner = next((name for name in seen.skills if marked is not None and ticket(name) == marked[0]), None)
    if owner is not None:
        return owner
    if world.target is not None:
        return world.target if world.target in seen.skills else None
    return _by_words(seen) if marked is None else None


def _by_words(seen: Scene) -> str | None:
    skills = {name: _words(f"{name} {text}") for name, text in seen.skills.items()}
    return nearest(frozenset(topic_words(seen.prompt)), skills)


@lru_cache(maxsize=1024)  # the same lists come with every session
def _words(text: str) -> frozenset[str]:
    return frozenset(topic_words(text))


@lru_cache(maxsize=64)
def _listed(text: str) -> Mapping[str, str]:
    """Return the listed skills: below a line that announces them, where there is one; of two of a name the first."""
    head = _HEAD.search(text)  # the first: a description may hold such words too
    skills: dict[str, str] = {}
    for match in _LISTED.finditer(text, head.end() if head else 0):
        skills.setdefault(match[1], match[2] or "")
    return skills


def _loaded(text: str) -> tuple[Loaded, ...]:
    bases = list(_BASE.finditer(text))
    ends = [*(match.start() for match in bases[1:]), len(text)]
    return tuple(Loaded(match[1].strip(), text[match.end() : end]) for match, end in zip(bases, ends, strict=False))


def _answer(prompt: str, chance: Chance, world: World, *, with_skill: bool) -> str:
    """Write a final answer with words of its prompt, as long as the world says, with its truth in the last line."""
    quality = world.quality
    mean = quality.mean if with_skill or quality.without is None else quality.without
    drawn = min(1.0, max(0.0, chance.normal("quality", mean, quality.sd)))
    delivers = _DELIVERS[chance.happens("delivers", world.delivers)]
    truth = f"Draft quality {drawn:.2f}. {delivers} {_COVERS[chance.happens('covers', world.covers)]}"
    most = int(CHARACTERS_PER_TOKEN * round(chance.normal("tokens", world.tokens.answer, world.tokens.sd)))
    room = most - len(OPENING) - len(truth) - 3  # a space and an empty line
    return f"{OPENING} {_prose(prompt, chance, room)}\n\n{truth}"


def _prose(prompt: str, chance: Chance, characters: int) -> str:
    """Write about the words of a prompt: so many characters or a few less, nothing where there is no room."""
    about = (*topic_words(prompt)[:12], *_FEWEST_WORDS)
    at, step = chance.pick("words", len(about)), chance.pick("sentence", len(_SENTENCES))
    parts: list[str] = []
    length = 0
    while length < characters:
        number = len(parts)
        form = _SENTENCES[(step + number) % len(_SENTENCES)]
        sentence = form.format(a=about[(at + number) % len(about)], b=about[(at + 2 * number + 1) % len(about)])
        parts.append(sentence + ("\n\n" if number % _PER_PARAGRAPH == _PER_PARAGRAPH - 1 else " "))
        length += len(parts[-1])
    text = "".join(parts)[: max(0, characters - 1)].rstrip(" \n.")
    return f"{text}." if text else ""


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
