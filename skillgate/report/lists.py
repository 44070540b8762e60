"""The lists of skills that clients show their models, as reports show them: who lists the same, what is notable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.named_tuple import NamedTuple
from skillgate.scoring.listing import LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillgate.model.finding import Client, ListingUse

_FULL = 0.8  # of the budget: from here on the next skills have to be thought about
_GROWN = 0.05  # of the budget: what one change seldom adds


class ListOf(NamedTuple):
    """One list, and the clients that show it with the same numbers, by their names for people."""

    use: ListingUse
    clients: tuple[str, ...]

    @property
    def change(self) -> int | None:
        """By how many characters it grew, None without a baseline."""
        return None if self.use.before is None else self.use.characters - self.use.before

    @property
    def share(self) -> float:
        """How much of the budget it takes, as a ratio."""
        return self.use.characters / self.use.budget

    @property
    def is_full(self) -> bool:
        """Whether the next skills have to be thought about."""
        return self.share >= _FULL

    @property
    def is_notable(self) -> bool:
        """Whether a change did something to it that the next one will meet: it is full, or grew much."""
        return bool(self.change) and (self.is_full or (self.change or 0) >= _GROWN * self.use.budget)


def lists_of(listing: Iterable[ListingUse]) -> tuple[ListOf, ...]:
    """Put clients together that show a list with the same numbers, in the order in which they come."""
    found: dict[tuple[object, ...], tuple[ListingUse, list[Client]]] = {}
    for use in listing:
        key = (use.place, use.skills, use.characters, use.budget, use.cut, use.before)
        found.setdefault(key, (use, []))[1].append(use.client)
    return tuple(ListOf(use, tuple(map(client_name, clients))) for use, clients in found.values())


def client_name(client: Client) -> str:
    """Give a client's name for people."""
    known = LIMITS.get(client)
    return known.title if known else client.value
