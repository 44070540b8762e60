"""The models that a run asks from standard depth on; nothing that a change may have brought answers or is asked."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.action.checkout import require_untracked
from skillgate.errors import UsageError
from skillgate.evaluation.deepen import SampledLayers
from skillgate.evaluation.depth import require_able
from skillgate.llm.extras import require_packages
from skillgate.model.score import Depth
from skillgate.model.text import printable
from skillgate.skill.git import changes, differing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.action.context import RunContext
    from skillgate.action.session import ActionSession
    from skillgate.evaluation.models.connecting import Models

_EVALS = re.compile(r"(?:^|(?P<folder>.*?)/)evals/", re.DOTALL)
_MOST = 3  # directories that are named


@contextmanager
def sampled(
    context: RunContext, session: ActionSession, depth: Depth
) -> Iterator[tuple[SampledLayers | None, Models | None]]:
    """Connect what judges skills, and the models that it asks; neither at quick depth.

    Raises:
        UsageError: an input does not do.
        IncompleteError: a package is missing.
    """
    if depth is Depth.QUICK:
        yield None, None
        return
    require_able(context.config, depth)
    require_packages()
    folder = context.request.cache_dir
    if folder is not None:  # answers that a change brings may be anybody's
        require_untracked(context.checkout, folder, f"input {settings.CACHE_DIR.key}: {folder}")
    from skillgate.action.base.corpus import with_base_corpus  # starts processes
    from skillgate.evaluation.deepening import Deepener  # brings in the judge
    from skillgate.evaluation.models.connecting import Models
    from skillgate.evaluation.request import ModelOptions

    with with_base_corpus(context, session) as config:
        models = Models(config, session, ModelOptions(), session.environ, depth)
        try:
            measure = Deepener(models.setup, session)
            yield SampledLayers(depth, measure, models.names, models.judged_as), models
        finally:
            failure = models.close()
            if failure is not None:
                session.note(failure)


def require_current_prompts(context: RunContext, depth: Depth) -> None:
    """Refuse to measure a skill on prompts that the base branch has replaced.

    Both sides of a change are measured on the prompts that it began with. They are policy too, and another set at the
    tip cannot be put to a skill that was written before it without changing what the skill is compared with.

    Raises:
        UsageError: the base branch has changed the prompts of a skill that the run would measure.
        IncompleteError: git fails.
    """
    base = context.base
    if depth is Depth.QUICK or base.commit is None or base.tip is None or base.tip == base.commit:
        return
    found = filter(None, map(_EVALS.match, differing(context.checkout.top, base.commit, base.tip)))
    folders = sorted({match["folder"] or "" for match in found})
    if context.changed_only and folders:
        touched = changes(context.checkout.top, base.commit, committed=True)
        folders = [
            one for one in folders if any(f"/{path}".startswith(f"/{one}/".replace("//", "/")) for path in touched)
        ]
    if folders:
        named = ", ".join(f"{printable(one)[:80] or '.'}/evals" for one in folders[:_MOST])
        more = f" and {len(folders) - _MOST} more" if len(folders) > _MOST else ""
        raise UsageError(
            f"the base branch has changed {named}{more} since this change began, and its skill would be measured on"
            " the old prompts; bring the branch up to date"
        )
