"""The rules of a scripted model, and the world that whatever no rule answers follows.

The first rule that matches a request gives its reply. A world holds the truth about skills, sessions and graders, with
known probabilities, so that what a run measures can be held against them. Every draw is a function of the world's seed
and of what it is about (a session's first message and its list of skills, a pair of skills, an answer), never of the
order or the time of requests: a run that is resumed, split over machines or sent as batches gets the same answers.
Another seed gives independent ones.
"""

from __future__ import annotations

import json
import math
from typing import Annotated, Any, NamedTuple

from skillgate.errors import CodecError, UsageError
from skillgate.model.codec import decode
from skillgate.model.digest import digest
from skillgate.model.marks import Range
from skillgate.model.yaml_bounded import Limits, MappingDocument, YamlProblem, load_mapping

LIMITS = Limits(bytes=1 << 20, depth=64, nodes=50_000, aliases=500)
ABSENT: Any = object()  # a rule may well ask for a reply of null
MEDIAN_STRENGTH = 1500.0  # of a skill that the world does not name: the middle of the scale of ratings
Share = Annotated[float, Range(0, 1)]
_MODIFIERS = ("stop_reason", "category", "rating", "truncate", "cut")  # of a message, never of a failure
_DIGITS = 13  # hexadecimal, 52 bits: what a float holds


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
    """The skill that a prompt is about unless it bears the mark of a listed one, which prompts that the world writes
    do; None: the listed one that has most words in common with the prompt."""
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
    """Whether a session that is begun a second time is drawn anew, as a real model's is; else the same requests have
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
    """Draws about one thing; each draw has a name of its own, and is the same whenever it is made."""

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
    problems = [f"{label}:{line}: the key {key} stands here a second time" for key, line in document.duplicates]
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
        problems.append(f"rating is for a reply that is made up, not beside {kinds[0]}")
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
