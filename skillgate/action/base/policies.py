"""The gate and the findings of a skill that moved: as strict as where it was, until the merge.

Overrides are by path, and a change may choose the path: who moves a skill below a laxer override, or links to it there,
would lower its gate.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from skillgate.evaluation.findings import selections
from skillgate.evaluation.policies import policies
from skillgate.scoring.gate import strictest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from skillgate.action.context import RunContext
    from skillgate.action.session import ActionSession
    from skillgate.config import Config
    from skillgate.model.score import Depth
    from skillgate.scoring.gate import Policy
    from skillgate.scoring.selection import Selection


def policies_of(
    context: RunContext, session: ActionSession, moved: Mapping[str, Collection[str]], depth: Depth
) -> Callable[[PurePosixPath], Policy]:
    """Return the gate of each skill: the strictest of all the names that it has or had.

    Args:
        context: of the run.
        session: noted once of each bound that fails nothing.
        moved: where a skill was and is in the base, by the path that it is shown at now.
        depth: which layers there are, and so which bounds mean something.
    """

    def note(text: str) -> None:
        if not text.startswith("baseline "):  # nobody set it: it is what a change is compared with
            session.note(text)

    policy_of = _strict_policies(context.config, moved, note, depth)
    if context.request.on_unmeasured != "pass":
        return policy_of
    return lambda path: (one := policy_of(path))._replace(fail_on=one.fail_on - {"unmeasured"}, lenient=True)


def _strict_policies(
    config: Config, moved: Mapping[str, Collection[str]], note: Callable[[str], None], depth: Depth
) -> Callable[[PurePosixPath], Policy]:
    by_place, by_name = (
        policies(one, command="action", note=note, depth=depth) for one in (config, config.as_called())
    )

    def policy(path: PurePosixPath) -> Policy:
        return strictest([by_place(path), *map(by_name, _names(path, moved))])

    return policy if config.scoped else by_place


def strict_selections(config: Config, moved: Mapping[str, Collection[str]]) -> Callable[[PurePosixPath], Selection]:
    """Return what is asked of each skill's findings: all that is asked under one of its names."""
    by_place, by_name = selections(config), selections(config.as_called())

    def selection(path: PurePosixPath) -> Selection:
        found = by_place(path)
        for other in map(by_name, _names(path, moved)):
            found = found._replace(
                profile=found.profile or other.profile,
                select=found.select | other.select,
                ignore=found.ignore & other.ignore,
            )
        return found

    return selection if config.scoped else by_place


def _names(path: PurePosixPath, moved: Mapping[str, Collection[str]]) -> Iterator[PurePosixPath]:
    yield path
    yield from map(PurePosixPath, moved.get(str(path), ()))
