"""What a catalogue takes of the list that each client shows its model, and which descriptions are cut."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from skillgate.model.finding import Clash, Client, Hit, ListingUse
from skillgate.model.skill import Span
from skillgate.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from skillgate.model.finding import Listing, Member


class Limits(NamedTuple):
    """A client's limits in characters: of one skill's description, and of the whole list.

    ``title`` is the client's name for people, ``then`` what it does with a list that is over its limit, ``reads`` the
    directories that hold a project's skills for it.
    """

    one: int
    all: int
    title: str
    then: str
    reads: tuple[str, ...]


LIMITS = {
    Client.CLAUDE_CODE: Limits(
        1_536, 8_000, "Claude Code", "it leaves out the descriptions of those used least", (".claude",)
    ),
    Client.CODEX: Limits(
        1_024, 8_000, "Codex", "it shortens descriptions, and may leave skills out", (".agents", ".codex")
    ),
}
"""Claude Code joins description and when_to_use, cuts them at 1,536 characters and lists 1 % of its context window in
characters, or 8,000 if that is not known. Codex cuts a description at 1,024 and lists 2 % or 8,000. Sources: the
documentation of both clients, as of 2026-11. Both can be configured; 8,000 is the default.
"""


def harness(path: str) -> str:
    """Name the directory that makes a skill one of a certain client's, such as ``.claude`` in ``.claude/skills/pdf``.

    Returns:
        The innermost of :data:`HARNESSES` with ``skills`` (or ``skill``) right below it; ``""`` without one, as in a
        plugin or below a dot-directory that no client reads.
    """
    pairs = pairwise(path.split("/"))
    found = [one for one, below in pairs if below in _FOLDERS and one in HARNESSES]
    return found[-1] if found else ""


HARNESSES = frozenset(
    (
        *(".agent", ".agents", ".claude", ".codex", ".copilot", ".cursor", ".gemini", ".github", ".opencode"),
        *(".windsurf", ".adal", ".aider-desk", ".amp", ".augment", ".autohand", ".bob", ".cline", ".codeartsdoer"),
        *(".codebuddy", ".codemaker", ".codestudio", ".codewhale", ".commandcode", ".continue", ".cortex", ".crush"),
        *(".deepagents", ".devin", ".factory", ".firebender", ".forge", ".fx", ".goose", ".grok", ".hermes"),
        *(".iflow", ".inferencesh", ".jazz", ".junie", ".kilo", ".kilocode", ".kimchi", ".kimi", ".kiro", ".kode"),
        *(".lingma", ".mcpjam", ".minimax", ".moxby", ".mux", ".neovate", ".ona", ".openclaw", ".openhands", ".pi"),
        *(".pochi", ".qoder", ".qwen", ".reasonix", ".roo", ".rovodev", ".terramind", ".tinycloud"),
        *(".trae", ".vibe", ".warp", ".zcode", ".zencoder"),
    )
)
"""Directories that clients read skills from, in a project or at home. Sources: the documentation of the clients, and
the table of agents of the ``skills`` installer (github.com/vercel-labs/skills), as of 2026-11.
"""
_FOLDERS = ("skills", "skill")


def project(path: str) -> str:
    """Name the directory whose skills several clients may each have a copy of: ``app`` of ``app/.claude/skills/pdf``.

    Returns:
        What lies above the innermost ``skills`` (without one, above the skill), less the directory of a client.
    """
    parents = path.split("/")[:-1]
    depth = max((depth for depth, part in enumerate(parents) if part in _FOLDERS), default=len(parents))
    return "/".join(parents[: depth - 1 if depth and parents[depth - 1] in HARNESSES else depth])


def shelf(member: Member) -> tuple[str | None, str]:
    """Name what a skill is listed together with: its plugin or, without one, the folder of skills it lies in.

    Returns:
        The plugin, and the path of the folder: up to ``skills`` if the path has that, else the parent.
    """
    if member.plugin is not None:
        return member.plugin, ""
    parents = member.path.split("/")[:-1]
    depths = [depth for depth, part in enumerate(parents, start=1) if part in _FOLDERS]
    return None, "/".join(parents[: depths[-1]] if depths else parents)


def comparable(members: Sequence[Member]) -> tuple[tuple[Member, ...], ...]:
    """Split a catalogue into groups of skills to compare with one another, each sorted by path.

    Copies of one skill for several clients, such as those in ``.claude/skills`` and ``.codex/skills``, are never read
    by the same client.
    """
    parts: dict[str, list[Member]] = {}
    for member in sorted(members, key=lambda member: member.path):
        parts.setdefault(harness(member.path), []).append(member)
    return tuple(tuple(part) for part in parts.values())


def main_file(member: Member) -> str:
    """Return the path of a skill's main file, as shown."""
    return member.file if member.path in ("", ".") else f"{member.path}/{member.file}"


def listed_text(listing: Listing, client: Client) -> str:
    """Join what a client lists as a skill's description, before it cuts."""
    parts = (listing.description, listing.when_to_use if client is Client.CLAUDE_CODE else "")
    return " - ".join(part for part in parts if part)


def listing_use(
    members: Sequence[Member], *, before: Mapping[tuple[str, str], int] | None = None, alone: bool = False
) -> tuple[ListingUse, ...]:
    """Sum up each client's list, by plugin or folder: what is installed together is listed together.

    ``before`` holds the characters of a baseline, by client and place; ``alone`` says whether one skill has a list too.
    """
    if len(members) < 2 and not alone:
        return ()
    return tuple(_use(client, place, listed, before) for client in LIMITS for place, listed in _lists(members, client))


def over_budget(client: Client) -> Callable[[Sequence[Member]], Iterator[Clash]]:
    """Make the check of one client's budget: a hit for each list over it, at the skill that takes most of it."""
    limits = LIMITS[client]

    def find(members: Sequence[Member]) -> Iterator[Clash]:
        for place, listed in _lists(members, client):
            use = _use(client, place, listed, None)
            if use.characters <= use.budget:
                continue
            longest = max(listed, key=lambda member: min(len(listed_text(member.listing, client)), limits.one))
            where = f" in {place}" if place not in ("", ".") else ""
            message = f"installed together, the {use.skills} skills{where} take {use.characters:,} characters"
            message += f" of the {use.budget:,} that {limits.title} lists: {limits.then}"
            yield Clash(longest.path, Hit(Span(longest.listing.description_line), message), (place or ".",))

    return find


def _lists(members: Sequence[Member], client: Client) -> list[tuple[str, list[Member]]]:
    """Collect what a client lists of each plugin or folder: no other client's copies, and of each name one skill.

    ``.claude/skills`` and ``skills`` of one project are one folder.
    """
    readable = ("", *LIMITS[client].reads)
    lists: dict[str, dict[str, Member]] = {}
    for member in members:
        client_folder = harness(member.path)
        if client_folder in readable:
            plugin, folder = shelf(member)
            parts = [part for part in folder.split("/") if part and part != client_folder]
            once = lists.setdefault("/".join(parts) if plugin is None else plugin, {})
            if member.listing.listed:
                once.setdefault(member.listing.name, member)
    return [(place, list(lists[place].values())) for place in sorted(lists)]


def _use(
    client: Client, place: str, listed: Sequence[Member], before: Mapping[tuple[str, str], int] | None
) -> ListingUse:
    limits = LIMITS[client]
    lengths = [len(listed_text(member.listing, client)) for member in listed]
    return ListingUse(
        client=client,
        place=place,
        skills=len(listed),
        characters=sum(len(member.listing.name) for member in listed) + sum(min(n, limits.one) for n in lengths),
        budget=limits.all,
        cut=tuple(member.path for member, n in zip(listed, lengths, strict=True) if n > limits.one),
        before=None if before is None else before.get((client.value, place), 0),
    )
