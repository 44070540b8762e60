"""Event, base, head and policy of one run of the Action, and the skills that it is about."""
# ruff: noqa: PTH118

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from skillgate import config as configuration
from skillgate import settings
from skillgate.action.request import Checkout, Versions, inside
from skillgate.config import DISK, Files, Layer
from skillgate.errors import UsageError
from skillgate.evaluation.request import MAX_BYTES, chosen_depth, read_whole
from skillgate.files import toplevel
from skillgate.model.score import Depth
from skillgate.skill.find import Discovery, discover
from skillgate.skill.git import commit_of, merge_base, open_commit, parents, points_at, ref, remote_url
from skillgate.skill.tree import DiskTree, TreeFiles

if TYPE_CHECKING:
    from skillgate.action.github import Event
    from skillgate.action.request import ActionRequest
    from skillgate.config import Config
    from skillgate.evaluation.request import Reading


_FETCH = "give actions/checkout fetch-depth: 2 (of a merge commit) or fetch-depth: 0"
_FETCH_ALL = "give actions/checkout fetch-depth: 0"
_ANOTHER = (
    "what is checked out does not hold the pull request's own commit, and a gate on it would pass whatever the change"
    " does; use the event pull_request, or check its head out"
)
_MERGED = "the commit that GitHub merged the change into"


ORIGIN = "the Action"
"""Where a value was set that neither a file nor an input sets."""


class Base(NamedTuple):
    """Where a change began, and where it is going."""

    head: str  # the commit that is checked out; "" without a repository
    commit: str | None  # the one to compare with
    how: str  # it was found, in words that follow "compared with"
    note: str = ""  # what a reader should know about it
    change: str = ""  # the pull request's own head, where what is checked out is GitHub's merge of it
    tip: str | None = None  # the newest known commit of the base branch, whose policy holds; None without a commit


def find_base(top: str | None, event: Event) -> Base:
    """Find the base of the change that is checked out.

    It is compared with the first parent of GitHub's merge commit: exactly what the change was merged into. Where the
    head itself is checked out, it is compared with the commit where it left the base branch. Policy comes from the tip
    of the base branch in both cases (see :func:`_tip`): else a branch that is old would choose an old gate.

    ``top``: the top of the repository, None without one.

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

    ``top``: the top of the repository. ``head``: the commit that is checked out. ``names_pull_request``: whether
    the workflow says that the run is about a pull request.

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
    """Whether a commit is another one or lies before it; not so where either is missing."""
    if not one or not other or commit_of(top, one) is None:
        return False
    return merge_base(top, one, other) == one


def _present(top: str, commit: str) -> str:
    if commit_of(top, commit) is None:
        raise UsageError(f"the base commit {commit[:12]} is not in this clone, so its gate cannot be asked; {_FETCH}")
    return commit


def load_policy(checkout: Checkout, request: ActionRequest, files: Files) -> Config:
    """Read the configuration of a commit or of the disk, with the inputs over it.

    The user's own file is not read: on a runner it would be what an earlier step left there.

    Raises:
        UsageError: it, or an input, is not valid.
    """
    config = configuration.load(
        explicit=request.config, cwd=checkout.directory, environ={}, files=files, shown_from=checkout.workspace
    )
    return config.with_options(request.options)


def load_base_policy(checkout: Checkout, request: ActionRequest, files: Versions) -> tuple[Config, str]:
    """Read the configuration that a base branch has, or say why the defaults hold in its place.

    A file that the input ``config`` names may come with the change. One that is not valid keeps out every change, also
    the one that repairs it: then the defaults and the inputs hold, provided that the change leaves a valid one where it
    found none.

    Returns:
        The configuration, and what a reader should know of it, ``""`` for nothing.

    Raises:
        UsageError: an input is not valid, or the base's configuration is not and the change does not repair it.
    """
    defaults = configuration.Config(cwd=checkout.workspace).with_options(request.options)
    if request.config is not None:
        place = os.path.join(checkout.directory, request.config)
        if not files.tip.is_file(place):
            if not files.head.is_file(place):
                raise UsageError(f"input config: there is no {request.config}, neither in the base nor in the change")
            return defaults, f"the base has no {request.config}: the defaults and the inputs hold"
    try:
        return load_policy(checkout, request, files.tip), ""
    except UsageError as error:
        problem = "; ".join(str(error).split("\n"))
    try:
        load_policy(checkout, request, files.head)
    except UsageError:
        raise UsageError(
            f"the configuration of the base is not valid, and the change does not mend it: {problem}"
        ) from None
    if files.start is not files.tip and _is_valid(checkout, request, files.start):
        raise UsageError(
            f"the configuration at the tip of the base branch is not valid, which it was where this change began; mend"
            f" it there: {problem}"
        )
    return (
        defaults,
        f"the configuration of the base is not valid, and the defaults and the inputs held instead: {problem}",
    )


def _is_valid(checkout: Checkout, request: ActionRequest, files: Files) -> bool:
    try:
        load_policy(checkout, request, files)
    except UsageError:
        return False
    return True


def with_action_defaults(
    config: Config, *, baseline: str | None, simulated: bool = False, benchmarked: bool = False
) -> Config:
    """Lay the Action's own default under a configuration, and what it compares with over it.

    Where nobody says what fails the run, it is errors, what could not be measured, and each bound that is set; a
    baseline is one, since a regression may be asked about then; those of sessions are, where such are ``simulated``;
    and a benchmark, where one is run.
    """
    over = Layer(values={settings.BASELINE.key: baseline}, origins={settings.BASELINE.key: ORIGIN})
    set_somewhere = {
        key for layer in (*config.layers, over) for key, value in layer.values.items() if value is not None
    }
    of_sessions = settings.of_group(settings.SESSIONS)
    bounds = (one for one in settings.SETTINGS if one.gate and (simulated or one not in of_sessions))
    listed = tuple(dict.fromkeys(bound.gate for bound in bounds if bound.key in set_somewhere))
    gates = ("error", *listed, *(("benchmark",) if benchmarked else ()), "unmeasured")
    under = Layer(values={settings.FAIL_ON.key: gates}, origins={settings.FAIL_ON.key: ORIGIN})
    return config.between(under, over)


def reader(files: Files) -> Reading:
    """Return what reads a file that the configuration names out of a commit.

    It takes and gives what :func:`skillgate.evaluation.request.read_whole` does on disk.
    """

    def read(place: str, shown: str, what: str) -> str:
        if not files.is_file(place):
            raise UsageError(f"{what} {shown} is not in the base of the change, whose configuration names it")
        data = files.read(place, MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise UsageError(f"{what} {shown} is larger than {MAX_BYTES:,} bytes")
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise UsageError(f"{what} {shown} is not UTF-8") from None

    return read


class Compared(NamedTuple):
    """What is compared with."""

    value: str | None  # as the setting ``baseline`` has it, a revision or a report's path; None for nothing
    how: str  # in words that follow "compared with"
    commit: str | None = None  # the commit, None where it is none


class RunContext(NamedTuple):
    """What is known before anything is evaluated."""

    request: ActionRequest  # what the inputs ask for
    checkout: Checkout  # where the run works
    base: Base  # the commits of the change; ``base.commit`` is None where there is no change to something
    files: Versions  # the files of those commits
    config: Config  # the configuration that holds, of the base branch's tip for a change, with the inputs over it
    compared: Compared  # what is compared with
    changed_only: bool  # whether only what the change touches is asked about
    notes: tuple[str, ...] = ()  # what a reader should know

    @property
    def is_change(self) -> bool:
        """Whether a change to a base is checked out."""
        return self.base.commit is not None

    @property
    def read_policy_file(self) -> Reading:
        """What reads a file that the configuration names, from where the configuration itself was read."""
        return reader(self.files.tip) if self.is_change else read_whole


def load_context(request: ActionRequest, event: Event, workspace: str) -> RunContext:
    """Find the base of the change and read the policy that holds.

    Raises:
        UsageError: an input, the configuration or the checkout does not do.
        IncompleteError: git is missing or fails.
    """
    directory, top = _directory(workspace, request.working_directory), toplevel(os.path.realpath(workspace))
    checkout = Checkout(workspace, directory, top or os.path.realpath(workspace), event.repository.rpartition("/")[2])
    base = find_base(top, event)
    note = ""
    if top is not None and base.commit is not None:
        tip = TreeFiles(open_commit(workspace, base.tip or base.commit))
        start = tip if base.tip == base.commit else TreeFiles(open_commit(workspace, base.commit))
        files = Versions(tip, start, TreeFiles(DiskTree(top)))
        config, note = load_base_policy(checkout, request, files)
    else:
        files = Versions(DISK, DISK, DISK)
        if top is not None and base.head:
            note = require_own_commit(top, base.head, event, names_pull_request=request.pr_number is not None)
        config = load_policy(checkout, request, DISK)
    compared = _compared(base, request.baseline, config, top)
    is_change = event.pull_request is not None or event.name == "merge_group"
    changed_only = request.changed_only == "true" or (request.changed_only == "auto" and is_change)
    if changed_only and base.commit is None and compared.commit is None:
        raise UsageError("input changed-only asks what a change touches, and there is no base to tell: give baseline")
    config = with_action_defaults(
        config,
        baseline=compared.value,
        simulated=chosen_depth(config) in (Depth.DEEP, Depth.CERTIFY),
        benchmarked=request.benchmark.is_wanted,
    )
    notes = tuple(filter(None, (base.note, note)))
    return RunContext(request, checkout, base, files, config, compared, changed_only, notes)


def _directory(workspace: str, path: str) -> str:
    shown = f"input working-directory: {path!r}"
    place = inside(workspace, path, shown)
    if not os.path.isdir(place):  # noqa: PTH112
        raise UsageError(f"{shown} is no directory in the workspace")
    return place


def _compared(base: Base, named: str, config: Config, top: str | None) -> Compared:
    """Find what the input ``baseline`` names; for a run that is no change, auto is what the configuration says."""
    configured = config.get(settings.BASELINE)
    if named == "auto" and base.commit is None and configured is not None:
        named = f"report:{configured}" if configured.endswith(".json") else configured
    if named == "auto":
        return Compared(base.commit, base.how, base.commit)
    if named == "none":
        return Compared(None, "nothing, as asked")
    if named.startswith("report:"):
        name = named.removeprefix("report:")
        if not name.endswith(".json"):
            raise UsageError(f"input baseline: the name of a report ends in .json, found {name[:80]!r}")
        return Compared(name, f"the report {name}")
    commit = commit_of(top, named) if top is not None else None
    if commit is None:
        raise UsageError(
            f"input baseline: {named[:80]!r} is no commit in this clone; give actions/checkout fetch-depth: 0, or"
            " write auto, none or report:PATH"
        )
    return Compared(commit, f"the revision {named}", commit)


def find_skills(context: RunContext) -> Discovery:
    """Find the skills; a path that only the base has is no mistake: the change removed it, or began before it came.

    Raises:
        UsageError: a path is nowhere, is no skill, or leads out of the workspace.
    """
    workspace = context.checkout.workspace
    paths = requested_paths(context)
    here = [path for path in paths if DISK.is_there(os.path.join(workspace, path)) or not _was_there(context, path)]
    if not here:
        return Discovery(roots=(), notices=(), single=False)
    found = discover(here, cwd=workspace, excluded=excluded_paths(context), linked=True)
    if not context.checkout.name:
        return found
    top = context.checkout.top
    named = (
        root._replace(name=context.checkout.name)
        if not root.directory and getattr(root.tree, "root", None) == top
        else root
        for root in found.roots
    )
    return found._replace(roots=tuple(named))


def requested_paths(context: RunContext) -> list[str]:
    """Return the paths that are asked about, relative to the workspace.

    Raises:
        UsageError: one leads out of the workspace.
    """
    return [_shown(context, path) for path in context.request.paths or (".",)]


def excluded_paths(context: RunContext) -> tuple[str, ...]:
    """Return the directories that are left out, relative to the workspace, with ``/``.

    Raises:
        UsageError: one leads out of the workspace.
    """
    return tuple(_shown(context, path).replace(os.sep, "/") for path in context.request.excluded)


def _shown(context: RunContext, path: str) -> str:
    return os.path.relpath(context.checkout.inside(path, f"input paths: {path!r}"), context.checkout.workspace)


def _was_there(context: RunContext, path: str) -> bool:
    if not context.is_change:
        return False
    place = os.path.join(context.checkout.workspace, path)
    return context.files.start.is_there(place) or context.files.tip.is_there(place)
