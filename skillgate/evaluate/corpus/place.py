"""Where the corpus lies, and what every word of ``corpus`` needs of it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from skillgate import __version__, settings
from skillgate.errors import UsageError
from skillgate.evaluate.corpus.folder import Store, place_of
from skillgate.files import require_place
from skillgate.llm.extras import missing_extra
from skillgate.model.codec import encode
from skillgate.model.report import Tool
from skillgate.ranking.standings import rated

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from skillgate.model.corpus import CorpusIndex, Played
    from skillgate.session import Session

TOOL = Tool(version=__version__)


def add_place(parser: argparse.ArgumentParser) -> None:
    """Add ``--corpus-dir``; :func:`store_of` reads it."""
    parser.add_argument(
        "--corpus-dir",
        metavar="DIR",
        help="where the corpus lies (default: the setting, else the system's data folder)",
    )


def store_of(args: argparse.Namespace, session: Session, *, writes: bool = False) -> Store:
    """Give the corpus that is meant: of the option, else of the setting, else the system's place for data.

    Args:
        args: with ``corpus_dir``.
        session: the run.
        writes: whether it is to be written.

    Raises:
        UsageError: there is no such place, or nothing must be written there.
    """
    config = session.config if args.corpus_dir is None else session.config.with_options({"corpus-dir": args.corpus_dir})
    set_to = config.get(settings.CORPUS_DIR)
    place = place_of(session.environ, set_to if isinstance(set_to, str) else None, config.base(settings.CORPUS_DIR))
    if not place:
        raise UsageError("there is no place to keep a corpus (HOME is not set): give --corpus-dir")
    if os.path.lexists(place) and not os.path.isdir(place):  # noqa: PTH112
        raise UsageError(f"{place} is not a directory: --corpus-dir names the folder of a corpus")
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


def written(document: object) -> str:
    """Write a document as every other one is written."""
    text = json.dumps(encode(document), indent=2, ensure_ascii=False)
    # The same document; a CI runner would take the other for a command, and what UTF-8 lacks cannot be printed.
    return text.replace("##[", "\\u0023#[").encode("utf-8", "backslashreplace").decode() + "\n"
