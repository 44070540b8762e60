"""What a catalogue takes of the list that each client shows its model, and which descriptions are cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.across import ListingUse
from skillgate.model.finding import Client

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from skillgate.model.assessment import Listing, Member


class Limits(NamedTuple):
    """A client's limits in characters: of one skill's description, and of the whole list."""

    one: int
    all: int


LIMITS = {
    Client.CLAUDE_CODE: Limits(one=1_536, all=8_000),
    Client.CODEX: Limits(one=1_024, all=8_000),
}
"""Claude Code joins description and when_to_use, cuts them at 1,536 characters and lists 1 % of its context window in
characters, 8,000 where that is not known; Codex cuts a description at 1,024 and lists 2 % or 8,000. Sources: the
documentation of both clients, as of 2026-11. Configurable there, so that 8,000 is the figure for who changed nothing.
"""


def listed_text(listing: Listing, client: Client) -> str:
    """Give what a client lists as a skill's description, before it cuts."""
    parts = (listing.description, listing.when_to_use if client is Client.CLAUDE_CODE else "")
    return " - ".join(part for part in parts if part)


def listing_use(
    members: Sequence[Member], *, before: Mapping[tuple[str, str | None], int] | None = None
) -> tuple[ListingUse, ...]:
    """Sum up each client's list, plugin by plugin: what is installed together is listed together.

    Args:
        members: every skill of the catalogue.
        before: the characters of a baseline, by client and plugin.
    """
    if len(members) < 2:
        return ()
    plugins = sorted({member.plugin for member in members}, key=lambda plugin: plugin or "")
    return tuple(
        _use(client, plugin, [member for member in members if member.plugin == plugin], before)
        for client in LIMITS
        for plugin in plugins
    )


def _use(
    client: Client,
    plugin: str | None,
    members: Iterable[Member],
    before: Mapping[tuple[str, str | None], int] | None,
) -> ListingUse:
    limits = LIMITS[client]
    listed = [member for member in members if member.listing.listed]
    lengths = [len(listed_text(member.listing, client)) for member in listed]
    return ListingUse(
        client=client,
        plugin=plugin,
        skills=len(listed),
        characters=sum(len(member.listing.name) for member in listed) + sum(min(n, limits.one) for n in lengths),
        budget=limits.all,
        cut=tuple(member.path for member, n in zip(listed, lengths, strict=True) if n > limits.one),
        before=None if before is None else before.get((client.value, plugin), 0),
    )
