"""Event, base, head and policy of one run of the Action."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings
from skillgate.action import policy
from skillgate.action.base.commits import Base, find_base, require_own_commit
from skillgate.action.checkout import Checkout, Versions, inside
from skillgate.config_file import DISK
from skillgate.errors import UsageError
from skillgate.evaluation.depth import chosen_depth
from skillgate.evaluation.findings import read_whole
from skillgate.files import toplevel
from skillgate.model.score import Depth
from skillgate.skill.commit import open_commit
from skillgate.skill.git import commit_of
from skillgate.skill.tree import DiskTree
from skillgate.skill.tree_files import TreeFiles

if TYPE_CHECKING:
    from skillgate.action.github.event import Event
    from skillgate.action.request import ActionRequest
    from skillgate.config import Config
    from skillgate.evaluation.findings import Reading


class Compared(NamedTuple):
    """What is compared with.

    Attributes:
        value: as the setting ``baseline`` has it, a revision or a report's path; None for nothing.
        how: in words that follow "compared with".
        commit: the commit, None where it is none.
    """

    value: str | None
    how: str
    commit: str | None = None


class RunContext(NamedTuple):
    """What is known before anything is evaluated.

    Attributes:
        request: what the inputs ask for.
        checkout: where the run works.
        base: the commits of the change; ``base.commit`` is None where there is no change to something.
        files: the files of those commits.
        config: the configuration that holds, of the base branch's tip for a change, with the inputs over it.
        compared: what is compared with.
        changed_only: whether only what the change touches is asked about.
        notes: what a reader should know.
    """

    request: ActionRequest
    checkout: Checkout
    base: Base
    files: Versions
    config: Config
    compared: Compared
    changed_only: bool
    notes: tuple[str, ...] = ()

    @property
    def is_change(self) -> bool:
        """Whether a change to a base is checked out."""
        return self.base.commit is not None

    @property
    def read_policy_file(self) -> Reading:
        """What reads a file that the configuration names, from where the configuration itself was read."""
        return policy.reader(self.files.tip) if self.is_change else read_whole


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
        config, note = policy.load_base_policy(checkout, request, files)
    else:
        files = Versions(DISK, DISK, DISK)
        if top is not None and base.head:
            note = require_own_commit(top, base.head, event, names_pull_request=request.pr_number is not None)
        config = policy.load(checkout, request, DISK)
    compared = _compared(base, request.baseline, config, top)
    is_change = event.pull_request is not None or event.name == "merge_group"
    changed_only = request.changed_only == "true" or (request.changed_only == "auto" and is_change)
    if changed_only and base.commit is None and compared.commit is None:
        raise UsageError("input changed-only asks what a change touches, and there is no base to tell: give baseline")
    config = policy.with_action_defaults(
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
    """Find what the input ``baseline`` names; for a run that is no change, auto is what the configuration says.

    Raises:
        UsageError: there is no such report or revision.
    """
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
