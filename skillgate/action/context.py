"""Where a run of the Action stands before anything is evaluated: its base, whose policy holds, what is compared."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings
from skillgate.action import policy
from skillgate.action.base.finding import Base, find_base, require_own_commit
from skillgate.action.paths import inside
from skillgate.config_file import DISK, Files
from skillgate.errors import UsageError
from skillgate.evaluate.depth import chosen_depth
from skillgate.evaluate.findings import read_whole
from skillgate.model.score import Depth
from skillgate.skill.commit import open_commit
from skillgate.skill.git import commit_of
from skillgate.skill.tree import DiskTree, toplevel
from skillgate.skill.tree_files import TreeFiles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.action.github.event import Event
    from skillgate.action.inputs import Value
    from skillgate.config import Config
    from skillgate.evaluate.findings import Reading


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


class Stand(NamedTuple):
    """What is known before anything is evaluated.

    Attributes:
        place: the workspace and the directory in it.
        top: the repository's top, the workspace without one.
        inputs: by name.
        base: of the change; its commit is None where there is no change to something.
        compared: what is compared with.
        files: where policy is read: at the tip of the base branch, or on the disk.
        then: the files that a change is compared with: where it left the base branch; without a change the disk.
        head: the working tree's files; of a change, never through a link that leads out of it.
        config: the effective configuration.
        source: whose policy it is, in words that follow "policy from".
        changed_only: whether only what the change touches is asked about.
        name: what a skill at the repository's top is called, whose directory on a runner may be called anything; ``""``
            where GitHub does not say.
        notes: what a reader should know.
    """

    place: policy.Place
    top: str
    inputs: Mapping[str, Value]
    base: Base
    compared: Compared
    files: Files
    then: Files
    head: Files
    config: Config
    source: str
    changed_only: bool
    name: str = ""
    notes: tuple[str, ...] = ()

    @property
    def reading(self) -> Reading:
        """What reads a file that the configuration names, from where the configuration itself was read."""
        return read_whole if self.base.commit is None else policy.reading(self.files)

    def is_gone(self, place: str) -> bool:
        """Tell whether the base branch has removed an absolute path since the change began."""
        return self.base.commit is not None and self.then.is_there(place) and not self.files.is_there(place)


def take_stand(inputs: Mapping[str, Value], event: Event, workspace: str) -> Stand:
    """Find base and policy.

    Raises:
        UsageError: an input, the configuration or the checkout does not do.
        IncompleteError: git is missing or fails.
    """
    place = policy.Place(workspace, _directory(workspace, str(inputs["working-directory"])))
    top = toplevel(os.path.realpath(workspace))
    base = find_base(top, event)
    files: Files = DISK
    then: Files = DISK
    head: Files = DISK
    note = ""
    if top is not None and base.commit is not None:
        files, head = TreeFiles(open_commit(workspace, base.tip or base.commit)), TreeFiles(DiskTree(top))
        then = files if base.tip == base.commit else TreeFiles(open_commit(workspace, base.commit))
        config, note = policy.of_base(place, inputs, files=files, then=then, head=head)
    else:
        if top is not None and base.head:
            named = inputs["pr-number"] is not None
            note = require_own_commit(top, base.head, event, names_pull_request=named)
        config = policy.load(place, inputs, files=DISK)
    compared = _compared(base, str(inputs["baseline"]), config, top)
    wanted = inputs["changed-only"]
    is_change = event.pull_request is not None or event.name == "merge_group"
    changed_only = wanted == "true" or (wanted == "auto" and is_change)
    if changed_only and base.commit is None and compared.commit is None:
        raise UsageError("input changed-only asks what a change touches, and there is no base to tell: give baseline")
    return Stand(
        place=place,
        top=top or os.path.realpath(workspace),
        inputs=inputs,
        base=base,
        compared=compared,
        files=files,
        then=then,
        head=head,
        config=policy.gated(
            config,
            baseline=compared.value,
            simulated=chosen_depth(config) in (Depth.DEEP, Depth.CERTIFY),
            benchmarked=bool(inputs.get("benchmark") or inputs.get("tasks")),
        ),
        source="this commit" if base.commit is None else "the base",
        changed_only=changed_only,
        name=event.repository.rpartition("/")[2],
        notes=tuple(filter(None, (base.note, note))),
    )


def _directory(workspace: str, path: str) -> str:
    shown = f"input working-directory: {path!r}"
    place = inside(workspace, path, shown)
    if not os.path.isdir(place):  # noqa: PTH112
        raise UsageError(f"{shown} is no directory in the workspace")
    return place


def _compared(base: Base, asked: str, config: Config, top: str | None) -> Compared:
    """Find what the input ``baseline`` names; for a run that is no change, auto is what the configuration says.

    Raises:
        UsageError: there is no such report or revision.
    """
    configured = config.get(settings.BASELINE)
    if asked == "auto" and base.commit is None and isinstance(configured, str):
        asked = f"report:{configured}" if configured.endswith(".json") else configured
    if asked == "auto":
        return Compared(base.commit, base.how, base.commit)
    if asked == "none":
        return Compared(None, "nothing, as asked")
    if asked.startswith("report:"):
        name = asked.removeprefix("report:")
        if not name.endswith(".json"):
            raise UsageError(f"input baseline: the name of a report ends in .json, found {name[:80]!r}")
        return Compared(name, f"the report {name}")
    commit = commit_of(top, asked) if top is not None else None
    if commit is None:
        raise UsageError(
            f"input baseline: {asked[:80]!r} is no commit in this clone; give actions/checkout fetch-depth: 0, or"
            " write auto, none or report:PATH"
        )
    return Compared(commit, f"the revision {asked}", commit)
