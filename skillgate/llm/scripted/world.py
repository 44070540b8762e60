"""The world of a scripted model: the truth about skills, sessions and graders that its made-up answers follow.

A world has known probabilities, so that what a run measures can be held against them. Every draw is a function of the
world's seed and of what it is about (a session's first message and its list of skills, a pair of skills, an answer),
never of the order or the time of requests: a run that is resumed, split over machines or sent as batches gets the same
answers. Another seed gives independent ones.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

from skillgate.model.digest import digest
from skillgate.model.marks import Range

Share = Annotated[float, Range(0, 1)]
MEDIAN_STRENGTH = 1500.0  # of a skill that the world does not name: the middle of the scale that ratings are given on
_DIGITS = 13  # hexadecimal, 52 bits: what a float holds


class Activation(NamedTuple):
    """How probable it is that a session loads the skill that its prompt is about.

    Attributes:
        should: where the prompt is one for it.
        near_miss: where the prompt holds one of the world's ``near_miss_contains``.
    """

    should: Share = 0.9
    near_miss: Share = 0.1


class Quality(NamedTuple):
    """The true quality of a final answer: a normal draw, cut to [0, 1].

    Attributes:
        mean: of answers given with the skill's text.
        sd: the standard deviation.
        without: the mean of answers given without it; None: the same.
    """

    mean: Share = 0.7
    sd: Share = 0.1
    without: Share | None = None


class Failures(NamedTuple):
    """The shares of sessions that fail, each where the final answer would stand, so that skills are loaded before.

    Attributes:
        refusal: the model refuses.
        truncated: the answer is cut off at its limit of tokens.
        empty: the answer holds no text.
        max_turns: the model goes on calling tools without end.
    """

    refusal: Share = 0.0
    truncated: Share = 0.0
    empty: Share = 0.0
    max_turns: Share = 0.0


class Outages(NamedTuple):
    """The shares of a session's requests that never succeed, however often the same request is sent.

    Attributes:
        overloaded: answered with 529.
        cut: the connection ends in the middle of the reply.
        retry_after_s: what a 529 asks to wait, in seconds; None: it says nothing.
    """

    overloaded: Share = 0.0
    cut: Share = 0.0
    retry_after_s: Annotated[float, Range(0, 86_400)] | None = None


class AnswerTokens(NamedTuple):
    """The length of a final answer in output tokens: a normal draw, at least what its last lines take (about 50).

    Attributes:
        answer: the mean.
        sd: the standard deviation.
    """

    answer: Annotated[float, Range(60, 20_000)] = 300.0
    sd: Annotated[float, Range(0, 5_000)] = 50.0


class World(NamedTuple):
    """A known truth.

    Attributes:
        seed: of all draws.
        target: the skill that a prompt is about unless it bears the mark of a listed one, which prompts that the world
            writes do; None: the listed one that has most words in common with the prompt.
        near_miss_contains: a phrase, or several, one of which tells a near miss from a prompt for the skill, whatever
            its letter case; prompts that the world writes hold the first.
        activation: None: the skill with most words in common with the prompt is loaded, and none where few are.
        quality: of final answers.
        delivers: the share of final answers that are the work itself, rather than handing it on.
        covers: the share of final answers that cover the request.
        failures: of sessions.
        outages: of requests of sessions.
        tokens: of final answers.
        reads: the share of sessions that read a file of ``references/`` where a loaded text names one.
        strengths: by a skill's name, on the Elo scale: one beats the other with probability
            1 / (1 + 10 ** ((other - one) / 400)), where the pair is no draw and the judge looks.
        position_bias: the share of pairs of which the judge prefers whatever stands first, in either order.
        draws: the share of pairs that are equal in both orders.
        varies: whether a session that is begun again is drawn again, as a real model's is; else the same requests have
            the same replies. A demo server counts from its start, another provider from that of the run.
    """

    seed: Annotated[int, Range(0, 1_000_000_000)] = 0
    target: str | None = None
    near_miss_contains: str | tuple[str, ...] = "out of curiosity"
    activation: Activation | None = None
    quality: Quality = Quality()
    delivers: Share = 0.9
    covers: Share = 0.85
    failures: Failures = Failures()
    outages: Outages = Outages()
    tokens: AnswerTokens = AnswerTokens()
    reads: Share = 0.5
    strengths: dict[str, Annotated[float, Range(0, 4000)]] = {}  # noqa: RUF012 - as it is decoded; never written to
    position_bias: Share = 0.0
    draws: Share = 0.0
    varies: bool = False

    @property
    def near_miss_phrases(self) -> tuple[str, ...]:
        """Give what tells near misses, at least one phrase; written ones hold the first."""
        given = self.near_miss_contains
        return (given,) if isinstance(given, str) else given

    def is_near_miss(self, prompt: str) -> bool:
        """Tell whether a prompt holds one of the phrases, whatever its letter case."""
        said = prompt.casefold()
        return any(phrase.casefold() in said for phrase in self.near_miss_phrases)

    def strength(self, name: str) -> float:
        """Give the true strength of a skill."""
        return self.strengths.get(name, MEDIAN_STRENGTH)


class Chance(NamedTuple):
    """Draws about one thing; each draw has a name of its own, and is the same whenever it is made."""

    seed: int
    about: str

    def share(self, name: str) -> float:
        """Draw from [0, 1), evenly."""
        found = digest(str(self.seed).encode(), self.about.encode("utf-8", "replace"), name.encode("utf-8", "replace"))
        return int(found[:_DIGITS], 16) / float(16**_DIGITS)

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


def contradictions(world: World) -> list[tuple[str, str]]:
    """List what cannot be true at once: the path within the world, and what is wrong there."""
    sums = (
        ("failures", ("refusal", "truncated", "empty", "max_turns"), sum(world.failures)),
        ("outages", ("overloaded", "cut"), world.outages.overloaded + world.outages.cut),
        ("position_bias", ("position_bias", "draws"), world.position_bias + world.draws),
    )
    found = [
        (path, f"{', '.join(names)} exclude one another: expected a sum of at most 1, found {total:g}")
        for path, names, total in sums
        if total > 1 + 1e-9
    ]
    phrases = world.near_miss_phrases
    if not phrases or not all(phrase.strip() for phrase in phrases):  # every prompt holds the empty text
        found.append(("near_miss_contains", "expected a word or a phrase, or several, found nothing"))
    return found
