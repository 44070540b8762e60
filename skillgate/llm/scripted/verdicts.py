"""What a scripted grader says: it reads back what an answer tells of itself, and knows how strong skills are."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.llm.scripted.work import truths
from skillgate.llm.scripted.world import Chance
from skillgate.model.digest import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.llm.scripted.material import Fenced
    from skillgate.llm.scripted.work import Truth
    from skillgate.llm.scripted.world import World

FIRST, SECOND, EQUAL = "first", "second", "equal"
_SIDES = (("first", "second"), ("one", "two"), ("a", "b"), ("1", "2"))
_NAME = re.compile(r"^name:[ \t]*[\"']?([^\"'\n]*?)[\"']?[ \t]*$", re.MULTILINE)
_YES = ("yes", "true", "fully", "whole", "work", "deliver", "cover", "complete", "done", "met", "pass")
_NO = ("no", "false", "hand", "deleg", "other", "left", "miss", "fail", "unmet")


class Said(NamedTuple):
    """What a grader would say, as far as it is known.

    Attributes:
        quality: in [0, 1]; None: nothing is known of it.
        holds: whether what is asked is so; None likewise.
        better: of a pair ``first``, ``second`` or ``equal``; None where no pair is shown.
    """

    quality: float | None = None
    holds: bool | None = None
    better: str | None = None


def said(question: str, shown: str, parts: Sequence[Fenced], world: World) -> Said:
    """Say what is known of a question.

    Args:
        question: its name.
        shown: all that the grader was shown, as one text.
        parts: what of it is fenced.
        world: the truth.
    """
    if question == "match":
        return Said(better=_match(parts, world))
    told = truths(shown)
    if question == "preference":
        return Said(better=_preference(told, world))
    if question not in ("grade", "scope_grade", "expectation_grade") or not told:
        return Said()
    holds = told[-1].covers if question == "scope_grade" else told[-1].delivers
    return Said(told[-1].quality, None if question == "expectation_grade" else holds)


def choice(known: Sequence[str], found: Said) -> str | None:
    """Choose among the words that an answer may consist of; None where nothing is known that they could say."""
    folded = {word.casefold(): word for word in known}
    for first, second in _SIDES:
        if first in folded and second in folded:
            rest = [word for word in known if word.casefold() not in (first, second)]
            sides = {FIRST: folded[first], SECOND: folded[second], EQUAL: rest[0] if rest else folded[first]}
            return sides.get(found.better or "")
    if found.holds is None:
        return None
    return _yes(known) if found.holds else _no(known)


def _yes(known: Sequence[str]) -> str:
    return next((word for word in known if word.casefold().startswith(_YES)), known[0])


def _no(known: Sequence[str]) -> str:
    """Choose what denies most clearly; an answer in between, as ``partly``, comes last but one."""
    left = [word for word in known if word != _yes(known)] or list(known)
    return next((word for word in left if word.casefold().startswith(_NO)), left[-1])


def _match(parts: Sequence[Fenced], world: World) -> str | None:
    """Let two skills meet; both orders of a pair are one match."""
    skills = _pair(parts)
    if skills is None:
        return None
    names = [_named(text) for text in skills]
    marks = [digest(text.encode("utf-8", "replace")) for text in skills]
    return _settled(marks, 1 / (1 + 10 ** ((world.strength(names[1]) - world.strength(names[0])) / 400)), world)


def _settled(marks: Sequence[str], first_wins: float, world: World) -> str:
    """Draw the outcome of a pair, which is the same whichever of the two stands first."""
    chance = Chance(world.seed, " ".join(sorted(marks)))
    kind = chance.one_of("kind", {"bias": world.position_bias, EQUAL: world.draws})
    if kind is not None or marks[0] == marks[1]:
        return FIRST if kind == "bias" else EQUAL
    turned = marks[0] > marks[1]
    wins = chance.happens("wins", 1 - first_wins if turned else first_wins)
    return FIRST if wins is not turned else SECOND


def _pair(parts: Sequence[Fenced]) -> tuple[str, str] | None:
    """Find the texts of the two skills: fenced parts of two kinds, or two parts of one."""
    kinds = list(dict.fromkeys(part.kind for part in parts))
    texts = ["\n".join("\n".join(part.lines) for part in parts if part.kind == kind) for kind in kinds]
    if len(kinds) >= 2:
        return texts[0], texts[1]
    alone = ["\n".join(part.lines) for part in parts]
    return (alone[0], alone[1]) if len(alone) == 2 else None


def _named(text: str) -> str:
    found = _NAME.search(text)
    return "" if found is None else found[1]


def _preference(told: Sequence[Truth], world: World) -> str | None:
    """Prefer the better of two answers, as far as their truths differ."""
    if len(told) != 2:
        return None
    marks = [f"{truth.quality:.2f} {truth.delivers} {truth.covers}" for truth in told]
    chance = Chance(world.seed, digest(*(mark.encode() for mark in sorted(marks))))
    if chance.happens("bias", world.position_bias):
        return FIRST
    if told[0].quality == told[1].quality:
        return EQUAL
    return FIRST if told[0].quality > told[1].quality else SECOND


def expectations(parts: Sequence[Fenced]) -> tuple[tuple[int, str], ...]:
    """Find the expectations that an answer is held to, each a line, with their numbers from 1 or as they say."""
    lines = [line for part in parts if "expectation" in part.kind for line in part.lines if line.strip()]
    return tuple(_row(line, number) for number, line in enumerate(lines, start=1))


def met(expectation: str, found: Said, world: World) -> Said:
    """Say whether an answer meets an expectation: as probable as its quality; nothing where nothing is known of it."""
    if found.quality is None:
        return Said()
    chance = Chance(world.seed, f"{found.quality:.2f} {expectation}")
    return Said(found.quality, chance.happens("met", found.quality))


def _row(line: str, number: int) -> tuple[int, str]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return number, line
    values = tuple(found.values()) if isinstance(found, dict) else ()
    numbers = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    return (numbers or [number])[0], next((value for value in values if isinstance(value, str)), line)


def rounded(quality: float, scale: Sequence[Any]) -> Any:  # noqa: ANN401 - JSON
    """Put a quality on a scale of numbers whose highest one is 1."""
    return min(scale, key=lambda number: abs(number - quality * max(scale)))
