"""The base of a change, found in git: the commit that it is compared with, and the commit whose policy holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import UsageError
from skillgate.skill.git import commit_of, merge_base, parents, points_at, ref, remote_url

if TYPE_CHECKING:
    from skillgate.action.github.event import Event

_FETCH = "give actions/checkout fetch-depth: 2 (of a merge commit) or fetch-depth: 0"
_FETCH_ALL = "give actions/checkout fetch-depth: 0"
_ANOTHER = (
    "what is checked out does not hold the pull request's own commit, and a gate on it would pass whatever the change"
    " does; use the event pull_request, or check its head out"
)
_MERGED = "the commit that GitHub merged the change into"


class Base(NamedTuple):
    """Where a change began, and where it is going.

    Attributes:
        head: the commit that is checked out; ``""`` without a repository.
        commit: the commit to compare with, None where there is none.
        how: how it was found, in words that follow "compared with".
        note: what a reader should know about it, ``""`` for nothing.
        change: the pull request's own head, where what is checked out is GitHub's merge of it; else ``""``.
        tip: the newest known commit of the base branch, whose policy holds; None where ``commit`` is None.
    """

    head: str
    commit: str | None
    how: str
    note: str = ""
    change: str = ""
    tip: str | None = None


def find_base(top: str | None, event: Event) -> Base:
    """Find the base of the change that is checked out.

    It is compared with the first parent of GitHub's merge commit: exactly what the change was merged into. Where the
    head itself is checked out, it is compared with the commit where it left the base branch. Policy comes from the tip
    of the base branch in both cases (see :func:`_tip`): else a branch that is old would choose an old gate.

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


def require_own_commit(top: str, head: str, event: Event, *, names_pull_request: bool) -> str:
    """Require that an event without a base gates the repository's own commit, and no pull request's.

    Such an event may have secrets and a token that writes, and what is checked out is gated by its own configuration.

    Args:
        top: the top of the repository.
        head: the commit that is checked out.
        event: what GitHub says; no change to a base.
        names_pull_request: whether the workflow says that the run is about a pull request.

    Returns:
        What a reader should know, ``""`` for nothing.

    Raises:
        UsageError: a pull request's commit is checked out, or a pull request would be told of what is none of its own.
        IncompleteError: git is missing.
    """
    if event.sha and (head == event.sha or _is_ancestor(top, head, commit_of(top, event.sha))):
        if names_pull_request and event.is_about_pull_request:  # and the comment would be on it
            raise UsageError(_ANOTHER)
        return ""
    if event.is_about_pull_request or names_pull_request or points_at(top, head, "refs/pull", "refs/remotes/pull"):
        raise UsageError(
            f"refusing to gate {head[:12]} in the event {event.name}: it is not a commit of this run's own branch but a"
            " pull request's, and would be gated by its own configuration, in a job that may have secrets; gate it in"
            " the event pull_request, or check out the default branch"
        )
    if event.sha and event.name not in ("", "push", "schedule"):
        return (
            f"{head[:12]} is checked out, and {event.name} is about {event.sha[:12]}: gates and suppressions are those"
            " of what is checked out; never check out a pull request's head here"
        )
    return ""


def _of_pull_request(top: str, head: str, event: Event) -> Base:
    above = parents(top, head)
    # Anybody can make a merge with the head as its second parent; GitHub's is the one that it names, or of its base.
    if len(above) == 2 and above[1] == event.head_sha and (head == event.sha or above[0] == event.base_sha):
        into = _present(top, above[0])
        return Base(head, into, _MERGED, change=event.head_sha, tip=_tip(top, event, into))
    note = ""
    if head != event.head_sha:
        if not _is_ancestor(top, event.head_sha, head):
            raise UsageError(_ANOTHER)
        note = "what is checked out is neither the pull request's head nor GitHub's merge of it; it is what was gated"
    tip = _tip(top, event)
    if tip is None:
        commit = f" ({event.base_sha[:12]})" if event.base_sha else ""
        raise UsageError(
            f"the tip of the base branch{commit} is not in this clone, so its gate cannot be asked; {_FETCH_ALL}"
        )
    # The tip holds the head where it was merged while this run waited; what it was opened against does not.
    left = [merge_base(top, head, one) for one in (tip, event.base_sha) if one and commit_of(top, one)]
    base = next((one for one in left if one not in (None, head)), None)
    if base is None and head in left:
        raise UsageError(_ANOTHER)
    if base is None:
        raise UsageError(f"the commit where the pull request left its base branch is not in this clone; {_FETCH_ALL}")
    return Base(head, base, "the commit where the change left its base branch", note, tip=tip)


def _of_merge_group(top: str, head: str, event: Event) -> Base:
    if event.group_head_sha and head != event.group_head_sha and not _is_ancestor(top, event.group_head_sha, head):
        raise UsageError(_ANOTHER.replace("the pull request's own commit", "the merge group's own commit"))
    if event.group_base_sha and commit_of(top, event.group_base_sha):
        return Base(head, event.group_base_sha, "the base of the merge group", tip=event.group_base_sha)
    above = parents(top, head)
    if len(above) == 2 and head in (event.sha, event.group_head_sha):
        into = _present(top, above[0])
        return Base(head, into, _MERGED, tip=into)
    raise UsageError(f"the base of the merge group is not in this clone, so its gate cannot be asked; {_FETCH}")


def _tip(top: str, event: Event, into: str | None = None) -> str | None:
    """Return the newest commit of the base branch that is known for certain, None where the clone holds none.

    A pull request controls its commits and, where its repository is what was cloned, every branch of the clone. So
    these count: the commit that GitHub merged it into (``into``), the tip that the event names, and the branch as it
    was fetched if it was fetched from this repository. The event's may be old: GitHub renews it with each push. Where
    the branch was rewritten since, the event's is no longer in it, and the fetched one counts.
    """
    named, fetched = (commit_of(top, one) if one else None for one in (event.base_sha, _fetched(top, event)))
    if into is None:
        return named if fetched is None or _is_ancestor(top, fetched, named) else fetched
    tip = into
    for one in (named, fetched):
        if one is not None and _is_ancestor(top, tip, one):
            tip = one
    return tip


def _fetched(top: str, event: Event) -> str | None:
    """Return the base branch as the checkout fetched it, None where another repository was cloned."""
    url = remote_url(top).removesuffix("/").removesuffix(".git").casefold()
    host = event.server_url.partition("://")[2]
    own = (event.repository_url, f"git@{host}:{event.repository}", f"ssh://git@{host}/{event.repository}")
    if not event.repository_url or not event.base_ref or url not in map(str.casefold, own):
        return None
    return ref(top, f"refs/remotes/origin/{event.base_ref}")


def _is_ancestor(top: str, one: str | None, other: str | None) -> bool:
    """Return whether a commit is another one or lies before it; not so where either is missing."""
    if not one or not other or commit_of(top, one) is None:
        return False
    return merge_base(top, one, other) == one


def _present(top: str, commit: str) -> str:
    if commit_of(top, commit) is None:
        raise UsageError(f"the base commit {commit[:12]} is not in this clone, so its gate cannot be asked; {_FETCH}")
    return commit
