"""Event, base, head, policy and skills of one run of the Action."""
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
from skillgate.scoring.public import PERCENTILES
from skillgate.skill.find import Discovery, discover
from skillgate.skill.git import commit_of, merge_base, open_commit, parents, points_at, ref, remote_url
from skillgate.skill.tree import DiskTree, TreeFiles
from skillgate.skill.walk import left_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.action.github import Event
    from skillgate.action.request import ActionRequest
    from skillgate.config import Config
    from skillgate.evaluation.request import Reading
    from skillgate.model.setting import Value


_FETCH = "set fetch-depth: 2 (for a merge commit) or fetch-depth: 0 for actions/checkout"
_FETCH_ALL = "set fetch-depth: 0 for actions/checkout"
_ANOTHER = (
    "the checkout does not contain the pull request's own commit, so a gate would pass whatever the change does; use"
    " the event pull_request, or check out its head"
)
_MERGED = "the commit that GitHub merged the change into"


ORIGIN = "the Action"
_NEW_PERCENTILE = 5  # of public skills: the default minimum score of a new skill
"""The origin of values that neither a file nor an input sets."""


class Base(NamedTuple):
    """The start and the target of a change."""

    head: str  # the checked-out commit; "" without a repository
    commit: str | None  # the commit to compare with
    how: str  # how it was found, in words after "compared with"
    note: str = ""  # a note for the reader
    change: str = ""  # the pull request's own head, if GitHub's merge of it is checked out
    tip: str | None = None  # the newest known commit of the base branch, whose policy applies; None without a commit


def find_base(top: str | None, event: Event) -> Base:
    """Find the base of the checked-out change.

    The base is the first parent of GitHub's merge commit: exactly what the change was merged into. If the head itself
    is checked out, it is the commit where it left the base branch. Policy comes from the tip of the base branch in both
    cases (see :func:`_tip`): else an old branch would choose an old gate.

    ``top``: the top of the repository, None without one.

    Returns:
        The base; without a commit if the event is not a change.

    Raises:
        UsageError: the event is a change and its base is not in the clone, or the change is not checked out.
        IncompleteError: Git is missing.
    """
    is_change = event.pull_request is not None or event.name == "merge_group"
    head = commit_of(top, "HEAD") if top is not None else None
    if top is None or head is None:
        if is_change:
            raise UsageError("no Git repository with a commit here; run actions/checkout before this step")
        return Base("", None, "nothing: there is no Git repository")
    if not is_change:
        return Base(head, None, f"nothing: {event.name or 'this run'} is not a change to a base")
    if event.name == "merge_group":
        return _of_merge_group(top, head, event)
    return _of_pull_request(top, head, event)


def require_own_commit(top: str, head: str, event: Event, *, names_pull_request: bool) -> str:
    """Require that an event without a base gates the repository's own commit, not one of a pull request.

    Such an event may have secrets and a write token, and the checkout is gated by its own configuration.

    ``top``: the top of the repository. ``head``: the checked-out commit. ``names_pull_request``: whether the workflow
    says that the run is about a pull request.

    Returns:
        A note for the reader, ``""`` for none.

    Raises:
        UsageError: a pull request's commit is checked out, or results of another commit would be posted on a pull
            request.
        IncompleteError: Git is missing.
    """
    if event.sha and (head == event.sha or _is_ancestor(top, head, commit_of(top, event.sha))):
        if names_pull_request and event.is_about_pull_request:  # and the comment would be on it
            raise UsageError(_ANOTHER)
        return ""
    if event.is_about_pull_request or names_pull_request or points_at(top, head, "refs/pull", "refs/remotes/pull"):
        raise UsageError(
            f"refusing to gate {head[:12]} in the event {event.name}: this job may have secrets, and the checked-out"
            " commit is a pull request's, which would be gated by its own configuration. Use the event pull_request,"
            " or check out the default branch"
        )
    if event.sha and event.name not in ("", "push", "schedule"):
        return (
            f"{head[:12]} is checked out, but {event.name} is about {event.sha[:12]}: gates and suppressions are read"
            " from the checkout; never check out a pull request's head here"
        )
    return ""


def _of_pull_request(top: str, head: str, event: Event) -> Base:
    above = parents(top, head)
    # Anyone can make a merge with the head as its second parent; GitHub's is the one it names, or of its base.
    if len(above) == 2 and above[1] == event.head_sha and (head == event.sha or above[0] == event.base_sha):
        into = _present(top, above[0])
        return Base(head, into, _MERGED, change=event.head_sha, tip=_tip(top, event, into))
    note = ""
    if head != event.head_sha:
        if not _is_ancestor(top, event.head_sha, head):
            raise UsageError(_ANOTHER)
        note = "the checkout is neither the pull request's head nor GitHub's merge of it; the gate used the checkout"
    tip = _tip(top, event)
    if tip is None:
        commit = f" ({event.base_sha[:12]})" if event.base_sha else ""
        raise UsageError(
            f"the tip of the base branch{commit} is not in this clone, so its gate is not known; {_FETCH_ALL}"
        )
    # The tip contains the head if it was merged while this run waited; the commit it was opened against does not.
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
    raise UsageError(f"the base of the merge group is not in this clone, so its gate is not known; {_FETCH}")


def _tip(top: str, event: Event, into: str | None = None) -> str | None:
    """Return the newest commit of the base branch that is known for certain; None if the clone has none.

    A pull request controls its commits and, if its repository was cloned, every branch of the clone. So only these
    count: the commit that GitHub merged it into (``into``), the tip that the event names, and the fetched branch if it
    was fetched from this repository. The event's may be old: GitHub renews it with each push. If the branch was
    rewritten since, the event's is no longer in it, and the fetched one counts.
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
    """Return the base branch as fetched by the checkout; None if another repository was cloned."""
    url = remote_url(top).removesuffix("/").removesuffix(".git").casefold()
    host = event.server_url.partition("://")[2]
    own = (event.repository_url, f"git@{host}:{event.repository}", f"ssh://git@{host}/{event.repository}")
    if not event.repository_url or not event.base_ref or url not in map(str.casefold, own):
        return None
    return ref(top, f"refs/remotes/origin/{event.base_ref}")


def _is_ancestor(top: str, one: str | None, other: str | None) -> bool:
    """Whether a commit is another one or its ancestor; False if either is missing."""
    if not one or not other or commit_of(top, one) is None:
        return False
    return one == other or merge_base(top, one, other) == one


def _present(top: str, commit: str) -> str:
    if commit_of(top, commit) is None:
        raise UsageError(f"the base commit {commit[:12]} is not in this clone, so its gate is not known; {_FETCH}")
    return commit


def load_policy(checkout: Checkout, request: ActionRequest, files: Files) -> Config:
    """Read the configuration of a commit or of the disk, overridden by the inputs.

    The user's own file is not read: on a runner it would come from an earlier step.

    Raises:
        UsageError: it, or an input, is not valid.
    """
    config = configuration.load(
        explicit=request.config, cwd=checkout.directory, environ={}, files=files, shown_from=checkout.workspace
    )
    return config.with_options(request.options)


def load_base_policy(checkout: Checkout, request: ActionRequest, files: Versions) -> tuple[Config, str]:
    """Read the configuration of a base branch, or return why the defaults apply instead.

    The file of the input ``config`` may be new in the change. An invalid one would block every change, even the one
    that fixes it: so the defaults and the inputs apply if the change makes it valid.

    Returns:
        The configuration, and a note on it, ``""`` for none.

    Raises:
        UsageError: an input is not valid, or the base's configuration is not and the change does not fix it.
    """
    defaults = configuration.Config(cwd=checkout.workspace).with_options(request.options)
    if request.config is not None:
        place = os.path.join(checkout.directory, request.config)
        if not files.tip.is_file(place):
            if not files.head.is_file(place):
                raise UsageError(f"input config: {request.config} exists neither in the base nor in the change")
            return defaults, f"the base has no {request.config}: the defaults and the inputs apply"
    try:
        return load_policy(checkout, request, files.tip), ""
    except UsageError as error:
        problem = "; ".join(str(error).split("\n"))
    try:
        load_policy(checkout, request, files.head)
    except UsageError:
        raise UsageError(
            f"the configuration of the base is not valid, and the change does not fix it: {problem}"
        ) from None
    if files.start is not files.tip and _is_valid(checkout, request, files.start):
        raise UsageError(
            "the configuration at the tip of the base branch is not valid, but it was where this change began; fix"
            f" it there: {problem}"
        )
    return (
        defaults,
        f"the configuration of the base is not valid, so the defaults and the inputs applied: {problem}",
    )


def _is_valid(checkout: Checkout, request: ActionRequest, files: Files) -> bool:
    try:
        load_policy(checkout, request, files)
    except UsageError:
        return False
    return True


def with_action_defaults(
    config: Config, *, baseline: str | None, depth: Depth = Depth.QUICK, joins: bool = False, benchmarked: bool = False
) -> Config:
    """Add the Action's own default as the weakest layer, and its baseline as the strongest.

    By default, errors, unmeasured skills and each limit that is set fail the run. With a baseline, only new errors do,
    unless the run joins reports (``joins``), whose shards compared with nothing. A baseline counts as a limit
    (regressions). So do the limits of sessions at a depth that simulates them, a benchmark if one runs, and at depth
    quick the score of a new skill, which has a default.
    """
    compares = baseline is not None and not joins
    defaults: dict[str, Value] = {}
    if compares and depth is Depth.QUICK and "new-score" in (config.get(settings.FAIL_ON) or ("new-score",)):
        defaults[settings.MIN_NEW_SCORE.key] = PERCENTILES[_NEW_PERCENTILE - 1]
    over = Layer(values={settings.BASELINE.key: baseline}, origins={settings.BASELINE.key: ORIGIN})
    set_somewhere = {
        key for layer in (*config.layers, over) for key, value in layer.values.items() if value is not None
    } | defaults.keys()
    of_sessions = settings.of_group(settings.SESSIONS)
    simulated = depth in (Depth.DEEP, Depth.CERTIFY)
    bounds = (one for one in settings.SETTINGS if one.gate and (simulated or one not in of_sessions))
    listed = tuple(dict.fromkeys(bound.gate for bound in bounds if bound.key in set_somewhere))
    errors = "new-error" if compares else "error"
    defaults[settings.FAIL_ON.key] = (errors, *listed, *(("benchmark",) if benchmarked else ()), "unmeasured")
    under = Layer(values=defaults, origins=dict.fromkeys(defaults, ORIGIN))
    return config.between(under, over)


def reader(files: Files) -> Reading:
    """Return a reader for files in a commit that the configuration names.

    It has the interface of :func:`skillgate.evaluation.request.read_whole`.
    """

    def read(place: str, shown: str, what: str) -> str:
        if not files.is_file(place):
            raise UsageError(f"{what} {shown} is named in the configuration of the base, but does not exist there")
        data = files.read(place, MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise UsageError(f"{what} {shown} is larger than {MAX_BYTES:,} bytes")
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise UsageError(f"{what} {shown} is not UTF-8") from None

    return read


class Compared(NamedTuple):
    """The baseline."""

    value: str | None  # a revision or a report's path, as in the setting ``baseline``; None for nothing
    how: str  # in words after "compared with"
    commit: str | None = None  # the commit; None for a report


class RunContext(NamedTuple):
    """What is known before anything is evaluated."""

    request: ActionRequest  # the inputs
    checkout: Checkout  # the directories of the run
    base: Base  # the commits of the change; ``base.commit`` is None without a change
    files: Versions  # the files of those commits
    config: Config  # the effective configuration; for a change, of the base branch's tip; overridden by the inputs
    compared: Compared  # the baseline
    changed_only: bool  # whether to gate only what the change touches
    notes: tuple[str, ...] = ()  # notes for the reader

    @property
    def is_change(self) -> bool:
        """Whether a change to a base is checked out."""
        return self.base.commit is not None

    @property
    def read_policy_file(self) -> Reading:
        """A reader for files that the configuration names, from the same commit as the configuration."""
        return reader(self.files.tip) if self.is_change else read_whole


def load_context(request: ActionRequest, event: Event, workspace: str) -> RunContext:
    """Find the base of the change and read the policy.

    Raises:
        UsageError: an input, the configuration or the checkout is not usable.
        IncompleteError: Git is missing or fails.
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
        raise UsageError("input changed-only needs a base to compare with; set the input baseline")
    config = with_action_defaults(
        config,
        baseline=compared.value,
        depth=chosen_depth(config),
        joins=bool(request.reports),
        benchmarked=request.benchmark.is_wanted,
    )
    notes = tuple(filter(None, (base.note, note)))
    return RunContext(request, checkout, base, files, config, compared, changed_only, notes)


def _directory(workspace: str, path: str) -> str:
    shown = f"input working-directory: {path!r}"
    place = inside(workspace, path, shown)
    if not os.path.isdir(place):  # noqa: PTH112
        raise UsageError(f"{shown} is not a directory in the workspace")
    return place


def _compared(base: Base, named: str, config: Config, top: str | None) -> Compared:
    """Resolve the input ``baseline``; for a run without a change, auto is the configuration's."""
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
            raise UsageError(f"input baseline: expected a report with a name ending in .json, found {name[:80]!r}")
        return Compared(name, f"the report {name}")
    commit = commit_of(top, named) if top is not None else None
    if commit is None:
        raise UsageError(
            f"input baseline: {named[:80]!r} is not a commit in this clone; set fetch-depth: 0 for actions/checkout,"
            " or use auto, none or report:PATH"
        )
    return Compared(commit, f"the revision {named}", commit)


def find_skills(context: RunContext) -> Discovery:
    """Find the skills; a path that only the base has is accepted: the change removed it, or began before it existed.

    Raises:
        UsageError: a path does not exist, is not a skill, or leads out of the workspace.
    """
    workspace = context.checkout.workspace
    paths = requested_paths(context)
    here = [path for path in paths if DISK.is_there(os.path.join(workspace, path)) or not _was_there(context, path)]
    if not here:
        return Discovery(roots=(), notices=(), single=False)
    found = discover(here, cwd=workspace, excluded=excluded(context), linked=True)
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
    """Return the requested paths, relative to the workspace.

    Raises:
        UsageError: one leads out of the workspace.
    """
    return [_shown(context, path) for path in context.request.paths or (".",)]


def excluded_paths(context: RunContext) -> tuple[str, ...]:
    """Return the excluded directories, relative to the workspace, with ``/``.

    Raises:
        UsageError: one leads out of the workspace.
    """
    return tuple(_shown(context, path).replace(os.sep, "/") for path in context.request.excluded)


def excluded(context: RunContext) -> Callable[[str], bool] | None:
    """Return whether inputs or the configuration leave out a directory, by its shown path; None if nothing is.

    Raises:
        UsageError: an excluded path of the inputs leads out of the workspace.
    """
    tests = [test for test in (left_out(excluded_paths(context)), _configured(context)) if test is not None]
    return (lambda shown: any(test(shown) for test in tests)) if tests else None


def _configured(context: RunContext) -> Callable[[str], bool] | None:
    return context.config.excluded(requested_paths(context))


def _shown(context: RunContext, path: str) -> str:
    return os.path.relpath(context.checkout.inside(path, f"input paths: {path!r}"), context.checkout.workspace)


def _was_there(context: RunContext, path: str) -> bool:
    if not context.is_change:
        return False
    place = os.path.join(context.checkout.workspace, path)
    return context.files.start.is_there(place) or context.files.tip.is_there(place)
