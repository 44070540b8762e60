"""What ``corpus build`` and ``corpus rate`` are asked to do.

In both ``corpus_dir`` is the folder of the corpus, None for that of the configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from skillgate.model.setting import Value


class BuildRequest(NamedTuple):
    """Bring a corpus up to date with the skills that lie in some directories.

    Attributes:
        paths: directories, or skills.
        min_badge: skills with a lesser one are left out; None for none.
        replace: whether members that are not found now leave, wherever they lie.
        cached: whether scores of an earlier run are used, and kept for a later one.
    """

    corpus_dir: str | None
    paths: tuple[str, ...]
    min_badge: str | None
    replace: bool
    cached: bool


class RateRequest(NamedTuple):
    """Play the skills of a corpus against one another.

    Attributes:
        options: settings given as options, by key.
        record: a file to write every exchange to.
        replay: a recording that answers in a provider's place.
        refresh: whether answers of an earlier run are asked for anew.
        cached: whether answers are kept between runs.
        dry_run: whether the cost is only estimated.
    """

    corpus_dir: str | None
    options: Mapping[str, Value]
    record: str | None
    replay: str | None
    refresh: bool
    cached: bool
    dry_run: bool
