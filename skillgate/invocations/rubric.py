"""The versions of the rubric: each says what an invocation is worth, and what that comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.registry import Room

if TYPE_CHECKING:
    from types import ModuleType

    from skillgate.invocations.ports import Explainer, Scorer

RUBRICS = Room("skillgate.invocations.rubrics")
_FILES = {name.removeprefix("v").replace("_", "."): name for name in RUBRICS.names()}

VERSIONS = tuple(_FILES)
DEFAULT = "1.1"  # 1.0 is the method to the letter, which gives points for what nobody observed


def scorer(version: str = DEFAULT) -> Scorer:
    """Return the function that scores by a version.

    Raises:
        UsageError: there is no such version; the known ones are named.
    """
    scores: Scorer = _rubric(version).score
    return scores


def explainer(version: str = DEFAULT) -> Explainer:
    """Return the function that returns the parts of a score by a version.

    Raises:
        UsageError: as :func:`scorer`.
    """
    explains: Explainer = _rubric(version).explain
    return explains


def _rubric(version: str) -> ModuleType:
    if version not in _FILES:
        raise UsageError(f"unknown rubric version {version!r}; known are {', '.join(VERSIONS)}")
    return RUBRICS.load(_FILES[version])
