"""Final answers of a scripted model, which say in plain words what is true of them, and how they are read again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from skillgate.llm.scripted.conversation import CHARACTERS_PER_TOKEN
from skillgate.llm.scripted.material import told_words

if TYPE_CHECKING:
    from skillgate.llm.scripted.world import Chance, World

OPENING = "Scripted answer, no real work:"
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


class Truth(NamedTuple):
    """What is true of a final answer: its quality in [0, 1], whether it is the work, whether it covers the request."""

    quality: float
    delivers: bool
    covers: bool


def answer(prompt: str, chance: Chance, world: World, *, with_skill: bool) -> str:
    """Write a final answer, as long as the world says, with its truth in the last line.

    Args:
        prompt: what it answers; some of its words are in it.
        chance: the session's draws.
        world: where they come from.
        with_skill: whether a skill's text was loaded.
    """
    told = _told(_truth(chance, world, with_skill=with_skill))
    most = int(CHARACTERS_PER_TOKEN * round(chance.normal("tokens", world.tokens.answer, world.tokens.sd)))
    room = most - len(OPENING) - len(told) - 3  # a space and an empty line
    return f"{OPENING} {_prose(prompt, chance, room)}\n\n{told}"


def truths(text: str) -> tuple[Truth, ...]:
    """Find what final answers in a text say of themselves, in their order."""
    return tuple(
        Truth(float(match[1]), match[2] == _DELIVERS[True][:-1], match[3] == _COVERS[True][:-1])
        for match in _TRUTH.finditer(text)
    )


def _truth(chance: Chance, world: World, *, with_skill: bool) -> Truth:
    quality = world.quality
    mean = quality.mean if with_skill or quality.without is None else quality.without
    return Truth(
        quality=min(1.0, max(0.0, chance.normal("quality", mean, quality.sd))),
        delivers=chance.happens("delivers", world.delivers),
        covers=chance.happens("covers", world.covers),
    )


def _told(truth: Truth) -> str:
    return f"Draft quality {truth.quality:.2f}. {_DELIVERS[truth.delivers]} {_COVERS[truth.covers]}"


def _prose(prompt: str, chance: Chance, characters: int) -> str:
    """Write about the words of a prompt: so many characters or a few less, nothing where there is no room."""
    about = (*told_words(prompt)[:12], *_FEWEST_WORDS)
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
