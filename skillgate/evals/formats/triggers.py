"""Read our own trigger prompts: a YAML list, at the top level or under ``triggers``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.evals.loading import trigger_place, triggers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.evals.loading import Loaded
    from skillgate.model.evals import TriggerCase, Unread

POSITION = 1
UNIT = "prompt"
FILES = ("triggers.yaml", "triggers.yml")
MISSING = "no prompts found; expected a list of prompts with should_trigger, at the top level or under triggers"


def is_it(loaded: Loaded, file: str) -> bool:
    """Whether a YAML document holds trigger prompts."""
    return not file.lower().endswith(".json") and trigger_place(loaded) is not None


def read(loaded: Loaded, file: str) -> Iterator[TriggerCase | Unread]:
    """Read the prompts."""
    return triggers(loaded, file, trigger_place(loaded) or "")
