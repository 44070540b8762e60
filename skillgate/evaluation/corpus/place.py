"""Where the corpus lies, and what every word of ``corpus`` needs of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillgate import __version__, settings
from skillgate.errors import UsageError
from skillgate.evaluation.corpus.folder import Store, place_of
from skillgate.files import require_place
from skillgate.llm.extras import missing_extra
from skillgate.model.report import Tool
from skillgate.ranking.standings import rated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.corpus import CorpusIndex, Played
    from skillgate.session import Session

TOOL = Tool(version=__version__)


def store_of(corpus_dir: str | None, session: Session, *, writes: bool = False) -> Store:
    """Return the corpus that is meant: of the option, else of the setting, else the system's place for data.

    Args:
        corpus_dir: the option's, None where it was not given.
        session: the run.
        writes: whether it is to be written.

    Raises:
        UsageError: there is no such place, or nothing must be written there.
    """
    config = session.config
    if corpus_dir is not None:
        config = config.with_options({settings.CORPUS_DIR.key: corpus_dir})
    set_to = config.get(settings.CORPUS_DIR)
    place = place_of(session.environ, set_to, config.base(settings.CORPUS_DIR))
    if not place:
        raise UsageError(f"there is no place to keep a corpus (HOME is not set): give --{settings.CORPUS_DIR.key}")
    if os.path.lexists(place) and not os.path.isdir(place):  # noqa: PTH112
        raise UsageError(f"{place} is not a directory: --{settings.CORPUS_DIR.key} names the folder of a corpus")
    if writes and set_to:
        require_place(place, session.cwd)
    return Store(place)


def require_index(store: Store) -> CorpusIndex:
    """Read the index of a corpus that has to be there.

    Raises:
        UsageError: there is none, or it cannot be read.
    """
    index = store.index()
    if index is None:
        raise UsageError(f"there is no corpus in {store.folder}: skillgate corpus build DIR makes one")
    return index


def rerated(index: CorpusIndex, played: Sequence[Played], source: str) -> CorpusIndex:
    """Rate a corpus anew, as :func:`~skillgate.ranking.standings.rated` does.

    Raises:
        IncompleteError: numpy is not installed.
    """
    try:
        return rated(index, played, source)
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
