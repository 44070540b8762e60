"""One match: two skills, whole, before a judge who says which is better; once in each order, since place counts.

A verdict is of use only where the judge judged: one that gets the control question wrong counts nowhere, as in layer 2.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from skillgate.judge import control
from skillgate.judge.asking import ask
from skillgate.judge.document import Shown, shown
from skillgate.judge.fence import sealed, visible
from skillgate.judge.requests import MAX_TOKENS
from skillgate.judge.sheet import provoked, reason_of
from skillgate.judge.subject import Dossier, Page
from skillgate.judge.wording import RUBRIC_VERSION
from skillgate.model.digest import digest
from skillgate.model.exchange import Request, Status, Together
from skillgate.model.score import Dimension
from skillgate.ranking import wording
from skillgate.ranking.entrant import Verdict
from skillgate.ranking.match_schema import EQUAL, FIRST, MATCH, SECOND, is_reasoned
from skillgate.ranking.wording import OBEYED, PROMPT_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.model.exchange import Answer, Steps
    from skillgate.model.judging import Cut
    from skillgate.ranking.entrant import Arena, Entrant

__all__ = ["OBEYED", "PROMPT_VERSION", "Played", "Settled", "cut", "match", "pair_key", "played", "settled"]

QUESTION = "match"
WIN, LOSS, DRAW = "win", "loss", "draw"
_KEPT = 48  # texts that were made ready: a skill meets 16 others, in both orders
_TYPICAL_OUTPUT = 2_800  # tokens: ten dimensions with quotations, and the thinking


class Played(NamedTuple):
    """A match as it was judged.

    Attributes:
        first: the verdict with the one skill first.
        second: the verdict with it second.
        answers: of both orders, for the usage.
    """

    first: Verdict
    second: Verdict
    answers: tuple[Answer, ...]


class Settled(NamedTuple):
    """What two verdicts in opposite orders say of the one skill.

    Attributes:
        result: 1.0 won, 0.5 drawn, 0.0 lost; None where an order has no verdict, and ``reason`` says why.
        orders: ``win``, ``loss`` or ``draw``, with the skill first and with it second; empty without both verdicts.
        position_bias: whether the two disagree: then which skill is better hung on where it stood.
        won, lost: dimensions on which both orders say so.
        reason: why there is no result.
        provoked: whether a text may have kept the judge from a verdict that is missing.
    """

    result: float | None
    orders: tuple[str, ...] = ()
    position_bias: bool = False
    won: tuple[Dimension, ...] = ()
    lost: tuple[Dimension, ...] = ()
    reason: str | None = None
    provoked: bool = False


def pair_key(one: str, two: str) -> str:
    """Give the key of a pair of skills by their digests, the same whichever comes first."""
    return digest(*(part.encode("utf-8", "surrogatepass") for part in sorted((one, two))))


def match(one: Entrant, two: Entrant, arena: Arena, subject: str) -> Steps[tuple[Verdict, Verdict]]:
    """Have two skills compared in both orders.

    Args:
        one: the one skill; several matches of it share a beginning that the provider can keep.
        two: the other.
        arena: who judges.
        subject: what the requests are about, for records and progress.

    Returns:
        The verdict with the one skill first, and the one with it second.
    """
    found = yield from played(one, two, arena, subject)
    return found.first, found.second


def played(one: Entrant, two: Entrant, arena: Arena, subject: str) -> Steps[Played]:
    """Do as :func:`match` does, and give the answers too."""
    answers: tuple[Answer, Answer] = yield Together(
        (
            ask(_request(one, two, arena, subject, keep=True)),
            ask(_request(two, one, arena, subject, keep=False)),
        )
    )
    return Played(_verdict(answers[0]), _verdict(answers[1]), answers)


def settled(first: Verdict, second: Verdict) -> Settled:
    """Settle a match: both orders agree, or it is a draw that is put down to the order.

    A win in one order and a draw in the other is such a draw too: the verdict changed with the place.

    Args:
        first: with the skill first.
        second: with the skill second.
    """
    gaps = [verdict for verdict in (first, second) if verdict.better is None]
    if first.better is None or second.better is None:
        reasons = dict.fromkeys(gap.reason or "there is no verdict" for gap in gaps)
        return Settled(None, reason="; ".join(reasons), provoked=any(gap.provoked for gap in gaps))
    orders = (_outcome(first.better, FIRST), _outcome(second.better, SECOND))
    agreed = orders[0] if orders[0] == orders[1] else DRAW
    return Settled(
        {WIN: 1.0, DRAW: 0.5, LOSS: 0.0}[agreed],
        orders,
        orders[0] != orders[1],
        won=_both(first, second, WIN),
        lost=_both(first, second, LOSS),
    )


def cut(one: Entrant, other: Entrant, arena: Arena) -> tuple[Cut, ...]:
    """List what of the one skill a match with the other does not show, since both texts have to fit into a request.

    Whole sections go, and only where the text is longer than half of that and than what the other leaves.
    """
    return _shown(one, _room(one, other, arena)).cut


def _outcome(better: str, place: str) -> str:
    """Say what a verdict means for the skill that stood in a place."""
    if better == EQUAL:
        return DRAW
    return WIN if better == place else LOSS


def _both(first: Verdict, second: Verdict, outcome: str) -> tuple[Dimension, ...]:
    """List the dimensions that came to the same in both orders."""
    then = dict(second.dimensions)
    return tuple(
        dimension
        for dimension, better in first.dimensions
        if _outcome(better, FIRST) == outcome and _outcome(then.get(dimension, EQUAL), SECOND) == outcome
    )


def _verdict(answer: Answer) -> Verdict:
    if answer.status is not Status.OK:
        return Verdict(None, reason=reason_of(answer), provoked=provoked(answer))
    if answer.value["control"]["score"] > control.HIGHEST_HONEST:
        return Verdict(None, reason=OBEYED, provoked=True)
    compared = answer.value["dimensions"]
    dimensions = tuple((dimension, compared[dimension.value]["better"]) for dimension in Dimension)
    return Verdict(answer.value["overall"]["better"], dimensions)


def _request(first: Entrant, second: Entrant, arena: Arena, subject: str, *, keep: bool) -> Request:
    """Make the request of one order; ``keep`` marks the first skill for the provider's prompt cache."""
    texts = (
        sealed(f"{FIRST} skill", _shown(first, _room(first, second, arena)).text),
        sealed(f"{SECOND} skill", _shown(second, _room(second, first, arena)).text),
    )
    beginning = (wording.system(), texts[0]) if keep else (wording.system(),)
    asked = (f"Question: {QUESTION}", wording.COMPARE, wording.CONTROL.format(subject=_control(first, second, texts)))
    blocks = (
        _block(f"The first skill:\n{texts[0]}", keep=keep),
        _block(f"The second skill:\n{texts[1]}"),
        _block("\n\n".join(asked).strip()),
    )
    return Request(
        question=QUESTION,
        subject=subject,
        body=_body(arena, blocks),
        prompt_version=PROMPT_VERSION,
        rubric_version=RUBRIC_VERSION,
        prefix=digest(arena.judge.model.encode(), str(arena.judge.effort).encode(), *map(_bytes, beginning)),
        check=is_reasoned,
        typical_output=_TYPICAL_OUTPUT,
    )


def _body(arena: Arena, blocks: tuple[Mapping[str, object], ...]) -> dict[str, object]:
    output: dict[str, object] = {"format": {"type": "json_schema", "schema": MATCH}}
    if arena.judge.effort is not None:
        output["effort"] = arena.judge.effort
    return {
        "model": arena.judge.model,
        "max_tokens": MAX_TOKENS,
        "system": [_block(wording.system(), keep=True)],
        "messages": [{"role": "user", "content": list(blocks)}],
        "output_config": output,
    }


def _block(text: str, *, keep: bool = False) -> dict[str, object]:
    block: dict[str, object] = {"type": "text", "text": text}
    return {**block, "cache_control": {"type": "ephemeral"}} if keep else block


@lru_cache(maxsize=_KEPT)
def _size(entrant: Entrant) -> int:
    """Count the characters of all pages as they are shown."""
    return sum(len(visible(page.text)) for page in entrant.pages)


def _room(own: Entrant, other: Entrant, arena: Arena) -> int:
    """Give the characters that a skill may take: half of all, and more where the other leaves more."""
    most = arena.most_characters
    taken = _size(other)
    return most if _size(own) + taken <= most else max(most // 2, most - taken)


@lru_cache(maxsize=_KEPT)
def _shown(entrant: Entrant, room: int) -> Shown:
    """Write a skill's pages, without the fence that says nothing of the place, and say what of them was cut."""
    pages = tuple(Page(page.path, page.text) for page in entrant.pages)
    whole = shown(Dossier("", entrant.name, "", "", pages), most_characters=room)
    _, *lines, _ = whole.text.split("\n")
    return whole._replace(text="\n".join(lines))


@lru_cache(maxsize=_KEPT)
def _unsaid(entrant: Entrant) -> tuple[str, ...]:
    """List the subjects that a skill says nothing of."""
    return control.absent((entrant.name, *(part for page in entrant.pages for part in (page.path, page.text))))


def _control(first: Entrant, second: Entrant, texts: tuple[str, str]) -> str:
    """Choose a subject that neither skill says anything of; the same two in the same order have the same one."""
    of_second = _unsaid(second)
    return control.subject([name for name in _unsaid(first) if name in of_second], *texts, QUESTION)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
