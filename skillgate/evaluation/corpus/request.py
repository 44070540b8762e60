"""What ``corpus build`` and ``corpus rate`` are asked to do.

In both ``corpus_dir`` is the folder of the corpus, None for that of the configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from skillgate.evaluation.request import ModelOptions
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
        models: how models are asked beside them.
    """

    corpus_dir: str | None
    options: Mapping[str, Value]
    models: ModelOptions
