"""Who judges in the Action, where the depth asks for it; kept answers that a change may have brought are refused."""
# ruff: noqa: PTH112, PTH118, PTH120

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from skillgate.action.paths import inside
from skillgate.errors import UsageError
from skillgate.evaluate.deepen import SampledLayers
from skillgate.evaluate.depth import require_able
from skillgate.llm.extras import require_packages
from skillgate.model.score import Depth

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.action.context import Stand
    from skillgate.action.listening import Listening
    from skillgate.evaluate.models.connecting import Models


@contextmanager
def sampled(stand: Stand, session: Listening, depth: Depth) -> Iterator[tuple[SampledLayers | None, Models | None]]:
    """Give what judges skills, and who it asks; neither at quick depth.

    Raises:
        UsageError: an input does not do.
        IncompleteError: a package is missing.
    """
    if depth is Depth.QUICK:
        yield None, None
        return
    require_able(stand.config, depth)
    require_packages()
    require_own_cache(stand, session.cwd)
    from skillgate.action.base.corpus import with_base_corpus  # starts processes
    from skillgate.evaluate.deepening import Deepener  # brings in the judge
    from skillgate.evaluate.models.connecting import Models
    from skillgate.evaluate.request import ModelOptions

    with with_base_corpus(stand, session) as config:
        models = Models(config, session, ModelOptions(), session.environ, depth)
        try:
            measure = Deepener(models.setup, session)
            yield SampledLayers(depth, measure, models.names, models.judged_as), models
        finally:
            failure = models.close()
            if failure is not None:
                session.note(failure)


def require_own_cache(stand: Stand, workspace: str) -> None:
    """Make sure that the directory of kept answers is not one that a change could have filled.

    Raises:
        UsageError: it lies outside the workspace, or git knows a file in it: such answers may be anybody's.
    """
    given = stand.inputs["cache-dir"]
    if isinstance(given, str):
        require_own(stand, workspace, f"input cache-dir: {given}", given)


def require_own(stand: Stand, workspace: str, shown: str, path: str) -> str:
    """Make sure that a place is not one that a change could have filled; give it, absolute.

    Raises:
        UsageError: it lies outside the workspace or behind a link, or git knows it.
    """
    place = inside(workspace, path, shown)
    from skillgate.skill.git import is_tracked  # starts processes
    from skillgate.skill.tree import toplevel

    real = os.path.realpath(place)
    if real != os.path.join(os.path.realpath(workspace), os.path.relpath(place, workspace)):
        raise UsageError(f"{shown} is, or lies behind, a symbolic link, which a change may have made")
    top = stand.top
    below = os.path.relpath(real, top).replace(os.sep, "/")
    folder = real if os.path.isdir(real) else os.path.dirname(real)
    if below == "." or is_tracked(top, below) or toplevel(folder) not in (None, top):
        raise UsageError(
            f"{shown} holds files of the repository, so a change could bring what is in it; name a place that only"
            " actions/cache fills"
        )
    return place
