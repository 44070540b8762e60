"""The requests for prompts: what each asks for, its body, and what of its answer can be used."""

from __future__ import annotations

import json
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.judge.fence import fenced
from skillgate.judge.requests import MAX_TOKENS
from skillgate.judge.schema import MOST_PROMPT_CHARACTERS, STYLES
from skillgate.model.exchange import Request
from skillgate.montecarlo import prompt_wording as wording

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillgate.montecarlo.subject import Plan, Subject

MOST_OF_ONE = 25
"""Prompts of one request: more in one answer grow alike."""
MOST_BODY = 40_000  # characters of a skill's instructions: what it is for stands in its beginning
MOST_KNOWN = 200  # prompts that are shown so that none is repeated, the last ones
LONGEST_KNOWN = 300  # characters of each
_TOKENS_PER_PROMPT, _TOKENS_OF_THINKING = 60, 600


class Ordered(NamedTuple):
    """What one request asks for.

    Attributes:
        should_trigger: of which kind.
        styles: how many of each style, in the order of the styles.
        part: its number among those of its kind that are sent with it, from 1.
        parts: how many these are.
        known: prompts of the kind that are there already.
    """

    should_trigger: bool
    styles: tuple[int, ...]
    part: int
    parts: int
    known: tuple[str, ...] = ()

    @property
    def many(self) -> int:
        """Count the prompts."""
        return sum(self.styles)

    @staticmethod
    def usable(prompt: str) -> str | None:
        """Bring a prompt to one line; None for an empty one, a very long one, or one that is no text."""
        flat = " ".join(prompt.split())
        try:
            flat.encode()
        except UnicodeEncodeError:  # half of a surrogate pair
            return None
        return flat if 0 < len(flat) <= MOST_PROMPT_CHARACTERS else None

    def check(self, value: Any) -> str | None:  # noqa: ANN401 - decoded JSON that fits its schema
        """Say what is wrong with an answer: fewer than half of what was asked for can be used. None for nothing."""
        found = sum(self.usable(entry["prompt"]) is not None for entry in value["prompts"])
        if 2 * found >= self.many:
            return None
        limit = f"an empty one or one of more than {MOST_PROMPT_CHARACTERS:,} characters is none"
        return f"prompts holds {found} that can be used, but {self.many} were asked for; {limit}"


def orders(missing: Sequence[int], *, should_trigger: bool, spare: int, known: tuple[str, ...]) -> Iterator[Ordered]:
    """Divide what is missing into requests of at most 25 prompts, alike in size and in both styles as far as that goes.

    Args:
        missing: how many of each style.
        should_trigger: the kind.
        spare: how many more to ask for, of the styles that are missing, where that takes no further request.
        known: what is there already.
    """
    if not sum(missing):
        return
    styles = list(_alternating(missing))
    styles += [styles[at % len(styles)] for at in range(min(spare, -len(styles) % MOST_OF_ONE))]
    size = ceil(len(styles) / ceil(len(styles) / MOST_OF_ONE))
    parts = [styles[at : at + size] for at in range(0, len(styles), size)]
    for number, part in enumerate(parts, start=1):
        yield Ordered(should_trigger, tuple(part.count(at) for at in range(len(missing))), number, len(parts), known)


def written(subject: Subject, plan: Plan, order: Ordered) -> Request:
    """Ask for prompts. The same subject, plan and order give the same request."""
    output: dict[str, Any] = {"format": {"type": "json_schema", "schema": wording.PROMPTS}}
    if plan.grader.effort is not None:
        output["effort"] = plan.grader.effort
    skill = {"type": "text", "text": _skill(subject, min(MOST_BODY, plan.most_characters))}
    question = {"type": "text", "text": "\n\n".join(part.strip("\n") for part in _question(subject, order))}
    return Request(
        question=wording.QUESTION,
        subject=subject.path,
        body={
            "model": plan.grader.model,
            "max_tokens": MAX_TOKENS,
            "system": [{"type": "text", "text": wording.SYSTEM}],
            "messages": [{"role": "user", "content": [skill, question]}],
            "output_config": output,
        },
        prompt_version=wording.PROMPT_VERSION,
        check=order.check,
        typical_output=_TOKENS_OF_THINKING + _TOKENS_PER_PROMPT * order.many,
        typical=({"type": "text", "text": _made_up(order)},),
    )


def _alternating(missing: Sequence[int]) -> Iterator[int]:
    """Give the styles one after the other in turn, each as often as it is missing."""
    for turn in range(max(missing)):
        yield from (at for at, count in enumerate(missing) if turn < count)


def _skill(subject: Subject, most: int) -> str:
    listing = f"name: {_line(subject.name)}\ndescription: {_line(subject.description)}"
    body = subject.library.body(subject.name).text or ""
    parts = [fenced("listing", listing), fenced("instructions", body[:most])]
    return "\n\n".join(parts if len(body) <= most else [*parts, wording.CUT])


def _question(subject: Subject, order: Ordered) -> Iterator[str]:
    yield f"Question: {wording.QUESTION}"
    yield wording.ordered(*order.styles)
    yield wording.SHOULD if order.should_trigger else wording.NEAR_MISSES
    yield wording.STYLE
    yield wording.FORM
    if order.parts > 1:
        voice = wording.VOICES[(order.part - 1) % len(wording.VOICES)]
        yield wording.PART.format(part=order.part, parts=order.parts, voice=voice)
    if not order.should_trigger and subject.siblings:
        yield wording.NEIGHBOURS
        yield fenced(
            "neighbours", _rows({"name": one.name, "description": one.description} for one in subject.siblings)
        )
    if order.known:
        yield wording.KNOWN
        yield fenced("prompts", _rows({"prompt": text[:LONGEST_KNOWN]} for text in order.known[-MOST_KNOWN:]))


def _rows(entries: Iterable[dict[str, str]]) -> str:
    """Write entries as lines that nothing in them can end."""
    lines = ({key: _line(text) for key, text in entry.items()} for entry in entries)
    return "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)


def _line(text: str) -> str:
    return " ".join(text.split())


def _made_up(order: Ordered) -> str:
    """Make an answer up for estimates: as many prompts as are asked for, none of them that of another request."""
    kind = "task" if order.should_trigger else "neighbour"
    styles = (style for style, many in zip(STYLES, order.styles, strict=True) for _ in range(many))
    told = "made up for an estimate, about as long as what a person says who wants some work done on a file"
    entries = [
        {"prompt": f"{kind}{len(order.known)}part{order.part}number{number}, {told}", "style": style}
        for number, style in enumerate(styles, start=1)
    ]
    return json.dumps({"prompts": entries})
