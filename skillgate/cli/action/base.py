"""What a change is compared with, and whose policy holds: the base of a pull request or merge group, found in git."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import UsageError
from skillgate.skill.git import commit_of, merge_base, parents

if TYPE_CHECKING:
    from skillgate.github.event import Event

_FETCH = "give actions/checkout fetch-depth: 2 (of a merge commit) or fetch-depth: 0"
_ANOTHER = (
    "what is checked out does not hold the pull request's own commit, and a gate on it would pass whatever the change"
    " does; use the event pull_request, or check its head out"
)
_MERGED = "the commit that GitHub merged the change into"


class Base(NamedTuple):
    """Where a change began.

    Attributes:
        head: the commit that is checked out; ``""`` without a repository.
        commit: the base, None where there is none to compare with.
        change: the pull request's own head, where what is checked out is GitHub's merge of it; else ``""``.
        how: how it was found, in words that follow "compared with".
        note: what a reader should know about it, ``""`` for nothing.
    """

    head: str
    commit: str | None
    how: str
    note: str = ""
    change: str = ""


def find_base(top: str | None, event: Event) -> Base:
    """Find the base of the change that is checked out.

    Of GitHub's merge commit it is the first parent: exactly what the change was merged into. Else it is where the
    head left the base branch, by the tip that the event names: one that is stale is only older, while branches of the
    clone may be those of whoever wrote the change.

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
    # Anybody can make a merge with the head as its second parent; GitHub's is the one that it names, or of its base.
    if len(above) == 2 and above[1] == event.head_sha and (head == event.sha or above[0] == event.base_sha):
        return Base(head, _present(top, above[0]), _MERGED, change=event.head_sha)
    note = ""
    if head != event.head_sha:
        if (
            commit_of(top, event.head_sha or "") is None
            or merge_base(top, head, event.head_sha or "") != event.head_sha
        ):
            raise UsageError(_ANOTHER)
        note = "what is checked out is neither the pull request's head nor GitHub's merge of it; it is what was gated"
    tip = commit_of(top, event.base_sha) if event.base_sha else None
    base = merge_base(top, head, tip) if tip else None
    if base == head:
        raise UsageError(_ANOTHER)
    if base is None:
        raise UsageError(f"the base of the pull request is not in this clone, so its gate cannot be asked; {_FETCH}")
    return Base(head, base, "the commit where the change left its base branch", note)


def _of_merge_group(top: str, head: str, event: Event) -> Base:
    if event.group_base_sha and commit_of(top, event.group_base_sha):
        return Base(head, event.group_base_sha, "the base of the merge group")
    above = parents(top, head)
    if len(above) == 2 and head in (event.sha, event.group_head_sha):
        return Base(head, _present(top, above[0]), _MERGED)
    raise UsageError(f"the base of the merge group is not in this clone, so its gate cannot be asked; {_FETCH}")


def _present(top: str, commit: str) -> str:
    if commit_of(top, commit) is None:
        raise UsageError(f"the base commit {commit[:12]} is not in this clone, so its gate cannot be asked; {_FETCH}")
    return commit
