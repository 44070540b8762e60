"""Read skill-creator's trigger set: a JSON list of labelled queries, at the top level or under a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.evals.loading import trigger_place, triggers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.evals.loading import Loaded
    from skillgate.model.evals import TriggerCase, Unread

POSITION = 2
UNIT = "prompt"


def is_it(loaded: Loaded, file: str) -> bool:
    """Whether a JSON document holds trigger prompts."""
    return file.lower().endswith(".json") and trigger_place(loaded) is not None


def read(loaded: Loaded, file: str) -> Iterator[TriggerCase | Unread]:
    """Read the prompts."""
    return triggers(loaded, file, trigger_place(loaded) or "")
