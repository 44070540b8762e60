"""What a change is compared with, and whose policy holds: the base of a pull request or merge group, found in git."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import UsageError
from skillgate.skill.git import commit_of, merge_base, parents

if TYPE_CHECKING:
    from skillgate.github.event import Event

_FETCH = "give actions/checkout fetch-depth: 2 (of a merge commit) or fetch-depth: 0"


class Base(NamedTuple):
    """Where a change began.

    Attributes:
        head: the commit that is checked out; ``""`` without a repository.
        commit: the base, None where there is none to compare with.
        how: how it was found, in words that follow "compared with".
        note: what a reader should know about it, ``""`` for nothing.
    """

    head: str
    commit: str | None
    how: str
    note: str = ""


def find_base(top: str | None, event: Event) -> Base:
    """Find the base of the change that is checked out.

    Of GitHub's merge commit it is the first parent: exactly what the change was merged into. Else it is where the
    head left the base branch. The event's own base is not taken, since it is stale once a run is repeated.

    Args:
        top: the top of the repository, None without one.
        event: what GitHub says.

    Returns:
        The base, without a commit where the event is no change to something.

    Raises:
        UsageError: the event is a change and its base is not in the clone, or the change is not checked out.
        IncompleteError: git is missing.
    """
    is_change = event.pull_request is not None or event.name == "merge_group"
    head = commit_of(top, "HEAD") if top is not None else None
    if top is None or head is None:
        if is_change:
            raise UsageError("there is no git repository with a commit here; run actions/checkout before this step")
        return Base("", None, "nothing: there is no git repository")
    if not is_change:
        return Base(head, None, f"nothing: {event.name or 'this run'} is no change to a base")
    if event.name == "merge_group":
        return _of_merge_group(top, head, event)
    return _of_pull_request(top, head, event)


def _of_pull_request(top: str, head: str, event: Event) -> Base:
    above = parents(top, head)
    if len(above) == 2 and above[1] == event.head_sha:
        return Base(head, _present(top, above[0]), "the commit that GitHub merged the change into")
    note = ""
    if head != event.head_sha:
        note = "what is checked out is neither the pull request's head nor GitHub's merge of it; it is what was gated"
    for name in (f"refs/remotes/origin/{event.base_ref}" if event.base_ref else "", event.base_sha):
        tip = commit_of(top, name) if name else None
        base = merge_base(top, head, tip) if tip else None
        if base == head:
            raise UsageError(
                "what is checked out is part of the base branch: the pull request's own commit is not there, and a"
                " gate on it would pass whatever the change does; use the event pull_request, or check its head out"
            )
        if base is not None:
            return Base(head, base, "the commit where the change left its base branch", note)
    raise UsageError(f"the base of the pull request is not in this clone, so its gate cannot be asked; {_FETCH}")


def _of_merge_group(top: str, head: str, event: Event) -> Base:
    if event.group_base_sha and commit_of(top, event.group_base_sha):
        return Base(head, event.group_base_sha, "the base of the merge group")
    above = parents(top, head)
    if len(above) == 2:
        return Base(head, _present(top, above[0]), "the commit that GitHub merged the change into")
    raise UsageError(f"the base of the merge group is not in this clone, so its gate cannot be asked; {_FETCH}")


def _present(top: str, commit: str) -> str:
    if commit_of(top, commit) is None:
        raise UsageError(f"the base commit {commit[:12]} is not in this clone, so its gate cannot be asked; {_FETCH}")
    return commit
